// SPDX-License-Identifier: Apache-2.0
// Reading a configuration through the option table, and everything that can be wrong with it.
#include "tessera/data/options.h"

#include "config_readers.h"
#include "options_text.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <stdexcept>

namespace tessera::data {
namespace {

using detail::in_quotes;
constexpr std::size_t kMaxFindings = 50;

/// Keys that every configuration may hold besides those of its app.
bool common_key(std::string_view key) { return key == "app" || key == "units"; }

/// One pass over a configuration. Findings beyond the cap are counted, not built.
class Pass {
 public:
  Pass(const OptionTable& table, void* target, const Config& config)
      : table_(table), target_(target), config_(config) {}

  std::vector<Diagnostic> run() {
    for (const Diagnostic& d : config_.findings) keep(d);
    check_head();
    walk(config_.table(), "");
    for (const OptionSpec& spec : table_.specs())
      if (spec.field.required && !seen_.contains(spec.key)) missing(spec);
    std::stable_sort(findings_.begin(), findings_.end(),
                     [](const Diagnostic& a, const Diagnostic& b) {
                       return std::tie(a.place.file, a.place.line, a.place.column) <
                              std::tie(b.place.file, b.place.line, b.place.column);
                     });
    if (count_ > kMaxFindings)
      findings_.push_back(Diagnostic{
          .severity = Severity::note,
          .place = {config_.path(), 0, 0, {}},
          .message = std::to_string(count_ - kMaxFindings) + " more errors are not shown"});
    return std::move(findings_);
  }

 private:
  bool room() { return ++count_ <= kMaxFindings; }
  void keep(Diagnostic d) {
    if (room()) findings_.push_back(std::move(d));
  }
  void error(int number, const Origin& at, std::string message, std::string hint = {}) {
    if (room()) findings_.push_back(config_.error(number, at, std::move(message), std::move(hint)));
  }

  void check_head() {
    if (const Member* app = find(config_.table(), "app")) {
      const auto* name = app->value.get<std::string>();
      if (!name)
        error(201, app->value.origin,
              std::string("'app' must be a string, got ") + app->value.kind());
      else if (*name != table_.app())
        error(202, app->value.origin,
              "app is " + in_quotes(*name) + ", expected '" + table_.app() + "'");
    } else {
      error(201, {0, 1, 1}, "the key 'app' is missing", "write app = \"" + table_.app() + "\"");
    }
    if (const Member* units = find(config_.table(), "units")) {
      const auto* name = units->value.get<std::string>();
      if (name && *name == "SI")
        bare_si_ = true;
      else
        error(215, units->value.origin, "'units' must be \"SI\"",
              "leave it out and give each value its unit");
    }
  }

  void walk(const Table& level, const std::string& prefix) {
    for (const Member& m : level) {
      if (prefix.empty() && common_key(m.key)) continue;
      const std::string path = prefix.empty() ? m.key : prefix + "." + m.key;
      if (const OptionSpec* spec = table_.find(path)) {
        seen_.insert(spec->key);
        read(*spec, m.value);
      } else if (section(path)) {
        if (const Table* below = m.value.get<Table>())
          walk(*below, path);
        else
          error(210, m.value.origin, "expected the table [" + path + "], got " + m.value.kind());
      } else {
        unknown(m, path, prefix);
      }
    }
  }

  bool section(const std::string& path) const {
    const auto& specs = table_.specs();
    return std::any_of(specs.begin(), specs.end(), [&](const OptionSpec& s) {
      return s.key.size() > path.size() && s.key[path.size()] == '.' &&
             s.key.compare(0, path.size(), path) == 0;
    });
  }

  void unknown(const Member& m, const std::string& path, const std::string& prefix) {
    if (!room()) return;
    const auto near = table_.nearest(path);
    std::string hint;
    if (!near.empty()) {
      const std::string& best = near.front();
      const bool same_section =
          !prefix.empty() && best.compare(0, prefix.size() + 1, prefix + ".") == 0;
      hint = "did you mean '" + (same_section ? best.substr(prefix.size() + 1) : best) + "'?";
    }
    findings_.push_back(config_.error(213, m.origin,
                                      (m.value.get<Table>() ? "unknown table " : "unknown key ") +
                                          in_quotes(m.key) +
                                          (prefix.empty() ? "" : " in [" + prefix + "]"),
                                      std::move(hint)));
  }

  void missing(const OptionSpec& spec) {
    // The place is the section's header where there is one.
    Origin at{0, 1, 1};
    const Table* level = &config_.table();
    std::size_t begin = 0;
    for (std::size_t dot; (dot = spec.key.find('.', begin)) != std::string::npos; begin = dot + 1) {
      const Member* m = find(*level, spec.key.substr(begin, dot - begin));
      if (!m || !m->value.get<Table>()) break;
      at = m->origin;
      level = m->value.get<Table>();
    }
    error(216, at, "the key '" + spec.key + "' is missing: " + spec.field.doc);
  }

  void read(const OptionSpec& spec, const Value& v) {
    OptionValue out;
    const std::size_t before = count_;
    if (spec.list) {
      const Array* items = v.get<Array>();
      if (!items)
        return error(210, v.origin,
                     "'" + spec.key + "' must be " + detail::type_text(spec) + ", got " + v.kind());
      if (items->size() < spec.field.min_items || items->size() > spec.field.max_items)
        return error(218, v.origin,
                     "'" + spec.key + "' must have " + detail::count_text(spec) + ", got " +
                         std::to_string(items->size()));
      out.items.reserve(items->size());
      for (const Value& item : *items) out.items.push_back(scalar(spec, item));
    } else {
      out.items.push_back(scalar(spec, v));
    }
    if (count_ == before) spec.assign(target_, out);
  }

  static std::string name(const OptionSpec& spec) {
    return (spec.list ? "items of '" : "'") + spec.key + "'";
  }

  void wrong_type(const OptionSpec& spec, const Value& v, std::string hint = {}) {
    std::string got = v.kind();
    if (const auto* s = v.get<std::string>()) got += " " + in_quotes(*s);
    error(210, v.origin, name(spec) + " must be " + detail::item_text(spec) + ", got " + got,
          std::move(hint));
  }

  OptionScalar scalar(const OptionSpec& spec, const Value& v) {
    switch (spec.type) {
      case OptionType::boolean:
        if (const bool* b = v.get<bool>()) return *b;
        wrong_type(spec, v, "write true or false");
        return false;
      case OptionType::integer:
        return integer(spec, v);
      case OptionType::real:
      case OptionType::quantity:
        return real(spec, v);
      case OptionType::string:
      case OptionType::choice:
        return text(spec, v);
      case OptionType::path:
        return path(spec, v);
    }
    return false;
  }

  OptionScalar integer(const OptionSpec& spec, const Value& v) {
    const auto* i = v.get<std::int64_t>();
    if (!i) {
      wrong_type(spec, v);
      return std::int64_t{0};
    }
    const auto [lowest, highest] = detail::integer_range(spec);
    if (*i < lowest || *i > highest)
      error(214, v.origin,
            name(spec) + " must be " + detail::range_text(spec) + ", got " + std::to_string(*i));
    return *i;
  }

  OptionScalar real(const OptionSpec& spec, const Value& v) {
    double value = 0;
    std::string got;
    if (const auto* s = v.get<std::string>(); s && spec.type == OptionType::quantity) {
      try {
        value = parse_quantity(*s, spec.dimension);
      } catch (const QuantityError& e) {
        Origin at = v.origin;
        // A plain one-line string: point into it. Escapes are rare in quantities and would only
        // shift the caret.
        if (at.line && e.number() == 211) at.column += static_cast<std::uint32_t>(1 + e.offset());
        error(e.number(), at, name(spec) + " = " + in_quotes(*s) + ": " + e.what(),
              e.hint().empty() || e.number() == 212
                  ? "e.g. \"" + detail::example_quantity(spec) + "\""
                  : e.hint());
        return 0.0;
      }
      got = *s;
    } else if (const auto* i = v.get<std::int64_t>()) {
      value = static_cast<double>(*i);
      got = std::to_string(*i);
    } else if (const auto* d = v.get<double>()) {
      value = *d;
      got = print_quantity(std::isfinite(*d) ? *d : 0, "");
      if (!std::isfinite(*d)) return 0.0;  // told when the file was read
    } else {
      wrong_type(spec, v);
      return 0.0;
    }
    const bool bare = !v.get<std::string>();
    if (bare && !(spec.dimension == dimension::number) && !bare_si_) {
      error(212, v.origin,
            name(spec) + ": expected " + dimension_name(spec.dimension) +
                " with its unit, got the bare number " + got,
            "write \"" + got + " " + spec.field.unit + "\"");
      return 0.0;
    }
    if (!detail::in_range(spec, value))
      error(214, v.origin,
            name(spec) + " must be " + detail::range_text(spec) + ", got " + in_quotes(got),
            bare && !spec.field.unit.empty() && spec.dimension == dimension::number
                ? "write \"" + got + " " + spec.field.unit + "\" if that is meant"
                : "");
    return value;
  }

  OptionScalar text(const OptionSpec& spec, const Value& v) {
    const auto* s = v.get<std::string>();
    std::string raw;
    if (!s && v.origin.line == 0) {
      // `--set title=12`: the shell has no quotes to give.
      const std::string& line = config_.sources.at(v.origin.source).text;
      if (!v.get<Array>() && !v.get<Table>() && !spec.list) {
        raw = line.substr(line.find('=') + 1);
        s = &raw;
      }
    }
    if (!s) {
      wrong_type(spec, v);
      return spec.type == OptionType::choice ? OptionScalar(std::int64_t{0})
                                             : OptionScalar(std::string());
    }
    const auto& choices = spec.field.choices;
    const auto at = std::find(choices.begin(), choices.end(), *s);
    if (!choices.empty() && at == choices.end())
      error(215, v.origin,
            name(spec) + " must be " + detail::choices_text(spec) + ", got " + in_quotes(*s),
            detail::nearest_hint(*s, choices));
    if (spec.type == OptionType::choice) return static_cast<std::int64_t>(at - choices.begin());
    if (s->find('\0') != std::string::npos)
      error(210, v.origin, name(spec) + " holds a NUL character");
    return *s;
  }

  OptionScalar path(const OptionSpec& spec, const Value& v) {
    const auto* s = v.get<std::string>();
    if (!s) {
      wrong_type(spec, v);
      return std::string();
    }
    if (s->empty() || s->find('\0') != std::string::npos) {
      error(210, v.origin, name(spec) + " must be a path, got " + in_quotes(*s));
      return std::string();
    }
    // Paths on the command line start where the user stands, those in a file where the file lies.
    std::filesystem::path base = std::filesystem::current_path();
    if (v.origin.line)
      base /= std::filesystem::path(config_.sources.at(v.origin.source).path).parent_path();
    return (base / *s).lexically_normal().string();
  }

  const OptionTable& table_;
  void* target_;
  const Config& config_;
  bool bare_si_ = false;
  std::set<std::string> seen_;
  std::vector<Diagnostic> findings_;
  std::size_t count_ = 0;
};

}  // namespace

void OptionTable::add_spec(OptionSpec spec) {
  const auto wrong = [&](const std::string& what) {
    throw std::logic_error("option '" + spec.key + "' of " + app_ + ": " + what);
  };
  const Field& f = spec.field;
  if (spec.key.empty() || common_key(spec.key) || spec.key == "include")
    wrong("key is not allowed");
  if (find(spec.key)) wrong("declared twice");
  if (f.doc.empty()) wrong("has no doc");
  for (const OptionSpec& other : specs_)
    for (const auto& [a, b] : {std::pair(spec.key, other.key), std::pair(other.key, spec.key)})
      if (b.compare(0, a.size() + 1, a + ".") == 0) wrong("is both a key and a table");
  if (spec.type == OptionType::quantity)
    spec.dimension = parse_unit(f.unit).dimension;
  else if (!f.unit.empty())
    wrong("has a unit but is no real number");
  if (spec.type == OptionType::choice && f.choices.empty()) wrong("is an enum without names");
  if (f.required && spec.optional) wrong("is both required and optional");
  if (!f.required) {
    for (const OptionScalar& s : spec.default_value.items) {
      if (const double* d = std::get_if<double>(&s);
          d && (!std::isfinite(*d) || !detail::in_range(spec, *d)))
        wrong("default is out of range");
      if (const auto* i = std::get_if<std::int64_t>(&s)) {
        const auto [lowest, highest] = detail::integer_range(spec);
        if (spec.type == OptionType::integer && (*i < lowest || *i > highest))
          wrong("default is out of range");
        if (spec.type == OptionType::choice &&
            (*i < 0 || *i >= static_cast<std::int64_t>(f.choices.size())))
          wrong("default has no name");
      }
    }
  }
  specs_.push_back(std::move(spec));
}

const OptionSpec* OptionTable::find(std::string_view key) const {
  for (const OptionSpec& s : specs_)
    if (s.key == key) return &s;
  return nullptr;
}

std::vector<Diagnostic> OptionTable::read_into(void* target, const Config& config) const {
  return Pass(*this, target, config).run();
}

std::vector<Diagnostic> OptionTable::check(const Config& config) const {
  const auto values = make();
  return read_into(values.get(), config);
}

std::string OptionTable::resolved_toml(const Config& config) const {
  const auto values = make();
  std::vector<Diagnostic> findings = read_into(values.get(), config);
  if (!findings.empty()) throw InputError(ExitCode::config_invalid, std::move(findings));
  return resolved_toml(values.get());
}

}  // namespace tessera::data
