// SPDX-License-Identifier: Apache-2.0
#include "tessera/molecular/constraints.h"

#include "constraints/settle.h"
#include "constraints/sparse_lu.h"
#include "tessera/autodiff/error.h"
#include "tessera/autodiff/forall.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

namespace tessera::molecular {
namespace {

double dot(const Vec3& a, const Vec3& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }
Vec3 between(const std::vector<Vec3>& x, std::int32_t a, std::int32_t b, const Box& box) {
  const Vec3 &u = x[static_cast<std::size_t>(a)], &v = x[static_cast<std::size_t>(b)];
  return wrapped(box, {u[0] - v[0], u[1] - v[1], u[2] - v[2]});
}

struct Bond {
  std::int32_t a, b;
  double length;
};
/// Entry of the Jacobian that two bonds of a group share: sign/m of the atom that they share, or of both ends for a bond itself.
struct Coupling {
  std::int32_t k, l;
  double weight;
  std::size_t at;
};
/// Bonds that hang together.
struct Group {
  std::vector<Bond> bonds;
  std::vector<Coupling> couplings;
  SparseLu pattern;
};
struct Water {
  std::int32_t o, h1, h2;
  std::size_t kind;
};
constexpr std::size_t waters_of_a_chunk = 256;

}  // namespace

struct Constraints::Impl {
  ConstraintOptions options;
  std::vector<double> inverse_mass;
  std::vector<Group> groups;
  std::vector<Water> waters;
  std::vector<Settle> kinds;
  std::vector<std::array<double, 2>> water_lengths;  ///< of each kind: O-H, H-H
  std::size_t n = 0;

  /// sum over the bonds' pulls lambda_k s r_k/m added to `to`.
  void pull(const Group& g, const std::vector<Vec3>& r, const std::vector<double>& lambda, std::vector<Vec3>& to) const {
    for (std::size_t k = 0; k < g.bonds.size(); ++k)
      for (const auto& [atom, sign] : {std::pair{g.bonds[k].a, 1.0}, {g.bonds[k].b, -1.0}})
        for (std::size_t c = 0; c < 3; ++c) to[static_cast<std::size_t>(atom)][c] += sign * lambda[k] * inverse_mass[static_cast<std::size_t>(atom)] * r[k][c];
  }
  /// The matrix of (left_k . right_l) weighted by shared masses, factored.
  std::vector<double> factored(const Group& g, const std::vector<Vec3>& left, const std::vector<Vec3>& right) const {
    std::vector<double> m(g.pattern.storage(), 0.0);
    for (const Coupling& c : g.couplings) m[c.at] += c.weight * dot(left[static_cast<std::size_t>(c.k)], right[static_cast<std::size_t>(c.l)]);
    g.pattern.factor(m.data());
    return m;
  }
  void solve_positions(const Group& g, const std::vector<Vec3>& x, std::vector<Vec3>& y, const Box& box) const {
    const std::size_t many = g.bonds.size();
    std::vector<Vec3> r(many), d(many);
    std::vector<double> residual(many), scratch(many);
    for (std::size_t k = 0; k < many; ++k) r[k] = between(x, g.bonds[k].a, g.bonds[k].b, box);
    double worst = 0;
    std::size_t which = 0;
    for (int iteration = 0; iteration <= options.most_iterations; ++iteration) {
      worst = 0;
      for (std::size_t k = 0; k < many; ++k) {
        d[k] = between(y, g.bonds[k].a, g.bonds[k].b, box);
        const double want = g.bonds[k].length * g.bonds[k].length;
        residual[k] = 0.5 * (want - dot(d[k], d[k]));
        const double error = std::abs(residual[k]) / want;
        if (!(error <= worst)) {
          worst = error;
          which = k;
        }
      }
      if (worst <= options.tolerance) return;
      if (!std::isfinite(worst)) break;
      const std::vector<double> m = factored(g, d, r);
      g.pattern.solve(m.data(), residual.data(), scratch.data());
      pull(g, r, residual, y);
    }
    const Bond& b = g.bonds[which];
    throw Error(fmt::format("[constraints] the bond of atoms {} and {} cannot be kept at {:g} nm: it was {:g} nm long before the step and {:g} nm after it. The time step is too long, "
                            "or the forces are too large: minimize first", b.a + 1, b.b + 1, b.length, std::sqrt(dot(r[which], r[which])), std::sqrt(dot(d[which], d[which]))));
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
    if (!(s.atoms.mass_amu[static_cast<std::size_t>(a)] > 0)) throw Error(fmt::format("[constraints] atom {} is constrained and has no mass", a + 1));
  };
  for (const double m : s.atoms.mass_amu) impl->inverse_mass.push_back(m > 0 ? 1 / m : 0);

  std::map<std::array<double, 4>, std::size_t> kinds;
  for (std::size_t w = 0; w < s.rigid_waters.size(); ++w) {
    const auto& [o, h1, h2] = s.rigid_waters.atoms[w];
    const auto& [oh, hh] = s.rigid_waters.rows[static_cast<std::size_t>(s.rigid_waters.row[w])];
    for (const std::int32_t a : {o, h1, h2}) {
      needs_mass(a);
      if (held[static_cast<std::size_t>(a)]) throw Error(fmt::format("[constraints] atom {} belongs to two rigid waters", a + 1));
      held[static_cast<std::size_t>(a)] = true;
    }
    const double mo = s.atoms.mass_amu[static_cast<std::size_t>(o)], mh = s.atoms.mass_amu[static_cast<std::size_t>(h1)];
    if (mh != s.atoms.mass_amu[static_cast<std::size_t>(h2)]) throw Error(fmt::format("[constraints] the hydrogens of the rigid water of atom {} differ in mass", o + 1));
    if (!(oh > 0 && hh > 0 && hh < 2 * oh)) throw Error(fmt::format("[constraints] no water has O-H {} nm and H-H {} nm", oh, hh));
    const auto [at, fresh] = kinds.try_emplace({mo, mh, oh, hh}, kinds.size());
    if (fresh) {
      impl->kinds.emplace_back(mo, mh, oh, hh);
      impl->water_lengths.push_back({oh, hh});
    }
    impl->waters.push_back({o, h1, h2, at->second});
  }

  // Groups: bonds that share atoms, directly or through others.
  std::vector<std::int32_t> root(n);
  std::iota(root.begin(), root.end(), 0);
  const auto find = [&](std::int32_t a) {
    while (root[static_cast<std::size_t>(a)] != a) a = root[static_cast<std::size_t>(a)] = root[static_cast<std::size_t>(root[static_cast<std::size_t>(a)])];
    return a;
  };
  for (const auto& [a, b] : s.constraints.atoms) {
    needs_mass(a);
    needs_mass(b);
    for (const std::int32_t c : {a, b})
      if (held[static_cast<std::size_t>(c)]) throw Error(fmt::format("[constraints] atom {} belongs to a rigid water and to another constraint", c + 1));
    root[static_cast<std::size_t>(find(std::max(a, b)))] = find(std::min(a, b));
  }
  std::map<std::int32_t, std::size_t> group_of;
  for (std::size_t k = 0; k < s.constraints.size(); ++k) {
    const auto [a, b] = s.constraints.atoms[k];
    const double length = s.constraints.rows[static_cast<std::size_t>(s.constraints.row[k])][0];
    if (!(length > 0)) throw Error(fmt::format("[constraints] atoms {} and {} are to be {} nm apart", a + 1, b + 1, length));
    const auto [at, fresh] = group_of.try_emplace(find(a), impl->groups.size());
    if (fresh) impl->groups.emplace_back();
    impl->groups[at->second].bonds.push_back({a, b, length});
  }
  for (Group& g : impl->groups) {
    std::multimap<std::int32_t, std::pair<std::int32_t, double>> of_atom;  // bonds at an atom, with signs
    for (std::size_t k = 0; k < g.bonds.size(); ++k) {
      of_atom.insert({g.bonds[k].a, {static_cast<std::int32_t>(k), 1.0}});
      of_atom.insert({g.bonds[k].b, {static_cast<std::int32_t>(k), -1.0}});
    }
    std::vector<std::pair<std::int32_t, std::int32_t>> pattern;
    for (auto i = of_atom.begin(); i != of_atom.end(); ++i)
      for (auto [j, end] = of_atom.equal_range(i->first); j != end; ++j) {
        g.couplings.push_back({i->second.first, j->second.first, i->second.second * j->second.second * impl->inverse_mass[static_cast<std::size_t>(i->first)], 0});
        if (i->second.first != j->second.first) pattern.push_back({i->second.first, j->second.first});
      }
    g.pattern = SparseLu(g.bonds.size(), pattern);
    for (Coupling& c : g.couplings) c.at = g.pattern.at(c.k, c.l);
  }
  impl_ = std::move(impl);
}

void Constraints::apply_to_positions(const std::vector<Vec3>& x, std::vector<Vec3>& y, const Box& box, std::vector<Vec3>* v, double t) const {
  const Impl& m = *impl_;
  std::vector<Vec3> free;
  if (v) free = y;
  const auto chunks = static_cast<std::int64_t>((m.waters.size() + waters_of_a_chunk - 1) / waters_of_a_chunk);
  parallel_chunks(chunks, [&](std::int64_t chunk) {
    const std::size_t first = static_cast<std::size_t>(chunk) * waters_of_a_chunk, last = std::min(first + waters_of_a_chunk, m.waters.size());
    for (std::size_t w = first; w < last; ++w) {
      const auto& [o, h1, h2, kind] = m.waters[w];
      Vec3& a = y[static_cast<std::size_t>(o)];
      // Images of the hydrogens beside their oxygen; they go back to where they were.
      Vec3 b = between(y, h1, o, box), c = between(y, h2, o, box);
      Vec3 back_b, back_c;
      for (std::size_t k = 0; k < 3; ++k) {
        b[k] += a[k];
        c[k] += a[k];
        back_b[k] = y[static_cast<std::size_t>(h1)][k] - b[k];
        back_c[k] = y[static_cast<std::size_t>(h2)][k] - c[k];
      }
      if (!m.kinds[kind].place(between(x, h1, o, box), between(x, h2, o, box), a, b, c))
        throw Error(fmt::format("[constraints] the water of atom {} cannot be made rigid after this step: the time step is too long, or the forces are too large: minimize first", o + 1));
      for (std::size_t k = 0; k < 3; ++k) {
        y[static_cast<std::size_t>(h1)][k] = b[k] + back_b[k];
        y[static_cast<std::size_t>(h2)][k] = c[k] + back_c[k];
      }
    }
  });
  parallel_chunks(static_cast<std::int64_t>(m.groups.size()), [&](std::int64_t g) { m.solve_positions(m.groups[static_cast<std::size_t>(g)], x, y, box); });
  if (v)
    for (std::size_t i = 0; i < y.size(); ++i)
      for (std::size_t k = 0; k < 3; ++k) (*v)[i][k] += (y[i][k] - free[i][k]) / t;
}

void Constraints::apply_to_velocities(const std::vector<Vec3>& x, std::vector<Vec3>& v, const Box& box) const {
  const Impl& m = *impl_;
  const auto speed = [&](std::int32_t a, std::int32_t b) {
    const Vec3 &p = v[static_cast<std::size_t>(a)], &q = v[static_cast<std::size_t>(b)];
    return Vec3{p[0] - q[0], p[1] - q[1], p[2] - q[2]};
  };
  parallel_chunks(static_cast<std::int64_t>((m.waters.size() + waters_of_a_chunk - 1) / waters_of_a_chunk), [&](std::int64_t chunk) {
    static const SparseLu pattern(3, {{0, 1}, {0, 2}, {1, 2}});
    const std::size_t first = static_cast<std::size_t>(chunk) * waters_of_a_chunk, last = std::min(first + waters_of_a_chunk, m.waters.size());
    for (std::size_t w = first; w < last; ++w) {
      const auto& [o, h1, h2, kind] = m.waters[w];
      const std::array<std::pair<std::int32_t, std::int32_t>, 3> ends = {{{o, h1}, {h1, h2}, {h2, o}}};  // a ring: each bond ends where the next begins
      const double io = m.inverse_mass[static_cast<std::size_t>(o)], ih = m.inverse_mass[static_cast<std::size_t>(h1)];
      const std::array<Vec3, 3> r = {between(x, o, h1, box), between(x, h1, h2, box), between(x, h2, o, box)};
      std::array<double, 9> matrix{};
      std::array<double, 3> lambda, scratch;
      for (std::int32_t k = 0; k < 3; ++k) {
        const std::int32_t next = (k + 1) % 3;
        const auto kk = static_cast<std::size_t>(k), kn = static_cast<std::size_t>(next);
        matrix[pattern.at(k, k)] = dot(r[kk], r[kk]) * (k == 1 ? 2 * ih : io + ih);
        const double shared = -dot(r[kk], r[kn]) * (k == 2 ? io : ih);
        matrix[pattern.at(k, next)] = matrix[pattern.at(next, k)] = shared;
        lambda[kk] = -dot(speed(ends[kk].first, ends[kk].second), r[kk]);
      }
      pattern.factor(matrix.data());
      pattern.solve(matrix.data(), lambda.data(), scratch.data());
      for (std::size_t k = 0; k < 3; ++k)
        for (std::size_t c = 0; c < 3; ++c) {
          v[static_cast<std::size_t>(ends[k].first)][c] += lambda[k] * (ends[k].first == o ? io : ih) * r[k][c];
          v[static_cast<std::size_t>(ends[k].second)][c] -= lambda[k] * (ends[k].second == o ? io : ih) * r[k][c];
        }
    }
  });
  parallel_chunks(static_cast<std::int64_t>(m.groups.size()), [&](std::int64_t chunk) {
    const Group& g = m.groups[static_cast<std::size_t>(chunk)];
    std::vector<Vec3> r;
    std::vector<double> lambda, scratch(g.bonds.size());
    for (const Bond& b : g.bonds) {
      r.push_back(between(x, b.a, b.b, box));
      lambda.push_back(-dot(speed(b.a, b.b), r.back()));
    }
    const std::vector<double> matrix = m.factored(g, r, r);
    g.pattern.solve(matrix.data(), lambda.data(), scratch.data());
    m.pull(g, r, lambda, v);
  });
}

std::vector<std::int32_t> Constraints::groups() const {
  std::vector<std::int32_t> out(impl_->inverse_mass.size(), -1);
  std::int32_t count = 0;
  for (const Water& w : impl_->waters) {
    for (const std::int32_t a : {w.o, w.h1, w.h2}) out[static_cast<std::size_t>(a)] = count;
    ++count;
  }
  for (const Group& g : impl_->groups) {
    for (const Bond& b : g.bonds) out[static_cast<std::size_t>(b.a)] = out[static_cast<std::size_t>(b.b)] = count;
    ++count;
  }
  return out;
}

double Constraints::largest_error(const std::vector<Vec3>& x, const Box& box) const {
  double worst = 0;
  const auto look = [&](std::int32_t a, std::int32_t b, double length) {
    const Vec3 d = between(x, a, b, box);
    worst = std::max(worst, std::abs(std::sqrt(dot(d, d)) - length) / length);
  };
  for (const Group& g : impl_->groups)
    for (const Bond& b : g.bonds) look(b.a, b.b, b.length);
  for (const Water& w : impl_->waters) {
    const auto& [oh, hh] = impl_->water_lengths[w.kind];
    look(w.o, w.h1, oh);
    look(w.o, w.h2, oh);
    look(w.h1, w.h2, hh);
  }
  return worst;
}

}  // namespace tessera::molecular
