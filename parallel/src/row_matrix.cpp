// SPDX-License-Identifier: Apache-2.0
#include "tessera/parallel/row_matrix.h"

#include "agree.h"
#include "tessera/autodiff/ops.h"
#include "tessera/autodiff/ops/segment.h"
#include "tessera/autodiff/primitive.h"
#include "tessera/parallel/exchanges.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace tessera::parallel {
namespace {

std::string wrong_with_rows(const Communicator& c, const RowsOfRank& m) {
  const std::string me = "rank " + std::to_string(c.rank()) + ": ";
  if (m.parts.empty() || !std::is_sorted(m.parts.begin(), m.parts.end()))
    return me + "parts begin at numbers that do not fall, the last where they end; got " +
           std::to_string(m.parts.size()) + " numbers";
  const auto rows = static_cast<std::size_t>(m.parts.back() - m.parts.front());
  if (!m.numbers.empty() && m.numbers.size() != rows)
    return me + std::to_string(m.numbers.size()) + " numbers for " + std::to_string(rows) + " rows";
  if (m.row_begin.size() != rows + 1 || m.row_begin[0] != 0 ||
      !std::is_sorted(m.row_begin.begin(), m.row_begin.end()) ||
      m.row_begin.back() != static_cast<Index>(m.column.size()))
    return me + std::to_string(rows) + " rows begin at " + std::to_string(rows + 1) +
           " numbers from 0 that do not fall, the last that of the " +
           std::to_string(m.column.size()) + " entries";
  for (std::size_t i = 0; i < rows; ++i)
    for (Index e = m.row_begin[i] + 1; e < m.row_begin[i + 1]; ++e)
      if (m.column[static_cast<std::size_t>(e)] <= m.column[static_cast<std::size_t>(e) - 1])
        return me + "columns do not rise within its row " + std::to_string(i);
  return {};
}

}  // namespace

std::vector<Index> deal_rows(Index n, const Communicator& c, Index part) {
  if (n < 0 || part < 1)
    fail("deal_rows", std::to_string(n) + " unknowns in parts of " + std::to_string(part));
  const PartsOfRanks dealt = deal_parts((n + part - 1) / part, c.size());
  const auto me = static_cast<std::size_t>(c.rank());
  std::vector<Index> begin;
  for (Index p = dealt[me]; p <= dealt[me + 1]; ++p) begin.push_back(std::min(n, p * part));
  return begin;
}

RowMatrixPtr RowMatrix::make(Communicator& c, const RowsOfRank& mine, SourceLine line) {
  agree_that_all_is_well("row_matrix", c, wrong_with_rows(c, mine), line);
  const auto a = std::shared_ptr<RowMatrix>(new RowMatrix);
  a->communicator_ = &c;
  a->line_ = line;
  for (const Index p : mine.parts) a->parts_.push_back(p - mine.parts.front());
  const Index rows = a->parts_.back(), parts = static_cast<Index>(a->parts_.size()) - 1;
  a->parts_of_ranks_ = rows_of_ranks(c, parts, line);
  a->first_ = rows_of_ranks(c, rows, line)[static_cast<std::size_t>(c.rank())];
  const Index first_part = a->parts_of_ranks_[static_cast<std::size_t>(c.rank())];

  // Copies are those of each part for itself, so that what is added to an unknown knows no ranks;
  // in the order of their numbers, so that rows are summed in that order.
  std::vector<Index> owned(mine.numbers.begin(), mine.numbers.end()), wanted, keys, column;
  if (mine.numbers.empty()) {
    owned.resize(static_cast<std::size_t>(rows));
    std::iota(owned.begin(), owned.end(), mine.parts.front());
  }
  column.reserve(mine.column.size());
  for (Index p = 0; p < parts; ++p) {
    const auto at = [&](Index row) { return mine.row_begin[static_cast<std::size_t>(row)]; };
    const auto part = static_cast<std::size_t>(p);
    const auto read = mine.column.subspan(
        static_cast<std::size_t>(at(a->parts_[part])),
        static_cast<std::size_t>(at(a->parts_[part + 1]) - at(a->parts_[part])));
    std::vector<Index> distinct(read.begin(), read.end());
    std::sort(distinct.begin(), distinct.end());
    distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
    const auto before = static_cast<Index>(wanted.size());
    for (const Index k : read)
      column.push_back(before +
                       (std::lower_bound(distinct.begin(), distinct.end(), k) - distinct.begin()));
    wanted.insert(wanted.end(), distinct.begin(), distinct.end());
    keys.resize(wanted.size(), first_part + p);
  }
  a->plan_ = ExchangePlan::make(c, {owned, wanted, keys}, line);
  a->pattern_ = csr_pattern(rows, static_cast<Index>(wanted.size()),
                            {mine.row_begin.begin(), mine.row_begin.end()}, std::move(column));
  const Tensor numbers =
      contiguous(push(a->plan_, Arg(arange(rows, Dtype::i64) + a->first_, line)));
  const auto n = numbers.data<std::int64_t>();
  a->numbers_.assign(n.begin(), n.end());
  return a;
}

Tensor RowMatrix::product(Arg values, Arg x, bool transposed) const {
  if (!x.tensor) fail("row_matrix", "a product takes a tensor, got a number", x.line);
  if (!transposed) return csr_matmul(values, pattern_, Arg(push(plan_, x), x.line));
  return pull_add(plan_, Arg(csr_matmul(values, pattern_, x, true), x.line));
}
Tensor RowMatrix::dot(Arg x, Arg y) const {
  const SourceLine line = x.line;
  const Tensor each = conj(x) * Arg(y);
  if (each.shape() != Shape{size()})
    fail("row_matrix",
         "a dot product takes the " + std::to_string(size()) + " elements of this rank, got " +
             to_string(each.type()),
         line);
  std::vector<std::int64_t> part_of(static_cast<std::size_t>(size()));
  for (std::size_t p = 0; p + 1 < parts_.size(); ++p)
    std::fill(part_of.begin() + parts_[p], part_of.begin() + parts_[p + 1],
              static_cast<std::int64_t>(p));
  const Tensor of_parts = segment_sum(each, tensor(part_of), static_cast<Index>(parts_.size()) - 1);
  return sum_of_parts(*communicator_, parts_of_ranks_, Arg(of_parts, line));
}
LinearOperator RowMatrix::with(const Tensor& values) const {
  return LinearOperator::csr(values, pattern_, shared_from_this());
}

int RowMatrix::rank() const { return communicator_->rank(); }
int RowMatrix::ranks() const { return communicator_->size(); }
void RowMatrix::sum(std::span<const double> of_parts, Index n, std::span<double> total) const {
  const std::vector<double> sum =
      parallel::sum_of_parts<double>(*communicator_, of_parts, n, parts_of_ranks_, line_);
  std::copy(sum.begin(), sum.end(), total.begin());
}
double RowMatrix::max(double mine) const {
  double largest = -std::numeric_limits<double>::infinity();
  for (const Bytes& b : communicator_->all_gather(to_bytes(std::vector<double>{mine}), line_))
    largest = std::max(largest, from_bytes<double>(b)[0]);
  return largest;
}
Tensor RowMatrix::copies_of(const Tensor& x) const { return push(plan_, Arg(x, line_)); }
Tensor RowMatrix::add_copies(const Tensor& y) const { return pull_add(plan_, Arg(y, line_)); }

}  // namespace tessera::parallel
