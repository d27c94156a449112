// SPDX-License-Identifier: Apache-2.0
// Where things lie on the grid: moved by whole cells all is the same.
#include "app_test.h"
#include "csv_columns.h"

#include <cmath>

using namespace tessera::testing;

namespace {

class FdtdPlaces : public AppTest {
 protected:
  static std::string um(double x, double y) { return "[\"" + std::to_string(x) + " um\", \"" + std::to_string(y) + " um\", \"0 um\"]"; }

  /// A box of 10 by 8 cells, a current beside it and the power out of both, all of it `i` and `j` cells of 50 nm further.
  static std::string moved(int i, int j, const std::string& averaging) {
    const double x = 0.05 * i, y = 0.05 * j;
    return "app = \"electromagnetics.fdtd\"\ngrid = {size = [\"2 um\", \"1.6 um\", \"0 um\"], centre = " + um(x, y) +
           ", cell = \"50 nm\", averaging = \"" + averaging +
           "\"}\nrun = {precision = \"f64\", stop.steps = 200}\nboundary.pml.cells = 6\n[[material]]\nname = \"m\"\neps = 2.25\n[[structure]]\nshape = \"box\"\n"
           "material = \"m\"\nsize = [\"0.5 um\", \"0.4 um\", \"inf\"]\ncentre = " +
           um(x, y) + "\n[[source]]\nkind = \"point\"\ncomponent = \"Ez\"\nposition = " + um(x - 0.4, y + 0.1) +
           "\nwaveform = {kind = \"gaussian\", frequency = \"150 THz\", bandwidth = \"120 THz\"}\n[[monitor]]\nkind = \"flux\"\nname = \"out\"\nposition = " +
           um(x, y) + "\nsize = [\"1.2 um\", \"0.8 um\", \"0 um\"]\nfrequencies = [\"120 THz\", \"150 THz\"]\n" +
           "[[monitor]]\nkind = \"snapshot\"\nname = \"film\"\nevery = \"5 fs\"\ncomponents = [\"Ez\"]\nposition = " + um(x + 0.025, y + 0.025) +
           "\nsize = [\"1 um\", \"0.6 um\", \"0 um\"]\n";
  }
};

/// Sides of the box lie on lines, and those of the snapshot on middles of cells: rounding, which differs with the place, decides nothing.
TEST_F(FdtdPlaces, MovedByWholeCellsItIsTheSame) {
  for (const char* averaging : {"kottke", "none"}) {
    std::vector<double> first;
    for (const auto& [i, j] : {std::pair(0, 0), {3, -2}, {7, 5}, {-11, 3}, {13, 17}, {1, 1}}) {
      write("case.toml", moved(i, j, averaging));
      const std::string name = std::string(averaging) + std::to_string(i);
      const Outcome o = tessera({"run", "case.toml", "--output", name});
      ASSERT_EQ(o.code, 0) << o.err;
      const std::vector<double> flux = csv_column(read(name + "/tables/out.csv"), "flux");
      ASSERT_EQ(flux.size(), 2U);
      const std::string film = read(name + "/vtk/film_0001.vtr");
      EXPECT_TRUE(holds(film, "WholeExtent=\"0 20 0 12 0 0\"")) << film.substr(0, 300);
      if (first.empty()) first = flux;
      for (std::size_t f = 0; f < 2; ++f) EXPECT_NEAR(flux[f], first[f], 1e-9 * first[f]) << averaging << " moved by " << i << ", " << j;
    }
  }
}

}  // namespace
