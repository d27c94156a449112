// SPDX-License-Identifier: Apache-2.0
// The layered earths of data/mt/reference/layered1d.csv as sections.
#pragma once
#include "csv_columns.h"
#include "tessera/inversion/mesh_2d.h"
#include "test_data.h"

#include <cmath>
#include <complex>
#include <fstream>
#include <map>
#include <numbers>
#include <sstream>
#include <string>
#include <vector>

namespace tessera::inversion {

using Complex = std::complex<double>;

inline std::filesystem::path layered_table_file() {
  return testing::test_data() / "mt/reference/layered1d.csv";
}

inline std::vector<double> split_numbers(const std::string& text) {
  std::vector<double> out;
  std::istringstream in(text);
  for (std::string field; std::getline(in, field, ' ');)
    if (!field.empty()) out.push_back(std::stod(field));
  return out;
}

/// One layered earth of data/mt/reference/layered1d.csv.
struct Layered {
  std::vector<double> rho, h, frequency;
  std::vector<Complex> z;
};
inline std::map<std::string, Layered> layered_table() {
  std::map<std::string, Layered> out;
  std::ifstream in(layered_table_file());
  std::string line;
  std::getline(in, line);
  while (std::getline(in, line)) {
    const auto f = testing::csv_split(line);
    Layered& model = out[f[0]];
    model.rho = split_numbers(f[1]);
    model.h = split_numbers(f[2]);
    model.frequency.push_back(std::stod(f[3]));
    model.z.emplace_back(std::stod(f[4]), std::stod(f[5]));
  }
  return out;
}

inline std::vector<double> depths(const Layered& m) {
  std::vector<double> out{0};
  for (const double h : m.h) out.push_back(out.back() + h);
  return out;
}
inline MediumAt layers_of(const Layered& m) {
  return [tops = depths(m)](double, double z) {
    if (z < 0) return air();
    Index k = 0;
    while (k + 1 < static_cast<Index>(tops.size()) && z > tops[k + 1]) ++k;
    return Medium2d{.parameter = k};
  };
}
inline Tensor ln(std::vector<double> v) {
  for (double& x : v) x = std::log(x);
  return tensor(v);
}

struct Off {
  double rho_a = 0, phase = 0;  // relative, degrees
  void add(Complex got, Complex expected) {
    rho_a = std::max(rho_a, std::abs(std::norm(got) / std::norm(expected) - 1));
    phase = std::max(phase, std::abs(std::arg(got / expected)) * 180 / std::numbers::pi);
  }
};

}  // namespace tessera::inversion
