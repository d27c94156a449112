// SPDX-License-Identifier: Apache-2.0
#include "current_sheets.h"
#include "spectra/by_frequency.h"
#include "tessera/autodiff/ops.h"

#include <algorithm>
#include <map>
#include <tuple>

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

/// A wave of the grid, e^{-i k.r}: differences make of it -i K_d, K_d = 2/h_d sin(k_d h_d/2). r^ is
/// the direction of K, across which its fields lie as in the continuum; |K| is w sqrt(eps mu) with
/// 2/dt sin(w dt/2) for w.
struct FarWave {
  double wavenumber;  ///< K
  std::array<double, 3> cell;

  /// k_d
  double along(int axis, double cosine) const {
    const double h = cell[static_cast<std::size_t>(axis)], K = wavenumber * cosine;
    return h > 0 ? std::asin(half_sine(axis, cosine)) * 2 / h : K;
  }
  /// Of |F|^2: per solid angle of K lie as many waves as of k in prod 1/cos(k_d h_d/2).
  double density(const Frame& f) const {
    double product = 1;
    for (int d = 0; d < 3; ++d) product *= std::cos(std::asin(half_sine(d, f.r[d])));
    return 1 / product;
  }

 private:
  static constexpr double shortest = 0.9;  ///< shorter waves are not known for sure
  double half_sine(int axis, double cosine) const {
    return std::clamp(wavenumber * cosine * cell[static_cast<std::size_t>(axis)] / 2, -shortest,
                      shortest);
  }
};
FarWave far_wave(const Exterior& x, double f) {
  const double dt = x.dt_s, w = 2 * pi * f;
  return {wavenumber(x, f) * (dt > 0 ? std::sin(w * dt / 2) / (w * dt / 2) : 1), x.cell_m};
}

/// w_i e^{i k_axis x_i} for all frequencies: [frequency, point, direction]. Sheets have lists in
/// common.
class Phases {
 public:
  Phases(const std::vector<FarWave>& waves, const std::vector<Frame>& frames)
      : waves_(waves), frames_(frames) {}

  const Tensor& of(int axis, const std::vector<double>& x, const std::vector<double>& weight) {
    Tensor& known = known_[{axis, x, weight}];
    if (!known.defined()) known = make(axis, x, weight);
    return known;
  }

 private:
  Tensor make(int axis, const std::vector<double>& x, const std::vector<double>& weight) const {
    const std::size_t n_d = frames_.size();
    std::vector<Complex> p;
    p.reserve(waves_.size() * x.size() * n_d);
    std::vector<double> along(n_d);
    for (const FarWave& wave : waves_) {
      for (std::size_t d = 0; d < n_d; ++d) along[d] = wave.along(axis, frames_[d].r[axis]);
      for (std::size_t i = 0; i < x.size(); ++i)
        for (std::size_t d = 0; d < n_d; ++d) p.push_back(std::polar(weight[i], along[d] * x[i]));
    }
    return tensor(p, {static_cast<Index>(waves_.size()), static_cast<Index>(x.size()),
                      static_cast<Index>(n_d)});
  }
  const std::vector<FarWave>& waves_;
  const std::vector<Frame>& frames_;
  std::map<std::tuple<int, std::vector<double>, std::vector<double>>, Tensor> known_;
};

/// Components of a patch, in rows one behind the other: complex [frequency, components n_hi, n_lo].
struct Stacked {
  std::vector<int> components;  ///< of E_lo, E_hi, H_lo, H_hi
  Tensor values;
  std::vector<std::vector<PatchComponent::Place>> places;  ///< of each
};

/// What E_lo, E_hi, H_lo, H_hi contribute to F_theta and F_phi, but for the factor before the
/// bracket: [2, components, direction].
///   F_theta = -L_phi - eta N_theta,  F_phi = L_theta - eta N_phi
Tensor mixture(const CurrentSheet& s, const std::vector<Frame>& frames, double eta,
               const std::vector<int>& components) {
  const int lo = s.at.lo_axis(), hi = s.at.hi_axis();
  const auto n = static_cast<Index>(frames.size()), n_c = std::ssize(components);
  std::vector<Complex> m(2 * n_c * n);
  for (Index d = 0; d < n; ++d) {
    const auto& [r, theta, phi] = frames[d];
    const double rows[2][4] = {{s.magnetic[1] * phi[hi], -s.magnetic[0] * phi[lo],
                                -eta * s.electric[1] * theta[hi], eta * s.electric[0] * theta[lo]},
                               {-s.magnetic[1] * theta[hi], s.magnetic[0] * theta[lo],
                                -eta * s.electric[1] * phi[hi], eta * s.electric[0] * phi[lo]}};
    for (int row = 0; row < 2; ++row)
      for (Index c = 0; c < n_c; ++c) m[(row * n_c + c) * n + d] = rows[row][components[c]];
  }
  return tensor(m, {2, n_c, n});
}

/// The same directions for all sheets: [frequency, direction, 2].
Tensor far_block(const std::vector<CurrentSheet>& sheets, const std::vector<Stacked>& stacked,
                 const std::vector<FarWave>& waves, const std::vector<Frame>& frames,
                 const Exterior& exterior) {
  const auto n_f = static_cast<Index>(waves.size()), n_d = static_cast<Index>(frames.size());
  Phases phases(waves, frames);
  Tensor total;
  for (const CurrentSheet& s : sheets) {
    const Stacked& of = stacked[s.patch];
    const Index n_hi = s.at.n_hi(), n_c = std::ssize(of.components);
    const Tensor along_lo = phases.of(s.at.lo_axis(), s.at.lo, s.at.weight_lo),
                 along_hi = phases.of(s.at.hi_axis(), s.at.hi, s.at.weight_hi);
    std::vector<Tensor> across;
    for (const auto& places : of.places) {
      Tensor sum;
      for (const PatchComponent::Place& p : places) {
        const Tensor& one = phases.of(s.at.axis, {s.at.position + s.turned * p.offset}, {p.share});
        sum = sum.defined() ? sum + one : one;
      }
      across.push_back(sum);
    }
    const Tensor rows = matmul(of.values, along_lo);
    const Tensor sums = sum_product(reshape(rows, {n_f, n_c, n_hi, n_d}),
                                    reshape(along_hi, {n_f, 1, n_hi, n_d}), {2});
    const Tensor part = sum_product(
        reshape(sums * concatenate(across, 1), {n_f, 1, n_c, n_d}),
        reshape(mixture(s, frames, impedance(exterior), of.components), {1, 2, n_c, n_d}), {2});
    total = total.defined() ? total + part : part;
  }
  std::vector<Complex> factor;
  for (const FarWave& wave : waves) {
    const double k = wave.wavenumber;
    const Complex of_all =
        exterior.dimensions == 3 ? Complex(0, k / (4 * pi)) : std::sqrt(Complex(0, k / (8 * pi)));
    for (const Frame& f : frames) factor.push_back(of_all * std::sqrt(wave.density(f)));
  }
  return transpose(total * tensor(factor, {n_f, 1, n_d}));
}

/// Of all patches, [frequency, direction, 2].
Tensor far_of(const std::vector<Patch>& patches, const std::vector<Stacked>& stacked,
              std::span<const double> frequencies_hz, std::span<const Direction> directions,
              const Exterior& exterior) {
  require_exterior("far_field", exterior, frequencies_hz);
  require_dimensions("far_field", patches, exterior.dimensions);
  if (directions.empty()) throw Error("[far_field] needs a direction");
  std::vector<FarWave> waves;
  for (double f : frequencies_hz) waves.push_back(far_wave(exterior, f));
  std::vector<Frame> frames;
  for (const Direction& d : directions) {
    if (exterior.dimensions == 2 && std::abs(d.theta - pi / 2) > 1e-12)
      throw Error("[far_field] in two dimensions theta is pi/2");
    frames.push_back(frame(d));
  }
  const std::vector<CurrentSheet> sheets = sheets_of(patches, exterior.mirrors);
  Index widest = 1;
  for (const Patch& p : patches) widest = std::max(widest, p.n_lo() + 5 * p.n_hi());
  // Blocks whose constants and intermediate sums take 32 MiB a sheet.
  const std::size_t block =
      std::max<Index>(1, (Index{1} << 21) / (widest * static_cast<Index>(waves.size())));
  std::vector<Tensor> blocks;
  for (std::size_t first = 0; first < frames.size(); first += block) {
    const std::size_t last = std::min(frames.size(), first + block);
    blocks.push_back(far_block(sheets, stacked, waves,
                               {frames.begin() + static_cast<std::ptrdiff_t>(first),
                                frames.begin() + static_cast<std::ptrdiff_t>(last)},
                               exterior));
  }
  return blocks.size() == 1 ? blocks[0] : concatenate(blocks, 1);
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
bool has_points_of(const Patch& a, const Patch& b) {
  return a.axis == b.axis && a.outward == b.outward && a.position == b.position && a.lo == b.lo &&
         a.hi == b.hi && a.weight_lo == b.weight_lo && a.weight_hi == b.weight_hi;
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
  const auto n_f = static_cast<Index>(frequencies_hz.size());
  require_fields("far_field", patches, fields, n_f);
  std::vector<Stacked> stacked;
  for (std::size_t p = 0; p < patches.size(); ++p)
    stacked.push_back({{0, 1, 2, 3},
                       reshape(cast(concatenate({fields[p].e, fields[p].h}, 1), Dtype::c128),
                               {n_f, 4 * patches[p].n_hi(), patches[p].n_lo()}),
                       std::vector<std::vector<PatchComponent::Place>>(4, {{0, 1}})});
  return far_of(patches, stacked, frequencies_hz, directions, exterior);
}

Tensor far_field(const std::vector<PatchComponent>& components,
                 std::span<const double> frequencies_hz, std::span<const Direction> directions,
                 std::span<const Exterior> exteriors) {
  detail::require_one_or_each("far_field", exteriors.size(), frequencies_hz.size());
  if (components.empty()) throw Error("[far_field] needs a patch");
  const auto n_f = static_cast<Index>(frequencies_hz.size());
  std::vector<Patch> patches;
  std::vector<std::vector<PatchComponent>> on;  // those that have a patch in common
  for (const PatchComponent& c : components) {
    if (c.component < 0 || c.component > 3 || c.places.empty() ||
        c.values.shape() != tessera::Shape{n_f, c.at.n_hi(), c.at.n_lo()})
      throw Error("[far_field] needs components from 0 to 3, [frequency, n_hi, n_lo], at a place");
    const auto p = static_cast<std::size_t>(
        std::find_if(patches.begin(), patches.end(),
                     [&](const Patch& other) { return has_points_of(other, c.at); }) -
        patches.begin());
    if (p == patches.size()) patches.push_back(c.at), on.emplace_back();
    on[p].push_back(c);
  }
  const auto of = [&](const Exterior& exterior, std::span<const double> f, const auto& part) {
    std::vector<Stacked> stacked;
    for (std::size_t p = 0; p < on.size(); ++p) {
      Stacked s;
      std::vector<Tensor> rows;
      for (const PatchComponent& c : on[p]) {
        s.components.push_back(c.component), s.places.push_back(c.places);
        rows.push_back(cast(part(c.values), Dtype::c128));
      }
      s.values = rows.size() == 1 ? rows[0] : concatenate(rows, 1);
      stacked.push_back(s);
    }
    return far_of(patches, stacked, f, directions, exterior);
  };
  if (exteriors.size() == 1)
    return of(exteriors[0], frequencies_hz, [](const Tensor& x) { return x; });
  return detail::by_frequency(exteriors.size(), [&](std::size_t k) {
    return of(exteriors[k], frequencies_hz.subspan(k, 1),
              [k](const Tensor& x) { return detail::at_frequency(x, k); });
  });
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
