// SPDX-License-Identifier: Apache-2.0
// The runs of a case as functions of its parameters, to first order.
#pragma once
#include "electromagnetics/fdtd/scattering.h"
#include "tessera/electromagnetics/observed_run.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace tessera::apps::fdtd {

/// A figure of a monitor in one of the runs.
struct MovedFigure {
  std::size_t run, monitor;
  std::string name;
};

/// In float64, with media, sources and what waves refer to as Case::derivatives has them.
class MovedRuns {
 public:
  /// Of a case that has derivatives, for runs of so many steps each. `before_block` as of
  /// ObservedRun.
  MovedRuns(const MonitoredCase& made, const std::vector<std::int64_t>& steps,
            std::function<void()> before_block);

  /// Whether S is the first of the values.
  bool with_scattering() const;
  /// S, then the figures of all monitors that want derivatives, from the change of the parameters
  /// [name].
  std::vector<Tensor> values(const Tensor& change);
  /// What the values behind S are; known once there have been some.
  const std::vector<MovedFigure>& figures() const { return figures_; }

 private:
  struct Run {
    electromagnetics::ObservedRun run;
    std::vector<std::size_t> monitors;  ///< which are observed, by their numbers
    std::vector<std::size_t> moved;     ///< names that move its sources
    std::size_t sources;                ///< of the case itself
  };
  Run make(std::size_t number, std::int64_t steps) const;
  std::size_t ports() const { return made_.c.ports.size(); }
  /// Complex [2, frequency, channel] of the port, from its transforms.
  Tensor waves(std::size_t run, std::size_t port, const Tensor& values, const Tensor& change) const;
  PortConstants constants(const Tensor& change) const;
  Tensor scattering(const std::vector<Tensor>& waves, const Tensor& change) const;
  /// Of the figures of a run's monitors, from the transforms of all, by number; `waves` of its
  /// ports.
  void add_figures(std::size_t run, const std::vector<Tensor>& kept, const Tensor& waves,
                   const Tensor& change, std::vector<Tensor>& out);

  const MonitoredCase& made_;
  std::function<void()> before_block_;
  std::vector<Run> runs_;
  std::vector<MovedFigure> figures_;
};

}  // namespace tessera::apps::fdtd
