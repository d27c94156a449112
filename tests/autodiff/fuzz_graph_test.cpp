// SPDX-License-Identifier: Apache-2.0
//
// Random functions, real and complex, under random stacks of four transforms. Every level of a stack has a second way to
// the same result (jvp by transposing a vjp, vjp by columns of jvp, vmap by a loop, jit by running at once); the
// stack is run again with one level replaced, and must agree. The plan of the whole stack must give the same bits. TESSERA_FUZZ_GRAPHS sets the number of functions, TESSERA_FUZZ_SEED the first.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <random>

#include "tessera/autodiff/grad.h"
#include "tessera/autodiff/jit.h"
#include "tessera/autodiff/loops.h"
#include "tessera/autodiff/ops.h"
#include "tessera/autodiff/primitive.h"

namespace tessera {
namespace {

using Tensors = std::vector<Tensor>;
using Rng = std::mt19937_64;

Index below_of(Rng& rng, Index n) { return static_cast<Index>(rng() % static_cast<std::uint64_t>(n)); }

Tensor random_tensor(const Type& t, Rng& rng) {
  std::uniform_real_distribution<double> u(-1, 1);
  auto draw = [&] {
    std::vector<double> v(static_cast<std::size_t>(t.shape.count()));
    for (double& x : v) x = u(rng);
    return from_span<double>(v, t.shape);
  };
  const Tensor re = draw();
  return is_complex(t.dtype) ? complex(re, draw()) : re;
}
Tensors random_like(const Tensors& like, std::uint64_t seed) {
  Rng rng(seed);
  Tensors t;
  for (const Tensor& x : like) t.push_back(random_tensor(x.type(), rng));
  return t;
}

/// Cases below that do not compare.
constexpr Index arrangement[] = {0, 6, 7, 8, 12, 13, 17, 18, 19, 20, 21, 22, 23, 24, 25, 29, 32, 33, 34};

Checkpoint random_policy(Rng& rng) {
  const Index k = 1 + below_of(rng, 3);
  switch (below_of(rng, 5)) {
    case 0: return Checkpoint::none();
    case 1: return Checkpoint::every(k);
    case 2: return Checkpoint::revolve(k);
    case 3: return Checkpoint::online(k);
    default: return Checkpoint::all();
  }
}
/// A scan over axis 0 of x, which captures y.
Tensor scanned(const Tensor& x, const Tensor& y, Rng& rng) {
  const Tensor w = mean(tanh(real(y)));
  const ScanOptions o{.reverse = below_of(rng, 2) == 1, .checkpoint = random_policy(rng)};
  const auto [last, all] = scan([&](Tensor c, Tensor u) { return std::pair(0.5 * sin(c) * w + u, c * u); }, 0.3 * select(x, 0, 0), x, o);
  return below_of(rng, 2) ? last : all;
}
/// Halved, and turned a little, until small: the number of steps is data, and differs between elements of a batch.
Tensor shrunk(const Tensor& x, const Tensor& y, Rng& rng) {
  const Tensor w = mean(real(y));
  return while_loop([](const Tensor& c) { return sum(real(c * conj(c))) > 0.2; }, [&](const Tensor& c) { return 0.4 * c + 0.05 * sin(c * w); }, x, {random_policy(rng)});
}
Tensor branched(const Tensor& x, const Tensor& y) {
  const Tensor w = mean(real(y));
  return cond(sum(real(x)) > 0.1, [&](const Tensor& x) { return sin(x) * w; }, [&](const Tensor& x) { return x * x + square(w); }, x);
}

/// One more value made of those so far. Which operation is drawn depends on the shapes and the seed alone.
Tensor grow(const Tensors& pool, Rng& rng) {
  const Tensor x = pool[static_cast<std::size_t>(below_of(rng, static_cast<Index>(pool.size())))];
  const Tensor y = pool[static_cast<std::size_t>(below_of(rng, static_cast<Index>(pool.size())))];
  const int nd = x.ndim();
  const int axis = nd ? static_cast<int>(below_of(rng, nd)) : 0;
  const Index n = nd ? x.dim(axis) : 0;
  if (is_complex(x.dtype())) {
    // What has no order, and functions without poles near; the rest are arrangements, which all numbers share.
    switch (below_of(rng, 12)) {
      case 0: return sin(x);
      case 1: return exp(0.3 * x);
      case 2: return conj(x) * x;
      case 3: return abs(2.0 + x);
      case 4: return real(x);
      case 5: return complex(imag(x), sin(real(x)));
      case 6: return x / (4.0 + x * conj(x));
      case 7: return log(5.0 + x) * sqrt(4.0 + conj(x));
      case 8: return nd >= 2 ? matmul(0.3 * x, conj(transpose(x))) : sum(x);
      case 9: return x.shape() == y.shape() ? x * y : 0.5 * x;
      default: break;
    }
  }
  const bool ordered = !is_complex(x.dtype()) && !is_complex(y.dtype());
  const bool meet = x.shape() == y.shape() || x.ndim() == 0 || y.ndim() == 0;
  switch (ordered ? below_of(rng, 35) : arrangement[below_of(rng, std::size(arrangement))]) {
    case 0: return sin(x);
    case 1: return tanh(x);
    case 2: return logistic(x);
    case 3: return exp(-square(x));
    case 4: return softplus(x);
    case 5: return sqrt(1.0 + square(x));
    case 6: return meet ? x + y : cos(x);
    case 7: return meet ? x * y : x - 0.3;
    case 8: return meet ? x - 2.0 * y : x * 0.5;
    case 9: return meet ? x / (2.0 + square(y)) : 1.0 / (2.0 + square(x));
    case 10: return meet ? maximum(x, y) : abs(x);
    case 11: return meet ? where(x < y, x * x, sin(y)) : where(x < 0.1, x * x, sin(x));
    case 12: return nd ? sum(x, {axis}) : pow(x, 3);
    case 13: return nd && n ? mean(x, {axis}, true) * x : x;
    case 14: return nd && n ? max(x, {axis}) : x;
    case 15: return nd && n ? prod(tanh(x), {axis}) : x;
    case 16: return nd > 1 ? transpose(x) : erf(x);
    case 17: return reshape(x, {-1});
    case 18: return nd && n > 1 ? slice(x, axis, 1, n) : x;
    case 19: return nd ? slice(x, axis, 0, n, 2) : x;
    case 20: return nd && nd < 3 && n < 6 ? concatenate({x, sin(x)}, axis) : x;
    case 21: return nd ? reverse(x, {axis}) : x;
    case 22: return nd < 3 ? broadcast_to(x, [&] { Shape s = x.shape(); s.insert(0, 2); return s; }()) : x;
    case 23: {
      if (!nd || !n) return x;
      std::vector<std::int64_t> at;
      for (int k = 0; k < 3; ++k) at.push_back(below_of(rng, n));
      return take(x, tensor(at), axis);
    }
    case 24: {
      if (!nd || !n || n > 8) return x;
      std::vector<std::int64_t> at;
      for (Index k = 0; k < x.dim(0); ++k) at.push_back(below_of(rng, 3));
      Shape s = x.shape();
      s[0] = 3;
      return scatter_add(zeros(s, x.dtype()), tensor(at), x);
    }
    case 25: return nd ? cumsum(x, axis) * 0.5 : x;
    case 26: return nd && n ? sort(x, axis) : x;
    case 27: return nd >= 2 ? tanh(matmul(x, transpose(x))) : outer(reshape(x, {-1}), sin(reshape(x, {-1})));
    case 28: return nd && n ? softmax(x, axis) : x;
    case 29: return nd && nd < 3 && n && n < 4 ? pad(x, Shape::filled(nd, 1), Shape::filled(nd, 0)) : x;
    case 30: return nd && n ? cumprod(tanh(x), axis) : x;
    case 32: return nd && x.size() ? scanned(x, y, rng) : x;
    case 33: return shrunk(x, y, rng);
    case 34: return branched(x, y);
    default: {
      if (nd != 2 || x.size() > 36 || x.dim(0) != x.dim(1) || n == 0) return atan2(x, 2.0 + square(x));
      const Tensor spd = matmul(x, transpose(x)) + 3.0 * eye(n);
      return below_of(rng, 2) ? cholesky(spd) : inv(spd);
    }
  }
}

/// A function of inputs like `x`: 3 to 8 operations, and one or two results.
FlatFunction random_function(std::uint64_t seed) {
  return [seed](const Tensors& x) {
    Rng rng(seed);
    Tensors pool = x;
    const Index steps = 3 + below_of(rng, 6);
    for (Index k = 0; k < steps; ++k) {
      Tensor y = grow(pool, rng);
      if (y.size() > 100) y = mean(y, {0});
      pool.push_back(y);
    }
    Tensors out = {pool.back()};
    if (below_of(rng, 2)) out.push_back(pool[pool.size() - 2]);
    return out;
  };
}

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
        const detail::Linearized back = detail::linearize_flat("vjp", [&](const Tensors& ct) { return detail::pull(l, ct); }, c);
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
        // Column by column: Re <c, J e_i>, all columns of one input in one vmap of jvp; the imaginary part of a
        // complex cotangent by the columns of i e_i.
        Tensors ct;
        for (std::size_t k = 0; k < x.size(); ++k) {
          const Index n = x[k].size();
          const Dtype type = x[k].dtype();
          Shape s = x[k].shape();
          s.insert(0, n);
          auto columns = [&](const Tensor& basis) {
            const Tensors column = detail::vmap_flat([&](const Tensors& e) {
              Tensors t;
              for (std::size_t i = 0; i < x.size(); ++i) t.push_back(i == k ? e[0] : zeros(x[i].shape(), x[i].dtype()));
              return Tensors{inner(c, detail::jvp_flat(g, x, t).second)};
            }, {basis}, {std::optional<int>(0)}, 0);
            return reshape(column[0], x[k].shape());
          };
          const Tensor basis = reshape(eye(n, type), s);
          ct.push_back(is_complex(type) ? complex(columns(basis), columns(basis * c128(0, 1))) : columns(basis));
        }
        return ct;
      };
    case Kind::jit:
      return [g, other_way](const Tensors& x) { return other_way ? g(x) : detail::PlanCache().run(g, x); };
    default:
      return [g, other_way](const Tensors& x) {
        if (other_way) return sum_all(g(x), g(shifted(x, 1)));
        Tensors in, out;
        const Tensors y = shifted(x, 1);
        for (std::size_t k = 0; k < x.size(); ++k) in.push_back(stack({shifted(x, 0)[k], y[k]}));
        for (const Tensor& r : detail::vmap_flat(g, in, std::vector<std::optional<int>>(x.size(), 0), 0)) out.push_back(sum(r, {0}));
        return out;
      };
  }
}

const char* name_of(Kind k) {
  switch (k) {
    case Kind::jvp: return "jvp";
    case Kind::vjp: return "vjp";
    case Kind::vmap: return "vmap";
    case Kind::jit: return "jit";
    default: return "linearize";
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
    if (std::isnan(x[i]) ? !std::isnan(y[i]) : x[i] != y[i] || std::signbit(x[i]) != std::signbit(y[i])) return false;
  return true;
}

std::uint64_t from_environment(const char* name, std::uint64_t otherwise) {
  const char* s = std::getenv(name);
  return s ? std::strtoull(s, nullptr, 10) : otherwise;
}

TEST(GraphFuzz, RandomStacksOfTransforms) {
  const std::uint64_t graphs = from_environment("TESSERA_FUZZ_GRAPHS", 500), first = from_environment("TESSERA_FUZZ_SEED", 1);
  std::map<std::string, int> used;
  std::size_t comparisons = 0, finite = 0, failures = 0;
  for (std::uint64_t seed = first; seed < first + graphs && failures < 10; ++seed) {
    Rng rng(seed * 7919);
    Tensors x;
    for (Index k = 0, n = 1 + below_of(rng, 2); k < n; ++k) {
      Shape s;
      for (Index d = below_of(rng, 3); d > 0; --d) s.push_back(1 + below_of(rng, 3));
      x.push_back(random_tensor({below_of(rng, 3) ? Dtype::f64 : Dtype::c128, s}, rng));
    }
    std::vector<Level> levels;
    std::string text;
    for (int k = 0; k < 4; ++k) {
      levels.push_back({static_cast<Kind>(below_of(rng, 5)), rng()});
      text += (text.empty() ? "" : " of ") + std::string(name_of(levels.back().kind));
      ++used[name_of(levels.back().kind)];
    }
    const FlatFunction f = random_function(seed);
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
      for (std::size_t k = levels.size(); k-- > 0;) whole = apply_level(whole, levels[k], levels[k].kind == Kind::jit);
      const Tensors planned = detail::PlanCache().run(whole, x), eager = whole(x);
      ++comparisons;
      for (std::size_t k = 0; k < eager.size(); ++k)
        if (!same_values(planned[k], eager[k])) {
          ADD_FAILURE() << "seed " << seed << ", " << text << ": the plan gives other bits in result " << k;
          ++failures;
        }
      for (std::size_t k = 0; k < levels.size(); ++k, ++comparisons) {
        const double d = distance(with(k), want);
        if (d > 1e-9) {
          ADD_FAILURE() << "seed " << seed << ", " << text << ", level " << k << " replaced: relative difference " << d;
          ++failures;
        }
      }
    } catch (const std::exception& e) {
      ADD_FAILURE() << "seed " << seed << ", " << text << ": " << e.what();
      ++failures;
    }
  }
  std::printf("  %llu graphs, %zu comparisons, %zu finite results;", static_cast<unsigned long long>(graphs), comparisons, finite);
  for (const auto& [name, n] : used) std::printf(" %s %d", name.c_str(), n);
  std::printf("\n");
  RecordProperty("graphs", static_cast<int>(graphs));
  RecordProperty("comparisons", static_cast<int>(comparisons));
  EXPECT_GT(finite, graphs);
}

}  // namespace
}  // namespace tessera
