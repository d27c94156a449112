// SPDX-License-Identifier: Apache-2.0
// JSON schema (draft-07) of an option table, for editors and for tools that generate
// configurations.
#include "options_text.h"
#include "tessera/data/options.h"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace tessera::data {
namespace {

using Json = nlohmann::ordered_json;

Json item_schema(const OptionSpec& s) {
  const Field& f = s.field;
  Json j;
  switch (s.type) {
    case OptionType::boolean:
      j["type"] = "boolean";
      break;
    case OptionType::integer: {
      const auto [low, high] = detail::integer_range(s);
      j["type"] = "integer";
      if (low > std::numeric_limits<std::int64_t>::min()) j["minimum"] = low;
      if (high < std::numeric_limits<std::int64_t>::max()) j["maximum"] = high;
      break;
    }
    case OptionType::real:
      j["type"] = "number";
      if (f.min) j["minimum"] = *f.min;
      if (f.above) j["exclusiveMinimum"] = *f.above;
      if (f.max) j["maximum"] = *f.max;
      break;
    case OptionType::quantity:
      // Bare numbers are for pure numbers, and for files that say units = "SI". Ranges hold in a
      // unit: not for a schema.
      j["type"] = {"string", "number"};
      j["pattern"] =
          "^-?[0-9]+(\\.[0-9]+)?([eE][+-]?[0-9]+)?[ \\t]*[^ "
          "\\t].*$|^-?[0-9]+(\\.[0-9]+)?([eE][+-]?[0-9]+)?$";
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
  }
  return j;
}

void require(Json& table, const std::string& name) {
  Json& list = table["required"];
  if (list.is_null()) list = Json::array();
  if (std::find(list.begin(), list.end(), name) == list.end()) list.push_back(name);
}

}  // namespace

std::string OptionTable::json_schema() const {
  const auto table = [] {
    return Json{
        {"type", "object"}, {"additionalProperties", false}, {"properties", Json::object()}};
  };
  Json root = {{"$schema", "http://json-schema.org/draft-07/schema#"},
               {"title", app_},
               {"description", doc_}};
  root.update(table());
  root["properties"]["app"] = {{"const", app_},
                               {"description", "which app this configuration is for"}};
  root["properties"]["units"] = {{"const", "SI"}, {"description", "bare numbers are in SI units"}};
  root["properties"]["include"] = {
      {"type", "array"}, {"items", {{"type", "string"}}}, {"description", "files to read first"}};
  root["required"] = {"app"};
  for (const OptionSpec& s : specs_) {
    Json* level = &root;
    std::size_t begin = 0;
    for (std::size_t dot; (dot = s.key.find('.', begin)) != std::string::npos; begin = dot + 1) {
      Json& properties = (*level)["properties"];
      const std::string part = s.key.substr(begin, dot - begin);
      if (!properties.contains(part)) properties[part] = table();
      if (s.field.required) require(*level, part);
      level = &properties[part];
    }
    const std::string name = s.key.substr(begin);
    Json j = s.list ? Json{{"type", "array"},
                           {"items", item_schema(s)},
                           {"minItems", s.field.min_items},
                           {"maxItems", s.field.max_items}}
                    : item_schema(s);
    std::string text = s.field.doc;
    const std::string range = detail::range_text(s);
    if (!range.empty()) text += " (" + range + ")";
    j["description"] = text;
    if (s.default_value.set && !s.field.required)
      j["default"] = Json::parse(detail::toml_text(s, s.default_value));
    (*level)["properties"][name] = std::move(j);
    if (s.field.required) require(*level, name);
  }
  return root.dump(2) + "\n";
}

}  // namespace tessera::data
