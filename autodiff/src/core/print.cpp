// SPDX-License-Identifier: Apache-2.0
#include "tensor_internal.h"
#include "tessera/autodiff/graph.h"
#include "tessera/autodiff/tensor.h"

#include <charconv>
#include <string>

namespace tessera {
namespace {

constexpr Index kEdge = 3, kWhole = 1000;

template <class T>
std::string element(T v) {
  if constexpr (std::is_same_v<T, bool>)
    return v ? "true" : "false";
  else if constexpr (std::is_same_v<T, c64> || std::is_same_v<T, c128>) {
    const std::string im = element(v.imag());
    return element(v.real()) + (im[0] == '-' ? "" : "+") + im + "i";
  } else {
    char buffer[40];
    std::to_chars_result end;
    if constexpr (std::is_floating_point_v<T>)
      end = std::to_chars(buffer, buffer + sizeof buffer, v, std::chars_format::general, 6);
    else
      end = std::to_chars(buffer, buffer + sizeof buffer, v);
    return {buffer, end.ptr};
  }
}

template <class T>
void print(std::string& out, const View& v, int axis, const T* at, bool cut) {
  if (axis == v.shape.size()) {
    out += element(*at);
    return;
  }
  const Index n = v.shape[axis];
  const bool last = axis + 1 == v.shape.size();
  out += "[";
  for (Index i = 0; i < n; ++i) {
    if (i) out += last ? ", " : ",\n" + std::string(static_cast<std::size_t>(axis) + 1, ' ');
    if (cut && n > 2 * kEdge && i == kEdge) {
      out += "...";
      i = n - kEdge - 1;
      continue;
    }
    print(out, v, axis + 1, at + i * v.strides[axis], cut);
  }
  out += "]";
}

}  // namespace

std::string to_string(const Tensor& t) {
  if (!t.defined()) return "undefined tensor";
  std::string out = to_string(t.type());
  const Tensor* known = &t;
  while (known->is_traced()) {
    const Recorder& r = *known->impl()->recorder;
    out += std::string(" traced by ") + r.transform();
    if (!r.live() || !r.open()) return out;
    known = &r.values()[known->impl()->id];
  }
  out += t.ndim() > 1 ? "\n" : " ";
  visit_dtype(t.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    print(out, known->view(), 0, static_cast<const T*>(known->view().data), known->size() > kWhole);
  });
  return out;
}

}  // namespace tessera
