// SPDX-License-Identifier: Apache-2.0
#include "solvers/training/example.h"

#include "tessera/data/csv.h"
#include "tessera/data/file_io.h"
#include "tessera/data/random.h"

#include <array>
#include <cmath>

namespace tessera::apps::training {
namespace {

constexpr const char* kCase = R"(# A surrogate: the resonance of patch antennas from their design.
#   tessera run patch.toml
#   tessera predict patch.run patches.csv
app = "solvers.training"
title = "Patch antennas"

[data]
tables = ["patches.csv"]
input_columns = ["length_mm", "width_mm", "height_mm", "substrate"]
target_columns = ["resonance_GHz"]

[split]
validation = 0.15
test = 0.15

[[input_transform]]
kind = "log"
columns = ["length_mm", "width_mm", "height_mm"]

[[input_transform]]
kind = "standardise"

[[target_transform]]
kind = "log"

[[target_transform]]
kind = "standardise"

[network]
widths = [48, 48]

[training]
epochs = 200
batch = 32
rate = 5e-3

[expect]
relative_l2_max = 0.01
)";

struct Substrate {
  const char* name;
  double permittivity;
};

/// c / (2 (L + 2 dL) sqrt(e_eff)): C. Balanis, Antenna Theory (2016), eqs. 14-1 to 14-4. mm, GHz.
double resonance(double length, double width, double height, double permittivity) {
  const double e =
      (permittivity + 1) / 2 + (permittivity - 1) / 2 / std::sqrt(1 + 12 * height / width);
  const double ratio = width / height;
  const double longer =
      0.412 * height * (e + 0.3) * (ratio + 0.264) / ((e - 0.258) * (ratio + 0.8));
  return 299.792458 / (2 * (length + 2 * longer) * std::sqrt(e));
}

}  // namespace

std::filesystem::path make_example(const std::filesystem::path& dir, std::uint64_t seed) {
  constexpr std::array<Substrate, 3> substrates{{{"FR4", 4.3}, {"RO4003", 3.38}, {"alumina", 9.8}}};
  data::CsvTable t({"length_mm", "width_mm", "height_mm", "substrate", "resonance_GHz"});
  for (std::uint64_t k = 0; k < 600; ++k) {
    const auto drawn = [&](std::uint64_t which, double least, double most) {
      return std::round(100 * (least + (most - least) * data::uniform({seed, which}, k))) / 100;
    };
    const double length = drawn(0, 8, 40), width = drawn(1, 10, 50), height = drawn(2, 0.4, 3.2);
    const Substrate& s = substrates[static_cast<std::size_t>(3 * data::uniform({seed, 3}, k))];
    t.add(length).add(width).add(height).add(std::string_view(s.name));
    t.add(resonance(length, width, height, s.permittivity)).end_row();
  }
  data::write_file_atomically(dir / "patches.csv", t.text());
  const std::filesystem::path file = dir / "patch.toml";
  data::write_file_atomically(file, kCase);
  return file;
}

}  // namespace tessera::apps::training
