// SPDX-License-Identifier: Apache-2.0
#include "electromagnetics/waves/loads.h"

#include "electromagnetics/waves/case_parts.h"
#include "electromagnetics/waves/wires.h"
#include "tessera/electromagnetics/averaging.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace tessera::apps::waves {
namespace {

namespace em = electromagnetics;

/// Whether an edge lies in an absorbing layer.
bool in_layers(const Case& c, const em::Edge& e) {
  const int at[3] = {e.i, e.j, e.k};
  for (int d = 0; d < 3; ++d)
    if (at[d] < layer_cells(c, d, false) ||
        at[d] + (d == em::axis_of(e.component) ? 1 : 0) > c.grid.cells(d) - layer_cells(c, d, true))
      return true;
  return false;
}

/// Errors of L and C at both ends of the band are the same.
em::Circuit circuit_of(const Case& c, const CircuitOptions& o) {
  return em::exact_at(
      {o.resistance, o.inductance, o.capacitance, o.circuit == CircuitChoice::parallel},
      std::hypot(c.frequency_min, c.frequency_max) / std::sqrt(2.0), c.dt_s);
}

/// A source in the edges of another one counts as its own: what each port would tell of the other
/// cannot be told apart. A load there is a circuit beside the port's.
void refuse_shared_edges(const Case& c, std::size_t port, const data::Config& config) {
  const auto& ports = c.options.ports;
  std::size_t element = c.options.loads.size();
  for (std::size_t q = 0; q < port; ++q) {
    if (ports[q].kind != PortKind::lumped) continue;
    const std::vector<em::Edge>&own = c.elements.back().edges, &other = c.elements[element++].edges;
    if (std::any_of(own.begin(), own.end(), [&](const em::Edge& e) {
          return std::find(other.begin(), other.end(), e) != other.end();
        }))
      refuse({config.error(
          667, fmt::format("port[{}].position", port),
          fmt::format("the port '{}' has edges of the grid in common with the port '{}': what one "
                      "drives the other cannot tell from its own source",
                      ports[port].name, ports[q].name),
          "give each its own terminals, a cell or more apart; a circuit beside a port's is a "
          "[[load]]")});
  }
}

}  // namespace

std::function<bool(const em::Edge&)> conductor_of(const Case& c) {
  em::Periodic periodic{};
  for (int d = 0; d < 3; ++d)
    periodic[static_cast<std::size_t>(d)] =
        c.grid.resolved(d) && c.faces[static_cast<std::size_t>(d)].low == em::Boundary::periodic;
  return [&c, periodic, scene = std::make_shared<em::SceneOrder>(c.scene)](const em::Edge& e) {
    return c.open->fraction(e) == 0 ||
           em::edge_material(*scene, c.stepped, c.grid, e, c.options.grid.averaging, periodic,
                             *c.open)
               .pec;
  };
}

em::SymmetryFaces symmetry_of(const Case& c) {
  em::SymmetryFaces out{};
  for (int d = 0; d < 3; ++d)
    for (const bool high : {false, true})
      out[static_cast<std::size_t>(d)][high] = c.options.boundary.is_symmetry(d, high);
  return out;
}

em::LumpedElement element_of(const Case& c, const CircuitOptions& circuit, const Point& position,
                             const Point& size, int axis) {
  em::LumpedElement out;
  out.circuit = circuit_of(c, circuit);
  out.axis = axis;
  for (std::size_t d = 0; d < 3; ++d)
    out.low[d] = position[d] - size[d] / 2, out.high[d] = position[d] + size[d] / 2;
  return out;
}

em::PlacedElement place_element(const Case& c, const em::LumpedElement& element,
                                const std::string& key, const data::Config& config) {
  const auto wrong = [&](const std::string& message, const char* hint) {
    refuse({config.error(630, key, message, hint)});
  };
  const auto conductor = conductor_of(c);
  em::PlacedElement out;
  try {
    out = em::place(element, c.grid, c.faces, *c.open, conductor, symmetry_of(c));
  } catch (const Error& e) {
    wrong(e.what(), "it reaches from one conductor to another, over edges of the grid");
  }
  for (const em::Edge& e : out.edges)
    if (in_layers(c, e))
      wrong("lies in an absorbing layer", "move it inwards, or the layer outwards");
  if (const auto end = em::loose_end(out, c.grid, c.faces, conductor))
    wrong(fmt::format("ends at ({:.6g}, {:.6g}, {:.6g}) m, the nearest node of the grid, on no "
                      "conductor",
                      (*end)[0], (*end)[1], (*end)[2]),
          "let all of its ends, over its whole width, touch metal");
  return out;
}

void make_loads(Case& c, const data::Config& config) {
  for (std::size_t k = 0; k < c.options.loads.size(); ++k) {
    const LoadOptions& o = c.options.loads[k];
    if (on_free_wire(c, o.position)) {
      c.elements.emplace_back();  // of no edges
      continue;
    }
    c.elements.push_back(
        place_element(c, element_of(c, o.circuit, o.position, o.size, o.axis[0] - 'x'),
                      fmt::format("load[{}].position", k), config));
  }
  for (std::size_t p = 0; p < c.options.ports.size(); ++p) {
    const PortOptions& o = c.options.ports[p];
    if (o.kind != PortKind::lumped) continue;
    if (on_free_wire(c, o.position)) {
      c.elements.emplace_back();
      continue;
    }
    c.elements.push_back(place_element(
        c, element_of(c, o.circuit, o.position, *o.size, static_cast<int>(port_axis(o))),
        fmt::format("port[{}].position", p), config));
    refuse_shared_edges(c, p, config);
  }
}

void change_circuits(Case& c) {
  std::size_t element = 0;
  const auto change = [&](const CircuitOptions& o) {
    em::PlacedElement& placed = c.elements[element++];
    if (!placed.edges.empty()) placed = em::with_circuit(std::move(placed), circuit_of(c, o));
  };
  for (const LoadOptions& load : c.options.loads) change(load.circuit);
  for (const PortOptions& port : c.options.ports)
    if (port.kind == PortKind::lumped) change(port.circuit);
}

}  // namespace tessera::apps::waves
