// SPDX-License-Identifier: Apache-2.0
// What a case of electromagnetics.inverse_scattering may say: the sections of waves in time
// (waves/options.h) for what is known and how waves travel, and the unknown, the data and the
// descent. SI units.
#pragma once
#include "electromagnetics/waves/options.h"

namespace tessera::apps::inverse_scattering {

using namespace waves;

struct ReceiverOptions {
  Component component = Component::Ez;
  std::vector<Point> positions;
};
/// Cells whose middles lie in a box.
struct RegionOptions {
  Point low{}, high{};
  std::optional<double> start;  ///< not given: that of the background; set by make_problem
  double least = 1;
  static constexpr double passed = 0.01;  ///< what permittivities pass `least` by, at most
};
struct DataOptions {
  std::optional<std::filesystem::path> file;
  double noise = 0;
  int seed = 1;
};
enum class Descent { adam, lbfgs };
struct DescentOptions {
  Descent method = Descent::lbfgs;
  int iterations = 50;
  double rate = 0.1;
  double until = 0;
  double smoothness = 0;
};
struct InverseExpectOptions {
  std::optional<double> misfit_max, psnr_min, ssim_min;
};

struct InverseOptions {
  int schema = 1;
  std::string title;
  GridOptions grid;
  SteppingOptions run;
  BoundaryOptions boundary;
  std::vector<MaterialOptions> materials;
  std::vector<StructureOptions> structures;
  std::vector<SourceOptions> sources;
  ReceiverOptions receivers;
  RegionOptions region;
  std::vector<StructureOptions> truth;
  DataOptions data;
  DescentOptions optimize;
  OutputOptions output;
  InverseExpectOptions expect;

  /// The waves in what is known, or in the truth.
  CaseOptions waves(bool with_truth) const;
};

const data::Options<InverseOptions>& inverse_options();
/// Also free of contradictions. Throws data::InputError (exit 5) with every finding at the place of
/// its key.
InverseOptions read_inverse_options(const data::Config& config);

}  // namespace tessera::apps::inverse_scattering
