// SPDX-License-Identifier: Apache-2.0
//
// Memory that a kernel needs while it runs: of the workspace that was set aside for it, and beyond
// that of the engine's, which keeps what was freed; so the steps of a plan ask nothing of the
// system once they have run.
#pragma once
#include "memory_internal.h"
#include "workspace.h"

#include <cstddef>
#include <new>
#include <type_traits>
#include <utility>
#include <vector>

namespace tessera::detail {

/// Of the kernel that this thread runs; null: nothing was set aside.
Workspace* current_workspace();
/// A piece of it, or a block of the engine's where it has none.
void* take_scratch(Workspace* from, std::size_t bytes);
void give_scratch(Workspace* from, void* p, std::size_t bytes);

/// Elements that are not said to have a value have none.
struct Unfilled {
  template <class U>
  void construct(U* p) {
    ::new (static_cast<void*>(p)) U;
  }
  template <class U, class... A>
  void construct(U* p, A&&... a) {
    ::new (static_cast<void*>(p)) U(std::forward<A>(a)...);
  }
};

template <class T>
class ScratchAllocator : public Unfilled {
 public:
  using value_type = T;
  using propagate_on_container_move_assignment = std::true_type;
  using propagate_on_container_swap = std::true_type;
  ScratchAllocator() : from_(current_workspace()) {}
  template <class U>
  ScratchAllocator(const ScratchAllocator<U>& o) : from_(o.from()) {}
  T* allocate(std::size_t n) { return static_cast<T*>(take_scratch(from_, n * sizeof(T))); }
  void deallocate(T* p, std::size_t n) { give_scratch(from_, p, n * sizeof(T)); }
  Workspace* from() const { return from_; }
  template <class U>
  bool operator==(const ScratchAllocator<U>& o) const {
    return from_ == o.from();
  }

 private:
  Workspace* from_;
};

/// A vector of it, aligned to 64 bytes, that is gone when the kernel ends; `Scratch<T>(n)` is not
/// filled.
template <class T>
using Scratch = std::vector<T, ScratchAllocator<T>>;

template <class T>
struct ListAllocator : Unfilled {
  using value_type = T;
  ListAllocator() = default;
  template <class U>
  ListAllocator(const ListAllocator<U>&) {}
  T* allocate(std::size_t n) { return static_cast<T*>(detail::allocate(n * sizeof(T))); }
  void deallocate(T* p, std::size_t n) { detail::deallocate(p, n * sizeof(T)); }
  bool operator==(const ListAllocator&) const = default;
};

/// The same of the engine's memory, not of the workspace: lists, and what a thread keeps.
template <class T>
using List = std::vector<T, ListAllocator<T>>;

/// n elements of it, not filled; of bool, too.
template <class T>
class ScratchArray {
  static_assert(std::is_trivially_destructible_v<T>);

 public:
  explicit ScratchArray(std::size_t n) : memory_(n * sizeof(T)) {}
  bool empty() const { return memory_.empty(); }
  T* data() { return reinterpret_cast<T*>(memory_.data()); }
  T& operator[](std::size_t k) { return data()[k]; }

 private:
  Scratch<std::byte> memory_;
};

}  // namespace tessera::detail
