// SPDX-License-Identifier: Apache-2.0
//
// Field values at points, as weighted sums of the unknowns of edges: what monitors record.
#pragma once
#include "tessera/electromagnetics/boundary.h"
#include "tessera/electromagnetics/cut_cell_fractions.h"
#include "tessera/electromagnetics/geometry.h"
#include "tessera/electromagnetics/yee_grid.h"

#include <complex>
#include <cstdint>
#include <map>
#include <memory>
#include <tuple>
#include <type_traits>
#include <vector>

namespace tessera::electromagnetics {

/// A share of an edge in a value.
struct EdgeWeight {
  Edge edge;
  double weight;
  std::array<int, 3> periods{};  ///< AxisWeight::period
};

/// Where an axis of a component is known about a coordinate: at most two positions with linear
/// weights. Positions on a conductor are left out (the field is zero there), those beyond a joined
/// face are the ones on the other side, and between an outer face and the first middle the value is
/// that of the middle; at a magnetic conductor it falls to zero at the face.
struct AxisWeight {
  int index;
  double weight;
  int period = 0;  ///< the position is meant that many periods of the joined axis further on: 1
                   ///< behind its last face, -1 in front of its first
};
std::vector<AxisWeight> axis_weights(const YeeGrid& grid, Faces faces, int component, int axis,
                                     double at);

/// The unknown e or h of `component` at `p`, multilinear: sum of weight times unknown is E in V/m
/// or H in A/m. Of an edge that metal cuts, E is the mean over its open part.
std::vector<EdgeWeight> interpolate(const YeeGrid& grid, const std::array<Faces, 3>& faces,
                                    int component, const Point& p,
                                    const CutCellFractions& open = {});

/// Reference length of the unknowns (yee_scheme.h): the smallest cell of the resolved axes.
double reference_length(const YeeGrid& grid);

/// Samples of many monitors over one list of recorded edges without repetitions.
class SampleList {
 public:
  /// Components that are not `computed` are zero everywhere. `open`: of conformal conductors.
  /// `bloch_phase`: of joined faces (YeeModel).
  SampleList(YeeGrid grid, std::array<Faces, 3> faces,
             std::array<bool, 6> computed = {true, true, true, true, true, true},
             std::shared_ptr<const CutCellFractions> open = nullptr,
             std::array<double, 3> bloch_phase = {})
      : grid_(std::move(grid)),
        faces_(faces),
        computed_(computed),
        open_(std::move(open)),
        bloch_phase_(bloch_phase) {}
  /// Adds a value; returns its number.
  std::int64_t add(int component, const Point& p);
  /// Adds the unknown of an edge itself, or what a wire has of that name (wire_network.h);
  /// `periods` further on, where faces are joined.
  std::int64_t add_unknown(const Edge& e, const std::array<int, 3>& periods = {});
  /// Whether a component is anywhere other than zero.
  bool computes(int component) const { return computed_[static_cast<std::size_t>(component)]; }
  std::int64_t size() const { return static_cast<std::int64_t>(begin_.size()) - 1; }
  const std::vector<Edge>& edges() const { return edges_; }
  /// Value `row` of one time step (or one frequency) from the recorded edges.
  template <class T>
  T value(std::int64_t row, const T* recorded) const {
    T sum{};
    for (std::int64_t m = begin_[row]; m < begin_[row + 1]; ++m) {
      if constexpr (std::is_same_v<T, std::complex<double>>)
        sum += phase_.empty() ? weight_[m] * recorded[column_[m]]
                              : weight_[m] * phase_[m] * recorded[column_[m]];
      else
        sum += weight_[m] * recorded[column_[m]];
    }
    return sum;
  }
  /// The real part of value `row` of one time step; `imaginary`: of fields of two parts, else null.
  double value(std::int64_t row, const double* real, const double* imaginary) const {
    if (!imaginary || phase_.empty()) return value(row, real);
    double sum = 0;
    for (std::int64_t m = begin_[row]; m < begin_[row + 1]; ++m)
      sum += weight_[m] *
             (phase_[m].real() * real[column_[m]] - phase_[m].imag() * imaginary[column_[m]]);
    return sum;
  }
  const YeeGrid& grid() const { return grid_; }
  const std::array<Faces, 3>& faces() const { return faces_; }
  const std::vector<std::int64_t>& begin() const { return begin_; }
  const std::vector<std::int64_t>& columns() const { return column_; }
  const std::vector<double>& weights() const { return weight_; }
  /// Beside each weight, e^{-i k.a} of positions across a joined face, 1 elsewhere; empty without a
  /// phase.
  const std::vector<std::complex<double>>& phases() const { return phase_; }

 private:
  void add_share(const Edge& e, double weight, const std::array<int, 3>& periods);

  YeeGrid grid_;
  std::array<Faces, 3> faces_;
  std::array<bool, 6> computed_;
  std::shared_ptr<const CutCellFractions> open_;
  std::vector<Edge> edges_;
  std::map<std::tuple<int, int, int, int>, std::int64_t> known_;
  std::vector<std::int64_t> begin_{0}, column_;
  std::vector<double> weight_;
  std::array<double, 3> bloch_phase_;
  std::vector<std::complex<double>> phase_;
};

}  // namespace tessera::electromagnetics
