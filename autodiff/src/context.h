// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "tessera/autodiff/where.h"

namespace tessera::detail {

/// What this thread is doing, for error messages: the transforms in force and the user's line.
struct Context {
  std::vector<const char*> transforms;
  Where where;
};
Context& context();

/// A transform's name in error messages while it lives.
class InTransform {
 public:
  explicit InTransform(const char* name) { context().transforms.push_back(name); }
  ~InTransform() { context().transforms.pop_back(); }
  InTransform(const InTransform&) = delete;
};

}  // namespace tessera::detail
