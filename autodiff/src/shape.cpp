// SPDX-License-Identifier: Apache-2.0
#include "tessera/autodiff/shape.h"

#include <algorithm>
#include <charconv>

#include "tessera/autodiff/primitive.h"

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

Index checked_bytes(const char* op, const Type& t, Where where) {
  auto bytes = static_cast<Index>(size_of(t.dtype));
  bool large = false, nothing = false;
  for (Index d : t.shape) {
    if (d < 0) fail(op, "negative size in " + to_string(t), where);
    nothing |= d == 0;
    large |= __builtin_mul_overflow(bytes, d, &bytes);
  }
  if (nothing) return 0;
  if (large) fail(op, to_string(t) + " has 2^63 bytes or more", where);
  return bytes;
}

namespace detail {
std::string text_of(Index v) { return std::to_string(v); }
std::string text_of(const Shape& v) { return to_string(v); }
std::string text_of(const std::vector<Index>& v) {
  std::string out = "(";
  for (std::size_t i = 0; i < v.size(); ++i) out += (i ? "," : "") + std::to_string(v[i]);
  return out + ")";
}
std::string text_of(Dtype v) { return name_of(v); }
std::string text_of(double v) {
  char buffer[32];
  return {buffer, std::to_chars(buffer, buffer + sizeof buffer, v).ptr};
}
std::string text_of(c128 v) { return "(" + text_of(v.real()) + "," + text_of(v.imag()) + ")"; }
std::string text_of(const std::shared_ptr<const void>&) { return "<function>"; }
}  // namespace detail
}  // namespace tessera
