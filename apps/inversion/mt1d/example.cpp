// SPDX-License-Identifier: Apache-2.0
#include "inversion/mt1d/example.h"

#include "tessera/data/csv.h"
#include "tessera/data/file_io.h"
#include "tessera/data/random.h"
#include "tessera/inversion/forward_1d.h"
#include "tessera/inversion/response.h"
#include "tessera/inversion/sounding.h"
#include "tessera/inversion/sounding_write.h"

#include <fmt/format.h>

#include <cmath>

namespace tessera::apps::mt1d {

std::filesystem::path make_example(const std::filesystem::path& dir, std::uint64_t seed) {
  using namespace inversion;
  constexpr int n_stations = 12, n_frequencies = 33;
  constexpr double noise = 0.03;
  std::vector<double> frequency;
  for (int i = 0; i < n_frequencies; ++i)
    frequency.push_back(std::pow(10.0, 2.5 - 5.5 * i / (n_frequencies - 1)));
  data::make_folder(dir / "soundings");
  data::CsvTable truth({"sounding", "top_m", "resistivity_ohm_m"});
  for (int k = 0; k < n_stations; ++k) {
    const double x = static_cast<double>(k) / (n_stations - 1);
    // Dry cover, a basin of conductive sediments deepest in the middle, basement, and a conductor
    // that rises to the east.
    const double basin = 300 + 1700 * std::pow(std::sin(std::numbers::pi * x), 2);
    const std::vector<double> rho{120, 8, 1500, 30};
    const std::vector<double> h{80 + 60 * x, basin, 22000 - 9000 * x};
    std::vector<double> m;
    for (double r : rho) m.push_back(std::log(r));
    const auto z = to_complex(layered_forward(frequency, h).predict(m));
    Sounding s;
    s.station = fmt::format("syn{:02}", k + 1);
    s.latitude_deg = 40.0 + 0.002 * std::sin(3.0 * k);
    s.longitude_deg = -117.0 + 0.03 * k;
    s.elevation_m = 1200;
    s.frequency_hz = frequency;
    for (int i = 0; i < n_frequencies; ++i) {
      const double sigma = noise * std::abs(z[static_cast<std::size_t>(i)]);
      const data::RandomKey key{seed, static_cast<std::uint64_t>(k)};
      const auto draw = [&](int part) {
        return sigma * normal(key, static_cast<std::uint64_t>(8 * i + part));
      };
      const Complex zi = z[static_cast<std::size_t>(i)];
      Tensor2<Complex> t{};
      t[0][0] = {draw(0), draw(1)};
      t[0][1] = zi + Complex(draw(2), draw(3));
      t[1][0] = -zi + Complex(draw(4), draw(5));
      t[1][1] = {draw(6), draw(7)};
      Tensor2<double> e{};
      e[0][0] = e[0][1] = e[1][0] = e[1][1] = sigma;
      s.impedance.push_back(t);
      s.impedance_error.push_back(e);
      s.azimuth_deg.push_back(0);
    }
    write_edi(dir / "soundings" / (s.station + ".edi"), s);
    double top = 0;
    for (std::size_t j = 0; j < rho.size(); ++j) {
      truth.add(s.station).add(top).add(rho[j]).end_row();
      if (j < h.size()) top += h[j];
    }
  }
  data::write_file_atomically(dir / "truth.csv", truth.text());
  const auto file = dir / "mt1d.toml";
  data::write_file_atomically(
      file,
      fmt::format(
          R"(# A synthetic profile of {} soundings with {:g} % noise; the layers behind it are in truth.csv.
app = "inversion.mt1d"
seed = {}

[data]
files = "soundings"        # a folder of EDI, EMTF XML, Jones J or EMTF Z files, or one file
response = "average"       # what a layered earth is fitted to: free of the direction of the axes
error_floor = 0.02         # least standard deviation, as a part of the modulus

[inversion]
method = "occam"           # the smoothest model that fits

[posterior]
method = "laplace"         # 50 % and 90 % bands of the resistivity

[expect]                   # of the results; a run that does not meet it ends with exit 6
soundings = {}
rms_max = 1.2
)",
          n_stations, 100 * noise, seed, n_stations));
  return file;
}

}  // namespace tessera::apps::mt1d
