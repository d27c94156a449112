// SPDX-License-Identifier: Apache-2.0
#include "electromagnetics/waves/wires.h"

#include "electromagnetics/waves/loads.h"

#include <algorithm>
#include <cmath>

namespace tessera::apps::waves {
namespace {

namespace em = electromagnetics;

/// Whether a box has no extent across `axis`.
bool is_line(const Point& size, std::size_t axis) {
  for (std::size_t d = 0; d < 3; ++d)
    if (d != axis && size[d] != 0) return false;
  return true;
}

}  // namespace

std::vector<em::ThinWire> wires_of(const Case& c) {
  std::vector<em::ThinWire> out;
  for (const WireOptions& w : c.options.wires) out.push_back({w.points, w.radius});
  return out;
}

std::vector<em::Edge> edges_of_elements(const Case& c) {
  std::vector<em::Edge> out;
  const auto add = [&](const CircuitOptions& circuit, const Point& position, const Point& size,
                       std::size_t axis) {
    if (!is_line(size, axis)) return;
    try {
      const em::PlacedElement e =
          em::place(element_of(c, circuit, position, size, static_cast<int>(axis)), c.grid, c.faces,
                    {}, {}, symmetry_of(c));
      out.insert(out.end(), e.edges.begin(), e.edges.end());
    } catch (const Error&) {  // said when it is placed among conductors (make_loads)
    }
  };
  for (const LoadOptions& o : c.options.loads)
    add(o.circuit, o.position, o.size, static_cast<std::size_t>(o.axis[0] - 'x'));
  for (const PortOptions& o : c.options.ports)
    if (o.kind == PortKind::lumped) add(o.circuit, o.position, *o.size, port_axis(o));
  return out;
}

bool lies_in_wire(const Case& c, const PortOptions& port) {
  const std::size_t axis = port_axis(port);
  if (!is_line(*port.size, axis)) return false;
  const double near = 1e-6 * c.grid.smallest_length(static_cast<int>(axis)),
               low = port.position[axis] - (*port.size)[axis] / 2 - near,
               high = port.position[axis] + (*port.size)[axis] / 2 + near;
  for (const WireOptions& w : c.options.wires)
    for (std::size_t k = 0; k + 1 < w.points.size(); ++k) {
      const Point &a = w.points[k], &b = w.points[k + 1];
      bool in_line = std::min(a[axis], b[axis]) <= high && std::max(a[axis], b[axis]) >= low;
      for (std::size_t d = 0; d < 3; ++d)
        in_line =
            in_line &&
            (d == axis || (a[d] == b[d] && std::abs(a[d] - port.position[d]) <
                                               c.grid.smallest_length(static_cast<int>(d)) / 2));
      if (in_line) return true;
    }
  return false;
}

}  // namespace tessera::apps::waves
