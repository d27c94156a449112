// SPDX-License-Identifier: Apache-2.0
#include "tessera/autodiff/error.h"
#include "tessera/parallel/pieces.h"

namespace tessera::parallel {

std::vector<int> cut_graph(const Graph&, int, std::span<const std::int32_t>,
                           std::span<const double>) {
  throw Error(
      "[cut_graph] this build has no METIS (Debian package libmetis-dev); cut_curve needs none");
}

}  // namespace tessera::parallel
