// SPDX-License-Identifier: Apache-2.0
//
// A std::variant of trees is a tree: that of the alternative that it holds, whose leaves have the
// variant's own name before theirs.
#pragma once
#include "tessera/autodiff/tree.h"

#include <variant>

namespace tessera {

template <class... E>
struct Tree<std::variant<E...>> {
  template <class T, class F>
  static void visit(T& t, F&& f) {
    std::visit([&](auto& e) { Tree<std::remove_cvref_t<decltype(e)>>::visit(e, f); }, t);
  }
  static void describe(const std::variant<E...>& t, TreeStructure& s) {
    s.push_back(t.index());
    std::visit([&](const auto& e) { Tree<std::remove_cvref_t<decltype(e)>>::describe(e, s); }, t);
  }
  static void name(const std::variant<E...>& t, const std::string& path, LeafNames& names) {
    std::visit([&](const auto& e) { Tree<std::remove_cvref_t<decltype(e)>>::name(e, path, names); },
               t);
  }
};

}  // namespace tessera
