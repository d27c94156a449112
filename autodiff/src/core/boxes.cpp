// SPDX-License-Identifier: Apache-2.0
#include "boxes.h"

#include <unordered_map>

namespace tessera {

namespace detail {
namespace {
std::unordered_map<const Primitive*, BoxRuleFn>& rules_for_boxes() {
  static std::unordered_map<const Primitive*, BoxRuleFn> rules;
  return rules;
}
}  // namespace
bool register_boxes(const Primitive& p, BoxRuleFn rule) {
  return rules_for_boxes().emplace(&p, rule).second;
}
BoxRuleFn boxes_of(const Primitive& p) {
  const auto& rules = rules_for_boxes();
  const auto it = rules.find(&p);
  return it == rules.end() ? nullptr : it->second;
}
}  // namespace detail

}  // namespace tessera
