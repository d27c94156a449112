// SPDX-License-Identifier: Apache-2.0
#include "tessera/parallel/on_ranks.h"

#include "tessera/autodiff/error.h"
#include "tessera/autodiff/ops.h"
#include "tessera/parallel/exchanges.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
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

/// FNV-1a over the elements, by words, from that of the type.
std::uint64_t digest(const Tensor& t) {
  std::uint64_t h = std::hash<std::string>()(to_string(t.type()));
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

/// A graph with casts, out of one whose values keep their numbers. What is the same is cast where
/// it comes from (an argument, a constant, a sum over ranks), and what is computed of it alone is
/// computed of the cast where that is asked for: shapes on the way may be those of a rank.
class Casting {
 public:
  Casting(Communicator& c, const Graph& g, std::vector<OnRanks> are)
      : c_(c), g_(g), are_(std::move(are)), needs_(g.types.size()), cast_(g.types.size(), none) {
    out_ = g_;
    out_.equations.clear();
    out_.operands.clear();
  }
  Graph make(SourceLine line) {
    for (const Graph::Equation& e : g_.equations) follow(e, line);
    for (const Graph::Id v : g_.outputs) need(v, are_[v]);
    for (std::size_t k = g_.equations.size(); k-- > 0;) ask(g_.equations[k]);
    for (const Graph::Id v : g_.inputs) cast(v);
    for (const auto& [v, t] : g_.captures) cast(v);
    for (const Graph::Equation& e : g_.equations) emit(e);
    agree(line);
    return std::move(out_);
  }

 private:
  static constexpr Graph::Id none = ~Graph::Id{0};
  struct Needs {
    bool same = false, varying = false;
  };
  bool varies(Graph::Id v) const { return are_[v] == OnRanks::varies; }
  bool any_varies(const Graph::Equation& e) const {
    return std::ranges::any_of(g_.in(e), [&](Graph::Id v) { return varies(v); });
  }
  static bool sends(const Graph::Equation& e) {
    return e.primitive->order(e.attr.get()) == Ordering::every;
  }
  /// What it takes, of what its operands are.
  OnRanks takes(const Graph::Equation& e) const {
    if (sends(e)) return exchanged(e).takes;
    return any_varies(e) ? OnRanks::varies : OnRanks::same;
  }
  void follow(const Graph::Equation& e, SourceLine line) {
    const auto place = [&] { return std::string(e.primitive->name) + ", " + to_string(e.line); };
    if (sends(e) && e.primitive->runs_programs)
      refuse_on_ranks(place() + ", sends messages: call on_ranks in it, or cast there", line);
    if (takes(e) == OnRanks::same && any_varies(e))
      refuse_on_ranks(place() + ", takes what is the same on all ranks, and this varies", line);
    const OnRanks gives = sends(e) ? exchanged(e).gives : takes(e);
    for (Graph::Id k = 0; k < e.out_count; ++k) are_[e.out_begin + k] = gives;
  }
  void need(Graph::Id v, OnRanks as) {
    (as == OnRanks::same || varies(v) ? needs_[v].same : needs_[v].varying) = true;
  }
  Needs needed(const Graph::Equation& e) const {
    Needs n;
    for (Graph::Id k = 0; k < e.out_count; ++k) {
      n.same = n.same || needs_[e.out_begin + k].same;
      n.varying = n.varying || needs_[e.out_begin + k].varying;
    }
    return n;
  }
  /// Of an equation that is computed as it stands, and again of what is cast.
  bool stands(const Graph::Equation& e) const {
    return e.primitive->order(e.attr.get()) != Ordering::free || needed(e).same;
  }
  bool is_computed_again(const Graph::Equation& e) const {
    return !sends(e) && takes(e) == OnRanks::same && needed(e).varying;
  }
  void ask(const Graph::Equation& e) {
    for (const Graph::Id v : g_.in(e)) {
      if (stands(e)) need(v, takes(e));
      if (is_computed_again(e)) need(v, OnRanks::varies);
    }
  }
  Graph::Id as_varying(Graph::Id v) const { return varies(v) ? v : cast_[v]; }
  void append(const Graph::Equation& e, const std::vector<Graph::Id>& in, Graph::Id out) {
    Graph::Equation made = e;
    made.in_begin = static_cast<Graph::Id>(out_.operands.size());
    made.out_begin = out;
    out_.operands.insert(out_.operands.end(), in.begin(), in.end());
    out_.equations.push_back(made);
  }
  Graph::Id results_like(const Graph& g, const Graph::Equation& e) {
    const auto first = static_cast<Graph::Id>(out_.types.size());
    for (Graph::Id k = 0; k < e.out_count; ++k) out_.add_value(g.types[e.out_begin + k]);
    return first;
  }
  void cast(Graph::Id v) {
    if (varies(v) || !needs_[v].varying) return;
    cast_[v] = v;
    if (!contains(kInexact, g_.types[v].dtype)) return;  // it has no derivative
    const Graph g = trace(
        [&](const std::vector<Tensor>& in) {
          return std::vector<Tensor>{cast_to_varying(c_, in[0])};
        },
        std::vector<Type>{g_.types[v]});
    std::vector<Graph::Id> number(g.types.size(), none);
    number[g.inputs[0]] = v;
    for (const Graph::Equation& e : g.equations) {
      std::vector<Graph::Id> in;
      for (const Graph::Id i : g.in(e)) in.push_back(number[i]);
      const Graph::Id first = results_like(g, e);
      for (Graph::Id k = 0; k < e.out_count; ++k) number[e.out_begin + k] = first + k;
      append(e, in, first);
    }
    cast_[v] = number[g.outputs[0]];
  }
  void emit(const Graph::Equation& e) {
    const std::span<const Graph::Id> in = g_.in(e);
    std::vector<Graph::Id> varying;
    for (const Graph::Id v : in) varying.push_back(as_varying(v));
    if (stands(e)) {
      const bool as_it_is = takes(e) == OnRanks::same;
      append(e, as_it_is ? std::vector(in.begin(), in.end()) : varying, e.out_begin);
      if (as_it_is && !sends(e)) {
        same_ += e.primitive->name;
        for (Graph::Id k = 0; k < e.out_count; ++k)
          same_ += " " + to_string(g_.types[e.out_begin + k]);
      }
      if (sends(e))
        for (Graph::Id k = 0; k < e.out_count; ++k) cast(e.out_begin + k);
    }
    if (!is_computed_again(e)) return;
    const Graph::Id first = results_like(g_, e);
    append(e, varying, first);
    for (Graph::Id k = 0; k < e.out_count; ++k) cast_[e.out_begin + k] = first + k;
  }
  /// What is the same is computed alike.
  void agree(SourceLine line) const {
    if (c_.size() == 1) return;
    const std::vector<std::uint64_t> mine = {std::hash<std::string>()(same_)};
    for (const Bytes& b : c_.all_gather(to_bytes(mine), line))
      if (from_bytes<std::uint64_t>(b) != mine)
        refuse_on_ranks(
            "what is computed of values that are the same on all ranks alone is another thing, or "
            "of another shape, on some",
            line);
  }

  Communicator& c_;
  const Graph& g_;
  Graph out_;
  std::vector<OnRanks> are_;
  std::vector<Needs> needs_;     ///< of each value: as it is, and cast
  std::vector<Graph::Id> cast_;  ///< of each value that is the same: as one that varies
  std::string same_;             ///< what is computed of the same alone
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
  return evaluate(Casting(c, g, std::move(of)).make(line), arguments);
}

}  // namespace tessera::parallel
