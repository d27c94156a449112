// SPDX-License-Identifier: Apache-2.0
//
// Unknowns that the ranks of a program hold together, as solvers here see them; what sends the
// messages is `parallel/row_matrix.h`. All ranks make the same calls, in the same order.
//
// A vector is cut into parts, whose number and lengths belong to the problem; each rank holds some
// that follow each other. Sums are taken within a part from its first element to its last, then
// over all parts along one binary tree (a node is its left half plus its right one): the same bits
// whoever holds the parts. One process without ranks has parts of 8,192 elements and the same tree.
#pragma once
#include "tessera/autodiff/tensor.h"

#include <memory>
#include <span>
#include <vector>

namespace tessera {

/// Elements of a part where nothing else is said.
constexpr Index kVectorPart = 8192;

class VectorOnRanks {
 public:
  virtual ~VectorOnRanks() = default;
  virtual int rank() const = 0;
  virtual int ranks() const = 0;
  /// Where the parts of this rank begin among its elements: from 0 to how many it has.
  virtual std::span<const Index> parts() const = 0;
  /// total [n] = the sums over all parts of `of_parts`, [parts of this rank, n] row-major.
  virtual void sum(std::span<const double> of_parts, Index n, std::span<double> total) const = 0;
  /// The largest of what the ranks give, none of it NaN.
  virtual double max(double mine) const = 0;
  Index size() const { return parts().back(); }
};
using VectorOnRanksPtr = std::shared_ptr<const VectorOnRanks>;

/// The rows of a square sparse matrix, dealt like the unknowns. A CsrPattern [rows of this rank,
/// copies] has their entries; its columns number the copies of unknowns that these rows read.
class RowsOnRanks : public VectorOnRanks {
 public:
  /// x [size, ...] -> [copies, ...], and its transpose, which adds the copies of an unknown in the
  /// order of the parts that hold them. Operations of the engine, linear.
  virtual Tensor copies_of(const Tensor& x) const = 0;
  virtual Tensor add_copies(const Tensor& y) const = 0;
  /// Unknowns counted from the first of rank 0 on: this rank's first, and that of each copy.
  virtual Index first() const = 0;
  virtual std::span<const Index> numbers() const = 0;
};
using RowsOnRanksPtr = std::shared_ptr<const RowsOnRanks>;

}  // namespace tessera
