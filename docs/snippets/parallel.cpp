// SPDX-License-Identifier: Apache-2.0
#include <tessera/parallel/part_sums.h>

#include <iostream>

using namespace tessera;

int main() {
  bool right = true;
  parallel::run_ranks(4, [&](parallel::Communicator& c) {
    const std::vector<double> mine(1000, c.rank());  // the one part that this rank holds
    const auto sum =
        parallel::sum_of_parts<double>(c, mine, 1000, parallel::deal_parts(4, c.size()));
    if (c.rank() == 0) {
      std::cout << "0 + 1 + 2 + 3 = " << sum[999] << "\n";
      right = sum[999] == 6;
    }
  });
  return right ? 0 : 1;
}
