// SPDX-License-Identifier: Apache-2.0
// The fields at the receivers as a function of the permittivity of a region, and the misfit to the
// data.
#pragma once
#include "electromagnetics/inverse_scattering/options.h"
#include "electromagnetics/waves/case.h"
#include "tessera/autodiff/tensor.h"
#include "tessera/electromagnetics/design.h"
#include "tessera/electromagnetics/yee_primitive.h"

#include <memory>

namespace tessera::apps::inverse_scattering {

/// A permittivity map of the domain against the true one: 10 log10(range^2 / mean square error) and
/// the structural similarity of Z. Wang et al., IEEE Trans. Image Process. 13 (2004) 600, with one
/// window over the whole and constants 0.01 and 0.03 times the range; theirs are the squares of
/// these, which make it a little smaller.
struct Likeness {
  double psnr_db, ssim;
};
Likeness likeness(const std::vector<double>& map, const std::vector<double>& truth);

/// Axes along which E is computed.
std::vector<std::size_t> electric_components(const Case& c);

struct InverseProblem {
  InverseOptions options;
  std::shared_ptr<Case> known;  ///< the scene without the truth
  electromagnetics::DesignRegion region;
  electromagnetics::YeeOpPtr op;
  std::int64_t n_steps = 0;
  Tensor currents;      ///< [source, step, driven edge]: one source is on at a time
  Tensor receivers;     ///< [recorded edge, receiver]: a value is a weighted sum
  Tensor surroundings;  ///< [design edge] relative permittivity outside of the region
  Tensor data;          ///< [source, step, receiver], E in V/m or H in A/m
  /// [z, y, x] relative permittivity of the domain's cells along the first axis on which E is
  /// computed; the background's where a perfect conductor fills a cell.
  std::vector<double> known_map;
  std::vector<double> truth_map;      ///< the same with the truth; empty where it is not known
  std::shared_ptr<const Case> truth;  ///< the scene that makes the data, until it has
  std::vector<data::InputFile> inputs;

  std::int64_t n_cells() const;  ///< of the region
  /// These among all cells of the grid, x fastest.
  std::vector<std::size_t> cells() const;
  /// Of the steps at the receivers: n dt of E, (n - 1/2) dt of H.
  std::vector<double> times_s() const;
  Tensor start() const;  ///< rho [cells]
  Tensor permittivity(const Tensor& rho) const;
  Tensor fields(const Tensor& rho) const;  ///< like data
  Tensor misfit(const Tensor& rho) const;  ///< |F - d|^2 / |d|^2
  Tensor loss(const Tensor& rho) const;    ///< the misfit and the smoothness
  std::vector<double> map(const Tensor& rho) const;
  std::int64_t tape_bytes() const;  ///< of all steps of all sources, as reverse mode may keep them
};

/// All that is made without a run in time: the data where a file has them, else what makes them.
/// Fields in the precision that the case asks for, or in float64.
InverseProblem make_problem(const data::Config& config, bool in_float64);
/// The data where they are not there yet: simulates the truth, adds noise.
void make_data(InverseProblem& p, const data::Config& config);

}  // namespace tessera::apps::inverse_scattering
