// SPDX-License-Identifier: Apache-2.0
#include "call.h"

#include <stdexcept>

namespace tessera::oracle {
namespace {
int kind_of(Dtype t) { return t == Dtype::boolean ? 0 : is_integer(t) ? 1 : is_float(t) ? 2 : 3; }
int kind_of(const Value& v) {
  switch (v.kind) {
    case Value::Kind::boolean:
      return 0;
    case Value::Kind::integer:
      return 1;
    case Value::Kind::real:
      return 2;
    default:
      return 3;
  }
}
}  // namespace

const Value* Call::find(int place, const char* name) const {
  const Value* v = nullptr;
  if (place >= 0 && place < count())
    v = &places_[static_cast<std::size_t>(place)];
  else
    for (const auto& [n, value] : names_)
      if (n == name) v = &value;
  return v && v->kind != Value::Kind::none ? v : nullptr;
}
const Value& Call::need(int place, const char* name) const {
  if (const Value* v = find(place, name)) return *v;
  throw std::invalid_argument("the sample has no argument " + std::to_string(place) + " '" + name +
                              "'");
}

Tensor Call::tensor(const Value& v) const {
  if (v.kind == Value::Kind::tensor) return tensors_[static_cast<std::size_t>(v.integer)];
  switch (kind_of(v)) {
    case 0:
      return scalar(v.number, Dtype::boolean);
    case 1:
      return from_span<std::int64_t>(std::span(&v.integer, 1), {});
    case 2:
      return scalar(v.number, Dtype::f64);
    default:
      return scalar(v.number, Dtype::c128);
  }
}
Tensor Call::tensor(int place, const char* name) const { return tensor(need(place, name)); }
std::vector<Tensor> Call::tensors(int place, const char* name) const {
  const Value& v = need(place, name);
  std::vector<Tensor> r;
  if (v.kind != Value::Kind::list) return {tensor(v)};
  for (const Value& item : v.items) r.push_back(tensor(item));
  return r;
}
std::vector<Tensor> Call::tensors_from(int place) const {
  std::vector<Tensor> r;
  for (; place < count(); ++place) {
    const auto more = tensors(place);
    r.insert(r.end(), more.begin(), more.end());
  }
  return r;
}

Index Call::integer(int place, const char* name, Index otherwise) const {
  const Value* v = find(place, name);
  if (!v) return otherwise;
  if (v->kind == Value::Kind::tensor) return cast(tensor(*v), Dtype::i64).item<std::int64_t>();
  if (v->kind == Value::Kind::list) return v->items.at(0).integer;
  return v->integer;
}
c128 Call::number(int place, const char* name, c128 otherwise) const {
  const Value* v = find(place, name);
  return v ? v->number : otherwise;
}
double Call::real(int place, const char* name, double otherwise) const {
  return number(place, name, otherwise).real();
}
bool Call::flag(int place, const char* name, bool otherwise) const {
  return number(place, name, otherwise) != 0.0;
}
std::string Call::text(int place, const char* name, const std::string& otherwise) const {
  const Value* v = find(place, name);
  return v && v->kind == Value::Kind::text ? v->text : otherwise;
}
Dtype Call::dtype(int place, const char* name, Dtype otherwise) const {
  const Value* v = find(place, name);
  return v && v->kind == Value::Kind::dtype ? v->dtype : otherwise;
}
Shape Call::sizes(int place, const char* name) const {
  Shape s;
  const Value* v = find(place, name);
  if (!v) return s;
  if (v->kind != Value::Kind::list) s.push_back(v->integer);
  for (const Value& item : v->items) s.push_back(item.integer);
  return s;
}
Shape Call::sizes_from(int place, const char* name) const {
  if (place + 1 >= count()) return sizes(place, name);
  Shape s;
  for (; place < count(); ++place) s.push_back(places_[static_cast<std::size_t>(place)].integer);
  return s;
}
Shape Call::axes(int place, const char* name, int ndim) const {
  Shape s = sizes(place, name);
  if (ndim == 0) return {};
  if (s.empty())
    for (int k = 0; k < ndim; ++k) s.push_back(k);
  return s;
}

std::pair<Tensor, Tensor> Call::both(int place, int other, const char* other_name) const {
  const Value &a = need(place, ""), &b = need(other, other_name);
  const auto against = [&](const Value& literal, const Tensor& t) {
    const int k = kind_of(literal), of_tensor = kind_of(t.dtype());
    if (k <= of_tensor) {
      if (is_integer(t.dtype())) return cast(tensor(literal), t.dtype());
      return scalar(literal.number, t.dtype());
    }
    const bool single = t.dtype() == Dtype::f32;
    return k == 1   ? tensor(literal)
           : k == 2 ? scalar(literal.number, Dtype::f64)
                    : scalar(literal.number, single ? Dtype::c64 : Dtype::c128);
  };
  if (a.kind == Value::Kind::tensor && b.is_number()) return meet(tensor(a), against(b, tensor(a)));
  if (b.kind == Value::Kind::tensor && a.is_number()) return meet(against(a, tensor(b)), tensor(b));
  return meet(tensor(a), tensor(b));
}

Tensor floating(const Tensor& x) { return is_inexact(x.dtype()) ? x : cast(x, Dtype::f64); }
Dtype meet(Dtype a, Dtype b) {
  return can_promote(a, b) ? promote(a, b) : kind_of(a) > kind_of(b) ? a : b;
}
std::pair<Tensor, Tensor> meet(const Tensor& a, const Tensor& b) {
  const Dtype t = meet(a.dtype(), b.dtype());
  return {cast(a, t), cast(b, t)};
}
Shape broadcast_shape(const Shape& a, const Shape& b) {
  Shape r = a.size() > b.size() ? a : b;
  const Shape& s = a.size() > b.size() ? b : a;
  for (int k = 0; k < s.size(); ++k) {
    Index& d = r[r.size() - s.size() + k];
    if (d == 1) d = s[k];
  }
  return r;
}

}  // namespace tessera::oracle
