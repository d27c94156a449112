// SPDX-License-Identifier: Apache-2.0
#include "tessera/electromagnetics/grid_modes.h"

#include "modes/cross_section.h"
#include "modes/definite_basis.h"
#include "modes/finish.h"
#include "tessera/autodiff/error.h"
#include "tessera/autodiff/ops.h"
#include "tessera/electromagnetics/constants.h"
#include "tessera/electromagnetics/line_impedance.h"
#include "tessera/solvers/eigenpairs.h"

#include <Eigen/Eigenvalues>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <string>
#include <type_traits>

namespace tessera::electromagnetics {
namespace {

using namespace modes;

constexpr int most_alike = 16;

/// A B is real then, up to rounding.
bool without_losses(const Matrix& m) {
  for (Eigen::Index r = 0; r < m.rows(); ++r) {
    double real = 0, imaginary = 0;
    for (Matrix::InnerIterator i(m, r); i; ++i) {
      real = std::max(real, std::abs(i.value().real()));
      imaginary = std::max(imaginary, std::abs(i.value().imag()));
    }
    if (imaginary > 16 * std::numeric_limits<double>::epsilon() * real) return false;
  }
  return true;
}
template <class T>
Tensor values_of(const Matrix& m) {
  std::vector<T> out;
  for (Eigen::Index r = 0; r < m.rows(); ++r)
    for (Matrix::InnerIterator i(m, r); i; ++i)
      if constexpr (std::is_same_v<T, double>)
        out.push_back(i.value().real());
      else
        out.push_back(i.value());
  return tensor(out);
}

/// The eigenpairs nearest to `target`, which lies beyond what the plane's media carry.
std::vector<ModePair> nearest_pairs(const Matrix& m, const Complex& target, int count) {
  std::vector<ModePair> out;
  constexpr Eigen::Index small = 160, patient = 800;  // dense: some ms, some seconds
  std::string why;
  const bool sparse = solvers::slepc_available(&why);
  if (m.rows() <= small || (!sparse && m.rows() <= patient)) {
    const Eigen::ComplexEigenSolver<Eigen::MatrixXcd> all{Eigen::MatrixXcd(m)};
    for (Eigen::Index k = 0; k < m.rows(); ++k)
      out.push_back({all.eigenvalues()[k], all.eigenvectors().col(k)});
    std::sort(out.begin(), out.end(), [&](const ModePair& a, const ModePair& b) {
      return std::abs(a.value - target) < std::abs(b.value - target);
    });
    out.resize(std::min(out.size(), static_cast<std::size_t>(count)));
    return out;
  }
  if (!sparse)
    throw Error("[grid_modes] a plane of " + std::to_string(m.rows()) +
                " unknowns needs SLEPc: " + why);
  std::vector<Index> begin{0}, column;
  for (Eigen::Index r = 0; r < m.rows(); ++r) {
    for (Matrix::InnerIterator i(m, r); i; ++i) column.push_back(i.col());
    begin.push_back(static_cast<Index>(column.size()));
  }
  const solvers::Eigenpairs found =
      solvers::eigenpairs(without_losses(m) ? values_of<double>(m) : values_of<Complex>(m),
                          csr_pattern(m.rows(), m.cols(), std::move(begin), std::move(column)),
                          {.count = count, .target = target});
  const std::vector<c128> lambda = found.values.to_vector<c128>(),
                          x = found.vectors.to_vector<c128>();
  for (int k = 0; k < count; ++k) {
    if (std::isnan(lambda[static_cast<std::size_t>(k)].real()))
      throw Error("[grid_modes] of " + std::to_string(count) + " modes " + std::to_string(k) +
                  " were found: ask for fewer, or give an index near those that are wanted");
    Vector v(m.rows());
    for (Eigen::Index r = 0; r < m.rows(); ++r)
      v[r] = x[static_cast<std::size_t>(k * m.rows() + r)];
    out.push_back({lambda[static_cast<std::size_t>(k)], std::move(v)});
  }
  return out;
}

/// How many more than were found have the speed of the last one; these with all of them.
int add_alike(const Matrix& m, const Complex& target, std::vector<ModePair>& found) {
  int more = 0;
  for (const std::size_t asked = found.size(); asked > 0 && more < most_alike; ++more) {
    std::vector<ModePair> next;
    try {
      next = nearest_pairs(m, target, static_cast<int>(found.size()) + 1);
    } catch (const Error&) {
      break;  // there are no more
    }
    if (next.size() == found.size() || !alike(found.back(), next.back())) break;
    found = std::move(next);
  }
  return more;
}

std::vector<Complex> as_list(const Vector& v) { return {v.data(), v.data() + v.size()}; }

/// e / |e| of the largest value; of values within a thousandth of it, as lobes of an odd mode are,
/// of the first one along the plane, which is the same in every plane of a guide.
Complex sign_of(const Vector& e) {
  const double largest = e.cwiseAbs().maxCoeff();
  Eigen::Index first = 0;
  while (std::abs(e[first]) < 0.999 * largest) ++first;
  return e[first] / std::abs(e[first]);
}

GridMode mode_of(const CrossSection& s, const GridModes& plane, const Matrix& ab, const ModePair& p,
                 double frequency_hz) {
  GridMode out;
  Vector e = p.vector;
  e /= sign_of(e);
  const Vector h = s.b * e, e_n = s.e_n_of_h * h, held = s.held_of_e_n * e_n;
  out.residual =
      (ab * p.vector - p.value * p.vector).norm() / (std::abs(p.value) * p.vector.norm());
  out.e = as_list(e), out.h = as_list(h);
  out.e_n = as_list(e_n), out.h_n = as_list(s.h_n_of_e * e);
  out.h.insert(out.h.end(), held.begin(), held.end());
  out.e.resize(out.h.size(), 0.0);
  finish(out, plane, p.value, frequency_hz);
  return out;
}

}  // namespace

void modes::finish(GridMode& mode, const GridModes& plane, const Complex& s_squared,
                   double frequency_hz) {
  Complex half = std::asin(std::sqrt(-s_squared / 4.0));  // beta D/2
  const Complex s = Complex(0, -2) * std::sin(half);
  std::vector<Complex> conjugate;
  for (Complex& x : mode.h) x /= s, conjugate.push_back(std::conj(x));
  const double watt = plane.reference * plane.reference / (2 * vacuum_impedance * plane.depth),
               size = watt * std::abs(mode_product(plane, mode.e, mode.h));
  const double power =
      watt * (mode_product(plane, mode.e, conjugate) * std::polar(1.0, half.real())).real();
  // Forward: what travels carries its power there, whichever way its phase runs and whether layers
  // at the sides let it decay or grow; what carries hardly any decays there.
  const bool travels =
                 std::abs(half.imag()) < std::abs(half.real()) && std::abs(power) > 0.1 * size,
             turned = travels ? power < 0 : half.imag() > 0;
  if (turned) half = -half;
  mode.beta = 2.0 * half / plane.cell;
  mode.index = mode.beta * speed_of_light / (2 * std::numbers::pi * frequency_hz);
  const double scale = 1 / std::sqrt(size * std::abs(std::cos(half))),
               way = turned ? -scale : scale;
  for (auto* field : {&mode.e, &mode.h_n})
    for (Complex& x : *field) x *= scale;
  for (Complex& x : mode.h) x *= way;
  for (Complex& x : mode.e_n) x *= way / s;
}

double images_of(const YeeGrid& grid, const ModePlane& plane, const SymmetryFaces& symmetry) {
  double out = 1;
  for (std::size_t q = 0; q < 2; ++q) {
    const int d = (plane.axis + 1 + static_cast<int>(q)) % 3;
    if (!grid.resolved(d)) continue;
    const auto& mirrors = symmetry[static_cast<std::size_t>(d)];
    if (mirrors[0] && plane.low[q] <= 0) out *= 2;
    if (mirrors[1] && (plane.high[q] < 0 || plane.high[q] == grid.cells(d))) out *= 2;
  }
  return out;
}

GridModes grid_modes(const YeeModel& model, const ModePlane& plane, const ModeOptions& options) {
  if (!(options.frequency_hz > 0) || options.count < 1)
    throw Error("[grid_modes] needs a frequency above zero and at least one mode to look for");
  const double w = 2 * std::numbers::pi * options.frequency_hz;
  const CrossSection s = cross_section(model, plane, options.frequency_hz);
  const int count =
      static_cast<int>(std::min<std::size_t>(static_cast<std::size_t>(options.count), s.e.size()));
  const double sine = std::sin(w * model.dt_s / 2) * s.steps_per_cell,
               per_index = 4 * sine * sine;  // -s^2 of a wave along n, over index^2
  const double index_squared =
      options.index != 0 ? options.index * options.index : 1.05 * std::max(s.densest, 1.0);
  const Matrix ab = s.a * s.b;
  GridModes out{s.e,       s.h,    s.e.size(),  s.e_n,   s.h_n, s.e_scale,
                s.h_scale, s.cell, s.reference, s.depth, {}};
  out.h_scale.insert(out.h_scale.end(), s.held_scale.begin(), s.held_scale.end());
  out.e_scale.resize(out.h_scale.size(), 1.0);
  for (const Edge& h : s.held) {
    Edge e = h;  // the metal one at its place
    e.component = static_cast<std::uint8_t>(3 - plane.axis - axis_of(h.component));
    out.e.push_back(e), out.h.push_back(h);
  }
  const Complex target = -per_index * index_squared;
  std::vector<ModePair> found = nearest_pairs(ab, target, count);
  if (options.whole_groups) out.alike = add_alike(ab, target, found);
  const auto unreturned = [&] {
    Vector of_h = Vector::Zero(static_cast<Eigen::Index>(s.e.size()));
    for (const GuideConductor& c : guide_conductors(model, plane, out))
      for (std::size_t k = 0; c.open && k < c.edges.size(); ++k)
        of_h[static_cast<Eigen::Index>(c.edges[k])] += c.net * c.sign[k];
    return of_h;
  };
  make_definite(s, model.grid, plane.axis, unreturned, found);
  found.resize(std::min(found.size(), static_cast<std::size_t>(count)));
  for (const ModePair& p : found) out.modes.push_back(mode_of(s, out, ab, p, options.frequency_hz));
  const auto travels = [](const GridMode& m) {
    return std::abs(m.beta.real()) > std::abs(m.beta.imag());
  };
  std::stable_sort(out.modes.begin(), out.modes.end(), [&](const GridMode& a, const GridMode& b) {
    if (travels(a) != travels(b)) return travels(a);
    return travels(a) ? a.beta.real() > b.beta.real() : a.beta.imag() > b.beta.imag();
  });
  return out;
}

Complex mode_product(const GridModes& modes, const std::vector<Complex>& e,
                     const std::vector<Complex>& h) {
  if (e.size() != modes.e.size() || h.size() != modes.h.size())
    throw Error("[mode_product] the plane has " + std::to_string(modes.e.size()) +
                " edges, given are " + std::to_string(e.size()) + " and " +
                std::to_string(h.size()));
  Complex sum = 0;
  for (std::size_t k = 0; k < e.size(); ++k) {
    const int next = (axis_of(modes.e[k].component) + 1) % 3;
    sum += (axis_of(modes.h[k].component) == next ? 1.0 : -1.0) * e[k] * h[k];
  }
  return sum;
}

ModeAmplitudes mode_amplitudes(const GridModes& modes, std::size_t mode,
                               const std::vector<Complex>& e, const std::vector<Complex>& h_before,
                               const std::vector<Complex>& h_behind) {
  const GridMode& m = modes.modes.at(mode);
  const Complex n = mode_product(modes, m.e, m.h);
  std::vector<Complex> h(h_before.size());
  if (h_behind.size() != h.size())
    throw Error("[mode_amplitudes] h before and behind the plane differ in size");
  for (std::size_t k = 0; k < h.size(); ++k) h[k] = (h_before[k] + h_behind[k]) / 2.0;
  const Complex both = mode_product(modes, e, m.h) / n,
                apart = mode_product(modes, m.e, h) / (n * std::cos(m.beta * modes.cell / 2.0));
  return {(both + apart) / 2.0, (both - apart) / 2.0};
}

}  // namespace tessera::electromagnetics
