// SPDX-License-Identifier: Apache-2.0
// A case as a differentiable function: its run, step by step as `tessera run` takes it but in
// float64, with the permittivities of edges, the strengths of the sources and parameters that make
// these or circuits as parameters, and what its monitors tell as results.
#include "electromagnetics/fdtd/monitors.h"
#include "electromagnetics/fdtd/run.h"
#include "electromagnetics/waves/moved_circuits.h"
#include "electromagnetics/waves/wires.h"
#include "tessera/autodiff/ops.h"
#include "tessera/electromagnetics/free_edges.h"
#include "tessera/electromagnetics/observed_run.h"
#include "tessera/electromagnetics/response.h"
#include "tessera/parallel/communicator.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>

namespace tessera::apps::fdtd {
namespace {

namespace em = electromagnetics;
using Tensors = std::vector<Tensor>;

constexpr double kReach = 0.05;  ///< of a permittivity, relative: stays stable at 0.97 of the limit
constexpr double kMostBytes = 2e9;  ///< of what all sources inject

bool any_rank(const em::GridCut& cut, bool mine) {
  if (!cut.ranks) return mine;
  bool any = false;
  for (const parallel::Bytes& b : cut.ranks->all_gather({static_cast<std::byte>(mine)}))
    any = any || b.at(0) != std::byte{0};
  return any;
}

/// What a monitor keeps in a run of so many steps; nothing: no step of it.
std::optional<em::Observation> observation_of(const Monitor& m, std::int64_t steps) {
  em::Observation o{.edges = m.edges()};
  if (const auto t = m.transform()) {
    o.frequencies_hz = t->frequencies_hz;
    o.every = t->every, o.start = t->start;
    return o;
  }
  for (std::int64_t n = 0; n < steps; ++n)
    if (m.keeps(n + 1)) o.kept.push_back(n);
  if (o.kept.empty()) return {};
  return o;
}

em::ObservedRun make_run(em::YeeModel model, const std::vector<em::Injection>& sources,
                         std::vector<em::Observation> observations, std::int64_t steps,
                         const em::GridCut& cut) {
  try {
    return {std::move(model),
            sources,
            std::move(observations),
            steps,
            {.most_bytes = kMostBytes, .cut = cut}};
  } catch (const em::CurrentsTooLarge& e) {
    throw data::InputError(
        {.number = 0,
         .place = {"tessera", 0, 0, {}},
         .message = fmt::format(
             "the sources drive {} edges over {} steps: a check would hold {:.3g} GB of currents",
             e.edges, e.steps, e.bytes * 1e-9),
         .hint = "check fewer steps: --set run.stop.steps=..."},
        data::ExitCode::would_not_fit);
  }
}

/// One real tensor for each monitor, from what the run keeps for it.
Tensors figures_of(const std::vector<std::unique_ptr<Monitor>>& monitors, const Tensors& kept) {
  Tensors out;
  for (std::size_t m = 0; m < monitors.size(); ++m) {
    const em::SampleList& samples = monitors[m]->samples();
    const Tensor figure =
        monitors[m]->figure(monitors[m]->transform() ? em::sample_values(samples, kept[m])
                                                     : em::real_sample_values(samples, kept[m]));
    out.push_back(is_complex(figure.dtype()) ? stack({real(figure), imag(figure)}) : figure);
  }
  return out;
}

/// The parameters of the case that make amplitudes of sources and nothing else, as those that the
/// expressions differentiate.
struct Amplitudes {
  data::ParameterUse use;
  std::vector<std::uint32_t> names;  ///< of the parameters
  std::vector<std::string> left_out;
  std::vector<double> amplitude;  ///< of each source, as it is

  /// Of each source beside what it is, [source].
  Tensor strengths(const Tensor* values) const {
    const auto& all = use.parameters.all();
    std::vector<Tensor> free;
    for (const std::uint32_t n : use.parameters.free()) {
      const auto at = std::find(names.begin(), names.end(), n);
      free.push_back(at == names.end() ? full({}, all[n].value.value) : values[at - names.begin()]);
    }
    std::vector<Tensor> out(amplitude.size(), full({}, 1.0));
    for (std::size_t s = 0; s < amplitude.size(); ++s)
      for (const data::DependentValue& v : use.values)
        if (v.key == fmt::format("source[{}].amplitude", s) && amplitude[s] != 0)
          out[s] = v.at(use.parameters, free) / amplitude[s];
    return stack(out);
  }
};

Amplitudes amplitudes_of(const Case& c, const std::vector<std::string>& circuits) {
  Amplitudes out{.use = c.options.use};
  for (const SourceOptions& s : c.options.sources) out.amplitude.push_back(s.amplitude);
  const auto& free = out.use.parameters.free();
  for (std::size_t k = 0; k < free.size(); ++k) {
    const std::string& name = out.use.parameters.all()[free[k]].name;
    if (std::find(circuits.begin(), circuits.end(), name) != circuits.end()) continue;
    const data::DependentValue* other = nullptr;
    bool moves = false;
    for (const data::DependentValue& v : out.use.values) {
      if (v.slopes[k] == 0) continue;
      moves = true;
      if (!(v.key.starts_with("source[") && v.key.ends_with("].amplitude"))) other = &v;
    }
    if (other)
      out.left_out.push_back(
          fmt::format("parameter {}, which moves {}: `derivatives` of monitors and of S take those "
                      "of bodies and media",
                      name, other->key));
    else if (moves)
      out.names.push_back(free[k]);
  }
  return out;
}

/// What the transforms and records of a run gain with a parameter that makes R, L and C: at its own
/// value nothing, with the derivatives that `derivatives` goes by; elsewhere those of a run of the
/// case as it is there less those at its own.
class CircuitRun {
 public:
  CircuitRun(const Case& c, const data::Config& config, const data::Parameter& parameter,
             std::vector<em::Observation> observations, std::int64_t steps, em::GridCut cut)
      : case_(c),
        config_(config),
        parameter_(parameter),
        observations_(std::move(observations)),
        steps_(steps),
        cut_(std::move(cut)),
        moves_(waves::circuit_moves(c, parameter, config)) {
    em::YeeModel model = make_model(c, em::slab_of(c.faces, cut_));
    model.mixed = moves_.media.edges;
    std::vector<em::Injection> sources = make_injections(c);
    n_sources_ = sources.size();
    sources.insert(sources.end(), moves_.gained.begin(), moves_.gained.end());
    run_ = std::make_shared<em::ObservedRun>(
        make_run(std::move(model), sources, observations_, steps_, cut_));
    own_ = about(full({}, parameter.value.value));
  }
  Tensors gained(const Tensor& value) const {
    const double at = value.item();
    Tensors there = at == parameter_.value.value ? about(value) : elsewhere(at);
    for (std::size_t m = 0; m < there.size(); ++m) there[m] = there[m] - own_[m];
    return there;
  }

 private:
  Tensors about(const Tensor& value) const {
    const Tensor change = value - parameter_.value.value;
    Tensors strengths(n_sources_, full({}, 1.0));
    if (!moves_.gained.empty()) strengths.insert(strengths.end(), {change, 0.5 * square(change)});
    return run_->values(moves_.media.at(reshape(change, {1})), stack(strengths));
  }
  Tensors elsewhere(double at) const {
    const Case there = waves::with_circuits_at(case_, parameter_, at, config_);
    return make_run(make_model(there, em::slab_of(there.faces, cut_)), make_injections(there),
                    observations_, steps_, cut_)
        .values({}, {});
  }

  const Case& case_;
  const data::Config& config_;
  const data::Parameter& parameter_;
  std::vector<em::Observation> observations_;
  std::int64_t steps_;
  em::GridCut cut_;
  waves::CircuitMoves moves_;
  std::size_t n_sources_ = 0;
  std::shared_ptr<em::ObservedRun> run_;
  Tensors own_;
};

/// Steps of the run; where only the fields end it, until the sources have ended and waves have
/// passed the domain twice.
std::int64_t steps_of(const Case& c, const std::vector<em::Injection>& sources,
                      std::vector<std::string>& lines) {
  double sources_end = 0;
  for (const em::Injection& s : sources) sources_end = std::max(sources_end, s.end_s);
  if (const std::int64_t n = fixed_end(c, sources_end)) return n;
  const std::int64_t n = em::steps_of_passages(
      c.grid, c.media, (c.frequency_min + c.frequency_max) / 2, sources_end, c.dt_s);
  lines.push_back(
      fmt::format("the run ends by its decay; checked are {} steps: the sources, and two passages "
                  "of the domain (other numbers: --set run.stop.steps=...)",
                  n));
  return n;
}

/// What no parameter stands for.
void say_left_out(const em::FreeEdges& design, bool tensors, std::vector<std::string>& out) {
  if (design.lossy)
    out.push_back(
        fmt::format("{} edges with conductivity, whose coefficient does not tell all of the medium",
                    design.lossy));
  if (design.dispersive)
    out.push_back(fmt::format("{} edges of dispersive media", design.dispersive));
  if (design.conducting)
    out.push_back(fmt::format("{} edges of perfect conductors", design.conducting));
  if (tensors)
    out.push_back(
        "the tensors at slanted faces, which stay as they are while the permittivities move");
  out.push_back(
      "conductivities, poles, permeabilities, shapes and positions of bodies: they are not "
      "parameters");
  out.push_back(
      "results that are made of others (`relative_to`), and float32, whose rounding differences "
      "would show");
}

}  // namespace

void check_differentiable(const Case& c, const data::Config& config) {
  if (c.options.reference)
    throw data::InputError(
        config.error(642, "reference", "a case with a reference has no derivatives",
                     "run the reference by itself, and name its folder in `subtract`"),
        data::ExitCode::config_invalid);
  if (c.wires) {
    const std::size_t wire = waves::wires_between_lines(c).numbers.at(0);
    throw data::InputError(
        config.error(675, fmt::format("wire[{}].points", wire),
                     fmt::format("wire[{}] runs between lines of the grid, and what goes by it has "
                                 "no derivatives",
                                 wire),
                     "lay the wires on lines of the grid (grid.x.lines)"),
        data::ExitCode::config_invalid);
  }
  for (const em::Medium& m : c.media)
    if (m.chi2 != 0 || m.chi3 != 0)
      throw data::InputError(
          config.error(
              642, "material",
              fmt::format(
                  "medium '{}' is nonlinear: its steps have no transpose, hence no derivatives",
                  m.name),
              "set chi2 and chi3 to zero"),
          data::ExitCode::config_invalid);
}

Derivatives derivatives(std::shared_ptr<MonitoredCase> made, const data::Config& config,
                        parallel::Communicator& ranks, const std::vector<double>& weights) {
  const Case& c = made->c;
  const em::GridCut cut = em::cut_grid(c.grid, ranks, weights);
  Derivatives out;
  const std::vector<em::Injection> sources = make_injections(c);
  const std::int64_t steps = steps_of(c, sources, out.lines);

  const em::FreeEdges design = em::free_edges(
      c.grid, c.faces, [&](const em::Slab& slab) { return make_model(c, slab); },
      c.stepped.front());
  em::YeeModel model = make_model(c, em::slab_of(c.faces, cut));
  // Monitors that have nothing to tell by now are left out.
  std::vector<em::Observation> observations;
  std::erase_if(made->monitors, [&](const std::unique_ptr<Monitor>& m) {
    std::optional<em::Observation> o = observation_of(*m, steps);
    if (!o) {
      out.left_out.push_back("monitor " + m->options().name + ", which keeps none of these steps");
      return true;
    }
    observations.push_back(std::move(*o));
    out.results.push_back(m->options().name + " " + m->figure_name());
    if (m->options().kind == MonitorKind::resonances)
      out.left_out.push_back("the resonances of " + m->options().name +
                             ": harmonic inversion is not differentiated, its record is");
    return false;
  });
  model.traced = design.edges;
  const bool tensors = any_rank(cut, !model.tensors.empty());
  const bool has_eps = !design.edges.empty(), has_sources = !sources.empty();
  std::vector<CircuitRun> circuits;
  const std::vector<std::string> circuit_names = waves::circuit_parameters(c);
  for (const std::string& name : circuit_names)
    circuits.emplace_back(c, config, *c.options.use.parameters.find(name), observations, steps,
                          cut);
  em::ObservedRun run = make_run(std::move(model), sources, std::move(observations), steps, cut);

  if (has_eps) {
    const Tensor eps = tensor(design.eps);
    out.parameters.push_back({"permittivity", eps, kReach * eps});
    out.lines.push_back(
        fmt::format("permittivity: {} edges {}, one parameter each, moved by up to {:.0f} %",
                    design.edges.size(),
                    design.of_background ? "of the background in the middle of the domain (no "
                                           "structure is a lossless dielectric)"
                                         : "of structures",
                    100 * kReach));
  }
  if (has_sources) {
    const Tensor ones = full({static_cast<Index>(sources.size())}, 1.0);
    out.parameters.push_back({"sources", ones, 0.5 * ones});
    out.lines.push_back(fmt::format("sources: the strength of each of {}", sources.size()));
  }
  const Amplitudes amplitudes = amplitudes_of(c, circuit_names);
  for (const std::uint32_t n : amplitudes.names) {
    const data::Parameter& p = c.options.use.parameters.all()[n];
    out.parameters.push_back({"parameter " + p.name, full({}, p.value.value),
                              full({}, 0.3 * std::max(std::abs(p.value.value), 1e-3))});
    out.lines.push_back(fmt::format("parameter {} = {}, which makes amplitudes of sources", p.name,
                                    data::print_readably(p.value)));
  }
  for (const std::string& name : circuit_names) {
    const data::Parameter& p = *c.options.use.parameters.find(name);
    out.parameters.push_back(
        {"parameter " + name, full({}, p.value.value), full({}, 0.1 * std::abs(p.value.value))});
    out.lines.push_back(fmt::format("parameter {} = {}, which makes R, L or C", name,
                                    data::print_readably(p.value)));
  }
  out.left_out.insert(out.left_out.end(), amplitudes.left_out.begin(), amplitudes.left_out.end());
  out.lines.push_back(fmt::format("{} steps of {} x {} x {} cells in float64", steps,
                                  c.grid.cells(0), c.grid.cells(1), c.grid.cells(2)));
  if (cut.ranks)
    out.lines.push_back(fmt::format("{} ranks, a slab of the grid each", ranks.size()));
  if (!cut.ranks && ranks.size() > 1)
    out.lines.push_back(fmt::format(
        "{} ranks, but neither y nor z has a cell for each: every rank does it all", ranks.size()));
  say_left_out(design, tensors, out.left_out);
  out.values = [made, run = std::move(run), has_eps, has_sources, amplitudes,
                circuits = std::move(circuits)](const Tensors& p) {
    Tensor strengths = has_sources ? p[has_eps ? 1 : 0] : Tensor();
    if (!amplitudes.names.empty())
      strengths = strengths * amplitudes.strengths(p.data() + (has_eps ? 2 : 1));
    Tensors kept = run.values(has_eps ? 1.0 / p[0] : Tensor(), strengths);
    for (std::size_t k = 0; k < circuits.size(); ++k) {
      const Tensors more = circuits[k].gained(p[p.size() - circuits.size() + k]);
      for (std::size_t m = 0; m < kept.size(); ++m) kept[m] = kept[m] + more[m];
    }
    return figures_of(made->monitors, kept);
  };
  return out;
}

}  // namespace tessera::apps::fdtd
