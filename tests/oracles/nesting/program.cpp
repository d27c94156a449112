// SPDX-License-Identifier: Apache-2.0
#include "program.h"

#include <algorithm>

namespace nesting {

Function copy(const Function& f) {
  Function c = f;
  for (Let& l : c.body)
    for (FunctionPtr& g : l.functions) g = std::make_shared<Function>(copy(*g));
  return c;
}

std::size_t size(const Function& f) {
  std::size_t n = f.body.size();
  for (const Let& l : f.body)
    for (const FunctionPtr& g : l.functions) n += size(*g);
  return n;
}

int order(const Function& f) {
  int highest = 0;
  for (const Let& l : f.body) {
    int inside = 0, own = 0;
    for (const FunctionPtr& g : l.functions) {
      inside = std::max(inside, order(*g));
      if (l.op == Op::custom_jvp || l.op == Op::custom_vjp)
        break;  // what rules differentiate is part of the derivative
    }
    switch (l.op) {
      case Op::jvp:
      case Op::linearize:
      case Op::vjp:
      case Op::grad:
      case Op::value_and_grad:
        own = 1;
        break;
      case Op::hessian:
      case Op::laplacian:
      case Op::value_and_laplacian:
        own = 2;
        break;
      case Op::biharmonic:
        own = 4;
        break;
      case Op::jet:
      case Op::directional_sum:
        own = l.sizes[0];
        break;
      default:
        break;
    }
    highest = std::max(highest, own + inside);
  }
  return highest;
}

}  // namespace nesting
