// SPDX-License-Identifier: Apache-2.0
#include "form.h"

namespace tessera::inversion {

Frequency2d::Frequency2d(const Tensor& w)
    : w_mu(w), half_root(sqrt(0.5 * w)), i_w_mu(complex(0.0 * w, w)) {}

ConstantMatrix::ConstantMatrix(Index rows, Index cols, const std::vector<Index>& row,
                               const std::vector<Index>& col, const std::vector<double>& value) {
  const CooPattern coo = csr_from_coo(rows, cols, row, col);
  std::vector<double> sums(static_cast<std::size_t>(coo.pattern->entries()), 0.0);
  for (std::size_t k = 0; k < value.size(); ++k) sums[coo.slot[k]] += value[k];
  pattern = coo.pattern;
  values = tensor(sums);
}

Tensor ConstantMatrix::times(const Tensor& x) const {
  if (is_complex(x.dtype())) return as_complex(csr_matmul(values, pattern, as_real(x)));
  return csr_matmul(values, pattern, x);
}

Block2d::Block2d(const Entries2d& entries, Index media, Index r0, Index r1, Index c0, Index c1,
                 const std::array<bool, kinds_2d>& constant) {
  std::array<std::vector<Index>, kinds_2d> medium;
  std::array<std::vector<double>, kinds_2d> value;
  std::vector<Index> row, col;
  for (int k = 0; k < kinds_2d; ++k)
    for (const Entry2d& e : entries[k])
      if (e.row >= r0 && e.row < r1 && e.col >= c0 && e.col < c1) {
        row.push_back(e.row - r0);
        col.push_back(e.col - c0);
        medium[k].push_back(e.medium);
        value[k].push_back(e.value);
      }
  const CooPattern coo = csr_from_coo(r1 - r0, c1 - c0, row, col);
  pattern_ = coo.pattern;
  std::size_t first = 0;
  for (int k = 0; k < kinds_2d; ++k) {
    const std::size_t n = value[k].size();
    const std::vector<Index> slot(coo.slot.begin() + static_cast<std::ptrdiff_t>(first),
                                  coo.slot.begin() + static_cast<std::ptrdiff_t>(first + n));
    first += n;
    if (n == 0) continue;
    if (constant[k]) {
      std::vector<double> sums(static_cast<std::size_t>(pattern_->entries()), 0.0);
      for (std::size_t e = 0; e < n; ++e) sums[slot[e]] += value[k][e];
      constant_[k] = tensor(sums);
    } else {
      of_medium_[k] = ConstantMatrix(pattern_->entries(), media, slot, medium[k], value[k]);
    }
  }
}

Tensor Block2d::values(const Coefficients2d& c, const Frequency2d& f) const {
  const auto part = [&](int k) {
    if (constant_[k].defined()) return constant_[k];
    return of_medium_[k].empty() ? Tensor() : of_medium_[k].times(c[k]);
  };
  const auto plus = [](const Tensor& a, const Tensor& b) {
    return !a.defined() ? b : !b.defined() ? a : a + b;
  };
  const Tensor robin = part(kind_robin), mass = part(kind_mass);
  const Tensor rim = robin.defined() ? f.half_root * robin : Tensor();
  Tensor re = plus(plus(part(kind_yy), part(kind_zz)), rim);
  Tensor im = plus(mass.defined() ? f.w_mu * mass : Tensor(), rim);
  const Tensor none = zeros({pattern_->entries()}) * f.w_mu;
  return complex(plus(re, none), plus(im, none));
}

Sensitivity2d::Sensitivity2d(const Entries2d& entries, Index parameters, Index rows, Index cols,
                             const std::array<bool, kinds_2d>& constant) {
  std::vector<Index> parameter, row;
  std::array<std::vector<Index>, kinds_2d> col;
  std::array<std::vector<double>, kinds_2d> value;
  for (int k = 0; k < kinds_2d; ++k) {
    if (constant[k]) continue;
    for (const Entry2d& e : entries[k])
      if (e.medium < parameters) {
        parameter.push_back(e.medium);
        row.push_back(e.row);
        col[k].push_back(e.col);
        value[k].push_back(e.value);
      }
  }
  const CooPattern coo = csr_from_coo(parameters, rows, parameter, row);
  pattern_ = coo.pattern;
  parameter_ = tensor(pattern_->row_of_entries());
  std::size_t first = 0;
  for (int k = 0; k < kinds_2d; ++k) {
    const std::size_t n = value[k].size();
    if (n == 0) continue;
    const std::vector<Index> slot(coo.slot.begin() + static_cast<std::ptrdiff_t>(first),
                                  coo.slot.begin() + static_cast<std::ptrdiff_t>(first + n));
    first += n;
    of_u_[k] = ConstantMatrix(pattern_->entries(), cols, slot, col[k], value[k]);
  }
}

Tensor Sensitivity2d::operator()(const Coefficients2d& weight, const Frequency2d& f,
                                 const Tensor& base, const Tensor& rise,
                                 const Tensor& lambda) const {
  const Tensor u = base + rise;
  Tensor values = zeros({pattern_->entries()}, Dtype::c128);
  for (int k = 0; k < kinds_2d; ++k) {
    if (of_u_[k].empty() || !weight[k].defined()) continue;
    const bool gradients = k == kind_yy || k == kind_zz;
    Tensor part = take(weight[k], parameter_) * of_u_[k].times(gradients ? rise : u);
    if (k == kind_mass) part = f.i_w_mu * part;
    if (k == kind_robin) part = complex(f.half_root, f.half_root) * part;
    values = values + part;
  }
  return csr_matmul(values, pattern_, lambda);
}

}  // namespace tessera::inversion
