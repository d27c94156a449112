// SPDX-License-Identifier: Apache-2.0
//
// Every operation of the table gives the same bits in vectors of 256 and of 512 bits, within a
// vector and in many with a rest.
#include "../support/both_widths.h"
#include "op_table.h"

using namespace tessera;

namespace {

std::uint64_t hash_tensors(const std::vector<Tensor>& all) {
  std::uint64_t h = 0xcbf29ce484222325;
  for (const Tensor& t : all) {
    const Tensor x = contiguous(t);
    h = tessera::testing::hash_of(x.view().data,
                                  static_cast<std::size_t>(x.size()) * size_of(x.dtype()), h);
  }
  return h;
}

}  // namespace

TEST(VectorBits, DISABLED_PrintHashesOfAllOperations) {
  for (const table::Row& row : table::all_rows())
    for (int k = 0; k < kDtypes; ++k) {
      const Dtype t = static_cast<Dtype>(k);
      if (!contains(row.dtypes, t)) continue;
      for (Index n : {3, 67}) {
        if (n > 3 && row.large == 0) continue;  // moves views alone
        table::Rng rng(static_cast<unsigned>(n));
        const std::string name =
            row.primitive + "/" + row.variant + "/" + name_of(t) + "/" + std::to_string(n);
        const std::vector<Tensor> in = row.inputs(t, n, rng);
        tessera::testing::print_hash(name, hash_tensors(row.f(in)));
      }
    }
}
TEST(VectorBits, AllOperationsGiveTheSameBitsAtBothWidths) {
  tessera::testing::expect_same_at_both_widths("VectorBits.DISABLED_PrintHashesOfAllOperations");
}
