// SPDX-License-Identifier: Apache-2.0
//
// What a primitive's body is called with: views of its operands and results, its parameters, and
// the element types that it takes.
#pragma once
#include "tessera/autodiff/shape.h"

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <variant>
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
using TypeSpan = std::span<const Type>;
using Inputs = std::span<const View* const>;
using Outputs = std::span<View* const>;

/// What a parameter is; of functions and sub-graphs only that they are there.
using AttributeValue =
    std::variant<std::monostate, bool, Index, double, c128, Dtype, Shape, std::vector<Index>>;
std::string to_string(const AttributeValue& v);
struct NamedAttribute {
  std::string_view name;
  AttributeValue value;
};

/// Parameters of one application (axes, permutation, sub-graph, ...). Equality makes CSE possible,
/// names printing and what reads graphs: `value_of<Shape>(equation.attr.get(), "axes")`.
struct Attributes {
  virtual ~Attributes() = default;
  virtual bool equal(const Attributes&) const = 0;
  virtual std::vector<NamedAttribute> named() const = 0;
  virtual std::string text() const;  ///< `axes=[0] keep=true`
};
using AttributesPtr = std::shared_ptr<const Attributes>;

/// The parameter of that name; throws Error for none, or one of another type, and says what there
/// is. T is a type of AttributeValue.
template <class T>
T value_of(const Attributes* a, std::string_view name);

namespace detail {
inline AttributeValue attribute_value(int v) { return Index{v}; }
template <class T>
AttributeValue attribute_value(const T& v) {
  if constexpr (requires { AttributeValue(std::in_place_type<T>, v); })
    return AttributeValue(std::in_place_type<T>, v);
  else
    return {};
}
std::vector<NamedAttribute> named_attributes(std::string_view names,
                                             std::vector<AttributeValue> values);
AttributeValue value_of(const Attributes* a, std::string_view name, std::size_t type);
std::string text_of(double v);
std::string text_of(c128 v);
}  // namespace detail

template <class T>
T value_of(const Attributes* a, std::string_view name) {
  return std::get<T>(detail::value_of(a, name, AttributeValue(std::in_place_type<T>).index()));
}

/// Inside a struct: its members, as the parameters of a primitive.
#define TESSERA_ATTRIBUTES(...)                         \
  auto fields() const { return std::tie(__VA_ARGS__); } \
  static constexpr std::string_view field_names() { return #__VA_ARGS__; }

/// Attributes from a plain struct T with TESSERA_ATTRIBUTES.
template <class T>
struct AttributesOf final : Attributes {
  T value;
  explicit AttributesOf(T v) : value(std::move(v)) {}
  bool equal(const Attributes& o) const override {
    const auto* other = dynamic_cast<const AttributesOf*>(&o);
    return other && value.fields() == other->value.fields();
  }
  std::vector<NamedAttribute> named() const override {
    return std::apply(
        [](const auto&... f) {
          return detail::named_attributes(T::field_names(), {detail::attribute_value(f)...});
        },
        value.fields());
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

/// What one application of a primitive takes.
struct Cost {
  /// Operations of reals; a fused step is two, a product of complex numbers six. Functions count
  /// what our kernels do for an element (src/core/cost.cpp).
  double flops = 0;
  double bytes = 0;      ///< read and written, each operand and result once
  double workspace = 0;  ///< bytes of memory that the kernel takes beside them while it runs
};

using KernelFn = void (*)(Inputs in, Outputs out, const Attributes* attr);

/// A kernel whose one result, row-major, comes by rows along the last axis, any of them on any
/// thread, with the bits of all at once: what follows takes them while they are in the cache.
struct RowKernel {
  std::size_t (*shared_bytes)(std::span<const View> in);  ///< of what all rows need
  void (*prepare)(Inputs in, std::byte* shared);
  void (*rows)(Inputs in, const std::byte* shared, Index begin, Index end, void* out);
};

}  // namespace tessera
