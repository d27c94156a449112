// SPDX-License-Identifier: Apache-2.0
//
// What a run takes of memory, in bytes, counted before any of it is taken.
//
//   double samples = surface_samples(grid, middle, size);      // of a flux
//   const RecordMemory flux = memory_of_transforms(samples, n_frequencies);
//   const double needed = field_bytes(grid, faces, pml.cells, Dtype::f32) + material_bytes(grid) +
//                         flux.running + flux.result + flux.passing;
#pragma once
#include "tessera/autodiff/dtype.h"
#include "tessera/electromagnetics/boundary.h"
#include "tessera/electromagnetics/geometry.h"
#include "tessera/electromagnetics/yee_grid.h"

#include <array>
#include <cstdint>

namespace tessera::electromagnetics {

/// The state of a scheme (YeeScheme::state_size): six fields, and what layers of `pml_cells` in
/// front of absorbing faces keep, without the padding of rows along x to lines of cache: a
/// twentieth of 254 cells, a third of 30. Poles of media come on top, two numbers to a term and
/// edge. `parts`: 2 where joined faces have a phase.
std::int64_t field_bytes(const YeeGrid& grid, const std::array<Faces, 3>& faces, int pml_cells,
                         Dtype dtype, int parts = 1);
/// While a model is made of a scene: which medium each of the six components of a cell sees.
double material_bytes(const YeeGrid& grid);

/// How many samples a plane (without extent along one axis that is resolved) or the faces of a box
/// have: two components of E and two of H in each cell that the rectangles touch. Faces on those of
/// the domain, which sampled_box leaves out, are counted.
double surface_samples(const YeeGrid& grid, const Point& middle, const Point& size);

/// The same of a flux on lines of the grid (sampled_flux): E once and H on both sides of it, one
/// node more along each axis left out.
double flux_samples(const YeeGrid& grid, const Point& middle, const Point& size);

/// Of what is recorded at one list of samples.
struct RecordMemory {
  double running =
      0;  ///< all the time: the samples (SampleList, records of a block) and what is kept
  double result = 0;   ///< from the end of the run on
  double passing = 0;  ///< while the result is made
};
/// TimeRecord<double> of `kept` steps.
RecordMemory memory_of_time_record(double samples, double kept);
/// TimeRecord<float> of `kept` steps, whose result is float64.
RecordMemory memory_of_frames(double samples, double kept);
/// SpectralRecord.
RecordMemory memory_of_transforms(double samples, double frequencies);
/// What is told of each direction, beside its transforms: a far field with its intensity,
/// directivity and polarization, or a cross-section alone.
RecordMemory memory_of_pattern(double directions, double frequencies, bool cross_section);

}  // namespace tessera::electromagnetics
