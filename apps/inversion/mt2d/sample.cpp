// SPDX-License-Identifier: Apache-2.0
#include "inversion/mt2d/sample.h"

#include "inversion/mt2d/learnt.h"
#include "tessera/autodiff/thread_count.h"
#include "tessera/data/checkpoint.h"
#include "tessera/inversion/learnt_inversion.h"
#include "tessera/inversion/sampler.h"
#include "tessera/inversion/through.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <exception>
#include <mutex>
#include <numbers>
#include <thread>

namespace tessera::apps::mt2d {
namespace {

using Numbers = std::vector<double>;

/// Random numbers of a run, by what they are for.
enum Stream : std::uint64_t { of_starts = 17, of_mass = 19, of_chains = 20, first_chain = 1000 };

inversion::Nuts chain_of(const SampleProblem& p, const inversion::LogDensity& density,
                         const inversion::Metric& metric, std::size_t k) {
  const Mt2dOptions& o = p.of->options;
  return {density,
          metric,
          {.warm_up = static_cast<std::uint64_t>(o.posterior.burn_in),
           .steps = static_cast<std::uint64_t>(o.posterior.samples),
           .keep_every = static_cast<std::uint64_t>(o.posterior.keep_every),
           .key = {o.seed, first_chain + k}}};
}

/// f(k) of all k < n on up to so many threads; kernels share what is left.
template <class F>
void on_threads(std::size_t n, int threads, F&& f) {
  const int workers = std::clamp(static_cast<int>(n), 1, std::max(1, threads));
  std::atomic<std::size_t> next{0};
  std::exception_ptr failure;
  std::mutex mutex;
  const auto work = [&] {
    const ThreadCount own(std::max(1, threads / workers));
    for (std::size_t k; (k = next++) < n;) try {
        f(k);
      } catch (...) {
        const std::lock_guard lock(mutex);
        if (!failure) failure = std::current_exception();
      }
  };
  {
    std::vector<std::jthread> pool;
    for (int t = 1; t < workers; ++t) pool.emplace_back(work);
    work();
  }
  if (failure) std::rethrow_exception(failure);
}

/// Mean over rows of [count, n].
Numbers means_of(const Numbers& v, std::size_t n) {
  const std::size_t count = v.size() / n;
  Numbers out(n, 0.0);
  for (std::size_t i = 0; i < v.size(); ++i) out[i % n] += v[i] / static_cast<double>(count);
  return out;
}
Numbers deviations_of(const Numbers& v, const Numbers& mean) {
  const std::size_t n = mean.size(), count = v.size() / n;
  Numbers out(n, count > 1 ? 0.0 : NAN);
  for (std::size_t i = 0; i < v.size(); ++i)
    out[i % n] += std::pow(v[i] - mean[i % n], 2) / static_cast<double>(count - 1);
  for (double& s : out) s = std::sqrt(s);
  return out;
}
/// NaN of all where a chain has fewer than four samples.
inversion::Mixing mixing_of_any(const std::vector<Numbers>& chains, std::size_t n) {
  if (chains[0].size() < 4 * n) return {Numbers(n, NAN), Numbers(n, NAN)};
  return inversion::mixing_of(chains, n);
}

}  // namespace

SampleProblem sample_problem(const InvertProblem& p) {
  SampleProblem out{.of = &p,
                    .prior = placed_prior(p),
                    .cells = problem_of_cells(p),
                    .to_cells = {},
                    .codes = {}};
  out.to_cells = out.prior.model.map();
  out.codes = out.cells;
  out.codes.forward = inversion::through(out.cells.forward, out.to_cells);
  return out;
}

SampleState begin_sample(const SampleProblem& p) {
  const Mt2dOptions& o = p.of->options;
  const std::vector<inversion::HeldOut> held_out{p.prior.calibration.held_out};
  const inversion::LearntResult found = inversion::invert_learnt(
      p.cells, p.prior.model, p.prior.prior, {},
      {.newton = {.max_iterations = o.max_iterations,
                  .tolerance = 1e-3 * static_cast<double>(p.cells.data.size())},
       .draws = o.prior.draws,
       .held_out = held_out,
       .key = {o.seed, of_starts}});
  SampleState s;
  s.mass = inversion::mass_of_chains(p.codes, p.prior.prior, found.m, {o.seed, of_mass});
  s.optimum = fmt::format(
      "cheapest section: RMS {:.3f} after {} steps, codes have a mean square of {:.3f}, {:.3f} a "
      "datum; data say something of {} directions",
      inversion::rms({},
                     inversion::normalised_residual(p.codes.data, found.predicted, p.codes.sigma)),
      found.iterations.size(), found.code_norm[0],
      found.objective / static_cast<double>(found.n_data), s.mass.eigenvalue.size());
  s.doubts = doubts_told(found, held_out);
  if (was_cut(found))
    s.cut =
        "the search for the cheapest section was cut at inversion.max_iterations: chains have "
        "the mass of where it stood";
  const inversion::LogDensity density = inversion::log_density(p.codes, p.prior.prior);
  const inversion::Metric metric = inversion::metric_of(s.mass);
  for (int k = 0; k < o.chains; ++k) {
    Numbers x = found.m;
    if (k > 0) {
      Numbers xi(x.size()), gradient(x.size());
      for (std::size_t j = 0; j < xi.size(); ++j)
        xi[j] = data::normal({o.seed, of_chains}, static_cast<std::uint64_t>(k) * x.size() + j);
      const Numbers away = s.mass.draw(xi);
      for (std::size_t j = 0; j < x.size(); ++j) x[j] += away[j];
      // Where the density is 0 so far from the optimum: nearer to it.
      while (!std::isfinite(density.value(x, gradient)) && x != found.m)
        for (std::size_t j = 0; j < x.size(); ++j) x[j] = 0.5 * (x[j] + found.m[j]);
    }
    s.chains.push_back(
        chain_of(p, density, metric, static_cast<std::size_t>(k)).start(std::move(x)));
  }
  return s;
}

void step_sample(const SampleProblem& p, SampleState& s, int threads) {
  const inversion::LogDensity density = inversion::log_density(p.codes, p.prior.prior);
  const inversion::Metric metric = inversion::metric_of(s.mass);
  on_threads(s.chains.size(), threads, [&](std::size_t k) {
    inversion::NutsChain& chain = s.chains[k];
    chain_of(p, density, metric, k).advance(chain, chain.step + 1);
  });
}

void put(data::Checkpoint& c, const SampleState& s) {
  if (!s.begun()) return;
  c.put("optimum", s.optimum);
  if (!s.cut.empty()) c.put("cut", s.cut);
  for (std::size_t k = 0; k < s.doubts.size(); ++k) c.put(fmt::format("doubt/{}", k), s.doubts[k]);
  c.put("mass/optimum", s.mass.mean);
  c.put("mass/eigenvalue", s.mass.eigenvalue);
  c.put("mass/vectors", s.mass.vectors.values);
  for (std::size_t k = 0; k < s.chains.size(); ++k) {
    const inversion::NutsChain& chain = s.chains[k];
    const std::string at = fmt::format("chain/{}/", k);
    c.put(at + "x", chain.x);
    c.put(at + "gradient", chain.gradient);
    c.put(at + "numbers", Numbers{chain.log_density, chain.log_step, chain.log_step_mean,
                                  chain.acceptance_lack, chain.log_step_first, chain.acceptance});
    c.put(at + "counts",
          std::vector<std::uint64_t>{chain.step, chain.gradients, chain.divergent, chain.cut});
    c.put(at + "kept", chain.kept);
    c.put(at + "kept_density", chain.kept_density);
  }
}

SampleState sample_state(const data::Checkpoint& c, const SampleProblem& p) {
  SampleState s;
  if (!c.has("mass/optimum")) return s;
  const Numbers& eigenvalue = c.array<double>("mass/eigenvalue");
  inversion::Matrix vectors(p.size(), eigenvalue.size());
  if (c.array<double>("mass/vectors").size() != vectors.values.size())
    throw Error("[checkpoint] the mass of the chains belongs to another case");
  vectors.values = c.array<double>("mass/vectors");
  s.mass = inversion::low_rank_posterior(p.prior.prior, c.array<double>("mass/optimum"), eigenvalue,
                                         std::move(vectors));
  s.optimum = c.text("optimum");
  if (c.has("cut")) s.cut = c.text("cut");
  for (std::size_t k = 0; c.has(fmt::format("doubt/{}", k)); ++k)
    s.doubts.push_back(c.text(fmt::format("doubt/{}", k)));
  for (std::size_t k = 0; c.has(fmt::format("chain/{}/x", k)); ++k) {
    const std::string at = fmt::format("chain/{}/", k);
    inversion::NutsChain chain{.x = c.array<double>(at + "x")};
    chain.gradient = c.array<double>(at + "gradient");
    const Numbers& v = c.array<double>(at + "numbers");
    const auto& n = c.array<std::uint64_t>(at + "counts");
    chain.kept = c.array<double>(at + "kept");
    chain.kept_density = c.array<double>(at + "kept_density");
    if (v.size() != 6 || n.size() != 4 || chain.x.size() != p.size() ||
        chain.kept.size() != chain.kept_density.size() * p.size())
      throw Error("[checkpoint] " + at + " is inconsistent");
    chain.log_density = v[0], chain.log_step = v[1], chain.log_step_mean = v[2];
    chain.acceptance_lack = v[3], chain.log_step_first = v[4], chain.acceptance = v[5];
    chain.step = n[0], chain.gradients = n[1], chain.divergent = n[2], chain.cut = n[3];
    s.chains.push_back(std::move(chain));
  }
  return s;
}

std::vector<std::string> sample_columns() {
  return {"step", "log_density", "step_size", "gradients", "divergent"};
}
std::vector<double> sample_row(const SampleState& s) {
  Numbers row{static_cast<double>(s.steps()), 0, 0, 0, 0};
  for (const inversion::NutsChain& c : s.chains) {
    row[1] += c.log_density / static_cast<double>(s.chains.size());
    row[2] += std::exp(c.log_step) / static_cast<double>(s.chains.size());
    row[3] += static_cast<double>(c.gradients);
    row[4] += static_cast<double>(c.divergent);
  }
  return row;
}

Result sample_result(const SampleProblem& p, const SampleState& s) {
  const std::size_t cells = p.of->cells(), both = p.prior.model.cells(), n = p.size();
  const std::size_t codes = p.prior.model.n_codes(), n_chains = s.chains.size();
  Draws d{.kept = s.chains[0].kept_density.size()};

  // Numbers of each draw: codes, static shifts, log density, RMS. Cells: log10 of ohm m, shifts.
  const auto& shift_of = p.of->inversion->shifts().unknown;
  for (std::size_t k = 0; k < codes; ++k) d.numbers.push_back({fmt::format("code {}", k)});
  for (const auto& shift : shift_of)
    d.numbers.push_back(
        {fmt::format("shift {} {}", shift.mode == inversion::Element::yx ? "tm" : "te",
                     p.of->input.survey.stations[static_cast<std::size_t>(shift.station)].id)});
  d.numbers.push_back({"log density"});
  // The density knows that of the loss alone.
  d.numbers.push_back(
      {p.codes.loss.kind == inversion::Loss::Kind::l2 ? "rms" : "rms of Huber's loss"});
  const std::size_t m = d.numbers.size();
  std::vector<Numbers> numbers(n_chains), sections(n_chains);
  for (std::size_t c = 0; c < n_chains; ++c) {
    const inversion::NutsChain& chain = s.chains[c];
    for (std::size_t i = 0; i < d.kept; ++i) {
      const auto first = chain.kept.begin() + static_cast<std::ptrdiff_t>(i * n);
      const Numbers x(first, first + static_cast<std::ptrdiff_t>(n));
      Numbers section = p.to_cells.predict(x);
      numbers[c].insert(numbers[c].end(), x.end() - static_cast<std::ptrdiff_t>(codes), x.end());
      numbers[c].insert(numbers[c].end(), section.begin() + static_cast<std::ptrdiff_t>(cells),
                        section.end());
      numbers[c].push_back(chain.kept_density[i]);
      numbers[c].push_back(std::sqrt((-2 * chain.kept_density[i] - p.prior.prior.penalty(x)) /
                                     static_cast<double>(p.codes.data.size())));
      sections[c].insert(sections[c].end(), section.begin(), section.end());
    }
  }
  const auto joined = [](const std::vector<Numbers>& chains) {
    Numbers all;
    for (const Numbers& c : chains) all.insert(all.end(), c.begin(), c.end());
    return all;
  };
  const inversion::Mixing of_numbers = mixing_of_any(numbers, m);
  d.values = joined(numbers);
  const Numbers mean = means_of(d.values, m), deviation = deviations_of(d.values, mean);
  const auto quantile = [&](const Numbers& all, std::size_t size, double q) {
    return inversion::sample_quantile(all, size, q);
  };
  const Numbers low = quantile(d.values, m, 0.05), middle = quantile(d.values, m, 0.5),
                high = quantile(d.values, m, 0.95);
  for (std::size_t k = 0; k < m; ++k) {
    SampledNumber& number = d.numbers[k];
    number.mean = mean[k], number.deviation = deviation[k];
    number.low = low[k], number.middle = middle[k], number.high = high[k];
    number.r_hat = of_numbers.r_hat[k], number.effective = of_numbers.effective[k];
  }
  for (const inversion::NutsChain& c : s.chains)
    d.chains.push_back({std::exp(c.log_step),
                        c.acceptance / static_cast<double>(p.of->options.posterior.samples),
                        static_cast<double>(c.divergent), static_cast<double>(c.cut),
                        static_cast<double>(c.gradients)});

  const inversion::Mixing of_cells = mixing_of_any(sections, both);
  const Numbers all = joined(sections);
  const Numbers centre = means_of(all, both), spread = deviations_of(all, centre);
  Result r = result_of_cells(*p.of, centre, p.cells.forward.predict(centre));
  const auto of_mesh = [&](const Numbers& v, double factor) {
    Numbers out;
    for (const inversion::Medium2d& medium : r.cells.medium)
      out.push_back(medium.parameter < 0 ? NAN
                                         : v[static_cast<std::size_t>(medium.parameter)] * factor);
    return out;
  };
  d.deviation = of_mesh(spread, 1 / std::numbers::ln10);
  d.r_hat = of_mesh(of_cells.r_hat, 1), d.effective = of_mesh(of_cells.effective, 1);
  const auto band = [&](double q) { return resistivity_of_cells(r.cells, quantile(all, both, q)); };
  r.low = band(0.05), d.q25 = band(0.25), d.q50 = band(0.5), d.q75 = band(0.75);
  r.high = band(0.95);
  r.draws = std::move(d);
  r.reason = fmt::format("the mean of {} draws", r.draws->kept * n_chains);
  return r;
}

WorstMixing worst_of(const Draws& d) {
  WorstMixing out;
  const auto add = [&](const std::string& name, double r_hat, double effective) {
    if (!(r_hat <= out.r_hat)) out.r_hat = r_hat, out.of = name;
    if (!(effective >= out.effective)) out.effective = effective;
  };
  for (const SampledNumber& number : d.numbers) add(number.name, number.r_hat, number.effective);
  for (std::size_t k = 0; k < d.r_hat.size(); ++k)
    if (!std::isnan(d.r_hat[k])) add(fmt::format("cell {}", k), d.r_hat[k], d.effective[k]);
  return out;
}

double seconds_of_gradient(const SampleProblem& p) {
  const inversion::LogDensity density = inversion::log_density(p.codes, p.prior.prior);
  Numbers gradient(p.size());
  double seconds = 0;
  for (int k = 0; k < 2; ++k) {
    const auto begin = std::chrono::steady_clock::now();
    density.value(p.prior.prior.mean, gradient);
    seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  }
  return seconds;
}

std::uint64_t bytes_of_draws(const SampleProblem& p) {
  const Mt2dOptions& o = p.of->options;
  const auto kept = static_cast<std::uint64_t>(o.chains) *
                    static_cast<std::uint64_t>(o.posterior.samples / o.posterior.keep_every);
  return 8 * kept * (p.size() + p.prior.model.n_codes() + 2);
}

}  // namespace tessera::apps::mt2d
