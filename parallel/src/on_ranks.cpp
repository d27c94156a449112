// SPDX-License-Identifier: Apache-2.0
#include "tessera/parallel/on_ranks.h"

#include "tessera/autodiff/error.h"
#include "tessera/autodiff/ops.h"
#include "tessera/parallel/exchanges.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <string_view>

namespace tessera::parallel {
namespace {

[[noreturn]] void refuse_on_ranks(const std::string& why, SourceLine line) {
  throw Error("[on_ranks] " + to_string(line) + ": " + why);
}

/// What an exchange takes and gives.
struct Exchanged {
  OnRanks takes = OnRanks::varies, gives = OnRanks::varies;
};
Exchanged exchanged(const Graph::Equation& e) {
  const std::string_view name = e.primitive->name;
  if (name == "sum_of_parts" || name == "sum_of_branches") return {.gives = OnRanks::same};
  if (name == "to_parts" || name == "to_branches") return {.takes = OnRanks::same};
  return {};
}

/// FNV-1a over the elements, by words.
std::uint64_t digest(const Tensor& t) {
  std::uint64_t h = 14695981039346656037U;
  visit_dtype(t.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    for (const T v : t.to_vector<T>()) {
      std::array<std::uint64_t, (sizeof(T) + 7) / 8> words{};
      std::memcpy(words.data(), &v, sizeof v);
      for (const std::uint64_t w : words) h = (h ^ w) * 1099511628211U;
    }
  });
  return h;
}

/// Of constants whether they are the same on all ranks; one message.
std::vector<OnRanks> look_at(Communicator& c, const Graph& g, SourceLine line) {
  std::vector<std::uint64_t> mine;
  for (const auto& [id, t] : g.captures) {
    if (t.is_traced())
      refuse_on_ranks(
          "uses a value of an outer function; give it as an argument, and say of it what it is",
          line);
    mine.push_back(digest(t));
  }
  std::vector<OnRanks> are(mine.size(), OnRanks::same);
  if (c.size() == 1) return are;
  for (const Bytes& b : c.all_gather(to_bytes(mine), line)) {
    const auto other = from_bytes<std::uint64_t>(b);
    if (other.size() != mine.size())
      refuse_on_ranks("ranks have recorded different functions", line);
    for (std::size_t k = 0; k < mine.size(); ++k)
      if (other[k] != mine[k]) are[k] = OnRanks::varies;
  }
  return are;
}

/// A graph under construction out of one whose values keep their numbers.
class Casting {
 public:
  Casting(Communicator& c, const Graph& from) : c_(c), from_(from), cast_(from.types.size(), none) {
    out_ = from;
    out_.equations.clear();
    out_.operands.clear();
  }
  /// The value that holds v where it varies.
  Graph::Id as_varying(Graph::Id v) {
    if (!contains(kInexact, from_.types[v].dtype)) return v;  // it has no derivative
    if (cast_[v] == none) {
      const Graph g = trace(
          [&](const std::vector<Tensor>& in) {
            return std::vector<Tensor>{cast_to_varying(c_, in[0])};
          },
          std::vector<Type>{from_.types[v]});
      std::vector<Graph::Id> number(g.types.size(), none);
      number[g.inputs[0]] = v;
      for (const Graph::Equation& e : g.equations) {
        std::vector<Graph::Id> in;
        for (const Graph::Id i : g.in(e)) in.push_back(number[i]);
        for (Graph::Id k = 0; k < e.out_count; ++k)
          number[e.out_begin + k] = out_.add_value(g.types[e.out_begin + k]);
        append(e, in, number[e.out_begin]);
      }
      cast_[v] = number[g.outputs[0]];
    }
    return cast_[v];
  }
  void append(const Graph::Equation& e, const std::vector<Graph::Id>& in, Graph::Id out) {
    Graph::Equation made = e;
    made.in_begin = static_cast<Graph::Id>(out_.operands.size());
    made.out_begin = out;
    out_.operands.insert(out_.operands.end(), in.begin(), in.end());
    out_.equations.push_back(made);
  }
  const Graph& made() const { return out_; }

 private:
  static constexpr Graph::Id none = ~Graph::Id{0};
  Communicator& c_;
  const Graph& from_;
  Graph out_;
  std::vector<Graph::Id> cast_;  ///< of each value: it, cast
};

}  // namespace

std::vector<Tensor> with_casts(Communicator& c, const FlatFunction& f,
                               const std::vector<Tensor>& arguments,
                               const std::vector<OnRanks>& are, SourceLine line) {
  std::vector<Type> types;
  for (const Tensor& t : arguments) types.push_back(t.type());
  const Graph g = trace(f, types);
  std::vector<OnRanks> of(g.types.size(), OnRanks::same);
  for (std::size_t k = 0; k < g.inputs.size(); ++k) of[g.inputs[k]] = are[k];
  const std::vector<OnRanks> constants = look_at(c, g, line);
  for (std::size_t k = 0; k < g.captures.size(); ++k) of[g.captures[k].first] = constants[k];

  Casting casting(c, g);
  for (const Graph::Equation& e : g.equations) {
    const std::span<const Graph::Id> in = g.in(e);
    const bool any_varies =
        std::ranges::any_of(in, [&](Graph::Id i) { return of[i] == OnRanks::varies; });
    const bool sends = e.primitive->order(e.attr.get()) == Ordering::every;
    if (sends && e.primitive->runs_programs)
      refuse_on_ranks(std::string(e.primitive->name) + ", " + to_string(e.line) +
                          ", sends messages: call on_ranks in it, or cast there",
                      line);
    const Exchanged x = sends        ? exchanged(e)
                        : any_varies ? Exchanged{}
                                     : Exchanged{.takes = OnRanks::same, .gives = OnRanks::same};
    if (x.takes == OnRanks::same && any_varies)
      refuse_on_ranks(std::string(e.primitive->name) + ", " + to_string(e.line) +
                          ", takes what is the same on all ranks, and this varies",
                      line);
    std::vector<Graph::Id> operands;
    for (const Graph::Id i : in)
      operands.push_back(
          x.takes == OnRanks::varies && of[i] == OnRanks::same ? casting.as_varying(i) : i);
    casting.append(e, operands, e.out_begin);
    for (Graph::Id k = 0; k < e.out_count; ++k) of[e.out_begin + k] = x.gives;
  }
  return evaluate(casting.made(), arguments);
}

}  // namespace tessera::parallel
