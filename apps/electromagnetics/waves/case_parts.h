// SPDX-License-Identifier: Apache-2.0
// The steps in which make_case makes a case, each of what is there already. They throw InputError.
#pragma once
#include "electromagnetics/waves/case.h"

#include <algorithm>

namespace tessera::apps::waves {

/// Lines, faces and the phases between joined ones, from the media and the band of frequencies.
void make_grid(Case& c, const data::Config& config);
/// What cells have to be fine enough for: the band's highest frequency, or a higher
/// grid.frequency_max.
inline double highest_resolved(const Case& c) {
  return std::max(c.frequency_max, c.options.grid.frequency_max.value_or(0));
}
/// Media as the grid takes them, and the time step that is stable in them; what speaks against the
/// media.
void choose_time_step(Case& c, const data::Config& config);
/// Lines of the grid on sheets, where they may move; the time step is not chosen yet.
void put_lines_on_sheets(Case& c, const data::Config& config);
/// What conductors with a surface impedance add to the faces beside them, once `open` and sheets
/// are there.
void make_surface_losses(Case& c, const data::Config& config);
/// Warns of conductors whose skin the cells do not see, and of bodies thinner than it.
void find_skins(Case& c, const data::Config& config);
/// Warns of walls and bodies outside of the boxes of far fields, and of what joined faces repeat.
void doubt_boxes(Case& c, const data::Config& config);
/// Warns of media that are not known, or are stepped badly, where results are asked for.
void doubt_media(Case& c, const data::Config& config);
/// Warns of keys that have no effect beside others.
void doubt_idle_keys(Case& c, const data::Config& config);
/// The losses of a case that has passed.
void place_surface_losses(Case& c);
/// Sheets on the grid.
void make_sheets(Case& c, const data::Config& config);
/// Lumped elements on the grid: those of loads, then of ports.
void make_loads(Case& c, const data::Config& config);
/// Wires between lines of the grid, with the loads and ports on them.
void make_wire_network(Case& c, const data::Config& config);
/// Sources, on the grid.
void make_sources(Case& c, const data::Config& config);

/// The spectrum of what a run takes of a source: of its samples until it ends, or the run does.
std::shared_ptr<const electromagnetics::SampledSpectrum> sampled_spectrum(const Case& c,
                                                                          const CaseSource& s);

/// What was wrong with surfaces from files, as warnings.
void tell_drawings(Case& c, const data::Config& config);

/// Warns of a box, or point, that lies in a layer, and of a point in a conductor.
void doubt_place(Case& c, const data::Config& config, const std::string& key, const char* what,
                 const Point& at, const Point& size, const std::string& effect);
/// Refuses what needs more memory than this machine has: `what`, in words.
void check_fits(double bytes, const std::string& key, const std::string& what,
                const std::string& hint, const data::Config& config);

data::Diagnostic warning(const data::Config& config, int number, const std::string& key,
                         std::string message, std::string hint);
/// Says all findings at once.
[[noreturn]] void refuse(std::vector<data::Diagnostic> findings);

}  // namespace tessera::apps::waves
