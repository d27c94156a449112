// SPDX-License-Identifier: Apache-2.0
//
// The time step of Maxwell's equations on a Yee grid, and its transpose.
//
// The unknowns are integrals along edges, in units of a reference length l (the smallest cell):
//
//   e = E ds / l  (V/m),   h = Z0 H ds* / l  (V/m),   ds, ds*: length of the edge, of its dual
//
// so that curls are plain differences and all metric and material sits in one factor per edge. Step
// n makes h of time (n + 1/2) dt of e of time n dt, and then e of time (n + 1) dt:
//
//   h_x <- h_x - ch [ (e_z[j+1] - e_z) - (e_y[k+1] - e_y) - s ]
//   e_x <- ca e_x + cb [ (h_z - h_z[j-1]) - (h_y - h_y[k-1]) + s ]
//
// and cyclic (and, where a tensor couples edges, e_x <- e_x + W u of its neighbours with a
// symmetric W), with ch = c dt ds* / (mu A), cb = c dt ds / (eps A* (1 + q)), ca = (1 - q) / (1 +
// q), q = sigma dt / (2 eps0 eps); A, A* are the areas that the loop of differences bounds. Of an
// edge or face that metal cuts, ds and A are the open part. s sums what is injected, the absorbing
// layers' convolutions and the polarization currents of dispersive media.
//
// The step is linear in (e, h, s) for given coefficients, and bilinear in coefficients and the
// bracket u. Hence with u recorded ("traced") the derivative in the coefficient of an edge is the
// same step with the current (d cb / cb) u injected at it; and the transpose of the step is, in the
// unknowns cb lambda_e and -ch lambda_h, again a step of this scheme, run backwards, in which the
// absorbing layers convolve before the difference instead of after it.
#pragma once
#include "tessera/autodiff/dtype.h"
#include "tessera/electromagnetics/boundary.h"
#include "tessera/electromagnetics/cut_cell_fractions.h"
#include "tessera/electromagnetics/yee_grid.h"

#include <complex>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace tessera::parallel {
class Communicator;
}

namespace tessera::electromagnetics {

struct WireNetwork;

/// A run of neighbouring edges of a row in which a dispersive medium polarizes: term p moves by Q'
/// = alpha Q + beta (E' + E) and carries P/eps0 = weight * sum (2 Re Q, or Q where alpha and beta
/// are real). A double pole has alpha real and Q = (x, y) with x' = alpha x + shear y + Re beta (E'
/// + E), y' = alpha y + Im beta (E' + E), P/eps0 = weight x.
struct DispersiveRun {
  int first = 0;
  std::vector<double> weight;  ///< share of the edge's cell that the medium fills, [length]
  std::vector<std::complex<double>> alpha, beta;  ///< [terms]
  std::vector<double> shear{};                    ///< [terms], or empty: no double poles
  /// Whether P is Re Q of term p rather than 2 Re Q.
  bool counts_once(std::size_t p) const {
    return alpha[p].imag() == 0 && (beta[p].imag() == 0 || (!shear.empty() && shear[p] != 0));
  }
};

/// A run of edges in which D = eps0 (E/inverse + chi2 E_a^2 + chi3 |E|^2 E_a) for the component a
/// along the edge. Of the two components across it, known beside the edge only, |E|^2 takes the
/// means of their four neighbours, as if these were linear, D inverse: their part in chi3 |E|^2 is
/// too large by 2 chi3 |E|^2 inverse of itself. Loss and poles of the edge act beside it. Linear in
/// absorbing layers; not between faces joined with a phase.
struct NonlinearRun {
  int first = 0;
  std::vector<double> chi2, chi3;  ///< [length] m/V and m^2/V^2, times the share of the edge's cell
};

/// The medium along one row of edges (along x) of one component.
struct MaterialRow {
  std::vector<double> inverse;  ///< 1/eps or 1/mu, relative, at infinite frequency; 0: perfect
                                ///< conductor (the field stays zero)
  /// sigma dt / (2 eps0), or sigma_m dt / (2 mu0); all zero where there is none.
  std::vector<double> loss;
  std::vector<DispersiveRun> dispersive;
  std::vector<NonlinearRun> nonlinear;
};

/// Off-diagonals of the inverse relative permittivity at the node (i, j, k): E_x += 1/4 sum over
/// both nodes of the edge and both y edges of each node of xy D_y, and so on (G. R. Werner, J. R.
/// Cary, J. Comput. Phys. 226 (2007) 1085-1101): symmetric.
struct NodeTensor {
  int i = 0, j = 0, k = 0;
  double xy = 0, xz = 0, yz = 0;
  /// What single pairs of edges have on top (NodeCoupling::pairs): xy, xz, yz.
  std::array<std::array<double, 4>, 3> pairs{};
};

/// Edges whose medium is free: permittivity, conductivity and shares of given media with poles are
/// parameters of a run, K = 2 + poles.size() to an edge: [1/inverse, loss, weight of each]. The
/// step is linear in the products of these with the traces of the edge, and so a change d theta is
/// the current -(1/g) sum_k d theta_k u_k with the edge's `mixed_gains` g and, over the step that
/// ends with e',
///   u = [e' - e, e' + e, P' - P of each, for a weight of 1].
/// Faces (components of H) likewise, by permeability, magnetic loss and poles. The open part that
/// is a share s of an edge in the model divides theta, that of a face multiplies it: cutting it to
/// s' is theta s / s', of a face theta s' / s.
struct MixedEdges {
  std::vector<Edge> edges;           ///< what the model's rows say of their medium does not count
  std::vector<DispersiveRun> poles;  ///< of no edges
  std::int64_t channels() const { return 2 + static_cast<std::int64_t>(poles.size()); }  ///< K
};

/// All that fixes the linear map of a time step.
struct YeeModel {
  YeeGrid grid;
  /// An axis that is not resolved is periodic, whatever is said here.
  std::array<Faces, 3> faces{};
  Pml pml;
  /// Phase k.a of joined faces, rad: F(r + a) = F(r) e^{-i k.a}. Where one is not zero, fields have
  /// a real and an imaginary part.
  std::array<double, 3> bloch_phase{};
  double dt_s = 0;
  Dtype dtype = Dtype::f32;  ///< of the fields: f32 or f64
  std::array<bool, 6> active{true, true, true,
                             true, true, true};  ///< components that are computed (2-D, 1-D)
  /// Fills the rows, whose vectors come sized and set to vacuum. Called once per row.
  std::function<void(int component, int j, int k, MaterialRow&)> material;
  /// What of edges and faces is not metal; an edge of fraction 0 is a conductor, whatever
  /// `material` says.
  CutCellFractions open;
  /// Couples pairs of edges that are computed, lossless, linear and outside of the absorbing
  /// layers; others are left out.
  std::vector<NodeTensor> tensors;
  std::vector<Edge> uncoupled;  ///< electric edges that tensors leave out, as they do mixed ones
  std::vector<Edge> injected;   ///< edges that take a current, in the order of its columns
  std::vector<Edge> recorded;   ///< edges whose field after each step is wanted
  std::vector<Edge> traced;     ///< electric edges whose bracket u is wanted
  MixedEdges mixed;             ///< their traces, K to an edge, come after those of `traced`
  /// What a TimeDomain steps beside the fields (wire_network.h); a scheme alone throws Error.
  std::shared_ptr<const WireNetwork> wires;
};

/// What one of several ranks holds of a grid: of an axis (y or z) the lines and middles from
/// `begin` to `end` - 1, of the last slab the closing line too. Fields go to the slabs next to it
/// and come from there in each step, those of faces that are joined from the other end.
struct Slab {
  int axis = 2, begin = 0, end = 0;
  int below = -1, above = -1;               ///< ranks of the slabs next to it; -1: there is none
  parallel::Communicator* ranks = nullptr;  ///< null: the grid is not cut
};

/// How steps are ordered in memory; the result is the same to the last bit.
struct Blocking {
  /// Time steps that a tile takes together; 1: none; 0: chosen by the size of the problem.
  int steps = 0;
  int rows = 0;  ///< rows (along y) of a tile; 0: chosen
};

/// What a slab sends to the slabs above and below it, in the mean over steps.
struct SeamTraffic {
  double bytes_up = 0, bytes_down = 0, messages_up = 0, messages_down = 0;
};

/// A compiled model. Immutable; may be used from several threads at once, a slab by one, and with
/// the others: `advance` is called on all ranks. Of a slab, the lists of the model are the edges
/// that it holds, and so are all edges asked for; these always count from the whole grid's ends.
class YeeScheme {
 public:
  /// Throws Error for what cannot be run: dt above the limit of vacuum, faces that do not match,
  /// edges outside.
  explicit YeeScheme(const YeeModel& model, const Slab& slab = {});
  YeeScheme(YeeScheme&&) noexcept;
  ~YeeScheme();

  Dtype dtype() const;
  /// 1, or 2 where joined faces have a phase: then the state and every list of `advance` hold all
  /// of the real part, then all of the imaginary one: [2, n_steps, ..].
  int parts() const;
  bool nonlinear() const;  ///< then there is no transpose, and the size of the fields matters: E =
                           ///< e l / ds in V/m
  /// Elements of the state, all parts: six fields, then psi, then Q.
  std::int64_t state_size() const;
  std::int64_t n_injected() const;
  std::int64_t n_recorded() const;
  std::int64_t n_traced() const;  ///< columns: traced edges, then K for each mixed one
  /// [mixed edges] c dt ds/A*, of faces c dt ds*/A: D or B moves by that times the bracket.
  std::vector<double> mixed_gains() const;
  /// [state_size] 1 where the state holds an unknown; elsewhere (padding, copies across joined
  /// faces, conductors, outer tangential E) it is zero or follows from the unknowns. The transpose
  /// is that of the map among unknowns.
  std::vector<std::uint8_t> unknowns() const;
  /// Where the field of an edge lies in the state.
  std::int64_t offset(const Edge& edge) const;
  /// cb (or ch) of an edge.
  double coefficient(const Edge& edge) const;
  double loss_factor(const Edge& edge) const;  ///< ca
  /// Whether a tensor can couple the edge to others: computed, not cut by a conductor, neither
  /// lossy, nonlinear or mixed, outside of the layers.
  bool couples(const Edge& edge) const;
  /// e per E (or h per Z0 H): ds / l, ds the open part of an edge; of a conductor's edge, all of
  /// it.
  double field_scale(const Edge& edge) const;
  double reference_length() const;

  /// Takes `n_steps` steps in place. All arrays have the element type dtype() and are row major:
  /// state [state_size]; currents [n_steps, n_injected] or null (zero); records
  /// [n_steps, n_recorded]; traces [n_steps, n_traced]. `coefficients` [n_traced] replaces cb of
  /// the traced edges (null keeps it) and gives the parameters of mixed ones.
  void advance(void* state, std::int64_t n_steps, const void* currents, void* records, void* traces,
               const void* coefficients, Blocking blocking = {}) const;

  /// The transpose for fixed coefficients, on all ranks at once where the grid is cut: from the
  /// cotangents of the results of `advance` (state in place, records, traces) to those of its
  /// operands (state in place, currents [n_steps, n_injected]), and the brackets' cotangents g at
  /// the traced edges [n_steps, n_traced] besides (columns of mixed edges stay as they are).
  void advance_transposed(void* state, std::int64_t n_steps, const void* records,
                          const void* traces, void* currents, void* trace_cotangents,
                          const void* coefficients, Blocking blocking = {}) const;

  /// Sum over the unknowns of the rows (j, k) of e^2 / (cb / (c dt / l)) and h^2 likewise;
  /// conductors give nothing, nor do rows that a slab does not hold.
  double row_energy(const void* state, int j, int k) const;  ///< all parts
  /// What the poles of these rows store, in the same units: of the oscillator of each term, pair
  /// |a| |Q|^2 / |r| times its weight, with P'' + .. = r E of the term (a kinetic and a potential
  /// part, for a resonance that is not damped exactly its energy; of a conduction current the
  /// kinetic one). Positive, and of the order of the energy that goes to and fro between field and
  /// poles.
  double row_pole_energy(const void* state, int j, int k) const;

  /// The part of the state that belongs to line and middle `at` of y or z (`axis`), in an order
  /// that knows neither slabs nor padding: what a run goes on from. Elements of all parts.
  std::int64_t slice_size(int axis, int at) const;
  void copy_slice(const void* state, int axis, int at, void* to) const;
  void set_slice(void* state, int axis, int at, const void* from) const;

  /// Bytes that one step moves per cell if nothing stays in cache: unfused and fused (18 + c and 12
  /// + c words for c coefficient words), and what this model's absorbing layers and poles add, over
  /// the whole grid.
  struct Traffic {
    double unfused_bytes_per_cell, fused_bytes_per_cell, coefficient_words_per_cell;
  };
  Traffic traffic() const;
  /// Of slabs across y or z (`axis`) of this whole grid, a thread each, in calls of so many steps.
  SeamTraffic seam_traffic(int axis, std::int64_t n_steps) const;
  std::int64_t memory_bytes() const;  ///< of the state and the tables

  struct Impl;

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace tessera::electromagnetics
