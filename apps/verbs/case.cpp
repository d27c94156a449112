// SPDX-License-Identifier: Apache-2.0
// What every verb that takes a case does first.
#include "support/report.h"
#include "verbs/verbs.h"

#include <algorithm>

namespace tessera::apps {
namespace {

std::string known_apps() {
  std::string out;
  for (const App& a : all_apps()) out += (out.empty() ? "" : ", ") + a.name;
  return out.empty() ? "this build has no apps" : "apps of this build: " + out;
}

}  // namespace

const App& app_called(const std::string& name) {
  if (const App* app = find_app(name)) return *app;
  throw usage_error("there is no app '" + name + "'", known_apps());
}

Case read_case(const std::filesystem::path& path, const std::vector<std::string>& overrides) {
  data::Config config = data::read_config(path, overrides);
  const std::string name = config.app();
  const App* app = find_app(name);
  if (!app) {
    const data::Member* m = data::find(config.table(), "app");
    throw data::InputError(
        config.error(202, m->value.origin, "there is no app '" + name.substr(0, 80) + "'",
                     known_apps()),
        data::ExitCode::config_invalid);
  }
  std::vector<data::Diagnostic> findings = app->options.get().check(config);
  if (has_errors(findings))
    throw data::InputError(data::ExitCode::config_invalid, std::move(findings));
  return {std::move(config), *app};
}

}  // namespace tessera::apps
