// SPDX-License-Identifier: Apache-2.0
#include "tessera/autodiff/shape.h"

#include <algorithm>

namespace tessera {

std::string to_string(const Shape& s) {
  std::string out = "[";
  for (int i = 0; i < s.size(); ++i) out += (i ? "," : "") + std::to_string(s[i]);
  return out + "]";
}
std::string to_string(const Type& t) { return name_of(t.dtype) + to_string(t.shape); }

Index Shape::count_of_large() const {
  if (std::find(begin(), end(), 0) != end()) return 0;
  fail("shape", to_string(*this) + " has 2^63 elements or more");
}

Index checked_bytes(const char* op, const Type& t, SourceLine line) {
  auto bytes = static_cast<Index>(size_of(t.dtype));
  bool large = false, nothing = false;
  for (Index d : t.shape) {
    if (d < 0) fail(op, "negative size in " + to_string(t), line);
    nothing |= d == 0;
    large |= __builtin_mul_overflow(bytes, d, &bytes);
  }
  if (nothing) return 0;
  if (large) fail(op, to_string(t) + " has 2^63 bytes or more", line);
  return bytes;
}

}  // namespace tessera
