// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "stations.h"
#include "tessera/inversion/phase_tensor.h"

namespace tessera::inversion::figures {

/// Ellipses over distance and period, the strike that all share in the subtitle; north is up.
data::Figure phase_tensors_along(const Stations& stations,
                                 const std::vector<PhaseTensorCurve>& curves);

}  // namespace tessera::inversion::figures
