// SPDX-License-Identifier: Apache-2.0
//
// Exchanges as operations: values against what loops over global arrays give, transposes by
// <y, A x> = <A' y, x> in whole numbers, derivatives of the third order, vmap, jet, plans.
#include "dealt.h"
#include "layouts.h"
#include "tessera/autodiff/forall.h"
#include "tessera/autodiff/jet.h"
#include "tessera/autodiff/jit.h"
#include "tessera/autodiff/loops.h"
#include "tessera/parallel/exchanges.h"

#include <gtest/gtest.h>

namespace tessera::parallel {
namespace {

using namespace checks;

/// A linear operation on a rank, its transpose as one, and which of its sides are the same on all
/// ranks.
struct Operation {
  std::string name;
  std::function<Tensor(Tensor)> f, transposed;
  Shape in, out;
  bool same_in = false, same_out = false;
};

/// Counts what varies on each rank, what is the same once.
double inner(Communicator& c, bool same, const Tensor& a, const Tensor& b) {
  return same ? dot(a, b) : over_ranks(c, dot(a, b));
}
/// The same as an operation.
Tensor inner_of(Communicator& c, bool same, const Tensor& a, const Tensor& b) {
  const Tensor d = sum(a * b);
  return same ? d : sum_over_ranks(c, d);
}
std::uint64_t seed_of(const Communicator& c, bool same, std::uint64_t k) {
  return 1000 * k + (same ? 0 : static_cast<std::uint64_t>(c.rank()) + 1);
}
Shape with_rows(Index rows, const Shape& rest) {
  Shape s = rest;
  s.insert(0, rows);
  return s;
}
Index rows_of(const PartsOfRanks& begin, int rank) {
  const auto r = static_cast<std::size_t>(rank);
  return begin[r + 1] - begin[r];
}
std::vector<int> permutation_of(int ranks, std::uint64_t seed) {
  std::vector<int> p(static_cast<std::size_t>(ranks));
  std::iota(p.begin(), p.end(), 0);
  std::shuffle(p.begin(), p.end(), std::mt19937_64(seed));
  return p;
}

/// All of them on this rank, of sizes that differ from rank to rank.
std::vector<Operation> operations(Communicator& c, std::uint64_t seed, const Shape& rest) {
  const Dealt d = deal_by_chance(c.size(), seed);
  std::mt19937_64 random(seed);
  const auto plan = ExchangePlan::make(c, d.of(c.rank()));
  std::vector<Index> counts, table;
  for (int r = 0; r < c.size(); ++r) counts.push_back(static_cast<Index>(random() % 4));
  for (int k = 0; k < c.size() * c.size(); ++k) table.push_back(static_cast<Index>(random() % 3));
  const PartsOfRanks rows = rows_of_ranks(c, counts[static_cast<std::size_t>(c.rank())]);
  const auto to = std::span(table).subspan(static_cast<std::size_t>(c.rank() * c.size()),
                                           static_cast<std::size_t>(c.size()));
  const BlocksPtr b = blocks(c, to);
  const std::vector<int> there = permutation_of(c.size(), seed);
  std::vector<int> back(there.size());
  for (std::size_t r = 0; r < there.size(); ++r)
    back[static_cast<std::size_t>(there[r])] = static_cast<int>(r);
  const Shape owned = with_rows(plan->owned(), rest), copies = with_rows(plan->copies(), rest),
              mine = with_rows(rows_of(rows, c.rank()), rest), all = with_rows(rows.back(), rest);
  const auto ops = [&](const std::string& name, auto f, auto g, const Shape& in, const Shape& out,
                       bool same_in = false, bool same_out = false) {
    return std::vector<Operation>{{name, f, g, in, out, same_in, same_out},
                                  {name + " transposed", g, f, out, in, same_out, same_in}};
  };
  std::vector<Operation> list;
  const auto add = [&](std::vector<Operation> pair) {
    list.insert(list.end(), pair.begin(), pair.end());
  };
  add(ops(
      "push", [=](Tensor x) { return push(plan, x); }, [=](Tensor y) { return pull_add(plan, y); },
      owned, copies));
  add(ops(
      "all_gather", [=, &c](Tensor x) { return all_gather(c, rows, x); },
      [=, &c](Tensor y) { return reduce_scatter(c, rows, y); }, mine, all));
  add(ops(
      "send_receive", [=, &c](Tensor x) { return send_receive(c, there, x); },
      [=, &c](Tensor y) { return send_receive(c, back, y); }, rest, rest));
  add(ops(
      "sum_of_parts", [=, &c](Tensor x) { return sum_of_parts(c, rows, x); },
      [=, &c](Tensor s) { return to_parts(c, rows, s); }, mine, rest, false, true));
  add(ops(
      "sum_over_ranks", [=, &c](Tensor x) { return sum_over_ranks(c, x); },
      [=, &c](Tensor s) { return cast_to_varying(c, s); }, rest, rest, false, true));
  list.push_back({"all_to_all", [=](Tensor x) { return all_to_all(b, x); },
                  [=](Tensor y) {
                    return vjp([=](Tensor v) { return all_to_all(b, v); },
                               zeros(with_rows(b->to.back(), rest)))
                        .second(y);
                  },
                  with_rows(b->to.back(), rest), with_rows(b->from.back(), rest)});
  // From layout to layout, parts of sums and overlaps among them, and back.
  const std::vector<Axes> meshes = meshes_of(c.size());
  const RankMesh mesh(c, meshes[seed % meshes.size()]);
  const Shape all_rows = with_rows(7, rest);
  const Layout one = layout_by_chance(meshes[seed % meshes.size()], all_rows, true, random),
               other = layout_by_chance(meshes[seed % meshes.size()], all_rows, true, random);
  for (const auto& [from, to] : {std::pair(one, other), std::pair(other, one)}) {
    const auto r = redistribution(mesh, all_rows, from, to);
    const Shape x = box_of(mesh, all_rows, from, c.rank()).extents(),
                y = box_of(mesh, all_rows, to, c.rank()).extents();
    const auto there = [r](Tensor v) { return redistribute(r, v); };
    list.push_back(
        {"redistribute", there, [=](Tensor v) { return vjp(there, zeros(x)).second(v); }, x, y});
  }
  return list;
}

/// On every number of ranks, with messages held up by chance in every other.
void for_operations(const std::function<void(Communicator&, const Operation&)>& f,
                    const Shape& rest = {2}) {
  for (std::uint64_t ranks = 1; ranks <= 8; ++ranks)
    run_ranks(static_cast<int>(ranks),
              [&](Communicator& c) {
                for (const Operation& o : operations(c, 10 + ranks, rest)) f(c, o);
              },
              {.delays = ranks % 2 ? 0 : ranks});
}

TEST(Exchanges, MoveWhatLoopsOverAllRanksMove) {
  for (const int ranks : {1, 2, 3, 5, 8})
    run_ranks(ranks, [&](Communicator& c) {
      const int me = c.rank();
      const auto row = [](int r, Index k) { return static_cast<double>(100 * r + k); };
      std::vector<double> mine, all;
      const PartsOfRanks rows = rows_of_ranks(c, (me * 2) % 5);
      for (int r = 0; r < ranks; ++r)
        for (Index k = 0; k < rows_of(rows, r); ++k) {
          all.push_back(row(r, k));
          if (r == me) mine.push_back(row(r, k));
        }
      require(all_gather(c, rows, tensor(mine)).to_vector() == all, "all_gather");

      std::vector<double> sums;
      for (Index k = 0; k < rows_of(rows, me); ++k)
        sums.push_back(static_cast<double>(ranks) * row(me, k) + ranks * (ranks - 1) / 2);
      require(reduce_scatter(c, rows, tensor(all) + static_cast<double>(me)).to_vector() == sums,
              "reduce_scatter");
      std::vector<Index> to;
      std::vector<double> sent, came;
      for (int r = 0; r < ranks; ++r) {
        to.push_back((me + 2 * r) % 3);
        for (Index k = 0; k < to.back(); ++k) sent.push_back(1000.0 * me + row(r, k));
        for (Index k = 0; k < (r + 2 * me) % 3; ++k) came.push_back(1000.0 * r + row(me, k));
      }
      require(all_to_all(blocks(c, to), tensor(sent)).to_vector() == came, "all_to_all");
      const std::vector<int> there = permutation_of(ranks, 4);
      const auto from = std::find(there.begin(), there.end(), me) - there.begin();
      require(send_receive(c, there, Tensor(1.0 * me)).item() == static_cast<double>(from),
              "send_receive");
      require(sum_over_ranks(c, Tensor(1.0 + me)).item() == ranks * (ranks + 1) / 2, "sum");
      require(same_values(to_parts(c, rows, tensor({1.0, 2.0})),
                          broadcast_to(tensor({1.0, 2.0}), {rows_of(rows, me), 2})),
              "to_parts");
      require(cast_to_varying(c, Tensor(3.0)).item() == 3, "cast");
      require(sum_of_parts(c, rows, tensor(mine)).item() ==
                  std::accumulate(all.begin(), all.end(), 0.0),
              "sum_of_parts");
    });
}

TEST(Exchanges, SumsHaveTheBitsOfTheTree) {
  // reduce_scatter gives the rows of sum_of_parts with a part for each rank.
  for (const int ranks : {1, 2, 3, 5, 8})
    run_ranks(ranks, [&](Communicator& c) {
      std::mt19937_64 random(static_cast<std::uint64_t>(c.rank()));
      std::vector<double> v(12);
      for (double& x : v)
        x = std::normal_distribution<double>()(random) * (random() % 2 ? 1 : 1e12);
      const Tensor x = tensor(v, {6, 2});
      const PartsOfRanks rows = deal_parts(6, c.size());
      const Tensor all = sum_over_ranks(c, x);
      require(same_values(reduce_scatter(c, rows, x),
                          slice(all, 0, rows[static_cast<std::size_t>(c.rank())],
                                rows[static_cast<std::size_t>(c.rank()) + 1])),
              "rows of the sum");
    });
}

TEST(Exchanges, AreEachOthersTransposes) {
  for (const Shape& rest : {Shape{2}, Shape{}, Shape{3, 0}})
    for_operations(
        [&](Communicator& c, const Operation& o) {
          const Tensor x = whole(seed_of(c, o.same_in, 1), o.in);
          const Tensor y = whole(seed_of(c, o.same_out, 2), o.out);
          const Tensor ax = o.f(x), aty = o.transposed(y);
          require(ax.shape() == o.out && aty.shape() == o.in, "shapes of " + o.name);
          require(inner(c, o.same_out, y, ax) == inner(c, o.same_in, aty, x),
                  "<y, A x> = <A' y, x> of " + o.name);
          const auto [value, pull] = vjp(o.f, x);
          require(same_values(value, ax) && same_values(pull(y), aty), "vjp of " + o.name);
          const auto [again, tangent] = jvp(o.f, x, x + 1.0);
          require(same_values(again, ax) && same_values(tangent, o.f(x + 1.0)), "jvp of " + o.name);
          // The transpose of the transpose.
          require(same_values(vjp(o.transposed, y).second(x), ax), "transposed twice, " + o.name);
        },
        rest);
}

TEST(Exchanges, ThirdDerivatives) {
  // L = sum_j w_j (A x)_j^3, so that L'''(u, v) = 6 A' (w (A u) (A v)).
  for_operations([](Communicator& c, const Operation& o) {
    const Tensor w = whole(seed_of(c, o.same_out, 1), o.out);
    const Tensor x = whole(seed_of(c, o.same_in, 2), o.in),
                 u = whole(seed_of(c, o.same_in, 3), o.in),
                 v = whole(seed_of(c, o.same_in, 4), o.in);
    const auto loss = [&](Tensor t) {
      const Tensor y = o.f(t);
      return inner_of(c, o.same_out, w, y * y * y);
    };
    const auto first = [&](Tensor t) { return inner_of(c, o.same_in, grad(loss)(t), u); };
    const auto second = [&](Tensor t) { return inner_of(c, o.same_in, grad(first)(t), v); };
    const Tensor ax = o.f(x), au = o.f(u), av = o.f(v);
    require(same_values(grad(loss)(x), o.transposed(3.0 * w * ax * ax)), "gradient, " + o.name);
    require(same_values(grad(first)(x), o.transposed(6.0 * w * ax * au)), "second, " + o.name);
    require(same_values(grad(second)(x), o.transposed(6.0 * w * au * av)), "third, " + o.name);
    // Forward over reverse, planned.
    const auto hvp_of = jit([&](Tensor t, Tensor d) { return jvp(grad(loss), t, d).second; });
    require(same_values(hvp_of(x, u), o.transposed(6.0 * w * ax * au)), "hvp, " + o.name);
    const auto planned = jit([&](Tensor t) { return grad(second)(t); });
    for (int call = 0; call < 2; ++call)
      require(same_values(planned(x), o.transposed(6.0 * w * au * av)), "planned, " + o.name);
  });
}

TEST(Exchanges, BatchesTravelInTheSameMessages) {
  for_operations([](Communicator& c, const Operation& o) {
    std::vector<Tensor> x, y;
    for (std::uint64_t k = 0; k < 3; ++k) {
      x.push_back(whole(seed_of(c, o.same_in, k), o.in));
      y.push_back(o.f(x.back()));
    }
    const auto messages = [&](const auto& f) {
      const std::uint64_t before = c.sent_messages();
      f();
      return c.sent_messages() - before;
    };
    // Sums of much go in two rounds.
    const std::uint64_t one = messages([&] { o.f(x[0]); });
    Tensor batch, nested;
    require(messages([&] { batch = vmap(o.f)(stack(x)); }) == one, "messages of " + o.name);
    require(same_values(batch, stack(y)), "vmap of " + o.name);
    require(same_values(vmap(o.f, {1}, 1)(stack(x, 1)), stack(y, 1)), "vmap along, " + o.name);
    require(messages([&] {
              nested = vmap(vmap(o.f))(stack({stack(x), stack(x)}));
            }) == one,
            "messages of batches of batches, " + o.name);
    require(same_values(nested, stack({stack(y), stack(y)})), "vmap of vmap of " + o.name);
    const auto pull = [&](Tensor t) { return vjp(o.f, x[0]).second(t); };
    std::vector<Tensor> back;
    for (const Tensor& t : y) back.push_back(o.transposed(t));
    require(same_values(vmap(pull)(stack(y)), stack(back)), "vmap of vjp of " + o.name);
  });
}

TEST(Exchanges, TaylorCoefficients) {
  // (A (x + t u))^2 = (A x)^2 + 2 t (A x)(A u) + t^2 (A u)^2.
  for_operations([](Communicator& c, const Operation& o) {
    const Tensor x = whole(seed_of(c, o.same_in, 1), o.in),
                 u = whole(seed_of(c, o.same_in, 2), o.in);
    const auto square_of = [&](Tensor t) { return square(o.f(t)); };
    const Tensor ax = o.f(x), au = o.f(u);
    const auto series = jet(square_of, 3)(x, u);
    require(same_values(series[0], ax * ax) && same_values(series[1], 2.0 * ax * au) &&
                same_values(series[2], au * au) && same_values(series[3], zeros(o.out)),
            "coefficients of " + o.name);
  });
}

// What two ranks plan differs where their sizes do; what they send each other must not.
TEST(Exchanges, PlansOfAnySizeMeet) {
  const int before = num_threads();
  set_num_threads(6);
  for (const Index large : {0, 1, 700, 200'000})
    for (const int ranks : {2, 3})
      run_ranks(ranks,
                [&](Communicator& c) {
                  // All of rank 0's values are wanted by all, and some of the others'.
                  const Index n = c.rank() == 0 ? 3 : large;
                  std::vector<Index> owned, wanted{0, 1, 2, 1};
                  const PartsOfRanks rows = rows_of_ranks(c, n);
                  for (Index k = 0; k < n; ++k)
                    owned.push_back(rows[static_cast<std::size_t>(c.rank())] + k);
                  if (rows.back() > 3) wanted.push_back(rows.back() - 1);
                  const auto plan = ExchangePlan::make(c, {owned, wanted});
                  const Tensor fixed = full({n}, 0.5);
                  const auto loss = [&](Tensor w, Tensor x) {
                    const Tensor v = cast_to_varying(c, w);
                    Tensor slow = x;
                    for (int k = 0; k < 3; ++k) slow = cumsum(slow * 0.25, 0);
                    const Tensor late = push(plan, slow), soon = push(plan, x),
                                 same = push(plan, x), known = push(plan, fixed);
                    push(plan, sin(x));  // unread
                    const auto layer = checkpointed(
                        [&](Tensor t) { return tanh(push(plan, pull_add(plan, t * v)) * 0.1); });
                    const auto [last, each] = scan(
                        [&](Tensor carry, Tensor) {
                          const Tensor next = push(plan, 0.3 * pull_add(plan, carry)) * known;
                          push(plan, x);
                          return std::pair(next + push(plan, fixed), sum_over_ranks(c, sum(next)));
                        },
                        layer(late * soon + same), arange(4));
                    return sum_over_ranks(c, sum(last * last)) + 1e-3 * sum(each);
                  };
                  const auto mixed = [&](Tensor w, Tensor x) {
                    return grad([&](Tensor t) { return grad(loss)(w, t); })(x);
                  };
                  const Tensor w = Tensor(0.7), x = full({n}, 0.25);
                  const auto first =
                      jit([&](Tensor a, Tensor b) { return value_and_grad(loss)(a, b); });
                  const auto second = jit(mixed);
                  const auto [value, slope] = value_and_grad(loss)(w, x);
                  const Tensor along_both = mixed(w, x);
                  for (int call = 0; call < 2; ++call) {
                    const auto planned = first(w, x);
                    require(same_values(planned.first, value) && same_values(planned.second, slope),
                            "loss and gradient");
                    require(same_values(second(w, x), along_both), "second derivative");
                  }
                },
                {.delays = static_cast<std::uint64_t>(ranks)});
  set_num_threads(before);
}

// One rank records while the other has a plan already: what they send is the same.
TEST(Exchanges, RecordingAndRunningMeet) {
  run_ranks(2, [](Communicator& c) {
    const std::vector<Index> mine{c.rank()}, all{0, 1};
    const auto plan = ExchangePlan::make(c, {mine, all});
    const Tensor known = full({1}, 2.0 + c.rank());
    const auto f = jit([&](Tensor x) { return sum(x) * push(plan, known); });
    for (const Index size : {4, 5, 4, 6, 4}) {
      const Index n = c.rank() == 0 ? 4 : size;  // rank 1 records anew
      require(f(ones({n})).to_vector() ==
                  std::vector<double>({2.0 * static_cast<double>(n), 3.0 * static_cast<double>(n)}),
              "push of what is known");
    }
  });
}

TEST(Exchanges, GradientsOfWhatAllRanksShare) {
  // Rows of a problem dealt to ranks; the gradient along w is that of one rank with all rows.
  constexpr Index kRows = 12, kIn = 3, kOut = 2;
  const Tensor rows = whole(1, {kRows, kIn}), want = whole(2, {kRows, kOut}),
               w = whole(3, {kIn, kOut}), direction = whole(4, {kIn, kOut});
  const auto one = [&](Tensor v) { return sum(square(matmul(rows, v) - want)); };
  const Tensor gradient = grad(one)(w), product = hvp(one, w, direction);
  for (const int ranks : {1, 2, 3, 5, 8})
    run_ranks(ranks, [&](Communicator& c) {
      const PartsOfRanks cut = deal_parts(kRows, c.size());
      const auto me = static_cast<std::size_t>(c.rank());
      const Tensor x = slice(rows, 0, cut[me], cut[me + 1]),
                   y = slice(want, 0, cut[me], cut[me + 1]);
      const auto loss = [&](Tensor v) {
        return sum_over_ranks(c, sum(square(matmul(x, cast_to_varying(c, v)) - y)));
      };
      require(loss(w).item() == one(w).item(), "loss");
      require(same_values(grad(loss)(w), gradient), "gradient");
      require(same_values(jit(grad(loss))(w), gradient), "planned gradient");
      require(same_values(hvp(loss, w, direction), product), "Hessian product");
      // With a part for each row, the same bits by any ranks.
      const auto by_parts = [&](Tensor v) {
        const Tensor each = vmap([](Tensor a, Tensor b, Tensor p) {
          return sum(square(matmul(reshape(a, {1, kIn}), p) - b));
        })(x, y, to_parts(c, cut, v));
        return sum_of_parts(c, cut, each);
      };
      require(by_parts(w).item() == one(w).item() && same_values(grad(by_parts)(w), gradient),
              "by parts");
    });
}

TEST(Exchanges, MessagesSayTheLineOfTheUser) {
  std::string text;
  const unsigned line = __LINE__ + 6;
  try {
    run_ranks(2, [&](Communicator& c) {
      const std::vector<Index> mine{c.rank()}, all{0, 1};
      const auto plan = ExchangePlan::make(c, {mine, all});
      const auto f = jit([&](Tensor x) {
        const Tensor y = push(plan, x);
        return c.rank() == 0 ? push(plan, sin(x)) : pull_add(plan, y);
      });
      f(ones({1}));
    });
  } catch (const Error& e) {
    text = e.what();
  }
  for (const std::string& words :
       {std::string("different exchanges"),
        "push f64[*], exchange_primitives_test.cpp:" + std::to_string(line + 1),
        "pull_add f64[*], exchange_primitives_test.cpp:" + std::to_string(line + 1)})
    EXPECT_NE(text.find(words), std::string::npos) << "'" << words << "' in: " << text;
}

TEST(Exchanges, RefuseWhatDoesNotFit) {
  Communicator c = alone();
  const auto message = [](const std::function<void()>& f) -> std::string {
    try {
      f();
    } catch (const Error& e) {
      return e.what();
    }
    return {};
  };
  const auto expect = [&](const std::string& words, const std::function<void()>& f) {
    const std::string text = message(f);
    EXPECT_NE(text.find(words), std::string::npos) << "'" << words << "' in: " << text;
    EXPECT_NE(text.find("exchange_primitives_test.cpp:"), std::string::npos) << text;
  };
  expect("[all_gather] takes [3, ...], the rows of this rank, got f64[2]", [&] {
    all_gather(c, {0, 3}, ones({2}));
  });
  expect("numbers from 0 that do not fall", [&] { reduce_scatter(c, {0, 3, 2}, ones({2})); });
  expect("a permutation of the 1 ranks", [&] { send_receive(c, std::vector<int>{1}, ones({2})); });
  expect("[all_to_all] takes a number of rows for each of 1 ranks", [&] {
    blocks(c, std::vector<Index>{1, 2});
  });
  expect("[sum_of_parts] not defined for bool", [&] { sum_of_parts(c, {0, 2}, ones({2}) > 0.0); });
  expect("[push] takes a tensor, got a number", [&] { push(ExchangePlan::make(c, {}), 3.0); });
  expect("[reduce_scatter] takes [3, ...], the rows of all ranks, got f64[4]", [&] {
    vmap([&](Tensor x) { return reduce_scatter(c, {0, 3}, x); })(ones({2, 4}));
  });
}

}  // namespace
}  // namespace tessera::parallel
