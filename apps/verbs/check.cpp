// SPDX-License-Identifier: Apache-2.0
#include "support/report.h"
#include "verbs/verbs.h"

#include <iostream>

namespace tessera::apps {

data::ExitCode verb_check(const CommandLine& line) {
  const Case c = read_case(line.path, line.overrides);
  const Ready ready = prepare(c, line.run);
  const CheckReport result = ready.made.check();
  if (line.json || !result.findings.empty()) report(result.findings, line.json);
  if (stops(result, line.run)) return data::ExitCode::input_invalid;
  if (line.json) return data::ExitCode::ok;
  for (const std::string& text : result.lines) std::cout << text << "\n";
  std::cout << c.config.path() << ": ok (" << c.app.name << ")\n";
  return data::ExitCode::ok;
}

}  // namespace tessera::apps
