// SPDX-License-Identifier: Apache-2.0
//
// Derivatives of a run in numbers that its scene is made from: radii, positions, angles.
//
// A step takes the brackets u of electric edges to their fields (yee_scheme.h),
//   e' = e + M u,   M_ee = cb,   M_ef = W where a tensor couples e and f,
// and M is linear in the inverse permittivities that averaging.h makes of the scene. With s_e the
// currents, which act as the brackets of their own edges do, and G_e(n) the record n steps after a
// current of 1 at e,
//   d e' = dM u = M_ee s,   s_e = sum_f (dM_ef / M_ee) u_f,
//   d x_n / d p = sum_{m <= n} sum_e G_e(n - m) s_e(m),
// a sum over the edges that a face sweeps, not over the grid. A run gives u, a transposed one
// (driven at the record in its last step alone) gives G of all edges at once, and the convolutions
// go by FFT: all parameters for two runs, whatever their number.
//
//   const auto model_of = [&](const std::vector<double>& p) {
//     return yee_model(grid, faces, pml, dt, Dtype::f64, ring(p[0], p[1]), media);
//   };
//   const ShapeDerivatives derivatives =
//       shape_derivatives(model_of, {1e-6, 2e-6}, {1e-5 * cell, 1e-5 * cell});
//   const Tensor moved = sample_derivatives(model_of({1e-6, 2e-6}), derivatives, sources, samples,
//                                           n_steps);  // [parameter, sample, step]
//   const auto [modes, d_modes] = jvp(
//       [&](Tensor x) { return resonances(x, dt, f_min, f_max); }, signal, moved.at(1, 0));
#pragma once
#include "tessera/autodiff/tensor.h"
#include "tessera/electromagnetics/samples.h"
#include "tessera/electromagnetics/time_domain.h"
#include "tessera/electromagnetics/yee_primitive.h"

#include <cstdint>
#include <functional>
#include <vector>

namespace tessera::electromagnetics {

/// d M / d p, for each parameter.
struct ShapeDerivatives {
  struct Entry {
    std::int32_t to, from;  ///< e and f, numbers in `edges`
    double value;           ///< per unit of the parameter
  };
  std::vector<Edge> edges;  ///< by component, then k, j, i
  std::vector<std::vector<Entry>> parameters;
  bool diagonal() const;  ///< whether no tensor moves
};

/// Central differences of the averaging alone, (M(p + h) - M(p - h)) / 2h, with a step h for each
/// parameter. Shares of boxes are piecewise cubic in the position of a face: for h of 1e-5 of a
/// cell (at unit speed of the face) the error is 1e-9 of the largest derivative, by rounding. Where
/// a face lies exactly on the side of a box, the derivative jumps, and at corners the mean itself:
/// the mean of the derivatives on both sides is given; within h of such a position, something
/// between them. Throws Error where a parameter moves a conductor, a lossy, dispersive, nonlinear
/// or magnetic medium, the grid or the time step, or nothing at all: conductors follow the edges of
/// the grid in steps. Shares of media with losses or poles are rounded (averaging.h): these are
/// looked at with 3,000 h.
ShapeDerivatives shape_derivatives(
    const std::function<YeeModel(const std::vector<double>&)>& model_of,
    const std::vector<double>& at, const std::vector<double>& steps);
/// The same for large grids, a piece of `most_cells` cells at a time (of 16 planes at least), so
/// that nothing has the size of the grid: `model_of` gives the model of a slab. Averaging::corners
/// included, the derivatives are those of the whole to the last bit.
ShapeDerivatives shape_derivatives(
    const YeeGrid& grid, const std::array<Faces, 3>& faces,
    const std::function<YeeModel(const std::vector<double>&, const Slab&)>& model_of,
    const std::vector<double>& at, const std::vector<double>& steps,
    std::int64_t most_cells = std::int64_t{4} << 20);

/// cb [design] to first order in p, the change of the parameters [parameter]: of an op whose design
/// edges are `derivatives.edges`. For objectives by `simulate` and `spectra`, in every mode. Throws
/// Error where tensors move: those are no arguments of a YeeOp.
Tensor coefficients(const YeeOpPtr& op, const ShapeDerivatives& derivatives, const Tensor& p);

struct SampleDerivativesOptions {
  /// Of the histories of brackets and responses, of which a run keeps two numbers for each edge and
  /// step. Where all do not fit, the edges are taken in several portions, of two runs each.
  std::int64_t most_bytes = std::int64_t{1} << 30;
  /// Called now and then with the share of the work that is done; false ends it, on whatever rank.
  std::function<bool(double)> go_on = {};
  /// As of yee_op: each rank calls it with its slab's model and gets all; it holds the histories of
  /// its own edges.
  GridCut cut = {};
};
/// d x / d p of samples x [parameter, sample, step], f64; x[n] is known after step n, as in
/// Records. Undefined where `go_on` ended it. Throws Error for faces joined with a phase, for edges
/// without a coefficient of their own (yee_op) and where a source lies on an edge whose tensor
/// moves.
Tensor sample_derivatives(YeeModel model, const ShapeDerivatives& derivatives,
                          const std::vector<Injection>& sources, const SampleList& samples,
                          std::int64_t n_steps, const SampleDerivativesOptions& options = {});

}  // namespace tessera::electromagnetics
