// SPDX-License-Identifier: Apache-2.0
#include "arrays/elements.h"

#include "tessera/autodiff/ops/shape.h"
#include "tessera/data/diagnostic.h"
#include "tessera/data/memory.h"
#include "tessera/data/nearest_names.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>
#include <set>
#include <type_traits>
#include <utility>

namespace tessera::data {
namespace {

/// IEEE 754 binary16: sign, 5 bits of exponent with bias 15, 10 of fraction.
float half_value(std::uint16_t bits) {
  const std::uint32_t sign = (bits & 0x8000u) << 16, exponent = bits >> 10 & 31u,
                      fraction = bits & 0x3ffu;
  if (exponent == 0) {  // zero, or fraction 2^-24
    const float size = static_cast<float>(fraction) * 0x1p-24f;
    return sign ? -size : size;
  }
  const std::uint32_t wide = exponent == 31 ? 255u : exponent + 112u;  // 127 - 15
  return std::bit_cast<float>(sign | wide << 23 | fraction << 13);
}

/// The upper half of an f32.
float brain_value(std::uint16_t bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

template <class T>
T swapped(T v) {
  auto bytes = std::bit_cast<std::array<std::byte, sizeof(T)>>(v);
  std::reverse(bytes.begin(), bytes.end());
  return std::bit_cast<T>(bytes);
}

/// Elements of type From, piece by piece, each as `convert` has it.
template <class From, class To, class Convert>
void fill(Tensor& t, const ElementSource& source, bool swap, Convert convert) {
  std::array<From, 4096> piece;
  To* to = static_cast<To*>(t.view().data);
  for (auto left = static_cast<std::size_t>(t.size()); left > 0;) {
    const std::size_t n = std::min(left, piece.size());
    source.next(piece.data(), n * sizeof(From));
    for (std::size_t i = 0; i < n; ++i) *to++ = convert(swap ? swapped(piece[i]) : piece[i]);
    left -= n;
  }
}

template <class From, class To>
void widen(Tensor& t, const ElementSource& source, bool swap) {
  fill<From, To>(t, source, swap, [](From v) { return static_cast<To>(v); });
}

/// Elements that a tensor has as they are, of parts with so many bytes.
void copy(Tensor& t, const ElementSource& source, bool swap, std::size_t part) {
  auto* to = static_cast<std::byte*>(t.view().data);
  const std::size_t n = bytes_of(t).size();
  if (n > 0) source.next(to, n);
  if (swap)
    for (std::size_t i = 0; i < n; i += part) std::reverse(to + i, to + i + part);
}

void fill_as(Stored type, Tensor& t, const ElementSource& source, bool swap) {
  switch (type) {
    case Stored::boolean:
      return fill<std::uint8_t, bool>(t, source, false, [](std::uint8_t v) { return v != 0; });
    case Stored::i8:
      return widen<std::int8_t, std::int32_t>(t, source, swap);
    case Stored::i16:
      return widen<std::int16_t, std::int32_t>(t, source, swap);
    case Stored::u16:
      return widen<std::uint16_t, std::int32_t>(t, source, swap);
    case Stored::u64:
      return fill<std::uint64_t, std::int64_t>(t, source, swap, [&](std::uint64_t v) {
        if (!std::in_range<std::int64_t>(v))
          source.refuse("holds the number " + std::to_string(v) +
                        ", and unsigned integers are read up to 2^63 - 1");
        return static_cast<std::int64_t>(v);
      });
    case Stored::f16:
      return fill<std::uint16_t, float>(t, source, swap, half_value);
    case Stored::bf16:
      return fill<std::uint16_t, float>(t, source, swap, brain_value);
    case Stored::u8:
      return copy(t, source, false, 1);
    case Stored::i32:
    case Stored::u32:
    case Stored::f32:
    case Stored::c64:
      return copy(t, source, swap, 4);
    case Stored::i64:
    case Stored::f64:
    case Stored::c128:
      return copy(t, source, swap, 8);
  }
}

struct Widening {
  std::size_t bytes;
  Dtype dtype;
};
constexpr Widening kWidenings[] = {
    {1, Dtype::boolean}, {1, Dtype::i32}, {2, Dtype::i32}, {4, Dtype::i32}, {8, Dtype::i64},
    {1, Dtype::u8},      {2, Dtype::i32}, {4, Dtype::u32}, {8, Dtype::i64}, {2, Dtype::f32},
    {2, Dtype::f32},     {4, Dtype::f32}, {8, Dtype::f64}, {8, Dtype::c64}, {16, Dtype::c128}};

}  // namespace

std::size_t stored_bytes(Stored type) { return kWidenings[static_cast<int>(type)].bytes; }
Dtype widened(Stored type) { return kWidenings[static_cast<int>(type)].dtype; }

Stored stored_as(Dtype dtype) {
  constexpr Stored kTypes[kDtypes] = {Stored::boolean, Stored::u8,  Stored::i32,
                                      Stored::i64,     Stored::u32, Stored::f32,
                                      Stored::f64,     Stored::c64, Stored::c128};
  return kTypes[static_cast<int>(dtype)];
}

Tensor read_elements(Stored type, std::span<const std::uint64_t> shape, const ElementSource& source,
                     Layout layout) {
  if (shape.size() > kMaxDims)
    source.refuse("has " + std::to_string(shape.size()) + " axes, and a tensor has at most " +
                  std::to_string(kMaxDims));
  // Column-major values are the row-major ones of the reversed shape.
  const int rank = static_cast<int>(shape.size());
  Shape stored, reversed;
  for (int d = 0; d < rank; ++d) {
    const int axis = layout.first_index_fastest ? rank - 1 - d : d;
    stored.push_back(static_cast<Index>(shape[static_cast<std::size_t>(axis)]));
    reversed.push_back(rank - 1 - d);
  }
  Tensor t = empty({widened(type), stored});
  fill_as(type, t, source, layout.big_endian);
  return layout.first_index_fastest ? contiguous(transpose(t, reversed)) : t;
}

std::uint64_t widened_bytes(Stored type, std::span<const std::uint64_t> shape) {
  std::uint64_t bytes = size_of(widened(type));
  for (const std::uint64_t n : shape)
    if (n == 0) return 0;
  for (const std::uint64_t n : shape)
    if (__builtin_mul_overflow(bytes, n, &bytes)) return std::numeric_limits<std::uint64_t>::max();
  return bytes;
}

Tensor values_to_write(std::string_view op, const NamedTensor& tensor) {
  const auto fail = [&](const char* why) {
    throw Error("[" + std::string(op) + "] the tensor '" + tensor.name + "' " + why);
  };
  if (!tensor.values.defined()) fail("was never given a value");
  if (tensor.values.is_traced())
    fail("is traced, and has no values to write before the transform has run");
  return contiguous(tensor.values);
}

void check_names(std::string_view op, std::span<const NamedTensor> tensors) {
  std::set<std::string_view> names;
  for (const NamedTensor& t : tensors)
    if (!names.insert(t.name).second)
      throw Error("[" + std::string(op) + "] two tensors are called '" + t.name + "'");
}

std::vector<std::size_t> places_of(std::span<const std::string> wanted,
                                   const std::vector<std::string>& known, const std::string& file) {
  std::vector<std::size_t> out;
  if (wanted.empty())
    for (std::size_t i = 0; i < known.size(); ++i) out.push_back(i);
  for (const std::string& name : wanted) {
    const auto at = std::ranges::find(known, name);
    if (at == known.end()) {
      throw InputError(
          Diagnostic{.number = 440,
                     .place = {.file = file},
                     .message = "there is no array '" + name + "'; the file has " + list_of(known),
                     .hint = nearest_hint(name, known)});
    }
    out.push_back(static_cast<std::size_t>(at - known.begin()));
  }
  return out;
}

std::string list_of(const std::vector<std::string>& names) {
  constexpr std::size_t kMostNamed = 20;
  std::string out;
  for (std::size_t i = 0; i < std::min(names.size(), kMostNamed); ++i)
    out += (i ? ", " : "") + names[i];
  if (names.size() > kMostNamed)
    out += " and " + std::to_string(names.size() - kMostNamed) + " more";
  return names.empty() ? "none" : out;
}

void check_memory(std::uint64_t bytes, const std::string& file) {
  if (bytes > memory_limit() / 2)
    throw InputError(Diagnostic{.number = 403,
                                .place = {.file = file},
                                .message = "its arrays take " + std::to_string(bytes) +
                                           " bytes, more than half of the memory"});
}

}  // namespace tessera::data
