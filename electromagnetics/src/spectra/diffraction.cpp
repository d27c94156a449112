// SPDX-License-Identifier: Apache-2.0
#include "tessera/electromagnetics/diffraction.h"

#include "spectra/by_frequency.h"
#include "tessera/autodiff/error.h"
#include "tessera/autodiff/ops.h"
#include "tessera/electromagnetics/constants.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>

namespace tessera::electromagnetics {
namespace {

using Complex = std::complex<double>;
using std::numbers::pi;

double period(const std::vector<double>& weights) {
  return std::accumulate(weights.begin(), weights.end(), 0.0);
}
double wavenumber(const PeriodicPlane& plane, double f) {
  return 2 * pi * f / speed_of_light * std::sqrt(plane.eps * plane.mu);
}

void require_plane(const char* operation, const PeriodicPlane& plane,
                   std::span<const double> frequencies_hz) {
  if (!(plane.eps > 0) || !(plane.mu > 0))
    throw Error(fmt::format("[{}] needs a transparent medium, got eps {} and mu {}", operation,
                            plane.eps, plane.mu));
  for (const auto* weights : {&plane.patch.weight_lo, &plane.patch.weight_hi}) {
    if (weights->empty()) throw Error(fmt::format("[{}] needs a point", operation));
    for (double w : *weights)
      if (!(std::abs(w / weights->front() - 1) < 1e-9))
        throw Error(fmt::format("[{}] points must be evenly spaced over one period", operation));
  }
  for (double f : frequencies_hz)
    if (!(f > 0))
      throw Error(fmt::format("[{}] frequencies must be positive, got {}", operation, f));
}

OrderWave wave_of(const PeriodicPlane& plane, double f, const Order& order) {
  const double k = wavenumber(plane, f);
  OrderWave w{.order = order};
  w.k_tangential = {plane.bloch[0] + 2 * pi * order.m / period(plane.patch.weight_lo),
                    plane.bloch[1] + 2 * pi * order.n / period(plane.patch.weight_hi)};
  const double square =
      k * k - w.k_tangential[0] * w.k_tangential[0] - w.k_tangential[1] * w.k_tangential[1];
  w.evanescent = square <= 0;
  w.k_normal = w.evanescent ? Complex(0, -std::sqrt(-square)) : Complex(std::sqrt(square), 0);
  w.angle_rad = w.evanescent ? std::numeric_limits<double>::quiet_NaN()
                             : std::acos(std::min(1.0, w.k_normal.real() / k));
  return w;
}

/// e^{+i k_t x} weight / period for all orders: [point, order].
Tensor projection(const std::vector<double>& x, const std::vector<double>& weight, double bloch,
                  std::span<const Order> orders, int Order::*number) {
  std::vector<Complex> p;
  for (std::size_t j = 0; j < x.size(); ++j)
    for (const Order& o : orders)
      p.push_back(std::polar(weight[j] / period(weight),
                             (bloch + 2 * pi * (o.*number) / period(weight)) * x[j]));
  return tensor(p, {static_cast<Index>(x.size()), static_cast<Index>(orders.size())});
}

/// What of a wave is left along lo and hi in a mean of two neighbours.
std::array<double, 2> left_by_means(const PeriodicPlane& plane, const OrderWave& w) {
  return {std::cos(w.k_tangential[0] * plane.cell[0] / 2),
          std::cos(w.k_tangential[1] * plane.cell[1] / 2)};
}

/// What E_lo, E_hi, H_lo, H_hi of one order give to E_s(+), E_p(+), E_s(-), E_p(-).
using Split = std::array<std::array<Complex, 4>, 4>;
Split split(const PeriodicPlane& plane, double f, const OrderWave& w) {
  const double length = std::hypot(w.k_tangential[0], w.k_tangential[1]), omega = 2 * pi * f;
  const double t_lo = length > 0 ? w.k_tangential[0] / length : 1,
               t_hi = length > 0 ? w.k_tangential[1] / length : 0;
  const double s_lo = -plane.patch.handedness() * t_hi, s_hi = plane.patch.handedness() * t_lo;
  const Complex by_mu = omega * plane.mu * vacuum_permeability / w.k_normal,
                by_eps = omega * plane.eps * vacuum_permittivity / w.k_normal;
  const double eta = vacuum_impedance * std::sqrt(plane.mu / plane.eps);
  Split out;
  for (int side : {0, 1}) {
    const double sign = side == 0 ? 1 : -1;
    out[2 * side] = {0.5 * s_lo, 0.5 * s_hi, -0.5 * sign * by_mu * t_lo,
                     -0.5 * sign * by_mu * t_hi};
    out[2 * side + 1] = {0.5 * sign * eta * by_eps * t_lo, 0.5 * sign * eta * by_eps * t_hi,
                         0.5 * eta * s_lo, 0.5 * eta * s_hi};
  }
  const auto [of_lo, of_hi] = left_by_means(plane, w);
  for (auto& row : out) row[0] /= of_hi, row[1] /= of_lo, row[2] /= of_lo, row[3] /= of_hi;
  return out;
}

}  // namespace

double unevenness(const YeeGrid& grid, int axis, double position, double size) {
  double least = INFINITY, most = 0;
  for (int i = 0; grid.resolved(axis) && size > 0 && i < grid.cells(axis); ++i) {
    if (std::abs(grid.middle(axis, i) - position) > size / 2) continue;
    least = std::min(least, grid.length(axis, i)), most = std::max(most, grid.length(axis, i));
  }
  return most > 0 ? most / least : 1;
}

std::vector<Order> propagating_orders(const PeriodicPlane& plane,
                                      std::span<const double> frequencies_hz) {
  require_plane("propagating_orders", plane, frequencies_hz);
  double k = 0;
  for (double f : frequencies_hz) k = std::max(k, wavenumber(plane, f));
  const auto most = [&](const std::vector<double>& weights, double bloch) {
    return weights.size() == 1
               ? 0
               : static_cast<int>((k + std::abs(bloch)) * period(weights) / (2 * pi)) + 1;
  };
  const int m_most = most(plane.patch.weight_lo, plane.bloch[0]),
            n_most = most(plane.patch.weight_hi, plane.bloch[1]);
  std::vector<Order> orders;
  for (int m = -m_most; m <= m_most; ++m)
    for (int n = -n_most; n <= n_most; ++n)
      for (double f : frequencies_hz)
        if (!wave_of(plane, f, {m, n}).evanescent) {
          orders.push_back({m, n});
          break;
        }
  return orders;
}

std::vector<std::vector<OrderWave>> order_waves(const PeriodicPlane& plane,
                                                std::span<const double> frequencies_hz,
                                                std::span<const Order> orders) {
  require_plane("order_waves", plane, frequencies_hz);
  std::vector<std::vector<OrderWave>> waves;
  for (double f : frequencies_hz) {
    waves.emplace_back();
    for (const Order& o : orders) waves.back().push_back(wave_of(plane, f, o));
  }
  return waves;
}

void require_orders(const PeriodicPlane& plane, std::span<const double> frequencies_hz,
                    std::span<const Order> orders) {
  require_plane("diffraction_orders", plane, frequencies_hz);
  const Patch& patch = plane.patch;
  if (orders.empty()) throw Error("[diffraction_orders] needs an order");
  for (const Order& o : orders) {
    if ((o.m != 0 && 2 * std::abs(o.m) >= patch.n_lo()) ||
        (o.n != 0 && 2 * std::abs(o.n) >= patch.n_hi()))
      throw Error(fmt::format("[diffraction_orders] {} x {} points do not resolve order ({}, {})",
                              patch.n_lo(), patch.n_hi(), o.m, o.n));
    for (double f : frequencies_hz) {
      const OrderWave w = wave_of(plane, f, o);
      if (std::abs(w.k_tangential[0]) * plane.cell[0] >= pi ||
          std::abs(w.k_tangential[1]) * plane.cell[1] >= pi)
        throw Error(
            fmt::format("[diffraction_orders] the cells do not resolve order ({}, {})", o.m, o.n));
      if (std::abs(w.k_normal) < 1e-6 * wavenumber(plane, f))
        throw Error(fmt::format(
            "[diffraction_orders] order ({}, {}) grazes the plane at {} Hz: take another frequency",
            o.m, o.n, f));
    }
  }
}

OrderAmplitudes diffraction_orders(const PeriodicPlane& plane, const SurfaceFields& fields,
                                   std::span<const double> frequencies_hz,
                                   std::span<const Order> orders) {
  const auto n_f = static_cast<Index>(frequencies_hz.size()),
             n_o = static_cast<Index>(orders.size());
  const Patch& patch = plane.patch;
  require_orders(plane, frequencies_hz, orders);
  require_fields("diffraction_orders", {patch}, {fields}, n_f);

  std::vector<Complex> mixture(n_f * 16 * n_o);
  std::vector<double> power_of_square(n_f * n_o);
  const double area = period(patch.weight_lo) * period(patch.weight_hi);
  for (Index f = 0; f < n_f; ++f)
    for (Index o = 0; o < n_o; ++o) {
      const OrderWave w = wave_of(plane, frequencies_hz[f], orders[o]);
      const Split rows = split(plane, frequencies_hz[f], w);
      for (int row = 0; row < 4; ++row)
        for (int c = 0; c < 4; ++c) mixture[((f * 4 + row) * 4 + c) * n_o + o] = rows[row][c];
      power_of_square[f * n_o + o] =
          area * w.k_normal.real() / (4 * pi * frequencies_hz[f] * plane.mu * vacuum_permeability);
    }

  const Tensor stacked = cast(concatenate({fields.e, fields.h}, 1), Dtype::c128);
  const Tensor rows =
      matmul(reshape(stacked, {n_f, 4 * patch.n_hi(), patch.n_lo()}),
             projection(patch.lo, patch.weight_lo, plane.bloch[0], orders, &Order::m));
  const Tensor along_hi = projection(patch.hi, patch.weight_hi, plane.bloch[1], orders, &Order::n);
  const Tensor sums = sum_product(reshape(rows, {n_f, 4, patch.n_hi(), n_o}),
                                  reshape(along_hi, {1, 1, patch.n_hi(), n_o}), {2});
  const Tensor waves =
      sum_product(reshape(sums, {n_f, 1, 4, n_o}), tensor(mixture, {n_f, 4, 4, n_o}), {2});
  const Tensor squares = square(real(waves)) + square(imag(waves)),
               per_square = tensor(power_of_square, {n_f, n_o});
  const auto part = [](const Tensor& t, Index k) { return select(t, 1, k); };
  return {part(waves, 0), part(waves, 1), (part(squares, 0) + part(squares, 1)) * per_square,
          part(waves, 2), part(waves, 3), (part(squares, 2) + part(squares, 3)) * per_square};
}

std::vector<PeriodicPlane> planes_in(const Medium& medium, PeriodicPlane plane,
                                     std::span<const double> frequencies_hz) {
  plane.mu = medium.mu[0];
  std::vector<PeriodicPlane> out;
  for (const double eps : real_permittivities(medium, 0, frequencies_hz)) {
    plane.eps = eps;
    out.push_back(plane);
  }
  return out;
}

std::vector<Order> propagating_orders(std::span<const PeriodicPlane> planes,
                                      std::span<const double> frequencies_hz) {
  detail::require_one_or_each("propagating_orders", planes.size(), frequencies_hz.size());
  if (planes.size() == 1) return propagating_orders(planes[0], frequencies_hz);
  std::vector<Order> all;
  for (std::size_t k = 0; k < planes.size(); ++k)
    for (const Order& order : propagating_orders(planes[k], frequencies_hz.subspan(k, 1)))
      if (std::find(all.begin(), all.end(), order) == all.end()) all.push_back(order);
  std::sort(all.begin(), all.end(),
            [](const Order& a, const Order& b) { return a.m != b.m ? a.m < b.m : a.n < b.n; });
  return all;
}

void require_orders(std::span<const PeriodicPlane> planes, std::span<const double> frequencies_hz,
                    std::span<const Order> orders) {
  detail::require_one_or_each("diffraction_orders", planes.size(), frequencies_hz.size());
  for (std::size_t k = 0; k < planes.size(); ++k)
    require_orders(planes[k], planes.size() == 1 ? frequencies_hz : frequencies_hz.subspan(k, 1),
                   orders);
}

OrderAmplitudes diffraction_orders(std::span<const PeriodicPlane> planes,
                                   const SurfaceFields& fields,
                                   std::span<const double> frequencies_hz,
                                   std::span<const Order> orders) {
  detail::require_one_or_each("diffraction_orders", planes.size(), frequencies_hz.size());
  if (planes.size() == 1) return diffraction_orders(planes[0], fields, frequencies_hz, orders);
  std::vector<OrderAmplitudes> all;
  for (std::size_t k = 0; k < planes.size(); ++k)
    all.push_back(diffraction_orders(
        planes[k], {detail::at_frequency(fields.e, k), detail::at_frequency(fields.h, k)},
        frequencies_hz.subspan(k, 1), orders));
  using A = OrderAmplitudes;
  const auto joined = [&](Tensor A::*part) {
    return detail::by_frequency(all.size(), [&](std::size_t k) { return all[k].*part; });
  };
  return {joined(&A::s),      joined(&A::p),      joined(&A::power),
          joined(&A::s_back), joined(&A::p_back), joined(&A::power_back)};
}

}  // namespace tessera::electromagnetics
