// SPDX-License-Identifier: Apache-2.0
#include "derivatives/rigid.h"

#include "energy/generic.h"
#include "tessera/autodiff/ops.h"
#include "tessera/data/joined_sets.h"

#include <limits>
#include <map>

namespace tessera::molecular {
namespace {

constexpr int free_steps = 5;  ///< of Newton's method, without derivatives: from 10 % to rounding
constexpr int carrying_steps = 2;  ///< with them
constexpr double tolerance = 1e-10;

struct Bond {
  std::int32_t a, b, length;
};
Tensor moved(const Tensor& y, const Tensor& a, const Tensor& b, const Tensor& pull,
             const Tensor& per_a, const Tensor& per_b) {
  return scatter_add(scatter_add(y, a, per_a * pull), b, -per_b * pull);
}

}  // namespace

RigidBonds::RigidBonds(const System& s) {
  std::vector<Bond> bonds;
  for (std::size_t k = 0; k < s.constraints.size(); ++k)
    bonds.push_back({s.constraints.atoms[k][0], s.constraints.atoms[k][1], s.constraints.row[k]});
  const auto first = static_cast<std::int32_t>(
      s.constraints.rows.size());  // lengths of waters follow those of bonds
  for (std::size_t w = 0; w < s.rigid_waters.size(); ++w) {
    const auto [o, h1, h2] = s.rigid_waters.atoms[w];
    const std::int32_t at = first + 2 * s.rigid_waters.row[w];
    for (const Bond& b : {Bond{o, h1, at}, Bond{o, h2, at}, Bond{h1, h2, at + 1}})
      bonds.push_back(b);
  }
  data::JoinedSets sets(s.n_atoms());
  for (const Bond& b : bonds) sets.join(b.a, b.b);
  std::map<std::int32_t, std::vector<Bond>> groups;
  for (const Bond& b : bonds) groups[sets.set_of(b.a)].push_back(b);
  std::map<std::size_t, std::vector<std::vector<Bond>>> by_size;
  for (auto& [atom, group] : groups) by_size[group.size()].push_back(std::move(group));

  const auto per_mass = [&](std::int32_t i) {
    return 1 / s.atoms.mass_amu[static_cast<std::size_t>(i)];
  };
  for (const auto& [m, list] : by_size) {
    std::vector<std::int32_t> a, b, length;
    std::vector<double> weight, per_a, per_b;
    for (const auto& group : list)
      for (const Bond& k : group) {
        a.push_back(k.a);
        b.push_back(k.b);
        length.push_back(k.length);
        per_a.push_back(per_mass(k.a));
        per_b.push_back(per_mass(k.b));
        for (const Bond& l : group) {
          double sum = 0;
          for (const auto& [atom, sign] : {std::pair{k.a, 1.0}, {k.b, -1.0}})
            sum += sign * per_mass(atom) * ((atom == l.a) - (atom == l.b));
          weight.push_back(sum);
        }
      }
    const auto g = static_cast<Index>(list.size()), n = static_cast<Index>(m);
    stacks_.push_back({tensor(a, {g, n}), tensor(b, {g, n}), tensor(length, {g, n}),
                       tensor(weight, {g, n, n}), tensor(per_a, {g, n, 1}),
                       tensor(per_b, {g, n, 1})});
  }
}

Tensor RigidBonds::positions(const Tensor& x, const Tensor& y, const Tensor& h,
                             const Parameters& p) const {
  const Tensor lengths = concatenate({flatten(p.constraints), flatten(p.rigid_waters)});
  Tensor z = y;
  for (const Stack& s : stacks_) {
    const Tensor r = generic::displacement(x, h, s.a, s.b),
                 d = generic::displacement(y, h, s.a, s.b), want = square(take(lengths, s.length));
    const auto error = [&](const Tensor& lambda, const Tensor& r, const Tensor& d,
                           const Tensor& want, Tensor& e) {
      e = d + matmul(s.weight * expand_dims(lambda, 1), r);
      return 0.5 * (want - generic::dot(e, e));
    };
    const auto newton = [&](const Tensor& lambda, const Tensor& r, const Tensor& d,
                            const Tensor& want) {
      Tensor e;
      const Tensor miss = error(lambda, r, d, want, e);
      return lambda + solve(s.weight * matmul(e, transpose(r)), miss);
    };
    const Tensor r0 = stop_gradient(r), d0 = stop_gradient(d), want0 = stop_gradient(want);
    Tensor lambda = zeros(s.a.shape());
    for (int k = 0; k < free_steps; ++k) lambda = newton(lambda, r0, d0, want0);
    lambda = stop_gradient(lambda);
    Tensor e;
    const Tensor met = all(less(abs(error(lambda, r0, d0, want0, e)), tolerance * want0));
    for (int k = 0; k < carrying_steps; ++k) lambda = newton(lambda, r, d, want);
    // As a factor, so that derivatives are NaN as well.
    lambda = lambda * where(met, 1.0, std::numeric_limits<double>::quiet_NaN());
    z = moved(z, s.a, s.b, expand_dims(lambda, -1) * r, s.per_a, s.per_b);
  }
  return z;
}

Tensor RigidBonds::velocities(const Tensor& x, const Tensor& v, const Tensor& h) const {
  Tensor w = v;
  for (const Stack& s : stacks_) {
    const Tensor r = generic::displacement(x, h, s.a, s.b);
    const Tensor mu =
        solve(s.weight * matmul(r, transpose(r)), -generic::dot(r, take(v, s.a) - take(v, s.b)));
    w = moved(w, s.a, s.b, expand_dims(mu, -1) * r, s.per_a, s.per_b);
  }
  return w;
}

}  // namespace tessera::molecular
