// SPDX-License-Identifier: Apache-2.0
// Walks a configuration table by table beside the option tables, and tells everything that is
// wrong with it.
#include "options/config_readers.h"
#include "options/options_findings.h"
#include "options/options_text.h"
#include "options/options_value.h"
#include "tessera/data/options.h"
#include "tessera/data/parameters.h"

#include <algorithm>
#include <set>

namespace tessera::data {
namespace {

using detail::in_quotes;

/// One table of the configuration and the struct that it fills.
struct Frame {
  const OptionTable& table;
  void* target;
  std::string path;  ///< "structure[2]"; empty for the configuration itself
  Origin at;         ///< of its header or brace; of the table around it where it is not given
  std::string kind;  ///< empty where it has none, or none that can be known
  std::set<const OptionSpec*> seen = {};

  std::string full(const std::string& key) const { return path.empty() ? key : path + "." + key; }
};

class Pass {
 public:
  Pass(const OptionTable& table, const Config& config, ParameterUse& use)
      : table_(table), config_(config), use_(use), findings_(config) {}

  std::vector<Diagnostic> run(void* target) {
    check_head();
    std::vector<Diagnostic> wrong;
    use_.parameters = Parameters(config_, wrong);
    findings_.add(std::move(wrong));
    detail::ValueReader values(config_, bare_si_, use_, findings_);
    values_ = &values;
    read_table(table_, target, "", {0, 1, 1}, config_.table());
    if (findings_.count() == 0) find_unused();
    return std::move(findings_).sorted();
  }

 private:
  void find_unused() {
    std::set<std::uint32_t> used;
    for (const Parameter& p : use_.parameters.all())
      used.insert(p.expression.names().begin(), p.expression.names().end());
    for (const DependentValue& v : use_.values)
      used.insert(v.expression.names().begin(), v.expression.names().end());
    const auto& all = use_.parameters.all();
    for (std::uint32_t n = 0; n < all.size(); ++n) {
      if (used.contains(n) || !findings_.room()) continue;
      Diagnostic d =
          config_.error(225, all[n].key, "parameter " + in_quotes(all[n].name) + " is not used",
                        "use it in an expression, or leave it out");
      d.severity = Severity::warning;
      findings_.keep(std::move(d));
    }
  }

  void check_head() {
    if (const Member* app = find(config_.table(), "app")) {
      const auto* name = app->value.get<std::string>();
      if (!name)
        findings_.error(201, app->value.origin,
                        std::string("'app' must be a string, got ") + app->value.kind());
      else if (*name != table_.app())
        findings_.error(202, app->value.origin,
                        "app is " + in_quotes(*name) + ", expected '" + table_.app() + "'");
    } else {
      findings_.error(201, {0, 1, 1}, "the key 'app' is missing",
                      "write app = \"" + table_.app() + "\"");
    }
    if (const Member* units = find(config_.table(), "units")) {
      const auto* name = units->value.get<std::string>();
      if (name && *name == "SI")
        bare_si_ = true;
      else
        findings_.error(215, units->value.origin, "'units' must be \"SI\"",
                        "leave it out and give each value its unit");
    }
  }

  void read_table(const OptionTable& table, void* target, const std::string& path, const Origin& at,
                  const Table& level) {
    Frame frame{table, target, path, at, kind_in(table, level)};
    walk(frame, level, "");
    for (const OptionSpec& spec : table.specs()) {
      if (frame.seen.contains(&spec)) continue;
      const bool plain_table = spec.table && !spec.list && !spec.optional;
      if (detail::required(spec, frame.kind))
        missing(frame, level, spec);
      else if (plain_table && detail::belongs(spec, frame.kind))
        read_table(*spec.table, spec.item(target, 0), frame.full(spec.key), at, {});
    }
  }

  /// The kind that a table is of; empty where it does not say or says none that there is.
  static std::string kind_in(const OptionTable& table, const Table& level) {
    const OptionSpec* spec = table.kind();
    if (!spec) return {};
    const Member* m = find(level, spec->key);
    if (!m) return spec->field.required ? "" : detail::choice_name(*spec, spec->default_value);
    const auto* name = m->value.get<std::string>();
    const auto& kinds = spec->field.choices;
    return name && std::find(kinds.begin(), kinds.end(), *name) != kinds.end() ? *name : "";
  }

  void walk(Frame& frame, const Table& level, const std::string& prefix) {
    for (const Member& m : level) {
      if (frame.path.empty() && prefix.empty() && detail::common_key(m.key)) continue;
      const std::string key = prefix.empty() ? m.key : prefix + "." + m.key;
      if (!is_one_name(m.key)) {
        unknown(frame, m, key, prefix);
      } else if (const OptionSpec* spec = own(frame.table, key)) {
        frame.seen.insert(spec);
        if (!detail::belongs(*spec, frame.kind))
          of_another_kind(frame, *spec, m);
        else if (!spec->table)
          read_value(frame, *spec, m.value);
        else if (spec->list)
          read_list(frame, *spec, m.value);
        else
          read_single(frame, *spec, m);
      } else if (section(frame.table, key)) {
        if (const Table* below = m.value.get<Table>())
          walk(frame, *below, key);
        else
          findings_.error(210, m.value.origin,
                          "expected the table [" + frame.full(key) + "], got " + m.value.kind());
      } else {
        unknown(frame, m, key, prefix);
      }
    }
  }

  /// Not a path as "grid.size" or "source[1]" in quotes, of which messages alone are made.
  static bool is_one_name(const std::string& key) {
    return key.find_first_of(".[") == std::string::npos;
  }
  /// The option of this very table, not of one within.
  static const OptionSpec* own(const OptionTable& table, const std::string& key) {
    const auto found = std::find_if(table.specs().begin(), table.specs().end(),
                                    [&](const OptionSpec& s) { return s.key == key; });
    return found == table.specs().end() ? nullptr : &*found;
  }

  static bool section(const OptionTable& table, const std::string& path) {
    return std::any_of(table.specs().begin(), table.specs().end(), [&](const OptionSpec& s) {
      return s.key.size() > path.size() && s.key[path.size()] == '.' &&
             s.key.compare(0, path.size(), path) == 0;
    });
  }

  void read_value(const Frame& frame, const OptionSpec& spec, const Value& v) {
    if (const auto value = values_->read(spec, frame.full(spec.key), v))
      spec.assign(frame.target, *value);
  }

  void read_single(const Frame& frame, const OptionSpec& spec, const Member& m) {
    const std::string path = frame.full(spec.key);
    const Table* level = m.value.get<Table>();
    if (!level)
      return findings_.error(210, m.value.origin,
                             "expected the table [" + path + "], got " + m.value.kind());
    spec.resize(frame.target, 1);
    read_table(*spec.table, spec.item(frame.target, 0), path, m.origin, *level);
  }

  void read_list(const Frame& frame, const OptionSpec& spec, const Value& v) {
    const std::string path = frame.full(spec.key);
    const Array* items = v.get<Array>();
    if (!items)
      return findings_.error(
          210, v.origin, "'" + path + "' must be a list of tables, got " + v.kind(),
          frame.path.empty() ? "write [[" + path + "]]" : "write " + spec.key + " = [{...}]");
    if (items->size() < spec.field.min_items || items->size() > spec.field.max_items)
      return findings_.error(218, v.origin,
                             "'" + path + "' must have " + detail::count_text(spec) + ", got " +
                                 std::to_string(items->size()));
    spec.resize(frame.target, items->size());
    for (std::size_t i = 0; i < items->size(); ++i) {
      const Value& item = (*items)[i];
      const std::string name = path + "[" + std::to_string(i) + "]";
      if (const Table* level = item.get<Table>())
        read_table(*spec.table, spec.item(frame.target, i), name, item.origin, *level);
      else
        findings_.error(210, item.origin, "'" + name + "' must be a table, got " + item.kind());
    }
  }

  void unknown(const Frame& frame, const Member& m, const std::string& key,
               const std::string& prefix) {
    if (!findings_.room()) return;
    const std::string around = prefix.empty() ? frame.path : frame.full(prefix);
    const bool is_item = around.ends_with(']');
    const Array* list = m.value.get<Array>();
    const bool is_table =
        m.value.get<Table>() || (list && !list->empty() && (*list)[0].get<Table>());
    findings_.keep(config_.error(
        213, m.origin,
        (is_table ? "unknown table " : "unknown key ") + in_quotes(m.key) +
            (around.empty() ? "" : " in " + (is_item ? around : "[" + around + "]")),
        is_one_name(m.key) ? suggestion(frame, key, prefix)
                           : "a name in quotes is one key; each table has its own keys within it"));
  }

  /// The nearest key of this table, at best one of this kind; else the table of the app that has
  /// the very key; else, of a table within, all that it takes.
  std::string suggestion(const Frame& frame, const std::string& key, const std::string& prefix) {
    std::vector<std::string> near = frame.table.nearest(key);
    const auto fits = [&](const std::string& k) {
      return detail::belongs(*frame.table.find(k), frame.kind);
    };
    std::stable_partition(near.begin(), near.end(), fits);
    if (near.empty() && !frame.path.empty()) {
      for (const OptionSpec& s : frame.table.specs())
        if (key.size() >= 3 && (s.key.starts_with(key) || key.starts_with(s.key + "_")) &&
            detail::belongs(s, frame.kind))
          near.push_back(s.key);
      for (const NamedOption& o : table_.all())
        if (o.key.ends_with("." + key)) near.push_back(o.key);
      if (near.empty()) return "there are " + keys_of(frame);
    }
    if (near.empty()) return {};
    const std::string& best = near.front();
    const bool same_section =
        !prefix.empty() && best.compare(0, prefix.size() + 1, prefix + ".") == 0;
    return "did you mean '" + (same_section ? best.substr(prefix.size() + 1) : best) + "'?";
  }

  /// What a table of this kind takes besides the key that says the kind.
  static std::string keys_of(const Frame& frame) {
    std::string out;
    for (const OptionSpec& s : frame.table.specs())
      if (&s != frame.table.kind() && detail::belongs(s, frame.kind))
        out += (out.empty() ? "" : ", ") + s.key;
    return out;
  }

  void of_another_kind(const Frame& frame, const OptionSpec& spec, const Member& m) {
    findings_.error(219, m.origin,
                    "'" + frame.full(spec.key) + "' is no key of " + frame.table.kind()->key +
                        " = \"" + frame.kind + "\": it belongs to " +
                        detail::quoted_list(spec.field.only_for),
                    "\"" + frame.kind + "\" takes " + keys_of(frame));
  }

  void missing(const Frame& frame, const Table& level, const OptionSpec& spec) {
    // The place is the section's header where there is one.
    Origin at = frame.at;
    const Table* around = &level;
    std::size_t begin = 0;
    for (std::size_t dot; (dot = spec.key.find('.', begin)) != std::string::npos; begin = dot + 1) {
      const Member* m = find(*around, spec.key.substr(begin, dot - begin));
      if (!m || !m->value.get<Table>()) break;
      at = m->origin;
      around = m->value.get<Table>();
    }
    const std::string name = frame.full(spec.key);
    const std::string what = !spec.table ? "the key '" + name + "' is missing"
                             : spec.list ? "there is no [[" + name + "]]"
                                         : "the table [" + name + "] is missing";
    const bool by_kind = !spec.field.only_for.empty() || !spec.field.required_for.empty();
    findings_.error(
        216, at,
        what + ": " + spec.field.doc +
            (by_kind ? " (" + frame.table.kind()->key + " = \"" + frame.kind + "\" needs it)"
                     : ""));
  }

  const OptionTable& table_;
  const Config& config_;
  ParameterUse& use_;
  detail::Findings findings_;
  detail::ValueReader* values_ = nullptr;
  bool bare_si_ = false;
};

}  // namespace

std::vector<Diagnostic> OptionTable::read_into(void* target, const Config& config,
                                               ParameterUse& use) const {
  return Pass(*this, config, use).run(target);
}
std::vector<Diagnostic> OptionTable::read_into(void* target, const Config& config) const {
  ParameterUse use;
  return read_into(target, config, use);
}

ParameterUse OptionTable::parameter_use(const Config& config) const {
  ParameterUse use;
  std::vector<Diagnostic> findings = read_into(make().get(), config, use);
  for (const Diagnostic& d : findings)
    if (d.severity == Severity::error)
      throw InputError(ExitCode::config_invalid, std::move(findings));
  return use;
}

void OptionTable::read_or_throw(void* target, const Config& config) const {
  std::vector<Diagnostic> findings = read_into(target, config);
  for (const Diagnostic& d : findings)
    if (d.severity == Severity::error)
      throw InputError(ExitCode::config_invalid, std::move(findings));
}

std::vector<Diagnostic> OptionTable::check(const Config& config) const {
  const auto values = make();
  return read_into(values.get(), config);
}

}  // namespace tessera::data
