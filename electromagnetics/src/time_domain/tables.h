// SPDX-License-Identifier: Apache-2.0
//
// A Yee model compiled for one element type: where everything lies in the state, and the
// coefficients of every row. Rows run along x. Rows of coefficients with equal content are kept
// once: a region of one material, or a structure that does not change along y or z, then costs no
// memory traffic, since its row stays in cache.
#pragma once
#include "tessera/electromagnetics/yee_scheme.h"
#include "time_domain/pages.h"

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

namespace tessera::electromagnetics::time_domain {

/// Neighbouring edges of a row and the columns of a list that belong to them.
struct Span {
  int first, length;
  std::int64_t column;
};

/// A dispersive run of a row. Q = (x, y) of term p: x at `state` + 2 p length, y after them;
/// x' = alpha x + re_of_im y + Re beta (E' + E), y' = alpha y + im_of_re x + Im beta (E' + E).
template <class T>
struct Polarized {
  int first, length;
  std::int64_t state;
  std::vector<T> alpha, re_of_im, im_of_re;  ///< [terms]
  std::vector<std::complex<T>> beta;         ///< [terms]
  std::vector<std::uint8_t> two;             ///< [terms] whether y takes part
  std::vector<T> pair;                       ///< [terms] P = pair Re Q: 2, or 1 for real terms
  std::vector<T> gain;                       ///< [length] weight over the metric of the bracket
  std::int64_t mixed = -1;  ///< of mixed edges: where in Work::mixed_gain `gain` begins
};

/// Mixed edges side by side; parameters and traces of edge q begin at column + q K.
template <class T>
struct Mixed {
  int first, length;
  std::int64_t column;
  std::vector<std::size_t> polarized;  ///< [K - 2] in Special::polarized
  std::vector<T> response;             ///< [K - 2] sum of pair Re beta
  std::vector<double> metric;          ///< [length] c dt ds/A* without `scale`
};

/// e of edge `i` of a row += sum of weight times bracket over `count` terms. Across faces that are
/// joined with a phase the weight is complex, weight + i cross: the real part of a field takes
/// -cross times the bracket of the imaginary one, and that cross times the bracket of the real one.
/// W is Hermitian, so that it is symmetric among these real numbers too.
struct Coupled {
  int i;
  std::int64_t slot;          ///< number among all coupled edges
  std::int64_t first, count;  ///< in Tables::coupling
};
/// There are some twenty to each node at a surface.
template <class T>
struct CouplingTerm {
  std::int64_t offset;  ///< of the neighbour
  T weight;
  std::int32_t component;
  std::int32_t detail;  ///< in Tables::coupling_details; -1: none
};
/// What few of them have.
template <class T>
struct CouplingDetail {
  T cross = 0;
  std::int64_t recorded = -1;  ///< the neighbour's first column among the recorded edges, or -1
  std::int64_t turned = -1;    ///< not -1: its bracket is Work::turned of that number
  std::int64_t beside = -1;    ///< not -1: in transposed steps it is Work::beside of that number
};

/// A nonlinear run of a row. With r = sigma dt/(2 eps0) + sum of pair Re beta, what conduction and
/// poles make of the mean of the old and the new field, D = eps e + chi2 e^2 + chi3 (e^2 + across)
/// e + r e (over eps0, in the units of e) lies at `state` and moves by D' = D - 2 r e + gain
/// bracket.
template <class T>
struct Nonlinear {
  struct Neighbour {
    std::int64_t offset;  ///< of e, or of D where that edge is nonlinear too
    T weight;             ///< to a quarter of E in V/m
  };
  int first, length;
  std::int64_t state;
  std::vector<T> eps, chi2,
      chi3;  ///< [length] for e: eps e + chi2 e^2 + chi3 (e^2 + across) e = D, with r in eps
  std::vector<T> gain, twice_loss;  ///< [length]
  /// [length] (ds / l)^2: |E|^2 of the components across, in units of e^2.
  std::vector<T> to_unknown;
  std::vector<Neighbour> around[2];  ///< of the two components across, those of edge q between
                                     ///< begin[q] and begin[q + 1]
  std::vector<int> begin[2];
};

/// What few rows have.
template <class T>
struct Special {
  std::vector<Span> injected, recorded, traced;
  std::vector<Polarized<T>> polarized;
  std::vector<Coupled> coupled;
  std::vector<Nonlinear<T>> nonlinear;
  std::vector<Mixed<T>> mixed;
};

constexpr int kLine = 64;  ///< bytes of a cache line

enum RowFlag : std::uint8_t { lossy = 1, layer_x = 2, layer_y = 4, layer_z = 8, listed = 16 };

/// One component. Its bracket is (p - q) - (r - t), offsets from the edge's own offset in the
/// state.
template <class T>
struct ComponentTable {
  std::int64_t field = 0;  ///< of edge (0, 0, 0) in the state
  std::int64_t p = 0, q = 0, r = 0, t = 0;
  int source[2] = {}, axis[2] = {};  ///< component and axis of the two differences
  std::uint8_t layer_flag[2] = {};   ///< RowFlag of the layer along each difference; 0 along x
  int first[3] = {}, last[3] = {};   ///< indices that are updated: first <= i < last
  /// Those whose medium is known: with what lies beside a slab.
  int known_first[3] = {}, known_last[3] = {};
  std::vector<const T*> factor,
      keep;  ///< [rows] cb and ca along the row without `scale`; keep is null in rows without loss
  std::vector<T> scale_y, scale_z;    ///< metric of y and z, by index
  std::vector<std::uint8_t> flags;    ///< [rows] 0: nothing but the plain update
  std::vector<std::int32_t> special;  ///< [rows], or empty; -1: none
};

/// The absorbing layer's recursion for one component and axis of difference. Positions without a
/// layer have slab -1.
template <class T>
struct LayerTable {
  std::vector<T> b, c, m;          ///< [n + 1]
  std::vector<std::int32_t> slab;  ///< [n + 1]
  int slabs = 0;                   ///< 0: no layer
  std::int64_t psi = 0;            ///< in the state
  int low_begin = 0, low_end = 0, high_begin = 0,
      high_end = 0;                 ///< along x, the positions of the two faces' layers
  std::vector<std::uint8_t> whole;  ///< by index of the whole grid, whether a layer is there
};

/// Numbers of the state that lie side by side.
struct Stretch {
  std::int64_t offset, length;
};
/// What a slab sends the slabs next to it, and what it has of theirs.
struct Seam {
  std::vector<Stretch> to_below, to_above, from_below, from_above;
};

/// An edge whose bracket a slab sends.
struct BracketPlace {
  std::int64_t offset;
  int component;
  std::int64_t recorded;  ///< its first column among the recorded edges, or -1
};
/// Brackets of edges across faces that are joined, of slabs at either end: couplings turn them, so
/// that what they want is not of the fields beside the slab, which are turned already.
struct TurnedBrackets {
  std::vector<BracketPlace> to;  ///< edges of this slab, for the one at the other end
  std::int64_t from = 0;         ///< how many come from there
};
/// Those of edges in the slabs next to this one, which transposed steps want with the cotangents of
/// their records. What comes from below is numbered first.
struct BesideBrackets {
  std::vector<BracketPlace> to_below, to_above;
  std::int64_t from_below = 0, from_above = 0;
};

/// The indices of a slab begin one before the first that it holds, where another slab is, and end
/// one behind the last.
template <class T>
struct Tables {
  YeeGrid grid;  ///< the whole one
  std::array<Faces, 3> faces;
  CutCellFractions open;
  Slab slab;
  int cut = -1;               ///< axis along which there are other slabs; -1: none
  int origin[3] = {};         ///< of index 0 in the whole grid
  int n[3] = {};              ///< cells
  bool resolved[3] = {};      ///< more than one cell, or a period of one
  bool periodic[3] = {};      ///< resolved axes that are joined to themselves
  std::int64_t step[3] = {};  ///< from an edge to its neighbour; 0 along axes that are not resolved
  std::int64_t row = 0, plane = 0;  ///< strides
  int run = 0;  ///< edges of a row that an update passes over, whole cache lines
  std::int64_t state_size = 0;
  ComponentTable<T> component[6];
  LayerTable<T> layer[6][3];
  std::vector<Special<T>> specials;
  std::vector<CouplingTerm<T>> coupling;
  std::vector<CouplingDetail<T>> coupling_details;
  CouplingDetail<T> detail_of(const CouplingTerm<T>& term) const {
    return term.detail < 0 ? CouplingDetail<T>{}
                           : coupling_details[static_cast<std::size_t>(term.detail)];
  }
  /// What all slabs take, so that they choose tiles alike (blocking.h).
  struct {
    bool one_thread = false;
    double coefficient_words = 0;
    std::int64_t cache = 0;
  } agreed;
  std::vector<std::int64_t> uncoupled;  ///< offsets, rising
  std::int64_t n_coupled = 0;
  bool coupled = false;                      ///< some edges, of whatever slab
  std::vector<std::int64_t> recorded_again;  ///< [recorded] the next column of that edge, or -1
  std::int64_t n_injected = 0, n_recorded = 0, n_traced = 0;
  std::vector<Edge> traced;
  std::int64_t channels = 0, n_mixed_gains = 0;  ///< K; numbers in Work::mixed_gain
  std::vector<double> mixed_gain;                ///< [mixed edges] YeeScheme::mixed_gains
  double cdt = 0, unit = 0;  ///< c dt in units of the reference length; that length in m
  bool has_layers = false;
  bool nonlinear = false;  ///< somewhere in the whole grid
  bool bloch = false;      ///< fields have two parts
  double phase[3] = {};    ///< of the joined faces
  RowPool<T> pool;         ///< rows of coefficients
  /// After the step of h, after that of e, and, of nonlinear media, between D and e.
  Seam magnetic, electric, displaced;
  Seam layers;  ///< what layers along the cut axis hold, before transposed steps
  TurnedBrackets turned;
  BesideBrackets beside;

  /// The index in the whole grid.
  int whole(int axis, int i) const {
    const int at = i + origin[axis], period = grid.cells(axis);
    return axis == cut && periodic[axis] ? (at + period) % period : at;
  }
  Edge whole(const Edge& e) const {
    return {e.component, whole(0, e.i), whole(1, e.j), whole(2, e.k)};
  }
  /// The edge of the whole grid by the indices of the slab.
  Edge here(const Edge& e) const {
    return {e.component, e.i - origin[0], e.j - origin[1], e.k - origin[2]};
  }
  bool holds(int c, int j, int k) const {
    const ComponentTable<T>& f = component[c];
    return j >= f.first[1] && j < f.last[1] && k >= f.first[2] && k < f.last[2];
  }
  /// Whether the last cell of an axis is beside the first one; of an axis that is not resolved it
  /// is the same.
  bool wraps(int axis) const { return periodic[axis] || !resolved[axis]; }
  std::int64_t rows() const { return std::int64_t{n[1] + 1} * (n[2] + 1); }
  std::int64_t row_index(int j, int k) const { return std::int64_t{k} * (n[1] + 1) + j; }
  std::int64_t offset(int c, int i, int j, int k) const {
    return component[c].field + i + j * row + k * plane;
  }
  std::int64_t psi_length_x(const LayerTable<T>& l) const {
    return l.low_end - l.low_begin + l.high_end - l.high_begin;
  }
  /// psi of a row: whole rows for layers along y and z; for x the positions of the low, then of the
  /// high face.
  std::int64_t psi_row(const LayerTable<T>& l, int axis, int j, int k) const {
    if (axis == 0) return l.psi + row_index(j, k) * psi_length_x(l);
    if (axis == 1) return l.psi + (std::int64_t{k} * l.slabs + l.slab[j]) * row;
    return l.psi + (std::int64_t{l.slab[k]} * (n[1] + 1) + j) * row;
  }
  T scale(int c, int j, int k) const { return component[c].scale_y[j] * component[c].scale_z[k]; }
};

template <class T>
Tables<T> compile(const YeeModel& model, const Slab& slab);
/// Whether an edge of these tables takes part in a tensor: computed here or beside the slab,
/// neither conductor nor lossy, nonlinear or mixed, outside of the layers.
template <class T>
bool couples(const Tables<T>& tables, const Edge& edge);

/// What one call of advance works on; `transposed` in the meaning of yee_scheme.h.
template <class T>
struct Work {
  const Tables<T>& tables;
  T* state;
  std::int64_t steps;
  const T* in_a;  ///< forward: currents; transposed: cotangents of the records
  const T* in_b;  ///< transposed: cotangents of the traces
  T* out_a;       ///< forward: records; transposed: cotangents of the currents
  T* out_b;       ///< forward: traces; transposed: cotangents of the brackets
  T* coupled;     ///< transposed: [n_coupled] lambda_e of the coupled edges
  std::vector<const T*> special_factor;  ///< [specials] the row's factors where a traced edge's is
                                         ///< replaced, else null
  const T* other_state = nullptr;  ///< of the other part of the field, with what it has for in_a;
                                   ///< null where there is one part
  const T* other_in_a = nullptr;
  const T* turned = nullptr;  ///< brackets that came from the slab at the other end, of this part
  const T* other_turned = nullptr;
  const T* beside = nullptr;  ///< and those of the slabs next to this one
  const T* other_beside = nullptr;
  T cross_sign = 0;  ///< of CouplingDetail::cross: -1 in the real part, 1 in the imaginary one
  /// [specials] as special_factor, in rows with mixed edges.
  std::vector<const T*> special_keep = {};
  const T* mixed_gain = nullptr;  ///< Polarized::gain of mixed edges
};

template <class T>
void advance(const Work<T>& work, Blocking blocking);
template <class T>
void advance_transposed(const Work<T>& work, Blocking blocking);
template <class T>
std::vector<std::uint8_t> unknowns(const Tables<T>& tables);
/// Of YeeScheme::copy_slice, one part.
template <class T>
std::vector<Stretch> stretches_of_slice(const Tables<T>& tables, int axis, int at);

}  // namespace tessera::electromagnetics::time_domain
