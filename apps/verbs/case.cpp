// SPDX-License-Identifier: Apache-2.0
// What every verb that takes a case does first.
#include "support/missing_files.h"
#include "support/report.h"
#include "tessera/data/info.h"
#include "tessera/data/text_file.h"
#include "verbs/verbs.h"

#include <algorithm>
#include <filesystem>
#include <utility>

namespace tessera::apps {
namespace fs = std::filesystem;
namespace {

std::string known_apps() {
  std::string out;
  for (const App& a : all_apps()) out += (out.empty() ? "" : ", ") + a.name;
  return out.empty() ? "this build has no apps" : "apps of this build: " + out;
}

/// The way on where a path that should be a case is a folder or a file of another kind; else empty.
std::string instead_of(const fs::path& path) {
  std::error_code none;
  if (fs::exists(path / "manifest.json", none))
    return "it is a run folder: `tessera info`, `plot` and `resume` take it";
  if (fs::is_directory(path, none)) {
    std::vector<std::string> cases;
    for (const auto& entry : fs::directory_iterator(path, none))
      if (entry.path().extension() == ".toml" || entry.path().extension() == ".json")
        cases.push_back(entry.path().string());
    std::sort(cases.begin(), cases.end());
    if (cases.size() == 1) return "did you mean '" + cases.front() + "'?";
    if (cases.empty()) return "a case is a file; `tessera new APP` writes one";
    return "a case is a file, e.g. '" + cases.front() + "'";
  }
  if (!fs::exists(fs::symlink_status(path, none))) return nearest_file_hint(path);
  if (!fs::is_regular_file(path, none)) return {};
  try {
    const std::optional<data::FileFormat> format = data::format_of(path);
    if (!format || format->name == "TOML" || format->name == "JSON") return {};
    if (format->name == "GROMACS parameters")
      return "`tessera import " + path.string() + "` makes a case of it";
    return "this is " + format->name + " (" + format->summary +
           "); a case is written by `tessera new APP` and names such files";
  } catch (const data::InputError&) {
    return {};
  }
}

data::Config read_config(const fs::path& path, const std::vector<std::string>& overrides) {
  try {
    return data::read_config(path, overrides);
  } catch (const data::InputError& e) {
    std::vector<data::Diagnostic> findings = e.findings();
    if (findings.empty() || !findings.front().hint.empty()) throw;
    findings.front().hint = instead_of(path);
    throw data::InputError(e.code(), std::move(findings));
  }
}

}  // namespace

const App& app_called(const std::string& name) {
  if (const App* app = find_app(name)) return *app;
  throw usage_error("there is no app '" + name + "'", known_apps());
}

Case read_case(const fs::path& path, const std::vector<std::string>& overrides) {
  data::Config config = read_config(path, overrides);
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
  return {std::move(config), *app, std::move(findings)};
}

namespace {

/// Paths get the folder of the case in front of them, which may have a name of any bytes; what
/// `resume` and `plot` cannot read is told before the run.
void check_encoding(const Case& c, const std::string& resolved) {
  try {
    data::make_text_file("resolved.toml", resolved,
                         {.max_bytes = data::kMostConfigBytes,
                          .max_line_bytes = data::kMostConfigBytes,
                          .encoding = data::Encoding::utf8});
  } catch (const data::InputError& e) {
    const data::Diagnostic& found = e.findings().front();
    throw data::InputError(
        data::Diagnostic{.number = found.number,
                         .place = {c.config.path()},
                         .message = "what the run keeps of the case could not be read again, " +
                                    found.message + ": " + found.source_line,
                         .hint = "rename the folder or the file"},
        data::ExitCode::config_invalid);
  }
}

}  // namespace

std::string resolved_text(const Case& c, const std::vector<std::string>& chosen) {
  const data::OptionTable& options = c.app.options.get();
  std::string text = options.resolved_toml(c.config);
  if (!chosen.empty())
    text = options.resolved_toml(
        data::parse_config("resolved.toml", std::move(text), data::ConfigFormat::toml, chosen));
  check_length(c, text, "every default", "fewer items of its lists");
  check_encoding(c, text);
  return text;
}

void check_length(const Case& c, const std::string& resolved, const std::string& with,
                  const std::string& hint) {
  if (resolved.size() <= data::kMostConfigBytes) return;
  throw data::InputError(
      data::Diagnostic{.number = 103,
                       .place = {c.config.path()},
                       .message = "has " + bytes_text(static_cast<double>(resolved.size())) +
                                  " with " + with + ", more than the " +
                                  bytes_text(static_cast<double>(data::kMostConfigBytes)) +
                                  " that a configuration may have",
                       .hint = hint},
      data::ExitCode::config_invalid);
}

namespace {

/// What a function of a case throws, told at the keys of the case where it is of these.
template <class F>
auto with_keys(const data::Config& config, F f) {
  return [&config, f = std::move(f)](auto&&... of) {
    try {
      return f(std::forward<decltype(of)>(of)...);
    } catch (const data::InputError& e) {
      throw data::InputError(e.code(), at_keys(config, e.findings()));
    }
  };
}

}  // namespace

Ready prepare(const Case& c, const RunOptions& options, bool for_derivatives) {
  Ready out{std::make_unique<data::InputFiles>(), {}};
  out.made = with_keys(c.config, c.app.prepare)(AppContext{c.config, options, for_derivatives});
  PreparedCase& made = out.made;
  made.check = with_keys(c.config, [&config = c.config, check = std::move(made.check)] {
    CheckReport report = check();
    report.findings = at_keys(config, std::move(report.findings));
    return report;
  });
  made.run = with_keys(c.config, std::move(made.run));
  made.estimate = with_keys(c.config, std::move(made.estimate));
  out.files->complete();
  return out;
}

}  // namespace tessera::apps
