// SPDX-License-Identifier: Apache-2.0
//
// What the reverse pass of a loop keeps, and what it computes again.
#include "loop_cases.h"
#include "same_bits.h"
#include "tessera/autodiff/grad.h"
#include "tessera/autodiff/jit.h"
#include "tessera/autodiff/loops.h"
#include "tessera/autodiff/memory.h"
#include "tessera/autodiff/ops.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <functional>
#include <limits>
#include <string>

using namespace tessera;
using namespace tessera::testing;

namespace {

/// Lorenz' system by explicit Euler steps of separate scalars.
using Point = std::array<Tensor, 3>;
Point lorenz_step(const Point& p, const Tensor& rho) {
  const auto& [x, y, z] = p;
  const double dt = 1e-3;
  return {x + dt * (10.0 * (y - x)), y + dt * (x * (rho - z) - y),
          z + dt * (x * y - (8.0 / 3) * z)};
}

}  // namespace

TEST(Checkpoint, RevolveRunsTheFewestSteps) {
  // The least number of steps by trying every place of the next snapshot.
  constexpr Index kSteps = 60, kSnapshots = 6;
  std::vector<std::vector<Index>> least(kSnapshots + 1, std::vector<Index>(kSteps + 1, 0));
  for (Index s = 1; s <= kSnapshots; ++s)
    for (Index n = 2; n <= kSteps; ++n) {
      least[s][n] = n * (n - 1) / 2;
      for (Index k = 1; s > 1 && k < n; ++k)
        least[s][n] = std::min(least[s][n], k + least[s - 1][n - k] + least[s][k]);
    }
  for (Index s = 1; s <= kSnapshots; ++s)
    for (Index n = 1; n <= kSteps; ++n)
      EXPECT_EQ(recomputed_steps(Checkpoint::revolve(s), n), least[s][n])
          << n << " steps, " << s << " snapshots";
  EXPECT_EQ(recomputed_steps(Checkpoint::revolve(16), 10000), 44015);
}

// With a snapshot for each state no step runs twice: n adjoints, n stores, and n - 1 times a step
// forward and a state back.
TEST(Checkpoint, MoreSnapshotsThanStepsRunNoStepTwice) {
  constexpr Index n = 200'000;
  for (const Index s : {n, std::numeric_limits<Index>::max()}) {
    const auto actions = checkpoint_schedule(Checkpoint::revolve(s), n);
    EXPECT_EQ(std::ssize(actions), 4 * n - 2);
    EXPECT_EQ(recomputed_steps(Checkpoint::schedule(actions), n), n - 1);  // which checks it
  }
  EXPECT_EQ(recomputed_steps(Checkpoint::online(Index{1} << 30), 5), 4);
}

TEST(Checkpoint, SchedulesReverseEveryStep) {
  const auto policies = [](Index s) {
    return std::vector{Checkpoint::all(),      Checkpoint::none(),    Checkpoint::every(s),
                       Checkpoint::revolve(s), Checkpoint::online(s), Checkpoint::disk()};
  };
  for (Index s = 1; s <= 7; ++s)
    for (Index n = 0; n <= 50; ++n)
      for (const Checkpoint& p : policies(s)) {
        const auto actions = checkpoint_schedule(p, n);
        EXPECT_EQ(checkpoint_schedule(Checkpoint::schedule(actions), n),
                  actions);  // which checks it
        if (p.kind == Checkpoint::Kind::disk || p.kind == Checkpoint::Kind::every) continue;
        for (const CheckpointAction& a : actions) EXPECT_LT(a.slot, s);
      }
  EXPECT_EQ(recomputed_steps(Checkpoint::all(), 100), 0);
  EXPECT_EQ(recomputed_steps(Checkpoint::none(), 100), 4950);
  EXPECT_EQ(recomputed_steps(Checkpoint::every(10), 100), 90);
  EXPECT_EQ(recomputed_steps(Checkpoint::disk(), 100), 99);
  EXPECT_EQ(recomputed_steps(Checkpoint::reversible({}), 100), 99);
  // Not knowing the end costs at most one sweep more than revolve here.
  for (Index n : {50, 500, 5000})
    EXPECT_LE(recomputed_steps(Checkpoint::online(10), n),
              recomputed_steps(Checkpoint::revolve(10), n) + n);
}

// A schedule may tape several stretches before it reverses the first: each is kept until it is
// reversed, the earlier ones, too.
TEST(Checkpoint, EveryTapedStretchIsKept) {
  using Kind = CheckpointAction::Kind;
  const auto slope = [](const Checkpoint& p) {
    return grad([&](Tensor x) {
      const auto step = [](Tensor c) { return std::pair(sin(c * c) + c, std::tuple()); };
      return scan(step, x, 5, {.checkpoint = p}).first;
    })(Tensor(0.9));
  };
  const Checkpoint stretches = Checkpoint::schedule({{Kind::tape, 0, 2},
                                                     {Kind::tape, 2, 4},
                                                     {Kind::adjoint, 4},
                                                     {Kind::adjoint, 3},
                                                     {Kind::adjoint, 2},
                                                     {Kind::adjoint, 1},
                                                     {Kind::adjoint, 0}});
  EXPECT_TRUE(same_bits(slope(stretches), slope(Checkpoint::all())));
  EXPECT_EQ(last_reverse_sweep().taped, 5);
}

TEST(Checkpoint, WrongSchedulesAreRefused) {
  using Kind = CheckpointAction::Kind;
  const auto refuses = [](std::vector<CheckpointAction> actions, const char* why) {
    EXPECT_NE(message_of([&] {
                checkpoint_schedule(Checkpoint::schedule(std::move(actions)), 2);
              }).find(why),
              std::string::npos)
        << why;
  };
  refuses({}, "without their reverse steps");
  refuses({{Kind::adjoint, 0}}, "where step 1 is due");
  refuses({{Kind::adjoint, 1}}, "which is not taped");
  refuses({{Kind::restore, 0, 0, 3}}, "where nothing is stored");
  refuses({{Kind::advance, 1, 2}}, "on state 0");
  refuses({{Kind::advance, 0, 1}, {Kind::adjoint, 1}, {Kind::invert, 1, 0}, {Kind::adjoint, 0}},
          "no inverse body");
  EXPECT_NE(message_of([] {
              fori_loop(3, [](Tensor, Tensor c) { return c; }, Tensor(1.0),
                        {.checkpoint = Checkpoint::revolve(0)});
            }).find("positive"),
            std::string::npos);
}

TEST(Checkpoint, LorenzOverTenThousandSteps) {
  constexpr Index n = 10000;
  const auto loss = [](const Checkpoint& policy) {
    return [policy](const std::pair<Point, Tensor>& in) {
      const Point end =
          scan([&](const Point& p) { return std::pair(lorenz_step(p, in.second), std::tuple()); },
               in.first, n, {.checkpoint = policy})
              .first;
      return end[0] * end[0] + end[1] * end[2];
    };
  };
  const std::pair<Point, Tensor> at{{Tensor(1.0), Tensor(1.5), Tensor(20.0)}, Tensor(28.0)};
  const auto want = flatten_tree(grad(loss(Checkpoint::all()))(at));
  EXPECT_EQ(last_reverse_sweep().advanced, 0);
  EXPECT_EQ(last_reverse_sweep().taped, n);
  const std::size_t tape = last_reverse_sweep().tape_bytes;
  // The gradient by plain C++: tangents in the four directions.
  const double dt = 1e-3;
  for (int d = 0; d < 4; ++d) {
    double x = 1, y = 1.5, z = 20, tx = d == 0, ty = d == 1, tz = d == 2;
    for (Index k = 0; k < n; ++k) {
      const double nx = x + dt * 10 * (y - x), ny = y + dt * (x * (28 - z) - y),
                   nz = z + dt * (x * y - 8.0 / 3 * z);
      const double ax = tx + dt * 10 * (ty - tx),
                   ay = ty + dt * (tx * (28 - z) + x * ((d == 3) - tz) - ty),
                   az = tz + dt * (tx * y + x * ty - 8.0 / 3 * tz);
      x = nx, y = ny, z = nz, tx = ax, ty = ay, tz = az;
    }
    const double slope = 2 * x * tx + y * tz + z * ty;
    EXPECT_NEAR(want[static_cast<std::size_t>(d)].item() / slope, 1, 1e-7)
        << "direction " << d;  // the error grows like the orbit's distance
  }
  const std::vector<Checkpoint> policies = {
      Checkpoint::revolve(16), Checkpoint::online(16), Checkpoint::every(100), Checkpoint::disk(),
      Checkpoint::schedule(checkpoint_schedule(Checkpoint::revolve(40), n))};
  for (const Checkpoint& p : policies) {
    SCOPED_TRACE(static_cast<int>(p.kind));
    const auto got = flatten_tree(grad(loss(p))(at));
    for (std::size_t k = 0; k < want.size(); ++k)
      EXPECT_TRUE(same_bits(got[k], want[k])) << "leaf " << k;
    const ReverseSweep run = last_reverse_sweep();
    EXPECT_EQ(run.advanced, recomputed_steps(p, n));
    EXPECT_EQ(run.taped, n);
    EXPECT_LE(run.tape_bytes * 10, tape);
    if (p.kind == Checkpoint::Kind::revolve) {
      EXPECT_EQ(run.advanced, 44015);
      EXPECT_EQ(run.snapshots, 16);
      EXPECT_LE(run.snapshot_bytes, 16u * 3 * 16);
    }
    if (p.kind == Checkpoint::Kind::online) {
      EXPECT_EQ(run.snapshots, 16);
    }
  }
  const auto few = [&](const Checkpoint& p) {
    return flatten_tree(grad([&](const Point& x) {
      return scan(
                 [&](const Point& p) { return std::pair(lorenz_step(p, at.second), std::tuple()); },
                 x, 300, {.checkpoint = p})
          .first[0];
    })(at.first));
  };
  const auto all = few(Checkpoint::all()), none = few(Checkpoint::none());
  for (std::size_t k = 0; k < all.size(); ++k) EXPECT_TRUE(same_bits(all[k], none[k]));
  EXPECT_EQ(last_reverse_sweep().advanced, 300 * 299 / 2);
}

TEST(Checkpoint, HoldsTheSnapshotsAlone) {
  // 1,000 steps of a state of 80 kB: all of them are 80 MB.
  const Index n = 10000, steps = 1000;
  const Tensor x = linspace(0, 1, n);
  const auto f = [&](const Checkpoint& p) {
    return [p, steps](Tensor x) {
      return sum(fori_loop(steps, [](Tensor, Tensor c) { return c + 1e-3 * sin(c); }, x,
                           {.checkpoint = p}));
    };
  };
  const auto peak_of = [&](const Checkpoint& p) {
    reset_peak_memory();
    const std::size_t before = memory_stats().in_use;
    const Tensor g = grad(f(p))(x);
    return std::pair(memory_stats().peak - before, g);
  };
  const auto [all_peak, want] = peak_of(Checkpoint::all());
  EXPECT_GT(all_peak, 80u << 20);
  for (const Checkpoint& p : {Checkpoint::revolve(8), Checkpoint::online(8), Checkpoint::disk()}) {
    const auto [peak, got] = peak_of(p);
    EXPECT_LE(peak, (8 + 16) * 8u * n)
        << "8 snapshots, and the few arrays that one step and its derivative take";
    EXPECT_TRUE(same_bits(got, want));
  }
}

TEST(Checkpoint, AFolderForSnapshotsThatIsNotThereIsAnError) {
  const auto slope = [](const std::string& folder) {
    return grad([&](Tensor x) {
      return fori_loop(4, [](Tensor, Tensor c) { return sin(c); }, x,
                       {.checkpoint = Checkpoint::disk(folder)});
    })(Tensor(0.5));
  };
  const char* const missing = "/tessera/no/such/folder";
  EXPECT_THROW(slope(missing), Error);
  const char* const set = std::getenv("TMPDIR");
  const std::string before = set ? set : "";
  setenv("TMPDIR", missing, 1);
  EXPECT_THROW(slope(""), Error);
  if (set)
    setenv("TMPDIR", before.c_str(), 1);
  else
    unsetenv("TMPDIR");
  EXPECT_GT(slope("").item(), 0);
}

TEST(Checkpoint, OfAFunctionKeepsItsArgumentsAlone) {
  const Tensor w = reshape(sin(arange(9, Dtype::f64)), {3, 3}),
               x = reshape(cos(arange(12, Dtype::f64)), {4, 3});
  const auto plain = [&](Tensor x) { return std::pair(tanh(matmul(x, w)) * x, sum(exp(x))); };
  const auto kept = checkpointed(plain);
  const auto loss = [](const auto& f) {
    return [f](Tensor x) {
      const auto [y, s] = f(f(x).first);
      return sum(y * y) + s;
    };
  };
  EXPECT_TRUE(same_bits(loss(kept)(x), loss(plain)(x)));
  EXPECT_TRUE(same_bits(grad(loss(kept))(x), grad(loss(plain))(x)));
  EXPECT_TRUE(same_bits(jit(grad(loss(kept)))(x), grad(loss(plain))(x)));
  EXPECT_LE(distance(hvp(loss(kept), x, x), hvp(loss(plain), x, x)), 1e-14);
  EXPECT_LE(distance(jvp(loss(kept), x, x).second, jvp(loss(plain), x, x).second), 1e-14);
  EXPECT_LE(distance(grad([&](Tensor w) {
                       return sum(checkpointed([&](Tensor x) { return tanh(matmul(x, w)); })(x));
                     })(w),
                     grad([&](Tensor w) { return sum(tanh(matmul(x, w))); })(w)),
            1e-15);  // what it captures
  const auto rows = [&](const auto& f) {
    return vmap([&](Tensor row) {
      return grad(loss([&](Tensor r) { return f(r); }))(expand_dims(row, 0));
    })(x);
  };
  EXPECT_LE(distance(rows(kept), rows(plain)), 1e-14);

  // Twenty functions of fifty steps on 80 kB each.
  const Tensor big = linspace(0, 1, 10'000);
  const auto fifty = [](Tensor u) {
    for (int k = 0; k < 50; ++k) u = u + 0.01 * sin(u);
    return u;
  };
  const auto chain = [&](const auto& f) {
    return [f](Tensor u) {
      for (int k = 0; k < 20; ++k) u = f(u);
      return sum(u);
    };
  };
  const auto peak_of = [&](const auto& f) {
    reset_peak_memory();
    const std::size_t before = memory_stats().in_use;
    const Tensor g = grad(chain(f))(big);
    return std::pair(memory_stats().peak - before, g);
  };
  const auto [with, got] = peak_of(checkpointed(fifty));
  const auto [without, want] = peak_of(fifty);
  EXPECT_TRUE(same_bits(got, want));
  EXPECT_LE(with * 4, without);
}

TEST(Checkpoint, OfWhileLoopsOfUnknownLength) {
  // exp(a) by Euler steps until time 1.
  const auto f = [](const Checkpoint& p) {
    return [p](Tensor a) {
      return while_loop([](const std::pair<Tensor, Tensor>& s) { return s.second < 1.0; },
                        [&](const std::pair<Tensor, Tensor>& s) {
                          return std::pair(s.first + (1.0 / 512) * a * sin(s.first),
                                           s.second + 1.0 / 512);
                        },
                        std::pair(Tensor(1.0), Tensor(0.0)), {p})
          .first;
    };
  };
  const Tensor a(0.7), want = grad(f(Checkpoint::all()))(a);
  for (Index s : {2, 5, 20}) {
    EXPECT_TRUE(same_bits(grad(f(Checkpoint::online(s)))(a), want));
    const ReverseSweep run = last_reverse_sweep();
    EXPECT_EQ(run.snapshots, s);
    EXPECT_EQ(run.taped, 512);
    EXPECT_EQ(run.advanced, recomputed_steps(Checkpoint::online(s), 512) +
                                1);  // the step to where the condition fails
  }
  for (const Checkpoint& p :
       {Checkpoint::none(), Checkpoint::revolve(4), Checkpoint::every(20), Checkpoint::disk()})
    EXPECT_TRUE(same_bits(grad(f(p))(a), want));
}

TEST(Checkpoint, ReversibleRunsTheLoopBack) {
  // Leapfrog of a pendulum: kick, drift, kick is undone by the same with -dt.
  using Phase = std::pair<Tensor, Tensor>;
  const auto leap = [](Phase s, const Tensor& g, double dt) {
    s.second = s.second - 0.5 * dt * g * sin(s.first);
    s.first = s.first + dt * s.second;
    s.second = s.second - 0.5 * dt * g * sin(s.first);
    return s;
  };
  const auto f = [&](bool reversible) {
    return [&leap, reversible](const std::array<Tensor, 3>& in) {
      const Phase init{in[0], in[1]};
      const Checkpoint p =
          reversible ? Checkpoint::reversible([&](Phase s) { return leap(s, in[2], -0.01); }, init)
                     : Checkpoint::all();
      const Phase end = scan([&](Phase s) { return std::pair(leap(s, in[2], 0.01), std::tuple()); },
                             init, 1000, {.checkpoint = p})
                            .first;
      return end.first * end.second;
    };
  };
  const std::array<Tensor, 3> at = {Tensor(1.0), Tensor(0.3), Tensor(9.81)};
  const auto want = grad(f(false))(at), got = grad(f(true))(at);
  const ReverseSweep run = last_reverse_sweep();
  EXPECT_EQ(run.inverted, 999);
  EXPECT_EQ(run.snapshots, 0);
  for (std::size_t k = 0; k < 3; ++k)
    EXPECT_LE(distance(got[k], want[k]), 1e-10);  // rounding of 1,000 steps back
  const auto h = [&](bool r) { return hvp(f(r), at, at); };
  const auto second = h(true), second_want = h(false);
  for (std::size_t k = 0; k < 3; ++k) EXPECT_LE(distance(second[k], second_want[k]), 1e-9);
}

TEST(Checkpoint, HoldsForHigherOrdersBatchesAndPlans) {
  const Driven d = driven(23), t = direction(d);
  const auto f = [](const Checkpoint& p) {
    return [p](const Driven& d) { return by_scan(d, {.checkpoint = p}); };
  };
  const auto wide = [&](const Checkpoint& p) {
    return vmap([&](Tensor s) {
      return grad(f(p))(Driven{d.a, d.x0 * s, d.u}).a;
    })(tensor({0.5, 1.0, 1.5}));
  };
  const auto all = f(Checkpoint::all());
  const Driven g = grad(all)(d), h = hvp(all, d, t),
               rr = grad([&](const Driven&d) { return sum(grad(all)(d).u); })(d);
  const Tensor w = wide(Checkpoint::all());
  const auto expect_same = [](const Driven& a, const Driven& b) {
    const auto x = flatten_tree(a), y = flatten_tree(b);
    for (std::size_t k = 0; k < x.size(); ++k) EXPECT_TRUE(same_bits(x[k], y[k])) << "leaf " << k;
  };
  for (const Checkpoint& p : {Checkpoint::none(), Checkpoint::every(4), Checkpoint::revolve(3),
                              Checkpoint::online(3), Checkpoint::disk()}) {
    SCOPED_TRACE(static_cast<int>(p.kind));
    expect_same(grad(f(p))(d), g);
    expect_same(hvp(f(p), d, t), h);
    EXPECT_LE(last_reverse_sweep().snapshots, 23);
    EXPECT_GT(last_reverse_sweep().advanced, 0);
    expect_same(grad([&](const Driven& d) { return sum(grad(f(p))(d).u); })(d), rr);
    EXPECT_TRUE(same_bits(wide(p), w));
    expect_same(jit([&](const Driven& d) { return grad(f(p))(d); })(d), g);
  }
}

TEST(Checkpoint, DiskSaysWhereItCannotWrite) {
  const auto f = [](Tensor x) {
    return fori_loop(3, [](Tensor, Tensor c) { return c * c; }, x,
                     {.checkpoint = Checkpoint::disk("/nowhere/at/all")});
  };
  EXPECT_NE(message_of([&] { grad(f)(Tensor(2.0)); }).find("/nowhere/at/all"), std::string::npos);
}
