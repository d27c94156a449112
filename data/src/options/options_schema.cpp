// SPDX-License-Identifier: Apache-2.0
// JSON schema (draft-07) of an option table, for editors and for tools that generate
// configurations.
#include "options/options_text.h"
#include "tessera/data/options.h"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace tessera::data {
namespace {

using Json = nlohmann::ordered_json;

Json scalar_schema(const OptionSpec& s) {
  const Field& f = s.field;
  Json j;
  switch (s.type) {
    case OptionType::boolean:
      j["type"] = "boolean";
      break;
    case OptionType::integer: {
      const auto [low, high] = detail::integer_range(s);
      j["type"] = {"integer", "string"};  // an expression
      if (low > std::numeric_limits<std::int64_t>::min()) j["minimum"] = low;
      if (high < std::numeric_limits<std::int64_t>::max()) j["maximum"] = high;
      break;
    }
    case OptionType::real:
      j["type"] = {"number", "string"};
      if (f.min) j["minimum"] = *f.min;
      if (f.above) j["exclusiveMinimum"] = *f.above;
      if (f.max) j["maximum"] = *f.max;
      break;
    case OptionType::quantity:
      // Bare numbers are for pure numbers, and for files that say units = "SI". Ranges hold in a
      // unit: not for a schema. An expression may begin with a name, too.
      j["type"] = {"string", "number"};
      j["pattern"] = "^-?[ \\t]*[0-9A-Za-z_(].*$";
      j["examples"] = {detail::example_quantity(s)};
      break;
    case OptionType::string:
      j["type"] = "string";
      if (!f.choices.empty()) j["enum"] = f.choices;
      break;
    case OptionType::path:
      j["type"] = "string";
      j["minLength"] = 1;
      break;
    case OptionType::choice:
      j["enum"] = f.choices;
      break;
    case OptionType::table:
      break;  // the schema of its keys
  }
  return j;
}

Json list_schema(Json items, std::size_t least, std::size_t most) {
  return Json{
      {"type", "array"}, {"items", std::move(items)}, {"minItems", least}, {"maxItems", most}};
}

Json empty_table() {
  return Json{{"type", "object"}, {"additionalProperties", false}, {"properties", Json::object()}};
}

void require(Json& table, const std::string& name) {
  Json& list = table["required"];
  if (list.is_null()) list = Json::array();
  if (std::find(list.begin(), list.end(), name) == list.end()) list.push_back(name);
}

void fill(Json& table, const OptionTable& options);

Json option_schema(const OptionSpec& s) {
  const Field& f = s.field;
  Json one;
  if (s.table) {
    one = empty_table();
    fill(one, *s.table);
  } else {
    one = scalar_schema(s);
  }
  Json j;
  if (!s.list)
    j = std::move(one);
  else if (f.one_for_all)
    j = Json{{"anyOf", Json::array({one, list_schema(one, f.min_items, f.max_items)})}};
  else
    j = list_schema(s.row ? list_schema(std::move(one), s.row, s.row) : std::move(one), f.min_items,
                    f.max_items);
  const std::string range = detail::range_text(s);
  j["description"] = f.doc + (range.empty() ? "" : " (" + range + ")");
  if (!s.table && s.default_value.set && !f.required)
    j["default"] = Json::parse(detail::toml_text(s, s.default_value));
  return j;
}

/// Whether a configuration without this table lacks a key.
bool needed(const OptionSpec& s) {
  if (!s.table || s.list || s.optional || s.field.required) return detail::required(s, "");
  const auto& below = s.table->specs();
  return s.field.only_for.empty() && std::any_of(below.begin(), below.end(), needed);
}

/// For each kind: what it needs besides, and what it does not take.
void add_kinds(Json& table, const OptionTable& options) {
  const OptionSpec& kind_key = *options.kind();
  for (const std::string& kind : kind_key.field.choices) {
    Json then = Json::object();
    for (const OptionSpec& s : options.specs()) {
      if (!detail::belongs(s, kind))
        then["properties"][s.key] = false;
      else if (detail::required(s, kind) && !detail::required(s, ""))
        require(then, s.key);
    }
    if (then.empty()) continue;
    Json when = {{"properties", {{kind_key.key, {{"const", kind}}}}}};
    const bool by_default =
        !kind_key.field.required && detail::choice_name(kind_key, kind_key.default_value) == kind;
    if (!by_default) when["required"] = {kind_key.key};
    table["allOf"].push_back({{"if", std::move(when)}, {"then", std::move(then)}});
  }
}

void fill(Json& table, const OptionTable& options) {
  for (const OptionSpec& s : options.specs()) {
    Json* level = &table;
    std::size_t begin = 0;
    const bool is_needed = needed(s);
    for (std::size_t dot; (dot = s.key.find('.', begin)) != std::string::npos; begin = dot + 1) {
      Json& properties = (*level)["properties"];
      const std::string part = s.key.substr(begin, dot - begin);
      if (!properties.contains(part)) properties[part] = empty_table();
      if (is_needed) require(*level, part);
      level = &properties[part];
    }
    const std::string name = s.key.substr(begin);
    (*level)["properties"][name] = option_schema(s);
    if (is_needed) require(*level, name);
  }
  if (options.kind()) add_kinds(table, options);
}

}  // namespace

std::string OptionTable::json_schema() const {
  Json root = {{"$schema", "http://json-schema.org/draft-07/schema#"},
               {"title", app_},
               {"description", doc_}};
  root.update(empty_table());
  root["properties"]["app"]["const"] = app_;
  root["properties"]["units"]["const"] = "SI";
  root["properties"]["include"] = {{"type", "array"}, {"items", {{"type", "string"}}}};
  root["properties"]["parameters"] = {{"type", "object"},
                                      {"additionalProperties", {{"type", {"string", "number"}}}},
                                      {"propertyNames", {{"pattern", "^[A-Za-z_][A-Za-z0-9_]*$"}}}};
  root["properties"]["sweep"] = {{"type", "object"},
                                 {"properties",
                                  {{"kind", {{"enum", {"grid", "together", "latin_hypercube"}}}},
                                   {"over", {{"type", "object"}}},
                                   {"count", {{"type", "integer"}}},
                                   {"seed", {{"type", "integer"}}}}},
                                 {"additionalProperties", false}};
  for (const CommonKey& c : common_keys()) {
    Json* at = &root;
    std::size_t begin = 0;
    for (std::size_t dot; (dot = c.key.find('.', begin)) != std::string::npos; begin = dot + 1)
      at = &(*at)["properties"][c.key.substr(begin, dot - begin)];
    (*at)["properties"][c.key.substr(begin)]["description"] = c.doc;
  }
  root["required"] = {"app"};
  fill(root, *this);
  return root.dump(2) + "\n";
}

}  // namespace tessera::data
