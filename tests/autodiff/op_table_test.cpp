// SPDX-License-Identifier: Apache-2.0
//
// Every primitive, every element type where it is defined: value, first, second and third
// derivative, forward and reverse, batching, threads.
#include "op_table.h"

#include "same_bits.h"
#include "tessera/autodiff/check.h"
#include "tessera/autodiff/forall.h"
#include "tessera/autodiff/jet.h"
#include "tessera/autodiff/jit.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstring>
#include <map>
#include <set>

namespace tessera::table {
namespace {

constexpr Dtype kDtypeList[] = {Dtype::boolean, Dtype::u8,  Dtype::i32, Dtype::i64, Dtype::u32,
                                Dtype::f32,     Dtype::f64, Dtype::c64, Dtype::c128};
using Tensors = std::vector<Tensor>;

double eps_of(Dtype t) { return size_of(real_of(t)) == 4 ? 1.1920929e-7 : 2.220446049250313e-16; }
double epsilon(Dtype t) { return is_inexact(t) ? eps_of(t) : 0; }

double largest(const Array& a) {
  double m = 0;
  for (const Wide& z : a.v) m = std::max(m, static_cast<double>(std::abs(z)));
  return m;
}
/// Largest difference relative to the largest modulus (at least `floor`); NaN where only one is
/// NaN.
double distance(const Tensor& a, const Tensor& b, double floor = 1e-3) {
  const Array x = to_array(a), y = to_array(b);
  if (x.shape != y.shape) return INFINITY;
  double worst = 0;
  for (Index i = 0; i < x.size(); ++i) {
    const double d = static_cast<double>(std::abs(x[i] - y[i]));
    if (std::isnan(d)) return d;
    worst = std::max(worst, d);
  }
  return worst / std::max({largest(x), largest(y), floor});
}
/// One case: a row at one element type, as a function of its inexact operands.
struct Case {
  const Row* row;
  Dtype dtype;
  Tensors inputs;                 // all operands
  std::vector<std::size_t> live;  // the inexact ones
  FlatFunction f;                 // of the live operands; inexact results only
  std::string name() const { return row->primitive + " " + row->variant + " " + name_of(dtype); }
};

/// Unsigned arithmetic is modulo 2^bits.
Wide wrapped(Wide z, Dtype t) {
  if (t != Dtype::u8 && t != Dtype::u32) return z;
  const long double m = t == Dtype::u8 ? 256.0L : 4294967296.0L;
  return z.real() - m * std::floor(z.real() / m);
}

/// The results that have derivatives.
Tensors smooth(const Row& row, const Tensors& in) {
  Tensors out;
  for (const Tensor& y : row.invariant ? row.invariant(in) : row.f(in))
    if (is_inexact(y.dtype())) out.push_back(y);
  return out;
}

Case make_case(const Row& row, Dtype t, Index n, std::uint64_t seed) {
  Rng rng(seed);
  Case c{&row, t, row.inputs(t, n, rng), {}, {}};
  for (std::size_t k = 0; k < c.inputs.size(); ++k)
    if (is_inexact(c.inputs[k].dtype())) c.live.push_back(k);
  c.f = [&row, all = c.inputs, live = c.live](const Tensors& x) {
    Tensors in = all;
    for (std::size_t k = 0; k < live.size(); ++k) in[live[k]] = x[k];
    return smooth(row, in);
  };
  return c;
}
Tensors live_inputs(const Case& c) {
  Tensors x;
  for (std::size_t k : c.live) x.push_back(c.inputs[k]);
  return x;
}
Tensors random_like(const Tensors& like, Rng& rng) {
  Tensors t;
  for (const Tensor& x : like) t.push_back(uniform_tensor(x.dtype(), x.shape(), rng));
  return t;
}
/// Prints the number of cases of the running test and notes it in the test report.
void note_cases(int n) {
  const std::string name = ::testing::UnitTest::GetInstance()->current_test_info()->name();
  std::printf("  %d cases\n", n);
  ::testing::Test::RecordProperty(name + "_cases", n);
}

template <class Body>
void for_cases(DtypeSet chosen, Body body, bool differentiable = true) {
  int cases = 0;
  for (const Row& row : all_rows())
    for (Dtype t : kDtypeList) {
      if (!contains(row.dtypes & chosen, t)) continue;
      if (differentiable && !row.differentiable) continue;
      SCOPED_TRACE(row.primitive + " " + row.variant + " " + name_of(t));
      const Case c = make_case(row, t, 3, 7);
      if (differentiable && c.live.empty()) continue;
      try {
        body(c);
      } catch (const std::exception& e) {
        ADD_FAILURE() << e.what();
      }
      ++cases;
    }
  note_cases(cases);
}

Tensors value_of(const FlatFunction& f, const Tensors& x) { return f(x); }
/// x -> J(x)^T c.
FlatFunction pullback_of(const FlatFunction& f, const Tensors& c) {
  return [f, c](const Tensors& x) { return detail::pull(detail::linearize_flat("vjp", f, x), c); };
}
/// x -> J(x) t.
FlatFunction derivative_of(const FlatFunction& f, const Tensors& t) {
  return [f, t](const Tensors& x) { return detail::jvp_flat(f, x, t).second; };
}
void expect_close(const Tensors& a, const Tensors& b, double tolerance, const char* what,
                  double floor = 1e-3) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t k = 0; k < a.size(); ++k)
    EXPECT_LE(distance(a[k], b[k], floor), tolerance) << what << ", result " << k;
}

void expect_check(const CheckReport& r) { EXPECT_TRUE(r) << to_string(r); }
/// Along one direction, to `factor` times the row's tolerance of derivatives, relative to moduli of
/// at least 1e-3.
CheckOptions difference_options(const Case& c, double factor) {
  const double rtol = factor * c.row->derivative_tolerance;
  return {.directions = 1, .rtol = rtol, .atol = 1e-3 * rtol, .step = 0.02, .seed = 11};
}

constexpr DtypeSet kDouble = set_of(Dtype::f64) | set_of(Dtype::c128);
constexpr DtypeSet kSingle = set_of(Dtype::f32) | set_of(Dtype::c64);

// ---- what is tested ----

TEST(OpTable, EveryPrimitiveHasARow) {
  std::set<std::string> named, registered;
  for (const Row& r : all_rows()) named.insert(r.primitive);
  for (const Primitive* p : registered_primitives()) {
    EXPECT_TRUE(registered.insert(p->name).second) << "two primitives are named " << p->name;
    EXPECT_TRUE(named.contains(p->name)) << "no row for the primitive " << p->name;
  }
  for (const std::string& n : named)
    EXPECT_TRUE(registered.contains(n)) << "row for an unknown primitive " << n;
  std::printf("  %zu primitives, %zu rows\n", registered.size(), all_rows().size());
  RecordProperty("primitives", static_cast<int>(registered.size()));
}

/// Whether the row's function applies its primitive to elements of type `t`; false also where it
/// throws.
bool applies(const Row& r, Dtype t) {
  Rng rng(7);
  Graph g;
  try {
    std::vector<Type> types;
    for (const Tensor& x : r.inputs(t, 3, rng)) types.push_back(x.type());
    g = trace(r.f, types);
  } catch (const Error&) {
    return false;
  }
  verify(g);
  for (const Graph::Equation& e : g.equations)
    for (Graph::Id id : g.in(e))
      if (e.primitive->name == r.primitive && g.types[id].dtype == t) return true;
  return false;
}

TEST(OpTable, RowsApplyTheirPrimitiveWhereItIsDefined) {
  int cases = 0;
  std::map<std::string, DtypeSet> defined;
  for (const Row& r : all_rows()) defined[r.primitive] |= r.dtypes;
  for (const Row& r : all_rows())
    for (Dtype t : kDtypeList) {
      SCOPED_TRACE(r.primitive + " " + r.variant + " " + name_of(t));
      if (contains(r.dtypes, t)) {
        EXPECT_TRUE(applies(r, t));
      } else if (!contains(defined[r.primitive], t)) {
        EXPECT_FALSE(applies(r, t));
      }
      ++cases;
    }
  note_cases(cases);
}

TEST(OpTable, ValueAgainstPlainLoop) {
  for_cases(
      kAny,
      [](const Case& c) {
        for (std::uint64_t seed = 1; seed <= 3; ++seed) {
          const Case d =
              make_case(*c.row, c.dtype, seed == 1 ? 1 : 2 + static_cast<Index>(seed), seed);
          const Tensors got = d.row->f(d.inputs);
          const double tolerance = d.row->tolerance * epsilon(d.dtype);
          if (d.row->property) {
            EXPECT_LE(d.row->property(d.inputs, got), tolerance);
            continue;
          }
          std::vector<Array> in;
          for (const Tensor& x : d.inputs) in.push_back(to_array(x));
          const std::vector<Array> want = d.row->oracle(in);
          ASSERT_EQ(got.size(), want.size());
          for (std::size_t k = 0; k < got.size(); ++k) {
            ASSERT_EQ(got[k].shape(), want[k].shape);
            const Array have = to_array(got[k]);
            std::vector<Wide> expected = want[k].v;
            for (Wide& z : expected) z = wrapped(z, got[k].dtype());
            const double scale = std::max(largest(want[k]), 1e-300);
            for (Index i = 0; i < have.size(); ++i) {
              const double difference =
                  static_cast<double>(std::abs(have[i] - expected[static_cast<std::size_t>(i)])) /
                  scale;
              EXPECT_LE(difference, tolerance)
                  << "element " << i << ": " << static_cast<double>(have[i].real()) << " for "
                  << static_cast<double>(want[k][i].real());
            }
          }
        }
      },
      false);
}

TEST(OpTable, DerivativesAgainstDifferences) {
  for_cases(kDouble, [](const Case& c) {
    expect_check(detail::gradcheck_flat(c.f, live_inputs(c), difference_options(c, 1)));
  });
}

TEST(OpTable, SinglePrecisionFollowsDouble) {
  for_cases(kSingle, [](const Case& c) {
    Rng rng(13);
    const Tensors x = live_inputs(c), t = random_like(x, rng);
    auto widen = [](const Tensors& v) {
      Tensors w;
      for (const Tensor& s : v)
        w.push_back(cast(s, is_complex(s.dtype())     ? Dtype::c128
                            : s.dtype() == Dtype::f32 ? Dtype::f64
                                                      : s.dtype()));
      return w;
    };
    Case wide = c;
    wide.inputs = widen(c.inputs);
    const Row& row = *c.row;
    wide.f = [&row, all = wide.inputs, live = c.live](const Tensors& v) {
      Tensors in = all;
      for (std::size_t k = 0; k < live.size(); ++k) in[live[k]] = v[k];
      return smooth(row, in);
    };
    expect_close(widen(derivative_of(c.f, t)(x)), derivative_of(wide.f, widen(t))(widen(x)), 3e-4,
                 "jvp");
    const Tensors ct = random_like(value_of(c.f, x), rng);
    expect_close(widen(pullback_of(c.f, ct)(x)), pullback_of(wide.f, widen(ct))(widen(x)), 3e-4,
                 "vjp");
  });
}

TEST(OpTable, VjpIsTheAdjointOfJvp) {
  for_cases(kInexact, [](const Case& c) {
    expect_check(detail::transpose_check_flat(
        c.f, live_inputs(c), {.atol = size_of(real_of(c.dtype)) == 4 ? 2e-8 : 1e-15, .seed = 17}));
  });
}

TEST(OpTable, SecondAndThirdOrder) {
  for_cases(kDouble, [](const Case& c) {
    Rng rng(23);
    const Tensors x = live_inputs(c);
    const Tensors u = random_like(x, rng), ct = random_like(value_of(c.f, x), rng);
    // Forward over either and reverse over either, against differences of the first derivative and
    // as adjoints.
    CheckOptions second = difference_options(c, 30);
    second.order = 2;
    expect_check(detail::gradcheck_flat(c.f, x, second));
    expect_check(detail::transpose_check_flat(
        c.f, x, {.order = 2, .directions = 1, .atol = 1e-15, .seed = 23}));
    // Third order: forward and reverse over forward over reverse.
    const FlatFunction hessian_u = derivative_of(pullback_of(c.f, ct), u);
    expect_check(detail::gradcheck_flat(hessian_u, x, difference_options(c, 900)));
    expect_check(
        detail::transpose_check_flat(hessian_u, x, {.directions = 1, .atol = 1e-15, .seed = 29}));
  });
}

constexpr int kJetOrder = 6;

/// Coefficients 0..order of t -> f(x(t)) from values at `order + 9` Chebyshev points of [-h, h], by
/// long double elimination; those of order k are returned times h^k.
std::vector<Tensors> interpolated(const FlatFunction& f, const std::vector<Tensors>& curve,
                                  double h) {
  using LD = long double;
  const int n = kJetOrder + 9;
  std::vector<std::vector<Array>> values;
  std::vector<LD> node(static_cast<std::size_t>(n));
  for (int i = 0; i < n; ++i) {
    const double t = h * std::cos(std::acos(-1.0) * (i + 0.5) / n);
    node[static_cast<std::size_t>(i)] = LD(t) / h;
    Tensors x;
    for (std::size_t a = 0; a < curve[0].size(); ++a) {
      Tensor sum = curve.back()[a];
      for (std::size_t k = curve.size() - 1; k-- > 0;) sum = sum * t + curve[k][a];
      x.push_back(sum);
    }
    values.emplace_back();
    for (const Tensor& y : f(x)) values.back().push_back(to_array(y));
  }
  // Newton's divided differences, then to monomials.
  std::vector<Tensors> out(kJetOrder + 1);
  for (std::size_t r = 0; r < values[0].size(); ++r) {
    std::vector<Array> coefficient(kJetOrder + 1, Array(values[0][r].shape));
    for (Index e = 0; e < values[0][r].size(); ++e) {
      std::vector<Wide> d, p(static_cast<std::size_t>(n));
      for (int i = 0; i < n; ++i) d.push_back(values[static_cast<std::size_t>(i)][r][e]);
      for (int level = 1; level < n; ++level)
        for (int i = n - 1; i >= level; --i)
          d[static_cast<std::size_t>(i)] =
              (d[static_cast<std::size_t>(i)] - d[static_cast<std::size_t>(i - 1)]) /
              (node[static_cast<std::size_t>(i)] - node[static_cast<std::size_t>(i - level)]);
      for (int i = n - 1; i >= 0; --i) {
        for (int k = n - 1; k > 0; --k)
          p[static_cast<std::size_t>(k)] =
              p[static_cast<std::size_t>(k - 1)] -
              node[static_cast<std::size_t>(i)] * p[static_cast<std::size_t>(k)];
        p[0] = d[static_cast<std::size_t>(i)] - node[static_cast<std::size_t>(i)] * p[0];
      }
      for (std::size_t k = 0; k <= kJetOrder; ++k) coefficient[k][e] = p[k];
    }
    const Dtype type = std::any_of(coefficient[0].v.begin(), coefficient[0].v.end(),
                                   [](Wide z) { return z.imag() != 0; })
                           ? Dtype::c128
                           : Dtype::f64;
    for (std::size_t k = 0; k <= kJetOrder; ++k) out[k].push_back(to_tensor(coefficient[k], type));
  }
  return out;
}

/// The derivative of f as a function of the point and a direction, both in one list.
FlatFunction pushed(const FlatFunction& f) {
  return [f](const Tensors& xv) {
    const auto half = xv.begin() + static_cast<std::ptrdiff_t>(xv.size() / 2);
    return detail::jvp_flat(f, {xv.begin(), half}, {half, xv.end()}).second;
  };
}

TEST(OpTable, JetToOrderSix) {
  for_cases(kDouble, [](const Case& c) {
    Rng rng(61);
    const Tensors x = live_inputs(c);
    std::vector<Tensors> curve{x};
    for (int k = 1; k <= 3; ++k) curve.push_back(random_like(x, rng));
    const std::vector<Tensors> y = detail::jet_flat(c.f, curve, kJetOrder);
    // Against values of f alone: rounding of f, which the elimination magnifies about a
    // thousandfold at order 6.
    const double h = 0.04;
    const std::vector<Tensors> want = interpolated(c.f, curve, h);
    for (int k = 0; k <= kJetOrder; ++k)
      for (std::size_t r = 0; r < y[0].size(); ++r) {
        const Tensor scaled = cast(y[static_cast<std::size_t>(k)][r] * std::pow(h, k), Dtype::c128);
        const double scale = std::max(largest(to_array(y[0][r])), 1.0) *
                             std::max(1.0, c.row->derivative_tolerance / 1e-7);
        EXPECT_LE(
            largest(to_array(scaled - cast(want[static_cast<std::size_t>(k)][r], Dtype::c128))),
            2e-11 * scale)
            << "order " << k << ", result " << r;
      }
    // y' = jvp(x; x'): the coefficients of the derivative, by other rules, are those of y.
    std::vector<Tensors> velocity;
    for (std::size_t k = 0; k < curve.size(); ++k) {
      Tensors both = curve[k];
      for (std::size_t a = 0; a < x.size(); ++a)
        both.push_back(k + 1 < curve.size() ? curve[k + 1][a] * static_cast<double>(k + 1)
                                            : zeros(x[a].shape(), x[a].dtype()));
      velocity.push_back(both);
    }
    const std::vector<Tensors> dy = detail::jet_flat(pushed(c.f), velocity, kJetOrder - 1);
    for (int k = 1; k <= kJetOrder; ++k)
      for (std::size_t r = 0; r < y[0].size(); ++r)
        EXPECT_LE(distance(y[static_cast<std::size_t>(k)][r] * static_cast<double>(k),
                           dy[static_cast<std::size_t>(k - 1)][r]),
                  1e-9)
            << "derivative, order " << k << ", result " << r;
  });
}

TEST(OpTable, CollapsedJetIsTheSumOfJets) {
  for_cases(kDouble, [](const Case& c) {
    Rng rng(67);
    const Tensors x = live_inputs(c);
    const std::vector<double> w{0.5, -1.25, 2};
    std::vector<Tensors> v;
    for (int r = 0; r < 3; ++r) v.push_back(random_like(x, rng));
    Tensors directions;
    for (std::size_t a = 0; a < x.size(); ++a)
      directions.push_back(stack({v[0][a], v[1][a], v[2][a]}));
    for (int order = 1; order <= 4; ++order)
      for (const Tensor& weights : {Tensor(), tensor(w)}) {
        Tensors want;
        for (std::size_t r = 0; r < 3; ++r) {
          const Tensors y = detail::jet_flat(c.f, {x, v[r]}, order).back();
          for (std::size_t k = 0; k < y.size(); ++k) {
            const Tensor term = weights.defined() ? y[k] * w[r] : y[k];
            if (r == 0)
              want.push_back(term);
            else
              want[k] = want[k] + term;
          }
        }
        expect_close(detail::collapsed_flat(c.f, x, directions, order, weights).sums, want, 1e-11,
                     "collapsed");
      }
  });
}

TEST(OpTable, VmapAgainstLoop) {
  for_cases(
      kAny,
      [](const Case& c) {
        std::vector<Tensors> samples;
        for (std::uint64_t seed : {31, 32, 33})
          samples.push_back(make_case(*c.row, c.dtype, 3, seed).inputs);
        if (samples[0].empty()) return;
        const double rtol = std::max(16 * c.row->tolerance * epsilon(c.dtype),
                                     1e-300);  // 0 would mean the check's own
        expect_check(detail::vmap_check_flat(c.row->f, samples,
                                             {.order = 0, .rtol = rtol, .atol = 1e-3 * rtol}));
      },
      false);
}

TEST(OpTable, VmapOfDerivativesAgainstLoop) {
  for_cases(kDouble, [](const Case& c) {
    std::vector<Tensors> samples;
    for (std::uint64_t seed : {41, 42, 43})
      samples.push_back(live_inputs(make_case(*c.row, c.dtype, 3, seed)));
    expect_check(detail::vmap_check_flat(c.f, samples, {.order = 1, .rtol = 1e-12, .atol = 1e-15}));
  });
}

/// The plan of f's graph against f itself, run twice so that reused memory is met.
void expect_planned(const FlatFunction& f, const Tensors& x, const char* what) {
  std::vector<Type> types;
  for (const Tensor& t : x) types.push_back(t.type());
  const Graph g = simplify(trace(f, types));
  verify(g);
  const Tensors want = f(x);
  for (const Index join_from : {Index{1}, Index{1024}}) {
    const Plan plan(g, join_from);
    for (int run = 0; run < 2; ++run) {
      const Tensors got = plan.run(x);
      ASSERT_EQ(got.size(), want.size());
      for (std::size_t k = 0; k < got.size(); ++k)
        EXPECT_TRUE(same_bits(got[k], want[k]))
            << what << ", joined from " << join_from << ", run " << run << ", result " << k;
    }
  }
}

TEST(OpTable, PlannedIsEagerBitwise) {
  for_cases(
      kAny,
      [](const Case& c) {
        expect_planned(c.row->f, c.inputs, "value");
        if (!c.row->differentiable || c.live.empty()) return;
        Rng rng(59);
        const Tensors x = live_inputs(c), t = random_like(x, rng),
                      ct = random_like(value_of(c.f, x), rng);
        expect_planned(derivative_of(c.f, t), x, "jvp");
        expect_planned(pullback_of(c.f, ct), x, "vjp");
        expect_planned(derivative_of(pullback_of(c.f, ct), t), x, "jvp of vjp");
      },
      false);
}

TEST(OpTable, SameBitsOnAnyNumberOfThreads) {
  const int before = num_threads();
  int cases = 0;
  for (const Row& row : all_rows())
    for (Dtype t : kDtypeList) {
      if (!contains(row.dtypes, t) || row.large == 0) continue;
      SCOPED_TRACE(row.primitive + " " + row.variant + " " + name_of(t));
      const Case c = make_case(row, t, row.large, 53);
      Tensors first;
      for (int n : {1, 3}) {
        set_num_threads(n);
        const Tensors y = row.f(c.inputs);
        if (first.empty()) first = y;
        for (std::size_t k = 0; k < y.size(); ++k)
          EXPECT_TRUE(same_bits(y[k], first[k])) << n << " threads, result " << k;
      }
      ++cases;
    }
  set_num_threads(before);
  note_cases(cases);
}

}  // namespace
}  // namespace tessera::table
