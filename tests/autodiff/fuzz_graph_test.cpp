// SPDX-License-Identifier: Apache-2.0
//
// Random functions, real and complex, under random stacks of four transforms. Every level of a
// stack has a second way to the same result (jvp by transposing a vjp, vjp by columns of jvp, vmap
// by a loop, jit by running at once); the stack is run again with one level replaced, and must
// agree. The plan of the whole stack must give the same bits. TESSERA_FUZZ_GRAPHS sets the number
// of functions, TESSERA_FUZZ_SEED the first.
#include "random_functions.h"
#include "tessera/autodiff/jit.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>

namespace tessera {
namespace {

using namespace fuzz;

enum class Kind { jvp, vjp, vmap, linearize, jit };
struct Level {
  Kind kind;
  std::uint64_t seed;
};

Tensors sum_all(const Tensors& a, const Tensors& b) {
  Tensors c;
  for (std::size_t k = 0; k < a.size(); ++k) c.push_back(a[k] + b[k]);
  return c;
}
Tensors shifted(const Tensors& x, int b) {
  Tensors y;
  for (const Tensor& t : x) y.push_back(t * (1.0 + 0.1 * b) + 0.05 * b);
  return y;
}
/// Re <a, b>, summed over the leaves.
Tensor inner(const Tensors& a, const Tensors& b) {
  Tensor s = zeros({});
  for (std::size_t k = 0; k < a.size(); ++k) s = s + sum(real(conj(a[k]) * b[k]));
  return s;
}

/// g under one transform. All keep the number and shapes of the inputs.
FlatFunction apply_level(const FlatFunction& g, const Level& level, bool other_way) {
  const std::uint64_t seed = level.seed;
  switch (level.kind) {
    case Kind::jvp:
      return [g, seed, other_way](const Tensors& x) {
        const Tensors t = random_like(x, seed);
        if (!other_way) return detail::jvp_flat(g, x, t).second;
        // J t is the transpose of c -> J^T c, applied to t.
        const detail::Linearized l = detail::linearize_flat("vjp", g, x);
        const Tensors c = random_like(l.values, seed + 1);
        const detail::Linearized back = detail::linearize_flat(
            "vjp", [&](const Tensors& ct) { return detail::pull(l, ct); }, c);
        return detail::pull(back, t);
      };
    case Kind::linearize:
      return [g, seed, other_way](const Tensors& x) {
        const Tensors t = random_like(x, seed);
        if (other_way) return detail::jvp_flat(g, x, t).second;
        return detail::push(detail::linearize_flat("linearize", g, x), t);
      };
    case Kind::vjp:
      return [g, seed, other_way](const Tensors& x) {
        const detail::Linearized l = detail::linearize_flat("vjp", g, x);
        const Tensors c = random_like(l.values, seed);
        if (!other_way) return detail::pull(l, c);
        // Column by column: Re <c, J e_i>, all columns of one input in one vmap of jvp; the
        // imaginary part of a complex cotangent by the columns of i e_i.
        Tensors ct;
        for (std::size_t k = 0; k < x.size(); ++k) {
          const Index n = x[k].size();
          const Dtype type = x[k].dtype();
          Shape s = x[k].shape();
          s.insert(0, n);
          auto columns = [&](const Tensor& basis) {
            const Tensors column = detail::vmap_flat(
                [&](const Tensors& e) {
                  Tensors t;
                  for (std::size_t i = 0; i < x.size(); ++i)
                    t.push_back(i == k ? e[0] : zeros(x[i].shape(), x[i].dtype()));
                  return Tensors{inner(c, detail::jvp_flat(g, x, t).second)};
                },
                {basis}, {std::optional<int>(0)}, 0);
            return reshape(column[0], x[k].shape());
          };
          const Tensor basis = reshape(eye(n, type), s);
          ct.push_back(is_complex(type) ? complex(columns(basis), columns(basis * c128(0, 1)))
                                        : columns(basis));
        }
        return ct;
      };
    case Kind::jit:
      return [g, other_way](const Tensors& x) { return other_way ? g(x) : jit(g)(x); };
    default:
      return [g, other_way](const Tensors& x) {
        if (other_way) return sum_all(g(x), g(shifted(x, 1)));
        Tensors in, out;
        const Tensors y = shifted(x, 1);
        for (std::size_t k = 0; k < x.size(); ++k) in.push_back(stack({shifted(x, 0)[k], y[k]}));
        for (const Tensor& r :
             detail::vmap_flat(g, in, std::vector<std::optional<int>>(x.size(), 0), 0))
          out.push_back(sum(r, {0}));
        return out;
      };
  }
}

const char* name_of(Kind k) {
  switch (k) {
    case Kind::jvp:
      return "jvp";
    case Kind::vjp:
      return "vjp";
    case Kind::vmap:
      return "vmap";
    case Kind::jit:
      return "jit";
    default:
      return "linearize";
  }
}

/// Real numbers, real and imaginary parts of complex ones.
std::vector<double> numbers(const Tensor& t) {
  return is_complex(t.dtype()) ? stack({real(t), imag(t)}).to_vector() : t.to_vector();
}

/// Largest difference relative to the largest modulus, at least 1.
double distance(const Tensors& a, const Tensors& b) {
  if (a.size() != b.size()) return INFINITY;
  double worst = 0;
  for (std::size_t k = 0; k < a.size(); ++k) {
    if (a[k].type() != b[k].type()) return INFINITY;
    const auto x = numbers(a[k]), y = numbers(b[k]);
    double scale = 1, d = 0;
    for (double v : x) scale = std::max(scale, std::abs(v));
    for (std::size_t i = 0; i < x.size(); ++i) {
      if (x[i] == y[i] || (std::isnan(x[i]) && std::isnan(y[i]))) continue;
      d = std::max(d, std::abs(x[i] - y[i]));
      if (std::isnan(x[i] - y[i])) return INFINITY;
    }
    worst = std::max(worst, d / scale);
  }
  return worst;
}

/// Equal bits, but any NaN for a NaN.
bool same_values(const Tensor& a, const Tensor& b) {
  if (a.type() != b.type()) return false;
  const auto x = numbers(a), y = numbers(b);
  for (std::size_t i = 0; i < x.size(); ++i)
    if (std::isnan(x[i]) ? !std::isnan(y[i])
                         : x[i] != y[i] || std::signbit(x[i]) != std::signbit(y[i]))
      return false;
  return true;
}

/// The same values in memory of their own.
Tensors copies_of(const Tensors& x) {
  Tensors copies;
  for (const Tensor& t : x) {
    const Tensor c = empty(t.type());
    visit_dtype(t.dtype(), [&](auto tag) {
      using T = typename decltype(tag)::type;
      if constexpr (std::is_same_v<T, double> || std::is_same_v<T, c128>)
        std::ranges::copy(t.to_vector<T>(), static_cast<T*>(c.view().data));
    });
    copies.push_back(c);
  }
  return copies;
}

std::uint64_t from_environment(const char* name, std::uint64_t otherwise) {
  const char* s = std::getenv(name);
  return s ? std::strtoull(s, nullptr, 10) : otherwise;
}

TEST(GraphFuzz, RandomStacksOfTransforms) {
  const std::uint64_t graphs = from_environment("TESSERA_FUZZ_GRAPHS", 300),
                      first = from_environment("TESSERA_FUZZ_SEED", 1);
  std::map<std::string, int> used;
  std::size_t comparisons = 0, finite = 0, failures = 0;
  for (std::uint64_t seed = first; seed < first + graphs && failures < 10; ++seed) {
    Rng rng(seed * 7919);
    const bool large = seed % 16 == 0;  // vectors of processors, and a rest
    const Index longest = large ? 23 : 3;
    Tensors x;
    for (Index k = 0, n = 1 + below_of(rng, 2); k < n; ++k) {
      Shape s;
      for (Index d = below_of(rng, 3); d > 0; --d) s.push_back(1 + below_of(rng, longest));
      x.push_back(random_tensor({below_of(rng, 3) ? Dtype::f64 : Dtype::c128, s}, rng));
    }
    std::vector<Level> levels;
    std::string text;
    for (int k = 0; k < 4; ++k) {
      levels.push_back({static_cast<Kind>(below_of(rng, 5)), rng()});
      text += (text.empty() ? "" : " of ") + std::string(name_of(levels.back().kind));
      ++used[name_of(levels.back().kind)];
    }
    const FlatFunction f = random_function(seed, large ? 2000 : 100);
    auto with = [&](std::size_t replaced) {
      FlatFunction g = f;
      for (std::size_t k = levels.size(); k-- > 0;) g = apply_level(g, levels[k], k == replaced);
      return g(x);
    };
    try {
      const Tensors want = with(levels.size());
      for (const Tensor& t : want)
        for (double v : numbers(t)) finite += std::isfinite(v);
      FlatFunction whole = f;
      for (std::size_t k = levels.size(); k-- > 0;)
        whole = apply_level(whole, levels[k], levels[k].kind == Kind::jit);
      const Tensors eager = whole(x);
      std::vector<Type> types;
      for (const Tensor& t : x) types.push_back(t.type());
      const Graph graph = simplify(trace(whole, types));
      for (const Index join_from : {Index{1}, Index{1024}}) {
        const Plan plan(graph, join_from);
        for (const bool given : {false, true}) {
          const Tensors planned = given ? plan.run(copies_of(x)) : plan.run(x);
          ++comparisons;
          for (std::size_t k = 0; k < eager.size(); ++k)
            if (!same_values(planned[k], eager[k])) {
              ADD_FAILURE() << "seed " << seed << ", " << text << ": the plan, steps joined from "
                            << join_from << " elements" << (given ? ", arguments given away" : "")
                            << ", gives other bits in result " << k;
              ++failures;
            }
        }
      }
      for (std::size_t k = 0; k < levels.size(); ++k, ++comparisons) {
        const double d = distance(with(k), want);
        if (d > 1e-9) {
          ADD_FAILURE() << "seed " << seed << ", " << text << ", level " << k
                        << " replaced: relative difference " << d;
          ++failures;
        }
      }
    } catch (const std::exception& e) {
      ADD_FAILURE() << "seed " << seed << ", " << text << ": " << e.what();
      ++failures;
    }
  }
  std::printf("  %llu graphs, %zu comparisons, %zu finite results;",
              static_cast<unsigned long long>(graphs), comparisons, finite);
  for (const auto& [name, n] : used) std::printf(" %s %d", name.c_str(), n);
  std::printf("\n");
  RecordProperty("graphs", static_cast<int>(graphs));
  RecordProperty("comparisons", static_cast<int>(comparisons));
  EXPECT_GT(finite, graphs);
}

}  // namespace
}  // namespace tessera
