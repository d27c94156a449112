// SPDX-License-Identifier: Apache-2.0
// Amplitudes of a guide's modes from samples of the fields at a plane across it.
#pragma once
#include "tessera/autodiff/tensor.h"
#include "tessera/electromagnetics/grid_modes.h"
#include "tessera/electromagnetics/samples.h"

#include <vector>

namespace tessera::apps::fdtd {

/// Adds e at the plane's line, then h half a cell before and behind it, on the edges of the modes.
void add_mode_samples(electromagnetics::SampleList& samples, const electromagnetics::YeeGrid& grid,
                      const electromagnetics::ModePlane& plane,
                      const electromagnetics::GridModes& modes);

/// By which those samples are multiplied: complex [2, frequency, mode, sample], along +n first
/// (mode_amplitudes in grid_modes.h). `modes` at each frequency; what is in the grid is one of
/// `images` parts of the whole (images_of), whose amplitudes are told.
Tensor mode_weights(const std::vector<electromagnetics::GridModes>& modes, std::size_t count,
                    double images);

/// Complex [2, frequency, mode] from the transforms of the samples [frequency, sample].
Tensor mode_amplitudes(const Tensor& weights, const Tensor& values);

}  // namespace tessera::apps::fdtd
