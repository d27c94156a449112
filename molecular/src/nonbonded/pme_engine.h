// SPDX-License-Identifier: Apache-2.0
//
// A particle-mesh sum step by step on the grid of pme_kernels.h, threaded: what runs and what
// derivatives have in common.
#pragma once
#include "nonbonded/kernels/pme_kernels.h"
#include "nonbonded/matrix.h"
#include "nonbonded/pme_ranks.h"
#include "tessera/autodiff/forall.h"

#include <array>
#include <vector>

namespace tessera::molecular {

/// k^2 = sum of metric n_a n_b over these pairs of axes; moments come in the same order.
inline constexpr std::array<std::array<std::size_t, 2>, 6> pairs_of_axes = {
    {{0, 0}, {1, 1}, {2, 2}, {0, 1}, {0, 2}, {1, 2}}};

template <class T>
class PmeEngine {
 public:
  PmeEngine(int order, double beta, double ke);

  /// Charges [n]. Whole numbers stand for multiples of a quantum, a power of two. Single: 2^-26 of
  /// the largest charge, which leaves room for 32 of them on one point; double: the finest by which
  /// no one contribution reaches 2^50 and no point 2^62.
  void set_charges(const double* charge, std::size_t n);
  /// The atoms that are taken from now on, some of those whose charges were set: quanta stay.
  void take(const std::vector<double>& charge);
  /// Grid and waves are dealt among ranks, which lives as long; after set_box, anew where they are
  /// dealt differently. Derivatives are not taken.
  void divide(PmeRanks<T>& ranks);
  /// After the charges. Throws Error where the grid is too coarse for the splines.
  void set_box(const std::array<int, 3>& points, const Matrix<double>& h);
  /// Atoms at x [n, 3] to cells and slabs; those without a charge take no part, unless potentials
  /// are wanted.
  void place(const double* x);
  /// Charges to the potential. Throws Error where charges pile up beyond the range of single
  /// precision.
  void convolve(bool moments);
  /// Fills grid().felt; then f(first, one past the last) of a slab's atoms, threaded.
  template <class F>
  void gather(F&& f) {
    parallel_chunks(static_cast<std::int64_t>(grid_.slabs.size()), [&](std::int64_t s) {
      kernels_.gather(grid_, static_cast<std::size_t>(s));
      f(grid_.first[static_cast<std::size_t>(s)], grid_.first[static_cast<std::size_t>(s) + 1]);
    });
  }
  /// Throws Error, on all ranks, where whole numbers on `g`, filled and transformed along x, went
  /// beyond the range of single precision; `total`: their sum.
  void check_range(const PmeGrid<T>& g, double total) const;
  /// Sums over planes of the moments of `g`, in kJ/mol.
  static std::array<double, pme_moments> moments_of(const PmeGrid<T>& g);
  /// The grid of a tangent, shaped as this one.
  void shape(PmeGrid<T>& other) const;

  PmeGrid<T>& grid() { return grid_; }
  const PmeKernels<T>& kernels() const { return kernels_; }
  const Matrix<double>& inverse() const { return inverse_; }
  /// du_b/dx_c
  const Matrix<double>& by_fraction() const { return by_fraction_; }
  std::size_t pairs_of_lines() const { return grid_.largest.size(); }
  const std::vector<double>& charge() const { return charge_; }
  /// Where each atom is in grid().atoms and grid().felt; -1: takes no part.
  const std::vector<std::int32_t>& slots() const { return slots_; }

 private:
  void lay_out(PmeGrid<T>& g, const std::array<int, 3>& points) const;
  void set_influence();

  double ke_, total_ = 0;
  PmeRanks<T>* ranks_ = nullptr;
  PmeKernels<T> kernels_;
  PmeGrid<T> grid_;
  std::vector<double> charge_;
  std::array<int, 3> points_{};
  std::array<std::vector<double>, 3> moduli_;
  Matrix<double> h_{}, inverse_{}, by_fraction_{};
  double quantum_of_influence_ = 0;
  std::vector<PmeAtom<T>> found_;  ///< of each atom, before they are sorted
  std::vector<std::int32_t> slots_,
      first_;  ///< of each atom (until sorted, its slab); where chunks begin in each slab
};

/// The quantum of charges of which none is above `most` and all add up to `all` at most.
template <class T>
double pme_quantum(double most, double all);

}  // namespace tessera::molecular
