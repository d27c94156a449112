// SPDX-License-Identifier: Apache-2.0
//
// One call of an operation of torch as samples.py wrote it: positional arguments, of which the
// first is the input, and named ones. Rows of the table (table.h) read them from here by place and
// by name, whichever the sample used.
#pragma once
#include "tessera/autodiff/ops.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace tessera::oracle {

struct Value {
  enum class Kind : std::uint8_t {
    none,
    boolean,
    integer,
    real,
    complex,
    text,
    dtype,
    tensor,
    list,
    slice,
    ellipsis
  };
  Kind kind = Kind::none;
  c128 number{};             ///< boolean, integer, real, complex
  std::int64_t integer = 0;  ///< boolean, integer; the number of a tensor
  std::string text;
  Dtype dtype = Dtype::f64;
  std::vector<Value> items;  ///< of a list; start, stop and step of a slice

  bool is_number() const { return kind >= Kind::boolean && kind <= Kind::complex; }
};

class Call {
 public:
  Call(const std::vector<Value>& places, const std::vector<std::pair<std::string, Value>>& names,
       const std::vector<Tensor>& tensors)
      : places_(places), names_(names), tensors_(tensors) {}

  /// The argument, unless it is left out or None.
  const Value* find(int place, const char* name = "") const;
  bool has(int place, const char* name = "") const { return find(place, name) != nullptr; }
  int count() const { return static_cast<int>(places_.size()); }

  Tensor tensor(const Value& v)
      const;  ///< a number becomes a tensor of torch's type for it: i64, f64, c128, bool
  Tensor tensor(int place, const char* name = "") const;
  Tensor operator[](int place) const { return tensor(place); }
  std::vector<Tensor> tensors(int place,
                              const char* name = "") const;  ///< of a list, or of a single one
  std::vector<Tensor> tensors_from(
      int place) const;  ///< all positional ones from there, a list among them opened

  Index integer(int place, const char* name, Index otherwise) const;
  double real(int place, const char* name, double otherwise) const;
  c128 number(int place, const char* name, c128 otherwise) const;
  bool flag(int place, const char* name, bool otherwise) const;
  std::string text(int place, const char* name, const std::string& otherwise) const;
  Dtype dtype(int place, const char* name, Dtype otherwise) const;
  Shape sizes(int place,
              const char* name = "") const;  ///< a number or a list; empty where there is none
  Shape sizes_from(
      int place, const char* name = "") const;  ///< the same, or all positional numbers from there
  /// The axes named there, all where none are.
  Shape axes(int place, const char* name, int ndim) const;

  /// Two operands in the type that torch computes in; a literal takes that of the tensor unless it
  /// is of a higher kind.
  std::pair<Tensor, Tensor> both(int place = 0, int other = 1,
                                 const char* other_name = "other") const;

 private:
  const Value& need(int place, const char* name) const;
  const std::vector<Value>& places_;
  const std::vector<std::pair<std::string, Value>>& names_;
  const std::vector<Tensor>& tensors_;
};

/// Integers and bools as f64, others as they are: where torch computes with floats whatever it is
/// given.
Tensor floating(const Tensor& x);
/// Both in one type: bool < integers < floats < complex numbers.
std::pair<Tensor, Tensor> meet(const Tensor& a, const Tensor& b);
Dtype meet(Dtype a, Dtype b);
inline int axis_of(Index axis, int ndim) {
  return static_cast<int>(axis < 0 ? axis + std::max(ndim, 1) : axis);
}
inline Tensor like(c128 value, const Tensor& x) { return scalar(value, x.dtype()); }
Shape broadcast_shape(const Shape& a, const Shape& b);

}  // namespace tessera::oracle
