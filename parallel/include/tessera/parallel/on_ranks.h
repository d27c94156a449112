// SPDX-License-Identifier: Apache-2.0
//
// Functions on ranks whose casts are put in: what is the same on all ranks, and what varies
// (exchanges.h), is told of the arguments and followed from there.
//
//   const auto loss = on_ranks(c, [&](Tensor w, Tensor x) {
//     return sum_over_ranks(c, sum(square(matmul(x, w))));
//   }, {OnRanks::same, OnRanks::varies});
//   const Tensor dw = grad(loss)(w, x);  // the same on all ranks: no cast_to_varying is written
//
// Where a value that is the same meets one that varies it is cast. Sums (`sum_over_ranks`,
// `sum_of_parts`) give what is the same, all other exchanges what varies; an operation gives what
// is the same where all of its operands are. Constants are the same where their bits are, on all
// ranks.
#pragma once
#include "tessera/autodiff/graph.h"
#include "tessera/autodiff/tree.h"
#include "tessera/parallel/communicator.h"

#include <optional>
#include <utility>
#include <vector>

namespace tessera::parallel {

enum class OnRanks : std::uint8_t { same, varies };

/// f at `arguments`, with casts; `are` says of each what it is.
std::vector<Tensor> with_casts(Communicator& c, const FlatFunction& f,
                               const std::vector<Tensor>& arguments,
                               const std::vector<OnRanks>& are, SourceLine line);

/// f(trees...) with casts put in, a function of the same trees; `are` says of each argument, all of
/// its tensors, what it is. All ranks call it. Values are not known while it is recorded. Throws
/// Error where loops, branches or host calls in it send messages, where it uses a traced value that
/// is no argument, and where what varies goes where only what is the same may (`to_parts`).
template <class F>
auto on_ranks(Communicator& c, F f, std::vector<OnRanks> are,
              SourceLine line = SourceLine::here()) {
  return [&c, f = std::move(f), are = std::move(are), line ]<IsTree... P>(const P&... trees) {
    if (are.size() != sizeof...(P))
      throw Error("[on_ranks] " + to_string(line) + ": says of " + std::to_string(are.size()) +
                  " arguments what they are, and has " + std::to_string(sizeof...(P)));
    const std::tuple<P...> all(trees...);
    const std::vector<Tensor> leaves = flatten_tree(all);
    std::vector<OnRanks> of_leaves;
    std::size_t k = 0;
    ((of_leaves.resize(of_leaves.size() + flatten_tree(trees).size(), are[k++])), ...);
    using Result = decltype(f(trees...));
    std::optional<Result> result;
    const std::vector<Tensor> out = with_casts(
        c,
        [&](const std::vector<Tensor>& in) {
          result = std::apply([&](const auto&... t) { return f(t...); }, unflatten_tree(all, in));
          return flatten_tree(*result);
        },
        leaves, of_leaves, line);
    return unflatten_tree(*result, out);
  };
}

}  // namespace tessera::parallel
