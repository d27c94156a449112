// SPDX-License-Identifier: Apache-2.0
//
// The memory that kernels take while they run: told beforehand, set aside by plans.
#include "autodiff/src/base/context.h"
#include "autodiff/src/base/scratch.h"
#include "op_table.h"
#include "tensor_measures.h"
#include "tessera/autodiff/dryrun.h"
#include "tessera/autodiff/forall.h"
#include "tessera/autodiff/grad.h"
#include "tessera/autodiff/graph.h"
#include "tessera/autodiff/jit.h"
#include "tessera/autodiff/memory.h"
#include "tessera/autodiff/ops/convolution.h"
#include "tessera/autodiff/thread_count.h"

#include <gtest/gtest.h>

#include <cstring>
#include <map>

namespace tessera {
namespace {

using detail::Workspace;

struct alignas(64) Line {
  std::byte bytes[64];
};

TEST(Workspace, GivesPiecesThatDoNotOverlap) {
  std::vector<Line> memory(64);
  std::byte* const begin = memory[0].bytes;
  Workspace w(begin, 64 * 64);
  table::Rng rng(3);
  struct Piece {
    std::byte* at;
    std::size_t bytes;
    int mark;
  };
  std::vector<Piece> held;
  std::size_t refused = 0;
  for (int n = 0; n < 20000; ++n) {
    if (rng() % 2) {
      const std::size_t bytes = 1 + rng() % 700;
      auto* const p = static_cast<std::byte*>(w.take(bytes));
      if (!p) {
        ++refused;
        continue;
      }
      ASSERT_EQ(reinterpret_cast<std::uintptr_t>(p) % 64, 0u);
      ASSERT_GE(p, begin);
      ASSERT_LE(p + bytes, begin + 64 * 64);
      std::memset(p, n % 251, bytes);
      held.push_back({p, bytes, n % 251});
    } else if (!held.empty()) {
      std::swap(held[rng() % held.size()], held.back());
      for (std::size_t k = 0; k < held.back().bytes; ++k)
        ASSERT_EQ(std::to_integer<int>(held.back().at[k]), held.back().mark);
      ASSERT_TRUE(w.give(held.back().at, held.back().bytes));
      held.pop_back();
    }
  }
  EXPECT_GT(refused, 100u);
  EXPECT_GT(w.missed(), 0u);
  EXPECT_LE(w.most(), 64u * 64);
  for (const Piece& p : held) w.give(p.at, p.bytes);
  EXPECT_EQ(w.take(64 * 64), begin) << "pieces that came back are one again";
  EXPECT_EQ(w.take(1), nullptr);
  std::byte elsewhere[64];
  EXPECT_FALSE(w.give(elsewhere, 64));
}

TEST(Workspace, IsSharedByTheThreadsOfItsKernel) {
  std::vector<Line> memory(1024);
  Workspace w(memory[0].bytes, 1024 * 64);
  const ThreadCount threads(4);
  {
    const detail::WithWorkspace scope(detail::context(), &w);
    parallel_chunks(200, [&](std::int64_t k) {
      detail::Scratch<std::int64_t> mine(1000, k);
      EXPECT_TRUE(std::all_of(mine.begin(), mine.end(), [&](auto x) { return x == k; }));
    });
  }
  EXPECT_EQ(w.missed(), 0u);
  EXPECT_GE(w.most(), 8000u);
  const std::size_t most = w.most();
  detail::ScratchArray<double> of_the_engine(100);
  parallel_chunks(8, [&](std::int64_t) { detail::Scratch<int> later(10); });
  EXPECT_EQ(w.most(), most);
}

/// Runs each equation of a graph in a workspace of what its primitive tells; the most that any of
/// them was short of, and what is taken of all that is told.
struct Told {
  std::map<std::string, std::size_t> missed;
  std::size_t told = 0, taken = 0;

  void run(const Graph& g, const std::vector<Tensor>& in) {
    std::vector<Tensor> value(g.types.size());
    for (std::size_t k = 0; k < in.size(); ++k) value[g.inputs[k]] = in[k];
    for (const auto& [id, t] : g.captures) value[id] = t;
    for (const Graph::Equation& e : g.equations) {
      const Primitive& p = *e.primitive;
      std::vector<const Tensor*> operands;
      std::vector<View> views, results;
      for (const Graph::Id id : g.in(e)) {
        operands.push_back(&value[id]);
        View v = value[id].view();
        if (!p.takes_strides) v.strides = row_major(v.shape);
        v.data = nullptr;  // not known yet
        views.push_back(v);
      }
      for (Graph::Id id = e.out_begin; id < e.out_begin + e.out_count; ++id)
        results.push_back(
            {nullptr, g.types[id].dtype, g.types[id].shape, row_major(g.types[id].shape)});
      const std::size_t bytes = p.workspace ? p.workspace(views, results, e.attr.get()) : 0;
      std::vector<Line> memory(bytes / 64 + 1);
      Workspace w(memory[0].bytes, std::max<std::size_t>(bytes, 64));
      std::vector<Tensor> out(e.out_count);
      {
        const detail::WithWorkspace scope(detail::context(), p.runs_programs ? nullptr : &w);
        dispatch(p, operands, e.attr, {}, out);
      }
      if (w.missed() > 0 || (bytes == 0 && w.most() > 0))
        missed[p.name] = std::max(missed[p.name], w.missed() + w.most());
      told += bytes, taken += w.most();
      for (std::size_t k = 0; k < out.size(); ++k) value[e.out_begin + k] = out[k];
    }
  }
};

std::vector<Type> types_of(const std::vector<Tensor>& x) {
  std::vector<Type> t;
  for (const Tensor& v : x) t.push_back(v.type());
  return t;
}

/// The gradient of the sum of all results that have one, along all operands that have one; of
/// nothing without such.
FlatFunction gradient_of(const table::Row& row, std::vector<Tensor> in) {
  return [&row, in = std::move(in)](const std::vector<Tensor>& x) {
    std::vector<Tensor> live;
    for (const Tensor& t : x)
      if (is_inexact(t.dtype())) live.push_back(t);
    if (live.empty() || !row.differentiable) return std::vector<Tensor>{};
    const auto f = [&](const std::vector<Tensor>& moved) {
      std::vector<Tensor> all = x, smooth;
      for (std::size_t k = 0, next = 0; k < all.size(); ++k)
        if (is_inexact(all[k].dtype())) all[k] = moved[next++];
      for (const Tensor& y : row.invariant ? row.invariant(all) : row.f(all))
        if (is_inexact(y.dtype())) smooth.push_back(y);
      return smooth;
    };
    const auto linear = detail::linearize_flat("vjp", f, live);
    std::vector<Tensor> cotangents;
    for (const Tensor& y : linear.values) cotangents.push_back(ones(y.shape(), y.dtype()));
    std::vector<Tensor> gradients = detail::pull(linear, cotangents);
    std::erase_if(gradients, [](const Tensor& g) { return !g.defined(); });
    return gradients;
  };
}

TEST(Workspace, PrimitivesTellWhatTheyTake) {
  std::size_t told = 0, taken = 0, cases = 0;
  for (const int n_threads : {1, 3}) {
    const ThreadCount threads(n_threads);
    for (const table::Row& row : table::all_rows())
      for (Dtype t : {Dtype::f32, Dtype::f64, Dtype::c64, Dtype::c128}) {
        if (!contains(row.dtypes, t)) continue;
        for (const Index n : {Index{3}, row.large}) {
          if (n == 0) continue;
          SCOPED_TRACE(row.primitive + " " + row.variant + " " + name_of(t) + ", size " +
                       std::to_string(n));
          table::Rng rng(5);
          const std::vector<Tensor> in = row.inputs(t, n, rng);
          for (const FlatFunction& f : {row.f, gradient_of(row, in)}) {
            Told value;
            value.run(trace(f, types_of(in)), in);
            for (const auto& [name, bytes] : value.missed)
              ADD_FAILURE() << name << " tells too little by " << bytes << " bytes";
            told += value.told, taken += value.taken, ++cases;
          }
        }
      }
  }
  EXPECT_GT(cases, 500u);
  EXPECT_GT(taken, told / 2) << "half of what is told is taken, at least";
  std::printf("  %zu cases, %.1f of %.1f MiB\n", cases, taken / 0x1p20, told / 0x1p20);
}

TEST(Workspace, LiesInTheArenaOfPlans) {
  const ThreadCount threads(2);
  table::Rng rng(7);
  const Tensor x = table::uniform_tensor(Dtype::f64, {4, 40, 40, 32}, rng),
               w = table::uniform_tensor(Dtype::f64, {3, 3, 32, 32}, rng);
  const auto gradient = [&](const Tensor& w) {
    return grad([&](const Tensor& w) { return sum(tanh(convolution(x, w))); })(w);
  };
  const auto planned = jit(gradient);
  Tensor y = planned(w);
  EXPECT_TRUE(same_bits(y, gradient(w)));
  release_cached_memory();
  const std::size_t before = memory_stats().in_use;
  reset_peak_memory();
  const Tensor z = planned(w);
  const std::size_t result = 9 * 32 * 32 * 8;
  EXPECT_LE(memory_stats().peak - before, result + result / 4) << "beside the result";
}

TEST(Workspace, IsOfEachStepOfThoseThatRunAtOnce) {
  table::Rng rng(9);
  const Tensor a = table::uniform_tensor(Dtype::f64, {1000}, rng);
  std::vector<Tensor> places;
  for (int k = 0; k < 12; ++k) places.push_back(table::index_tensor({20000}, 1000, rng));
  const auto f = [&](const Tensor& a) {
    std::vector<Tensor> l;
    for (const Tensor& p : places) l.push_back(gather(a, p));
    return concatenate(l, 0);
  };
  const auto planned = jit(f);
  const Tensor want = f(a);
  for (const int n : {1, 3}) {
    const ThreadCount threads(n);
    for (int again = 0; again < 3; ++again) EXPECT_TRUE(same_bits(planned(a), want));
  }
}

TEST(Workspace, CountsInDryRuns) {
  const auto f = [](const Tensor& a) { return svd(a).s; };
  const DryRun d = dryrun(f, stand_in({Dtype::f64, {100, 100}}));
  const auto item = std::find_if(d.memory.begin(), d.memory.end(),
                                 [](const DryRun::Item& i) { return i.what == "workspace"; });
  ASSERT_NE(item, d.memory.end());
  EXPECT_GE(item->bytes, 3 * 100 * 100 * 8.0);
  EXPECT_LE(item->bytes, 12 * 100 * 100 * 8.0);
}

}  // namespace
}  // namespace tessera
