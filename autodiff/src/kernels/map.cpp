// SPDX-License-Identifier: Apache-2.0
#include "map.h"

namespace tessera::kernels {

template <int N>
void over_rows(const std::array<const View*, N>& in, const View& out,
               const std::array<std::size_t, N + 1>& bytes, RowLoop row, const void* f) {
  if (out.count() == 0) return;
  const Rows<N> rows(out.shape, in);
  constexpr Index piece = 1 << 15;
  const Index pieces = (rows.inner + piece - 1) / piece;
  for_rows(rows.rows() * pieces, std::min(rows.inner, piece), [&](Index i) {
    const Index r = pieces == 1 ? i : i / pieces, begin = (i - r * pieces) * piece;
    const void* x[N];
    for (int k = 0; k < N; ++k)
      x[k] = static_cast<const std::byte*>(in[k]->data) +
             (rows.offset(k, r) + begin * rows.inner_stride[k]) * static_cast<Index>(bytes[k]);
    row(f, std::min(piece, rows.inner - begin), x, rows.inner_stride,
        static_cast<std::byte*>(out.data) +
            (r * rows.inner + begin) * static_cast<Index>(bytes[N]));
  });
}
template void over_rows<1>(const std::array<const View*, 1>&, const View&,
                           const std::array<std::size_t, 2>&, RowLoop, const void*);
template void over_rows<2>(const std::array<const View*, 2>&, const View&,
                           const std::array<std::size_t, 3>&, RowLoop, const void*);
template void over_rows<3>(const std::array<const View*, 3>&, const View&,
                           const std::array<std::size_t, 4>&, RowLoop, const void*);

}  // namespace tessera::kernels
