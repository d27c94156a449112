// SPDX-License-Identifier: Apache-2.0
#include "tessera/molecular/constraints.h"

#include "constraints/near.h"
#include "constraints/settle.h"
#include "constraints/sparse_lu.h"
#include "constraints/star.h"
#include "tessera/autodiff/error.h"
#include "tessera/autodiff/forall.h"
#include "tessera/data/joined_sets.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <span>

namespace tessera::molecular {
namespace {

struct FixedBond {
  std::int32_t a, b;
  double length;
};
/// Entry of the Jacobian that two bonds of a group share: sign/m of the atom that they share, or of
/// both ends for a bond itself.
struct Coupling {
  std::int32_t k, l;
  double weight;
  std::size_t at;
};
/// Bonds that hang together.
struct BondGroup {
  std::vector<FixedBond> bonds;
  std::vector<Coupling> couplings;
  SparseLu pattern;
};
/// The star that the bonds are, if they are one.
std::optional<Star> star_of(const BondGroup& g, const std::vector<double>& inverse_mass) {
  if (g.bonds.size() > Star::most) return {};
  for (const std::int32_t centre : {g.bonds[0].a, g.bonds[0].b}) {
    Star s{.many = g.bonds.size(),
           .centre = centre,
           .inverse_centre = inverse_mass[static_cast<std::size_t>(centre)]};
    bool is_one = true;
    for (std::size_t k = 0; k < g.bonds.size(); ++k) {
      const FixedBond& b = g.bonds[k];
      is_one = is_one && (b.a == centre || b.b == centre);
      s.end[k] = b.a == centre ? b.b : b.a;
      for (std::size_t l = 0; l < k; ++l) is_one = is_one && s.end[l] != s.end[k];
      s.length[k] = b.length;
      s.inverse_mass[k] = inverse_mass[static_cast<std::size_t>(s.end[k])];
    }
    if (is_one) return s;
  }
  return {};
}
/// Refuses three distances of three atoms of which the longest is the sum of the others: each says
/// what the other two do, and the matrix of their couplings is singular.
void expect_triangles(const BondGroup& g) {
  constexpr double rounding = 1e-6;  // of lengths in files
  std::map<std::int32_t, std::map<std::int32_t, double>> at;
  for (const FixedBond& b : g.bonds) at[b.a][b.b] = at[b.b][b.a] = b.length;
  for (const FixedBond& side : g.bonds)
    for (const auto& [c, from_a] : at[side.a]) {
      const auto from_b = at[side.b].find(c);
      if (from_b == at[side.b].end() || side.length < (1 - rounding) * (from_a + from_b->second))
        continue;
      throw Error(fmt::format(
          "[constraints] the constrained distances of atoms {}, {} and {} depend on each other: "
          "{:g} nm and {:g} nm make {:g} nm on a line. Leave one out and make the atom between the "
          "others a virtual site, its mass on them",
          side.a + 1, c + 1, side.b + 1, from_a, from_b->second, side.length));
    }
}
constexpr std::size_t batches_of_a_chunk = 32, stars_of_a_chunk = 128;

}  // namespace

struct Constraints::Impl {
  ConstraintOptions options;
  std::vector<double> inverse_mass;
  std::vector<BondGroup> groups;
  std::vector<Star> stars;
  std::vector<Waters> waters;
  std::vector<Settle> kinds;
  std::size_t n = 0;

  /// sum over the bonds' pulls lambda_k s r_k/m added to `to`.
  void pull(const BondGroup& g, const std::vector<Vec3>& r, const std::vector<double>& lambda,
            std::vector<Vec3>& to) const {
    for (std::size_t k = 0; k < g.bonds.size(); ++k)
      for (const auto& [atom, sign] : {std::pair{g.bonds[k].a, 1.0}, {g.bonds[k].b, -1.0}})
        for (std::size_t c = 0; c < 3; ++c)
          to[static_cast<std::size_t>(atom)][c] +=
              sign * lambda[k] * inverse_mass[static_cast<std::size_t>(atom)] * r[k][c];
  }
  /// The matrix of (left_k . right_l) weighted by shared masses, factored.
  std::vector<double> factored(const BondGroup& g, const std::vector<Vec3>& left,
                               const std::vector<Vec3>& right) const {
    std::vector<double> m(g.pattern.storage(), 0.0);
    for (const Coupling& c : g.couplings)
      m[c.at] +=
          c.weight * dot(left[static_cast<std::size_t>(c.k)], right[static_cast<std::size_t>(c.l)]);
    g.pattern.factor(m.data());
    return m;
  }
  /// Names the bond that the step has stretched most: r and d are displacements before and after
  /// it.
  [[noreturn]] static void hopeless(std::span<const FixedBond> bonds, std::span<const Vec3> r,
                                    std::span<const Vec3> d) {
    std::size_t k = 0;
    double most = -1;
    for (std::size_t l = 0; l < bonds.size(); ++l) {
      const double stretch = std::abs(std::sqrt(dot(d[l], d[l])) / bonds[l].length - 1);
      if (stretch <= most) continue;
      k = l;
      if (!std::isfinite(stretch)) break;
      most = stretch;
    }
    const auto& [a, b, length] = bonds[k];
    throw Error(
        fmt::format("[constraints] the bond of atoms {} and {} cannot be kept at {:g} nm: it was "
                    "{:g} nm long before the step and {:g} nm after it. The time step is too long, "
                    "or the forces are too large: minimize first",
                    a + 1, b + 1, length, std::sqrt(dot(r[k], r[k])), std::sqrt(dot(d[k], d[k]))));
  }
  void solve_positions(const BondGroup& g, const std::vector<Vec3>& x, std::vector<Vec3>& y,
                       const Box& box, std::vector<Vec3>* v, double t) const {
    const std::size_t many = g.bonds.size();
    std::vector<Vec3> r(many), d(many), free;
    std::vector<double> residual(many), scratch(many), sum(many, 0.0);
    for (std::size_t k = 0; k < many; ++k)
      r[k] = between(x, g.bonds[k].a, g.bonds[k].b, g.bonds[k].length, box);
    for (int iteration = 0; iteration <= options.most_iterations; ++iteration) {
      double worst = 0;
      for (std::size_t k = 0; k < many; ++k) {
        d[k] = between(y, g.bonds[k].a, g.bonds[k].b, g.bonds[k].length, box);
        const double want = g.bonds[k].length * g.bonds[k].length;
        residual[k] = 0.5 * (want - dot(d[k], d[k]));
        const double error = std::abs(residual[k]) / want;
        worst = error <= worst ? worst : error;  // also where it is no number
      }
      if (iteration == 0) free = d;
      if (worst <= options.tolerance) {
        for (double& l : sum) l /= t;
        if (v) pull(g, r, sum, *v);
        return;
      }
      if (!std::isfinite(worst)) break;
      const std::vector<double> m = factored(g, d, r);
      g.pattern.solve(m.data(), residual.data(), scratch.data());
      pull(g, r, residual, y);
      for (std::size_t k = 0; k < many; ++k) sum[k] += residual[k];
    }
    hopeless(g.bonds, r, free);
  }
  void settle_waters(const Waters& w, const std::vector<Vec3>& x, std::vector<Vec3>& y,
                     const Box& box, std::vector<Vec3>* v, double t) const {
    const Settle& s = kinds[w.kind];
    const Lanes b0 = arms(w, 1, s.d_oh, x, box), c0 = arms(w, 2, s.d_oh, x, box);
    std::array<Lanes, 3> move;  // of each atom
    move[1] = arms(w, 1, s.d_oh, y, box);
    move[2] = arms(w, 2, s.d_oh, y, box);
    std::array<double, Waters::lanes> least;
    settle_positions(s, b0, c0, move[1], move[2], move[0], least.data());
    for (std::size_t l = 0; l < w.many; ++l)
      if (!(least[l] > 0))
        throw Error(
            fmt::format("[constraints] the water of atom {} cannot be made rigid after this step: "
                        "the time step is too long, or the forces are too large: minimize first",
                        w.atom[0][l] + 1));
    const auto add = [&](std::vector<Vec3>& to, double factor) {
      for (std::size_t a = 0; a < 3; ++a)
        for (std::size_t l = 0; l < w.many; ++l) {
          Vec3& p = to[static_cast<std::size_t>(w.atom[a][l])];
          p[0] += factor * move[a].c[0][l];
          p[1] += factor * move[a].c[1][l];
          p[2] += factor * move[a].c[2][l];
        }
    };
    add(y, 1);
    if (v) add(*v, 1 / t);
  }
  void slow_waters(const Waters& w, const std::vector<Vec3>& x, std::vector<Vec3>& v,
                   const Box& box) const {
    const Settle& s = kinds[w.kind];
    const Lanes b = arms(w, 1, s.d_oh, x, box), c = arms(w, 2, s.d_oh, x, box);
    std::array<Lanes, 3> u;
    for (std::size_t a = 0; a < 3; ++a)
      for (std::size_t l = 0; l < Waters::lanes; ++l)
        for (std::size_t k = 0; k < 3; ++k)
          u[a].c[k][l] = v[static_cast<std::size_t>(w.atom[a][l])][k];
    settle_speeds(s, b, c, u.data());
    for (std::size_t a = 0; a < 3; ++a)
      for (std::size_t l = 0; l < w.many; ++l)
        for (std::size_t k = 0; k < 3; ++k)
          v[static_cast<std::size_t>(w.atom[a][l])][k] = u[a].c[k][l];
  }
  /// f(index) for all batches of waters, stars and groups, in chunks of each.
  template <class W, class S, class G>
  void over_all(W&& water, S&& star, G&& group) const {
    const auto chunks = [](std::size_t n, std::size_t size) { return (n + size - 1) / size; };
    const std::size_t first = chunks(waters.size(), batches_of_a_chunk),
                      second = first + chunks(stars.size(), stars_of_a_chunk);
    parallel_chunks(static_cast<std::int64_t>(second + groups.size()), [&](std::int64_t chunk) {
      const auto c = static_cast<std::size_t>(chunk);
      if (c < first) {
        for (std::size_t k = c * batches_of_a_chunk;
             k < std::min((c + 1) * batches_of_a_chunk, waters.size()); ++k)
          water(waters[k]);
      } else if (c < second) {
        for (std::size_t k = (c - first) * stars_of_a_chunk;
             k < std::min((c - first + 1) * stars_of_a_chunk, stars.size()); ++k)
          star(stars[k]);
      } else {
        group(groups[c - second]);
      }
    });
  }
};

Constraints::~Constraints() = default;
Constraints::Constraints(Constraints&&) noexcept = default;
Constraints& Constraints::operator=(Constraints&&) noexcept = default;
std::size_t Constraints::size() const { return impl_->n; }

Constraints::Constraints(const System& s, const ConstraintOptions& options) {
  auto impl = std::make_unique<Impl>();
  impl->options = options;
  impl->n = s.constraints.size() + 3 * s.rigid_waters.size();
  const std::size_t n = s.n_atoms();
  std::vector<bool> held(n, false);
  const auto needs_mass = [&](std::int32_t a) {
    if (!(s.atoms.mass_amu[static_cast<std::size_t>(a)] > 0))
      throw Error(fmt::format("[constraints] atom {} is constrained and has no mass", a + 1));
  };
  for (const double m : s.atoms.mass_amu) impl->inverse_mass.push_back(m > 0 ? 1 / m : 0);

  std::map<std::array<double, 4>, std::size_t> kinds;
  std::vector<std::size_t> open;  // of each kind: the batch that takes the next water
  for (std::size_t w = 0; w < s.rigid_waters.size(); ++w) {
    const auto& [o, h1, h2] = s.rigid_waters.atoms[w];
    const auto& [oh, hh] = s.rigid_waters.rows[static_cast<std::size_t>(s.rigid_waters.row[w])];
    for (const std::int32_t a : {o, h1, h2}) {
      needs_mass(a);
      if (held[static_cast<std::size_t>(a)])
        throw Error(fmt::format("[constraints] atom {} belongs to two rigid waters", a + 1));
      held[static_cast<std::size_t>(a)] = true;
    }
    const double mo = s.atoms.mass_amu[static_cast<std::size_t>(o)],
                 mh = s.atoms.mass_amu[static_cast<std::size_t>(h1)];
    if (mh != s.atoms.mass_amu[static_cast<std::size_t>(h2)])
      throw Error(fmt::format(
          "[constraints] the hydrogens of the rigid water of atom {} differ in mass", o + 1));
    if (!(oh > 0 && hh > 0 && hh < 2 * oh))
      throw Error(fmt::format("[constraints] no water has O-H {} nm and H-H {} nm", oh, hh));
    const auto [at, fresh] = kinds.try_emplace({mo, mh, oh, hh}, kinds.size());
    if (fresh) {
      impl->kinds.emplace_back(mo, mh, oh, hh);
      open.push_back(impl->waters.size());
    }
    if (fresh || impl->waters[open[at->second]].many == Waters::lanes) {
      open[at->second] = impl->waters.size();
      impl->waters.push_back({.kind = at->second});
    }
    Waters& batch = impl->waters[open[at->second]];
    for (std::size_t l = batch.many++; l < Waters::lanes; ++l) {
      batch.atom[0][l] = o;
      batch.atom[1][l] = h1;
      batch.atom[2][l] = h2;
    }
  }

  // Groups: bonds that share atoms, directly or through others.
  data::JoinedSets sets(n);
  std::set<std::array<std::int32_t, 2>> known;
  for (const auto& [a, b] : s.constraints.atoms) {
    needs_mass(a);
    needs_mass(b);
    if (!known.insert({std::min(a, b), std::max(a, b)}).second)
      throw Error(fmt::format("[constraints] the distance of atoms {} and {} is constrained twice",
                              a + 1, b + 1));
    for (const std::int32_t c : {a, b})
      if (held[static_cast<std::size_t>(c)])
        throw Error(fmt::format(
            "[constraints] atom {} belongs to a rigid water and to another constraint", c + 1));
    sets.join(a, b);
  }
  std::map<std::int32_t, std::size_t> group_of;
  for (std::size_t k = 0; k < s.constraints.size(); ++k) {
    const auto [a, b] = s.constraints.atoms[k];
    const double length = s.constraints.rows[static_cast<std::size_t>(s.constraints.row[k])][0];
    if (!(length > 0))
      throw Error(fmt::format(
          "[constraints] the constrained distance of atoms {} and {} must be positive, got {} nm",
          a + 1, b + 1, length));
    const auto [at, fresh] = group_of.try_emplace(sets.set_of(a), impl->groups.size());
    if (fresh) impl->groups.emplace_back();
    impl->groups[at->second].bonds.push_back({a, b, length});
  }
  std::erase_if(impl->groups, [&](const BondGroup& g) {
    const std::optional<Star> star = star_of(g, impl->inverse_mass);
    if (star) impl->stars.push_back(*star);
    return star.has_value();
  });
  for (BondGroup& g : impl->groups) {
    expect_triangles(g);
    std::multimap<std::int32_t, std::pair<std::int32_t, double>>
        of_atom;  // bonds at an atom, with signs
    for (std::size_t k = 0; k < g.bonds.size(); ++k) {
      of_atom.insert({g.bonds[k].a, {static_cast<std::int32_t>(k), 1.0}});
      of_atom.insert({g.bonds[k].b, {static_cast<std::int32_t>(k), -1.0}});
    }
    std::vector<std::pair<std::int32_t, std::int32_t>> pattern;
    for (auto i = of_atom.begin(); i != of_atom.end(); ++i)
      for (auto [j, end] = of_atom.equal_range(i->first); j != end; ++j) {
        g.couplings.push_back({i->second.first, j->second.first,
                               i->second.second * j->second.second *
                                   impl->inverse_mass[static_cast<std::size_t>(i->first)],
                               0});
        if (i->second.first != j->second.first)
          pattern.push_back({i->second.first, j->second.first});
      }
    g.pattern = SparseLu(g.bonds.size(), pattern);
    for (Coupling& c : g.couplings) c.at = g.pattern.at(c.k, c.l);
  }
  impl_ = std::move(impl);
}

void Constraints::apply_to_positions(const std::vector<Vec3>& x, std::vector<Vec3>& y,
                                     const Box& box, std::vector<Vec3>* v, double t) const {
  const Impl& m = *impl_;
  m.over_all(
      [&](const Waters& w) { m.settle_waters(w, x, y, box, v, t); },
      [&](const Star& s) {
        with_solver(s, [&](auto solver) {
          if (solver.positions(s, x, y, box, v, t, m.options.tolerance, m.options.most_iterations))
            return;
          std::array<FixedBond, Star::most> bonds{};
          for (std::size_t k = 0; k < s.many; ++k) bonds[k] = {s.centre, s.end[k], s.length[k]};
          Impl::hopeless({bonds.data(), s.many}, solver.spokes(s, x, box),
                         solver.spokes(s, y, box));
        });
      },
      [&](const BondGroup& g) { m.solve_positions(g, x, y, box, v, t); });
}

void Constraints::apply_to_velocities(const std::vector<Vec3>& x, std::vector<Vec3>& v,
                                      const Box& box) const {
  const Impl& m = *impl_;
  m.over_all(
      [&](const Waters& w) { m.slow_waters(w, x, v, box); },
      [&](const Star& s) { with_solver(s, [&](auto solver) { solver.velocities(s, x, v, box); }); },
      [&](const BondGroup& g) {
        std::vector<Vec3> r;
        std::vector<double> lambda, scratch(g.bonds.size());
        for (const FixedBond& b : g.bonds) {
          r.push_back(between(x, b.a, b.b, b.length, box));
          const Vec3 &p = v[static_cast<std::size_t>(b.a)], &q = v[static_cast<std::size_t>(b.b)];
          lambda.push_back(-dot({p[0] - q[0], p[1] - q[1], p[2] - q[2]}, r.back()));
        }
        const std::vector<double> matrix = m.factored(g, r, r);
        g.pattern.solve(matrix.data(), lambda.data(), scratch.data());
        m.pull(g, r, lambda, v);
      });
}

std::vector<std::int32_t> Constraints::groups() const {
  std::vector<std::int32_t> out(impl_->inverse_mass.size(), -1);
  std::int32_t count = 0;
  for (const Waters& w : impl_->waters)
    for (std::size_t l = 0; l < w.many; ++l, ++count)
      for (const auto& atom : w.atom) out[static_cast<std::size_t>(atom[l])] = count;
  for (const Star& s : impl_->stars) {
    out[static_cast<std::size_t>(s.centre)] = count;
    for (std::size_t k = 0; k < s.many; ++k) out[static_cast<std::size_t>(s.end[k])] = count;
    ++count;
  }
  for (const BondGroup& g : impl_->groups) {
    for (const FixedBond& b : g.bonds)
      out[static_cast<std::size_t>(b.a)] = out[static_cast<std::size_t>(b.b)] = count;
    ++count;
  }
  return out;
}

double Constraints::largest_error(const std::vector<Vec3>& x, const Box& box) const {
  double worst = 0;
  const auto look = [&](std::int32_t a, std::int32_t b, double length) {
    const Vec3 d = between(x, a, b, length, box);
    worst = std::max(worst, std::abs(std::sqrt(dot(d, d)) - length) / length);
  };
  for (const BondGroup& g : impl_->groups)
    for (const FixedBond& b : g.bonds) look(b.a, b.b, b.length);
  for (const Star& s : impl_->stars)
    for (std::size_t k = 0; k < s.many; ++k) look(s.centre, s.end[k], s.length[k]);
  for (const Waters& w : impl_->waters)
    for (std::size_t l = 0; l < w.many; ++l) {
      const Settle& s = impl_->kinds[w.kind];
      look(w.atom[0][l], w.atom[1][l], s.d_oh);
      look(w.atom[0][l], w.atom[2][l], s.d_oh);
      look(w.atom[1][l], w.atom[2][l], s.d_hh);
    }
  return worst;
}

}  // namespace tessera::molecular
