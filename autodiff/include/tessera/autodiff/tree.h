// SPDX-License-Identifier: Apache-2.0
//
// Trees of tensors: what a differentiated function may take and return. A Tensor; a vector, array,
// pair, tuple or optional of trees; or a struct that lists its members with TESSERA_TREE(a, b,
// ...), and those that are no tensors (counts, switches, names) with TESSERA_STATIC(n, ...).
#pragma once
#include "tessera/autodiff/tensor.h"

#include <array>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace tessera {

/// All that two trees of one type may differ in beside their tensors: lengths of vectors, static
/// members.
using TreeStructure = std::vector<std::uint64_t>;

template <class T>
struct Tree;  // visit(tree, f): f(leaf) for every tensor, in order; describe(tree, s) appends the
              // tree's structure, name(tree, path, names) the name of every tensor

using LeafNames = std::vector<std::string>;

namespace detail {
/// The name of a part of what is called `path`.
inline std::string part_of(const std::string& path, std::string_view part) {
  return path.empty() ? std::string(part) : path + "." + std::string(part);
}
template <class Trees>
void name_parts(const Trees& trees, const std::string& path, LeafNames& names);
}  // namespace detail

template <>
struct Tree<Tensor> {
  template <class T, class F>
  static void visit(T& t, F&& f) {
    f(t);
  }
  static void describe(const Tensor&, TreeStructure&) {}
  static void name(const Tensor&, const std::string& path, LeafNames& names) {
    names.push_back(path);
  }
};
template <class E>
struct Tree<std::vector<E>> {
  template <class T, class F>
  static void visit(T& t, F&& f) {
    for (auto& e : t) Tree<E>::visit(e, f);
  }
  static void describe(const std::vector<E>& t, TreeStructure& s) {
    s.push_back(t.size());
    for (const E& e : t) Tree<E>::describe(e, s);
  }
  static void name(const std::vector<E>& t, const std::string& path, LeafNames& names) {
    detail::name_parts(t, path, names);
  }
};
template <class E>
struct Tree<std::optional<E>> {
  template <class T, class F>
  static void visit(T& t, F&& f) {
    if (t) Tree<E>::visit(*t, f);
  }
  static void describe(const std::optional<E>& t, TreeStructure& s) {
    s.push_back(t.has_value());
    if (t) Tree<E>::describe(*t, s);
  }
  static void name(const std::optional<E>& t, const std::string& path, LeafNames& names) {
    if (t) Tree<E>::name(*t, path, names);
  }
};
template <class E, std::size_t N>
struct Tree<std::array<E, N>> {
  template <class T, class F>
  static void visit(T& t, F&& f) {
    for (auto& e : t) Tree<E>::visit(e, f);
  }
  static void describe(const std::array<E, N>& t, TreeStructure& s) {
    for (const E& e : t) Tree<E>::describe(e, s);
  }
  static void name(const std::array<E, N>& t, const std::string& path, LeafNames& names) {
    detail::name_parts(t, path, names);
  }
};
template <class... E>
struct Tree<std::tuple<E...>> {
  template <class T, class F>
  static void visit(T& t, F&& f) {
    std::apply([&](auto&... e) { (Tree<std::remove_cvref_t<decltype(e)>>::visit(e, f), ...); }, t);
  }
  static void describe(const std::tuple<E...>& t, TreeStructure& s) {
    std::apply(
        [&](const auto&... e) { (Tree<std::remove_cvref_t<decltype(e)>>::describe(e, s), ...); },
        t);
  }
  /// Of members by `parts`, else by their numbers.
  static void name(const std::tuple<E...>& t, const std::string& path, LeafNames& names,
                   std::span<const std::string> parts = {}) {
    std::size_t k = 0;
    const auto part = [&] {
      const std::size_t n = k++;
      return detail::part_of(path, parts.empty() ? std::to_string(n) : parts[n]);
    };
    std::apply(
        [&](const auto&... e) {
          (Tree<std::remove_cvref_t<decltype(e)>>::name(e, part(), names), ...);
        },
        t);
  }
};
template <class A, class B>
struct Tree<std::pair<A, B>> {
  template <class T, class F>
  static void visit(T& t, F&& f) {
    Tree<A>::visit(t.first, f);
    Tree<B>::visit(t.second, f);
  }
  static void describe(const std::pair<A, B>& t, TreeStructure& s) {
    Tree<A>::describe(t.first, s);
    Tree<B>::describe(t.second, s);
  }
  static void name(const std::pair<A, B>& t, const std::string& path, LeafNames& names) {
    Tree<A>::name(t.first, detail::part_of(path, "0"), names);
    Tree<B>::name(t.second, detail::part_of(path, "1"), names);
  }
};

namespace detail {
template <class Trees>
void name_parts(const Trees& trees, const std::string& path, LeafNames& names) {
  std::size_t k = 0;
  for (const auto& e : trees)
    Tree<std::remove_cvref_t<decltype(e)>>::name(e, part_of(path, std::to_string(k++)), names);
}
/// "w, b_, v" -> w, b, v: members as TESSERA_TREE lists them, private ones without their last mark.
std::vector<std::string> member_names(std::string_view list);

template <class T>
void describe_static(const T& value, TreeStructure& s) {
  if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T>) {
    static_assert(sizeof(T) <= 8, "TESSERA_STATIC: long double is not taken");
    std::memcpy(&s.emplace_back(0), &value, sizeof value);
  } else if constexpr (requires { value.begin(), value.end(), value.size(); }) {
    s.push_back(value.size());
    for (const auto& e : value) describe_static(e, s);
  } else {
    static_assert(std::is_arithmetic_v<T>,
                  "TESSERA_STATIC takes numbers, bools, enumerations, strings and vectors of them");
  }
}
template <class Tuple>
constexpr std::size_t sizes_of_members = 0;
template <class... M>
constexpr std::size_t sizes_of_members<std::tuple<M...>> = (std::size_t(0) + ... +
                                                            sizeof(std::remove_reference_t<M>));
}  // namespace detail

template <class T>
requires requires(T& t) { t.tessera_leaves(); }
struct Tree<T> {
  template <class U, class F>
  static void visit(U& t, F&& f) {
    auto leaves = t.tessera_leaves();
    Tree<decltype(leaves)>::visit(leaves, f);
  }
  static void describe(const T& t, TreeStructure& s) {
    const auto leaves = t.tessera_leaves();
    if constexpr (requires { t.tessera_statics(); }) {
      std::apply([&](const auto&... m) { (detail::describe_static(m, s), ...); },
                 t.tessera_statics());
    } else {
      static_assert(sizeof(T) == detail::sizes_of_members<std::remove_const_t<decltype(leaves)>>,
                    "this struct has members that TESSERA_TREE does not list, so that two of them "
                    "cannot be told apart: list them with TESSERA_STATIC");
    }
    Tree<std::remove_const_t<decltype(leaves)>>::describe(leaves, s);
  }
  static void name(const T& t, const std::string& path, LeafNames& names) {
    const auto leaves = t.tessera_leaves();
    Tree<std::remove_const_t<decltype(leaves)>>::name(leaves, path, names,
                                                      detail::member_names(T::tessera_members()));
  }
};
template <class E>
struct Tree<E&> : Tree<std::remove_const_t<E>> {};

/// Inside a struct: its tensors (or trees), in order.
#define TESSERA_TREE(...)                                       \
  auto tessera_leaves() { return std::tie(__VA_ARGS__); }       \
  auto tessera_leaves() const { return std::tie(__VA_ARGS__); } \
  static constexpr std::string_view tessera_members() { return #__VA_ARGS__; }

/// Inside a struct: its members that are no tensors. A function that is compiled once (`jit`) is
/// compiled anew for other values.
#define TESSERA_STATIC(...) \
  auto tessera_statics() const { return std::tie(__VA_ARGS__); }

template <class T>
concept IsTree = requires {
  sizeof(Tree<std::remove_cvref_t<T>>);
};

template <IsTree T>
void flatten_into(const T& tree, std::vector<Tensor>& leaves) {
  Tree<T>::visit(tree, [&](const Tensor& t) { leaves.push_back(t); });
}
template <IsTree... T>
std::vector<Tensor> flatten_tree(const T&... trees) {
  std::vector<Tensor> leaves;
  (flatten_into(trees, leaves), ...);
  return leaves;
}
/// The leaves of trees that are given away: the trees keep no tensor.
template <IsTree T>
void take_leaves(T& tree, std::vector<Tensor>& leaves) {
  Tree<T>::visit(tree, [&](Tensor& t) { leaves.push_back(std::move(t)); });
}
/// A name for every leaf, in order: members of structs by their names, elements of vectors and
/// tuples by their numbers, as in "layers.0.w". A tensor that is a tree by itself has the name
/// `path`.
template <IsTree T>
LeafNames leaf_names(const T& tree, const std::string& path = "") {
  LeafNames names;
  Tree<T>::name(tree, path, names);
  return names;
}
template <IsTree... T>
TreeStructure structure_of(const T&... trees) {
  TreeStructure s;
  (Tree<T>::describe(trees, s), ...);
  return s;
}
/// A tree of the shape of `like` with leaves taken from `next` on.
template <IsTree T>
T unflatten_tree(const T& like, const Tensor*& next) {
  T tree = like;
  Tree<T>::visit(tree, [&](Tensor& t) { t = *next++; });
  return tree;
}
template <IsTree T>
T unflatten_tree(const T& like, const std::vector<Tensor>& leaves) {
  const Tensor* next = leaves.data();
  return unflatten_tree(like, next);
}

}  // namespace tessera
