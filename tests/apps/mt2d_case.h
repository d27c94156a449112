// SPDX-License-Identifier: Apache-2.0
// What tests of inversion.mt2d ask of runs.
#pragma once
#include "app_test.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <sstream>
#include <string>
#include <vector>

namespace tessera::testing {

/// Quadrilaterals between lines y and z as Gmsh writes them; group(i, j) is the physical group of
/// that behind lines i and j.
template <class F>
std::string quadrilaterals_as_msh(const std::vector<double>& y, const std::vector<double>& z,
                                  F&& group) {
  std::ostringstream msh;
  msh << "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n" << y.size() * z.size() << "\n";
  for (std::size_t j = 0; j < z.size(); ++j)
    for (std::size_t i = 0; i < y.size(); ++i)
      msh << 1 + j * y.size() + i << " " << y[i] << " " << z[j] << " 0\n";
  msh << "$EndNodes\n$Elements\n" << (y.size() - 1) * (z.size() - 1) << "\n";
  int number = 0;
  for (std::size_t j = 0; j + 1 < z.size(); ++j)
    for (std::size_t i = 0; i + 1 < y.size(); ++i) {
      const std::size_t a = 1 + j * y.size() + i;
      const int g = group(i, j);
      msh << ++number << " 3 2 " << g << " " << g << " " << a << " " << a + 1 << " "
          << a + 1 + y.size() << " " << a + y.size() << "\n";
    }
  msh << "$EndElements\n";
  return msh.str();
}

class Mt2d : public AppTest {
 protected:
  /// Soundings of a block in a half-space, with noise: RUN is written, and case.toml inverts its
  /// table.
  void make_soundings(std::string more = "") {
    if (!holds(more, "noise")) more = "noise.impedance = 0.03\n" + more;
    write("forward.toml",
          "app = \"inversion.mt2d\"\ntask = \"forward\"\n"
          "data.error_floor = 0\n"
          "section.resistivity = \"100 ohm*m\"\n"
          "stations = {first = \"-3 km\", last = \"3 km\", count = 4}\n"
          "frequencies.at = [\"10 Hz\", \"1 Hz\"]\nmesh.goal = \"100 %\"\n"
          "output.pictures = false\n" +
              more +
              "[[section.body]]\npoints = [[\"-1 km\", \"300 m\"], [\"1 km\", \"300 m\"], [\"1 "
              "km\", \"1 km\"], [\"-1 km\", \"1 km\"]]\nresistivity = \"5 ohm*m\"\n");
    const Outcome o = tessera({"run", "forward.toml", "--output", "F", "--force"});
    ASSERT_EQ(o.code, 0) << o.err;
  }
  void make_case(const std::string& more = "") {
    make_soundings();
    write("case.toml", "app = \"inversion.mt2d\"\n[data]\nfiles = \"F/data.csv\"\n" + more);
  }
  /// What a case that is refused says.
  std::string refusal(const std::string& text, int code) {
    write("bad.toml", text);
    const Outcome o = tessera({"run", "bad.toml", "--output", "BAD", "--force"});
    EXPECT_EQ(o.code, code) << text << o.err;
    return o.err;
  }
};

}  // namespace tessera::testing
