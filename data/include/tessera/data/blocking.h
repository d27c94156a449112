// SPDX-License-Identifier: Apache-2.0
//
// The mean of a series whose values depend on those before, and how far it may be off (Flyvbjerg &
// Petersen, J. Chem. Phys. 91 (1989) 461): neighbours are averaged again and again. At level l
// there are n_l = n/2^l blocks of variance c_l, and
//
//   error_l = sqrt(c_l/(n_l - 1)) (1 +- 1/sqrt(2 (n_l - 1)))
//
// rises until blocks are independent and then stays. Taken is the first level with 2^{3l} > 2 n
// (error_l/error_0)^4, where what is left of dependence and the scatter of the error are equally
// small (Lee et al., Phys. Rev. E 83 (2011) 066706).
#pragma once
#include <cstdint>
#include <span>
#include <vector>

namespace tessera::data {

struct BlockLevel {
  std::uint64_t blocks = 0;
  double error = 0, error_of_error = 0;
};

struct BlockedMean {
  std::uint64_t n = 0;
  double mean = 0;   ///< NaN of no value
  double error = 0;  ///< standard error of the mean; NaN of fewer than two values
  double error_of_error = 0;
  double inefficiency = 1;  ///< values that count as one independent value: (error/error_0)^2
  std::uint64_t block = 1;  ///< values in a block
  bool plateau =
      false;  ///< false: the series is too short to tell; `error` is the largest that was seen
  std::vector<BlockLevel> levels;
};

/// Takes values one by one and keeps log2(n) blocks.
class Blocking {
 public:
  void add(double value);
  BlockedMean result() const;

 private:
  struct Level {
    std::uint64_t n = 0;
    double mean = 0, squares = 0;  ///< sum of (value - mean)^2
    double waiting = 0;            ///< the odd value, until its neighbour comes
  };
  std::vector<Level> levels_;
};

BlockedMean blocked_mean(std::span<const double> series);

}  // namespace tessera::data
