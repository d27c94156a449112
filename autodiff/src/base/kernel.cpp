// SPDX-License-Identifier: Apache-2.0
#include "tessera/autodiff/kernel.h"

#include <charconv>

namespace tessera {

std::string to_string(DtypeSet s) {
  std::string out;
  for (int k = 0; k < kDtypes; ++k)
    if (contains(s, static_cast<Dtype>(k)))
      out += (out.empty() ? "" : ", ") + std::string(name_of(static_cast<Dtype>(k)));
  return out;
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
