// SPDX-License-Identifier: Apache-2.0
// What the keys are, for people: `tessera explain KEY` and the reference pages.
#include "options/options_text.h"
#include "tessera/data/options.h"

namespace tessera::data {
namespace {

/// "structure[2].radius" -> "structure.radius"
std::string without_numbers(std::string_view key) {
  std::string out;
  while (!key.empty()) {
    if (const std::size_t n = detail::item_number_length(key)) {
      key.remove_prefix(n);
    } else {
      out += key[0];
      key.remove_prefix(1);
    }
  }
  return out;
}

const OptionTable& table_around(const OptionTable& top, const std::string& key,
                                const OptionSpec& spec) {
  return key == spec.key ? top : *top.find(key.substr(0, key.size() - spec.key.size() - 1))->table;
}

/// Which keys a table takes, by kinds where there are any.
std::string keys_text(const OptionTable& table) {
  const auto line = [&](std::string_view kind, const std::string& head) {
    std::string out;
    for (const OptionSpec& s : table.specs())
      if (detail::belongs(s, kind) && (kind.empty() || table.kind() != &s))
        out += (out.empty() ? "" : ", ") + s.key + (detail::required(s, kind) ? "*" : "");
    return "  " + head + out + "\n";
  };
  if (!table.kind()) return line("", "keys: ");
  std::string out;
  for (const std::string& kind : table.kind()->field.choices)
    out += line(kind, table.kind()->key + " = \"" + kind + "\": ");
  return out + "  (* has to be given)\n";
}

std::string kinds_text(const OptionTable& table, const std::vector<std::string>& names) {
  return table.kind()->key + " = " + detail::quoted_list(names);
}

/// A row of the page for each key of the table, then the tables within.
void add_rows(const OptionTable& table, const std::string& path, std::string& page) {
  page += "| key | type | default | range | meaning | since |\n|---|---|---|---|---|---|\n";
  const auto cell = [](std::string text) {
    for (std::size_t at = 0; (at = text.find('|', at)) != std::string::npos; at += 2)
      text.insert(at, "\\");
    return text;
  };
  for (const OptionSpec& s : table.specs()) {
    const Field& f = s.field;
    std::string fallback = detail::required(s, "") || f.required ? "required"
                           : s.table && s.list                   ? "none"
                           : !s.default_value.set                ? "not set"
                           : s.table                             ? "see below"
                                     : "`" + detail::toml_text(s, s.default_value) + "`";
    if (!f.required_for.empty())
      fallback += "; required for " + detail::quoted_list(f.required_for);
    std::string meaning = f.doc;
    if (!f.only_for.empty())
      meaning += std::string(meaning.ends_with('.') ? "" : ".") + " Only for " +
                 kinds_text(table, f.only_for) + ".";
    page += "| `" + s.key + "` | " + cell(detail::type_text(s)) + " | " + cell(fallback) + " | " +
            cell(s.table && s.list ? detail::count_text(s) : detail::range_text(s)) + " | " +
            cell(meaning) + " | " + f.since + " |\n";
  }
  for (const OptionSpec& s : table.specs()) {
    if (!s.table) continue;
    const std::string full = path.empty() ? s.key : path + "." + s.key;
    page += "\n## `" + (s.list ? "[[" + full + "]]" : "[" + full + "]") + "`\n\n" + s.table->doc() +
            "\n\n";
    add_rows(*s.table, full, page);
  }
}

}  // namespace

std::string OptionTable::explain(std::string_view key) const {
  const OptionSpec* s = find(key);
  if (!s) return {};
  const std::string name = without_numbers(key);
  const Field& f = s->field;
  const OptionTable& around = table_around(*this, name, *s);
  std::string out = name + "\n  " + f.doc + "\n  type: " + detail::type_text(*s) + "\n";
  const std::string range = detail::range_text(*s);
  if (!range.empty()) out += "  range: " + range + "\n";
  if (s->list) out += "  length: " + detail::count_text(*s) + "\n";
  if (!f.only_for.empty()) out += "  only for: " + kinds_text(around, f.only_for) + "\n";
  if (!f.required_for.empty())
    out += "  required for: " + kinds_text(around, f.required_for) + "\n";
  if (f.required)
    out += "  required: there is no default\n";
  else if (!s->default_value.set)
    out += s->table && s->list ? "  default: none\n" : "  default: not set\n";
  else if (!s->table)
    out += "  default: " + detail::toml_text(*s, s->default_value) + "\n";
  if (s->table) out += keys_text(*s->table);
  return out + "  app: " + app_ + ", since " + f.since + "\n";
}

std::string OptionTable::reference_page() const {
  std::string out = "# Options of `" + app_ + "`\n\n" + doc_ +
                    "\n\nGenerated from the option table; do not edit.\n\n";
  add_rows(*this, "", out);
  return out;
}

}  // namespace tessera::data
