// SPDX-License-Identifier: Apache-2.0
#include "loops_internal.h"

namespace tessera::detail {

const Program& Body::program() const {
  std::call_once(compiled_, [this] { program_ = compile(graph_); });
  return *program_;
}

const Body& Body::first_outputs(std::size_t n) const {
  if (n == graph_.outputs.size()) return *this;
  std::call_once(cut_, [&] {
    first_ =
        std::make_unique<Body>(extract(graph_, graph_.inputs, std::span(graph_.outputs).first(n)));
  });
  return *first_;
}

}  // namespace tessera::detail
