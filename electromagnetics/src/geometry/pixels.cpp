// SPDX-License-Identifier: Apache-2.0
#include "tessera/electromagnetics/pixels.h"

#include "tessera/autodiff/error.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

namespace tessera::electromagnetics {

std::vector<double> pixel_lines(double low, double high, int count) {
  std::vector<double> out(static_cast<std::size_t>(count) + 1, low);  // ends may be infinite
  for (int i = 1; i < count; ++i) out[static_cast<std::size_t>(i)] = low + (high - low) * i / count;
  out.back() = high;
  return out;
}

Structure pixel_structure(Scene& scene, std::size_t n_media, const Densities& d, int empty,
                          int full, int priority, std::string name) {
  std::size_t count = 1;
  Point low, high;
  for (int k = 0; k < 3; ++k) {
    const std::vector<double>& lines = d.lines[k];
    if (lines.size() < 2 ||
        std::adjacent_find(lines.begin(), lines.end(), std::not_fn(std::less<>())) != lines.end())
      throw Error(fmt::format("[pixel_structure] the {} lines along {} do not rise", lines.size(),
                              "xyz"[k]));
    count *= lines.size() - 1;
    low[k] = lines.front(), high[k] = lines.back();
  }
  if (d.values.size() != count)
    throw Error(
        fmt::format("[pixel_structure] {} densities for {} pixels", d.values.size(), count));
  if (scene.blends.empty()) scene.first_blend = static_cast<int>(n_media);
  auto pixels = std::make_shared<Pixels>();
  pixels->lines = d.lines;
  pixels->medium.reserve(count);
  std::map<double, std::int32_t> known{{0.0, empty}, {1.0, full}};
  for (const double p : d.values) {
    if (!(p >= 0 && p <= 1))
      throw Error(fmt::format("[pixel_structure] a density of {} is not within 0 and 1", p));
    const auto [at, fresh] = known.try_emplace(p, 0);
    if (fresh) {
      at->second = scene.first_blend + static_cast<std::int32_t>(scene.blends.size());
      scene.blends.push_back({empty, full, p});
    }
    pixels->medium.push_back(at->second);
  }
  return {box(low, high), full, priority, std::move(name), std::move(pixels)};
}

void require_mixable(const Medium& empty, const Medium& full) {
  for (const Medium* m : {&empty, &full})
    if (m->pec || m->chi2 != 0 || m->chi3 != 0)
      throw Error(fmt::format("'{}' is {}, of which there are no mixtures", m->name,
                              m->pec ? "a perfect conductor" : "nonlinear"));
  if (empty.mu != full.mu || empty.sigma_m != full.sigma_m)
    throw Error(fmt::format("'{}' and '{}' differ in permeability, which is not mixed", empty.name,
                            full.name));
}

Medium blended(const Medium& empty, const Medium& full, double density) {
  require_mixable(empty, full);
  Medium out = full;
  out.poles.clear();
  for (std::size_t k = 0; k < 3; ++k) {
    out.eps[k] = (1 - density) * empty.eps[k] + density * full.eps[k];
    out.sigma[k] = (1 - density) * empty.sigma[k] + density * full.sigma[k];
  }
  const auto add = [&](const Medium& m, double share) {
    for (PoleResidue p : m.poles) {
      p.c *= share, p.second *= share;
      const auto same = std::find_if(out.poles.begin(), out.poles.end(),
                                     [&](const PoleResidue& q) { return q.a == p.a; });
      if (same == out.poles.end())
        out.poles.push_back(p);
      else
        same->c += p.c, same->second += p.second;
    }
  };
  add(empty, 1 - density);
  add(full, density);
  out.name = fmt::format("{:.3g} {}", density, full.name);
  return out;
}

std::vector<Medium> with_blends(std::vector<Medium> media, const Scene& scene) {
  if (scene.blends.empty()) return media;
  media.resize(static_cast<std::size_t>(scene.first_blend));
  media.reserve(media.size() + scene.blends.size());
  for (const Blend& b : scene.blends)
    media.push_back(blended(media[static_cast<std::size_t>(b.empty)],
                            media[static_cast<std::size_t>(b.full)], b.density));
  return media;
}

}  // namespace tessera::electromagnetics
