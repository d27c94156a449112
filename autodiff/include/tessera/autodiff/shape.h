// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "tessera/autodiff/dtype.h"
#include "tessera/autodiff/error.h"
#include "tessera/autodiff/source_line.h"

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>

namespace tessera {

using Index = std::int64_t;
inline constexpr int kMaxDims = 8;

/// Up to eight integers held inline: a shape, strides, axes or a permutation.
class Shape {
 public:
  Shape() = default;
  Shape(std::initializer_list<Index> dims)
      : Shape(std::span<const Index>(dims.begin(), dims.size())) {}
  explicit Shape(std::span<const Index> dims) {
    if (dims.size() > kMaxDims)
      throw Error("[shape] at most 8 dimensions, got " + std::to_string(dims.size()));
    for (Index d : dims) dims_[n_++] = d;
  }
  /// `n` copies of `value`.
  static Shape filled(int n, Index value) {
    Shape s;
    for (int i = 0; i < n; ++i) s.push_back(value);
    return s;
  }

  int size() const { return n_; }
  bool empty() const { return n_ == 0; }
  Index operator[](int i) const { return dims_[i]; }
  Index& operator[](int i) { return dims_[i]; }
  const Index* begin() const { return dims_; }
  const Index* end() const { return dims_ + n_; }
  Index* begin() { return dims_; }
  Index* end() { return dims_ + n_; }
  Index back() const { return dims_[n_ - 1]; }
  void push_back(Index d) {
    if (n_ == kMaxDims) throw Error("[shape] more than 8 dimensions");
    dims_[n_++] = d;
  }
  void insert(int at, Index d) {
    push_back(d);
    for (int i = n_ - 1; i > at; --i) dims_[i] = dims_[i - 1];
    dims_[at] = d;
  }
  void erase(int at) {
    for (int i = at; i + 1 < n_; ++i) dims_[i] = dims_[i + 1];
    --n_;
  }
  /// Product of all entries; 1 for the empty shape. Throws where it is 2^63 or more.
  Index count() const {
    Index n = 1;
    for (int i = 0; i < n_; ++i)
      if (__builtin_mul_overflow(n, dims_[i], &n)) return count_of_large();
    return n;
  }
  /// Whether `count()` is 1.
  bool single() const {
    for (int i = 0; i < n_; ++i)
      if (dims_[i] != 1) return false;
    return true;
  }
  bool operator==(const Shape& o) const {
    if (n_ != o.n_) return false;
    for (int i = 0; i < n_; ++i)
      if (dims_[i] != o.dims_[i]) return false;
    return true;
  }

 private:
  Index count_of_large()
      const;  ///< 0 where an entry is 0, which the product passed by; else throws

  std::uint8_t n_ = 0;
  Index dims_[kMaxDims] = {};
};

std::string to_string(const Shape& s);  ///< `[3,4]`

/// Row-major strides in elements. Where there are none the strides mean nothing and may wrap.
inline Shape row_major(const Shape& s) {
  Shape r = s;
  std::uint64_t step = 1;
  for (int i = s.size() - 1; i >= 0; --i) {
    r[i] = static_cast<Index>(step);
    step *= static_cast<std::uint64_t>(s[i]);
  }
  return r;
}

/// What is known of a value before it is computed.
struct Type {
  Dtype dtype = Dtype::f64;
  Shape shape;
  bool operator==(const Type&) const = default;
};
std::string to_string(const Type& t);  ///< `f64[3,4]`

/// Memory that the elements take when they lie side by side. Throws, naming `op`, for a negative
/// size and where the elements or their bytes are 2^63 or more.
Index checked_bytes(const char* op, const Type& t, SourceLine line = {});

/// A strided block of elements in memory; strides count elements and may be 0 or negative.
struct View {
  void* data = nullptr;
  Dtype dtype = Dtype::f64;
  Shape shape;
  Shape strides;

  Index count() const { return shape.count(); }
  bool contiguous() const {
    std::uint64_t step = 1;  // as in row_major
    for (int i = shape.size() - 1; i >= 0; --i) {
      if (shape[i] != 1 && strides[i] != static_cast<Index>(step)) return false;
      step *= static_cast<std::uint64_t>(shape[i]);
    }
    return true;
  }
  Type type() const { return {dtype, shape}; }
};

}  // namespace tessera
