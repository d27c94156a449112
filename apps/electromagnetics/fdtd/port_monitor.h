// SPDX-License-Identifier: Apache-2.0
// A port during a run: a monitor that tells the waves of its channels.
#pragma once
#include "electromagnetics/fdtd/spectral.h"
#include "electromagnetics/waves/ports.h"

#include <complex>
#include <memory>
#include <vector>

namespace tessera::apps::fdtd {

class PortMonitor : public Spectral {
 public:
  PortMonitor(const Case& c, std::size_t port)
      : Spectral(c, c.ports[port].monitor),
        port_(c.ports[port]),
        about_(c.options.ports[port]),
        channels_(channel_names(about_)) {}

  const PortOptions& about() const { return about_; }
  const std::vector<std::string>& channels() const { return channels_; }
  /// Waves into the device and out of it, complex [2, frequency, channel], in sqrt(W) s, from the
  /// transforms of its samples, whose power is |a|^2 (peak values, as all fields): of a mode
  /// travelling waves, 0 where it does not travel; of lumped ports power waves at the port's
  /// impedance. Of the whole port, where mirrors of symmetries cut it.
  virtual Tensor waves(const Tensor& values) const = 0;
  Tensor waves() const { return waves(values()); }
  /// [frequency, channel] rad/m along `direction`, by which planes are shifted; nothing of lumped
  /// ports.
  virtual std::vector<std::complex<double>> propagation() const { return {}; }
  /// [frequency, channel] ohm, of lines; nothing where there is none.
  virtual std::vector<std::complex<double>> line_impedance() const { return {}; }
  /// What is known of it beside its waves: indices of modes. As of a run, whichever it was.
  MonitorResult result() const override = 0;

  /// Pictures of it: the fields of its modes.
  virtual std::vector<MonitorResult> fields() const { return {}; }

  std::string figure_name() const override { return "waves"; }
  Tensor figure(const Tensor& values) const override { return waves(values); }

 protected:
  const CasePort& port_;
  const PortOptions& about_;
  std::vector<std::string> channels_;
};

/// Those of a case, in its order. Throws InputError.
std::vector<std::unique_ptr<PortMonitor>> make_port_monitors(const Case& c,
                                                             const data::Config& config);

/// Among the monitors of a run, of which the last `count` are those of the ports.
const PortMonitor& port_monitor(const std::vector<std::unique_ptr<Monitor>>& all, std::size_t port,
                                std::size_t count);

// One of each kind.
std::unique_ptr<PortMonitor> make_mode_port_monitor(const Case& c, std::size_t port);
std::unique_ptr<PortMonitor> make_lumped_port_monitor(const Case& c, std::size_t port);

}  // namespace tessera::apps::fdtd
