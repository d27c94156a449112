// SPDX-License-Identifier: Apache-2.0
#include "electromagnetics/waves/wires.h"

#include "electromagnetics/waves/case_parts.h"
#include "electromagnetics/waves/loads.h"
#include "tessera/autodiff/error.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace tessera::apps::waves {
namespace {

namespace em = electromagnetics;

/// Whether a box has no extent across `axis`.
bool is_line(const Point& size, std::size_t axis) {
  for (std::size_t d = 0; d < 3; ++d)
    if (d != axis && size[d] != 0) return false;
  return true;
}

em::ThinWire thin_wire(const WireOptions& w) { return {w.points, w.radius}; }

}  // namespace

Wires wires_on_lines(const Case& c) {
  const Wires free = wires_between_lines(c);
  Wires out;
  for (std::size_t w = 0; w < c.options.wires.size(); ++w)
    if (std::find(free.numbers.begin(), free.numbers.end(), w) == free.numbers.end()) {
      out.wires.push_back(thin_wire(c.options.wires[w]));
      out.numbers.push_back(w);
    }
  return out;
}

Wires wires_between_lines(const Case& c) {
  std::vector<em::ThinWire> all;
  for (const WireOptions& w : c.options.wires) all.push_back(thin_wire(w));
  Wires out{{}, em::free_wires(all, c.grid)};
  for (const std::size_t w : out.numbers) out.wires.push_back(all[w]);
  return out;
}

void refuse_wires_off_lines(const Case& from, const Case& to) {
  const auto refuse = [&](std::size_t wire) {
    throw Error(
        fmt::format("a parameter moves wire[{}] across its lines of the grid: wires have "
                    "derivatives in what moves their ends along themselves alone",
                    wire));
  };
  const Wires lines = wires_on_lines(from);
  const std::vector<std::size_t> still = wires_on_lines(to).numbers;
  for (const std::size_t w : lines.numbers)
    if (std::find(still.begin(), still.end(), w) == still.end()) refuse(w);
  for (std::size_t n = 0; n < lines.wires.size(); ++n) {
    const std::vector<Point>&p = lines.wires[n].points,
          &q = to.options.wires[lines.numbers[n]].points;
    for (std::size_t k = 0; k + 1 < p.size(); ++k) {
      std::size_t along = 0;
      for (std::size_t d = 1; d < 3; ++d)
        if (std::abs(p[k + 1][d] - p[k][d]) > std::abs(p[k + 1][along] - p[k][along])) along = d;
      for (std::size_t d = 0; d < 3; ++d) {
        const double rounding = 1e-10 * from.grid.smallest_length(static_cast<int>(d));
        if (d != along && (std::abs(q[k][d] - p[k][d]) > rounding ||
                           std::abs(q[k + 1][d] - p[k + 1][d]) > rounding))
          refuse(lines.numbers[n]);
      }
    }
  }
}

bool same_coordinate(const WireOptions& wire, double a, double b) {
  double extent = 0;
  for (const Point& p : wire.points)
    for (std::size_t d = 0; d < 3; ++d)
      extent = std::max(extent, std::abs(p[d] - wire.points.front()[d]));
  return std::abs(a - b) <= 1e-9 * extent;
}

bool on_free_wire(const Case& c, const Point& position) {
  const Wires free = wires_between_lines(c);
  return !free.wires.empty() && em::place_on_wires(free.wires, position).distance_m <
                                    em::on_free_wire * em::reference_length(c.grid);
}

std::size_t wire_element_of_port(const Case& c, std::size_t port) {
  std::size_t n = 0;
  for (const LoadOptions& o : c.options.loads) n += on_free_wire(c, o.position);
  for (std::size_t p = 0; p < port; ++p)
    n +=
        c.options.ports[p].kind == PortKind::lumped && on_free_wire(c, c.options.ports[p].position);
  return n;
}

Point wire_direction(const Case& c, const Point& position) {
  return em::place_on_wires(wires_between_lines(c).wires, position).direction;
}

void refuse_wire(const Case& c, const data::Config& config, std::size_t number,
                 const em::WireFault& fault) {
  const std::string& name = c.options.wires[number].name;
  refuse(
      {config.error(675, fmt::format("wire[{}].{}", number, fault.of_radius ? "radius" : "points"),
                    (name.empty() ? "" : "'" + name + "': ") + fault.what(),
                    fault.of_radius ? "a thick wire is a [[structure]] of shape = \"cylinder\""
                                    : "see docs/how-to/devices.md, Thin wires")});
}

std::vector<em::Edge> edges_of_elements(const Case& c) {
  std::vector<em::Edge> out;
  if (c.options.wires.empty()) return out;
  const auto add = [&](const CircuitOptions& circuit, const Point& position, const Point& size,
                       std::size_t axis) {
    if (!is_line(size, axis) || on_free_wire(c, position)) return;
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
  const auto cell = [&](std::size_t d) { return c.grid.smallest_length(static_cast<int>(d)); };
  const double near = em::same_on_wire * cell(axis),
               low = port.position[axis] - (*port.size)[axis] / 2 - near,
               high = port.position[axis] + (*port.size)[axis] / 2 + near;
  for (const WireOptions& w : c.options.wires)
    for (std::size_t k = 0; k + 1 < w.points.size(); ++k) {
      const Point &a = w.points[k], &b = w.points[k + 1];
      bool in_line = std::min(a[axis], b[axis]) <= high && std::max(a[axis], b[axis]) >= low;
      for (std::size_t d = 0; d < 3; ++d)
        in_line = in_line && (d == axis || (em::same_along(c.grid, static_cast<int>(d), a, b) &&
                                            std::abs(a[d] - port.position[d]) < cell(d) / 2));
      if (in_line) return true;
    }
  return false;
}

namespace {

/// Elements of wires between lines, and the keys of their places.
class WireElements {
 public:
  WireElements(const Case& c, const data::Config& config) : c_(c), config_(config) {
    for (std::size_t k = 0; k < c.options.loads.size(); ++k) {
      const LoadOptions& o = c.options.loads[k];
      add(o.circuit, o.position, static_cast<std::size_t>(o.axis[0] - 'x'),
          fmt::format("load[{}]", k), ".axis");
    }
    for (std::size_t p = 0; p < c.options.ports.size(); ++p) {
      const PortOptions& o = c.options.ports[p];
      if (o.kind != PortKind::lumped) continue;
      const std::string at = fmt::format("port[{}]", p);
      if (add(o.circuit, o.position, port_axis(o), at, ".direction") && o.plane)
        refuse({config.error(667, at + ".plane",
                             "a wire between lines of the grid is no line with "
                             "two conductors",
                             "leave it out: V and I are read in the wire")});
    }
  }
  const std::vector<em::WireElement>& all() const { return all_; }
  const std::string& key(std::size_t element) const { return keys_[element]; }

 private:
  bool add(const CircuitOptions& circuit, const Point& position, std::size_t axis,
           const std::string& at, const char* axis_key) {
    if (!on_free_wire(c_, position)) return false;
    const int parts = circuit.resistance.has_value() + circuit.inductance.has_value() +
                      circuit.capacitance.has_value();
    if (circuit.circuit == CircuitChoice::parallel && parts > 1)
      refuse({config_.error(630, at + ".circuit",
                            "on a wire between lines of the grid, elements are in series",
                            "lay the wire on lines of the grid, or let it end at a circuit between "
                            "two wires")});
    if (std::abs(wire_direction(c_, position)[axis]) < em::same_on_wire)
      refuse({config_.error(
          630, at + axis_key, std::string("the wire there runs across ") + "xyz"[axis],
          "name an axis along which it goes on: it tells which end comes first")});
    for (int d = 0; d < 3; ++d)
      for (const bool high : {false, true}) {
        const auto& lines = c_.grid.lines[static_cast<std::size_t>(d)];
        const double plane = high ? lines.back() : lines.front();
        if (c_.options.boundary.is_symmetry(d, high) &&
            std::abs(position[static_cast<std::size_t>(d)] - plane) <
                2 * c_.grid.length(d, high ? c_.grid.cells(d) - 1 : 0))
          refuse({config_.error(630, at + ".position",
                                "on a wire between lines of the grid, an element keeps two cells "
                                "away from a plane of symmetry",
                                "lay the wire on lines of the grid, or leave the symmetry out")});
      }
    const em::Circuit own = element_of(c_, circuit, position, {}, static_cast<int>(axis)).circuit;
    em::WireElement element{.position = position,
                            .resistance_ohm = own.resistance_ohm.value_or(0),
                            .inductance_h = own.inductance_h.value_or(0)};
    if (circuit.capacitance) {
      // Charges move by whole steps: i sin(2x)/dt for i w, x = w dt/2.
      const double x = 2 * std::numbers::pi * c_.dt_s *
                       std::hypot(c_.frequency_min, c_.frequency_max) / std::sqrt(2.0);
      element.capacitance_f = *circuit.capacitance * (x > 0 ? x / std::sin(x) : 1);
    }
    all_.push_back(element);
    keys_.push_back(at + ".position");
    return true;
  }

  const Case& c_;
  const data::Config& config_;
  std::vector<em::WireElement> all_;
  std::vector<std::string> keys_;
};

/// What the currents of wires between lines do not go with.
void refuse_beside_free_wires(const Case& c, const data::Config& config, std::size_t wire) {
  const auto refuse_at = [&](const std::string& key) {
    refuse({config.error(675, key,
                         fmt::format("wire[{}] runs between lines of the grid, and what goes by it "
                                     "has no derivatives",
                                     wire),
                         "lay the wires on lines of the grid (grid.x.lines)")});
  };
  for (std::size_t m = 0; m < c.options.monitors.size(); ++m)
    if (!c.options.monitors[m].derivatives.empty())
      refuse_at(fmt::format("monitor[{}].derivatives", m));
  if (!c.options.scattering.derivatives.empty()) refuse_at("s_parameters.derivatives");
}

}  // namespace

void make_wire_network(Case& c, const data::Config& config) {
  const Wires free = wires_between_lines(c);
  if (free.wires.empty()) return;
  refuse_beside_free_wires(c, config, free.numbers[0]);
  const WireElements elements(c, config);
  std::array<std::array<int, 2>, 3> layers{};
  for (int d = 0; d < 3; ++d)
    for (const bool high : {false, true})
      layers[static_cast<std::size_t>(d)][high] = layer_cells(c, d, high);
  try {
    c.wires = em::wire_network(make_model(c), free.wires, elements.all(), layers);
  } catch (const em::WireFault& e) {
    refuse_wire(c, config, free.numbers[e.wire], e);
  } catch (const em::ElementFault& e) {
    refuse({config.error(630, elements.key(e.element), e.what(), "let it lie on the wire")});
  }
}

}  // namespace tessera::apps::waves
