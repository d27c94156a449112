// SPDX-License-Identifier: Apache-2.0
// What `tessera info FILE` says of JSON, configurations or other.
#include "info/info_formats.h"
#include "tessera/data/diagnostic.h"
#include "tessera/data/text_file.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <utility>

namespace tessera::data {
namespace {

using Json = nlohmann::ordered_json;
constexpr int kMostDepth = 64;

void put(InfoNode& parent, const std::string& name, const Json& v, int depth) {
  InfoNode& node = parent.add(name);
  if (v.is_object() && depth < kMostDepth) {
    for (const auto& [key, child] : v.items()) put(node, key, child, depth + 1);
  } else if (v.is_structured()) {
    node.value = (v.is_array() ? "list of " : "table of ") + std::to_string(v.size());
  } else if (v.is_string()) {
    node.value = v.get<std::string>();
  } else if (v.is_boolean()) {
    node.value = v.get<bool>();
  } else if (v.is_number_unsigned() && !std::in_range<std::int64_t>(v.get<std::uint64_t>())) {
    node.value = v.dump();
  } else if (v.is_number_integer()) {
    node.value = v.get<std::int64_t>();
  } else if (v.is_number()) {
    node.value = v.get<double>();
  } else {
    node.value = std::string("null");
  }
}

}  // namespace

InfoNode json_info(const std::filesystem::path& path) {
  const TextFile text = read_text_file(path);
  InfoNode node = file_node(path);
  try {
    const Json all = Json::parse(text.text);
    if (!all.is_object())
      put(node, "value", all, 0);
    else
      for (const auto& [key, child] : all.items()) put(node, key, child, 0);
  } catch (const Json::parse_error& e) {
    const std::string what =
        e.what();  // "[json.exception...] parse error at line 1, column 2: what was wrong"
    const std::size_t at = what.find(": ");
    throw InputError(
        text.error(111, e.byte > 0 ? e.byte - 1 : 0,
                   "not JSON: " + (at == std::string::npos ? what : what.substr(at + 2))));
  } catch (const Json::out_of_range& e) {  // "[json.exception...] number overflow parsing '1e999'"
    const std::string what = e.what();
    const std::size_t number = std::min(what.find('\''), what.size());
    throw InputError(Diagnostic{.number = 114,
                                .place = {.file = text.path},
                                .message = "the number " + what.substr(number) +
                                           " is out of the range of double precision"});
  }
  return node;
}

}  // namespace tessera::data
