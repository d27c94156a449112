// SPDX-License-Identifier: Apache-2.0
#include "electromagnetics/fdtd/case.h"

#include "electromagnetics/fdtd/absorber.h"
#include "electromagnetics/fdtd/exterior.h"
#include "tessera/electromagnetics/beam.h"
#include "tessera/electromagnetics/constants.h"
#include "tessera/electromagnetics/dispersion_correction.h"
#include "tessera/electromagnetics/medium_checks.h"
#include "tessera/electromagnetics/medium_stability.h"
#include "tessera/electromagnetics/plane_wave.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace tessera::apps::fdtd {
namespace {

namespace em = electromagnetics;

constexpr double kMostCells = 4e9;  ///< beyond it not even the f32 fields fit into 96 GB

data::Diagnostic warning(const data::Config& config, int number, const std::string& key,
                         std::string message, std::string hint) {
  data::Diagnostic d = config.error(number, key, std::move(message), std::move(hint));
  d.severity = data::Severity::warning;
  return d;
}

em::Boundary boundary(Face f) {
  switch (f) {
    case Face::pml:
      return em::Boundary::pml;
    case Face::pec:
    case Face::absorber:  // in front of a conductor; what absorbs is a medium (with_absorbers)
      return em::Boundary::pec;
    case Face::pmc:
      return em::Boundary::pmc;
    default:
      return em::Boundary::periodic;
  }
}

/// Largest refractive index of all lossless parts at `f`, for counting cells per wavelength.
double highest_index(const std::vector<em::Medium>& media, double f_hz) {
  double n = 1;
  for (const em::Medium& m : media)
    if (!m.pec)
      for (int axis = 0; axis < 3; ++axis)
        n = std::max(n, std::abs(em::refractive_index(m, axis, f_hz).real()));
  return n;
}

/// Says all findings at once.
[[noreturn]] void refuse(std::vector<data::Diagnostic> findings) {
  throw data::InputError(data::ExitCode::config_invalid, std::move(findings));
}

void find_band(Case& c) {
  double low = INFINITY, high = 0;
  for (const MonitorOptions& m : c.options.monitors)
    for (const double f : m.kind == MonitorKind::resonances
                              ? std::vector<double>{*m.frequency_min, *m.frequency_max}
                              : m.all_frequencies())
      low = std::min(low, f), high = std::max(high, f);
  for (const SourceOptions& s : c.options.sources) {
    const WaveformOptions& w = s.waveform;
    double centre = w.frequency.value_or(0), half = w.bandwidth.value_or(0) / 2;
    if (w.frequency_min && w.frequency_max)
      centre = (*w.frequency_min + *w.frequency_max) / 2,
      half = (*w.frequency_max - *w.frequency_min) / 2;
    if (w.kind == WaveformKind::baseband || w.kind == WaveformKind::derivative)
      centre = 0, half = 0.5 / w.width;
    if (w.kind == WaveformKind::ricker || w.kind == WaveformKind::ricker_derivative) half = centre;
    if (w.kind == WaveformKind::file) continue;
    low = std::min(low, std::max(centre - half, 0.0)), high = std::max(high, centre + half);
  }
  c.frequency_min = std::isfinite(low) ? low : 0;
  c.frequency_max = high;
}

double cell_length(const Case& c, const data::Config& config) {
  const GridOptions& g = c.options.grid;
  if (g.cell) return *std::min_element(g.cell->begin(), g.cell->end());
  if (!g.cells_per_wavelength) return 0;
  const double f = g.frequency_max.value_or(c.frequency_max);
  if (!(f > 0))
    refuse({config.error(620, "grid.cells_per_wavelength",
                         "there is no highest frequency to count cells for",
                         "give grid.frequency_max")});
  return em::speed_of_light / f / highest_index(c.media, f) / *g.cells_per_wavelength;
}

void make_grid(Case& c, const data::Config& config) {
  const GridOptions& g = c.options.grid;
  const double cell = cell_length(c, config);
  double count = 1;
  for (int d = 0; d < 3; ++d) {
    const double own = g.cell ? (*g.cell)[static_cast<std::size_t>(d)] : cell;
    const AxisOptions& a = g.axis(d);
    double n = !a.lines.empty() ? static_cast<double>(a.lines.size())
               : g.resolved(d)  ? (g.high(d) - g.low(d)) / own
                                : 1;
    for (const RefineOptions& r : a.refine) n += (r.to - r.from) / r.cell;
    count *= n;
  }
  if (count > kMostCells)
    refuse({config.error(
        641, "grid",
        fmt::format("the grid would have about {:.2g} cells: its fields need {:.3g} TB", count,
                    count * 24 / 1e12),
        "use larger cells, a smaller domain or mirror planes")});
  for (int d = 0; d < 3; ++d) {
    const auto u = static_cast<std::size_t>(d);
    c.grid.lines[u] = axis_lines(g, d, g.cell ? (*g.cell)[u] : cell);
    c.grid.one_cell_period[u] = g.resolved(d) && c.grid.cells(d) == 1;
  }
}

/// What says how long an axis is.
std::string extent_key(const GridOptions& g, int d) {
  return g.axis(d).lines.empty() ? fmt::format("grid.size[{}]", d)
                                 : fmt::format("grid.{}.lines", "xyz"[d]);
}

void make_boundaries(Case& c, const data::Config& config) {
  const BoundaryOptions& b = c.options.boundary;
  for (int d = 0; d < 3; ++d) {
    if (c.grid.resolved(d) && b.low(d) == Face::bloch) {
      const auto u = static_cast<std::size_t>(d);
      const double period = c.grid.lines[u].back() - c.grid.lines[u].front();
      c.bloch_k[u] = b.bloch_k ? (*b.bloch_k)[u] : b.bloch_phase ? (*b.bloch_phase)[u] / period : 0;
    }
    c.faces[static_cast<std::size_t>(d)] =
        c.grid.resolved(d) ? em::Faces{boundary(b.low(d)), boundary(b.high(d))}
                           : em::Faces{em::Boundary::periodic, em::Boundary::periodic};
    if (c.grid.resolved(d) && c.grid.cells(d) == 1 && boundary(b.low(d)) != em::Boundary::periodic)
      refuse({config.error(
          643, extent_key(c.options.grid, d),
          fmt::format(
              "an axis of one cell needs periodic or bloch faces, and those across {} are neither",
              "xyz"[d]),
          fmt::format("write boundary.{0} = \"periodic\" or \"bloch\"; or size 0 along {0}, where "
                      "nothing varies; or more cells",
                      "xyz"[d]))});
    const int layers = layer_cells(c, d, false) + layer_cells(c, d, true);
    const bool of_pml = b.low(d) == Face::pml || b.high(d) == Face::pml;
    if (layers > 0 && layers >= c.grid.cells(d))
      refuse({config.error(
          643, of_pml ? "boundary.pml" : "boundary.absorber",
          fmt::format("layers of {} cells together leave nothing of an axis of {} cells along {}",
                      layers, c.grid.cells(d), "xyz"[d]),
          "make the domain larger or the layers thinner")});
  }
}

void check_scene(Case& c, const data::Config& config) {
  const em::Bounds domain{
      {c.grid.lines[0].front(), c.grid.lines[1].front(), c.grid.lines[2].front()},
      {c.grid.lines[0].back(), c.grid.lines[1].back(), c.grid.lines[2].back()}};
  const std::vector<std::size_t> key = structures_seen(c.options);
  std::vector<data::Diagnostic> errors;
  for (const std::size_t s : em::structures_outside(c.scene, domain))
    errors.push_back(config.error(644, fmt::format("structure[{}]", key[s]),
                                  "the structure lies outside of the domain",
                                  "move it, or enlarge grid.size"));
  if (!errors.empty()) refuse(std::move(errors));
  for (const em::Overlap& o : em::overlaps(c.scene, domain))
    c.warnings.push_back(warning(config, 645, fmt::format("structure[{}]", key[o.second]),
                                 em::describe(o, c.scene), "give one of them a priority"));
}

double longest_step(const std::vector<em::Medium>& media, double bound) {
  double stable = INFINITY;
  for (const em::Medium& m : media)
    if (!m.pec) stable = std::min(stable, em::max_stable_dt(m, bound));
  return stable;
}

/// Media at their exact speed, which depends on the time step, and the time step, whose limit
/// depends on the media: the dependences are weak, (w dt)^2/12 of a share of (k h)^2/16, so few
/// rounds settle both to rounding.
void correct_dispersion(Case& c, const data::Config& config, double frequency, double bound) {
  for (int round = 0; round < 8; ++round) {
    try {
      for (std::size_t m = 0; m < c.media.size(); ++m)
        c.stepped[m] = em::dispersion_corrected(c.media[m], c.grid, c.dt_s, frequency);
    } catch (const Error& e) {
      refuse({config.error(649, "grid.exact_speed_at", e.what(),
                           "see the key's meaning, or leave it out")});
    }
    c.stable_dt_s = longest_step(c.stepped, bound);
    if (!c.options.run.dt) c.dt_s = c.options.run.courant * c.stable_dt_s;
  }
}

void choose_time_step(Case& c, const data::Config& config) {
  const double bound = em::curl_curl_bound(c.grid);
  if (std::all_of(c.media.begin(), c.media.end(), [](const em::Medium& m) { return m.pec; }))
    refuse({config.error(646, "grid.background",
                         "the background is a perfect conductor, and so is the material of each "
                         "structure: no region is left for fields",
                         "choose a background or a structure that is not a conductor")});
  c.stepped = c.media;
  c.stable_dt_s = longest_step(c.media, bound);
  const SteppingOptions& r = c.options.run;
  std::vector<data::Diagnostic> errors;
  for (std::size_t m = 0; m < c.media.size(); ++m) {
    if (c.media[m].pec) continue;
    std::string key = "grid.background";
    for (std::size_t q = 0; q < c.options.materials.size(); ++q)
      if (c.options.materials[q].name == c.media[m].name) key = fmt::format("material[{}]", q);
    for (const em::MediumFinding& f :
         em::check_medium(c.media[m], {.f_min_hz = c.frequency_min, .f_max_hz = c.frequency_max})) {
      data::Diagnostic d = config.error(646, key, f.what, f.remedy);
      d.severity = f.severity;
      (f.severity == data::Severity::error ? errors : c.warnings).push_back(std::move(d));
    }
    const em::Medium& x = c.media[m];
    if ((x.chi2 != 0 || x.chi3 != 0) && c.bloch_k != Point{})
      errors.push_back(config.error(
          642, key,
          "between Bloch faces fields are complex, and a nonlinear medium needs the real field",
          "take periodic faces, or leave chi2 and chi3 out"));
  }
  if (!errors.empty()) refuse(std::move(errors));
  if (!(c.stable_dt_s > 0))
    refuse({config.error(646, "material", "no time step is stable in one of the media",
                         "see `tessera check`")});
  c.dt_s = r.dt.value_or(r.courant * c.stable_dt_s);
  if (c.options.grid.exact_speed_at)
    correct_dispersion(c, config, *c.options.grid.exact_speed_at, bound);
  if (c.dt_s > c.stable_dt_s * (1 + 1e-9))
    refuse({config.error(
        647, "run.dt",
        fmt::format("a time step of {:.6g} s is above the stability limit of {:.6g} s", c.dt_s,
                    c.stable_dt_s),
        "leave it out, or set run.courant")});
  const double shortest = c.frequency_max > 0 ? em::speed_of_light / c.frequency_max /
                                                    highest_index(c.media, c.frequency_max)
                                              : INFINITY;
  double longest = 0;
  for (int d = 0; d < 3; ++d)
    if (c.grid.resolved(d))
      for (int i = 0; i < c.grid.cells(d); ++i) longest = std::max(longest, c.grid.length(d, i));
  if (longest > shortest / 10)
    c.warnings.push_back(warning(config, 648, "grid",
                                 fmt::format("cells of {:.3g} m are coarser than a tenth of the "
                                             "shortest wavelength, {:.3g} m at {:.4g} Hz",
                                             longest, shortest, c.frequency_max),
                                 "use 10 to 20 cells per wavelength for errors of some per cent"));
}

void open_conductors(Case& c, const data::Config& config) {
  c.open = make_open(c);
  const std::vector<std::size_t> key = structures_seen(c.options);
  for (const em::ThinMetal& t : c.open->thin_metal) {
    const bool body = t.structure != em::ThinMetal::background;
    const std::string name = body ? c.scene.structures[t.structure].name : "";
    std::string text = body ? fmt::format("metal{} that is thinner than a cell",
                                          name.empty() ? "" : " of '" + name + "'")
                            : "metal of the background that is thinner than a cell";
    if (t.moved > 0)
      text +=
          fmt::format(" is put on the nearest line of the grid, up to {:.3g} m away", t.shift_m);
    if (t.closed > 0)
      text += fmt::format("{} {} faces of the grid, which are taken as metal",
                          t.moved > 0 ? ", and fills" : " fills", t.closed);
    c.warnings.push_back(warning(
        config, 656, body ? fmt::format("structure[{}]", key[t.structure]) : "grid.background",
        text, "use smaller cells there, or put a line of the grid on it"));
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

/// A beam leaves the plane across the resolved axis along which its size is zero, or, without a
/// size, the one that it follows most.
em::Beam beam_of(const Case& c, const CaseSource& s) {
  const SourceOptions& o = s.options;
  const WaveformOptions& w = o.waveform;
  const em::Medium& around = c.stepped.front();
  em::Beam b{.axis = 0,
             .position = *o.position,
             .direction = o.direction,
             .polarization = o.polarization,
             .waist = o.waist,
             .focus = o.focus,
             .frequency_hz = w.frequency.value_or(0),
             .amplitude = o.amplitude,
             .waveform = s.waveform,
             .eps = around.eps[0],
             .mu = around.mu[0]};
  if (w.frequency_min && w.frequency_max)
    b.frequency_hz = (*w.frequency_min + *w.frequency_max) / 2;
  double best = -INFINITY;
  for (int d = 0; d < 3; ++d) {
    const auto a = static_cast<std::size_t>(d);
    const double rank = !c.grid.resolved(d) ? -INFINITY
                        : o.size            ? -(*o.size)[a]
                                            : std::abs(o.direction[a]);
    if (rank > best) b.axis = d, best = rank;
  }
  return b;
}

/// Currents of a plane wave or beam; what cannot be is an error in the configuration.
void make_wave(const Case& c, CaseSource& s, const data::Config& config) {
  const em::Medium& around = c.media.front();
  const auto even = [](const std::array<double, 3>& x) { return x[0] == x[1] && x[1] == x[2]; };
  if (!around.poles.empty() || around.sigma != Point{} || around.sigma_m != Point{} ||
      !even(around.eps) || !even(around.mu) || around.pec)
    refuse({config.error(
        642, s.key, "waves and beams need a background without loss, dispersion and anisotropy",
        "choose another background, or another source")});
  if (c.bloch_k != Point{})
    refuse({config.error(642, s.key, "waves and beams between Bloch faces are not supported",
                         "drive the structure by a current over a plane")});
  try {
    s.wave = s.options.kind == SourceKind::plane_wave
                 ? em::plane_wave(c.grid, c.faces, c.dt_s, plane_wave_of(c, s))
                 : em::beam(c.grid, c.faces, c.dt_s, beam_of(c, s));
  } catch (const data::InputError&) {
    throw;
  } catch (const Error& e) {
    refuse({config.error(628, s.key, e.what(), "see the source's keys")});
  }
}

em::Injection current_of(const Case& c, const CaseSource& s) {
  const SourceOptions& o = s.options;
  const Point at = *o.position, size = o.size.value_or(Point{});
  Point low{}, high{};
  for (std::size_t d = 0; d < 3; ++d) low[d] = at[d] - size[d] / 2, high[d] = at[d] + size[d] / 2;
  return em::current_source(c.grid, c.faces, c.dt_s, o.component, low, high, o.amplitude,
                            s.waveform, c.bloch_k, *c.open);
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

/// The spectrum of what a run takes of a source: of its samples until it ends, or the run does.
std::shared_ptr<const em::SampledSpectrum> sampled_spectrum(const Case& c, const CaseSource& s) {
  for (const CaseSource& known : c.sources)
    if (known.options.waveform == s.options.waveform) return known.spectrum;
  if (!std::isfinite(s.waveform.end_s)) return {};
  const StopOptions& stop = c.options.run.stop;
  double end = std::min(s.waveform.end_s, stop.time.value_or(INFINITY));
  if (stop.steps) end = std::min(end, static_cast<double>(*stop.steps) * c.dt_s);
  return std::make_shared<em::SampledSpectrum>(s.waveform, c.dt_s, end);
}

}  // namespace

std::vector<std::size_t> structures_seen(const FdtdOptions& o) {
  std::vector<std::size_t> key;
  for (std::size_t s = 0; s < o.structures.size(); ++s)
    if (o.structures[s].material) key.push_back(s);
  return key;
}

Case make_case(FdtdOptions options, const data::Config& config) {
  Case c;
  c.options = std::move(options);
  c.media = make_media(c.options, config, c);
  find_band(c);
  make_grid(c, config);
  make_boundaries(c, config);
  c.scene = make_scene(c.options, c.media);
  check_scene(c, config);
  choose_time_step(c, config);
  open_conductors(c, config);
  for (std::size_t s = 0; s < c.options.sources.size(); ++s) {
    CaseSource source{c.options.sources[s], fmt::format("source[{}]", s),
                      make_waveform(c.options.sources[s].waveform)};
    source.spectrum = sampled_spectrum(c, source);
    if (source.options.kind == SourceKind::plane_wave || source.options.kind == SourceKind::beam)
      make_wave(c, source, config);
    else
      check_current(c, source, config);
    c.sources.push_back(std::move(source));
  }
  check_memory(c, config);
  for (std::size_t m = 0; m < c.options.monitors.size(); ++m)
    if (const MonitorOptions& o = c.options.monitors[m]; !o.derivatives.empty())
      c.shape_derivatives[o.name] =
          shape_derivatives_of(c, o, fmt::format("monitor[{}].derivatives", m), config);
  check_exteriors(c, config);
  find_doubts(c, config);
  return c;
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
      return em::gaussian_derivative(o.order, o.width, o.delay.value_or(4.5 * o.width));
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

std::vector<em::Injection> make_injections(const Case& c) {
  std::vector<em::Injection> out;
  for (const CaseSource& s : c.sources)
    out.push_back(s.wave.edges.empty() ? current_of(c, s) : s.wave);
  return out;
}

std::shared_ptr<const em::CutCellFractions> make_open(const Case& c) {
  const bool conformal = c.options.grid.conductors == ConductorChoice::conformal;
  return std::make_shared<em::CutCellFractions>(em::cut_cell_fractions(
      em::SceneOrder(c.scene), c.stepped, c.grid, c.faces, c.dt_s, conformal));
}

em::YeeModel make_model(const Case& c) {
  em::Pml pml = c.options.boundary.pml;
  const em::Medium& background = c.media.front();
  pml.index = c.options.boundary.pml.medium_index.value_or(
      background.pec ? 1 : std::sqrt(background.eps[0] * background.mu[0]));
  em::YeeModel m =
      em::yee_model(c.grid, c.faces, pml, c.dt_s,
                    c.options.run.precision == Precision::f32 ? Dtype::f32 : Dtype::f64, c.scene,
                    c.stepped, c.options.grid.averaging, *c.open);
  m.bloch_phase = bloch_phase(c);
  m.material = with_absorbers(c, std::move(m.material));
  m.active = computed(c);
  return m;
}

int layer_cells(const Case& c, int axis, bool high) {
  return c.grid.resolved(axis) ? c.options.boundary.layer_cells(axis, high) : 0;
}

std::array<double, 3> bloch_phase(const Case& c) {
  std::array<double, 3> phase{};
  for (std::size_t d = 0; d < 3; ++d)
    phase[d] = c.bloch_k[d] * (c.grid.lines[d].back() - c.grid.lines[d].front());
  return phase;
}

std::array<bool, 6> computed(const Case& c) {
  if (!c.grid.resolved(1))
    return {false, true, true, false, true, true};  // along x alone nothing makes Ex and Hx
  const Polarization p =
      c.grid.resolved(1) && !c.grid.resolved(2) ? c.options.grid.polarization : Polarization::both;
  const bool ez = p != Polarization::Hz, hz = p != Polarization::Ez;
  return {hz, hz, ez, ez, ez, hz};
}

std::int64_t field_bytes(const Case& c) {
  const std::int64_t word = c.options.run.precision == Precision::f32 ? 4 : 8;
  double cells = 1, layers = 0;
  for (int d = 0; d < 3; ++d) cells *= c.grid.cells(d) + 2.0;
  for (int d = 0; d < 3; ++d) {
    const em::Faces& f = c.faces[static_cast<std::size_t>(d)];
    const int faces = int{f.low == em::Boundary::pml} + int{f.high == em::Boundary::pml};
    layers += 4.0 * faces * c.options.boundary.pml.cells * cells / (c.grid.cells(d) + 2.0);
  }
  return static_cast<std::int64_t>((6 * cells + layers) * static_cast<double>(word)) *
         (c.bloch_k == Point{} ? 1 : 2);
}

}  // namespace tessera::apps::fdtd
