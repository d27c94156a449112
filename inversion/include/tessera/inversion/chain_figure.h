// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "tessera/data/plot.h"

#include <string>
#include <vector>

namespace tessera::inversion {

/// A number that several chains have walked over, [chains][draws], alike long.
struct ChainTrace {
  std::string name;
  std::vector<std::vector<double>> chains;
  double r_hat = 0;  ///< NaN: not known
};
/// How chains have mixed, a row for each number: its path in each chain, and how often its rank
/// among the draws of all chains falls in each part of these, over what chains that agree have (1
/// in each part; A. Vehtari et al. 2021, doi:10.1214/20-BA1221, section 4.3). Throws Error where
/// there are no draws, or chains of unequal lengths.
data::Figure chain_figure(const std::string& title, const std::vector<ChainTrace>& of);

}  // namespace tessera::inversion
