// SPDX-License-Identifier: Apache-2.0
//
// The formulas of pairs on dual numbers: f is -2 du/ds and df is df/ds for every option; and on a
// number of the host they have the bits that they have in a vector.
#include "molecular/src/nonbonded/kernels/pair_formulas.h"

#include "molecular/src/nonbonded/host_number.h"
#include "molecular/src/nonbonded/kernels/lanes_portable.h"
#include "molecular/src/nonbonded/pair_constants.h"
#include "molecular/src/nonbonded/series.h"
#include "pair_options.h"

#include <gtest/gtest.h>

#include <cmath>

namespace tessera::molecular {
namespace {

using pairs::Field, pairs::Input, pairs::Separation;

/// What the formulas are given for one choice of options.
struct FormulaInput {
  Input<double> in{};
  std::vector<double> force, energy, slope;
  Field field;
  explicit FormulaInput(const Nonbonded& o)
      : field(o.coulomb == Nonbonded::Coulomb::none    ? Field::none
              : o.coulomb == Nonbonded::Coulomb::ewald ? Field::ewald_long
                                                       : Field::power) {
    PairConstants(o).put(in);
    if (field != Field::ewald_long) return;
    const double beta = ewald_beta(o);
    force = pairs::ewald_coefficients<double>(1, beta, o.cutoff_coulomb_nm, &slope);
    energy = pairs::ewald_coefficients<double>(0, beta, o.cutoff_coulomb_nm);
    const std::size_t terms = std::max(force.size(), energy.size());
    for (std::vector<double>* series : {&force, &energy, &slope}) series->resize(terms, 0.0);
    in.force_series = force.data();
    in.energy_series = energy.data();
    in.terms = static_cast<int>(terms);
  }
};

/// Shapes of r^-6, r^-12 and, where there is one, of the charges.
template <class S>
std::vector<pairs::Shape<S>> shapes_of(const FormulaInput& f, const Separation<S>& at) {
  std::vector<pairs::Shape<S>> out = {
      pairs::power_shape<S, 6, true, true>(f.in, f.in.six, at, true),
      pairs::power_shape<S, 12, true, true>(f.in, f.in.twelve, at, true)};
  const auto series = [&](const std::vector<double>& of) {
    return [&f, &of](const typename S::V& t) {
      typename S::V sum;
      pairs::even_odd<S>(of.data(), f.in.terms, t, sum);
      return sum;
    };
  };
  const typename S::V t = S::fma(at.s, S::set(f.in.scale), S::set(-1));
  if (f.field == Field::power)
    out.push_back(pairs::coulomb_shape<S, Field::power, true>(f.in, at, t, true, series(f.force),
                                                              series(f.slope)));
  if (f.field == Field::ewald_long)
    out.push_back(pairs::coulomb_shape<S, Field::ewald_long, true>(
        f.in, at, t, true, series(f.force), series(f.slope)));
  return out;
}

class PairFormulas : public ::testing::TestWithParam<testing::PairOptions> {};
INSTANTIATE_TEST_SUITE_P(Options, PairFormulas, ::testing::ValuesIn(testing::pair_options()),
                         testing::name_of_options);

constexpr std::array<double, 8> separations = {0.21, 0.3, 0.38, 0.46, 0.55, 0.63, 0.72, 0.79};

TEST_P(PairFormulas, ForcesAndTheirDerivativesAreThoseOfTheEnergy) {
  const FormulaInput f(GetParam().options);
  using Number = HostNumber<Dual<double>>;
  for (const double r : separations) {
    const Dual<double> s = Dual<double>::variable(r * r, 0);
    const std::vector<pairs::Shape<Number>> shapes =
        shapes_of<Number>(f, {s, 1.0 / sqrt(s), 1.0 / s});
    for (std::size_t k = 0; k < shapes.size(); ++k) {
      SCOPED_TRACE(::testing::Message() << "r = " << r << ", shape " << k);
      const auto& [u, force, df] = shapes[k];
      // Scales of what cancels: the plain potential.
      const double scale = k == 2 ? 1 / (r * r * r) : std::pow(r, k == 0 ? -8 : -14);
      EXPECT_NEAR(force.v, -2 * u.d[0], 2e-12 * scale);
      EXPECT_NEAR(df.v, force.d[0], 1e-11 * scale / (r * r));
    }
  }
}

TEST_P(PairFormulas, OfTheHostHaveTheBitsOfVectors) {
  const FormulaInput f(GetParam().options);
  using Vector = pairs::Plain<double>;
  Separation<Vector> all;
  for (int k = 0; k < 8; ++k)
    all.s[k] = separations[static_cast<std::size_t>(k)] * separations[static_cast<std::size_t>(k)];
  Vector::inverses(all.s, all.over, all.y);
  const auto expected = shapes_of<Vector>(f, all);
  for (int k = 0; k < 8; ++k) {
    const auto shapes = shapes_of<HostNumber<double>>(f, {all.s[k], all.over[k], all.y[k]});
    ASSERT_EQ(shapes.size(), expected.size());
    for (std::size_t i = 0; i < shapes.size(); ++i) {
      EXPECT_EQ(shapes[i].u, expected[i].u[k]);
      EXPECT_EQ(shapes[i].f, expected[i].f[k]);
      EXPECT_EQ(shapes[i].df, expected[i].df[k]);
    }
  }
}

}  // namespace
}  // namespace tessera::molecular
