// SPDX-License-Identifier: Apache-2.0
//
// Derivatives against Ridders' differences. Row i of the tableau starts with the central difference
// at h 2^-i, T(i,0) = f' + c_1 h^2 4^-i + c_2 h^4 16^-i + ...; T(i,j) = (4^j T(i,j-1) - T(i-1,j-1))
// / (4^j - 1) drops the terms up to h^2j. Each element takes the entry that differs least from its
// two parents: where steps are too long the parents disagree, where they are too short rounding
// makes them.
#include "comparison.h"
#include "tessera/autodiff/ops.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tessera::detail {
namespace {

constexpr int kRows = 8;

struct Difference {
  std::vector<Numbers> value;                    ///< by result
  std::vector<std::vector<double>> uncertainty;  ///< the estimated error of each
};

Difference differences(const FlatFunction& f, const Tensors& x, const Tensors& t, double h) {
  std::vector<std::vector<Numbers>> central;  // [row][result]
  for (int i = 0; i < kRows; ++i, h /= 2) {
    const Tensors up = f(moved(x, t, h)), down = f(moved(x, t, -h));
    central.emplace_back();
    for (std::size_t k = 0; k < up.size(); ++k) {
      Numbers a = numbers(up[k]);
      const Numbers b = numbers(down[k]);
      for (std::size_t e = 0; e < a.size(); ++e) a[e] = (a[e] - b[e]) / (2 * h);
      central.back().push_back(std::move(a));
    }
  }
  Difference d;
  for (std::size_t k = 0; k < central[0].size(); ++k) {
    const std::size_t n = central[0][k].size();
    d.value.emplace_back(n);
    d.uncertainty.emplace_back(n, INFINITY);
    for (std::size_t e = 0; e < n; ++e) {
      c128 above[kRows], row[kRows];
      d.value[k][e] = central[kRows - 1][k][e];
      for (int i = 0; i < kRows; ++i) {
        row[0] = central[static_cast<std::size_t>(i)][k][e];
        double factor = 4;
        for (int j = 1; j <= i; ++j, factor *= 4) {
          row[j] = (factor * row[j - 1] - above[j - 1]) / (factor - 1);
          const double error =
              std::max(std::abs(row[j] - row[j - 1]), std::abs(row[j] - above[j - 1]));
          if (error < d.uncertainty[k][e]) d.uncertainty[k][e] = error, d.value[k][e] = row[j];
        }
        std::copy(row, row + i + 1, above);
      }
    }
  }
  return d;
}

struct Direction {
  Tensors t;
  std::string name;
};

/// Unit vectors (for complex numbers both 1 and i) of a small argument, else random directions.
std::vector<Direction> directions(const Smooth& s, const CheckOptions& o, std::mt19937_64& rng) {
  Index n = 0;
  for (const Tensor& x : s.x) n += x.size() * (is_complex(x.dtype()) ? 2 : 1);
  std::vector<Direction> out;
  if (o.directions > 0 || n > 32) {
    for (int k = 0; k < (o.directions > 0 ? o.directions : 4); ++k)
      out.push_back({random_like(s.x, rng), ", along random direction " + std::to_string(k)});
    return out;
  }
  for (std::size_t k = 0; k < s.x.size(); ++k)
    for (Index i = 0; i < s.x[k].size(); ++i)
      for (const c128 unit : {c128(1), c128(0, 1)}) {
        if (unit.imag() != 0 && !is_complex(s.x[k].dtype())) continue;
        Direction d;
        for (const Tensor& x : s.x) d.t.push_back(zeros(x.shape(), x.dtype()));
        Numbers e(static_cast<std::size_t>(s.x[k].size()));
        e[static_cast<std::size_t>(i)] = unit;
        d.t[k] = cast(from_span<c128>(e, s.x[k].shape()), s.x[k].dtype());
        d.name = std::string(", along ") + (unit.imag() != 0 ? "i times " : "") + "argument " +
                 std::to_string(s.leaf[k]) + " at " + position(s.x[k].shape(), i);
        out.push_back(std::move(d));
      }
  return out;
}

/// jvp and vjp of `f` at s.x against differences of f.
void first_order(const FlatFunction& f, const Smooth& s, const std::vector<Direction>& along,
                 const std::string& prefix, const CheckOptions& o, std::mt19937_64& rng,
                 Comparison& found) {
  const bool single = single_precision(s.x);
  const double rtol = chosen(o.rtol, single ? 3e-3 : 1e-7),
               step = chosen(o.step, single ? 0.2 : 0.05);
  const Linearized l = linearize_flat("gradcheck", f, s.x);
  const Tensors c = random_like(std::span<const Type>(l.out_types), rng), pulled = pull(l, c);
  // Rounding of f leaves eps |f| / h in a difference; the best h is at least step / 2^kRows.
  const double rounding = (1 << (kRows - 1)) * epsilon(s.x) / step;
  for (const Direction& d : along) {
    const Tensors forward = jvp_flat(f, s.x, d.t).second;
    const Difference expected = differences(f, s.x, d.t, step);
    long double by_differences = 0;
    double scale = 0, noise = 0, unsettled = 0;
    for (std::size_t k = 0; k < forward.size(); ++k) {
      const Numbers got = numbers(forward[k]), &want = expected.value[k], ck = numbers(c[k]);
      const double size = largest(numbers(l.values[k]));
      const double tolerance =
          rtol * std::max(largest(got), largest(want)) + rounding * size + o.atol;
      for (std::size_t e = 0; e < got.size(); ++e) {
        std::string note;
        if (expected.uncertainty[k][e] > tolerance)
          note = "differences settle to " + std::to_string(expected.uncertainty[k][e]) +
                 " only: the function may have a kink near, or the step " + std::to_string(step) +
                 " may be too long";
        found.number(
            got[e], want[e], tolerance, prefix + "jvp against differences",
            [&] {
              return "result " + std::to_string(k) + " at " +
                     position(forward[k].shape(), static_cast<Index>(e)) + d.name;
            },
            note);
        by_differences += static_cast<long double>(ck[e].real()) * want[e].real() +
                          static_cast<long double>(ck[e].imag()) * want[e].imag();
        scale += std::abs(ck[e]) * std::max(std::abs(want[e]), std::abs(got[e]));
        noise += std::abs(ck[e]) * size;
        unsettled += std::abs(ck[e]) * expected.uncertainty[k][e];
      }
    }
    scale = std::max(scale, magnitude(pulled, d.t));
    const double tolerance = rtol * scale + rounding * noise + o.atol;
    found.number(
        inner(pulled, d.t), static_cast<double>(by_differences), tolerance,
        prefix + "vjp against differences", [&] { return "Re<J^H c, t> for a random c" + d.name; },
        unsettled > tolerance ? "differences settle to " + std::to_string(unsettled) + " only"
                              : "");
  }
}

}  // namespace

CheckReport gradcheck_flat(const FlatFunction& f, const Tensors& x, const CheckOptions& o) {
  const Smooth s = smooth("gradcheck", f, x);
  Comparison found("gradcheck");
  std::mt19937_64 rng(o.seed);
  const std::vector<Direction> along = directions(s, o, rng);
  for_orders(s.f, s.x, o.order, rng, [&](const std::string& name, const FlatFunction& g) {
    first_order(g, s, along, name, o, rng, found);
  });
  return found.take();
}

}  // namespace tessera::detail
