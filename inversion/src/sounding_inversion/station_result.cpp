// SPDX-License-Identifier: Apache-2.0
#include "tessera/inversion/station_result.h"

#include "sounding/missing.h"
#include "tessera/inversion/mt_transform.h"

#include <utility>

namespace tessera::inversion {

StationResult station_result(const Station& station, SoundingInversion result) {
  const Sounding& s = station.sounding;
  return {.id = station.id,
          .station = station.name,
          .file = station.file.path,
          .distance_m = station.distance_m,
          .latitude_deg = station.latitude_deg.value_or(kNaN),
          .longitude_deg = station.longitude_deg.value_or(kNaN),
          .result = std::move(result),
          .tensor_frequency = s.frequency_hz,
          .xy = mode_curve("xy", response_of(s, Element::xy)),
          .yx = mode_curve("yx", response_of(s, Element::yx)),
          .phase_tensor = phase_tensor_curve(s)};
}

}  // namespace tessera::inversion
