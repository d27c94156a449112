// SPDX-License-Identifier: Apache-2.0
//
// Steps of the Yee scheme as a differentiable operation. With x the state, w the currents [n,
// driven and design edges], c the coefficients cb of the design edges, r the records and u the
// brackets ("traces") at the design edges,
//
//   (x', r, u) = P(c)(x, w)                linear in (x, w)
//   d P / d c . dc = P(c)(0, (dc / c) u)   with the current injected at the design edges
//   (lx, lw) = P^T(c)(lx', lr, lu)         the transpose
//   d P^T / d c . dc = P^T(c)(0, 0, (dc / c) (lw - lu))
//
// as e' = ca e + cb (bracket + w) in every step. The current that is injected is no part of du, and
// lw - lu at a design edge is c times the cotangent of its e'.
//
// Design edges of lossy and dispersive media (YeeModel::mixed) have K parameters theta and traces u
// each, "coefficients" and "traces" [.., design K]; there d P / d theta . d theta = P(theta)(0,
// -(1/g) sum_k d theta_k u_k), the traces of that run included.
//
// P and P^T are primitives, each the other's transpose: derivatives of any order and mode are again
// such runs. A state is known by its unknowns (YeeScheme::unknowns): all else in it counts as zero,
// in operands and results.
//
// Between faces that are joined with a phase fields have a real and an imaginary part: every list
// of edges [n, ..] then is [2, n, ..], the state holds both, and P^T is the transpose among real
// numbers, that is the adjoint among complex ones.
//
// On several ranks (`cut`) each makes the same op of its slab's model, calls the same functions in
// the same order and has its slab's part of the state. All else is the same on all ranks and whole:
// currents, coefficients, records, traces, and so what is made of these and its derivatives, to
// the bits of one process. Of a state, sums over ranks go through tessera/parallel/exchanges.h.
//
//   const YeeOpPtr op = yee_op(std::move(model));        // model.traced: the design edges
//   auto loss = [&](Tensor inverse_eps) {
//     return sum(square(simulate(op, coefficients(op, inverse_eps), currents)));
//   };
//   Tensor g = grad(loss)(inverse_eps);
#pragma once
#include "tessera/autodiff/checkpoint.h"
#include "tessera/autodiff/tensor.h"
#include "tessera/electromagnetics/grid_cut.h"
#include "tessera/electromagnetics/yee_scheme.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

namespace tessera::electromagnetics {

/// A compiled model with design edges. Immutable.
struct YeeOp {
  YeeScheme scheme;          ///< of this rank's slab
  std::vector<Edge> driven;  ///< edges that take currents, those of all ranks
  std::vector<Edge> design;  ///< edges whose coefficient is an argument
  std::vector<Edge> recorded;
  double dt_s = 0;
  std::vector<bool> unknown;        ///< [state] as YeeScheme::unknowns
  std::vector<double> unit;         ///< [design] cb of an edge in vacuum
  std::vector<double> coefficient;  ///< [design] cb as the model says
  std::int64_t channels = 1;  ///< parameters and traces of a design edge: 1, or K of MixedEdges
  std::vector<double> per_channel{};  ///< [design, K] -1/g of mixed edges
  GridCut cut{};
  /// [ranks] columns of the lists that each rank holds, in the order of its scheme's.
  struct Columns {
    std::vector<std::vector<std::int64_t>> injected, recorded, traced;
  } columns{};
  std::function<void()> before_steps{};  ///< of each advance and each transposed one; null: nothing

  // Of all ranks.
  std::int64_t n_injected() const {
    return static_cast<std::int64_t>(driven.size() + design.size());
  }
  std::int64_t n_recorded() const { return static_cast<std::int64_t>(recorded.size()); }
  std::int64_t n_traced() const { return static_cast<std::int64_t>(design.size()) * channels; }
};
using YeeOpPtr = std::shared_ptr<const YeeOp>;

/// Compiles the model, of this rank's slab with the lists of all: `injected` become the driven
/// edges and `traced`, or `mixed`, the design edges. Throws Error for a nonlinear medium, whose
/// step has no transpose, and where a traced edge is a conductor, lossy or dispersive: there its
/// coefficient does not tell all of the medium. What `before_steps` throws ends the work that takes
/// steps.
YeeOpPtr yee_op(YeeModel model, GridCut cut = {}, std::function<void()> before_steps = {});

/// cb [design] from the relative inverse permittivity of the design edges [.., design]. With no
/// argument those of the model.
Tensor coefficients(const YeeOpPtr& op, const Tensor& inverse_eps);
Tensor coefficients(const YeeOpPtr& op);
/// The state before the first step: zeros [state].
Tensor initial_state(const YeeOpPtr& op);

struct YeeResult {
  Tensor state;    ///< [state]
  Tensor records;  ///< [n, recorded] or [2, n, recorded]: e after step n, h half a step earlier, as
                   ///< unknowns (yee_scheme.h)
  Tensor traces;   ///< [n, design]
};
/// n steps with currents [n, driven] (of fields of two parts [2, n, driven]) in the units of the
/// brackets (Injection). State, coefficients and currents are cast to the scheme's element type.
YeeResult advance(const YeeOpPtr& op, const Tensor& state, const Tensor& coefficients,
                  const Tensor& currents);

/// How reverse mode gets the states of a run back, and in what portions a run is taken. A portion's
/// tape is its traces.
struct SimulateOptions {
  /// Steps of a portion; 0: 32, fewer where portions would take more than 64 MiB.
  std::int64_t block = 0;
  Checkpoint checkpoint = Checkpoint::revolve(12);
};
/// Records [n_steps, recorded] of a run from zero fields with currents [n_steps, driven]; both [2,
/// ..] for fields of two parts.
Tensor simulate(const YeeOpPtr& op, const Tensor& coefficients, const Tensor& currents,
                const SimulateOptions& options = {});

}  // namespace tessera::electromagnetics
