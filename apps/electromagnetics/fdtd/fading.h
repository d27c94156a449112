// SPDX-License-Identifier: Apache-2.0
// Whether what a monitor sees had died away when the run ended. A transform that is cut off while
// fields still ring is off by about what is left times the time in which it would have died away.
#pragma once
#include "tessera/data/checkpoint.h"
#include "tessera/electromagnetics/time_domain.h"

#include <cstdint>
#include <string>
#include <vector>

namespace tessera::apps::fdtd {

/// Sums of squares of a monitor's records over windows of equal length: W_0, W_1, ...; of at most
/// 4096 of its edges, evenly spaced.
class Fading {
 public:
  /// `window` and `every` in steps: each `every`-th is looked at.
  Fading(std::int64_t window, std::int64_t every) : window_(window), every_(every) {}
  void add(const electromagnetics::Records& r);

  /// What W says.
  struct Report {
    bool seen = false;  ///< anything at all
    double fallen_db =
        0;  ///< of what came in the last eighth of the time since the largest, below the largest
    double db_a_step = 0;  ///< by which it falls, over the second half of the time since the
                           ///< largest; 0 or less: it does not
  };
  Report report() const;

  void save(data::Checkpoint& c, const std::string& prefix) const;
  void load(const data::Checkpoint& c, const std::string& prefix);

 private:
  std::int64_t window_, every_;
  std::vector<double> sums_;  ///< the last one is not full
};

/// Transforms of fields that are still above this are told: their amplitude is a hundredth of the
/// largest.
constexpr double kFadedDb = 40;

/// The warning about a monitor whose fields had not fallen by kFadedDb, with how long the run would
/// have to be; empty if they had.
std::string unfaded(const std::string& monitor, const Fading::Report& r, double time_s,
                    double dt_s);

}  // namespace tessera::apps::fdtd
