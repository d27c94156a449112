// SPDX-License-Identifier: Apache-2.0
#include "electromagnetics/fdtd/port_derivatives.h"

#include "electromagnetics/fdtd/networks.h"
#include "electromagnetics/fdtd/port_monitor.h"
#include "electromagnetics/fdtd/scattering.h"
#include "tessera/autodiff/grad.h"
#include "tessera/autodiff/ops.h"
#include "tessera/data/log.h"
#include "tessera/data/progress.h"
#include "tessera/data/run.h"
#include "tessera/data/stop.h"
#include "tessera/electromagnetics/observed_run.h"
#include "tessera/electromagnetics/response.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <complex>

namespace tessera::apps::fdtd {
namespace {

namespace em = electromagnetics;

/// S so far from that of the runs is that of another model.
constexpr double kApart = 1e-3;

/// The runs of a case as functions of the media of edges that move.
class MovedRuns {
 public:
  MovedRuns(const MonitoredCase& made, const std::vector<std::int64_t>& steps)
      : made_(made), moves_(*made.c.medium_derivatives) {
    Case exact = made.c;
    exact.options.run.precision = Precision::f64;
    for (std::size_t k = 0; k < steps.size(); ++k) {
      std::vector<em::Observation> observations;
      for (std::size_t p = 0; p < ports(); ++p) {
        const Monitor& m = port(k, p);
        const auto t = m.transform();
        observations.push_back({.edges = m.edges(),
                                .frequencies_hz = t->frequencies_hz,
                                .every = t->every,
                                .start = t->start});
      }
      em::YeeModel model = make_model(exact);
      model.mixed = moves_.edges;
      runs_.emplace_back(std::move(model), make_injections(exact, k), std::move(observations),
                         steps[k]);
    }
  }
  /// Of the change of the parameters.
  Tensor scattering(const Tensor& change) const {
    const Tensor theta = moves_.at(change);
    std::vector<Tensor> in, out;
    for (std::size_t k = 0; k < runs_.size(); ++k) {
      const std::vector<Tensor> kept = runs_[k].values(theta, {});
      std::vector<Tensor> both;
      for (std::size_t p = 0; p < ports(); ++p)
        both.push_back(port(k, p).waves(em::sample_values(port(k, p).samples(), kept[p])));
      const Tensor all = concatenate(both, 2);
      in.push_back(select(all, 0, 0)), out.push_back(select(all, 0, 1));
    }
    return scattering_matrix(made_.c, {stack(in, 2), stack(out, 2)}, constants_of(made_));
  }

 private:
  std::size_t ports() const { return made_.c.ports.size(); }
  const PortMonitor& port(std::size_t run, std::size_t p) const {
    const Monitors& all = made_.of_run(run);
    return dynamic_cast<const PortMonitor&>(*all[all.size() - ports() + p]);
  }
  const MonitoredCase& made_;
  const em::MediumDerivatives& moves_;
  std::vector<em::ObservedRun> runs_;
};

std::string unit_of(const Case& c, const std::string& name) {
  const data::Parameter* p = c.options.use.parameters.find(name);
  const std::string unit = p ? data::si_unit(p->value.dimension) : "m";
  return unit.empty() ? "1" : "1/(" + unit + ")";
}

}  // namespace

data::ExitCode differentiate_scattering(RunContext& context, const MonitoredCase& made,
                                        const std::vector<std::int64_t>& steps, Results& results) {
  const Case& c = made.c;
  const auto s = std::find_if(results.begin(), results.end(),
                              [](const MonitorResult& r) { return r.name == scattering_name; });
  if (!c.medium_derivatives || s == results.end()) return data::ExitCode::ok;
  const std::vector<std::string>& names = c.options.scattering.derivatives;
  data::Progress progress({.style = context.progress_style,
                           .phase = "derivatives",
                           .unit = "passes",
                           .total = names.size(),
                           .heartbeat = context.folder.heartbeat_json()});
  const MovedRuns runs(made, steps);
  const auto n = static_cast<Index>(names.size());
  for (std::size_t k = 0; k < names.size(); ++k) {
    if (context.stop.poll() != data::StopReason::none) {
      progress.finish("stopped");
      return data::ExitCode::stopped_resumable;
    }
    std::vector<double> way(names.size(), 0.0);
    way[k] = 1;
    const auto [value, slope] =
        jvp([&](const Tensor& p) { return runs.scattering(p); }, zeros({n}), tensor(way));
    const auto own = std::get<std::vector<std::complex<double>>>(s->find("S")->values);
    const std::vector<c128> again = value.to_vector<c128>();
    double apart = 0;
    for (std::size_t i = 0; i < own.size(); ++i)
      apart = std::max(apart, std::abs(own[i] - again[i]));
    if (apart > kApart)
      context.log.warning(fmt::format(
          "derivatives in {} are those of S that differs by {:.2g} from that of the runs: faces "
          "across the grid have tensors, which what moves is taken without, or shares of media "
          "with "
          "losses or poles that runs round to 1/64",
          names[k], apart));
    const std::size_t columns = s->coordinates[1].values.size(), rows = c.channels.size();
    for (std::size_t i = 0; i < rows; ++i)
      for (std::size_t j = 0; j < columns; ++j) {
        const Tensor one =
            select(select(slope, 2, static_cast<Index>(j)), 1, static_cast<Index>(i));
        const auto from = static_cast<std::size_t>(s->coordinates[1].values[j]) - 1;
        std::vector<c128> slopes = one.to_vector<c128>();
        for (std::size_t f = 0; f < slopes.size(); ++f)  // where S is not told
          if (std::isnan(own[(f * rows + i) * columns + j].real())) slopes[f] = c128(NAN, NAN);
        s->quantities.push_back(
            {element_name(c.channels[i].name, c.channels[from].name) + "_by_" + names[k],
             unit_of(c, names[k]),
             "derivative in " + names[k],
             {static_cast<std::uint64_t>(one.dim(0))},
             std::move(slopes)});
      }
    progress.update(k + 1);
  }
  progress.finish();
  return data::ExitCode::ok;
}

}  // namespace tessera::apps::fdtd
