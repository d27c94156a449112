// SPDX-License-Identifier: Apache-2.0
//
// What a primitive's body is called with: views of its operands and results, its parameters, and
// the element types that it takes.
#pragma once
#include "tessera/autodiff/shape.h"

#include <memory>
#include <span>
#include <string>
#include <tuple>
#include <vector>

namespace tessera {

using DtypeSet = std::uint16_t;
constexpr DtypeSet set_of(Dtype t) { return DtypeSet(1u << static_cast<int>(t)); }
inline constexpr DtypeSet kReal = set_of(Dtype::f32) | set_of(Dtype::f64);
inline constexpr DtypeSet kComplex = set_of(Dtype::c64) | set_of(Dtype::c128);
inline constexpr DtypeSet kInexact = kReal | kComplex;
inline constexpr DtypeSet kInteger =
    set_of(Dtype::u8) | set_of(Dtype::i32) | set_of(Dtype::i64) | set_of(Dtype::u32);
inline constexpr DtypeSet kBool = set_of(Dtype::boolean);
inline constexpr DtypeSet kNumber = kInexact | kInteger;
inline constexpr DtypeSet kAny = kNumber | kBool;
constexpr bool contains(DtypeSet s, Dtype t) { return s & set_of(t); }
std::string to_string(DtypeSet s);

using Types = std::vector<Type>;
using Inputs = std::span<const View* const>;
using Outputs = std::span<View* const>;

/// Parameters of one application (axes, permutation, sub-graph, ...). Equality and text make CSE
/// and printing possible.
struct Attributes {
  virtual ~Attributes() = default;
  virtual bool equal(const Attributes&) const = 0;
  virtual std::string text() const = 0;
};
using AttributesPtr = std::shared_ptr<const Attributes>;

namespace detail {
std::string text_of(Index v);
std::string text_of(const Shape& v);
std::string text_of(const std::vector<Index>& v);
std::string text_of(Dtype v);
std::string text_of(double v);
std::string text_of(c128 v);
std::string text_of(const std::shared_ptr<const void>& v);
inline std::string text_of(bool v) { return v ? "true" : "false"; }
inline std::string text_of(int v) { return text_of(static_cast<Index>(v)); }
}  // namespace detail

/// Attributes from a plain struct T with `auto fields() const { return std::tie(...); }`.
template <class T>
struct AttributesOf final : Attributes {
  T value;
  explicit AttributesOf(T v) : value(std::move(v)) {}
  bool equal(const Attributes& o) const override {
    const auto* other = dynamic_cast<const AttributesOf*>(&o);
    return other && value.fields() == other->value.fields();
  }
  std::string text() const override {
    std::string out;
    std::apply(
        [&](const auto&... f) { ((out += (out.empty() ? "" : " ") + detail::text_of(f)), ...); },
        value.fields());
    return out;
  }
};
template <class T>
AttributesPtr attributes(T value) {
  return std::make_shared<AttributesOf<T>>(std::move(value));
}
template <class T>
const T& get(const Attributes* a) {
  return static_cast<const AttributesOf<T>*>(a)->value;
}

using KernelFn = void (*)(Inputs in, Outputs out, const Attributes* attr);

}  // namespace tessera
