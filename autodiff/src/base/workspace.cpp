// SPDX-License-Identifier: Apache-2.0
#include "workspace.h"

#include "context.h"
#include "memory_internal.h"
#include "scratch.h"

#include <algorithm>
#include <new>

namespace tessera::detail {

Workspace::Workspace(std::byte* begin, std::size_t bytes)
    : begin_(begin), end_(begin + bytes), free_(new (begin) Piece{nullptr, bytes}) {}

void* Workspace::take(std::size_t bytes) {
  const std::size_t need = whole_lines(bytes);
  std::lock_guard lock(mutex_);
  for (Piece** link = &free_; *link; link = &(*link)->next) {
    Piece* const p = *link;
    if (p->bytes < need) continue;
    taken_ += need, most_ = std::max(most_, taken_);
    p->bytes -= need;  // its end is taken
    if (p->bytes == 0) *link = p->next;
    return reinterpret_cast<std::byte*>(p) + p->bytes;
  }
  missed_ += need;
  return nullptr;
}

bool Workspace::give(void* p, std::size_t bytes) {
  std::byte* const at = static_cast<std::byte*>(p);
  if (at < begin_ || at >= end_) return false;
  const std::size_t length = whole_lines(bytes);
  std::lock_guard lock(mutex_);
  taken_ -= length;
  Piece *before = nullptr, *after = free_;
  for (; after && after < p; after = after->next) before = after;
  Piece* const piece = new (at) Piece{after, length};
  if (piece->end() == reinterpret_cast<std::byte*>(after)) {
    piece->bytes += after->bytes;
    piece->next = after->next;
  }
  if (before && before->end() == at) {
    before->bytes += piece->bytes;
    before->next = piece->next;
  } else {
    (before ? before->next : free_) = piece;
  }
  return true;
}

Workspace* current_workspace() { return context().workspace; }

void* take_scratch(Workspace* from, std::size_t bytes) {
  void* const piece = from ? from->take(bytes) : nullptr;
  return piece ? piece : allocate(bytes);
}
void give_scratch(Workspace* from, void* p, std::size_t bytes) {
  if (!from || !from->give(p, bytes)) deallocate(p, bytes);
}

}  // namespace tessera::detail
