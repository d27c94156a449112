// SPDX-License-Identifier: Apache-2.0
#include "tessera/molecular/parameters.h"

#include "derivatives/scaled_pairs.h"
#include "energy/generic.h"
#include "tessera/autodiff/error.h"
#include "tessera/autodiff/ops.h"
#include "tessera/molecular/bonded.h"

#include <algorithm>
#include <cmath>

namespace tessera::molecular {
namespace {

template <std::size_t P>
Tensor table(const std::vector<std::array<double, P>>& rows) {
  std::vector<double> flat;
  for (const auto& row : rows) flat.insert(flat.end(), row.begin(), row.end());
  return tensor(flat, {static_cast<Index>(rows.size()), static_cast<Index>(P)});
}
Tensor list(const std::vector<double>& v) { return tensor(v, {static_cast<Index>(v.size())}); }
constexpr double follows = 1e-6;  ///< files keep 7 digits or more

/// sqrt(p) for p > 0, else 0 without a derivative.
Tensor root(const Tensor& p) {
  const Tensor in = greater(p, 0.0);
  return where(in, sqrt(where(in, p, 1.0)), 0.0);
}

}  // namespace

std::vector<std::int32_t> entries_of_pairs(const System& s) {
  std::vector<std::int32_t> entry(s.pairs.rows.size(), -1);
  for (std::size_t k = 0; k < s.pairs.size(); ++k) {
    const auto [i, j] = s.pairs.atoms[k];
    const std::int32_t a = s.atoms.lj_type[static_cast<std::size_t>(i)],
                       b = s.atoms.lj_type[static_cast<std::size_t>(j)];
    const std::int32_t here = std::min(a, b) * s.lj.types + std::max(a, b);
    std::int32_t& known = entry[static_cast<std::size_t>(s.pairs.row[k])];
    known = known == -1 || known == here ? here : -2;
  }
  return entry;
}

Tensor pairs_with_types(const System& s, const Parameters& p, const LennardJonesTables& lj) {
  std::vector<std::int32_t> entry = entries_of_pairs(s);
  for (std::int32_t& e : entry)
    e = std::max(e, 0);  // rows of no one pair of types: their scale is zero
  const Tensor at = generic::indices(entry),
               of_types = stack({take(flatten(lj.c6), at), take(flatten(lj.c12), at)}, 1);
  return p.pairs + pad(p.pair_scale * of_types, {0, 0}, {0, 2});
}

std::vector<const char*> parameter_names() {
  std::vector<const char*> names;
  const Parameters none{};
  Parameters::each(none, [&](const char* name, const Tensor&) { names.push_back(name); });
  return names;
}

Parameters parameters(const System& s, ScaledFrom pairs) {
  const bool rule = s.lj.mixing != LennardJones::Mixing::tables;
  const auto types = static_cast<std::size_t>(s.lj.types);
  Parameters p;
  each_bonded([&](const BondedKind& kind, Tensor& t) { t = table_of(s, kind.first); }, p);

  auto rows = s.pairs.rows;
  std::vector<std::array<double, 2>> scale(rows.size(), {0, 0});
  const std::vector<std::int32_t> entry = entries_of_pairs(s);
  for (std::size_t r = 0; r < rows.size() && pairs == ScaledFrom::types; ++r) {
    if (entry[r] < 0) continue;
    const double c6 = s.lj.c6[static_cast<std::size_t>(entry[r])],
                 c12 = s.lj.c12[static_cast<std::size_t>(entry[r])];
    if (c6 == 0 || c12 == 0) continue;
    const double f6 = rows[r][0] / c6, f12 = rows[r][1] / c12;
    if (std::abs(f6 - f12) > follows * std::abs(f6)) continue;
    scale[r] = {f6, f12};
    rows[r][0] = rows[r][1] = 0;
  }
  p.pairs = table(rows);
  p.pair_scale = table(scale);

  p.charge = list(s.atoms.charge_e);
  p.sigma = list(rule ? s.lj.sigma_nm : std::vector<double>());
  p.epsilon = list(rule ? s.lj.epsilon : std::vector<double>());
  std::vector<std::array<double, 2>> exceptions;
  for (const auto& [i, j] : s.lj.exceptions) {
    const std::size_t e = static_cast<std::size_t>(i) * types + static_cast<std::size_t>(j);
    if (rule) exceptions.push_back({s.lj.c6[e], s.lj.c12[e]});
  }
  p.exceptions = table(exceptions);
  p.c6 = rule ? zeros({0, 0}) : c6_of(s);
  p.c12 = rule ? zeros({0, 0}) : c12_of(s);
  std::vector<std::array<double, 12>> weights;
  for (const VirtualSite& v : s.virtual_sites) weights.push_back(v.weights);
  p.virtual_sites = table(weights);
  p.constraints = table(s.constraints.rows);
  p.rigid_waters = table(s.rigid_waters.rows);
  return p;
}

LennardJonesTables lennard_jones_tables(const System& s, const Parameters& p) {
  const LennardJones& lj = s.lj;
  if (lj.mixing == LennardJones::Mixing::tables) return {p.c6, p.c12};
  const auto pairs_of = [](const Tensor& v, auto&& f) {
    return f(expand_dims(v, 1), expand_dims(v, 0));
  };
  const auto product = [](const Tensor& a, const Tensor& b) { return a * b; };
  const Tensor sigma =
      lj.mixing == LennardJones::Mixing::geometric
          ? root(pairs_of(p.sigma, product))
          : 0.5 * pairs_of(p.sigma, [](const Tensor& a, const Tensor& b) { return a + b; });
  const Tensor s2 = sigma * sigma, s6 = s2 * s2 * s2;
  Tensor c6 = 4.0 * root(pairs_of(p.epsilon, product)) * s6, c12 = c6 * s6;
  if (lj.exceptions.empty()) return {c6, c12};
  std::vector<std::int32_t> entry;  // from either side
  for (const auto& [i, j] : lj.exceptions) entry.push_back(i * lj.types + j);
  for (const auto& [i, j] : lj.exceptions) entry.push_back(j * lj.types + i);
  const Tensor at = generic::indices(entry);
  const auto put = [&](const Tensor& t, int column) {
    const Tensor v = generic::part(p.exceptions, column);
    return reshape(scatter_set(flatten(t), at, concatenate({v, v})), {lj.types, lj.types});
  };
  return {put(c6, 0), put(c12, 1)};
}

LennardJones by_rule(const LennardJones& tables, LennardJones::Mixing rule) {
  const auto n = static_cast<std::size_t>(tables.types);
  std::vector<double> sigma(n, 0), epsilon(n, 0);
  for (std::size_t i = 0; i < n; ++i) {
    const double c6 = tables.c6[i * n + i], c12 = tables.c12[i * n + i];
    if (!(c6 > 0 && c12 > 0)) continue;
    sigma[i] = std::pow(c12 / c6, 1.0 / 6);
    epsilon[i] = c6 * c6 / (4 * c12);
  }
  LennardJones lj = mixed(rule, sigma, epsilon);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = i; j < n; ++j) {
      const auto misses = [&](double want, double got) {
        return std::abs(want - got) > follows * std::abs(want);
      };
      if (!misses(tables.c6[i * n + j], lj.c6[i * n + j]) &&
          !misses(tables.c12[i * n + j], lj.c12[i * n + j]))
        continue;
      lj.exceptions.push_back({static_cast<std::int32_t>(i), static_cast<std::int32_t>(j)});
      for (const std::size_t e : {i * n + j, j * n + i}) {
        lj.c6[e] = tables.c6[i * n + j];
        lj.c12[e] = tables.c12[i * n + j];
      }
    }
  return lj;
}

Tensor positions_of(const std::vector<Vec3>& x) {
  std::vector<double> flat;
  for (const Vec3& p : x) flat.insert(flat.end(), p.begin(), p.end());
  return tensor(flat, {static_cast<Index>(x.size()), 3});
}
Tensor edges_of(const Box& box) { return positions_of({box.edge[0], box.edge[1], box.edge[2]}); }

}  // namespace tessera::molecular
