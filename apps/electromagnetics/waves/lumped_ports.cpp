// SPDX-License-Identifier: Apache-2.0
// Ports that are terminals of a source behind R, L and C.
#include "electromagnetics/waves/case_parts.h"
#include "electromagnetics/waves/loads.h"
#include "electromagnetics/waves/mode_plane.h"
#include "electromagnetics/waves/wires.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace tessera::apps::waves {
namespace {

namespace em = electromagnetics;

/// The axis of the line that the port feeds.
std::size_t line_axis(const PortOptions& o) {
  std::size_t axis = 0;
  while ((*o.plane)[axis] == o.position[axis]) ++axis;
  return axis;
}

em::LineReading line_of(const Case& c, const PortOptions& o) {
  const std::size_t axis = line_axis(o);
  em::LumpedElement path = element_of(c, o.circuit, o.position, *o.size, int(port_axis(o)));
  path.low[axis] = path.high[axis] = (*o.plane)[axis];
  em::LineReading line = em::line_reading(path, static_cast<int>(axis), c.grid, c.faces, *c.open,
                                          conductor_of(c), symmetry_of(c));
  if ((*o.plane)[axis] < o.position[axis])
    for (double& x : line.current) x = -x;  // away from the port
  return line;
}

/// Sums of h around conductors leave out the phase of joined faces.
void check_seams(const Case& c, const PortOptions& o, const CasePort& port,
                 const data::Config& config) {
  const auto is_seam = [&](std::size_t d, double at) {
    const std::vector<double>& lines = c.grid.lines[d];
    const int line = nearest_line(lines, at);
    return c.grid.resolved(static_cast<int>(d)) && c.faces[d].low == em::Boundary::periodic &&
           c.bloch_k[d] != 0 && (line == 0 || line + 1 == static_cast<int>(lines.size()));
  };
  for (std::size_t d = 0; d < 3; ++d) {
    const double half = (*o.size)[d] / 2;
    const bool at_element = d != port_axis(o) &&
                            (is_seam(d, o.position[d] - half) || is_seam(d, o.position[d] + half)),
               at_line = o.plane && is_seam(d, (*o.plane)[d]) && d == line_axis(o);
    if (at_element || at_line)
      refuse({config.error(667, port.key + (at_element ? ".position" : ".plane"),
                           fmt::format("lies on the seam of faces that are joined along {} with a "
                                       "phase, which its current would lack",
                                       "xyz"[d]),
                           "move it by a cell")});
  }
}

}  // namespace

void make_lumped_port(Case& c, std::size_t number, const data::Config& config) {
  const PortOptions& o = c.options.ports[number];
  CasePort& port = c.ports[number];
  const auto& all = c.options.ports;
  // Elements of ports come after those of loads, in the order of the ports.
  port.lumped.element = c.options.loads.size() +
                        static_cast<std::size_t>(std::count_if(
                            all.begin(), all.begin() + static_cast<std::ptrdiff_t>(number),
                            [](const PortOptions& p) { return p.kind == PortKind::lumped; }));
  if (on_free_wire(c, o.position)) {
    port.lumped.on_wire = wire_element_of_port(c, number);
    port.lumped.sign =
        wire_direction(c, o.position)[port_axis(o)] * o.direction[port_axis(o)] > 0 ? 1 : -1;
    return;
  }
  port.lumped.sign = o.direction[port_axis(o)] > 0 ? -1 : 1;
  check_seams(c, o, port, config);
  if (!o.plane) return;
  try {
    port.lumped.line = line_of(c, o);
  } catch (const Error& e) {
    refuse({config.error(667, port.key + ".plane", e.what(),
                         "a line has two conductors in that plane, one of them free of walls")});
  }
}

em::Injection lumped_port_source(const Case& c, const PortChannel& channel,
                                 const em::Waveform& waveform) {
  const LumpedPort& port = c.ports[channel.port].lumped;
  if (port.on_wire) return em::wire_source(*port.on_wire, waveform, c.dt_s);
  return em::lumped_source(c.elements[port.element], waveform, c.dt_s);
}

}  // namespace tessera::apps::waves
