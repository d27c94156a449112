// SPDX-License-Identifier: Apache-2.0
#include "inversion/mt2d/example.h"

#include "inversion/mt2d/forward.h"
#include "tessera/data/csv.h"
#include "tessera/data/file_io.h"
#include "tessera/inversion/sounding_write.h"

#include <fmt/format.h>

#include <cmath>

namespace tessera::apps::mt2d {

std::filesystem::path make_example(const std::filesystem::path& dir, std::uint64_t seed) {
  data::CsvTable ground({"distance_m", "elevation_m"});
  for (int k = -50; k <= 50; ++k) {
    const double y = 160.0 * k, hill = (y - 1200) / 1800;
    ground.add(y).add(400 + 180 * std::exp(-hill * hill) + 30 * std::sin(y / 700)).end_row();
  }
  data::write_file_atomically(dir / "ground.csv", ground.text());
  const auto truth = dir / "truth.toml";
  data::write_file_atomically(
      truth,
      fmt::format(R"(# What lies below the soundings: `tessera run truth.toml` computes them again.
app = "inversion.mt2d"
task = "forward"
seed = {}

[data]
strike = "30 deg"                  # of the section; its line runs 90 degrees further on
responses = ["te", "tm", "tipper"]
error_floor = 0

[ground]
shape = "file"
file = "ground.csv"

[section]                          # depths are those below the ground
resistivity = "200 ohm*m"

[[section.layer]]
top = "150 m"
resistivity = "60 ohm*m"

[[section.layer]]
top = "900 m"
resistivity = "1000 ohm*m"

[[section.body]]                   # a conductor that dips to the right
points = [["-1.8 km", "200 m"], ["-0.2 km", "200 m"], ["1.2 km", "1400 m"], ["-0.6 km", "1400 m"]]
resistivity = "5 ohm*m"

[[section.body]]                   # an intrusion
points = [["2.4 km", "250 m"], ["3.6 km", "250 m"], ["4.2 km", "4 km"], ["2.2 km", "4 km"]]
resistivity = "3000 ohm*m"

[mesh]
goal = "100 %"                     # cells as they come, right to a few percent: noise is larger

[stations]
first = "-4.5 km"
last = "4.5 km"
count = 10
latitude = "40 deg"                # of distance 0
longitude = "-117 deg"

[frequencies]
lowest = "0.1 Hz"
highest = "100 Hz"
per_decade = 2

[noise]                            # that measured data would have
impedance = 0.03
tipper = 0.01
)",
                  seed));
  const data::Config config = data::read_config(truth);
  const ForwardProblem p = forward_problem(config, read_options(config));
  const auto exact = soundings_of(p, solve(p));
  data::make_folder(dir / "soundings");
  for (const inversion::Sounding& s : on_the_globe(p, with_noise(p, exact)))
    inversion::write_edi(dir / "soundings" / (s.station + ".edi"), s);

  const auto file = dir / "mt2d.toml";
  data::write_file_atomically(
      file,
      fmt::format(
          R"(# {} soundings along a line over hills, with 3 % noise; what lies below them is in truth.toml.
app = "inversion.mt2d"

[data]
files = "soundings"                # a folder of EDI, EMTF XML, Jones J or EMTF Z files, or one file
responses = ["te", "tm", "tipper"]
estimate_strike = true             # or strike = "30 deg"
error_floor = 0.03                 # least standard deviation, as a part of the modulus

[inversion]
method = "occam"                   # the smoothest section that fits

[posterior]
method = "laplace"                 # 90 % bands of the resistivity

[expect]                           # of the results; a run that does not meet it ends with exit 6
rms_max = 1.6                      # of each station
soundings = {}
)",
          exact.size(), exact.size()));
  return file;
}

}  // namespace tessera::apps::mt2d
