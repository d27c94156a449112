// SPDX-License-Identifier: Apache-2.0
// resolved.toml: every key with its value, as a configuration that reads back to equal values.
#include "options/options_text.h"
#include "tessera/data/options.h"
#include "tessera/data/parameters.h"

#include <algorithm>
#include <map>
#include <set>

namespace tessera::data {
namespace {

std::string section_of(const OptionSpec& s) {
  const std::size_t dot = s.key.rfind('.');
  return dot == std::string::npos ? std::string() : s.key.substr(0, dot);
}

class TomlWriter {
 public:
  /// `use` is what of the values is written as expressions.
  explicit TomlWriter(const ParameterUse& use = {}) : parameters_(use.parameters) {
    for (const DependentValue& v : use.values) expressions_[v.key][v.item] = v.text;
  }

  /// The keys of one table, then the tables within. `header` is the path of the table, empty for
  /// the configuration itself; `name` the same with the numbers of items.
  void write(const OptionTable& table, const void* values, const std::string& header,
             const std::string& name) {
    const OptionSpec* kind_key = table.kind();
    const std::string kind =
        kind_key ? detail::choice_name(*kind_key, kind_key->fetch(values)) : std::string();
    std::vector<const OptionSpec*> specs;
    for (const OptionSpec& s : table.specs())
      if (detail::belongs(s, kind)) specs.push_back(&s);

    const auto has_tables = [&](const OptionSpec& s) { return s.table && s.count(values) > 0; };
    std::vector<std::string> sections = {""};  // keys without a section come first, as TOML wants
    for (const OptionSpec* s : specs)
      if (!has_tables(*s) &&
          std::find(sections.begin(), sections.end(), section_of(*s)) == sections.end())
        sections.push_back(section_of(*s));
    for (const std::string& section : sections) {
      const std::string path = joined(header, section);
      if (!section.empty()) out += "\n[" + path + "]\n";
      for (const OptionSpec* s : specs)
        if (!has_tables(*s) && section_of(*s) == section) write_key(*s, values, path, name);
      if (header.empty() && section.empty()) write_parameters();
    }
    for (const OptionSpec* s : specs) {
      if (!s->table) continue;
      const std::string path = joined(header, s->key);
      for (std::size_t i = 0; i < s->count(values); ++i) {
        out += "\n";
        if (i == 0) out += "# " + s->field.doc + "\n";
        out += s->list ? "[[" + path + "]]\n" : "[" + path + "]\n";
        // Fetching changes nothing; `item` is made for reading, too.
        write(*s->table, s->item(const_cast<void*>(values), i), path,
              joined(name, s->key) + (s->list ? "[" + std::to_string(i) + "]" : ""));
      }
    }
  }

  std::string out;

 private:
  static std::string joined(const std::string& a, const std::string& b) {
    return a.empty() || b.empty() ? a + b : a + "." + b;
  }

  void write_parameters() {
    if (parameters_.empty()) return;
    out += "\n# Numbers with names, of which expressions are made.\n[parameters]\n";
    for (const Parameter& p : parameters_.all())
      out += p.name + " = " + (p.bare ? p.text : detail::toml_string(p.text)) + "\n";
  }

  void write_key(const OptionSpec& s, const void* values, const std::string& path,
                 const std::string& table) {
    const std::string name = s.key.substr(section_of(s).empty() ? 0 : section_of(s).size() + 1);
    if (said_.insert(joined(path, name)).second) {
      out += "# " + s.field.doc;
      const std::string range =
          s.type == OptionType::choice ? detail::choices_text(s) : detail::range_text(s);
      if (!range.empty()) out += " (" + range + ")";
      out += "\n";
    }
    const OptionValue value =
        s.table ? OptionValue{s.list && s.default_value.set, {}} : s.fetch(values);
    const auto instead = expressions_.find(joined(table, s.key));
    if (value.set)
      out += name + " = " +
             (instead == expressions_.end() ? detail::toml_text(s, value)
                                            : detail::toml_text(s, value, instead->second)) +
             "\n";
    else
      out += "# " + name + " is not set\n";
  }

  Parameters parameters_;
  std::map<std::string, detail::ItemTexts> expressions_;  ///< by full key
  std::set<std::string> said_;  ///< keys that were documented; in a list, the first item's are
};

std::string head(const OptionTable& table) {
  return "# Every option of " + table.app() + " with its value in this run. " +
         "`tessera explain KEY` says more.\napp = " + detail::toml_string(table.app()) + "\n";
}

void throw_errors(std::vector<Diagnostic> findings) {
  for (const Diagnostic& d : findings)
    if (d.severity == Severity::error)
      throw InputError(ExitCode::config_invalid, std::move(findings));
}

}  // namespace

std::string OptionTable::resolved_toml(const void* values) const {
  TomlWriter writer;
  writer.out = head(*this);
  writer.write(*this, values, "", "");
  return std::move(writer.out);
}

std::string OptionTable::resolved_toml(const Config& config) const {
  const auto values = make();
  ParameterUse use;
  throw_errors(read_into(values.get(), config, use));
  TomlWriter writer(use);
  writer.out = head(*this);
  writer.write(*this, values.get(), "", "");
  return std::move(writer.out);
}

std::string OptionTable::resolved_values_toml(const Config& config) const {
  const auto values = make();
  throw_errors(read_into(values.get(), config));
  return resolved_toml(values.get());
}

}  // namespace tessera::data
