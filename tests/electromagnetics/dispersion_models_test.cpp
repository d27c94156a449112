// SPDX-License-Identifier: Apache-2.0
// Each form of dispersion against its formula, over frequencies on both sides of where it acts.
#include "tessera/electromagnetics/dispersion_models.h"

#include "tessera/autodiff/error.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <map>
#include <numbers>

namespace tessera::electromagnetics {
namespace {

using C = std::complex<double>;
constexpr C j{0, 1};

/// Numbers for a case of each form.
DispersionValues values_of(const std::map<std::string, std::array<double, 2>>& given) {
  DispersionValues v;
  for (const auto& [name, value] : given) v.at(name) = value;
  return v;
}

/// chi at f as the formula has it.
struct FormCase {
  std::string name;
  DispersionValues values;
  C (*chi)(const DispersionValues&, double f);
};
const std::vector<FormCase>& form_cases() {
  static const std::vector<FormCase> cases{
      {"lorentz",
       values_of({{"frequency", {300e12, 0}}, {"damping", {20e12, 0}}, {"delta_eps", {1.5, 0}}}),
       [](const DispersionValues& v, double f) {
         const double f0 = v("frequency");
         return v("delta_eps") * f0 * f0 / (f0 * f0 - f * f + j * f * v("damping"));
       }},
      {"drude",
       values_of({{"frequency", {900e12, 0}}, {"damping", {30e12, 0}}, {"strength", {0.8, 0}}}),
       [](const DispersionValues& v, double f) {
         const double f0 = v("frequency");
         return -v("strength") * f0 * f0 / (f * f - j * f * v("damping"));
       }},
      {"debye", values_of({{"frequency", {20e12, 0}}, {"delta_eps", {70, 0}}}),
       [](const DispersionValues& v, double f) {
         return v("delta_eps") / (1.0 + j * f / v("frequency"));
       }},
      {"critical_point",
       values_of({{"frequency", {650e12, 0}},
                  {"damping", {90e12, 0}},
                  {"amplitude", {1.1, 0}},
                  {"phase", {-0.8, 0}}}),
       [](const DispersionValues& v, double f) {
         const double f0 = v("frequency"), g = v("damping"), phase = v("phase");
         return v("amplitude") * f0 *
                (std::polar(1.0, -phase) / (f0 - f + j * g) +
                 std::polar(1.0, phase) / (f0 + f - j * g));
       }},
      {"residue", values_of({{"pole", {-1e14, 3e15}}, {"residue", {2e14, -2e15}}}),
       [](const DispersionValues& v, double f) {
         const C s = 2 * std::numbers::pi * f * j, a = v.complex("pole"), c = v.complex("residue");
         return c / (s - a) + std::conj(c) / (s - std::conj(a));
       }},
  };
  return cases;
}

/// A real pole with a real residue has its conjugate like any other: nothing jumps there.
TEST(DispersionModels, AResidueCountsItsConjugateAlsoOnTheRealAxis) {
  const DispersionModel& m = dispersion_model("residue");
  const auto chi = [&](double above) {
    return susceptibility(m.poles(values_of({{"pole", {-1e15, above}}, {"residue", {2e15, 0}}})),
                          C(0, 1e15));
  };
  EXPECT_LT(std::abs(chi(0) - 4e15 / C(1e15, 1e15)), 1e-12);
  EXPECT_LT(std::abs(chi(1e3) - chi(0)), 1e-9);
}

TEST(DispersionModels, PolesAreTheFormula) {
  for (const DispersionModel& m : dispersion_models()) {
    const auto& all = form_cases();
    const auto c =
        std::find_if(all.begin(), all.end(), [&](const FormCase& x) { return x.name == m.name; });
    ASSERT_NE(c, all.end()) << "no formula is tested for " << m.name;
    const std::vector<PoleResidue> poles = m.poles(c->values);
    for (double f = 1e12; f < 1e16; f *= 1.7) {
      const C want = c->chi(c->values, f),
              found = susceptibility(poles, 2 * std::numbers::pi * f * j);
      EXPECT_LT(std::abs(found - want), 1e-12 * std::abs(want)) << m.name << " " << f;
    }
    EXPECT_FALSE(m.fault && m.fault(c->values)) << m.name;
  }
}

TEST(DispersionModels, EachParameterIsKnownAndTakenByAForm) {
  for (const DispersionModel& m : dispersion_models())
    for (const std::string& p : m.parameters) EXPECT_NO_THROW(DispersionValues().at(p)) << m.name;
  for (const DispersionParameter& p : dispersion_parameters())
    EXPECT_TRUE(std::any_of(dispersion_models().begin(), dispersion_models().end(),
                            [&](const DispersionModel& m) {
                              return std::find(m.parameters.begin(), m.parameters.end(), p.name) !=
                                     m.parameters.end();
                            }))
        << p.name;
  EXPECT_THROW(dispersion_model("cauchy"), Error);
  EXPECT_THROW(DispersionValues().at("colour"), Error);
  EXPECT_EQ(DispersionValues()("strength"), 1);
}

TEST(DispersionModels, APoleThatGrowsIsAFault) {
  DispersionValues v;
  v.at("pole") = {1e13, 3e15};
  const auto fault = dispersion_model("residue").fault(v);
  ASSERT_TRUE(fault);
  EXPECT_EQ(fault->parameter, "pole");
}

}  // namespace
}  // namespace tessera::electromagnetics
