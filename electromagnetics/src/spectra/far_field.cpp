// SPDX-License-Identifier: Apache-2.0
#include "current_sheets.h"
#include "spectra/by_frequency.h"
#include "tessera/autodiff/ops.h"

#include <algorithm>

namespace tessera::electromagnetics {
namespace {

using Complex = std::complex<double>;
using std::numbers::pi;

/// Unit vectors r^, theta^, phi^ of a direction.
struct Frame {
  std::array<double, 3> r, theta, phi;
};
Frame frame(const Direction& d) {
  const double st = std::sin(d.theta), ct = std::cos(d.theta), sp = std::sin(d.phi),
               cp = std::cos(d.phi);
  return {{st * cp, st * sp, ct}, {ct * cp, ct * sp, -st}, {-sp, cp, 0}};
}

/// w_i e^{i k (r^_axis x_i + r^_across across)} for all frequencies: [frequency, point, direction].
Tensor phases(const std::vector<double>& k, const std::vector<Frame>& frames, int axis,
              const std::vector<double>& x, const std::vector<double>& weight, int across_axis,
              double across) {
  std::vector<Complex> p;
  p.reserve(k.size() * x.size() * frames.size());
  for (double wavenumber : k)
    for (std::size_t i = 0; i < x.size(); ++i)
      for (const Frame& f : frames)
        p.push_back(
            std::polar(weight[i], wavenumber * (f.r[axis] * x[i] + f.r[across_axis] * across)));
  return tensor(p, {static_cast<Index>(k.size()), static_cast<Index>(x.size()),
                    static_cast<Index>(frames.size())});
}

/// What E_lo, E_hi, H_lo, H_hi contribute to F_theta and F_phi, but for the factor before the
/// bracket: [2, 4, direction].
///   F_theta = -L_phi - eta N_theta,  F_phi = L_theta - eta N_phi
Tensor mixture(const CurrentSheet& s, const std::vector<Frame>& frames, double eta) {
  const int lo = s.at.lo_axis(), hi = s.at.hi_axis();
  const auto n = static_cast<Index>(frames.size());
  std::vector<Complex> m(8 * n);
  for (Index d = 0; d < n; ++d) {
    const auto& [r, theta, phi] = frames[d];
    const double rows[2][4] = {{s.magnetic[1] * phi[hi], -s.magnetic[0] * phi[lo],
                                -eta * s.electric[1] * theta[hi], eta * s.electric[0] * theta[lo]},
                               {-s.magnetic[1] * theta[hi], s.magnetic[0] * theta[lo],
                                -eta * s.electric[1] * phi[hi], eta * s.electric[0] * phi[lo]}};
    for (int row = 0; row < 2; ++row)
      for (int c = 0; c < 4; ++c) m[(row * 4 + c) * n + d] = rows[row][c];
  }
  return tensor(m, {2, 4, n});
}

/// The same directions for all sheets: [frequency, direction, 2].
Tensor far_block(const std::vector<CurrentSheet>& sheets, const std::vector<Tensor>& stacked,
                 const std::vector<double>& k, const std::vector<Frame>& frames,
                 const Exterior& exterior) {
  const auto n_f = static_cast<Index>(k.size()), n_d = static_cast<Index>(frames.size());
  Tensor total;
  for (const CurrentSheet& s : sheets) {
    const Index n_lo = s.at.n_lo(), n_hi = s.at.n_hi();
    const Tensor along_lo =
        phases(k, frames, s.at.lo_axis(), s.at.lo, s.at.weight_lo, s.at.axis, s.at.position);
    const Tensor along_hi =
        phases(k, frames, s.at.hi_axis(), s.at.hi, s.at.weight_hi, s.at.axis, 0);
    const Tensor rows = matmul(reshape(stacked[s.patch], {n_f, 4 * n_hi, n_lo}), along_lo);
    const Tensor sums = sum_product(reshape(rows, {n_f, 4, n_hi, n_d}),
                                    reshape(along_hi, {n_f, 1, n_hi, n_d}), {2});
    const Tensor part =
        sum_product(reshape(sums, {n_f, 1, 4, n_d}),
                    reshape(mixture(s, frames, impedance(exterior)), {1, 2, 4, n_d}), {2});
    total = total.defined() ? total + part : part;
  }
  std::vector<Complex> factor;
  for (double x : k)
    factor.push_back(exterior.dimensions == 3 ? Complex(0, x / (4 * pi))
                                              : std::sqrt(Complex(0, x / (8 * pi))));
  return transpose(total * tensor(factor, {n_f, 1, 1}));
}

double solid_angle(const Exterior& exterior) { return exterior.dimensions == 3 ? 4 * pi : 2 * pi; }
/// of(exterior, part) where all frequencies have one exterior; else for each of them, `part` taking
/// its entries.
template <class F>
Tensor in_each_exterior(const char* operation, std::span<const Exterior> exteriors, Index n,
                        const F& of) {
  detail::require_one_or_each(operation, exteriors.size(), static_cast<std::size_t>(n));
  if (exteriors.size() == 1) return of(exteriors[0], [](const Tensor& x) { return x; });
  return detail::by_frequency(exteriors.size(), [&](std::size_t k) {
    return of(exteriors[k], [k](const Tensor& x) { return detail::at_frequency(x, k); });
  });
}
Tensor squared(const Tensor& far_field) {
  return sum(square(real(far_field)) + square(imag(far_field)), {-1});
}

}  // namespace

std::vector<Direction> directions(std::span<const double> theta, std::span<const double> phi) {
  std::vector<Direction> d;
  for (double t : theta)
    for (double p : phi) d.push_back({t, p});
  return d;
}

std::vector<Direction> directions(std::span<const double> phi) {
  const double equator[] = {pi / 2};
  return directions(equator, phi);
}

Tensor far_field(const std::vector<Patch>& patches, const std::vector<SurfaceFields>& fields,
                 std::span<const double> frequencies_hz, std::span<const Direction> directions,
                 const Exterior& exterior) {
  require_exterior("far_field", exterior, frequencies_hz);
  require_fields("far_field", patches, fields, static_cast<Index>(frequencies_hz.size()));
  require_dimensions("far_field", patches, exterior.dimensions);
  if (directions.empty()) throw Error("[far_field] needs a direction");
  std::vector<double> k;
  for (double f : frequencies_hz) k.push_back(wavenumber(exterior, f));
  std::vector<Frame> frames;
  for (const Direction& d : directions) {
    if (exterior.dimensions == 2 && std::abs(d.theta - pi / 2) > 1e-12)
      throw Error("[far_field] in two dimensions theta is pi/2");
    frames.push_back(frame(d));
  }
  const std::vector<CurrentSheet> sheets = sheets_of(patches, exterior.mirrors);
  std::vector<Tensor> stacked;
  Index widest = 1;
  for (std::size_t p = 0; p < patches.size(); ++p) {
    stacked.push_back(cast(concatenate({fields[p].e, fields[p].h}, 1), Dtype::c128));
    widest = std::max(widest, patches[p].n_lo() + 5 * patches[p].n_hi());
  }
  // Blocks whose constants and intermediate sums take 32 MiB a sheet.
  const std::size_t block =
      std::max<Index>(1, (Index{1} << 21) / (widest * static_cast<Index>(k.size())));
  std::vector<Tensor> blocks;
  for (std::size_t first = 0; first < frames.size(); first += block) {
    const std::size_t last = std::min(frames.size(), first + block);
    blocks.push_back(far_block(sheets, stacked, k,
                               {frames.begin() + static_cast<std::ptrdiff_t>(first),
                                frames.begin() + static_cast<std::ptrdiff_t>(last)},
                               exterior));
  }
  return blocks.size() == 1 ? blocks[0] : concatenate(blocks, 1);
}

Tensor radiation_intensity(const Tensor& far_field, const Exterior& exterior) {
  return squared(far_field) * (0.5 / impedance(exterior));
}

Tensor directivity(const Tensor& far_field, const Tensor& power, const Exterior& exterior) {
  return radiation_intensity(far_field, exterior) * solid_angle(exterior) / expand_dims(power, -1);
}

Tensor far_field(const std::vector<Patch>& patches, const std::vector<SurfaceFields>& fields,
                 std::span<const double> frequencies_hz, std::span<const Direction> directions,
                 std::span<const Exterior> exteriors) {
  detail::require_one_or_each("far_field", exteriors.size(), frequencies_hz.size());
  if (exteriors.size() == 1)
    return far_field(patches, fields, frequencies_hz, directions, exteriors[0]);
  return detail::by_frequency(exteriors.size(), [&](std::size_t k) {
    std::vector<SurfaceFields> own;
    for (const SurfaceFields& f : fields)
      own.push_back({detail::at_frequency(f.e, k), detail::at_frequency(f.h, k)});
    return far_field(patches, own, frequencies_hz.subspan(k, 1), directions, exteriors[k]);
  });
}

Tensor radiation_intensity(const Tensor& far_field, std::span<const Exterior> exteriors) {
  return in_each_exterior(
      "radiation_intensity", exteriors, far_field.dim(0),
      [&](const Exterior& e, const auto& part) { return radiation_intensity(part(far_field), e); });
}

Tensor directivity(const Tensor& far_field, const Tensor& power,
                   std::span<const Exterior> exteriors) {
  return in_each_exterior("directivity", exteriors, far_field.dim(0),
                          [&](const Exterior& e, const auto& part) {
                            return directivity(part(far_field), part(power), e);
                          });
}

Tensor scattering_cross_section(const Tensor& far_field, const Tensor& incident,
                                const Exterior& exterior) {
  return squared(far_field) * solid_angle(exterior) /
         (square(real(expand_dims(incident, -1))) + square(imag(expand_dims(incident, -1))));
}

Tensor total_cross_section(const Tensor& power, const Tensor& incident, const Exterior& exterior) {
  return power / ((square(real(incident)) + square(imag(incident))) / (2 * impedance(exterior)));
}

}  // namespace tessera::electromagnetics
