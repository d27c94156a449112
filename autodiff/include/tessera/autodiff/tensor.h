// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "tessera/autodiff/shape.h"
#include "tessera/autodiff/source_line.h"

#include <atomic>
#include <complex>
#include <concepts>
#include <functional>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace tessera {

class Recorder;

/// One block of memory, shared by the tensors that view it.
struct Buffer {
  std::atomic<std::uint32_t> refs{1};
  void* data = nullptr;
  std::size_t bytes = 0;
  std::function<void()> release;  ///< for memory that is not ours
};

namespace detail {
/// The body behind a Tensor handle: a view, its memory, and its number in a recording, if any.
struct TensorImpl {
  std::atomic<std::uint32_t> refs{1};
  std::uint32_t id = 0;  ///< value number in `recorder`'s graph
  View view;
  Buffer* buffer = nullptr;            ///< null: the element lies in `scalar`
  std::shared_ptr<Recorder> recorder;  ///< null: a concrete value
  alignas(16) std::byte scalar[16];    ///< room for one element of any type
};
void destroy(TensorImpl* p);
/// Throws: a tensor that was never given a value has no type.
[[noreturn]] void refuse_undefined();
}  // namespace detail

/// An immutable n-dimensional array, or the name of one inside a recording. Copies share memory.
///
/// Operations on concrete tensors run at once. Inside a transform (grad, vmap, jit, ...) a tensor
/// may be *traced*: it has a type, and, where the transform runs on values, also a live value that
/// may be read.
class Tensor {
 public:
  Tensor() = default;  ///< undefined; `defined()` is false
  explicit Tensor(double value);
  Tensor(const Tensor& o) : p_(o.p_) {
    if (p_) p_->refs.fetch_add(1, std::memory_order_relaxed);
  }
  Tensor(Tensor&& o) noexcept : p_(o.p_) { o.p_ = nullptr; }
  Tensor& operator=(Tensor o) noexcept {
    std::swap(p_, o.p_);
    return *this;
  }
  ~Tensor() {
    if (p_ && p_->refs.fetch_sub(1, std::memory_order_acq_rel) == 1) detail::destroy(p_);
  }

  bool defined() const { return p_ != nullptr; }
  Dtype dtype() const { return view().dtype; }
  const Shape& shape() const { return view().shape; }
  Type type() const { return {dtype(), shape()}; }
  int ndim() const { return shape().size(); }
  Index size() const { return shape().count(); }
  Index dim(int axis) const;  ///< negative axes count from the end
  bool is_traced() const { return p_ && p_->recorder; }

  /// The only element, converted to T without narrowing. Throws for more than one element, and for
  /// a value that is not known while it is traced (jit, vmap): the message names the way out.
  template <class T = double>
  T item(SourceLine line = SourceLine::here()) const;
  /// All elements in row-major order. T must be the element type.
  template <class T = double>
  std::vector<T> to_vector(SourceLine line = SourceLine::here()) const;
  /// Elements in memory; the tensor must be concrete, contiguous and of element type T.
  template <class T>
  std::span<const T> data(SourceLine line = SourceLine::here()) const;
  explicit operator bool() const { return item<bool>(); }

  const View& view() const {
    if (!p_) [[unlikely]]
      detail::refuse_undefined();
    return p_->view;
  }
  detail::TensorImpl* impl() const { return p_; }
  explicit Tensor(detail::TensorImpl* adopt) : p_(adopt) {}

 private:
  detail::TensorImpl* p_ = nullptr;
};

/// A number as the user wrote it. Integers keep all bits; those beyond 64 bits with sign count as
/// real.
struct Literal {
  enum class Kind : std::uint8_t { integer, real, complex, boolean };
  Kind kind;
  union {
    std::int64_t integer;  ///< of integer and boolean
    c128 number;           ///< of real and complex
  };

  Literal(int v = 0) : kind(Kind::integer), integer(v) {}
  Literal(double v) : kind(Kind::real), number(v) {}
  Literal(bool v) : kind(Kind::boolean), integer(v) {}
  Literal(c128 v) : kind(Kind::complex), number(v) {}
  Literal(c64 v) : Literal(c128(v)) {}
  template <std::integral T>
  Literal(T v) : Literal() {
    if (std::in_range<std::int64_t>(v))
      integer = static_cast<std::int64_t>(v);
    else
      *this = static_cast<double>(v);
  }
};

/// An operand as the user wrote it: a tensor, or a literal that takes the other operand's type (a
/// weak scalar); an integer that the type does not hold is an error. Remembers the line of the
/// call. Lives no longer than the call.
struct Arg {
  const Tensor* tensor = nullptr;  ///< null for a literal
  Literal literal;
  SourceLine line;

  Arg(const Tensor& t, SourceLine w = SourceLine::here()) : tensor(&t), line(w) {}
  Arg(double v, SourceLine w = SourceLine::here()) : literal(v), line(w) {}
  Arg(float v, SourceLine w = SourceLine::here()) : Arg(double(v), w) {}
  Arg(int v, SourceLine w = SourceLine::here()) : literal(v), line(w) {}
  Arg(bool v, SourceLine w = SourceLine::here()) : literal(v), line(w) {}
  Arg(c128 v, SourceLine w = SourceLine::here()) : literal(v), line(w) {}
  Arg(c64 v, SourceLine w = SourceLine::here()) : Arg(c128(v), w) {}
  template <std::integral T>
  Arg(T v, SourceLine w = SourceLine::here()) : literal(v), line(w) {}
};

// ---- making tensors
// ------------------------------------------------------------------------------------- A size
// whose elements or bytes would be 2^63 or more is an error, and so is a literal that `dtype` does
// not hold; an integer type takes the whole part of a real one.
Tensor full(const Shape& shape, Literal value, Dtype dtype = Dtype::f64,
            SourceLine line = SourceLine::here());
Tensor zeros(const Shape& shape, Dtype dtype = Dtype::f64, SourceLine line = SourceLine::here());
Tensor ones(const Shape& shape, Dtype dtype = Dtype::f64, SourceLine line = SourceLine::here());
Tensor eye(Index n, Dtype dtype = Dtype::f64, SourceLine line = SourceLine::here());
/// 0, 1, ..., n-1, all of which an integer `dtype` must hold.
Tensor arange(Index n, Dtype dtype = Dtype::i64, SourceLine line = SourceLine::here());
/// n values from first to last, both included.
Tensor linspace(double first, double last, Index n, Dtype dtype = Dtype::f64,
                SourceLine line = SourceLine::here());
/// Copies `values` (row-major).
template <class T>
Tensor from_span(std::span<const T> values, const Shape& shape);
template <class T>
Tensor tensor(const std::vector<T>& values) {
  return from_span<T>(std::span<const T>(values), {static_cast<Index>(values.size())});
}
template <class T>
Tensor tensor(const std::vector<T>& values, const Shape& shape) {
  return from_span<T>(std::span<const T>(values), shape);
}
template <class T>
Tensor tensor(std::initializer_list<T> values) {
  return from_span<T>(std::span<const T>(values.begin(), values.size()),
                      {static_cast<Index>(values.size())});
}
template <class T>
Tensor tensor(std::initializer_list<T> values, const Shape& shape) {
  return from_span<T>(std::span<const T>(values.begin(), values.size()), shape);
}
inline Tensor tensor(double v) { return Tensor(v); }
Tensor scalar(Literal value, Dtype dtype, SourceLine line = SourceLine::here());
/// Views memory that the caller owns, without a copy; `release` runs when the last view is gone.
/// The memory must not change while any tensor views it. Strides in elements; row-major when empty.
template <class T>
Tensor from_pointer(const T* data, const Shape& shape, std::function<void()> release = {},
                    Shape strides = {});

/// Rows and columns, cut in the middle beyond 1,000 elements; traced tensors show their type and
/// transform.
std::string to_string(const Tensor& t);

/// Uninitialised memory for a result, to be filled through `view().data` by its maker before anyone
/// else sees it.
Tensor empty(const Type& type);

}  // namespace tessera
