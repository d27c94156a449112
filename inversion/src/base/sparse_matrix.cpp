// SPDX-License-Identifier: Apache-2.0
#include "tessera/inversion/sparse_matrix.h"

#include "tessera/autodiff/error.h"
#include "tessera/inversion/matrix.h"

#include <algorithm>

namespace tessera::inversion {

double SparseMatrix::operator()(std::size_t i, std::size_t j) const {
  const auto first = columns.begin() + offsets[i], last = columns.begin() + offsets[i + 1];
  const auto at = std::lower_bound(first, last, static_cast<std::int32_t>(j));
  return at != last && *at == static_cast<std::int32_t>(j)
             ? values[static_cast<std::size_t>(at - columns.begin())]
             : 0.0;
}

std::vector<double> SparseMatrix::times(const std::vector<double>& x) const {
  if (x.size() != cols) throw Error("[SparseMatrix] the vector does not fit");
  std::vector<double> out(rows, 0.0);
  for (std::size_t i = 0; i < rows; ++i)
    for (auto k = static_cast<std::size_t>(offsets[i]);
         k < static_cast<std::size_t>(offsets[i + 1]); ++k)
      out[i] += values[k] * x[static_cast<std::size_t>(columns[k])];
  return out;
}

std::vector<double> SparseMatrix::transposed_times(const std::vector<double>& y) const {
  if (y.size() != rows) throw Error("[SparseMatrix] the vector does not fit");
  std::vector<double> out(cols, 0.0);
  for (std::size_t i = 0; i < rows; ++i)
    for (auto k = static_cast<std::size_t>(offsets[i]);
         k < static_cast<std::size_t>(offsets[i + 1]); ++k)
      out[static_cast<std::size_t>(columns[k])] += values[k] * y[i];
  return out;
}

SparseMatrix sparse(std::size_t rows, std::size_t cols, std::vector<Entry> entries) {
  SparseMatrix out{.rows = rows, .cols = cols};
  for (const Entry& e : entries)
    if (e.row >= rows || e.column >= cols) throw Error("[sparse] an entry lies outside");
  std::stable_sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
    return a.row != b.row ? a.row < b.row : a.column < b.column;
  });
  out.offsets.assign(rows + 1, 0);
  for (std::size_t k = 0; k < entries.size(); ++k) {
    const Entry& e = entries[k];
    const bool again = k > 0 && entries[k - 1].row == e.row && entries[k - 1].column == e.column;
    if (again) {
      out.values.back() += e.value;
      continue;
    }
    out.columns.push_back(static_cast<std::int32_t>(e.column));
    out.values.push_back(e.value);
    ++out.offsets[e.row + 1];
  }
  for (std::size_t i = 0; i < rows; ++i) out.offsets[i + 1] += out.offsets[i];
  return out;
}

SparseMatrix sparse(const Matrix& dense) {
  std::vector<Entry> entries;
  for (std::size_t i = 0; i < dense.rows; ++i)
    for (std::size_t j = 0; j < dense.cols; ++j)
      if (dense(i, j) != 0) entries.push_back({i, j, dense(i, j)});
  return sparse(dense.rows, dense.cols, std::move(entries));
}

SparseMatrix sparse_diagonal(const std::vector<double>& values) {
  std::vector<Entry> entries;
  for (std::size_t i = 0; i < values.size(); ++i) entries.push_back({i, i, values[i]});
  return sparse(values.size(), values.size(), std::move(entries));
}

}  // namespace tessera::inversion
