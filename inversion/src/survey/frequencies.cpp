// SPDX-License-Identifier: Apache-2.0
#include "tessera/inversion/frequencies.h"

#include "tessera/autodiff/error.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

namespace tessera::inversion {
namespace {

/// Whether two frequencies are one to the model.
bool is_same(double f, double g) { return std::min(f, g) >= std::max(f, g) * (1 - 1e-3); }

/// What the value at one frequency counts for a datum at another.
struct Share {
  std::size_t frequency = 0;
  double weight = 0;
};

/// Lagrange's polynomial in ln f through the (up to) four nearest of falling frequencies.
std::vector<Share> shares_at(double f, const std::vector<double>& at) {
  const std::size_t n = at.size();
  for (std::size_t k = 0; k < n; ++k)
    if (is_same(f, at[k])) return {{k, 1.0}};
  if (!(f < at.front() && f > at.back()))
    throw Error(fmt::format("[model_data] a datum at {} Hz lies outside of the model's {} to {} Hz",
                            f, at.back(), at.front()));
  const auto below = static_cast<std::size_t>(
      std::upper_bound(at.begin(), at.end(), f, std::greater<>()) - at.begin());
  const std::size_t count = std::min<std::size_t>(4, n);
  const std::size_t first = std::min(below < 2 ? 0 : below - 2, n - count);
  std::vector<Share> out;
  for (std::size_t k = first; k < first + count; ++k) {
    double w = 1;
    for (std::size_t j = first; j < first + count; ++j)
      if (j != k) w *= std::log(f / at[j]) / std::log(at[k] / at[j]);
    out.push_back({k, w});
  }
  return out;
}

/// Impedances grow as sqrt(f) over a half-space.
bool grows(DatumKind kind) { return unit_of(kind) == "ohm"; }

}  // namespace

std::vector<double> model_frequencies(const DataTable& data, double per_decade) {
  if (!(per_decade > 0)) throw Error("[model_frequencies] needs frequencies to a decade");
  std::vector<double> own = data.frequency_hz;
  if (own.empty()) throw Error("[model_frequencies] there are no data");
  std::sort(own.begin(), own.end(), std::greater<>());
  std::vector<double> out;
  for (const double f : own)
    if (out.empty() || !is_same(f, out.back())) out.push_back(f);
  const double decades = std::log10(own.front() / own.back());
  const auto most = static_cast<std::size_t>(std::ceil(decades * per_decade)) + 1;
  if (out.size() <= std::max<std::size_t>(most, 4)) return out;
  const double high = own.front(), low = own.back();
  out.assign(most, 0.0);
  for (std::size_t k = 0; k < most; ++k)
    out[k] = high * std::pow(low / high, static_cast<double>(k) / static_cast<double>(most - 1));
  out.front() = high, out.back() = low;
  return out;
}

ModelData model_data(const DataTable& data, const std::vector<double>& frequency_hz) {
  if (frequency_hz.empty() ||
      !std::is_sorted(frequency_hz.rbegin(), frequency_hz.rend(), std::less_equal<>()))
    throw Error("[model_data] the model's frequencies have to fall");
  using Key = std::tuple<std::size_t, std::int64_t, Element, Part>;
  ModelData out{.frequency_hz = frequency_hz};
  std::map<Key, std::size_t> place;
  std::map<double, std::vector<Share>> shares;
  const auto key_of = [&](std::size_t i, const Share& s) {
    return Key{s.frequency, data.station[i], data.kind[i].element, data.kind[i].part};
  };
  for (std::size_t i = 0; i < data.size(); ++i) {
    const double f = data.frequency_hz[i];
    const auto [at, fresh] = shares.try_emplace(f);
    if (fresh) at->second = shares_at(f, frequency_hz);
    for (const Share& s : at->second) place.try_emplace(key_of(i, s), 0);
  }
  for (auto& [key, k] : place) {
    k = out.wanted.size();
    out.wanted.push_back(
        {std::get<1>(key), std::get<0>(key), {std::get<2>(key), std::get<3>(key)}});
  }
  std::vector<Entry> entries;
  for (std::size_t i = 0; i < data.size(); ++i)
    for (const Share& s : shares.at(data.frequency_hz[i])) {
      const double scale =
          grows(data.kind[i]) ? std::sqrt(data.frequency_hz[i] / frequency_hz[s.frequency]) : 1.0;
      entries.push_back({i, place.at(key_of(i, s)), s.weight * scale});
    }
  out.rows = sparse(data.size(), out.wanted.size(), std::move(entries));
  return out;
}

}  // namespace tessera::inversion
