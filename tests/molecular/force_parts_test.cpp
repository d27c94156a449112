// SPDX-License-Identifier: Apache-2.0
//
// Forces in two parts, and steps that take the slow one seldom.
#include "molecular_cases.h"
#include "tessera/molecular/build.h"
#include "tessera/molecular/dynamics.h"
#include "tessera/molecular/minimize.h"

#include <gtest/gtest.h>

#include <cmath>

namespace tessera::molecular {
namespace {

using Part = ForceOptions::Part;
using Coulomb = Nonbonded::Coulomb;

const Nonbonded pme_options = {.coulomb = Coulomb::pme,
                               .tail = Nonbonded::Tail::c6,
                               .cutoff_coulomb_nm = 0.7,
                               .cutoff_lj_nm = 0.7,
                               .fourier_spacing_nm = 0.1};

/// A box of rigid water on the way down from its grid.
BuiltSystem water(std::size_t molecules) {
  BuiltSystem w = water_box({.model = "spce", .molecules = molecules, .seed = 5});
  const Minimizer down(w.system,
                       ForceEvaluator(w.system, pme_options, {.precision = Precision::f64}),
                       {.force_tolerance = 300});
  Descent d = down.begin(w.frame);
  down.step(d, 300);
  w.frame = d.frame;
  return w;
}

TEST(ForceParts, TheirSumIsTheWhole) {
  const BuiltSystem w = water_box({.model = "spce", .molecules = 64, .seed = 3});
  for (const Coulomb coulomb : {Coulomb::pme, Coulomb::ewald, Coulomb::cutoff})
    for (const Precision precision : {Precision::mixed, Precision::f64}) {
      Nonbonded o = pme_options;
      o.coulomb = coulomb;
      o.cutoff_coulomb_nm = o.cutoff_lj_nm = 0.6;
      o.tail_pairs = Nonbonded::TailPairs::not_excluded;  // which does not go with the volume alone
      if (coulomb == Coulomb::ewald) o.ewald_kmax = 20;
      Forces all, fast, slow;
      ForceEvaluator(w.system, o, {.precision = precision})(w.frame.x_nm, w.frame.box, all);
      ForceEvaluator(w.system, o, {.precision = precision, .part = Part::fast})(w.frame.x_nm,
                                                                                w.frame.box, fast);
      ForceEvaluator(w.system, o, {.precision = precision, .part = Part::slow})(w.frame.x_nm,
                                                                                w.frame.box, slow);
      double most = 0;
      for (const Vec3& f : all.f)
        for (const double c : f) most = std::max(most, std::abs(c));
      // Fixed-point sums are the same numbers; three of them added as doubles in another order.
      for (std::size_t i = 0; i < all.f.size(); ++i)
        for (std::size_t c = 0; c < 3; ++c)
          EXPECT_NEAR(all.f[i][c], fast.f[i][c] + slow.f[i][c], 1e-14 * most + 0x1p-31);
      for (std::size_t k = 0; k < n_terms; ++k) {
        EXPECT_NEAR(all.energy[k], fast.energy[k] + slow.energy[k],
                    1e-12 * std::abs(all.energy[k]) + 0x1p-31)
            << k;
        if (static_cast<Term>(k) == Term::coulomb_reciprocal)
          EXPECT_EQ(fast.energy[k], 0);
        else
          EXPECT_EQ(slow.energy[k], 0) << k;
      }
      for (std::size_t a = 0; a < 3; ++a)
        for (std::size_t b = 0; b < 3; ++b)
          EXPECT_NEAR(all.virial[a][b], fast.virial[a][b] + slow.virial[a][b],
                      1e-11 * (std::abs(all.virial[0][0]) + std::abs(slow.virial[0][0])));
      EXPECT_EQ(slow.potential() != 0, coulomb != Coulomb::cutoff);
    }
}

/// Energies that are reported are those of all forces at the frame, and with every second
/// reciprocal sum alone the sum of all wanders no more than thrice as far (impulses twice as hard,
/// of forces that in rigid water change slowly).
TEST(ForceParts, EnergyStaysWithSlowForcesEverySecondStep) {
  const BuiltSystem w = water(125);
  const ForceEvaluator all(w.system, pme_options, {.precision = Precision::f64});
  const auto wander = [&](std::int64_t every) {
    Dynamics o = {.dt_ps = 0.002,
                  .temperature_k = 300,
                  .centre_of_mass_removal = Dynamics::CentreOfMassRemoval::none,
                  .seed = 4};
    o.slow_every = every;
    const ForceOptions run = {.precision = Precision::f64,
                              .part = every > 1 ? Part::fast : Part::all};
    const Integrator s(
        w.system, ForceEvaluator(w.system, pme_options, run), o,
        every > 1 ? ForceFunction(ForceEvaluator(w.system, pme_options,
                                                 {.precision = Precision::f64, .part = Part::slow}))
                  : ForceFunction());
    State m = s.begin(w.frame);
    s.step(m, 40);
    double sum = 0, square = 0;
    constexpr int samples = 40;
    for (int k = 0; k < samples; ++k) {
      s.step(m, 8);
      const double e = s.energies(m).conserved;
      sum += e / samples;
      square += e * e / samples;
      if (k > 0) continue;
      Forces now;
      all(m.frame.x_nm, m.frame.box, now);
      EXPECT_NEAR(s.energies(m).potential, now.potential(), 1e-7 * std::abs(now.potential()));
    }
    return std::sqrt(std::max(0.0, square - sum * sum));
  };
  const double plain = wander(1), second = wander(2);
  EXPECT_LT(second, 3 * plain);
  // What goes wrong if the slow kicks are too weak: then the forces are not those of the energy.
  Dynamics o = {.dt_ps = 0.002,
                .temperature_k = 300,
                .centre_of_mass_removal = Dynamics::CentreOfMassRemoval::none,
                .seed = 4};
  const ForceEvaluator fast(w.system, pme_options,
                            {.precision = Precision::f64, .part = Part::fast});
  const Integrator s(
      w.system,
      [&](const std::vector<Vec3>& x, const Box& b, Forces& out) {
        fast(x, b, out);
        Forces reported;
        all(x, b, reported);
        out.energy = reported.energy;
      },
      o);
  State m = s.begin(w.frame);
  s.step(m, 40);
  const double before = s.energies(m).conserved;
  s.step(m, 320);
  EXPECT_GT(std::abs(s.energies(m).conserved - before), 5 * second);
}

}  // namespace
}  // namespace tessera::molecular
