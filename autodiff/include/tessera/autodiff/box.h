// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "tessera/autodiff/tensor.h"

#include <functional>

namespace tessera {

/// Positions begin, ..., end - 1 along every axis of an array.
struct Box {
  Shape begin, end;
  bool operator==(const Box&) const = default;
  Shape extents() const;
  bool empty() const;  ///< holds no position; one without axes holds one
  bool within(const Box& o) const;
};
Box whole_box(const Shape& s);
/// "[0, 512) x [512, 1024)"
std::string to_string(const Box& b);

/// An array that lies in a file, or is made as it is asked for, by boxes. `read` gives a concrete
/// row-major tensor of the box's extents, and may be called from any thread.
struct BoxSource {
  Type type;
  std::function<Tensor(const Box&)> read;
};
/// Where boxes of an array go, as they come: each position once.
using BoxSink = std::function<void(const Box&, const Tensor&)>;

}  // namespace tessera
