// SPDX-License-Identifier: Apache-2.0
#include "copy.h"

#include "map.h"

namespace tessera::kernels {
namespace {
/// Copies move bytes of one width, whatever they mean.
template <class F>
void by_width(Dtype t, F&& f) {
  switch (size_of(t)) {
    case 1:
      return f(type_tag<std::uint8_t>{});
    case 4:
      return f(type_tag<std::uint32_t>{});
    case 8:
      return f(type_tag<std::int64_t>{});
    default:
      return f(type_tag<c128>{});
  }
}
}  // namespace

void copy(const View& in, const View& out) {
  by_width(in.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    map1<T>(in, out, [](T x) { return x; });
  });
}

void copy_strided(const View& in, const View& out) {
  by_width(in.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const Rows<2> rows(in.shape, {&in, &out});
    const Index si = rows.inner_stride[0], so = rows.inner_stride[1];
    for_rows(rows.rows(), rows.inner, [&](Index r) {
      const T* a = static_cast<const T*>(in.data) + rows.offset(0, r);
      T* o = static_cast<T*>(out.data) + rows.offset(1, r);
      if (si == 1 && so == 1)
        std::copy(a, a + rows.inner, o);
      else
        for (Index i = 0; i < rows.inner; ++i) o[i * so] = a[i * si];
    });
  });
}
}  // namespace tessera::kernels
