// SPDX-License-Identifier: Apache-2.0
// What `resume` goes on with: the case that the folder holds, if it is the one that was run, and
// the changes of `--set`.
#include "support/report.h"
#include "tessera/data/checkpoint.h"
#include "tessera/data/file_io.h"
#include "tessera/data/manifest.h"
#include "tessera/data/run.h"
#include "tessera/data/sha256.h"
#include "verbs/verbs.h"

#include <fmt/format.h>

#include <algorithm>

namespace tessera::apps {
namespace {

bool same(const data::Value& a, const data::Value& b) {
  return std::visit(
      [&](const auto& left) {
        using T = std::decay_t<decltype(left)>;
        const T* right = b.get<T>();
        if (!right) return false;
        if constexpr (std::is_same_v<T, data::Date>)
          return left.text == right->text;
        else if constexpr (std::is_same_v<T, data::Array>)
          return std::ranges::equal(left, *right, same);
        else if constexpr (std::is_same_v<T, data::Table>)
          return std::ranges::equal(left, *right, [](const data::Member& m, const data::Member& n) {
            return m.key == n.key && same(m.value, n.value);
          });
        else
          return left == *right;
      },
      a.data);
}

/// Keys whose values differ, "stage[0].nsteps"; a null table has none.
void add_differences(const data::Table* a, const data::Table* b, const std::string& path,
                     std::vector<std::string>& out) {
  const auto compare = [&](const data::Value* x, const data::Value* y, const std::string& name) {
    const auto* below_x = x ? x->get<data::Table>() : nullptr;
    const auto* below_y = y ? y->get<data::Table>() : nullptr;
    const auto* list_x = x ? x->get<data::Array>() : nullptr;
    const auto* list_y = y ? y->get<data::Array>() : nullptr;
    const auto tables = [](const data::Array* l) {
      return l &&
             std::ranges::all_of(*l, [](const data::Value& v) { return v.get<data::Table>(); });
    };
    if ((below_x || !x) && (below_y || !y)) {
      add_differences(below_x, below_y, name, out);
    } else if (tables(list_x) && tables(list_y) && list_x->size() == list_y->size()) {
      for (std::size_t i = 0; i < list_x->size(); ++i)
        add_differences((*list_x)[i].get<data::Table>(), (*list_y)[i].get<data::Table>(),
                        fmt::format("{}[{}]", name, i), out);
    } else if (!x || !y || !same(*x, *y)) {
      out.push_back(name);
    }
  };
  const auto full = [&](const std::string& key) { return path.empty() ? key : path + "." + key; };
  const auto value_in = [](const data::Table* t, const std::string& key) {
    const data::Member* m = t ? data::find(*t, key) : nullptr;
    return m ? &m->value : nullptr;
  };
  if (a)
    for (const data::Member& m : *a) compare(&m.value, value_in(b, m.key), full(m.key));
  if (b)
    for (const data::Member& m : *b)
      if (!value_in(a, m.key)) compare(nullptr, &m.value, full(m.key));
}

std::string without_numbers(const std::string& key) {
  std::string out;
  bool inside = false;
  for (const char c : key) {
    inside = inside || c == '[';
    if (!inside) out += c;
    if (c == ']') inside = false;
  }
  return out;
}

bool may_change(const App& app, const std::string& key) {
  const std::string name = without_numbers(key);
  return std::ranges::any_of(
      app.may_change, [&](const std::string& k) { return name == k || name.starts_with(k + "."); });
}

/// The configuration with its changes, and as resolved.toml.
struct Changed {
  TakenUp with;
  std::string resolved;
};

/// Throws with every change that this run cannot take.
Changed change(const data::RunFolder& folder, const std::string& resolved,
               const CommandLine& line) {
  auto with = std::make_unique<const Case>(read_case(folder.resolved_toml(), line.overrides));
  const Case& c = *with;
  std::string text = resolved_text(c);
  // What the values are counts, not how they are written: a parameter may change where all that is
  // made of it may.
  const data::OptionTable& table = c.app.options.get();
  const data::Config before = data::parse_config(
                         "resolved.toml",
                         table.resolved_values_toml(data::parse_config("resolved.toml", resolved))),
                     after =
                         data::parse_config("resolved.toml", table.resolved_values_toml(c.config));
  std::vector<std::string> keys;
  add_differences(&before.table(), &after.table(), "", keys);
  std::vector<data::Diagnostic> findings;
  for (const std::string& key : keys)
    if (!may_change(c.app, key))
      findings.push_back(c.config.error(
          435, key, "'" + key + "' may not change within a run: its results would be of two cases",
          c.app.may_change.empty() ? "start a new run"
                                   : fmt::format("start a new run; what may change: {}",
                                                 fmt::join(c.app.may_change, ", "))));
  if (!findings.empty())
    throw data::InputError(data::ExitCode::config_invalid, std::move(findings));
  if (text == resolved) return {{std::move(with), {}}, resolved};
  Ready ready = prepare(c, line.run);
  const CheckReport inputs = ready.made.check();
  if (stops(inputs, line.run))
    throw data::InputError(data::ExitCode::input_invalid, inputs.findings);
  if (ready.made.against)
    if (const auto loaded = data::load_newest_checkpoint(folder.checkpoints()))
      findings = ready.made.against(loaded->checkpoint);
  if (has_errors(findings))
    throw data::InputError(data::ExitCode::config_invalid, std::move(findings));
  return {{std::move(with), std::move(ready)}, std::move(text)};
}

}  // namespace

std::optional<TakenUp> take_up(const data::RunFolder& folder, data::Manifest& now, bool finished,
                               const CommandLine& line) {
  const std::string resolved = data::read_file(folder.resolved_toml(), data::kMostConfigBytes),
                    hash = data::sha256_hex(resolved);
  data::Diagnostic edited{.number = 417,
                          .place = {.file = folder.resolved_toml().string()},
                          .message = {},
                          .hint = {},
                          .source_line = {}};
  if (hash != now.config_sha256) {
    if (now.changes.empty() || now.changes.back().config_sha256 != hash) {
      edited.message =
          "has been edited since the run began: what it has done so far is not of this case";
      edited.hint =
          "restore it; to go on with another end or other output: tessera resume RUN --set "
          "KEY=VALUE";
      throw data::InputError(std::move(edited), data::ExitCode::config_invalid);
    }
    // Killed between the manifest that names a change and the file that has it.
    edited.severity = data::Severity::warning;
    edited.message = fmt::format("does not have the change of a resume that was killed: {}",
                                 fmt::join(now.changes.back().set, ", "));
    edited.hint = "give it again";
    report({edited}, false);
    now.config_sha256 = hash;
    now.changes.pop_back();
  }
  if (finished && line.overrides.empty()) return {};
  Changed changed = change(folder, resolved, line);
  if (changed.with.c->app.name != now.app)
    throw usage_error("the run is of " + now.app + " but resolved.toml names " +
                      changed.with.c->app.name);
  if (changed.resolved == resolved) {
    if (finished) return {};
    return std::move(changed.with);
  }
  now.changes.push_back({data::utc_now(), line.overrides, hash});
  now.config_sha256 = data::sha256_hex(changed.resolved);
  folder.write_manifest(now);
  folder.write_text("resolved.toml", changed.resolved);
  return std::move(changed.with);
}

}  // namespace tessera::apps
