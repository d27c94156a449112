// SPDX-License-Identifier: Apache-2.0
#include "tessera/electromagnetics/media_library.h"

#include "tessera/autodiff/error.h"
#include "tessera/electromagnetics/constants.h"
#include "tessera/electromagnetics/index_fit.h"
#include "tessera/electromagnetics/medium_checks.h"
#include "tessera/electromagnetics/medium_stability.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace tessera::electromagnetics {
namespace {

using Complex = std::complex<double>;

Complex index_at(const char* name, double um) {
  return refractive_index(find_medium(name), 0, speed_of_light / (um * 1e-6));
}

// n and k as the public-domain tables of refractiveindex.info print them for the same model (five
// digits; the wavelength has five too, which moves n and k by up to 5e-5).
TEST(MediaLibrary, MetalsMatchThePublishedTables) {
  struct Row {
    const char* name;
    double um, n, k;
  };
  const Row rows[] = {{"Ag", 0.67579, 0.15027, 4.1273}, {"Ag", 1.5130, 0.38512, 9.9237},
                      {"Ag", 12.398, 17.485, 76.626},   {"Al", 0.20153, 0.10922, 2.2243},
                      {"Al", 0.63376, 1.3441, 7.3089},  {"Al", 1.5028, 1.4800, 14.836},
                      {"Al", 247.97, 472.20, 523.02},   {"Au", 0.24797, 1.0941, 1.5478},
                      {"Au", 0.63363, 0.31127, 3.1534}, {"Au", 1.5177, 0.56135, 9.4625},
                      {"Au", 6.1992, 5.0974, 38.118},   {"Cr", 0.35125, 1.4154, 3.1794},
                      {"Cr", 0.63104, 3.4281, 4.3395},  {"Cr", 61.992, 77.150, 115.06},
                      {"Cu", 0.59010, 0.42068, 3.1446}, {"Cu", 1.5204, 0.45403, 10.244},
                      {"Cu", 12.398, 11.985, 79.048},   {"Ni", 0.35005, 1.6585, 2.1109},
                      {"Ni", 0.63329, 2.0160, 3.6857},  {"Ni", 6.1992, 4.9348, 22.797},
                      {"Pt", 0.34999, 1.5880, 2.5355},  {"Pt", 0.63220, 2.3165, 4.1590},
                      {"Pt", 12.398, 16.506, 45.452},   {"W", 0.34999, 3.1447, 2.5380},
                      {"W", 0.63220, 3.6750, 2.8874},   {"W", 12.398, 15.567, 52.539}};
  for (const Row& r : rows) {
    const Complex want(r.n, -r.k);
    EXPECT_LT(std::abs(index_at(r.name, r.um) - want), 8e-5 * std::abs(want))
        << r.name << " at " << r.um << " um: " << index_at(r.name, r.um);
  }
}

// The formula of the paper itself, in eV and for e^{-i w t}, with gold's numbers.
TEST(MediaLibrary, GoldIsTheConjugateOfItsFormula) {
  const double f[] = {0.760, 0.024, 0.010, 0.071, 0.601, 4.384};
  const double g[] = {0.053, 0.241, 0.345, 0.870, 2.494, 2.214};
  const double w0[] = {0, 0.415, 0.830, 2.969, 4.304, 13.32};
  for (double ev : {0.2, 1.0, 2.0, 3.3, 5.0}) {
    Complex eps = 1;
    for (int j = 0; j < 6; ++j)
      eps += f[j] * 9.03 * 9.03 / (w0[j] * w0[j] - ev * ev - Complex(0, 1) * ev * g[j]);
    const Complex got = permittivity(find_medium("Au"), 0, ev * 1.602176634e-19 / 6.62607015e-34);
    EXPECT_LT(std::abs(got - std::conj(eps)), 1e-12 * std::abs(eps));
  }
}

TEST(MediaLibrary, GlassesHaveTheirPublishedIndices) {
  struct Row {
    const char* name;
    double um, n, tolerance;
  };
  const Row rows[] = {
      {"BK7", 0.5875618, 1.51680, 5e-6},   // n_d of the data sheet
      {"BK7", 1.0140, 1.50731, 5e-6},      // n_t
      {"SiO2", 0.5875618, 1.45846, 5e-6},  // Malitson's table
      {"CaF2", 0.58756, 1.43384, 1e-5},    // Malitson's table
      {"Al2O3", 0.58756, 1.76817, 2e-5},  {"Si", 1.5500, 3.4777, 1e-4},
      {"Si3N4", 1.55, 1.9963, 1e-4},
  };
  for (const Row& r : rows) {
    const Complex n = index_at(r.name, r.um);
    EXPECT_NEAR(n.real(), r.n, r.tolerance) << r.name;
    EXPECT_EQ(n.imag(), 0) << r.name;
  }
}

TEST(MediaLibrary, DispersionFormulasTermByTerm) {
  const double l = 1.3 * 1.3;
  EXPECT_NEAR(std::pow(index_at("TiO2", 1.3).real(), 2), 5.913 + 0.2441 / (l - 0.0803), 1e-13);
  EXPECT_NEAR(std::pow(index_at("GaAs", 1.3).real(), 2),
              5.372514 + 5.466742 * l / (l - 0.4431307 * 0.4431307) +
                  0.02429960 * l / (l - 0.8746453 * 0.8746453) +
                  1.957522 * l / (l - 36.9166 * 36.9166),
              1e-12);
  const double g = 4.0 * 4.0;
  EXPECT_NEAR(std::pow(index_at("Ge", 4.0).real(), 2),
              1 + 0.4886331 * g / (g - 1.393959) + 14.5142535 * g / (g - 0.1626427) +
                  0.0091224 * g / (g - 752.190),
              1e-12);
}

TEST(MediaLibrary, SingleTermMedia) {
  // The paper's film has its zero of Re eps at 1240 nm.
  const Medium& ito = find_medium("ITO");
  EXPECT_GT(permittivity(ito, 0, speed_of_light / 1.236e-6).real(), 0);
  EXPECT_LT(permittivity(ito, 0, speed_of_light / 1.244e-6).real(), 0);
  // Between the phonons eps < 0; at the longitudinal one it vanishes but for the damping.
  const double cm = 100 * speed_of_light;
  EXPECT_LT(permittivity(find_medium("SiC"), 0, 900 * cm).real(), 0);
  EXPECT_LT(std::abs(permittivity(find_medium("SiC"), 0, 969 * cm)), 0.2);
  EXPECT_NEAR(permittivity(find_medium("SiC"), 0, 1e9).real(), 6.7 * 969 * 969 / (793.0 * 793),
              1e-6);
  const Complex x(1, 2 * std::numbers::pi * 10e9 * 8.27e-12);
  EXPECT_LT(std::abs(permittivity(find_medium("water"), 0, 10e9) - (5.2 + 73.16 / x)), 1e-12);
  // Ellison 2007 has 87.9144 - 0.404399 t + 9.58726e-4 t^2 - 1.32802e-6 t^3 at rest: 78.384 at 25
  // C.
  EXPECT_NEAR(permittivity(find_medium("water"), 0, 1e3).real(), 78.384, 0.05);
}

TEST(MediaLibrary, SubstratesKeepTheirLossTangent) {
  for (const char* name : {"FR4", "RO4003C", "RO4350B", "RT5880"}) {
    const LibraryMedium& m = find_library_medium(name);
    const auto tangent = [&](double f) {
      const Complex eps = permittivity(m.medium, 0, f);
      return -eps.imag() / eps.real();
    };
    const double reference = name[0] == 'F' ? 1e9 : 10e9;
    const double stated = name == std::string("FR4")       ? 0.0161
                          : name == std::string("RO4003C") ? 0.0027
                          : name == std::string("RO4350B") ? 0.0037
                                                           : 0.0009;
    EXPECT_NEAR(tangent(reference), stated, 1e-12) << name;
    for (double f = m.f_min_hz; f <= m.f_max_hz; f *= 1.3)
      EXPECT_NEAR(tangent(f) / stated, 1, 0.15) << name << " " << f;
  }
}

TEST(MediaLibrary, EveryMediumIsSoundAndCited) {
  const double curl_curl = 12 / (5e-9 * 5e-9);
  for (const LibraryMedium& m : media_library()) {
    for (const MediumFinding& f : check_medium(m.medium)) ADD_FAILURE() << to_string(f);
    EXPECT_GT(m.source.size(), 20u) << m.medium.name;
    EXPECT_GT(m.f_max_hz, m.f_min_hz) << m.medium.name;
    const double limit = 5e-9 * std::sqrt(m.medium.eps[0] / 3) / speed_of_light;
    EXPECT_NEAR(max_stable_dt(m.medium, curl_curl) / limit, 1, 1e-8) << m.medium.name;
  }
}

TEST(MediaLibrary, NamesAreSortedFoundAndGuessed) {
  const auto names = list_media();
  EXPECT_EQ(names.size(), 24u);
  EXPECT_TRUE(std::is_sorted(names.begin(), names.end()));
  EXPECT_EQ(find_medium("SiO2").name, "SiO2");
  try {
    find_medium("Si02");  // a zero for an O
    FAIL();
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("did you mean 'SiO2'"), std::string::npos) << e.what();
  }
  EXPECT_THROW(find_medium("unobtainium"), Error);
}

// What a user does with a table of gold: the Lorentz-Drude gold at 60 wavelengths, four digits.
TEST(MediaLibrary, RoundedGoldIsFittedWithFewPoles) {
  IndexTable t{.name = "gold"};
  for (double um = 1.2; um > 0.4; um *= 0.98) {
    const Complex n = index_at("Au", um);
    const Complex rounded(std::round(n.real() * 1e4) / 1e4, std::round(n.imag() * 1e4) / 1e4);
    t.f_hz.push_back(speed_of_light / (um * 1e-6));
    t.eps.push_back(rounded * rounded);
  }
  const FittedMedium fit = fit_medium(t, {.tolerance = 2e-3, .conducting = true});
  EXPECT_TRUE(fit.report.reached) << fit.report.rms;
  EXPECT_TRUE(fit.report.passive);
  EXPECT_LE(fit.report.order, 7);  // the model itself has twelve poles
  for (const MediumFinding& f : check_medium(fit.medium)) ADD_FAILURE() << to_string(f);
}

}  // namespace
}  // namespace tessera::electromagnetics
