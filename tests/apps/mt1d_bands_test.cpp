// SPDX-License-Identifier: Apache-2.0
// Bands of soundings of a survey, and of one that has none.
#include "mt1d_case.h"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <numbers>
#include <string>
#include <vector>

using namespace tessera::testing;
namespace fs = std::filesystem;

namespace {

/// A half-space of 100 ohm m as an EDI file, with errors of `relative` parts of the impedance.
std::string half_space_edi(double relative) {
  constexpr int n = 13;
  std::vector<double> f, re, im, variance;
  for (int k = 0; k < n; ++k) {
    f.push_back(100 * std::pow(10.0, -k / 3.0));
    const double omega_mu = 2 * std::numbers::pi * f.back() * 4e-7 * std::numbers::pi;
    const std::complex<double> z =
        std::sqrt(std::complex<double>(0, omega_mu * 100)) / (4e-4 * std::numbers::pi);
    re.push_back(z.real()), im.push_back(z.imag());
    variance.push_back(std::norm(relative * z));
  }
  std::string text =
      ">HEAD\nDATAID=\"exact\"\nLAT=40:30:00\nLONG=-117:00:00\nEMPTY=1.0E32\n"
      ">=MTSECT\nSECTID=\"exact\"\nNFREQ=13\n";
  const auto block = [&](const std::string& name, const std::vector<double>& values, double sign) {
    text += ">" + name + " //13\n";
    for (const double v : values) {
      char number[40];
      std::snprintf(number, sizeof number, "%.12e\n", sign * v);
      text += number;
    }
  };
  block("FREQ", f, 1);
  block("ZXYR", re, 1), block("ZXYI", im, 1), block("ZXY.VAR", variance, 1);
  block("ZYXR", re, -1), block("ZYXI", im, -1), block("ZYX.VAR", variance, 1);
  return text + ">END\n";
}

/// Beside errors of 1e-11 the prior is lost in rounding. That sounding has no bands, which the log
/// says; the others are as they would be without it.
TEST_F(Mt1d, ASoundingWithoutBandsLeavesTheOthersTheirs) {
  make_case(1, "response = \"xy\"\nerror_floor = 0\n[output]\npictures_of_soundings = false\n");
  ASSERT_EQ(tessera({"run", "case.toml", "--output", "alone"}).code, 0);
  write("site/soundings/exact.edi", half_space_edi(1e-11));
  const Outcome both = tessera({"run", "case.toml", "--output", "both"});
  ASSERT_EQ(both.code, 0) << both.err;
  EXPECT_TRUE(holds(both.err, "exact: no bands: beside errors as small as these the prior is lost"))
      << both.err;
  EXPECT_EQ(read("both/soundings/syn01_model.csv"), read("alone/soundings/syn01_model.csv"));
  EXPECT_TRUE(holds(read("both/soundings/exact_model.csv"), ",,,,\n"));
  EXPECT_EQ(tessera({"plot", "both"}).code, 0);
  const Outcome again = tessera({"resume", "both"});
  EXPECT_EQ(again.code, 0) << again.err;
}

/// Chains draw by the seed and the name of their station: other stations do not change its bands.
TEST_F(Mt1d, AChainIsThatOfItsStation) {
  make_case(2,
            "[model]\nlayers = 12\n[posterior]\nmethod = \"mcmc\"\nburn_in = 50\nsamples = 200\n"
            "[output]\npictures_of_soundings = false\n");
  ASSERT_EQ(tessera({"run", "case.toml", "--output", "both"}).code, 0);
  fs::remove(here() / "site/soundings/syn01.edi");
  ASSERT_EQ(tessera({"run", "case.toml", "--output", "alone"}).code, 0);
  EXPECT_EQ(read("alone/soundings/syn02_model.csv"), read("both/soundings/syn02_model.csv"));
}

/// Bands of a chain of 20 draws are those of its seed, and the run says so; without a chain there
/// is nothing to mix.
TEST_F(Mt1d, AChainThatHasNotMixedIsTold) {
  make_case(1,
            "[model]\nlayers = 12\n[posterior]\nmethod = \"mcmc\"\nburn_in = 50\nsamples = 200\n"
            "[output]\npictures_of_soundings = false\n");
  const Outcome o = tessera({"run", "case.toml", "--output", "chain"});
  EXPECT_TRUE(holds(o.err, "the chain has not mixed") && holds(o.err, "more posterior.samples"))
      << o.err;
  const Outcome none =
      tessera({"run", "case.toml", "--output", "none", "--set", "posterior.method=laplace"});
  EXPECT_FALSE(holds(none.err, "mixed")) << none.err;
}

}  // namespace
