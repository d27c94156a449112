// SPDX-License-Identifier: Apache-2.0
#include "electromagnetics/inverse_scattering/problem.h"

#include "electromagnetics/inverse_scattering/data.h"
#include "electromagnetics/inverse_scattering/doubts.h"
#include "electromagnetics/waves/case_parts.h"
#include "tessera/autodiff/grad.h"
#include "tessera/autodiff/ops.h"
#include "tessera/electromagnetics/medium_stability.h"
#include "tessera/electromagnetics/preview.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <random>

namespace tessera::apps::inverse_scattering {
namespace {

namespace em = electromagnetics;

constexpr std::int64_t kMostTape = std::int64_t{1}
                                   << 30;  ///< beyond it states are recomputed in reverse

/// Of cells, [z, y, x, axis].
std::vector<double> permittivities(const Case& c) {
  const data::RectilinearGrid g = em::preview(em::SceneOrder(c.scene), c.media, c.grid);
  for (const data::FieldArray& f : g.fields.cells)
    if (f.name == "permittivity") return f.values;
  return {};
}
std::vector<double> of_axis(const std::vector<double>& eps, std::size_t axis) {
  std::vector<double> out;
  for (std::size_t i = axis; i < eps.size(); i += 3) out.push_back(eps[i]);
  return out;
}

/// The map that is shown and compared: of the first axis along which E is computed. Where a perfect
/// conductor fills a cell there is no permittivity: the background's stands there.
std::vector<double> map_of(const Case& c, const std::vector<double>& eps) {
  const std::size_t axis = electric_components(c).front();
  std::vector<double> out = of_axis(eps, axis);
  std::ranges::replace(out, 0.0, c.media.front().eps[axis]);
  return out;
}

/// What the region, as it is known, leaves of the permittivity of each edge to the cells beside it,
/// between the least and the largest that are known: an edge is the mean of both.
Tensor surroundings_of(const InverseProblem& p, const std::vector<double>& known) {
  double least = INFINITY, most = 0;
  for (const double eps : known)
    if (eps > 0) least = std::min(least, eps), most = std::max(most, eps);
  std::array<std::vector<double>, 3> inside;  // by component: its share of each edge
  for (std::size_t d = 0; d < 3; ++d) {
    const std::vector<double> all = of_axis(known, d);
    std::vector<double> cells;
    for (const std::size_t cell : p.cells()) cells.push_back(all[cell]);
    inside[d] = csr_matmul(p.region.share, p.region.pattern, tensor(cells)).to_vector<double>();
  }
  const std::vector<double> outside = p.region.outside.to_vector<double>();
  std::vector<double> out;
  for (std::size_t e = 0; e < p.op->design.size(); ++e) {
    const double eps = p.op->unit[e] / p.op->coefficient[e];  // cb of vacuum over cb
    out.push_back(
        outside[e] > 0
            ? std::clamp((eps - inside[p.op->design[e].component][e]) / outside[e], least, most)
            : eps);
  }
  return tensor(out);
}

/// The waves in what is known or in the truth: on one grid, whose cells count in the known media,
/// those of the truth and what the region begins as, and with one time step, whose limit is that of
/// these and of every permittivity from region.least on.
CaseOptions comparable_waves(const InverseOptions& o, bool with_truth) {
  CaseOptions waves = o.waves(with_truth);
  for (const StructureOptions& s : o.truth) {
    if (!s.material) continue;
    waves.further_media.push_back(*s.material);
    if (s.shape == ShapeKind::pixels) waves.further_media.push_back(empty_medium(s, waves));
  }
  const auto add = [&](const char* key, double eps) {
    MaterialOptions medium;
    medium.name = key;
    medium.eps = Point{eps, eps, eps};
    for (const MaterialOptions& m : o.materials)
      if (m.name == o.grid.background) medium.mu = m.mu;
    waves.materials.push_back(medium);
    waves.further_media.push_back(medium.name);
  };
  add("region.least", o.region.least);
  if (o.region.start) add("region.start", *o.region.start);  // else that of one of the others
  return waves;
}

/// Cells pass region.least by a little, for which the limit is below that of the case.
void check_step(const Case& c, const InverseOptions& o, const data::Config& config) {
  em::Medium fastest;
  const double eps = o.region.least - RegionOptions::passed;
  fastest.eps = {eps, eps, eps};
  fastest.mu = c.media.front().mu;
  const double limit_s = em::max_stable_dt(fastest, em::curl_curl_bound(c.grid));
  if (c.dt_s <= limit_s * (1 + 1e-9)) return;
  const double courant = std::floor(1000 * limit_s / c.stable_dt_s) / 1000;
  refuse({config.error(
      647, o.run.dt ? "run.dt" : "run.courant",
      fmt::format("a time step of {:.6g} s is above the stability limit of {:.6g} s for the "
                  "permittivity {:g}, which cells of the region may come to ({:g} below "
                  "region.least)",
                  c.dt_s, limit_s, eps, RegionOptions::passed),
      fmt::format("run.courant of {:g} at most", courant))});
}

/// The scene that makes the data, of the grid and steps of the known one.
std::shared_ptr<const Case> true_case(const InverseProblem& p, const data::Config& config) {
  auto out = std::make_shared<const Case>(make_case(comparable_waves(p.options, true), config));
  if (out->grid.lines != p.known->grid.lines || out->dt_s != p.known->dt_s)
    throw Error("[inverse_scattering] the truth has another grid or time step than the model");
  return out;
}

/// Currents of all steps, and fields of all steps at the receivers, are kept at once.
void check_traces_fit(const InverseProblem& p, std::size_t driven, std::size_t recorded,
                      const data::Config& config) {
  const double rows =
                   static_cast<double>(p.options.sources.size()) * static_cast<double>(p.n_steps),
               receivers = static_cast<double>(p.options.receivers.positions.size()),
               edges = static_cast<double>(recorded),
               currents = 2 * 8 * rows * static_cast<double>(driven),
               traces = 8 * (rows * (2 * edges + 3 * receivers) + 2 * edges * receivers);
  const bool by_sources = currents > traces;
  check_fits(currents + traces, by_sources ? "source" : "receivers.positions",
             by_sources ? "the currents of all sources and steps"
                        : "the fields of all sources and steps at the receivers",
             "take fewer steps, sources or receivers", config);
}

/// [source, step, driven edge]: each source has edges of its own.
Tensor currents_of(std::vector<em::Injection>& injections, std::int64_t n_steps) {
  const auto n = static_cast<std::size_t>(n_steps);
  std::size_t driven = 0, first = 0;
  for (const em::Injection& i : injections) driven += i.edges.size();
  std::vector<double> w(injections.size() * n * driven, 0.0);
  for (std::size_t s = 0; s < injections.size(); ++s) {
    const std::size_t columns = injections[s].edges.size();
    std::vector<double> own(n * columns);
    injections[s].fill(0, n_steps, own.data());
    for (std::size_t t = 0; t < n; ++t)
      for (std::size_t m = 0; m < columns; ++m)
        w[(s * n + t) * driven + first + m] = own[t * columns + m];
    first += columns;
  }
  return tensor(w, {static_cast<Index>(injections.size()), n_steps, static_cast<Index>(driven)});
}

/// [recorded edge, receiver].
Tensor weights_of(const em::SampleList& samples) {
  const std::size_t recorded = samples.edges().size();
  const auto receivers = static_cast<std::size_t>(samples.size());
  std::vector<double> weights(recorded * receivers, 0.0);
  for (std::size_t r = 0; r < receivers; ++r)
    for (auto m = static_cast<std::size_t>(samples.begin()[r]);
         m < static_cast<std::size_t>(samples.begin()[r + 1]); ++m)
      weights[static_cast<std::size_t>(samples.columns()[m]) * receivers + r] +=
          samples.weights()[m];
  return tensor(weights, {static_cast<Index>(recorded), samples.size()});
}

/// Cells low <= (i, j, k) < high whose middles lie in the box.
void cells_within(const Case& c, const RegionOptions& r, std::array<int, 3>& low,
                  std::array<int, 3>& high) {
  for (int d = 0; d < 3; ++d) {
    const auto u = static_cast<std::size_t>(d);
    low[u] = 0, high[u] = c.grid.cells(d);
    if (!c.grid.resolved(d)) continue;
    // An edge on middles takes their cells in, at both ends, whatever rounding makes of it.
    const auto slack = [&](int cell) { return 1e-6 * c.grid.length(d, cell); };
    while (low[u] < high[u] && c.grid.middle(d, low[u]) < r.low[u] - slack(low[u])) ++low[u];
    while (high[u] > low[u] && c.grid.middle(d, high[u] - 1) > r.high[u] + slack(high[u] - 1))
      --high[u];
  }
}

}  // namespace

Likeness likeness(const std::vector<double>& map, const std::vector<double>& truth) {
  const auto n = static_cast<double>(map.size());
  double ma = 0, mb = 0, mse = 0;
  for (std::size_t i = 0; i < map.size(); ++i)
    ma += map[i] / n, mb += truth[i] / n, mse += (map[i] - truth[i]) * (map[i] - truth[i]) / n;
  double va = 0, vb = 0, cov = 0;
  for (std::size_t i = 0; i < map.size(); ++i) {
    va += (map[i] - ma) * (map[i] - ma) / n;
    vb += (truth[i] - mb) * (truth[i] - mb) / n;
    cov += (map[i] - ma) * (truth[i] - mb) / n;
  }
  const auto [least, most] = std::minmax_element(truth.begin(), truth.end());
  const double range = *most - *least, c1 = 0.01 * range, c2 = 0.03 * range;
  return {10 * std::log10(range * range / mse),
          (2 * ma * mb + c1) * (2 * cov + c2) / ((ma * ma + mb * mb + c1) * (va + vb + c2))};
}

std::vector<std::size_t> electric_components(const Case& c) {
  const std::array<bool, 6> active = computed(c);
  std::vector<std::size_t> out;
  for (std::size_t d = 0; d < 3; ++d)
    if (active[d]) out.push_back(d);
  return out;
}

std::int64_t InverseProblem::n_cells() const {
  std::int64_t n = 1;
  for (std::size_t d = 0; d < 3; ++d) n *= region.high[d] - region.low[d];
  return n;
}
std::vector<std::size_t> InverseProblem::cells() const {
  std::vector<std::size_t> out;
  for (int k = region.low[2]; k < region.high[2]; ++k)
    for (int j = region.low[1]; j < region.high[1]; ++j)
      for (int i = region.low[0]; i < region.high[0]; ++i)
        out.push_back(static_cast<std::size_t>(
            (std::int64_t{k} * known->grid.cells(1) + j) * known->grid.cells(0) + i));
  return out;
}
std::vector<double> InverseProblem::times_s() const {
  const double ahead = em::is_electric(static_cast<int>(options.receivers.component)) ? 1 : 0.5;
  std::vector<double> out;
  for (std::int64_t n = 0; n < n_steps; ++n)
    out.push_back((static_cast<double>(n) + ahead) * known->dt_s);
  return out;
}
std::int64_t InverseProblem::tape_bytes() const {
  const std::int64_t word = op->scheme.dtype() == Dtype::f32 ? 4 : 8;
  return static_cast<std::int64_t>(options.sources.size()) * n_steps *
         static_cast<std::int64_t>(op->design.size()) * word;
}
Tensor InverseProblem::start() const {
  return zeros({n_cells()}) + (*options.region.start - options.region.least);
}

Tensor InverseProblem::permittivity(const Tensor& rho) const {
  return options.region.least +
         where(rho > 0.0, rho, RegionOptions::passed * (exp(minimum(rho, 0.0)) - 1.0));
}

Tensor InverseProblem::fields(const Tensor& rho) const {
  const Tensor c =
      em::coefficients(op, em::inverse_permittivity(region, permittivity(rho), surroundings));
  em::SimulateOptions how;
  if (tape_bytes() <= kMostTape) how = {.block = n_steps, .checkpoint = Checkpoint::all()};
  const Tensor records = vmap([&](Tensor w) { return em::simulate(op, c, w, how); })(currents);
  return matmul(cast(records, Dtype::f64), receivers);
}

Tensor InverseProblem::misfit(const Tensor& rho) const {
  return sum(square(fields(rho) - data)) / sum(square(data));
}

Tensor InverseProblem::loss(const Tensor& rho) const {
  Tensor out = misfit(rho);
  if (options.optimize.smoothness == 0) return out;
  const Index n[3] = {region.high[0] - region.low[0], region.high[1] - region.low[1],
                      region.high[2] - region.low[2]};
  const Tensor eps = reshape(permittivity(rho), {n[2], n[1], n[0]});
  for (int axis = 0; axis < 3; ++axis) {
    const Index along = n[2 - axis];
    if (along < 2) continue;
    out = out + options.optimize.smoothness *
                    mean(square(slice(eps, axis, 1, along) - slice(eps, axis, 0, along - 1)));
  }
  return out;
}

std::vector<double> InverseProblem::map(const Tensor& rho) const {
  std::vector<double> out = known_map;
  const std::vector<double> eps = permittivity(rho).to_vector<double>();
  std::size_t n = 0;
  for (const std::size_t cell : cells()) out[cell] = eps[n++];
  return out;
}

InverseProblem make_problem(const data::Config& config, bool in_float64) {
  InverseProblem p;
  p.options = read_inverse_options(config);
  if (in_float64) p.options.run.precision = Precision::f64;
  p.known = std::make_shared<Case>(make_case(comparable_waves(p.options, false), config));
  const Case& c = *p.known;
  check_step(c, p.options, config);
  const std::vector<std::size_t> along = electric_components(c);
  if (RegionOptions& r = p.options.region; !r.start)
    r.start = std::max(c.media.front().eps[along.front()], r.least);
  if (const DescentOptions& d = p.options.optimize;
      d.method == Descent::lbfgs && d.rate != DescentOptions{}.rate) {
    data::Diagnostic idle = config.error(650, "optimize.rate",
                                         "optimize.rate has no effect with method = \"lbfgs\", "
                                         "which searches for the length of its steps",
                                         "take method = \"adam\", or leave this out");
    idle.severity = data::Severity::warning;
    p.known->warnings.push_back(std::move(idle));
  }
  const StopOptions& stop = p.options.run.stop;
  p.n_steps = stop.steps.value_or(std::int64_t{1} << 40);
  if (stop.time) p.n_steps = std::min(p.n_steps, em::steps_within(*stop.time, c.dt_s));
  if (p.options.data.file) {
    data::open_input(*p.options.data.file);
    make_data(p, config);
  }

  std::array<int, 3> low{}, high{};
  cells_within(c, p.options.region, low, high);
  const auto refuse = [&](const std::string& key, const std::string& what,
                          const std::string& remedy) {
    throw data::InputError(data::ExitCode::config_invalid, {config.error(650, key, what, remedy)});
  };
  for (std::size_t d = 0; d < 3; ++d)
    if (low[d] >= high[d])
      refuse("region", "no cell has its middle in the region", "make it larger than a cell");
  p.region = em::design_region(c.grid, c.faces, low, high, {along.begin(), along.end()});

  doubt_places(*p.known, p.options, config);
  em::YeeModel model = make_model(c);
  std::vector<em::Injection> injections = make_injections(c);
  for (const em::Injection& i : injections)
    model.injected.insert(model.injected.end(), i.edges.begin(), i.edges.end());
  em::SampleList samples(c.grid, c.faces, computed(c), c.open);
  for (const Point& at : p.options.receivers.positions)
    samples.add(static_cast<int>(p.options.receivers.component), at);
  model.recorded = samples.edges();
  model.traced = p.region.edges;
  check_traces_fit(p, model.injected.size(), model.recorded.size(), config);
  try {
    p.op = em::yee_op(std::move(model));
  } catch (const Error& e) {
    refuse("region", e.what(),
           "keep conductors, losses and poles out of the region and the cells beside it");
  }
  p.currents = currents_of(injections, p.n_steps);
  p.receivers = weights_of(samples);
  const std::vector<double> known = permittivities(c);
  p.surroundings = surroundings_of(p, known);
  p.known_map = map_of(c, known);
  if (!p.options.truth.empty()) {
    p.truth = true_case(p, config);
    p.truth_map = map_of(*p.truth, permittivities(*p.truth));
    for (const data::Diagnostic& d : p.truth->warnings)
      if (std::none_of(c.warnings.begin(), c.warnings.end(),
                       [&](const data::Diagnostic& known_one) {
                         return known_one.number == d.number && known_one.message == d.message;
                       }))
        p.known->warnings.push_back(d);
  }
  doubt_bodies(p, config);
  if (p.data.defined()) p.truth.reset();  // compared with the result by its map alone
  p.inputs = data::inputs_read();
  return p;
}

void make_data(InverseProblem& p, const data::Config& config) {
  if (p.data.defined()) return;
  const auto shots = p.options.sources.size(), receivers = p.options.receivers.positions.size(),
             n = static_cast<std::size_t>(p.n_steps);
  std::vector<double> d(shots * n * receivers, 0.0);
  if (p.options.data.file) {
    ScatteringData read = read_scattering_data(*p.options.data.file, shots, receivers, p.times_s());
    doubt_spacing(p, read.widest_s, config);
    d = std::move(read.values);
    p.n_steps = static_cast<std::int64_t>(d.size() / (shots * receivers));
  } else {
    const Case& truth = *p.truth;
    const std::vector<em::Injection> injections = make_injections(truth);
    for (std::size_t s = 0; s < shots; ++s) {
      em::SampleList samples(truth.grid, truth.faces, computed(truth), truth.open);
      for (const Point& at : p.options.receivers.positions)
        samples.add(static_cast<int>(p.options.receivers.component), at);
      em::TimeDomain run(make_model(truth), {injections[s]}, samples.edges());
      run.advance(p.n_steps, [&](const em::Records& r) {
        for (std::int64_t t = 0; t < r.n_steps; ++t)
          for (std::size_t k = 0; k < receivers; ++k)
            d[(s * n + static_cast<std::size_t>(r.first + t)) * receivers + k] =
                samples.value(static_cast<std::int64_t>(k), r.step(t).data());
      });
    }
  }
  p.truth.reset();
  double squares = 0;
  for (const double v : d) squares += v * v;
  if (!(squares > 0) || !std::isfinite(squares))
    throw data::InputError(
        data::ExitCode::input_invalid,
        {config.error(651, "data", "the data are zero or not finite",
                      "let the run be longer, so that waves reach the receivers")});
  if (p.options.data.noise > 0) {
    // Box and Muller: the same numbers with any library.
    std::mt19937_64 bits(static_cast<std::uint64_t>(p.options.data.seed));
    const auto uniform = [&] { return (static_cast<double>(bits() >> 11) + 0.5) * 0x1p-53; };
    const double deviation =
        p.options.data.noise * std::sqrt(squares / static_cast<double>(d.size()));
    for (double& v : d) {
      const double radius = std::sqrt(-2 * std::log(uniform()));
      v += deviation * radius * std::cos(2 * std::numbers::pi * uniform());
    }
  }
  p.data = tensor(d, {static_cast<Index>(shots), p.n_steps, static_cast<Index>(receivers)});
}

}  // namespace tessera::apps::inverse_scattering
