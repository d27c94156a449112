// SPDX-License-Identifier: Apache-2.0
//
// Trees of tensors: what a differentiated function may take and return. A Tensor; a vector, array, pair or
// tuple of trees; or a struct that lists its members with TESSERA_TREE(Struct, a, b, ...).
#pragma once
#include <array>
#include <tuple>
#include <utility>
#include <vector>

#include "tessera/autodiff/tensor.h"

namespace tessera {

template <class T>
struct Tree;  // visit(tree, f): f(leaf) for every tensor, in order

template <>
struct Tree<Tensor> {
  template <class T, class F>
  static void visit(T& t, F&& f) { f(t); }
};
template <class E>
struct Tree<std::vector<E>> {
  template <class T, class F>
  static void visit(T& t, F&& f) {
    for (auto& e : t) Tree<E>::visit(e, f);
  }
};
template <class E, std::size_t N>
struct Tree<std::array<E, N>> {
  template <class T, class F>
  static void visit(T& t, F&& f) {
    for (auto& e : t) Tree<E>::visit(e, f);
  }
};
template <class... E>
struct Tree<std::tuple<E...>> {
  template <class T, class F>
  static void visit(T& t, F&& f) {
    std::apply([&](auto&... e) { (Tree<std::remove_cvref_t<decltype(e)>>::visit(e, f), ...); }, t);
  }
};
template <class A, class B>
struct Tree<std::pair<A, B>> {
  template <class T, class F>
  static void visit(T& t, F&& f) {
    Tree<A>::visit(t.first, f);
    Tree<B>::visit(t.second, f);
  }
};
template <class T>
  requires requires(T& t) { t.tessera_leaves(); }
struct Tree<T> {
  template <class U, class F>
  static void visit(U& t, F&& f) {
    auto leaves = t.tessera_leaves();
    Tree<decltype(leaves)>::visit(leaves, f);
  }
};
template <class E>
struct Tree<E&> : Tree<std::remove_const_t<E>> {};

/// Inside a struct: its tensors (or trees), in order.
#define TESSERA_TREE(...)                                        \
  auto tessera_leaves() { return std::tie(__VA_ARGS__); }        \
  auto tessera_leaves() const { return std::tie(__VA_ARGS__); }

template <class T>
concept IsTree = requires { sizeof(Tree<std::remove_cvref_t<T>>); };

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
