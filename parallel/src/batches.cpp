// SPDX-License-Identifier: Apache-2.0
#include "tessera/parallel/batches.h"

#include "part_copies.h"
#include "part_tree.h"
#include "tessera/autodiff/error.h"
#include "tessera/autodiff/grad.h"
#include "tessera/autodiff/ops.h"
#include "tessera/parallel/exchanges.h"
#include "tessera/parallel/part_sums.h"

#include <map>
#include <string>

namespace tessera::parallel {

namespace {

/// The sum of a branch whose parts begin with part `first`, in the order of the tree.
Tensor sum_of_branch(const Branch& b, const std::vector<Tensor>& of_parts, Index first,
                     Index parts) {
  if (b.level == 0) return of_parts[static_cast<std::size_t>(b.index - first)];
  const Tensor left = sum_of_branch(b.half(0), of_parts, first, parts);
  if (b.half(1).begin() >= parts) return left;
  return left + sum_of_branch(b.half(1), of_parts, first, parts);
}

/// Copies of as many parameters of inexact types.
FlatFunction inexact_copies(Communicator& c, const PartsOfRanks& held, std::size_t mine,
                            std::size_t parameters) {
  return custom_linear(
      [mine](const std::vector<Tensor>& p) {
        std::vector<Tensor> out;
        for (std::size_t k = 0; k < mine; ++k) out.insert(out.end(), p.begin(), p.end());
        return out;
      },
      // Branches are added up by the engine, one array to another: no copies of all parts. What is
      // of one type travels together, so that ranks meet once for all parameters.
      [&c, held, mine, parameters](const std::vector<Tensor>& ct) {
        const auto me = static_cast<std::size_t>(c.rank());
        const Index first = held[me], parts = held.back();
        const std::vector<Branch> branches = branches_of(first, held[me + 1], parts);
        std::vector<std::vector<Tensor>> of_branches(parameters);
        for (std::size_t i = 0; i < parameters; ++i) {
          std::vector<Tensor> of_parts;
          for (std::size_t k = 0; k < mine; ++k) of_parts.push_back(ct[k * parameters + i]);
          for (const Branch& b : branches)
            of_branches[i].push_back(sum_of_branch(b, of_parts, first, parts));
        }
        std::vector<Tensor> sums(parameters);
        if (c.size() == 1) {
          for (std::size_t i = 0; i < parameters; ++i) sums[i] = of_branches[i][0];
          return sums;
        }
        std::map<Dtype, std::vector<std::size_t>> of_type;
        for (std::size_t i = 0; i < parameters; ++i)
          of_type[of_branches[i][0].dtype()].push_back(i);
        for (const auto& [type, which] : of_type) {
          std::vector<Tensor> rows;
          for (std::size_t b = 0; b < branches.size(); ++b) {
            std::vector<Tensor> flat;
            for (const std::size_t i : which) flat.push_back(flatten(of_branches[i][b]));
            rows.push_back(flat.size() == 1 ? flat[0] : concatenate(flat, 0));
          }
          const Tensor sum =
              sum_of_branches(c, held, rows.size() == 1 ? expand_dims(rows[0], 0) : stack(rows));
          Index begin = 0;
          for (const std::size_t i : which) {
            const Shape& shape = of_branches[i][0].shape();
            sums[i] = reshape(slice(sum, 0, begin, begin + shape.count()), shape);
            begin += shape.count();
          }
        }
        return sums;
      });
}

}  // namespace

std::vector<Tensor> copies_for_parts(Communicator& c, const PartsOfRanks& held, std::size_t mine,
                                     const std::vector<Tensor>& parameters) {
  std::vector<Tensor> inexact;
  for (const Tensor& p : parameters)
    if (is_inexact(p.dtype())) inexact.push_back(p);
  const std::vector<Tensor> copies = inexact_copies(c, held, mine, inexact.size())(inexact);
  std::vector<Tensor> out;
  auto copy = copies.begin();
  for (std::size_t k = 0; k < mine; ++k)
    for (const Tensor& p : parameters) out.push_back(is_inexact(p.dtype()) ? *copy++ : p);
  return out;
}

Tensor loss_of_batch(Communicator& c, const LossOfPart& loss, const std::vector<Tensor>& parameters,
                     const std::vector<Tensor>& batch, Index parts, SourceLine line) {
  const auto refuse = [&](const std::string& why) {
    throw Error("[data_parallel] " + to_string(line) + ": " + why);
  };
  if (parts < c.size())
    refuse(std::to_string(parts) + " parts for " + std::to_string(c.size()) +
           " ranks: each holds one at least");
  if (batch.empty()) refuse("a batch has at least one array");
  const Index examples = batch[0].ndim() > 0 ? batch[0].shape()[0] : -1;
  for (const Tensor& a : batch)
    if (a.ndim() == 0 || a.shape()[0] != examples)
      refuse("the arrays of a batch have a row for each example, as many in all");
  if (examples < parts)
    refuse(std::to_string(examples) + " examples do not make " + std::to_string(parts) + " parts");

  const PartsOfRanks held = deal_parts(parts, c.size());
  const std::vector<Index> rows = deal_parts(examples, static_cast<int>(parts));
  const auto me = static_cast<std::size_t>(c.rank());
  const Index first = held[me], mine = held[me + 1] - first;
  const std::vector<Tensor> copies =
      copies_for_parts(c, held, static_cast<std::size_t>(mine), parameters);
  std::vector<Tensor> losses;
  for (Index k = 0; k < mine; ++k) {
    const auto at = static_cast<std::size_t>(first + k);
    std::vector<Tensor> part;
    for (const Tensor& a : batch) part.push_back(slice(a, 0, rows[at], rows[at + 1]));
    const auto of = copies.begin() + k * static_cast<Index>(parameters.size());
    losses.push_back(loss({of, of + static_cast<Index>(parameters.size())}, part));
    if (losses.back().ndim() != 0) refuse("the loss of a part is a scalar");
  }
  return sum_of_parts(c, held, stack(losses));
}

}  // namespace tessera::parallel
