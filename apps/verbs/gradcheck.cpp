// SPDX-License-Identifier: Apache-2.0
#include "support/check_derivatives.h"
#include "support/ranks.h"
#include "support/report.h"
#include "tessera/autodiff/forall.h"
#include "tessera/data/progress.h"
#include "verbs/verbs.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <iostream>
#include <optional>

namespace tessera::apps {
namespace {

std::string apps_with_derivatives() {
  std::string out;
  for (const App& a : all_apps())
    if (a.derivatives) out += (out.empty() ? "" : ", ") + a.name;
  return out.empty() ? "no app of this build does" : "these do: " + out;
}

nlohmann::json number_or_null(const std::optional<double>& x) {
  return x ? nlohmann::json(*x) : nlohmann::json();
}

void print_json(const Case& c, const Derivatives& d, const std::vector<DerivativeCheck>& checks,
                const std::vector<std::string>& untested, bool passed) {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const DerivativeCheck& r : checks)
    rows.push_back({{"result", r.result},
                    {"parameters", r.parameters},
                    {"size", r.size},
                    {"derivative", r.derivative},
                    {"difference", r.difference},
                    {"disagreement", r.disagreement()},
                    {"adjoint_identity", r.adjoint},
                    {"slope_1", number_or_null(r.slope_1)},
                    {"slope_2", number_or_null(r.slope_2)},
                    {"passed", r.passed},
                    {"verdict", r.verdict}});
  const nlohmann::ordered_json j = {
      {"app", c.app.name},      {"passed", passed},          {"checks", rows},
      {"not_tested", untested}, {"differentiated", d.lines}, {"not_checked", d.left_out}};
  std::cout << j.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) << "\n";
}

void print_table(const Derivatives& d, const std::vector<DerivativeCheck>& checks) {
  for (const std::string& text : d.lines) std::cout << text << "\n";
  std::size_t wide = 6, wide_parameters = 10;
  for (const DerivativeCheck& c : checks) {
    wide = std::max(wide, c.result.size());
    wide_parameters = std::max(wide_parameters, c.parameters.size());
  }
  const auto slope = [](const std::optional<double>& s) {
    return s ? fmt::format("{:.2f}", *s) : std::string("-");
  };
  std::cout << fmt::format("\n{:<{}}  {:<{}}  {:>11}  {:>11}  {:>9}  {:>5}  {:>5}  verdict\n",
                           "result", wide, "parameters", wide_parameters, "derivative",
                           "differences", "adjoint", "slope", "and 2");
  for (const DerivativeCheck& c : checks)
    std::cout << fmt::format("{:<{}}  {:<{}}  {:>11.3e}  {:>11.1e}  {:>9.1e}  {:>5}  {:>5}  {}\n",
                             c.result, wide, c.parameters, wide_parameters, c.derivative,
                             c.disagreement(), c.adjoint, slope(c.slope_1), slope(c.slope_2),
                             c.verdict);
  std::cout << "\n";
  for (const std::string& text : d.left_out) std::cout << "not checked: " << text << "\n";
}

}  // namespace

void help_with_gradcheck(const CommandLine& line, const PreparedCase& made, HelpContext& with) {
  line.ranks->ready();
  check_derivatives(made.derivatives_on_ranks(with), line.seed);
  line.ranks->tell_sent();
}

data::ExitCode verb_gradcheck(const CommandLine& line) {
  const Case c = read_case(line.path, line.overrides);
  if (!c.app.derivatives)
    throw usage_error(c.app.name + " offers no derivatives to check", apps_with_derivatives());
  set_num_threads(thread_count(line.run));
  const Ready ready = prepare(c, line.run, true);
  const bool on_ranks = line.ranks->all().size() > 1 && ready.made.derivatives_on_ranks;
  line.ranks->tell(on_ranks, {});
  if (line.ranks->all().size() > 1 && !on_ranks)
    std::cerr << "tessera: warning: derivatives of " << c.app.name
              << " are not cut over ranks: rank 0 of " << line.ranks->all().size()
              << " checks them alone\n";
  HelpContext with{line.ranks->all(), thread_count(line.run), line.run.weights, nullptr};
  const Derivatives d = on_ranks ? ready.made.derivatives_on_ranks(with) : ready.made.derivatives();
  std::optional<data::Progress> progress;
  const std::vector<DerivativeCheck> checks =
      check_derivatives(d, line.seed, [&](int done, int total) {
        if (line.run.verbosity < 0) return;
        if (!progress)
          progress.emplace(data::ProgressOptions{.phase = "gradcheck",
                                                 .unit = "evaluations",
                                                 .total = static_cast<std::uint64_t>(total)});
        progress->update(static_cast<std::uint64_t>(done));
      });
  if (progress) progress->finish();
  line.ranks->helped();
  // A group of parameters on which nothing depends has not been tested.
  std::vector<std::string> untested;
  for (const Derivatives::Parameters& g : d.parameters)
    if (std::none_of(checks.begin(), checks.end(), [&](const DerivativeCheck& r) {
          return r.parameters == g.name && r.verdict != kNoInfluence;
        }))
      untested.push_back(g.name);
  const bool tested = untested.size() < d.parameters.size();
  const bool passed = tested && std::all_of(checks.begin(), checks.end(),
                                            [](const DerivativeCheck& r) { return r.passed; });
  if (line.json)
    print_json(c, d, checks, untested, passed);
  else {
    print_table(d, checks);
    for (const std::string& name : untested)
      std::cout << "not tested: " << name << ", on which no result depends in this run\n";
    const char* verdict = passed   ? "the derivatives are right"
                          : tested ? "a derivative does not verify"
                                   : "there was nothing to check";
    std::cout << c.config.path() << ": " << verdict << " (" << c.app.name << ", " << checks.size()
              << " checks)\n";
  }
  return passed ? data::ExitCode::ok : data::ExitCode::not_converged;
}

}  // namespace tessera::apps
