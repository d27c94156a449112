// SPDX-License-Identifier: Apache-2.0
#include "comparison.h"
#include "tessera/autodiff/ops.h"

#include <algorithm>

namespace tessera::detail {
namespace {

/// f on a batch of all samples against a call for each, with the leaves of `mask` batched and the
/// others those of the first sample.
void batch(const FlatFunction& f, const std::vector<Tensors>& samples,
           const std::vector<bool>& mask, double rtol, double atol, const std::string& what,
           Comparison& found) {
  std::vector<std::optional<int>> axes;
  Tensors in;
  std::string batched;
  for (std::size_t k = 0; k < mask.size(); ++k) {
    axes.push_back(mask[k] ? std::optional<int>(0) : std::nullopt);
    Tensors leaf;
    for (const Tensors& s : samples) leaf.push_back(s[k]);
    in.push_back(mask[k] ? stack(leaf) : samples[0][k]);
    if (mask[k]) batched += (batched.empty() ? "" : ",") + std::to_string(k);
  }
  const Tensors got = vmap_flat(f, in, axes, 0);
  for (std::size_t b = 0; b < samples.size(); ++b) {
    Tensors one, slice;
    for (std::size_t k = 0; k < mask.size(); ++k) one.push_back(samples[mask[k] ? b : 0][k]);
    for (const Tensor& y : got) slice.push_back(select(y, 0, static_cast<Index>(b)));
    found.tensors(slice, f(one), rtol, atol, what,
                  ", sample " + std::to_string(b) + " with batched arguments " + batched);
  }
}

/// All choices of batched leaves up to four of them; else each alone, and all.
std::vector<std::vector<bool>> masks(std::size_t n) {
  std::vector<std::vector<bool>> out;
  if (n <= 4) {
    for (unsigned m = 1; m < 1u << n; ++m) {
      out.emplace_back(n);
      for (std::size_t k = 0; k < n; ++k) out.back()[k] = m >> k & 1;
    }
    return out;
  }
  for (std::size_t k = 0; k < n; ++k) {
    out.emplace_back(n, false);
    out.back()[k] = true;
  }
  out.emplace_back(n, true);
  return out;
}

}  // namespace

std::vector<Tensors> samples_near(const Tensors& x, std::uint64_t seed) {
  std::mt19937_64 rng(seed);
  std::vector<Tensors> out{x};
  for (int k = 0; k < 2; ++k) {
    Tensors s = x;
    for (Tensor& t : s)
      if (is_inexact(t.dtype()))
        t = t * (1.0 + 0.1 * random_like(Tensors{is_complex(t.dtype()) ? real(t) : t}, rng)[0]);
    out.push_back(s);
  }
  return out;
}

CheckReport vmap_check_flat(const FlatFunction& f, const std::vector<Tensors>& samples,
                            const CheckOptions& o) {
  if (samples.size() < 2)
    fail("vmap_check", "needs two or more samples, got " + std::to_string(samples.size()));
  const double rtol = chosen(o.rtol, single_precision(samples[0]) ? 1e-4 : 1e-12);
  Comparison found("vmap_check");
  for (const auto& mask : masks(samples[0].size()))
    batch(f, samples, mask, rtol, o.atol, "vmap against a loop", found);
  const bool differentiable = std::any_of(samples[0].begin(), samples[0].end(),
                                          [](const Tensor& t) { return is_inexact(t.dtype()); });
  if (o.order < 1 || !differentiable) return found.take();

  std::mt19937_64 rng(o.seed + 1);
  const Smooth s = smooth("vmap_check", f, samples[0]);
  std::vector<Tensors> live;
  for (const Tensors& all : samples) {
    live.emplace_back();
    for (std::size_t k : s.leaf) live.back().push_back(all[k]);
  }
  const Tensors t = random_like(s.x, rng), y = s.f(s.x);
  if (y.empty()) return found.take();
  const Tensors c = random_like(y, rng);
  for (const auto& mask : masks(s.x.size())) {
    batch(derivative_of(s.f, t), live, mask, rtol, o.atol, "vmap of jvp against a loop", found);
    batch(pullback_of(s.f, c), live, mask, rtol, o.atol, "vmap of vjp against a loop", found);
  }
  return found.take();
}

}  // namespace tessera::detail
