// SPDX-License-Identifier: Apache-2.0
#include "support/report.h"
#include "tessera/data/parameters.h"
#include "tessera/data/sweep.h"
#include "verbs/verbs.h"

#include <iostream>

namespace tessera::apps {
namespace {

/// "a = w/2 + 1 mm = 2.6 mm"
std::vector<std::string> parameter_lines(const Case& c) {
  const data::ParameterUse use = c.app.options.get().parameter_use(c.config);
  std::vector<std::string> out;
  for (const data::Parameter& p : use.parameters.all()) {
    const std::string value = data::print_readably(p.value);
    out.push_back(p.name + " = " + p.text + (p.text == value ? "" : " = " + value));
  }
  return out;
}

}  // namespace

data::ExitCode verb_check(const CommandLine& line) {
  const Case c = read_case(line.path, line.overrides);
  const auto sweep = data::read_sweep(c.config);
  const Ready ready = prepare(c, line.run);
  CheckReport result = ready.made.check();
  result.findings.insert(result.findings.begin(), c.warnings.begin(), c.warnings.end());
  if (line.json || !result.findings.empty()) report(result.findings, line.json);
  if (stops(result, line.run)) return data::ExitCode::input_invalid;
  if (line.json) return data::ExitCode::ok;
  for (const std::string& text : result.lines) std::cout << text << "\n";
  for (const std::string& text : parameter_lines(c)) std::cout << text << "\n";
  if (sweep)
    std::cout << "`tessera sweep` runs it at " << sweep->points.size() << " points, from "
              << label_of_point(*sweep, 0) << " to "
              << label_of_point(*sweep, sweep->points.size() - 1) << "\n";
  std::cout << c.config.path() << ": ok (" << c.app.name << ")\n";
  return data::ExitCode::ok;
}

}  // namespace tessera::apps
