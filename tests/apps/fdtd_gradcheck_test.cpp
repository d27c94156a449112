// SPDX-License-Identifier: Apache-2.0
// Derivatives of whole cases, by `tessera gradcheck`.
#include "fdtd_case.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <string>
#include <vector>

using namespace tessera::testing;

namespace {

/// Every kind of monitor that fdtd_case() has, along permittivities of glass and the strength of
/// the source; and what is checked is what is run: the size of the flux is that of the table.
TEST_F(Fdtd, DerivativesOfMonitorsVerify) {
  write("case.toml",
        changed(changed(fdtd_case(), "sigma = \"2000 S/m\"", "mu = 1"), "\"50 nm\"", "\"0.1 um\""));
  const std::vector<std::string> shorter{
      "--set", "run.stop.steps=250",    "--set",     "monitor[6].every=10fs",
      "--set", "run.precision=\"f64\"", "--threads", "1"};
  const auto with = [&](std::vector<std::string> first) {
    first.insert(first.end(), shorter.begin(), shorter.end());
    return tessera(first);
  };
  const Outcome o = with({"gradcheck", "case.toml", "--json", "-q"});
  ASSERT_EQ(o.code, 0) << o.out << o.err;
  const auto j = nlohmann::json::parse(o.out);
  EXPECT_EQ(j["checks"].size(), 14u);
  double flux = 0;
  for (const auto& check : j["checks"]) {
    EXPECT_LE(check["adjoint_identity"], 1e-13) << check;
    if (check["parameters"] == "permittivity" && check["slope_1"].is_number()) {
      EXPECT_NEAR(check["slope_1"], 2, 0.1) << check;
    }
    if (check["result"] == "through flux") flux = check["size"];
  }
  ASSERT_EQ(with({"run", "case.toml", "--output", "RUN"}).code, 0);
  double sum = 0;
  for (const double v : column("RUN", "through", "flux")) sum += v * v;
  EXPECT_NEAR(flux, std::sqrt(sum), 1e-9 * flux);
}

/// A source and a probe 1 um apart, glass 3 um away.
TEST_F(Fdtd, WhatNothingDependsOnIsNotCalledRight) {
  write("line.toml", R"(app = "electromagnetics.fdtd"
grid = {size = ["10 um", "0 um", "0 um"], cell = "50 nm"}
structure = [{shape = "box", low = ["4 um", "-inf", "-inf"], high = ["4.5 um", "inf", "inf"], material = "glass"}]
material = [{name = "glass", eps = 2.25}]
[run]
stop.steps = 60
[[source]]
kind = "point"
component = "Ez"
position = ["0 um", "0 um", "0 um"]
waveform = {kind = "gaussian", frequency = "200 THz", bandwidth = "400 THz"}
[[monitor]]
kind = "probe"
name = "near"
position = ["1 um", "0 um", "0 um"]
components = ["Ez"]
)");
  const Outcome o = tessera({"gradcheck", "line.toml", "-q"});
  EXPECT_EQ(o.code, 0) << o.out << o.err;
  EXPECT_TRUE(holds(o.out, "not tested: permittivity, on which no result depends")) << o.out;
  const Outcome none = tessera({"gradcheck", "line.toml", "-q", "--set", "run.stop.steps=5"});
  EXPECT_EQ(none.code, 6) << none.out;
  EXPECT_TRUE(holds(none.out, "there was nothing to check")) << none.out;
}

TEST_F(Fdtd, NonlinearMediaHaveNoDerivatives) {
  write("case.toml", changed(fdtd_case(), "sigma = \"2000 S/m\"", "chi3 = \"1e-20 m^2/V^2\""));
  const Outcome o = tessera({"gradcheck", "case.toml"});
  EXPECT_EQ(o.code, 5) << o.out;
  EXPECT_TRUE(holds(o.err, "E0642")) << o.err;
}

}  // namespace
