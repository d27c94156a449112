// SPDX-License-Identifier: Apache-2.0
#include "molecular/dynamics/expectations.h"

#include "tessera/molecular/stage_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace tessera::apps::dynamics {
namespace {

constexpr std::int64_t rows_of_a_drift = 4;  // fewer have no slope with an error

/// The stage that one means, the last where it names none; its end where there is none such.
template <class Stages>
auto stage_of(Stages& stages, const ExpectOptions& x) {
  using Named = std::remove_reference_t<decltype(stages[0])>;
  return x.stage.empty() ? stages.end() - 1 : std::ranges::find(stages, x.stage, &Named::name);
}

/// Rows of energies.csv: that of the start, every nstenergy steps, and that of the end.
std::int64_t rows_of(const Stage& s) {
  const std::int64_t n = s.n_steps, every = s.settings.nstenergy;
  if (n == 0) return 1;
  return every > 0 ? 1 + (n + every - 1) / every : 2;
}

/// A key of a case that names it as the column does not; else some of the columns.
std::string hint_of(const std::string& quantity, const std::vector<std::string>& columns) {
  std::string near;
  for (const std::string& c : columns)
    if (c.starts_with(quantity) || quantity.starts_with(c)) near += (near.empty() ? "" : ", ") + c;
  if (!near.empty()) return "did you mean " + near + "?";
  std::string all;
  for (const std::string& c : columns)
    if (c != "step") all += (all.empty() ? "" : ", ") + c;
  return "one of " + all + ", or drift of a stage of dynamics";
}

}  // namespace

std::vector<data::Diagnostic> unknown_expectations(const Case& c, const data::Config& config) {
  std::vector<data::Diagnostic> out;
  for (std::size_t k = 0; k < c.options.expectations.size(); ++k) {
    const ExpectOptions& x = c.options.expectations[k];
    const auto at = stage_of(c.stages, x);
    if (at == c.stages.end()) {
      out.push_back(config.error(751, fmt::format("expect[{}].stage", k),
                                 "there is no stage '" + x.stage + "'"));
      continue;
    }
    const std::string key = fmt::format("expect[{}].quantity", k);
    const bool moves = at->type == StageType::dynamics;
    if (x.first && x.last)
      out.push_back(config.error(751, fmt::format("expect[{}].last", k),
                                 "first and last ask for two values, of which one is compared",
                                 "leave one of them out, or give each an [[expect]] of its own"));
    if (x.quantity == "drift" && moves && rows_of(*at) < rows_of_a_drift)
      out.push_back(config.error(754, key,
                                 fmt::format("a drift needs {} rows of energies, stage '{}' has {}",
                                             rows_of_a_drift, at->name, rows_of(*at)),
                                 "a smaller nstenergy, or more steps"));
    else if (const auto columns = mol::columns_of(*at, stage_start(c, *at, c.start), c.start.box);
             !(x.quantity == "drift" && moves) &&
             std::ranges::find(columns, x.quantity) == columns.end())
      out.push_back(config.error(754, key, "stage '" + at->name + "' finds no '" + x.quantity + "'",
                                 hint_of(x.quantity, columns)));
  }
  return out;
}

std::vector<Expectation> check_expectations(const Case& c, const std::vector<Summary>& stages) {
  std::vector<Expectation> out;
  for (const ExpectOptions& x : c.options.expectations) {
    const auto at = stage_of(stages, x);
    const bool drift = x.quantity == "drift";  // of all of the stage
    double found = NAN;
    if (drift && at->drift) {
      found = at->drift->mean;
    } else if (!drift) {
      const auto k = static_cast<std::size_t>(std::ranges::find(at->energies.names, x.quantity) -
                                              at->energies.names.begin());
      const auto& values = at->energies.columns.at(k);
      found = values.empty() ? NAN
              : x.first      ? values.front()
              : x.last       ? values.back()
                             : at->averages[k].mean;
    }
    const double allowed = x.tolerance * (x.relative ? std::abs(x.value) : 1.0);
    const bool kept = std::abs(found - x.value) <= allowed;
    const std::string name = at->name + "." + x.quantity +
                             (drift     ? ""
                              : x.first ? ".first"
                              : x.last  ? ".last"
                                        : "");
    out.push_back({name, found,
                   fmt::format("{}: {:.10g}, expected {:.10g} within {:.2g}{}", name, found,
                               x.value, allowed, kept ? "" : ": NOT MET"),
                   kept});
  }
  return out;
}

}  // namespace tessera::apps::dynamics
