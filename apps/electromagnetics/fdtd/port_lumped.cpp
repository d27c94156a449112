// SPDX-License-Identifier: Apache-2.0
// Power waves at the terminals of a lumped port, or on the line that it feeds:
//   a = (V + z I) / (2 sqrt(2 q Re z)),   b = (V - z* I) / (2 sqrt(2 q Re z)),
// V and I peak values, so that |a|^2 - |b|^2 = Re(V I*) / (2 q) is the power by the scheme
// (docs/decisions/0248): Re(e j*) / 2 at the terminals, whose V, the mean of two steps, is
// cos(w dt/2) e, so that q = cos(w dt/2). On a line V is e itself: q = 1.
#include "electromagnetics/fdtd/port_monitor.h"
#include "electromagnetics/waves/wires.h"
#include "tessera/autodiff/ops.h"

#include <cmath>
#include <numbers>

namespace tessera::apps::fdtd {
namespace {

namespace em = electromagnetics;

/// A line tells V and I by the same sums at all frequencies.
em::TerminalReading at_all(const em::LineReading& line, std::size_t frequencies) {
  return {line.edges,
          {frequencies, {line.voltage.begin(), line.voltage.end()}},
          {frequencies, {line.current.begin(), line.current.end()}}};
}

class LumpedPortMonitor : public PortMonitor {
 public:
  LumpedPortMonitor(const Case& c, std::size_t port) : PortMonitor(c, port) {
    const LumpedPort& p = port_.lumped;
    if (p.on_wire) {
      read_wire();
      return;
    }
    const em::TerminalReading r = p.line
                                      ? at_all(*p.line, frequencies_.size())
                                      : em::terminal_reading(make_model(c), c.elements[p.element],
                                                             frequencies_, lies_in_wire(c, about_));
    std::vector<double> unit;  // [edges] E or H per unknown
    for (const em::Edge& e : r.edges) {
      const Point at = c.grid.position(e);
      unit.push_back(em::interpolate(c.grid, c.faces, e.component, at, *c.open).front().weight);
      samples_.add(e.component, at);
    }
    const std::complex<double> z(about_.impedance.value(), about_.reactance);
    std::vector<c128> w;
    for (const bool in : {true, false})
      for (std::size_t f = 0; f < frequencies_.size(); ++f) {
        const double by = scale(p.line ? 1 : std::cos(half_turn(frequencies_[f])));
        for (std::size_t k = 0; k < r.edges.size(); ++k)
          w.push_back(by * (r.voltage[f][k] + (in ? z : -std::conj(z)) * r.current[f][k]) /
                      unit[k]);
      }
    weights_ = tensor(
        w, {2, static_cast<Index>(frequencies_.size()), 1, static_cast<Index>(r.edges.size())});
    start_transform();
  }
  Tensor waves(const Tensor& values) const override {
    return squeeze(matmul(weights_, expand_dims(values, -1)), -1);
  }
  MonitorResult result() const override {
    MonitorResult out = begin_result();
    out.kind = "port";
    out.transform.reset();
    const std::complex<double> z(about_.impedance.value(), about_.reactance);
    out.quantities = {{"impedance",
                       "ohm",
                       "of its own waves, and of S where that refers to no other",
                       {count()},
                       std::vector<std::complex<double>>(count(), z)}};
    return out;
  }

 private:
  /// w dt/2
  double half_turn(double f) const { return std::numbers::pi * f * case_.dt_s; }
  /// Of V in a wave.
  double scale(double q) const {
    return port_.lumped.sign / (2 * std::sqrt(2 * q * about_.impedance.value()));
  }
  /// Of a wire between lines: V, of whole steps before the currents, and with it their mean I
  /// cos(w dt/2).
  void read_wire() {
    const int element = static_cast<int>(*port_.lumped.on_wire);
    samples_.add_unknown({em::wire_voltage, element, 0, 0});
    samples_.add_unknown({em::wire_current, element, 0, 0});
    const std::complex<double> z(about_.impedance.value(), about_.reactance);
    std::vector<c128> w;
    for (const bool in : {true, false})
      for (const double f : frequencies_) {
        const double x = half_turn(f), by = scale(std::cos(x));
        w.push_back(by * std::polar(1.0, x));
        w.push_back(by * (in ? z : -std::conj(z)) * std::cos(x));
      }
    weights_ = tensor(w, {2, static_cast<Index>(frequencies_.size()), 1, 2});
    start_transform();
  }

  Tensor weights_;  ///< complex [2, frequency, 1, sample]
};

}  // namespace

std::unique_ptr<PortMonitor> make_lumped_port_monitor(const Case& c, std::size_t port) {
  return std::make_unique<LumpedPortMonitor>(c, port);
}

}  // namespace tessera::apps::fdtd
