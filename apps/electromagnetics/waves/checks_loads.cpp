// SPDX-License-Identifier: Apache-2.0
// What [[load]] may not say.
#include "electromagnetics/waves/checks.h"

namespace tessera::apps::waves {

void check_lumped(const GridOptions& grid, const CircuitOptions& circuit, const Point& size,
                  std::size_t axis, const std::string& at, const std::string& axis_key,
                  Checks& checks) {
  if (!circuit.resistance && !circuit.inductance && !circuit.capacitance)
    checks.say(630, at, "has neither a resistance nor an inductance or a capacitance",
               "e.g. resistance = \"50 ohm\"");
  const std::string size_key = at + ".size";
  if (grid.resolved(static_cast<int>(axis)) && size[axis] == 0)
    return checks.say(
        630, size_key,
        std::string("has no length along ") + "xyz"[axis] + ", where the current runs",
        "let it reach from one conductor to the other");
  int widths = 0;
  for (std::size_t d = 0; d < 3; ++d)
    widths += d != axis && grid.resolved(static_cast<int>(d)) && size[d] > 0;
  if (widths > 1)
    checks.say(630, size_key, "a lumped element is a rectangle or a line, and this is a block",
               "set its size to 0 along one axis across the current");
  check_computed(grid, static_cast<Component>(axis), at + axis_key, 630, checks);
}

void check_loads(const CaseOptions& o, Checks& checks) {
  for (std::size_t k = 0; k < o.loads.size(); ++k) {
    const LoadOptions& load = o.loads[k];
    check_lumped(o.grid, load.circuit, load.size, static_cast<std::size_t>(load.axis[0] - 'x'),
                 item("load", k), ".axis", checks);
  }
}

}  // namespace tessera::apps::waves
