// SPDX-License-Identifier: Apache-2.0
// Waves of modes at a port.
#include "electromagnetics/fdtd/mode_amplitudes.h"
#include "electromagnetics/fdtd/mode_fields.h"
#include "electromagnetics/fdtd/port_monitor.h"
#include "electromagnetics/waves/exterior.h"
#include "tessera/autodiff/ops.h"

namespace tessera::apps::fdtd {
namespace {

namespace em = electromagnetics;

class ModePortMonitor : public PortMonitor {
 public:
  ModePortMonitor(const Case& c, std::size_t port) : PortMonitor(c, port) {
    for (const double f : frequencies_) modes_.push_back(em::modes_at(port_.mode.band, f));
    add_mode_samples(samples_, c.grid, port_.mode.plane, modes_.front());
    // Where a mode does not travel no waves of it are told: 0.
    std::vector<double> told;  // [frequency, mode]
    for (std::size_t f = 0; f < frequencies_.size(); ++f)
      for (std::size_t m = 0; m < channels_.size(); ++m)
        told.push_back(port_.mode.reach[m][f] == ModeReach::travels ? 1.0 : 0.0);
    weights_ =
        where(tensor(told, {1, static_cast<Index>(frequencies_.size()),
                            static_cast<Index>(channels_.size()), 1}) > 0.5,
              mode_weights(modes_, channels_.size(), images_of(c, port_.mode.plane)), c128(0));
    start_transform();
  }
  Tensor waves(const Tensor& values) const override {
    const Tensor both = mode_amplitudes(weights_, values);
    return port_.mode.step > 0 ? both : stack({select(both, 0, 1), select(both, 0, 0)});
  }
  std::vector<std::complex<double>> propagation() const override {
    return of_modes(&em::GridMode::beta);
  }
  std::vector<std::complex<double>> line_impedance() const override {
    std::vector<std::complex<double>> out;
    if (port_.mode.conductors.empty()) return out;
    for (const em::GridModes& g : modes_)
      for (std::size_t m = 0; m < channels_.size(); ++m)
        out.push_back(em::line_impedance(g, g.modes[m], port_.mode.conductors));
    return out;
  }
  MonitorResult result() const override {
    MonitorResult out = begin_result();
    out.kind = "port";
    out.transform.reset();
    std::vector<double> numbers;
    for (std::size_t k = 1; k <= channels_.size(); ++k) numbers.push_back(static_cast<double>(k));
    out.coordinates = {{"mode", "1", numbers}};
    const std::vector<std::uint64_t> shape{count(), numbers.size()};
    out.quantities = {{"index", "1", "effective index", shape, of_modes(&em::GridMode::index)},
                      {"beta", "rad/m", "phase and decay into the device", shape, propagation()}};
    if (!port_.mode.conductors.empty())
      out.quantities.push_back({"impedance", case_.grid.dimensions() == 3 ? "ohm" : "ohm*m",
                                "of the line, by its power and currents", shape, line_impedance()});
    return out;
  }
  std::vector<MonitorResult> fields() const override {
    std::vector<MonitorResult> out;
    for (std::size_t m = 0; m < channels_.size(); ++m) {
      // In the middle, or where it travels from there on.
      std::size_t at = frequencies_.size() / 2;
      while (at + 1 < frequencies_.size() && port_.mode.reach[m][at] != ModeReach::travels) ++at;
      out.push_back(mode_field(case_.grid, port_.mode.plane, modes_[at], m, frequencies_[at],
                               images_of(case_, port_.mode.plane), channels_[m] + "_mode"));
    }
    return out;
  }

 private:
  std::vector<std::complex<double>> of_modes(std::complex<double> em::GridMode::*member) const {
    std::vector<std::complex<double>> out;
    for (const em::GridModes& g : modes_)
      for (std::size_t m = 0; m < channels_.size(); ++m) out.push_back(g.modes[m].*member);
    return out;
  }

  std::vector<em::GridModes> modes_;  ///< [frequency]
  Tensor weights_;
};

}  // namespace

std::unique_ptr<PortMonitor> make_mode_port_monitor(const Case& c, std::size_t port) {
  return std::make_unique<ModePortMonitor>(c, port);
}

}  // namespace tessera::apps::fdtd
