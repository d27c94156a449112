// SPDX-License-Identifier: Apache-2.0
#include "tessera/autodiff/tensor.h"

#include "../base/fast_thread_local.h"
#include "../base/memory_internal.h"
#include "../kernels/copy.h"
#include "tensor_internal.h"
#include "tessera/autodiff/graph.h"
#include "tessera/autodiff/ops/elementwise.h"
#include "tessera/autodiff/primitive.h"

#include <cmath>
#include <cstring>
#include <limits>

namespace tessera {
namespace detail {
namespace {

Buffer* new_buffer(std::size_t bytes) {
  void* block = allocate(bytes + 64);
  auto* b = new (block) Buffer;
  b->data = static_cast<std::byte*>(block) + 64;
  b->bytes = bytes;
  return b;
}
static_assert(sizeof(Buffer) <= 64);

void drop(Buffer* b) {
  if (b->refs.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  if (b->release) {
    b->release();
    delete b;
    return;
  }
  const std::size_t bytes = b->bytes;
  b->~Buffer();
  deallocate(b, bytes + 64);
}

/// Bodies of dead tensors, kept for the next one on this thread: each holds the address of the one
/// below it.
struct ImplCache {
  static constexpr int kMost = 1024;
  void* top = nullptr;
  int room = 0;  ///< for so many more; 0 before the first tensor and after the thread's end
};
TESSERA_FAST_THREAD_LOCAL ImplCache impl_cache;
struct ImplCacheOwner {
  ImplCacheOwner() { impl_cache.room = ImplCache::kMost; }
  ~ImplCacheOwner() {
    while (void* p = impl_cache.top) {
      impl_cache.top = *static_cast<void**>(p);
      ::operator delete (p, std::align_val_t{16});
    }
    impl_cache.room = 0;
  }
};

void* new_body() {
  static thread_local ImplCacheOwner owner;
  (void)owner;
  return ::operator new (sizeof(TensorImpl), std::align_val_t{16});
}

}  // namespace

TensorImpl* new_impl() {
  ImplCache& c = impl_cache;
  void* p = c.top;
  if (p) {
    c.top = *static_cast<void**>(p);
    ++c.room;
  } else {
    p = new_body();
  }
  return new (p) TensorImpl;
}

void refuse_undefined() { fail("tensor", "it is undefined: Tensor() has no type and no elements"); }

void destroy(TensorImpl* p) {
  if (p->buffer) drop(p->buffer);
  p->~TensorImpl();
  ImplCache& c = impl_cache;
  if (c.room > 0) {
    *reinterpret_cast<void**>(p) = c.top;
    c.top = p;
    --c.room;
  } else {
    ::operator delete (p, std::align_val_t{16});
  }
}

Tensor empty_result(Dtype dtype, const Shape& shape) {
  const bool single = shape.single();
  Index bytes = 0;
  if (!single) {
    const Index n = shape.count();
    if (n < 0 || __builtin_mul_overflow(n, static_cast<Index>(size_of(dtype)), &bytes))
      checked_bytes("memory", {dtype, shape});  // throws
  }
  TensorImpl* p = new_impl();
  p->view.dtype = dtype;
  p->view.shape = shape;
  if (single) {
    // In place: copying a Shape waits for the byte that was just written into it.
    for (int i = 0; i < shape.size(); ++i) p->view.strides.push_back(1);
    p->view.data = p->scalar;
  } else {
    p->view.strides = row_major(shape);
    try {
      p->buffer = new_buffer(static_cast<std::size_t>(bytes));
    } catch (...) {
      destroy(p);
      throw;
    }
    p->view.data = p->buffer->data;
  }
  return Tensor(p);
}

Tensor view_result(const Tensor& base, const View& view) {
  TensorImpl* p = new_impl();
  p->view = view;
  TensorImpl* b = base.impl();
  if (b->buffer) {
    p->buffer = b->buffer;
    p->buffer->refs.fetch_add(1, std::memory_order_relaxed);
  } else {  // one element: tensors are immutable, so a copy is as good as a view
    std::memcpy(p->scalar, view.data, size_of(view.dtype));
    p->view.data = p->scalar;
  }
  return Tensor(p);
}

Tensor contiguous_copy(const View& v) {
  Tensor t = empty_result(v.dtype, v.shape);
  kernels::copy(v, t.impl()->view);
  return t;
}

const Tensor& concrete(const char* op, const Tensor& t, SourceLine line) {
  if (!t.defined()) fail(op, "the tensor is undefined", line);
  const Tensor* at = &t;
  while (at->is_traced()) {
    const Recorder& r = *at->impl()->recorder;
    if (r.values().empty() || !r.live())
      fail(op,
           std::string("the value of a ") + to_string(at->type()) + " is not known inside `" +
               r.transform() +
               "`, where one recording stands for many values; use `where(condition, a, b)` for a "
               "choice "
               "between values, make the argument a constant captured by the function, or read the "
               "value "
               "outside of the transform",
           line);
    at = &r.values()[at->impl()->id];
  }
  return *at;
}

}  // namespace detail

Tensor empty(const Type& type) {
  checked_bytes("empty", type);
  return detail::empty_result(type.dtype, type.shape);
}

namespace {

/// The literal as an element; throws, naming both, where T does not hold it.
template <class T>
T element_of(const char* op, const Literal& v, SourceLine line) {
  using Kind = Literal::Kind;
  const bool whole = v.kind == Kind::integer || v.kind == Kind::boolean;
  auto refuse = [&](const std::string& number) {
    fail(op, std::string("a ") + name_of(dtype_of<T>()) + " does not hold " + number, line);
  };
  if constexpr (std::is_same_v<T, bool>) {
    return whole ? v.integer != 0 : v.number != c128(0);
  } else if constexpr (!std::is_arithmetic_v<T>) {
    using R = typename T::value_type;
    return whole ? T(static_cast<R>(v.integer))
                 : T(static_cast<R>(v.number.real()), static_cast<R>(v.number.imag()));
  } else {
    if (!whole && v.number.imag() != 0) refuse(detail::text_of(v.number));
    if constexpr (std::is_floating_point_v<T>) {
      return whole ? static_cast<T>(v.integer) : static_cast<T>(v.number.real());
    } else {
      using Limits = std::numeric_limits<T>;
      if (whole) {
        if (!std::in_range<T>(v.integer)) refuse(std::to_string(v.integer));
        return static_cast<T>(v.integer);
      }
      const double x = std::trunc(v.number.real());
      if (!(x >= static_cast<double>(Limits::min()) && x < std::ldexp(1.0, Limits::digits)))
        refuse(detail::text_of(v.number.real()));
      return static_cast<T>(x);
    }
  }
}

}  // namespace

Tensor detail::literal(const char* op, const Literal& value, Dtype dtype, SourceLine line) {
  Tensor t = empty_result(dtype, {});
  visit_dtype(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    *static_cast<T*>(t.impl()->view.data) = element_of<T>(op, value, line);
  });
  return t;
}
Tensor scalar(Literal value, Dtype dtype, SourceLine line) {
  return detail::literal("scalar", value, dtype, line);
}

Tensor full(const Shape& shape, Literal value, Dtype dtype, SourceLine line) {
  checked_bytes("full", {dtype, shape}, line);
  const Tensor one = detail::literal("full", value, dtype, line);
  Tensor t = detail::empty_result(dtype, shape);
  View spread = one.view();
  spread.shape = shape;
  spread.strides = Shape::filled(shape.size(), 0);
  kernels::copy(spread, t.impl()->view);
  return t;
}
Tensor zeros(const Shape& shape, Dtype dtype, SourceLine line) {
  return full(shape, 0.0, dtype, line);
}
Tensor ones(const Shape& shape, Dtype dtype, SourceLine line) {
  return full(shape, 1.0, dtype, line);
}

Tensor::Tensor(double value) { *this = scalar(value, Dtype::f64); }

Tensor eye(Index n, Dtype dtype, SourceLine line) {
  Tensor t = zeros({n, n}, dtype, line);
  visit_dtype(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    for (Index i = 0; i < n; ++i) static_cast<T*>(t.impl()->view.data)[i * (n + 1)] = T(1);
  });
  return t;
}

Tensor arange(Index n, Dtype dtype, SourceLine line) {
  if (n < 0) fail("arange", "negative length " + std::to_string(n), line);
  Tensor t = detail::empty_result(dtype, {n});
  visit_dtype(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (std::is_integral_v<T>)
      if (n > 0 && static_cast<std::uint64_t>(n - 1) >
                       static_cast<std::uint64_t>(std::numeric_limits<T>::max()))
        fail("arange",
             std::string("a ") + name_of(dtype) + " does not hold " + std::to_string(n - 1), line);
    for (Index i = 0; i < n; ++i) {
      if constexpr (std::is_same_v<T, c64>)
        static_cast<T*>(t.impl()->view.data)[i] = T(static_cast<float>(i));
      else if constexpr (std::is_same_v<T, c128>)
        static_cast<T*>(t.impl()->view.data)[i] = T(static_cast<double>(i));
      else
        static_cast<T*>(t.impl()->view.data)[i] = static_cast<T>(i);
    }
  });
  return t;
}

Tensor linspace(double first, double last, Index n, Dtype dtype, SourceLine line) {
  if (!is_inexact(dtype))
    fail("linspace", std::string("needs a floating type, got ") + name_of(dtype), line);
  if (n < 0) fail("linspace", "negative length " + std::to_string(n), line);
  checked_bytes("linspace", {Dtype::f64, {n}}, line);
  std::vector<double> v(static_cast<std::size_t>(n));
  for (Index i = 0; i < n; ++i)
    v[i] = n == 1 ? first
           : i == n - 1
               ? last
               : first + (last - first) * (static_cast<double>(i) / static_cast<double>(n - 1));
  return cast(tensor(v), dtype);
}

template <class T>
Tensor from_span(std::span<const T> values, const Shape& shape) {
  checked_bytes("from_span", {dtype_of<T>(), shape});
  if (shape.count() != static_cast<Index>(values.size()))
    fail("from_span", "shape " + to_string(shape) + " holds " + std::to_string(shape.count()) +
                          " elements, got " + std::to_string(values.size()));
  Tensor t = detail::empty_result(dtype_of<T>(), shape);
  std::copy(values.begin(), values.end(), static_cast<T*>(t.impl()->view.data));
  return t;
}

template <class T>
Tensor from_pointer(const T* data, const Shape& shape, std::function<void()> release,
                    Shape strides) {
  if (!strides.empty() && strides.size() != shape.size())
    fail("from_pointer",
         "shape " + to_string(shape) + " and strides " + to_string(strides) + " differ in length");
  checked_bytes("from_pointer", {dtype_of<T>(), shape});
  detail::TensorImpl* p = detail::new_impl();
  p->view = {const_cast<T*>(data), dtype_of<T>(), shape,
             strides.empty() ? row_major(shape) : strides};
  p->buffer = new Buffer;
  p->buffer->data = p->view.data;
  p->buffer->release = release ? std::move(release) : [] {};
  return Tensor(p);
}

#define TESSERA_INSTANTIATE(T)                                                           \
  template Tensor from_span<T>(std::span<const T>, const Shape&);                        \
  template Tensor from_pointer<T>(const T*, const Shape&, std::function<void()>, Shape); \
  template std::vector<T> Tensor::to_vector<T>(SourceLine) const;                        \
  template std::span<const T> Tensor::data<T>(SourceLine) const;                         \
  template T Tensor::item<T>(SourceLine) const;

Index Tensor::dim(int axis) const {
  const int n = ndim();
  if (axis < -n || axis >= n)
    fail("dim", "axis " + std::to_string(axis) + " of a " + to_string(type()));
  return shape()[axis < 0 ? axis + n : axis];
}

template <class T>
T Tensor::item(SourceLine line) const {
  const Tensor& t = detail::concrete("item", *this, line);
  if (t.size() != 1) fail("item", "needs exactly one element, got " + to_string(t.type()), line);
  if (t.dtype() == dtype_of<T>()) return *static_cast<const T*>(t.view().data);
  if (!can_promote(t.dtype(), dtype_of<T>()) || promote(t.dtype(), dtype_of<T>()) != dtype_of<T>())
    fail("item",
         std::string("a ") + name_of(t.dtype()) + " is not read as " + name_of(dtype_of<T>()) +
             " silently; use cast",
         line);
  return *static_cast<const T*>(cast(t, dtype_of<T>()).view().data);
}

template <class T>
std::vector<T> Tensor::to_vector(SourceLine line) const {
  const Tensor& t = detail::concrete("to_vector", *this, line);
  if (t.dtype() != dtype_of<T>())
    fail("to_vector",
         std::string("the tensor holds ") + name_of(t.dtype()) + ", asked for " +
             name_of(dtype_of<T>()) + "; use cast",
         line);
  const Tensor flat = t.view().contiguous() ? t : detail::contiguous_copy(t.view());
  const T* p = static_cast<const T*>(flat.view().data);
  return std::vector<T>(p, p + t.size());
}

template <class T>
std::span<const T> Tensor::data(SourceLine line) const {
  if (!defined() || is_traced()) fail("data", "needs a concrete tensor", line);
  if (dtype() != dtype_of<T>())
    fail("data",
         std::string("the tensor holds ") + name_of(dtype()) + ", asked for " +
             name_of(dtype_of<T>()),
         line);
  if (!view().contiguous())
    fail("data", "the tensor is a strided view; use contiguous() first", line);
  return {static_cast<const T*>(view().data), static_cast<std::size_t>(size())};
}

TESSERA_INSTANTIATE(bool)
TESSERA_INSTANTIATE(std::uint8_t)
TESSERA_INSTANTIATE(std::int32_t)
TESSERA_INSTANTIATE(std::int64_t)
TESSERA_INSTANTIATE(std::uint32_t)
TESSERA_INSTANTIATE(float)
TESSERA_INSTANTIATE(double)
TESSERA_INSTANTIATE(c64)
TESSERA_INSTANTIATE(c128)

}  // namespace tessera
