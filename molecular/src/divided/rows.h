// SPDX-License-Identifier: Apache-2.0
//
// Rows of atoms, from those of all to those of a rank and back.
#pragma once
#include "tessera/molecular/box.h"
#include "tessera/parallel/communicator.h"

#include <cstdint>
#include <vector>

namespace tessera::molecular {

/// Those of the atoms with these numbers; none of none.
inline std::vector<Vec3> rows_of(const std::vector<Vec3>& all,
                                 const std::vector<std::int32_t>& numbers) {
  std::vector<Vec3> out;
  if (all.empty()) return out;
  out.reserve(numbers.size());
  for (const std::int32_t i : numbers) out.push_back(all[static_cast<std::size_t>(i)]);
  return out;
}

/// Rows of each rank's atoms, which together are all n, at rank 0; elsewhere nothing.
inline std::vector<Vec3> gathered_rows(parallel::Communicator& ranks,
                                       const std::vector<std::int32_t>& numbers,
                                       const std::vector<Vec3>& rows, std::size_t n) {
  const std::vector<parallel::Bytes> of_numbers = ranks.gather(parallel::to_bytes(numbers)),
                                     of_rows = ranks.gather(parallel::to_bytes(rows));
  std::vector<Vec3> out;
  if (ranks.rank() != 0) return out;
  out.resize(n);
  for (std::size_t r = 0; r < of_rows.size(); ++r) {
    const auto at = parallel::from_bytes<std::int32_t>(of_numbers[r]);
    const auto values = parallel::from_bytes<Vec3>(of_rows[r]);
    for (std::size_t k = 0; k < at.size(); ++k) out[static_cast<std::size_t>(at[k])] = values.at(k);
  }
  return out;
}

}  // namespace tessera::molecular
