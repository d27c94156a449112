// SPDX-License-Identifier: Apache-2.0
//
// What a curve of a metric says of a training: whether to lower the rate, whether to end. Plain
// data, kept from epoch to epoch. The decisions are those of PyTorch's ReduceLROnPlateau and of
// Keras's EarlyStopping.
#pragma once
#include <cstdint>
#include <limits>

namespace tessera::solvers {

/// Which way a metric gets better.
enum class Better { lower, higher };

struct PlateauOptions {
  Better better = Better::lower;
  double factor = 0.1;         ///< in (0, 1)
  std::int64_t patience = 10;  ///< epochs without progress that are borne
  double threshold = 1e-4;     ///< progress is more than that
  bool relative = true;  ///< of the best value so far (which should be positive); else in its unit
  std::int64_t cooldown = 0;  ///< epochs after a reduction that do not count
  double least = 0;           ///< the factor of all reductions together does not go below
};
/// The factor of the rate, reduced where a metric stays.
struct Plateau {
  double factor = 1;
  double best = std::numeric_limits<double>::quiet_NaN();  ///< NaN: none yet
  std::int64_t bad_epochs = 0, cooldown = 0;
  /// Takes the metric of one more epoch; true where the factor was reduced. NaN is no progress.
  bool see(double metric, const PlateauOptions& o);
};

struct EarlyStoppingOptions {
  Better better = Better::lower;
  std::int64_t patience = 10;    ///< epochs without progress after which training ends
  double least_progress = 0;     ///< of the metric, in its unit; progress is more than that
  std::int64_t first_epoch = 0;  ///< epochs before this one do not count
};
struct EarlyStopping {
  double best = std::numeric_limits<double>::quiet_NaN();  ///< NaN: none yet
  std::int64_t best_epoch = -1, epoch = 0, waited = 0;
  /// Takes the metric of one more epoch; true where training ends. NaN is no progress (Keras takes
  /// one that comes first for the best, after which nothing is better).
  bool see(double metric, const EarlyStoppingOptions& o);
  /// Whether training has ended by what was seen so far.
  bool over(const EarlyStoppingOptions& o) const;
};

}  // namespace tessera::solvers
