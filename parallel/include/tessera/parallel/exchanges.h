// SPDX-License-Identifier: Apache-2.0
//
// Exchanges as operations of the engine: what tensors on the ranks of a program send each other, as
// parts of functions that are differentiated, compiled, batched. All are linear; each brings its
// transpose, so that derivatives of any order and in any mode are exchanges again:
//
//   push (owners -> copies)                     pull_add (copies -> owners, added up)
//   all_gather (rows of each -> all rows)       reduce_scatter (all rows -> sums of those of each)
//   all_to_all (rows to each rank)              the same back
//   sum_of_parts (parts -> one)                 to_parts (one -> each part; nothing is sent)
//   sum_over_ranks (varying -> same)            cast_to_varying (same -> varying; nothing is sent)
//
// All ranks call them in the same order, with tensors of one element type and of the same axes but
// for the one that is cut. They run in the order in which they were recorded, in compiled functions
// and loops as well, equal ones twice and unread ones too (Ordering::every, primitive.h). vmap adds
// an axis that travels in the same messages. Every message says the operation, the types and the
// line.
//
// Same and varying. A value is *the same* on all ranks (a parameter, a loss: each rank has a copy
// of one value) or it *varies* (each rank has its own). Derivatives need to know which, for <c, y>
// counts a value that is the same once and one that varies on each rank:
//   - Of a function whose result is the same, each rank asks for the gradient along the one
//     cotangent; of a result that varies, for that of its own: what comes is the gradient of the
//     sum over ranks.
//   - A value that is the same and meets values that vary goes through `cast_to_varying` first: its
//     gradient is the sum of what comes on all ranks, the same on all. Where the cast is left out
//     each rank has its own part of that gradient alone.
//   - `sum_over_ranks` and `sum_of_parts` take what varies and give what is the same.
//   - `push`, `pull_add`, `all_gather`, `reduce_scatter`, `all_to_all` take and give what varies:
//     rows that all_gather gives have the same bits on all ranks, and cotangents that differ, which
//     reduce_scatter adds up. A loss that every rank computes of them for itself counts as often as
//     there are ranks: divide the rows among ranks, and sum.
//
//   const auto loss = [&](Tensor w, Tensor x) {            // w is the same, x this rank's rows
//     return sum_over_ranks(c, sum(square(matmul(x, cast_to_varying(c, w)))));
//   };
//   const Tensor dw = grad(loss)(w, x);                    // the same on all ranks
#pragma once
#include "tessera/autodiff/tensor.h"
#include "tessera/parallel/exchange_plan.h"
#include "tessera/parallel/part_sums.h"

namespace tessera::parallel {

// ---- owners and copies ----

/// x [owned, ...] -> [copies, ...] of any type.
Tensor push(const ExchangePlanPtr& plan, Arg x);
/// y [copies, ...] -> [owned, ...], the copies of each index added up in the order of their keys,
/// beginning with the first of them; 0 where there are none. Not of bool.
Tensor pull_add(const ExchangePlanPtr& plan, Arg y);

// ---- rows ----

/// Where the rows of each rank begin; all ranks call it with the number of theirs.
PartsOfRanks rows_of_ranks(Communicator& c, Index mine, SourceLine line = SourceLine::here());
/// x [rows of this rank, ...] -> [rows.back(), ...], those of rank 0 first.
Tensor all_gather(Communicator& c, const PartsOfRanks& rows, Arg x);
/// y [rows.back(), ...] -> [rows of this rank, ...]: the sums over ranks, along the tree of
/// part_sums.h with a part for each rank. Not of bool.
Tensor reduce_scatter(Communicator& c, const PartsOfRanks& rows, Arg y);

/// How many rows go to each rank, and come from each. Made by all ranks.
struct Blocks {
  Communicator* communicator;  ///< outlives all that uses the blocks
  PartsOfRanks to, from;       ///< rows to[r] ... to[r + 1] go to rank r, come from it
};
using BlocksPtr = std::shared_ptr<const Blocks>;
BlocksPtr blocks(Communicator& c, std::span<const Index> rows_to_each,
                 SourceLine line = SourceLine::here());
/// x [rows to rank 0, rows to rank 1, ...; ...] -> [rows from rank 0, ...; ...].
Tensor all_to_all(const BlocksPtr& blocks, Arg x);

/// Rank r sends x to rank to[r], a permutation that all ranks give alike; x has the same type on
/// all. Nothing is agreed on before.
Tensor send_receive(Communicator& c, std::span<const int> to, Arg x);

// ---- sums ----

/// x [parts of this rank, ...] -> [...], the sum over all parts along their tree (part_sums.h), the
/// same bits on all ranks whoever holds the parts. Of f32, f64, c64, c128, i64.
Tensor sum_of_parts(Communicator& c, const PartsOfRanks& parts, Arg x);
/// s [...], the same on all ranks -> [parts of this rank, ...], each s.
Tensor to_parts(Communicator& c, const PartsOfRanks& parts, Arg s);
/// x -> the sum over ranks: sum_of_parts with a part for each rank. Its bits depend on how many
/// ranks there are; those of sum_of_parts do not.
Tensor sum_over_ranks(Communicator& c, Arg x);
/// s, the same on all ranks, as a value that may vary.
Tensor cast_to_varying(Communicator& c, Arg s);

}  // namespace tessera::parallel
