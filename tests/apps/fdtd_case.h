// SPDX-License-Identifier: Apache-2.0
// A case of electromagnetics.fdtd with a bit of everything, and what tests of this app ask of runs.
#pragma once
#include "app_test.h"
#include "csv_columns.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

namespace tessera::testing {

/// The app in a folder of its own.
class Fdtd : public AppTest {
 protected:
  /// `text` with `by` in place of the first `what`.
  static std::string changed(std::string text, const std::string& what, const std::string& by) {
    const auto at = text.find(what);
    EXPECT_NE(at, std::string::npos) << what;
    return at == std::string::npos ? text : text.replace(at, what.size(), by);
  }
  std::string table(const std::string& run, const std::string& monitor) const {
    return read(run + "/tables/" + monitor + ".csv");
  }
  std::vector<std::vector<double>> rows(const std::string& run, const std::string& monitor) const {
    return csv_rows(table(run, monitor));
  }
  std::vector<double> column(const std::string& run, const std::string& monitor,
                             const std::string& quantity) const {
    return csv_column(table(run, monitor), quantity);
  }
  /// Runs `file` into the folder `name`, which may be there, each of `settings` by --set.
  Outcome run_case(const std::string& file, const std::string& name,
                   const std::vector<std::string>& settings = {}) {
    std::vector<std::string> arguments{"run", file, "--output", name, "--force"};
    for (const std::string& s : settings) arguments.insert(arguments.end(), {"--set", s});
    return tessera(arguments);
  }
};

/// A conductor, a metal film, glass and a lossy body in two dimensions, with a monitor of nearly
/// every kind.
inline const char* const kCase = R"(app = "electromagnetics.fdtd"
[grid]
size = ["4 um", "3 um", "0 um"]
cell = "50 nm"
[run]
precision = "f32"
stop.steps = 3000
[boundary]
y_low = "pec"
[boundary.pml]
cells = 8
[[material]]
name = "metal"
poles = [{kind = "drude", frequency = "300 THz", damping = "10 THz"}]
[[material]]
name = "wet"
eps = 4
sigma = "2000 S/m"
[[structure]]
shape = "box"
low = ["0.5 um", "-inf", "-inf"]
high = ["0.8 um", "inf", "inf"]
material = "metal"
[[structure]]
shape = "cylinder"
centre = ["-0.7 um", "0.5 um", "0 um"]
radius = "0.4 um"
height = "inf"
material = "wet"
[[source]]
kind = "point"
name = "line"
component = "Ez"
position = ["-1.2 um", "-0.3 um", "0 um"]
waveform = {kind = "gaussian", frequency = "200 THz", bandwidth = "150 THz"}
[[monitor]]
kind = "probe"
name = "behind"
position = ["1.2 um", "0.2 um", "0 um"]
[[monitor]]
kind = "flux"
name = "through"
position = ["1.2 um", "0 um", "0 um"]
size = ["0 um", "2 um", "0 um"]
frequency_min = "150 THz"
frequency_max = "250 THz"
frequency_points = 5
[[monitor]]
kind = "dft"
name = "plane"
size = ["4 um", "3 um", "0 um"]
frequencies = ["200 THz"]
[[monitor]]
kind = "ldos"
name = "purcell"
frequencies = ["200 THz"]
[[monitor]]
kind = "far_field"
name = "far"
position = ["0 um", "0 um", "0 um"]
size = ["3 um", "2 um", "0 um"]
frequencies = ["200 THz"]
[[monitor]]
kind = "energy"
name = "stored"
frequencies = ["200 THz"]
[[monitor]]
kind = "snapshot"
name = "film"
size = ["4 um", "3 um", "0 um"]
components = ["Ez"]
every = "100 fs"
)";

}  // namespace tessera::testing
