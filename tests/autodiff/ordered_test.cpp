// SPDX-License-Identifier: Apache-2.0
//
// Operations of Ordering::every: each runs, in the order in which it was recorded, one after the
// other, on the thread of the caller, and what runs is the same at every size: ranks that hold
// parts of different sizes wait for each other in them.
#include "tessera/autodiff/forall.h"
#include "tessera/autodiff/host_call.h"
#include "tessera/autodiff/jet.h"
#include "tessera/autodiff/jit.h"
#include "tessera/autodiff/loops.h"
#include "tessera/autodiff/ops.h"
#include "tessera/autodiff/primitive.h"
#include "tessera/autodiff/solve.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <mutex>
#include <thread>

namespace tessera {
namespace {

/// Who was told, in order; and whether any two were at once, or on another thread.
struct Telling {
  std::vector<int> ids;
  std::thread::id caller = std::this_thread::get_id();
  bool elsewhere = false, at_once = false;
  std::atomic<int> now{0};
  std::mutex mutex;
};
Telling* telling = nullptr;

struct ToldId {
  int id;
  TESSERA_ATTRIBUTES(id)
};
/// x, and says its number; its transpose says the negative one.
struct Told : Linear<Told> {
  static constexpr const char* name = "told";
  static constexpr Ordering order = Ordering::every;
  static Types infer(std::span<const Type> in, const Attributes*) { return {in[0]}; }
  static KernelFn kernel(std::span<const Dtype>, const Attributes*) {
    return [](Inputs in, Outputs out, const Attributes* a) {
      Telling& t = *telling;
      if (t.now.fetch_add(1) > 0) t.at_once = true;
      {
        const std::lock_guard lock(t.mutex);
        t.ids.push_back(tessera::get<ToldId>(a).id);
        t.elsewhere = t.elsewhere || std::this_thread::get_id() != t.caller;
      }
      std::this_thread::sleep_for(std::chrono::microseconds(50));
      const std::size_t bytes = static_cast<std::size_t>(in[0]->count()) * size_of(in[0]->dtype);
      if (bytes > 0) std::memcpy(out[0]->data, in[0]->data, bytes);
      t.now.fetch_sub(1);
    };
  }
  static void transpose(const Application& a, std::span<const bool>, std::span<const Tensor> ct,
                        std::span<Tensor> o) {
    o[0] = apply(primitive<Told>(), attributes(ToldId{-a.get<ToldId>().id}), {}, ct[0]);
  }
  static void batch(const Application& a, std::span<const bool>, Index, std::span<Tensor> o) {
    o[0] = apply(primitive<Told>(), a.attr, {}, a.in[0]);
  }
};
Tensor told(int id, const Tensor& x) {
  return apply(primitive<Told>(), attributes(ToldId{id}), {}, x);
}

template <class F>
std::vector<int> told_by(const F& f) {
  Telling t;
  telling = &t;
  f();
  telling = nullptr;
  EXPECT_FALSE(t.elsewhere);
  EXPECT_FALSE(t.at_once);
  return t.ids;
}
using Ids = std::vector<int>;

TEST(Ordered, EqualOnesAreTwoAndUnreadOnesRun) {
  const auto f = jit([](Tensor x) {
    const Tensor y = told(1, x) + told(1, x);
    told(2, y);
    return 2.0 * y;
  });
  const Tensor x = tensor({1.0, 2.0});
  for (int call = 0; call < 2; ++call)
    EXPECT_EQ(told_by([&] {
                EXPECT_EQ(f(x).to_vector(), (std::vector<double>{4, 8}));
              }),
              (Ids{1, 1, 2}));
  // Those of which no operand is an argument are run by each call, not by the recording.
  const auto known = jit([&](Tensor y) {
    const Tensor a = told(1, x), b = told(2, x);
    return y + told(3, a * b);
  });
  for (int call = 0; call < 2; ++call)
    EXPECT_EQ(told_by([&] {
                EXPECT_EQ(known(x).to_vector(), (std::vector<double>{2, 6}));
              }),
              (Ids{1, 2, 3}));
  // Also those of a compiled function within, and of a derivative.
  const auto outer = jit([&](Tensor y) {
    const Tensor a = y + known(x);
    return a + grad([](Tensor v) { return sum(square(told(4, v))); })(x);
  });
  for (int call = 0; call < 2; ++call)
    EXPECT_EQ(told_by([&] {
                EXPECT_EQ(outer(x).to_vector(), (std::vector<double>{5, 12}));
              }),
              (Ids{1, 2, 3, 4, -4}));
}

TEST(Ordered, OneAfterTheOtherOnTheThreadOfTheCaller) {
  const int before = num_threads();
  set_num_threads(3);
  // Light linear steps that wait for nobody, behind others that do run at once.
  const auto f = jit([](Tensor x) {
    std::vector<Tensor> all;
    for (int k = 0; k < 12; ++k) all.push_back(matmul(x, sin(x + 1.0 * k)));
    for (int k = 0; k < 12; ++k) all.push_back(told(k, all[static_cast<std::size_t>(k)] + x));
    for (int k = 0; k < 12; ++k) all.push_back(told(12 + k, x));
    return concatenate(all, 0);
  });
  Ids want;
  for (int k = 0; k < 24; ++k) want.push_back(k);
  const Tensor x = ones({100, 100});
  for (int call = 0; call < 10; ++call) EXPECT_EQ(told_by([&] { f(x); }), want);
  set_num_threads(before);
}

/// Told by functions of x [n], whatever n is.
struct Case {
  const char* name;
  std::function<Tensor(Tensor)> f;
};
std::vector<Case> cases() {
  const auto scale = [](const Tensor& x) { return told(90, full(x.shape(), 0.5)); };
  return {
      {"late first",
       [](Tensor x) {
         // What is recorded first waits longest.
         Tensor y = x;
         for (int k = 0; k < 3; ++k) y = cumsum(y * 0.5, 0);
         const Tensor a = told(1, y), b = told(2, x), c = told(3, sin(x));
         return sum(a * b * c) + sum(told(4, x * x));
       }},
      {"equal and unread",
       [](Tensor x) {
         const Tensor y = told(1, x) * told(1, x);
         told(2, y);
         return sum(y * told(3, y));
       }},
      {"scan",
       [scale](Tensor x) {
         const auto [last, each] = scan(
             [&](Tensor c, Tensor v) {
               told(1, v);
               const Tensor next = told(2, sin(c * v)) * scale(x);
               return std::pair(next, told(3, next * next));
             },
             x, stack({x, 0.3 * x, x * x}));
         return sum(last) + 0.0 * sum(x);
       }},
      {"scan with results that are read",
       [](Tensor x) {
         const auto [last, each] = scan(
             [&](Tensor c, Tensor v) {
               const Tensor next = told(1, exp(c) * v) + told(1, c);
               return std::pair(next, told(2, next * next));
             },
             x, stack({x, 0.3 * x}));
         return sum(last) + sum(each);
       }},
      {"checkpointed",
       [scale](Tensor x) {
         const auto layer =
             checkpointed([&](Tensor v) { return told(1, tanh(told(2, v) * v)) * scale(v); });
         return sum(layer(layer(x)));
       }},
      {"snapshots",
       [](Tensor x) {
         return sum(fori_loop(5, [&](Tensor, Tensor c) { return told(1, sin(c)) * told(2, c); }, x,
                              {.checkpoint = Checkpoint::revolve(2)}));
       }},
      {"while",
       [scale](Tensor x) {
         return sum(while_loop(
                        [](const std::pair<Tensor, Tensor>& s) {
                          return told(5, cast(s.second, Dtype::f64)) < 3.0;
                        },
                        [&](const std::pair<Tensor, Tensor>& s) {
                          return std::pair(told(1, sin(s.first)) * scale(s.first) * cos(x),
                                           s.second + cast(1.0, Dtype::f64));
                        },
                        std::pair(x, Tensor(0.0)))
                        .first);
       }},
      {"while whose steps could be made again",
       [](Tensor x) {
         // Of long arrays it would be cheaper to keep c and m than what the derivative reads.
         const Tensor m = cumsum(x, 0) * 1e-6;
         return sum(
             while_loop([](const std::pair<Tensor, Tensor>& s) { return told(5, s.second) < 2.0; },
                        [&](const std::pair<Tensor, Tensor>& s) {
                          const Tensor c = s.first, k = cumsum(x, 0);
                          return std::pair(sin(c + k) * sin(c + 2.0 * k) * sin(c - k) + m,
                                           s.second + 1.0);
                        },
                        std::pair(x, Tensor(0.0)))
                 .first);
       }},
      {"cond",
       [](Tensor x) {
         return sum(cond(
             Tensor(1.0) > 0.0, [](Tensor v) { return told(1, v * v) * told(2, v); },
             [](Tensor v) { return told(3, v); }, x));
       }},
      {"custom rules",
       [](Tensor x) {
         const auto twice = custom_linear(
             [](const std::vector<Tensor>& v) {
               return std::vector<Tensor>{told(1, v[0]) + told(1, v[0])};
             },
             [](const std::vector<Tensor>& v) {
               return std::vector<Tensor>{told(-1, v[0]) + told(-1, v[0])};
             });
         return sum(sin(twice({twice({x})[0]})[0]));
       }},
  };
}

TEST(Ordered, WhatRunsDoesNotDependOnSizes) {
  for (const Case& c : cases()) {
    SCOPED_TRACE(c.name);
    const auto first = grad(c.f);
    const auto second = [&](Tensor x) {
      return grad([&](Tensor v) { return sum(first(v) * v); })(x);
    };
    const auto sweep = [&](Tensor x) { return vmap(c.f)(stack({x, 0.5 * x})); };
    const auto along = [&](Tensor x) { return jet(c.f, 2)(x, ones(x.shape())).back(); };
    const std::vector<std::pair<const char*, std::function<Tensor(Tensor)>>> all = {
        {"f", c.f}, {"grad", first}, {"grad of grad", second}, {"vmap", sweep}, {"jet", along}};
    for (const auto& [name, f] : all) {
      SCOPED_TRACE(name);
      const Ids eager = told_by([&, &f = f] { f(full({3}, 0.4)); });
      EXPECT_FALSE(eager.empty());
      Ids planned;
      for (const Index n : {3, 1, 0, 100, 200'000}) {
        SCOPED_TRACE(n);
        if (n > 100 && std::string_view(name) != "grad") continue;
        const Tensor x = full({n}, 0.4);
        const auto g = jit(f);
        Ids ids = told_by([&] { g(x); });
        if (n == 3) planned = ids;
        EXPECT_EQ(ids, planned);
        EXPECT_EQ(told_by([&] { g(x); }), planned);  // a call that records runs what others run
        EXPECT_EQ(told_by([&, &f = f] { f(x); }), eager);
      }
    }
  }
}

TEST(Ordered, EachStepOfALoopRunsItsOwn) {
  const Tensor x = tensor({1.0, 2.0});
  const auto loop = [&](Tensor c) {
    return scan(
               [&](Tensor v, Tensor) {
                 told(1, x);  // unread, and the same in each step
                 return std::pair(v + told(2, x), v);
               },
               c, arange(3, Dtype::f64))
        .first;
  };
  const Ids each{1, 2, 1, 2, 1, 2};
  EXPECT_EQ(told_by([&] { EXPECT_EQ(loop(x).to_vector(), (std::vector<double>{4, 8})); }), each);
  EXPECT_EQ(told_by([&] { jit(loop)(x); }), each);
  // A loop that holds one is one: unread ones run, in their place.
  const auto unread = jit([&](Tensor c) {
    told(3, c);
    loop(c);
    told(4, c);
    return c * 2.0;
  });
  EXPECT_EQ(told_by([&] { unread(x); }), (Ids{3, 1, 2, 1, 2, 1, 2, 4}));
  const auto until = [&](Tensor c) {
    return while_loop([](Tensor v) { return sum(v) < 10.0; },
                      [&](Tensor v) {
                        return v + told(1, matmul(ones({2, 2}), x)) / 3.0;
                      },
                      c);
  };
  EXPECT_EQ(told_by([&] { until(x); }), (Ids{1, 1, 1, 1}));
  EXPECT_EQ(told_by([&] { jit(until)(x); }), (Ids{1, 1, 1, 1}));
  // One number a step: what register code would run in groups.
  const auto numbers = [](Tensor c) {
    return fori_loop(
        2, [](Tensor, Tensor v) { return told(1, v) + told(2, v * v) + told(1, v); }, c);
  };
  EXPECT_EQ(told_by([&] { numbers(Tensor(0.5)); }), (Ids{1, 2, 1, 1, 2, 1}));
}

TEST(Ordered, DerivativesAreThoseOfWhatDoesNotTell) {
  const auto f = [](auto say) {
    return [=](Tensor x) {
      const auto layer = checkpointed([=](Tensor v) { return tanh(say(v) * v); });
      const auto [last, each] = scan(
          [=](Tensor c, Tensor v) {
            const Tensor next = say(sin(c)) * v + say(c);
            return std::pair(next, say(next * next));
          },
          layer(x), stack({x, 0.3 * x, x * x}));
      return sum(last * say(x)) + sum(each);
    };
  };
  const auto tells = f([](const Tensor& v) { return told(1, v); });
  const auto plain = f([](const Tensor& v) { return v; });
  const auto of_second = [](auto g) {
    return [=](Tensor x) { return grad([=](Tensor v) { return sum(grad(g)(v) * sin(v)); })(x); };
  };
  const Tensor x = tensor({0.3, -0.8, 1.1});
  told_by([&] {
    for (const bool second : {false, true}) {
      const Tensor a = second ? jit(of_second(tells))(x) : jit(grad(tells))(x),
                   b = second ? jit(of_second(plain))(x) : jit(grad(plain))(x);
      // What is not merged is added up in another order.
      EXPECT_LE(max(abs(a - b)).item(), 1e-14 * max(abs(b)).item());
    }
  });
}

TEST(Ordered, TaylorModeRunsWhatRulesSay) {
  const auto f = custom_jvp([](const std::vector<Tensor>& v) { return std::vector{sin(v[0])}; },
                            [](const std::vector<Tensor>& v, const auto&, const auto& t) {
                              const Tensor a = told(5, t[0]), b = told(5, t[0]);
                              return std::vector{cos(v[0]) * (a + b) * 0.5};
                            });
  const Tensor x = tensor({0.3, 1.2});
  EXPECT_EQ(told_by([&] { jet([&](Tensor v) { return f({v})[0]; }, 1)(x, x); }), (Ids{5, 5}));
}

TEST(Ordered, HostCallsThatExchange) {
  int calls = 0;
  const auto count = [&](bool exchanges) {
    return host_call({.name = "count",
                      .run =
                          [&](const std::vector<Tensor>& v) {
                            ++calls;
                            return v;
                          },
                      .jvp = [](const auto&, const auto&, const auto& t) { return t; },
                      .exchanges = exchanges});
  };
  const Tensor x = tensor({1.0, 2.0});
  for (const bool exchanges : {false, true}) {
    const auto f = jit([h = count(exchanges)](Tensor v) {
      h({2.0 * v});
      return h({v})[0] + h({v})[0];
    });
    calls = 0;
    f(x);
    EXPECT_EQ(calls, exchanges ? 3 : 1);
  }
  // What each of them gives is its own.
  const auto next = host_call({.name = "next",
                               .run = [&](const auto&) { return std::vector{full({2}, ++calls)}; },
                               .exchanges = true});
  const auto two = jit([&](Tensor v) {
    const Tensor a = next({v})[0], b = next({v})[0];
    return b - a;
  });
  EXPECT_EQ(two(x).to_vector(), (std::vector<double>{1, 1}));
  // In each step of a loop too, whose derivative reads what the steps that it repeats were given.
  calls = 0;
  const auto product = [&](Tensor v) {
    return sum(fori_loop(
        3, [&](Tensor, Tensor c) { return c * next({x})[0]; }, v));
  };
  EXPECT_EQ(grad(product)(x).to_vector(), (std::vector<double>{4 * 5 * 6, 4 * 5 * 6}));
}

}  // namespace
}  // namespace tessera
