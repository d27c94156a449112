// SPDX-License-Identifier: Apache-2.0
#include "tessera/autodiff/kernel.h"

#include "tessera/autodiff/error.h"

#include <charconv>

namespace tessera {

std::string to_string(DtypeSet s) {
  std::string out;
  for (int k = 0; k < kDtypes; ++k)
    if (contains(s, static_cast<Dtype>(k)))
      out += (out.empty() ? "" : ", ") + std::string(name_of(static_cast<Dtype>(k)));
  return out;
}

std::string to_string(const AttributeValue& v) {
  const auto text = [](const auto& x) -> std::string {
    using T = std::remove_cvref_t<decltype(x)>;
    if constexpr (std::is_same_v<T, std::monostate>) {
      return "<function>";
    } else if constexpr (std::is_same_v<T, bool>) {
      return x ? "true" : "false";
    } else if constexpr (std::is_same_v<T, Index>) {
      return std::to_string(x);
    } else if constexpr (std::is_same_v<T, Shape>) {
      return to_string(x);
    } else if constexpr (std::is_same_v<T, Dtype>) {
      return name_of(x);
    } else if constexpr (std::is_same_v<T, std::vector<Index>>) {
      std::string out = "(";
      for (std::size_t i = 0; i < x.size(); ++i) out += (i ? "," : "") + std::to_string(x[i]);
      return out + ")";
    } else {
      return detail::text_of(x);
    }
  };
  return std::visit(text, v);
}

std::string Attributes::text() const {
  std::string out;
  for (const NamedAttribute& a : named())
    out += (out.empty() ? "" : " ") + std::string(a.name) + "=" + to_string(a.value);
  return out;
}

namespace detail {
std::vector<NamedAttribute> named_attributes(std::string_view names,
                                             std::vector<AttributeValue> values) {
  std::vector<NamedAttribute> out;
  for (AttributeValue& v : values) {
    const std::size_t end = names.find(',');
    out.push_back({names.substr(0, end), std::move(v)});
    names.remove_prefix(end == names.npos ? names.size() : names.find_first_not_of(" \n", end + 1));
  }
  return out;
}

AttributeValue value_of(const Attributes* a, std::string_view name, std::size_t type) {
  std::string there;
  for (const NamedAttribute& n : a ? a->named() : std::vector<NamedAttribute>()) {
    if (n.name == name && n.value.index() == type) return n.value;
    there += (there.empty() ? "" : " ") + std::string(n.name) + "=" + to_string(n.value);
  }
  throw Error("no parameter " + std::string(name) + " of the type asked for: there is " +
              (there.empty() ? "none" : there));
}

std::string text_of(double v) {
  char buffer[32];
  return {buffer, std::to_chars(buffer, buffer + sizeof buffer, v).ptr};
}
std::string text_of(c128 v) { return "(" + text_of(v.real()) + "," + text_of(v.imag()) + ")"; }
}  // namespace detail

}  // namespace tessera
