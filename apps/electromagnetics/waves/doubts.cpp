// SPDX-License-Identifier: Apache-2.0
// What a case may say, but hardly means: each a warning at its key.
#include "electromagnetics/waves/case_parts.h"
#include "electromagnetics/waves/sheets.h"
#include "tessera/electromagnetics/backward_films.h"
#include "tessera/electromagnetics/constants.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace tessera::apps::waves {
namespace {

namespace em = electromagnetics;

struct Doubts {
  Case& c;
  const data::Config& config;
  void say(int number, const std::string& key, std::string message, std::string hint) {
    data::Diagnostic d = config.error(number, key, std::move(message), std::move(hint));
    d.severity = data::Severity::warning;
    c.warnings.push_back(std::move(d));
  }

  /// The axis across whose absorbing layer the whole of a box lies, and its cells; nothing
  /// otherwise.
  std::pair<char, int> layer_of(const Point& middle, const Point& size) const {
    for (std::size_t d = 0; d < 3; ++d) {
      if (!c.grid.resolved(static_cast<int>(d))) continue;
      const std::vector<double>& x = c.grid.lines[d];
      const int below = layer_cells(c, static_cast<int>(d), false),
                above = layer_cells(c, static_cast<int>(d), true);
      const bool low = below > 0 && middle[d] + size[d] / 2 < x[static_cast<std::size_t>(below)];
      const bool high =
          above > 0 && middle[d] - size[d] / 2 > x[x.size() - 1 - static_cast<std::size_t>(above)];
      if (low || high) return {"xyz"[d], std::max(below, above)};
    }
    return {0, 0};
  }
  void layers_and_conductors(const std::string& key, const char* what, const Point& at,
                             const Point& size, const std::string& effect) {
    if (const auto [axis, cells] = layer_of(at, size); cells > 0)
      say(652, key,
          fmt::format("the {} lies inside the absorbing layer across {}, {}", what, axis, effect),
          fmt::format("the layers are {} cells deep: move it inwards, or enlarge grid.size",
                      cells));
    const em::SceneOrder scene(c.scene);
    if (size == Point{} && c.media[static_cast<std::size_t>(em::medium_at(scene, at))].pec)
      say(652, key,
          fmt::format("the {} lies in a perfect conductor, where there is no field", what),
          "move it out");
  }
};

/// Whether a case asks for powers, or for what they decide: a loss that bodies do not have counts.
bool asks_for_losses(const CaseOptions& o) {
  constexpr std::array of_power{MonitorKind::flux,   MonitorKind::rcs,        MonitorKind::ldos,
                                MonitorKind::orders, MonitorKind::resonances, MonitorKind::mode};
  return !o.scattering.all_frequencies().empty() ||
         std::any_of(o.monitors.begin(), o.monitors.end(), [&](const MonitorOptions& m) {
           return std::find(of_power.begin(), of_power.end(), m.kind) != of_power.end();
         });
}

/// In a cell that the surface of a metal cuts, permittivities of opposite signs meet: for some
/// share of the metal their average is near zero (or infinite) at any frequency, and such a cell
/// absorbs whatever the damping. Along the grid no share but one occurs; across it all do.
void averaged_metals(Doubts& doubts, const std::vector<std::size_t>& key) {
  const Case& c = doubts.c;
  if (c.options.grid.averaging == Averaging::none || !asks_for_losses(c.options) ||
      !c.grid.resolved(1))
    return;
  for (std::size_t n = 0; n < c.scene.structures.size(); ++n) {
    const StructureOptions& o = c.options.structures[key[n]];
    const bool along_the_grid = (o.shape == ShapeKind::box || o.shape == ShapeKind::half_space ||
                                 o.shape == ShapeKind::pixels) &&
                                !o.rotate &&
                                std::count(o.outward.begin(), o.outward.end(), 0.0) >= 2;
    const em::Medium& m = c.media[static_cast<std::size_t>(c.scene.structures[n].medium)];
    if (along_the_grid || m.pec) continue;
    double f = 0;
    for (int i = 0; i <= 20 && f == 0; ++i)
      if (const double at = c.frequency_min + (c.frequency_max - c.frequency_min) * i / 20;
          at > 0 && em::permittivity(m, 0, em::beside_pole(m, at)).real() < 0)
        f = at;
    if (f > 0)
      doubts.say(658, structure_key(c.options, key[n]),
                 fmt::format("at {:.4g} Hz the permittivity of '{}' is negative: cells that its "
                             "surface cuts at an angle absorb what the body does not",
                             f, m.name),
                 "where absorption counts take grid.averaging = \"none\", and compare with smaller "
                 "cells: 30 in the radius leave some per cent");
  }
}

/// Fields along a film see all of it at the line of the box in which it lies (averaging.h).
void films_beside_lines(Doubts& doubts, const std::vector<std::size_t>& key) {
  const Case& c = doubts.c;
  for (std::size_t n = 0; n < c.scene.structures.size(); ++n) {
    const em::Structure& s = c.scene.structures[n];
    if (s.pixels || c.media[static_cast<std::size_t>(s.medium)].pec) continue;
    const em::Bounds& b = s.shape.bounds();
    for (std::size_t d = 0; d < 3; ++d) {
      const std::vector<double>& x = c.grid.lines[d];
      const double thickness = b.high[d] - b.low[d], middle = (b.high[d] + b.low[d]) / 2;
      if (!c.grid.resolved(static_cast<int>(d)) || !(middle > x.front() && middle < x.back()))
        continue;
      const em::SheetPlace place = em::sheet_place(c.grid, static_cast<int>(d), middle);
      const double cell =
                       c.grid.length(static_cast<int>(d),
                                     std::min(place.line, c.grid.cells(static_cast<int>(d)) - 1)),
                   beside = std::min(place.above, 1 - place.above);
      if (!(thickness < cell / 2) || beside < 0.02) continue;
      doubts.say(
          632, structure_key(c.options, key[n]),
          fmt::format("the body is {:.3g} m thick along {}, less than half a cell, and fields "
                      "along it see it on the nearest line of the grid, {:.3g} m away",
                      thickness, "xyz"[d], beside * cell),
          "take a [[sheet]], on which a line of the grid is put, or smaller cells");
      break;
    }
  }
}

/// chi2 E_a^2 is even. Where the mirror makes E_a odd, the image has chi2 of the opposite sign.
void reversed_crystals(Doubts& doubts) {
  const Case& c = doubts.c;
  const std::array<bool, 6> active = computed(c);
  const auto crystal =
      std::find_if(c.media.begin(), c.media.end(), [](const em::Medium& m) { return m.chi2 != 0; });
  if (crystal == c.media.end()) return;
  const std::vector<FaceName>& symmetry = c.options.boundary.symmetry;
  for (std::size_t k = 0; k < symmetry.size(); ++k) {
    const auto axis = static_cast<std::size_t>(symmetry[k]) / 2;
    const bool high = static_cast<int>(symmetry[k]) % 2 == 1;
    const bool magnetic = (high ? c.faces[axis].high : c.faces[axis].low) == em::Boundary::pmc;
    bool odd = false;
    for (std::size_t a = 0; a < 3; ++a) odd = odd || (active[a] && (a == axis) == magnetic);
    if (odd)
      doubts.say(
          623, fmt::format("boundary.symmetry[{}]", k),
          fmt::format("the image of '{}' has chi2 of the opposite sign: what chi2 makes of a "
                      "field that is odd there is even",
                      crystal->name),
          "simulate the whole");
  }
}

void films_through_pml(Doubts& doubts, const std::vector<std::size_t>& key) {
  Case& c = doubts.c;
  const int cells = c.options.boundary.pml.cells;
  const auto say = [&](const em::BackwardFilm& b, const std::string& at) {
    doubts.say(
        657, at,
        fmt::format(
            "a film of {:.3g} m, with a negative permittivity at {:.4g} Hz and a skin depth of "
            "{:.3g} m, runs through the pml across {}, which amplifies backward waves on it",
            b.thickness_m, b.frequency_hz, b.skin_depth_m, "xyz"[b.axis]),
        fmt::format("take boundary.{} = \"absorber\", or watch for growth", "xyz"[b.axis]));
  };
  for (const em::BackwardFilm& b : em::backward_films(c.scene, c.media, c.grid, c.faces, cells,
                                                      c.frequency_min, c.frequency_max))
    say(b, structure_key(c.options, key[b.structure]));
  for (const em::BackwardFilm& b :
       em::backward_sheets(sheets_of(c), c.grid, c.faces, cells, c.frequency_min, c.frequency_max))
    say(b, fmt::format("sheet[{}]", b.structure));
}

}  // namespace

void doubt_place(Case& c, const data::Config& config, const std::string& key, const char* what,
                 const Point& at, const Point& size, const std::string& effect) {
  Doubts{c, config}.layers_and_conductors(key, what, at, size, effect);
}

void find_doubts(Case& c, const data::Config& config) {
  Doubts doubts{c, config};
  find_cuts(c, config);
  doubt_boxes(c, config);
  for (std::size_t s = 0; s < c.options.sources.size(); ++s) {
    const SourceOptions& o = c.options.sources[s];
    if (o.kind == SourceKind::plane_wave) continue;
    const Point size = o.kind == SourceKind::beam || o.kind == SourceKind::mode
                           ? Point{}
                           : o.size.value_or(Point{});
    doubts.layers_and_conductors(fmt::format("source[{}]", s), "source", *o.position, size,
                                 "which swallows most of what it sends");
  }
  for (std::size_t m = 0; m < c.options.monitors.size(); ++m) {
    const MonitorOptions& o = c.options.monitors[m];
    if (o.kind == MonitorKind::ldos ||
        (!o.size && (o.kind == MonitorKind::energy || o.kind == MonitorKind::snapshot)))
      continue;
    doubts.layers_and_conductors(fmt::format("monitor[{}]", m), "monitor", *o.position,
                                 o.size.value_or(Point{}), "where fields are damped");
  }
  const std::vector<std::size_t> key = structures_seen(c.options);
  films_through_pml(doubts, key);
  averaged_metals(doubts, key);
  films_beside_lines(doubts, key);
  find_skins(c, config);
  doubt_media(c, config);
  doubt_idle_keys(c, config);
  reversed_crystals(doubts);
  // Two cells a wavelength in vacuum: nothing shorter travels.
  double longest = 0;
  for (int d = 0; d < 3; ++d)
    for (int i = 0; c.grid.resolved(d) && i < c.grid.cells(d); ++i)
      longest = std::max(longest, c.grid.length(d, i));
  const double carried = em::speed_of_light / (2 * longest);
  if (const double highest = highest_resolved(c); highest > carried)
    doubts.say(654, "grid",
               fmt::format("no wave above {:.4g} Hz travels on cells of {:.3g} m, but {} {:.4g} Hz",
                           carried, longest,
                           highest > c.frequency_max ? "grid.frequency_max is"
                                                     : "sources or monitors reach",
                           highest),
               "use smaller cells, or lower the frequencies");
  const StopOptions& stop = c.options.run.stop;
  const double steps = std::min(stop.steps ? static_cast<double>(*stop.steps) : INFINITY,
                                stop.time ? *stop.time / c.dt_s : INFINITY);
  double last = 0;
  for (const CaseSource& source : c.sources)
    last = std::max(last, source.wave.edges.empty() ? source.waveform.end_s : source.wave.end_s);
  if (std::isfinite(last) && steps * c.dt_s < last)
    doubts.say(622, stop.time && *stop.time / c.dt_s <= steps ? "run.stop.time" : "run.stop.steps",
               fmt::format("the run ends at {:.4g} s, before its sources do, at {:.4g} s: spectra "
                           "are those of pulses cut short",
                           steps * c.dt_s, last),
               "let it run longer, or end it by run.stop.after_sources or run.stop.decay_db");
  const double days = steps * static_cast<double>(c.grid.cell_count()) / 1e9 / 86400;
  if (std::isfinite(days) && days > 30 && !stop.decay_db && !stop.dft_tolerance &&
      !stop.after_sources)
    doubts.say(655, "run.stop",
               fmt::format("{:.3g} steps of {:.3g} cells take {:.3g} days at 10^9 cells a second",
                           steps, static_cast<double>(c.grid.cell_count()), days),
               "let the run end by run.stop.decay_db, or shorten it");
}

void tell_drawings(Case& c, const data::Config& config) {
  for (std::size_t n = 0; n < c.options.structures.size(); ++n) {
    const StructureOptions& s = c.options.structures[n];
    if (!s.drawing || s.drawing->solid.found.clean()) continue;
    c.warnings.push_back(warning(config, 679, structure_key(c.options, n) + ".file",
                                 fmt::format("{} is no closed surface as it is: {}",
                                             s.file.string(), s.drawing->solid.found.text()),
                                 "places are those of the file, before origin and rotate; inside "
                                 "is where the winding number is above 1/2: look at the scene's "
                                 "picture"));
  }
}

}  // namespace tessera::apps::waves
