// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "tessera/inversion/phase_tensor.h"
#include "tessera/inversion/sounding_inversion.h"
#include "tessera/inversion/survey.h"

#include <string>
#include <vector>

namespace tessera::inversion {

/// What is kept of one inverted sounding, as plain numbers: enough for every table and figure.
struct StationResult {
  std::string id, station, file;
  double distance_m = 0, latitude_deg = 0, longitude_deg = 0;  ///< NaN where not known
  SoundingInversion result;
  /// Observed xy and yx of the tensor as it was turned, yx with its phase in the first quadrant.
  std::vector<double> tensor_frequency;
  ModeCurve xy, yx;
  PhaseTensorCurve phase_tensor;  ///< empty without a whole tensor
};
StationResult station_result(const Station& station, SoundingInversion result);

}  // namespace tessera::inversion
