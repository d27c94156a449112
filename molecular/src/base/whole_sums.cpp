// SPDX-License-Identifier: Apache-2.0
#include "base/whole_sums.h"

#include <cmath>

namespace tessera::molecular {

std::vector<double> whole_sums(
    std::size_t n, std::size_t many, const Others& others,
    const std::function<void(std::size_t, std::size_t, UnitSums&)>& add) {
  const std::size_t blocks = (n + block - 1) / block;
  for (const int power : {36, 4}) {
    const double scale = std::ldexp(1.0, power);
    std::vector<std::int64_t> of_blocks(blocks * many, 0);
    std::vector<std::uint8_t> beyond(blocks, 0);
    over_blocks(n, [&](std::size_t begin, std::size_t end) {
      const std::size_t b = begin / block;
      UnitSums sums{scale, of_blocks.data() + b * many};
      add(begin, end, sums);
      beyond[b] = !sums.holds();
    });
    std::vector<Others::Wide> sum(many + 1, 0);  // the last: blocks that do not hold
    for (std::size_t k = 0; k < of_blocks.size(); ++k) sum[k % many] += of_blocks[k];
    for (const std::uint8_t b : beyond) sum[many] += b;
    others.add(sum);
    if (sum[many] != 0) continue;
    std::vector<double> out(many);
    for (std::size_t k = 0; k < many; ++k) out[k] = static_cast<double>(sum[k]) / scale;
    return out;
  }
  return std::vector<double>(many, std::numeric_limits<double>::quiet_NaN());
}

}  // namespace tessera::molecular
