// SPDX-License-Identifier: Apache-2.0
//
// Each operation maps the rows of one axis, x [batch..., rows in, rest...] -> [batch..., rows out,
// rest...], and is written once as that: batch axes are those that vmap has added. A message holds
// all of the batch that goes to a rank: [batch..., rows to it, rest...].
#include "tessera/parallel/exchanges.h"

#include "message_block.h"
#include "part_tree.h"
#include "stream_copy.h"
#include "tessera/autodiff/forall.h"
#include "tessera/autodiff/ops/shape.h"
#include "tessera/autodiff/primitive.h"

#include <algorithm>
#include <cstring>
#include <numeric>

namespace tessera::parallel {
namespace {

template <class M>
struct RowsAttr {
  std::shared_ptr<const M> map;
  int batch;
  TESSERA_ATTRIBUTES(map, batch)
};

/// x [batch, in, rest] and y [batch, out, rest] in memory, row-major.
struct RowsInMemory {
  const std::byte* x;
  std::byte* y;
  Index batch, in, out;
  std::size_t width;  ///< bytes of `rest`
  Dtype dtype;
  std::string what;  ///< of the messages: the same on all ranks

  std::size_t bytes(Index rows) const { return static_cast<std::size_t>(batch * rows) * width; }
  const std::byte* x_at(Index b, Index row) const {
    return x + static_cast<std::size_t>(b * in + row) * width;
  }
  std::byte* y_at(Index b, Index row) const {
    return y + static_cast<std::size_t>(b * out + row) * width;
  }
};

/// "push f64[2,*,3]".
std::string named(const char* name, const Type& x, int batch) {
  std::string s = std::string(name) + " " + name_of(x.dtype) + "[";
  for (int d = 0; d < x.shape.size(); ++d)
    s += (d ? "," : "") + (d == batch ? std::string("*") : std::to_string(x.shape[d]));
  return s + "]";
}

/// What all of them have. P: `Map`, what the attributes hold; `rows_in`, `rows_out` of a map;
/// `Transposed`; `run`.
template <class P, class M>
struct RowMap : Linear<P> {
  using Map = M;
  using Attr = RowsAttr<M>;
  static constexpr Ordering order = Ordering::every;
  static Types infer(std::span<const Type> in, const Attributes* a) {
    const Attr& f = tessera::get<Attr>(a);
    const Index rows = P::rows_in(*f.map);
    Type t = in[0];
    if (!contains(P::dtypes, t.dtype))
      fail(P::name, "not defined for " + to_string(t) + "; it takes " + to_string(P::dtypes));
    if (t.shape.size() <= f.batch || t.shape[f.batch] != rows)
      fail(P::name,
           "takes [" + std::to_string(rows) + ", ...], " + P::rows_are + ", got " + to_string(t));
    t.shape[f.batch] = P::rows_out(*f.map);
    return {t};
  }
  static KernelFn kernel(std::span<const Dtype>, const Attributes*) {
    return [](Inputs in, Outputs out, const Attributes* a) {
      const Attr& f = tessera::get<Attr>(a);
      RowsInMemory r{static_cast<const std::byte*>(in[0]->data),
                     static_cast<std::byte*>(out[0]->data),
                     1,
                     P::rows_in(*f.map),
                     P::rows_out(*f.map),
                     size_of(in[0]->dtype),
                     in[0]->dtype,
                     named(P::name, in[0]->type(), f.batch)};
      for (int d = 0; d < in[0]->shape.size(); ++d) {
        if (d < f.batch) r.batch *= in[0]->shape[d];
        if (d > f.batch) r.width *= static_cast<std::size_t>(in[0]->shape[d]);
      }
      P::run(*f.map, r, detail::context_line());
    };
  }
  static void transpose(const Application& a, std::span<const bool>, std::span<const Tensor> ct,
                        std::span<Tensor> o) {
    o[0] = apply(primitive<typename P::Transposed>(), a.attr, detail::context_line(), ct[0]);
  }
  static void batch(const Application& a, std::span<const bool>, Index, std::span<Tensor> o) {
    Attr f = a.get<Attr>();
    ++f.batch;
    o[0] = apply(primitive<P>(), attributes(std::move(f)), detail::context_line(), a.in[0]);
  }
};
template <class P>
Tensor apply_rows(std::shared_ptr<const typename P::Map> map, const Arg& x) {
  if (!x.tensor) fail(P::name, "takes a tensor, got a number", x.line);
  return apply(primitive<P>(), attributes(typename P::Attr{std::move(map), 0}), x.line, *x.tensor);
}

/// `count` rows of `n` for each sample, from row `from` of `n_from` to row `to` of `n_to`.
void copy_rows(const RowsInMemory& r, std::byte* y, Index n_to, Index to, const std::byte* x,
               Index n_from, Index from, Index count) {
  const std::size_t bytes = static_cast<std::size_t>(count) * r.width;
  if (bytes == 0) return;
  const bool streams = y == r.y && r.bytes(r.out) >= kStreamed;
  for (Index b = 0; b < r.batch; ++b) {
    std::byte* const into = y + static_cast<std::size_t>(b * n_to + to) * r.width;
    const std::byte* const of = x + static_cast<std::size_t>(b * n_from + from) * r.width;
    if (streams)
      stream_copy(into, of, bytes);
    else
      std::memcpy(into, of, bytes);
  }
}
/// The same, added.
void add_rows(const RowsInMemory& r, std::byte* y, Index n_to, Index to, const std::byte* x,
              Index n_from, Index from, Index count) {
  for (Index b = 0; b < r.batch; ++b)
    add_bytes(r.dtype, y + static_cast<std::size_t>(b * n_to + to) * r.width,
              x + static_cast<std::size_t>(b * n_from + from) * r.width,
              static_cast<std::size_t>(count) * r.width);
}

// ---- owners and copies ----

/// f(run) for each of them, of which no two write to one place; many bytes on several threads.
template <class F>
void for_runs(const RowsInMemory& r, const ExchangePlan::Runs& runs, const F& f) {
  constexpr std::size_t kChunk = std::size_t{1} << 18;
  Index values = 0;
  for (const ExchangePlan::Run& run : runs) values += run.count;
  const auto n = static_cast<Index>(runs.size()),
             chunks = std::min(n, static_cast<Index>(r.bytes(values) / kChunk) + 1);
  parallel_chunks(chunks, [&](Index k) {
    for (Index i = n * k / chunks; i < n * (k + 1) / chunks; ++i)
      f(runs[static_cast<std::size_t>(i)]);
  });
}

/// Packs and sends, and writes what comes layer by layer: the first sets, the others add.
void run_plan(const ExchangePlan& plan, const ExchangePlan::Packing& pack,
              const ExchangePlan::Unpacking& unpack, const RowsInMemory& r, SourceLine line) {
  std::vector<MessageBlock> out, in;
  std::vector<Send> send;
  std::vector<Receive> receive;
  for (const ExchangePlan::Peer& p : pack.peers) {
    const MessageBlock& m = out.emplace_back(r.bytes(p.count));
    for_runs(r, p.runs, [&](const ExchangePlan::Run& run) {
      copy_rows(r, m.data.get(), p.count, run.to, r.x, r.in, run.from, run.count);
    });
    send.push_back({p.rank, m.all()});
  }
  for (const ExchangePlan::Peer& p : unpack.peers)
    receive.push_back({p.rank, in.emplace_back(r.bytes(p.count)).all()});
  plan.communicator().exchange(r.what, send, receive, line);

  Index written = 0;  // by the first layer
  const auto count = [&](const ExchangePlan::Runs& runs) {
    for (const ExchangePlan::Run& run : runs) written += run.count;
  };
  if (!unpack.layers.empty()) {
    count(unpack.layers[0].own);
    for (const ExchangePlan::Peer& p : unpack.layers[0].peers) count(p.runs);
  }
  if (written < r.out && r.bytes(r.out) > 0) std::memset(r.y, 0, r.bytes(r.out));
  for (std::size_t k = 0; k < unpack.layers.size(); ++k) {
    const auto put = k == 0 ? copy_rows : add_rows;
    const ExchangePlan::Layer& layer = unpack.layers[k];
    for_runs(r, layer.own, [&](const ExchangePlan::Run& run) {
      put(r, r.y, r.out, run.to, r.x, r.in, run.from, run.count);
    });
    for (std::size_t i = 0; i < layer.peers.size(); ++i)
      for_runs(r, layer.peers[i].runs, [&](const ExchangePlan::Run& run) {
        put(r, r.y, r.out, run.to, in[i].data.get(), layer.peers[i].count, run.from, run.count);
      });
  }
}

struct PullAdd;
struct Push : RowMap<Push, ExchangePlan> {
  using Transposed = PullAdd;
  static constexpr const char *name = "push", *rows_are = "what this rank owns";
  static constexpr DtypeSet dtypes = kAny;
  static Index rows_in(const Map& p) { return p.owned(); }
  static Index rows_out(const Map& p) { return p.copies(); }
  static void run(const Map& p, const RowsInMemory& r, SourceLine line) {
    run_plan(p, p.pushes(), p.pushed_to(), r, line);
  }
};
struct PullAdd : RowMap<PullAdd, ExchangePlan> {
  using Transposed = Push;
  static constexpr const char *name = "pull_add", *rows_are = "the copies of this rank";
  static constexpr DtypeSet dtypes = kNumber;
  static Index rows_in(const Map& p) { return p.copies(); }
  static Index rows_out(const Map& p) { return p.owned(); }
  static void run(const Map& p, const RowsInMemory& r, SourceLine line) {
    run_plan(p, p.pulls(), p.pulled_to(), r, line);
  }
};
TESSERA_REGISTER(Push);
TESSERA_REGISTER(PullAdd);

// ---- rows ----

/// Begins of the rows, or parts, of each rank.
struct Cut {
  Communicator* communicator;
  PartsOfRanks begin;
  Index of(int r) const {
    return begin[static_cast<std::size_t>(r) + 1] - begin[static_cast<std::size_t>(r)];
  }
  Index begin_of(int r) const { return begin[static_cast<std::size_t>(r)]; }
  Index mine() const { return of(communicator->rank()); }
  Index all() const { return begin.back(); }
};
std::shared_ptr<const Cut> cut(const char* op, Communicator& c, const PartsOfRanks& begin,
                               SourceLine line) {
  if (begin.size() != static_cast<std::size_t>(c.size()) + 1 || begin[0] != 0 ||
      !std::is_sorted(begin.begin(), begin.end()))
    fail(op,
         "rows or parts of " + std::to_string(c.size()) + " ranks begin at " +
             std::to_string(c.size() + 1) +
             " numbers from 0 that do not fall, the last how many there are; got " +
             std::to_string(begin.size()),
         line);
  return std::make_shared<const Cut>(Cut{&c, begin});
}
PartsOfRanks begins_of(std::span<const Index> counts) {
  PartsOfRanks begin{0};
  for (const Index n : counts) begin.push_back(begin.back() + n);
  return begin;
}
PartsOfRanks one_each(const Communicator& c) {
  return begins_of(std::vector<Index>(static_cast<std::size_t>(c.size()), 1));
}

struct ReduceScatter;
struct AllGather : RowMap<AllGather, Cut> {
  using Transposed = ReduceScatter;
  static constexpr const char *name = "all_gather", *rows_are = "the rows of this rank";
  static constexpr DtypeSet dtypes = kAny;
  static Index rows_in(const Map& m) { return m.mine(); }
  static Index rows_out(const Map& m) { return m.all(); }
  static void run(const Map& m, const RowsInMemory& r, SourceLine line) {
    Communicator& c = *m.communicator;
    std::vector<MessageBlock> in;
    std::vector<Send> send;
    std::vector<Receive> receive;
    for (int k = 0; k < c.size(); ++k) {
      in.emplace_back(k == c.rank() ? 0 : r.bytes(m.of(k)));
      if (k == c.rank()) continue;
      if (r.in > 0) send.push_back({k, {r.x, r.bytes(r.in)}});
      if (m.of(k) > 0) receive.push_back({k, in.back().all()});
    }
    c.exchange(r.what, send, receive, line);
    for (int k = 0; k < c.size(); ++k)
      copy_rows(r, r.y, r.out, m.begin_of(k),
                k == c.rank() ? r.x : in[static_cast<std::size_t>(k)].data.get(), m.of(k), 0,
                m.of(k));
  }
};
struct ReduceScatter : RowMap<ReduceScatter, Cut> {
  using Transposed = AllGather;
  static constexpr const char *name = "reduce_scatter", *rows_are = "the rows of all ranks";
  static constexpr DtypeSet dtypes = kNumber;
  static Index rows_in(const Map& m) { return m.all(); }
  static Index rows_out(const Map& m) { return m.mine(); }
  static void run(const Map& m, const RowsInMemory& r, SourceLine line) {
    Communicator& c = *m.communicator;
    std::vector<MessageBlock> out, in;
    std::vector<Send> send;
    std::vector<Receive> receive;
    for (int k = 0; k < c.size(); ++k) {
      const MessageBlock& part = out.emplace_back(k == c.rank() ? 0 : r.bytes(m.of(k)));
      in.emplace_back(r.bytes(r.out));
      copy_rows(r, k == c.rank() ? in.back().data.get() : part.data.get(), m.of(k), 0, r.x, r.in,
                m.begin_of(k), m.of(k));
      if (k == c.rank()) continue;
      if (m.of(k) > 0) send.push_back({k, part.all()});
      if (r.out > 0) receive.push_back({k, in.back().all()});
    }
    c.exchange(r.what, send, receive, line);
    // Up the tree: a node is its left half plus its right one.
    const std::size_t n = in.size();
    for (std::size_t step = 1; step < n; step *= 2)
      for (std::size_t k = 0; k + step < n; k += 2 * step)
        add_bytes(r.dtype, in[k].data.get(), in[k + step].data.get(), in[k].size);
    if (in[0].size > 0) std::memcpy(r.y, in[0].data.get(), in[0].size);
  }
};
TESSERA_REGISTER(AllGather);
TESSERA_REGISTER(ReduceScatter);

template <bool back>
struct AllToAllRows : RowMap<AllToAllRows<back>, Blocks> {
  using Transposed = AllToAllRows<!back>;
  static constexpr const char* name = back ? "all_to_all_back" : "all_to_all";
  static constexpr const char* rows_are =
      back ? "the rows that came to this rank" : "the rows that this rank sends";
  static constexpr DtypeSet dtypes = kAny;
  static Index rows_in(const Blocks& m) { return back ? m.from.back() : m.to.back(); }
  static Index rows_out(const Blocks& m) { return back ? m.to.back() : m.from.back(); }
  static void run(const Blocks& m, const RowsInMemory& r, SourceLine line) {
    const PartsOfRanks &to = back ? m.from : m.to, &from = back ? m.to : m.from;
    Communicator& c = *m.communicator;
    std::vector<MessageBlock> out, in;
    std::vector<Send> send;
    std::vector<Receive> receive;
    for (std::size_t k = 0; k + 1 < to.size(); ++k) {
      const Index there = to[k + 1] - to[k], here = from[k + 1] - from[k];
      const MessageBlock& sent = out.emplace_back(r.bytes(there));
      copy_rows(r, sent.data.get(), there, 0, r.x, r.in, to[k], there);
      in.emplace_back(r.bytes(here));
      if (there > 0) send.push_back({static_cast<int>(k), sent.all()});
      if (here > 0) receive.push_back({static_cast<int>(k), in.back().all()});
    }
    c.exchange(r.what, send, receive, line);
    for (std::size_t k = 0; k + 1 < from.size(); ++k)
      copy_rows(r, r.y, r.out, from[k], in[k].data.get(), from[k + 1] - from[k], 0,
                from[k + 1] - from[k]);
  }
};
using AllToAll = AllToAllRows<false>;
using AllToAllBack = AllToAllRows<true>;
TESSERA_REGISTER(AllToAll);
TESSERA_REGISTER(AllToAllBack);

// ---- sums ----

/// [parts of this rank] -> [1], or [branches of this rank] -> [1].
template <bool branches>
struct Shares;
template <bool branches>
struct SumOfShares : RowMap<SumOfShares<branches>, Cut> {
  using Transposed = Shares<branches>;
  static constexpr const char* name = branches ? "sum_of_branches" : "sum_of_parts";
  static constexpr const char* rows_are =
      branches ? "the branches of this rank" : "the parts of this rank";
  static constexpr DtypeSet dtypes = kInexact | set_of(Dtype::i64);
  static Index rows_in(const Cut& m) {
    if (!branches) return m.mine();
    const int me = m.communicator->rank();
    return static_cast<Index>(
        branches_of(m.begin_of(me), m.begin_of(me) + m.mine(), m.all()).size());
  }
  static Index rows_out(const Cut&) { return 1; }
  static void run(const Cut& m, const RowsInMemory& r, SourceLine line) {
    visit_dtype(r.dtype, [&](auto tag) {
      using T = typename decltype(tag)::type;
      if constexpr (std::is_floating_point_v<T> || std::is_same_v<T, c64> ||
                    std::is_same_v<T, c128> || std::is_same_v<T, std::int64_t>) {
        const std::size_t size = r.bytes(r.in) / sizeof(T);
        std::vector<T> side_by_side;  // a part's values, where batches lie between them
        if (r.batch > 1 && r.in > 1) {
          side_by_side.resize(size);
          for (Index p = 0; p < r.in && r.width > 0; ++p)
            for (Index b = 0; b < r.batch; ++b)
              std::memcpy(reinterpret_cast<std::byte*>(side_by_side.data()) +
                              static_cast<std::size_t>(p * r.batch + b) * r.width,
                          r.x_at(b, p), r.width);
        }
        const std::span<const T> parts = side_by_side.empty()
                                             ? std::span(reinterpret_cast<const T*>(r.x), size)
                                             : std::span<const T>(side_by_side);
        const Index n = static_cast<Index>(r.bytes(1) / sizeof(T));
        T* const all = reinterpret_cast<T*>(r.y);
        if constexpr (branches)
          sum_of_branches<T>(*m.communicator, parts, n, m.begin, all, line);
        else
          parallel::sum_of_parts<T>(*m.communicator, parts, n, m.begin, all, line);
      }
    });
  }
};
template <bool branches>
struct Shares : RowMap<Shares<branches>, Cut> {
  using Transposed = SumOfShares<branches>;
  static constexpr const char* name = branches ? "to_branches" : "to_parts";
  static constexpr const char* rows_are = "what is the same on all ranks";
  static constexpr DtypeSet dtypes = SumOfShares<branches>::dtypes;
  static Index rows_in(const Cut&) { return 1; }
  static Index rows_out(const Cut& m) { return SumOfShares<branches>::rows_in(m); }
  static void run(const Cut&, const RowsInMemory& r, SourceLine) {
    for (Index p = 0; p < r.out; ++p) copy_rows(r, r.y, r.out, p, r.x, 1, 0, 1);
  }
};
using SumOfParts = SumOfShares<false>;
using ToParts = Shares<false>;
using SumOfBranches = SumOfShares<true>;
using ToBranches = Shares<true>;
TESSERA_REGISTER(SumOfBranches);
TESSERA_REGISTER(ToBranches);
TESSERA_REGISTER(SumOfParts);
TESSERA_REGISTER(ToParts);

/// x with an axis of one row before all others.
Tensor as_row(const char* op, const Arg& x) {
  if (!x.tensor) fail(op, "takes a tensor, got a number", x.line);
  return expand_dims(Arg(*x.tensor, x.line), 0);
}
Tensor as_value(const Tensor& row, const Arg& x) { return squeeze(Arg(row, x.line), {0}); }

}  // namespace

Tensor push(const ExchangePlanPtr& plan, Arg x) { return apply_rows<Push>(plan, x); }
Tensor pull_add(const ExchangePlanPtr& plan, Arg y) { return apply_rows<PullAdd>(plan, y); }

PartsOfRanks rows_of_ranks(Communicator& c, Index mine, SourceLine line) {
  std::vector<Index> counts;
  for (const Bytes& b : c.all_gather(to_bytes(std::vector<Index>{mine}), line))
    counts.push_back(from_bytes<Index>(b)[0]);
  return begins_of(counts);
}
Tensor all_gather(Communicator& c, const PartsOfRanks& rows, Arg x) {
  return apply_rows<AllGather>(cut(AllGather::name, c, rows, x.line), x);
}
Tensor reduce_scatter(Communicator& c, const PartsOfRanks& rows, Arg y) {
  return apply_rows<ReduceScatter>(cut(ReduceScatter::name, c, rows, y.line), y);
}

BlocksPtr blocks(Communicator& c, std::span<const Index> rows_to_each, SourceLine line) {
  if (rows_to_each.size() != static_cast<std::size_t>(c.size()) ||
      std::any_of(rows_to_each.begin(), rows_to_each.end(), [](Index n) { return n < 0; }))
    fail("all_to_all",
         "takes a number of rows for each of " + std::to_string(c.size()) +
             " ranks, none negative; got " + std::to_string(rows_to_each.size()),
         line);
  std::vector<Bytes> tell;
  for (const Index n : rows_to_each) tell.push_back(to_bytes(std::vector<Index>{n}));
  std::vector<Index> from;
  for (const Bytes& b : c.all_to_all(std::move(tell), line))
    from.push_back(from_bytes<Index>(b)[0]);
  return std::make_shared<const Blocks>(Blocks{&c, begins_of(rows_to_each), begins_of(from)});
}
Tensor all_to_all(const BlocksPtr& blocks, Arg x) { return apply_rows<AllToAll>(blocks, x); }

Tensor send_receive(Communicator& c, std::span<const int> to, Arg x) {
  const auto n = static_cast<std::size_t>(c.size());
  std::vector<int> ranks(to.begin(), to.end()), all(n);
  std::iota(all.begin(), all.end(), 0);
  std::sort(ranks.begin(), ranks.end());
  if (ranks != all)
    fail("send_receive", "takes a permutation of the " + std::to_string(n) + " ranks", x.line);
  std::vector<Index> there(n), here(n);
  for (std::size_t r = 0; r < n; ++r) {
    there[r] = to[static_cast<std::size_t>(c.rank())] == static_cast<int>(r);
    here[r] = to[r] == c.rank();
  }
  const auto hop = std::make_shared<const Blocks>(Blocks{&c, begins_of(there), begins_of(here)});
  return as_value(all_to_all(hop, Arg(as_row("send_receive", x), x.line)), x);
}

Tensor sum_of_parts(Communicator& c, const PartsOfRanks& parts, Arg x) {
  return as_value(apply_rows<SumOfParts>(cut(SumOfParts::name, c, parts, x.line), x), x);
}
Tensor sum_of_branches(Communicator& c, const PartsOfRanks& parts, Arg x) {
  return as_value(apply_rows<SumOfBranches>(cut(SumOfBranches::name, c, parts, x.line), x), x);
}
Tensor to_parts(Communicator& c, const PartsOfRanks& parts, Arg s) {
  return apply_rows<ToParts>(cut(ToParts::name, c, parts, s.line),
                             Arg(as_row(ToParts::name, s), s.line));
}
Tensor sum_over_ranks(Communicator& c, Arg x) {
  return sum_of_parts(c, one_each(c), Arg(as_row("sum_over_ranks", x), x.line));
}
Tensor cast_to_varying(Communicator& c, Arg s) { return as_value(to_parts(c, one_each(c), s), s); }

}  // namespace tessera::parallel
