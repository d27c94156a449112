// SPDX-License-Identifier: Apache-2.0
#include "electromagnetics/waves/beam_plane.h"
#include "electromagnetics/waves/case_parts.h"
#include "electromagnetics/waves/exterior.h"
#include "electromagnetics/waves/mode_plane.h"
#include "tessera/electromagnetics/beam.h"
#include "tessera/electromagnetics/mode_source.h"
#include "tessera/electromagnetics/plane_wave.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace tessera::apps::waves {
namespace {

namespace em = electromagnetics;

em::Beam beam_of(const Case& c, const CaseSource& s) {
  const SourceOptions& o = s.options;
  const BeamStart start = start_of_beam(c, o);
  const em::Medium& around = c.stepped[start.medium];
  return {.axis = start.axis,
          .position = *o.position,
          .direction = o.direction,
          .polarization = o.polarization,
          .waist = o.waist,
          .focus = o.focus,
          .frequency_hz = start.frequency_hz,
          .amplitude = o.amplitude,
          .waveform = s.waveform,
          .eps = around.eps[0],
          .mu = around.mu[0]};
}

/// A pulse of a mode over the band of its waveform.
em::Injection mode_of(const Case& c, CaseSource& s) {
  const SourceOptions& o = s.options;
  const WaveformOptions& w = o.waveform;
  const auto along =
      std::find_if(o.direction.begin(), o.direction.end(), [](double x) { return x != 0; });
  const em::ModePlane plane =
      mode_plane(c, static_cast<int>(along - o.direction.begin()), *o.position, o.size);
  const double low =
                   w.frequency_min.value_or(w.frequency.value_or(0) - w.bandwidth.value_or(0) / 2),
               high =
                   w.frequency_max.value_or(w.frequency.value_or(0) + w.bandwidth.value_or(0) / 2);
  const em::YeeModel model = make_model(c);
  s.images = images_of(c, plane);
  // A mode changes little over a narrow band.
  const int nodes = high - low < 0.1 * (high + low) / 2 ? 3 : 5;
  return em::mode_source(model, plane,
                         em::mode_band(model, plane, low, high, o.mode, nodes, o.index.value_or(0)),
                         {.mode = static_cast<std::size_t>(o.mode - 1),
                          .forward = *along > 0,
                          .amplitude = o.amplitude / std::sqrt(s.images),
                          .waveform = s.waveform});
}

/// Currents of a plane wave or beam; what cannot be is an error in the configuration.
void make_wave(const Case& c, CaseSource& s, const data::Config& config) {
  const bool beam = s.options.kind == SourceKind::beam;
  const em::Medium& around = c.media[beam ? start_of_beam(c, s.options).medium : 0];
  if (!around.poles.empty() || around.pec || !em::is_linear_isotropic_without_conduction(around))
    refuse({config.error(
        642, s.key,
        beam ? fmt::format("beams start in a medium without loss, dispersion, nonlinearity and "
                           "anisotropy, and at its plane is '{}'",
                           around.name)
             : "plane waves need a background without loss, dispersion, nonlinearity and "
               "anisotropy",
        beam ? "move it to another medium, or take another source"
             : "choose another background, or another source")});
  if (c.bloch_k != Point{})
    refuse({config.error(642, s.key, "waves and beams between Bloch faces are not supported",
                         "drive the structure by a current over a plane")});
  try {
    s.wave = beam ? em::beam(c.grid, c.faces, c.dt_s, beam_of(c, s))
                  : em::plane_wave(c.grid, c.faces, c.dt_s, plane_wave_of(c, s));
  } catch (const data::InputError&) {
    throw;
  } catch (const Error& e) {
    refuse({config.error(628, s.key, e.what(), "see the source's keys")});
  }
  if (!beam) return;
  std::vector<data::Diagnostic> errors;
  for (const BeamFault& f : mirrors_in_beam(c, s.options, mirrors_of(c), kRefusedAtMirror))
    errors.push_back(config.error(f.number, s.key + f.key, f.text, f.hint));
  if (!errors.empty()) refuse(std::move(errors));
}

em::Injection current_of(const Case& c, const CaseSource& s) {
  const SourceOptions& o = s.options;
  const Point at = *o.position, size = o.size.value_or(Point{});
  Point low{}, high{};
  for (std::size_t d = 0; d < 3; ++d) low[d] = at[d] - size[d] / 2, high[d] = at[d] + size[d] / 2;
  return em::current_source(c.grid, c.faces, c.dt_s, o.component, low, high, o.amplitude,
                            s.waveform, c.bloch_k, *c.open);
}

void make_mode(const Case& c, CaseSource& s, const data::Config& config) {
  try {
    s.wave = mode_of(c, s);
  } catch (const data::InputError&) {
    throw;
  } catch (const Error& e) {
    refuse({config.error(628, s.key, e.what(), "see the source's keys")});
  }
}

/// Along an outer conductor, which is at a `pml` face, too, behind the layers, there is no field
/// that a current could drive.
void check_current(const Case& c, const CaseSource& s, const data::Config& config) {
  try {
    current_of(c, s);
  } catch (const Error& e) {
    refuse({config.error(628, s.key + ".position", e.what(),
                         "move it inwards by a cell or more: faces of the domain that are neither "
                         "pmc nor joined are conductors, behind a pml, too")});
  }
}

}  // namespace

std::shared_ptr<const em::SampledSpectrum> sampled_spectrum(const Case& c, const CaseSource& s) {
  for (const CaseSource& known : c.sources)
    if (known.options.waveform == s.options.waveform) return known.spectrum;
  if (!std::isfinite(s.waveform.end_s)) return {};
  const StopOptions& stop = c.options.run.stop;
  double end = std::min(s.waveform.end_s, stop.time.value_or(INFINITY));
  if (stop.steps) end = std::min(end, static_cast<double>(*stop.steps) * c.dt_s);
  return std::make_shared<em::SampledSpectrum>(s.waveform, c.dt_s, end);
}

void make_sources(Case& c, const data::Config& config) {
  for (std::size_t s = 0; s < c.options.sources.size(); ++s) {
    CaseSource source{c.options.sources[s], fmt::format("source[{}]", s),
                      make_waveform(c.options.sources[s].waveform)};
    source.spectrum = sampled_spectrum(c, source);
    if (source.options.kind == SourceKind::plane_wave || source.options.kind == SourceKind::beam)
      make_wave(c, source, config);
    else if (source.options.kind == SourceKind::mode)
      make_mode(c, source, config);
    else
      check_current(c, source, config);
    c.sources.push_back(std::move(source));
  }
}

em::PlaneWave plane_wave_of(const Case& c, const CaseSource& s) {
  const em::Medium& around = c.stepped.front();
  const em::Bounds box = wave_box(c, s.options);
  return {.direction = s.options.direction,
          .polarization = s.options.polarization,
          .amplitude = s.options.amplitude,
          .waveform = s.waveform,
          .low = box.low,
          .high = box.high,
          .eps = around.eps[0],
          .mu = around.mu[0]};
}

em::Bounds wave_box(const Case& c, const SourceOptions& o) {
  em::Bounds box{};
  for (std::size_t d = 0; d < 3; ++d) {
    const std::vector<double>& x = c.grid.lines[d];
    const auto n = x.size() - 1;
    const auto inner = [&](bool high) {
      const int layer = layer_cells(c, static_cast<int>(d), high);
      return layer == 0 ? 0 : std::min(static_cast<std::size_t>(layer) + 4, n);
    };
    if (o.size) {
      box.low[d] = (*o.position)[d] - (*o.size)[d] / 2;
      box.high[d] = (*o.position)[d] + (*o.size)[d] / 2;
    } else {
      box.low[d] = x[inner(false)];
      box.high[d] = x[n - inner(true)];
    }
  }
  return box;
}

em::Waveform make_waveform(const WaveformOptions& o) {
  const double f = o.frequency.value_or(0);
  switch (o.kind) {
    case WaveformKind::gaussian: {
      const double centre =
          o.frequency_min && o.frequency_max ? (*o.frequency_min + *o.frequency_max) / 2 : f;
      const double width = o.bandwidth.value_or(
          o.frequency_min && o.frequency_max ? *o.frequency_max - *o.frequency_min : f);
      em::GaussianOptions g{.phase_rad = o.phase};
      if (o.delay) g.delay = *o.delay / (2 * std::sqrt(std::log(10.0)) / (M_PI * width));
      return em::gaussian_pulse(centre, width, g);
    }
    case WaveformKind::baseband:
      return em::gaussian_baseband(o.width, o.delay.value_or(4.5 * o.width));
    case WaveformKind::derivative:
      return em::gaussian_derivative(o.order, o.width,
                                     o.delay.value_or((4.5 + 0.1 * (o.order - 1)) * o.width));
    case WaveformKind::ricker:
      return em::ricker(f, o.delay.value_or(-1));
    case WaveformKind::ricker_derivative:
      return em::ricker_derivative(f, o.delay.value_or(-1));
    case WaveformKind::continuous:
      return em::continuous_wave(f, o.ramp.value_or(5 / f), o.phase);
    case WaveformKind::file:
      return em::read_waveform(o.file);
  }
  return {};
}

std::size_t run_count(const Case& c) { return std::max<std::size_t>(1, c.excitations.size()); }

std::vector<em::Injection> make_injections(const Case& c, std::size_t excitation) {
  if (!c.excitations.empty()) return {c.sources[c.excitations.at(excitation).source].wave};
  std::vector<em::Injection> out;
  for (const CaseSource& s : c.sources) out.push_back(injection_of(c, s));
  return out;
}

em::Injection injection_of(const Case& c, const CaseSource& s) {
  return s.wave.edges.empty() ? current_of(c, s) : s.wave;
}

}  // namespace tessera::apps::waves
