// SPDX-License-Identifier: Apache-2.0
//
// Matrices whose entries are linear in what the media have, at every frequency:
//
//   A = sum_kind  s_kind(w) sum_entries  c_kind[medium] value,   s = 1 (yy, zz), i w mu0 (mass),
//                                                                 sqrt(i w mu0) (robin).
#pragma once
#include "tessera/autodiff/ops.h"

#include <array>
#include <vector>

namespace tessera::inversion {

enum Kind2d : int { kind_yy, kind_zz, kind_mass, kind_robin };
constexpr int kinds_2d = 4;

struct Entry2d {
  Index row, col, medium;
  double value;
};
using Entries2d = std::array<std::vector<Entry2d>, kinds_2d>;

/// What each medium has: [media] by kind; undefined: 1.
using Coefficients2d = std::array<Tensor, kinds_2d>;

/// One frequency, traced or under vmap.
struct Frequency2d {
  Tensor w_mu;       ///< scalar f64
  Tensor half_root;  ///< sqrt(w mu0 / 2): sqrt(i w mu0) = (1 + i) of it
  Tensor i_w_mu;     ///< c128
  explicit Frequency2d(const Tensor& w_mu);
};

/// A real sparse matrix that is constant.
struct ConstantMatrix {
  CsrPatternPtr pattern;
  Tensor values;
  ConstantMatrix() = default;
  ConstantMatrix(Index rows, Index cols, const std::vector<Index>& row,
                 const std::vector<Index>& col, const std::vector<double>& value);
  bool empty() const { return !pattern || pattern->entries() == 0; }
  Tensor times(const Tensor& x) const;  ///< x [cols], real or complex
};

/// The entries with rows r0 <= row < r1 and columns c0 <= col < c1, as a matrix.
class Block2d {
 public:
  Block2d() = default;
  Block2d(const Entries2d& entries, Index media, Index r0, Index r1, Index c0, Index c1,
          const std::array<bool, kinds_2d>& constant);
  const CsrPatternPtr& pattern() const { return pattern_; }
  bool empty() const { return pattern_->entries() == 0; }
  Tensor values(const Coefficients2d& c, const Frequency2d& f) const;  ///< c128 [entries]

 private:
  CsrPatternPtr pattern_;
  std::array<ConstantMatrix, kinds_2d> of_medium_;
  std::array<Tensor, kinds_2d> constant_;
};

/// lambda^T (dA/dc_kind[p]) u for all p, from the same entries.
class Sensitivity2d {
 public:
  Sensitivity2d() = default;
  Sensitivity2d(const Entries2d& entries, Index parameters, Index rows, Index cols,
                const std::array<bool, kinds_2d>& constant);
  /// sum over kinds of weight_kind[p] s_kind(w) lambda^T dA/dc_kind[p] u: lambda [rows, k], u =
  /// base + rise with rise [cols] -> [parameters, k]. Kinds whose weight is undefined are left out.
  Tensor operator()(const Coefficients2d& weight, const Frequency2d& f, const Tensor& base,
                    const Tensor& rise, const Tensor& lambda) const;

 private:
  CsrPatternPtr pattern_;  // parameters x rows
  Tensor parameter_;       // of each entry
  std::array<ConstantMatrix, kinds_2d> of_u_;
};

}  // namespace tessera::inversion
