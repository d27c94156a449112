// SPDX-License-Identifier: Apache-2.0
//
// The kernels' sum over pairs (pair_derivatives.h) with what a reaction field makes of excluded
// ones, its form in engine operations, and what belongs to options and tables.
#include "energy/generic.h"
#include "nonbonded/ewald_waves.h"
#include "nonbonded/host_number.h"
#include "nonbonded/kernels/pair_formulas.h"
#include "nonbonded/pair_constants.h"
#include "nonbonded/pair_derivatives.h"
#include "system/box_of.h"
#include "tessera/autodiff/error.h"
#include "tessera/molecular/energy_function.h"
#include "tessera/molecular/ewald.h"
#include "tessera/molecular/nonbonded.h"
#include "tessera/molecular/pme.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

namespace tessera::molecular {
namespace {

using Modifier = Nonbonded::Modifier;
using Coulomb = Nonbonded::Coulomb;

/// beta rc up to which the polynomials of series.h keep 10 digits in double precision.
constexpr double most_decay = 10;

class NonbondedEnergy final : public EnergyFunction {
 public:
  NonbondedEnergy(const System& s, const Nonbonded& o, Wells wells, Precision precision)
      : n_(static_cast<Index>(s.n_atoms())),
        types_(s.lj.types),
        type_(s.atoms.lj_type),
        exclusions_(s.exclusions),
        options_(o),
        coulomb_(o),
        ke_(s.coulomb_constant / o.epsilon_r),
        derivatives_(s, o, wells, precision) {}

  const char* name() const override { return "nonbonded"; }
  std::vector<tessera::Shape> shapes() const override {
    return {{n_, 3}, {3, 3}, {n_}, {types_, types_}, {types_, types_}};
  }

  double value(Arrays p) const override {
    check(options_, box_of(p[1]));
    return derivatives_.value(p) + of_excluded(p, {}, {});
  }
  void gradient(Arrays p, Results g) const override {
    check(options_, box_of(p[1]));
    derivatives_.gradient(p, g);
    of_excluded(p, {}, g);
  }
  double value_and_gradient(Arrays p, Results g) const override {
    check(options_, box_of(p[1]));
    return derivatives_.value_and_gradient(p, g) + of_excluded(p, {}, g);
  }
  void hessian_product(Arrays p, Arrays v, Results w) const override {
    check(options_, box_of(p[1]));
    derivatives_.hessian_product(p, v, w);
    of_excluded(p, v, w);
  }
  Tensor generic(std::span<const Tensor> p) const override;

 private:
  struct Pair {
    std::size_t i, j;
    Vec3 d, image;
    double s;
  };
  bool has_coulomb() const { return options_.coulomb != Coulomb::none; }
  std::size_t entry(std::size_t i, std::size_t j) const {
    return static_cast<std::size_t>(type_[i]) * static_cast<std::size_t>(types_) +
           static_cast<std::size_t>(type_[j]);
  }

  Pair pair(const double* x, const Box& box, std::size_t i, std::size_t j) const {
    Pair a{i,
           j,
           {x[3 * i] - x[3 * j], x[3 * i + 1] - x[3 * j + 1], x[3 * i + 2] - x[3 * j + 2]},
           {},
           0};
    if (is_periodic(box)) {
      const Vec3 f = fractions(box, a.d);
      for (std::size_t k = 0; k < 3; ++k) a.image[k] = std::floor(f[k] + 0.5);
      a.d = {a.d[0] - a.image[0] * box.edge[0][0] - a.image[1] * box.edge[1][0] -
                 a.image[2] * box.edge[2][0],
             a.d[1] - a.image[1] * box.edge[1][1] - a.image[2] * box.edge[2][1],
             a.d[2] - a.image[2] * box.edge[2][2]};
    }
    a.s = a.d[0] * a.d[0] + a.d[1] * a.d[1] + a.d[2] * a.d[2];
    return a;
  }
  static void to_positions(Results g, const Pair& a, const Vec3& gradient) {
    for (std::size_t c = 0; c < 3; ++c) {
      if (g[0]) {
        g[0][3 * a.i + c] += gradient[c];
        g[0][3 * a.j + c] -= gradient[c];
      }
      if (g[1])
        for (std::size_t k = 0; k < 3; ++k) g[1][3 * k + c] -= a.image[k] * gradient[c];
    }
  }
  /// The reaction field between excluded pairs and of a charge with itself: k_e q_i q_j (k s - c),
  /// half of it for i = j.
  double of_excluded(Arrays p, Arrays v, Results g) const {
    if (options_.coulomb != Coulomb::reaction_field || !options_.reaction_field_of_excluded)
      return 0;
    const Box box = box_of(p[1]);
    const double k = ke_ * coulomb_.k_rf, c = ke_ * coulomb_.shift,
                 rc2 = options_.cutoff_coulomb_nm * options_.cutoff_coulomb_nm;
    const bool first = v.empty();
    double sum = 0;
    for (std::size_t i = 0; i < static_cast<std::size_t>(n_); ++i) {
      sum -= 0.5 * c * p[2][i] * p[2][i];
      if (!g.empty() && g[2]) g[2][i] -= c * (first ? p[2][i] : v[2] ? v[2][i] : 0);
    }
    for (const auto& [ei, ej] : exclusions_) {
      const Pair a = pair(p[0], box, static_cast<std::size_t>(ei), static_cast<std::size_t>(ej));
      if (a.s >= rc2) continue;
      const double qi = p[2][a.i], qj = p[2][a.j], u = k * a.s - c;
      sum += qi * qj * u;
      if (g.empty()) continue;
      Vec3 dd{};
      for (std::size_t d = 0; d < 3 && !first; ++d) {
        if (v[0]) dd[d] = v[0][3 * a.i + d] - v[0][3 * a.j + d];
        if (v[1])
          for (std::size_t m = 0; m < 3; ++m) dd[d] -= a.image[m] * v[1][3 * m + d];
      }
      const double ds = 2 * (a.d[0] * dd[0] + a.d[1] * dd[1] + a.d[2] * dd[2]);
      const double dqi = !first && v[2] ? v[2][a.i] : 0, dqj = !first && v[2] ? v[2][a.j] : 0,
                   dqq = dqi * qj + qi * dqj;
      Vec3 gradient;
      for (std::size_t d = 0; d < 3; ++d)
        gradient[d] = 2 * k * (first ? qi * qj * a.d[d] : dqq * a.d[d] + qi * qj * dd[d]);
      to_positions(g, a, gradient);
      if (g[2]) {
        g[2][a.i] += first ? qj * u : dqj * u + qj * k * ds;
        g[2][a.j] += first ? qi * u : dqi * u + qi * k * ds;
      }
    }
    return sum;
  }

  Index n_, types_;
  std::vector<std::int32_t> type_;
  std::vector<std::array<std::int32_t, 2>> exclusions_;
  Nonbonded options_;
  CoulombConstants coulomb_;
  double ke_;
  PairDerivatives derivatives_;
};

/// r^-n with a modifier in engine operations, from the formulas of nonbonded.h.
Tensor generic_power(const Tensor& s, int n, const Nonbonded& o) {
  const double rc = o.cutoff_lj_nm, r1 = o.lj_switch_nm;
  const Tensor r = sqrt(s), u = pow(r, -n);
  const double at = std::pow(rc, -n);
  switch (o.lj_modifier) {
    case Modifier::none:
      return u;
    case Modifier::potential_shift:
      return u - at;
    case Modifier::linear_force_shift:
      return u - at + (n * at / rc) * (r - rc);
    case Modifier::force_switch: {
      const double a =
          -n * ((n + 4) * rc - (n + 1) * r1) / (std::pow(rc, n + 2) * std::pow(rc - r1, 2));
      const double b =
          n * ((n + 3) * rc - (n + 1) * r1) / (std::pow(rc, n + 2) * std::pow(rc - r1, 3));
      const double c = at - a / 3 * std::pow(rc - r1, 3) - b / 4 * std::pow(rc - r1, 4);
      const Tensor x = maximum(r - r1, 0.0);
      return u - a / 3 * pow(x, 3) - b / 4 * pow(x, 4) - c;
    }
    case Modifier::potential_switch: {
      const Tensor x = maximum(r - r1, 0.0) / (rc - r1);
      return u * (1.0 - 10.0 * pow(x, 3) + 15.0 * pow(x, 4) - 6.0 * pow(x, 5));
    }
  }
  return u;
}
Tensor generic_coulomb(const Tensor& s, const Nonbonded& o) {
  const double rc = o.cutoff_coulomb_nm;
  const Tensor r = sqrt(s);
  const bool shifted = o.coulomb_modifier != Modifier::none;
  if (o.coulomb == Coulomb::reaction_field) {
    const double k = o.epsilon_rf == 0 ? 0.5 / std::pow(rc, 3)
                                       : (o.epsilon_rf - o.epsilon_r) /
                                             ((2 * o.epsilon_rf + o.epsilon_r) * std::pow(rc, 3));
    return 1.0 / r + k * s - (1 / rc + k * rc * rc);
  }
  if (o.coulomb == Coulomb::cutoff) {
    const Tensor u = shifted ? 1.0 / r - 1 / rc : 1.0 / r;
    return o.coulomb_modifier == Modifier::linear_force_shift ? u + (r - rc) / (rc * rc) : u;
  }
  const double beta = ewald_beta(o);
  return erfc(beta * r) / r - (shifted ? std::erfc(beta * rc) / rc : 0.0);
}

Tensor NonbondedEnergy::generic(std::span<const Tensor> p) const {
  // All pairs but the excluded ones: cost n^2.
  std::vector<std::int32_t> first, second;
  auto skip = exclusions_.begin();
  for (std::int32_t i = 0; i < n_; ++i)
    for (std::int32_t j = i + 1; j < n_; ++j) {
      while (skip != exclusions_.end() && *skip < std::array{i, j}) ++skip;
      if (skip != exclusions_.end() && *skip == std::array{i, j}) continue;
      first.push_back(i);
      second.push_back(j);
    }
  const auto squares = [&](const Tensor& i, const Tensor& j) {
    const Tensor d = generic::displacement(p[0], p[1], i, j);
    return generic::dot(d, d);
  };
  /// u within a radius, and 0 with all its derivatives outside, where u may be anything.
  const auto within = [](const Tensor& s, double radius, auto&& u) {
    const Tensor in = less(s, radius * radius);
    return where(in, u(where(in, s, radius * radius)), 0.0);
  };
  const Tensor i = generic::indices(first), j = generic::indices(second), s = squares(i, j);
  std::vector<std::int32_t> there, back;  // entries of the tables, read from either side
  for (std::size_t k = 0; k < first.size(); ++k) {
    there.push_back(static_cast<std::int32_t>(
        entry(static_cast<std::size_t>(first[k]), static_cast<std::size_t>(second[k]))));
    back.push_back(static_cast<std::int32_t>(
        entry(static_cast<std::size_t>(second[k]), static_cast<std::size_t>(first[k]))));
  }
  const auto mean = [&](const Tensor& table) {
    return 0.5 * (take(flatten(table), generic::indices(there)) +
                  take(flatten(table), generic::indices(back)));
  };
  Tensor u =
      sum(mean(p[4]) * within(s, options_.cutoff_lj_nm,
                              [&](const Tensor& x) { return generic_power(x, 12, options_); }) -
          mean(p[3]) * within(s, options_.cutoff_lj_nm,
                              [&](const Tensor& x) { return generic_power(x, 6, options_); }));
  if (!has_coulomb()) return u;
  u = u + ke_ * sum(take(p[2], i) * take(p[2], j) *
                    within(s, options_.cutoff_coulomb_nm,
                           [&](const Tensor& x) { return generic_coulomb(x, options_); }));
  if (options_.coulomb != Coulomb::reaction_field || !options_.reaction_field_of_excluded) return u;
  u = u - 0.5 * ke_ * coulomb_.shift * sum(square(p[2]));
  if (exclusions_.empty()) return u;
  std::vector<std::int32_t> left, right;
  for (const auto& [a, b] : exclusions_) {
    left.push_back(a);
    right.push_back(b);
  }
  const Tensor l = generic::indices(left), r = generic::indices(right);
  return u + ke_ * sum(take(p[2], l) * take(p[2], r) *
                       within(squares(l, r), options_.cutoff_coulomb_nm,
                              [&](const Tensor& x) { return coulomb_.k_rf * x - coulomb_.shift; }));
}

/// r^-n with its modifier.
double of_power(int n, double r, const PairConstants& constants) {
  pairs::Input<double> in{};
  constants.put(in);
  const double s = r * r;
  const pairs::Separation<HostNumber<double>> at = {s, 1 / r, 1 / s};
  return n == 6
             ? 6 * pairs::power_shape<HostNumber<double>, 6, true, false>(in, in.six, at, true).u
             : 12 * pairs::power_shape<HostNumber<double>, 12, true, false>(in, in.twelve, at, true)
                        .u;
}

Tensor table(const std::vector<double>& v, int types) { return tensor(v, {types, types}); }

/// W_tt' [types, types]: how many of the N^2 ordered pairs a pair of types stands for.
///   all            N_t N_t'
///   unordered      (N_t N_t' + delta_tt' N_t) N/(N + 1)
///   not_excluded   (N_t N_t' - delta_tt' N_t - E_tt') N^2/(N (N - 1) - E), E_tt' the ordered
///                  excluded pairs, E their number
std::vector<double> tail_weights(const System& s, Nonbonded::TailPairs which) {
  const auto types = static_cast<std::size_t>(s.lj.types);
  std::vector<double> count(types, 0), w(types * types);
  for (const std::int32_t t : s.atoms.lj_type) ++count[static_cast<std::size_t>(t)];
  const auto n = static_cast<double>(s.n_atoms());
  for (std::size_t a = 0; a < types; ++a)
    for (std::size_t b = 0; b < types; ++b) w[a * types + b] = count[a] * count[b];
  if (which == Nonbonded::TailPairs::all) return w;
  const bool unordered = which == Nonbonded::TailPairs::unordered;
  for (std::size_t a = 0; a < types; ++a) w[a * types + a] += unordered ? count[a] : -count[a];
  double pairs = n * (n + (unordered ? 1 : -1));
  for (std::size_t k = 0; k < s.exclusions.size() && !unordered; ++k) {
    const auto a = static_cast<std::size_t>(
                   s.atoms.lj_type[static_cast<std::size_t>(s.exclusions[k][0])]),
               b = static_cast<std::size_t>(
                   s.atoms.lj_type[static_cast<std::size_t>(s.exclusions[k][1])]);
    --w[a * types + b];
    --w[b * types + a];
    pairs -= 2;
  }
  for (double& v : w) v *= pairs > 0 ? n * n / pairs : 0;
  return w;
}

bool is_ewald_sum(const Nonbonded& o) {
  return o.coulomb == Coulomb::ewald || o.coulomb == Coulomb::pme;
}

/// What has to hold in any box, and without one.
void check_options(const Nonbonded& o) {
  const auto fault = [](const std::string& what) { throw Error("[nonbonded] " + what); };
  const bool charged = o.coulomb != Coulomb::none;
  if (!(o.cutoff_lj_nm > 0))
    fault(fmt::format("the Lennard-Jones cut-off must be positive, got {} nm", o.cutoff_lj_nm));
  if (charged && !(o.cutoff_coulomb_nm > 0))
    fault(fmt::format("the Coulomb cut-off must be positive, got {} nm", o.cutoff_coulomb_nm));
  const bool switched =
      o.lj_modifier == Modifier::force_switch || o.lj_modifier == Modifier::potential_switch;
  if (switched && !(o.lj_switch_nm >= 0 && o.lj_switch_nm < o.cutoff_lj_nm))
    fault(fmt::format("the switch must begin below the cut-off of {} nm, got {} nm", o.cutoff_lj_nm,
                      o.lj_switch_nm));
  if (o.lj_modifier == Modifier::potential_switch && o.lj_switch_nm == 0 &&
      o.tail != Nonbonded::Tail::none)
    fault(
        "a switched potential that begins at 0 lacks an infinite energy, which no tail gives back");
  if (o.coulomb_modifier == Modifier::force_switch ||
      o.coulomb_modifier == Modifier::potential_switch ||
      (o.coulomb_modifier == Modifier::linear_force_shift && o.coulomb != Coulomb::cutoff &&
       charged))
    fault(
        "the Coulomb modifier must be none or potential_shift (of coulomb = cutoff also "
        "linear_force_shift)");
}
void check_splitting(const Nonbonded& o) {
  if (const double beta = ewald_beta(o), rc = o.cutoff_coulomb_nm; !(beta * rc <= most_decay))
    throw Error(
        fmt::format("[ewald] of a pair at the cut-off of {:g} nm a splitting parameter of "
                    "{:g}/nm leaves erfc({:.3g}), too little to compute with: take at "
                    "most {:g}/nm",
                    rc, beta, beta * rc, std::floor(100 * most_decay / rc) / 100));
}

}  // namespace

void check(const Nonbonded& o, const Box& box) {
  check_options(o);
  if (!is_periodic(box)) {
    if (is_ewald_sum(o))
      throw Error("[nonbonded] Ewald sums need a periodic box; take coulomb = cutoff");
    return;
  }
  const Vec3 width = widths_nm(box);
  const double least = std::min({width[0], width[1], width[2]}),
               most = o.coulomb != Coulomb::none ? std::max(o.cutoff_lj_nm, o.cutoff_coulomb_nm)
                                                 : o.cutoff_lj_nm;
  if (!(2 * most <= least * (1 + 1e-12)))
    throw BoxTooSmall(fmt::format(
        "[nonbonded] the cut-off of {:g} nm is more than half of the box's smallest width, {:g} "
        "nm: take at most {:g} nm or a larger box",
        most, least, 0.5 * least));
  if (is_ewald_sum(o)) check_splitting(o);
  if (o.coulomb == Coulomb::ewald) check_waves(ewald_kmax(o), volume_nm3(box));
  if (o.coulomb == Coulomb::pme) (void)pme_grid(o, box);  // throws where it would not do
}

double ewald_beta(const Nonbonded& o) {
  if (o.ewald_beta > 0) return o.ewald_beta;
  // erfc(x) = rtol by Newton's method on log erfc from an asymptotic start.
  double x = std::sqrt(-std::log(o.ewald_rtol));
  for (int k = 0; k < 60; ++k) {
    const double e = std::erfc(x), step = (std::log(e) - std::log(o.ewald_rtol)) * e /
                                          (-2 * std::numbers::inv_sqrtpi * std::exp(-x * x));
    x -= step;
    if (std::abs(step) < 1e-15 * x) break;
  }
  return x / o.cutoff_coulomb_nm;
}

EnergyPtr nonbonded_energy(const System& system, const Nonbonded& options, Wells wells,
                           Precision precision) {
  check_options(options);
  if (is_ewald_sum(options)) check_splitting(options);
  return std::make_shared<NonbondedEnergy>(system, options, wells, precision);
}

Tensor c6_of(const System& s) { return table(s.lj.c6, s.lj.types); }
Tensor c12_of(const System& s) { return table(s.lj.c12, s.lj.types); }

Tensor tail_energy(const System& s, const Nonbonded& o, const Tensor& h, const Tensor& c6,
                   const Tensor& c12) {
  // U = 2 pi/V sum_{t,t'} W_tt' integral (u_full - u_used) r^2 dr: analytic beyond rc, by
  // Gauss-Legendre points within.
  const double rc = o.cutoff_lj_nm;
  const PairConstants constants(o);
  const auto missing = [&](int n) {
    const PowerConstants& used = n == 6 ? constants.six : constants.twelve;
    double sum = std::pow(rc, 3 - n) / (n - 3);
    if (o.lj_modifier == Modifier::none) return sum;
    const double from =
        o.lj_modifier == Modifier::force_switch || o.lj_modifier == Modifier::potential_switch
            ? o.lj_switch_nm
            : 0;
    if (o.lj_modifier == Modifier::force_switch) {
      // shift + x^3 (a/3 + b x/4), x = max(r - from, 0): the integral of each power of x times r^2
      const double w = rc - from;
      const auto power = [&](int k) {
        return std::pow(w, k + 1) *
               (from * from / (k + 1) + 2 * from * w / (k + 2) + w * w / (k + 3));
      };
      return sum + used.shift * std::pow(rc, 3) / 3 + used.a / 3 * power(3) + used.b / 4 * power(4);
    }
    static constexpr std::array<double, 5> point = {0, 0.5384693101056831, -0.5384693101056831,
                                                    0.9061798459386640, -0.9061798459386640},
                                           weight = {0.5688888888888889, 0.4786286704993665,
                                                     0.4786286704993665, 0.2369268850561891,
                                                     0.2369268850561891};
    constexpr int panels = 64;
    const double half = 0.5 * (rc - from) / panels;
    for (int k = 0; k < panels; ++k)
      for (std::size_t m = 0; m < 5; ++m) {
        const double r = from + half * (2 * k + 1 + point[m]);
        const double difference = o.lj_modifier == Modifier::potential_shift ? used.shift
                                  : o.lj_modifier == Modifier::linear_force_shift
                                      ? used.shift + used.slope * (r - rc)
                                      : std::pow(r, -n) - of_power(n, r, constants);
        sum += half * weight[m] * difference * r * r;
      }
    return sum;
  };
  const auto entry = [&](int a, int b) { return select(select(h, 0, a), 0, b); };
  const Tensor volume = entry(0, 0) * (entry(1, 1) * entry(2, 2) - entry(1, 2) * entry(2, 1)) -
                        entry(0, 1) * (entry(1, 0) * entry(2, 2) - entry(1, 2) * entry(2, 0)) +
                        entry(0, 2) * (entry(1, 0) * entry(2, 1) - entry(1, 1) * entry(2, 0));
  const bool with_six = o.tail != Nonbonded::Tail::none,
             with_twelve = o.tail == Nonbonded::Tail::c6_c12;
  const double six = with_six ? missing(6) : 0, twelve = with_twelve ? missing(12) : 0;
  const Tensor pairs = table(tail_weights(s, o.tail_pairs), s.lj.types),
               u = (2 * std::numbers::pi) / volume * sum(pairs * (twelve * c12 - six * c6));
  if (o.tail_pairs != Nonbonded::TailPairs::not_excluded) return u;
  // A shift within the cut-off was given back as if every atom had itself within its own.
  return u - 0.5 / static_cast<double>(s.n_atoms()) *
                 sum(pairs * ((with_twelve ? constants.twelve.shift : 0) * c12 -
                              (with_six ? constants.six.shift : 0) * c6));
}

}  // namespace tessera::molecular
