// SPDX-License-Identifier: Apache-2.0
// The kinds of monitors: what their keys say, and a maker of each.
#pragma once
#include "electromagnetics/fdtd/monitor.h"
#include "tessera/electromagnetics/monitors.h"

namespace tessera::apps::fdtd {

/// Points of a plane, box or line on the grid: middles of its cells along extended axes.
electromagnetics::Region region_of(const Case& c, const MonitorOptions& o);
std::vector<Coordinate> region_coordinates(const electromagnetics::Region& region);
/// The plane, or the faces of the box, of a monitor of tangential fields.
std::vector<electromagnetics::Patch> patches_of(const Case& c, const MonitorOptions& o);
/// Steps that a monitor in time keeps.
electromagnetics::KeptSteps kept_steps(const Case& c, const MonitorOptions& o);
const char* field_units(int component);
/// Of the transform of an amplitude whose square is power: per length of each axis that is left
/// out, as that is.
const char* amplitude_units(const Case& c);

// One of each kind; throws Error or MonitorFault where the keys do not fit the case.
std::unique_ptr<Monitor> make_probe(const Case& c, const MonitorOptions& o);
std::unique_ptr<Monitor> make_dft(const Case& c, const MonitorOptions& o);
std::unique_ptr<Monitor> make_flux(const Case& c, const MonitorOptions& o);
std::unique_ptr<Monitor> make_energy(const Case& c, const MonitorOptions& o);
std::unique_ptr<Monitor> make_far_field(const Case& c, const MonitorOptions& o);
std::unique_ptr<Monitor> make_ldos(const Case& c, const MonitorOptions& o);
std::unique_ptr<Monitor> make_orders(const Case& c, const MonitorOptions& o);
std::unique_ptr<Monitor> make_resonances(const Case& c, const MonitorOptions& o);
std::unique_ptr<Monitor> make_mode(const Case& c, const MonitorOptions& o);
std::unique_ptr<Monitor> make_beam(const Case& c, const MonitorOptions& o);
std::unique_ptr<Monitor> make_snapshot(const Case& c, const MonitorOptions& o);

}  // namespace tessera::apps::fdtd
