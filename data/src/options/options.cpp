// SPDX-License-Identifier: Apache-2.0
// What a table of options knows of its keys. Mistakes in a declaration are found when it is made.
#include "tessera/data/options.h"

#include "options/options_text.h"
#include "tessera/data/expression.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <stdexcept>

namespace tessera::data {
namespace {

using Wrong = std::function<void(const std::string&)>;

/// "0.2" as its numbers; nothing where the text is no version.
std::optional<std::pair<int, int>> version_numbers(std::string_view text) {
  const char* const end = text.data() + text.size();
  std::pair<int, int> out;
  const auto [point, wrong_first] = std::from_chars(text.data(), end, out.first);
  if (wrong_first != std::errc() || point == end || *point != '.') return {};
  const auto [last, wrong_second] = std::from_chars(point + 1, end, out.second);
  if (wrong_second != std::errc() || last != end) return {};
  return out;
}

bool older(std::string_view a, std::string_view b) {
  return version_numbers(a) < version_numbers(b);
}

void check_field(const OptionSpec& spec, const Wrong& wrong) {
  const Field& f = spec.field;
  if (f.doc.empty()) wrong("has no doc");
  if (!version_numbers(f.since)) wrong("is since '" + f.since + "', which is no version");
  if (!f.unit.empty() && spec.type != OptionType::quantity)
    wrong("has a unit but is no real number");
  if ((!f.alternatives.empty() || f.infinite) && spec.type != OptionType::quantity)
    wrong("has alternatives but is no quantity");
  for (const Alternative& other : f.alternatives) {
    const Dimension d = parse_unit(other.unit).dimension;
    if (d == spec.dimension) wrong("is its own alternative");
    const Expression made = parse_expression_of_x(other.made, d);
    if (!(made.dimension() == spec.dimension))
      wrong("has an alternative that is made into " + dimension_name(made.dimension()));
  }
  if (spec.type == OptionType::choice && f.choices.empty()) wrong("is an enum without names");
  if (f.required && spec.optional) wrong("is both required and optional");
  if (f.one_for_all && (!spec.list || spec.row || (f.min_items > 1 && f.min_items != f.max_items)))
    wrong("is no list that one value can stand for");
}

void check_default(const OptionSpec& spec, const Wrong& wrong) {
  for (const OptionScalar& s : spec.default_value.items) {
    if (const double* d = std::get_if<double>(&s);
        d &&
        (std::isnan(*d) || (std::isinf(*d) && !spec.field.infinite) || !detail::in_range(spec, *d)))
      wrong("default is out of range");
    if (const auto* i = std::get_if<std::int64_t>(&s)) {
      const auto [lowest, highest] = detail::integer_range(spec);
      if (spec.type == OptionType::integer && (*i < lowest || *i > highest))
        wrong("default is out of range");
      if (spec.type == OptionType::choice &&
          (*i < 0 || *i >= static_cast<std::int64_t>(spec.field.choices.size())))
        wrong("default has no name");
    }
  }
}

/// The names of kinds are those that there are.
void check_kinds(const OptionSpec& spec, const OptionSpec* kind, const Wrong& wrong) {
  const Field& f = spec.field;
  const auto known = [](const std::vector<std::string>& some, const std::vector<std::string>& all) {
    return std::all_of(some.begin(), some.end(), [&](const std::string& name) {
      return std::find(all.begin(), all.end(), name) != all.end();
    });
  };
  if (f.only_for.empty() && f.required_for.empty()) return;
  if (!kind) return wrong("belongs to kinds, but no key says of which kind the table is");
  if (spec.key.find('.') != std::string::npos) wrong("belongs to kinds, but stands in a section");
  if (!known(f.only_for, kind->field.choices) || !known(f.required_for, kind->field.choices))
    wrong("belongs to a kind that there is not");
  if (!f.only_for.empty() && !known(f.required_for, f.only_for))
    wrong("is required for a kind that does not take it");
  if (f.required && !f.required_for.empty()) wrong("is required for some kinds and for all");
}

/// The struct around a table holds what the documentation of the table will say.
void check_defaults(const OptionTable& table, const void* values) {
  for (const OptionSpec& s : table.specs()) {
    if (s.table) continue;
    const OptionValue here = s.fetch(values);
    if (here.set != s.default_value.set || here.items != s.default_value.items)
      throw std::logic_error("option '" + s.key + "' of " + table.app() +
                             ": its default differs from that of the struct around it");
  }
}

}  // namespace

// Here, for a table is copied and destroyed wherever one is declared.
OptionTable::OptionTable(std::string app, std::string doc, std::string since,
                         std::function<std::shared_ptr<void>()> make)
    : app_(std::move(app)), doc_(std::move(doc)), since_(std::move(since)), make_(std::move(make)) {
  if (!version_numbers(since_))
    throw std::logic_error("options of " + app_ + ": since '" + since_ + "', which is no version");
}
OptionTable::OptionTable(const OptionTable&) = default;
OptionTable::OptionTable(OptionTable&&) noexcept = default;
OptionTable& OptionTable::operator=(const OptionTable&) = default;
OptionTable& OptionTable::operator=(OptionTable&&) noexcept = default;
OptionTable::~OptionTable() = default;

void OptionTable::add_member(std::string key, Field field, detail::Member member, bool kind) {
  const detail::MemberShape& shape = member.shape;
  if (shape.items) field.min_items = field.max_items = shape.items;
  OptionSpec spec;
  spec.key = std::move(key);
  const bool quantity = shape.type == OptionType::real && !field.unit.empty();
  spec.type = quantity ? OptionType::quantity : shape.type;
  spec.list = shape.list;
  spec.row = shape.row;
  spec.optional = shape.optional;
  spec.integer_min = shape.integer_min;
  spec.integer_max = shape.integer_max;
  spec.field = std::move(field);
  spec.assign = std::move(member.assign);
  spec.fetch = std::move(member.fetch);
  spec.default_value = spec.fetch(make().get());
  if (kind)
    add_kind_spec(std::move(spec));
  else
    add_spec(std::move(spec));
}

void OptionTable::add_table(std::string key, const OptionTable& table, Field field,
                            detail::TableMember member) {
  OptionSpec spec;
  spec.key = std::move(key);
  spec.type = OptionType::table;
  spec.list = member.list;
  spec.optional = member.optional;
  spec.field = std::move(field);
  spec.table = std::make_shared<const OptionTable>(table);
  spec.count = std::move(member.count);
  spec.resize = std::move(member.resize);
  spec.item = std::move(member.item);
  const std::shared_ptr<void> defaults = make();
  spec.default_value.set = spec.count(defaults.get()) != 0;
  if (!spec.list && !spec.optional) check_defaults(table, spec.item(defaults.get(), 0));
  add_spec(std::move(spec));
}

void OptionTable::add_spec(OptionSpec spec) {
  const Wrong wrong = [&](const std::string& what) {
    throw std::logic_error("option '" + spec.key + "' of " + app_ + ": " + what);
  };
  if (spec.key.empty() || detail::common_key(spec.key)) wrong("key is not allowed");
  for (const OptionSpec& other : specs_) {
    if (spec.key == other.key) wrong("declared twice");
    for (const auto& [a, b] : {std::pair(spec.key, other.key), std::pair(other.key, spec.key)})
      if (b.compare(0, a.size() + 1, a + ".") == 0) wrong("is both a key and a table");
  }
  if (spec.type == OptionType::quantity) spec.dimension = parse_unit(spec.field.unit).dimension;
  check_field(spec, wrong);
  check_kinds(spec, kind(), wrong);
  if (spec.table && spec.optional && spec.default_value.set)
    wrong("is an optional table that is set by default, so nothing could unset it");
  if (!spec.table && !spec.field.required) check_default(spec, wrong);
  no_older_than(since_, spec);
  specs_.push_back(std::move(spec));
}

/// A key is no older than what it stands in.
void OptionTable::no_older_than(const std::string& version, OptionSpec& spec) {
  const std::string& since = spec.field.since;
  if (older(since, version)) spec.field.since = version;
  const auto too_old = [&](const OptionSpec& s) { return older(s.field.since, since); };
  if (!spec.table || std::none_of(spec.table->specs_.begin(), spec.table->specs_.end(), too_old))
    return;
  auto table = std::make_shared<OptionTable>(*spec.table);
  for (OptionSpec& s : table->specs_) no_older_than(since, s);
  spec.table = std::move(table);
}

void OptionTable::add_kind_spec(OptionSpec spec) {
  const bool one_name = (spec.type == OptionType::choice || spec.type == OptionType::string) &&
                        !spec.list && !spec.optional && !spec.field.choices.empty();
  if (!kind_.empty() || !one_name || spec.key.find('.') != std::string::npos)
    throw std::logic_error("option '" + spec.key + "' of " + app_ +
                           ": a kind is one name out of choices, and there is one such key");
  std::string key = spec.key;
  add_spec(std::move(spec));
  kind_ = std::move(key);
}

const OptionSpec* OptionTable::kind() const {
  if (kind_.empty()) return nullptr;
  const auto at = std::find_if(specs_.begin(), specs_.end(),
                               [&](const OptionSpec& s) { return s.key == kind_; });
  return &*at;
}

std::vector<NamedOption> OptionTable::all() const {
  std::vector<NamedOption> out;
  for (const OptionSpec& s : specs_) {
    out.push_back({s.key, &s, false});
    if (!s.table) continue;
    for (NamedOption& below : s.table->all())
      out.push_back({s.key + "." + below.key, below.spec, s.list || below.in_list});
  }
  return out;
}

const OptionSpec* OptionTable::find(std::string_view key) const {
  for (const OptionSpec& s : specs_) {
    if (s.key == key) return &s;
    if (!s.table || !key.starts_with(s.key)) continue;
    std::string_view rest = key.substr(s.key.size());
    if (s.list) rest.remove_prefix(detail::item_number_length(rest));
    if (rest.empty()) return &s;
    if (rest[0] != '.') continue;
    if (const OptionSpec* below = s.table->find(rest.substr(1))) return below;
  }
  return nullptr;
}

std::vector<std::string> OptionTable::nearest(std::string_view key) const {
  const std::vector<NamedOption> known = all();
  std::vector<std::string> keys, tails;
  for (const NamedOption& o : known) {
    keys.push_back(o.key);
    tails.push_back(o.key.substr(o.key.rfind('.') == std::string::npos ? 0 : o.key.rfind('.') + 1));
  }
  std::vector<std::string> near = nearest_names(key, keys);
  // A key that is right but stands in another section, or was given without one.
  const std::string_view last =
      key.substr(key.rfind('.') == std::string_view::npos ? 0 : key.rfind('.') + 1);
  for (const std::string& tail : nearest_names(last, tails))
    for (const std::string& k : keys)
      if (k.size() >= tail.size() && k.compare(k.size() - tail.size(), tail.size(), tail) == 0 &&
          std::find(near.begin(), near.end(), k) == near.end())
        near.push_back(k);
  return near;
}

}  // namespace tessera::data
