// SPDX-License-Identifier: Apache-2.0
// Sections of 10 km by 1 km as their drawn arrays say, sounded on finer meshes than they are
// inverted on; the model of a learnt prior for them.
#pragma once
#include "tessera/autodiff/ops.h"
#include "tessera/data/windows.h"
#include "tessera/inversion/learnt_inversion.h"
#include "tessera/inversion/low_rank_posterior.h"
#include "tessera/inversion/section_forward.h"
#include "tessera/inversion/section_mesh.h"
#include "tessera/inversion/section_prior.h"
#include "tessera/inversion/section_smoothing.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <numbers>
#include <vector>

namespace tessera::benchmarks {

using namespace tessera::inversion;
using Numbers = std::vector<double>;

inline constexpr double region_width_m = 10000, region_depth_m = 1000;
/// 5 % of the apparent resistivity.
inline constexpr double sigma_log10_rho = 0.05 / std::numbers::ln10, sigma_phase_deg = 1.4324;

/// log10 of ohm m, [rows, columns].
struct Section {
  Index rows = 0, columns = 0;
  Numbers log10_rho;
  double at(double y, double z) const {  ///< beyond the region its outermost cells go on
    const auto place = [](double x, double length, Index n) {
      return std::clamp<Index>(static_cast<Index>(std::floor(x / length * double(n))), 0, n - 1);
    };
    return log10_rho[static_cast<std::size_t>(place(z, region_depth_m, rows) * columns +
                                              place(y, region_width_m, columns))];
  }
};
inline Section section_of(const BoxSource& all, Index number) {
  const Shape& s = all.type.shape;
  return {s[1], s[2],
          cast(all.read({{number, 0, 0}, {number + 1, s[1], s[2]}}), Dtype::f64).to_vector()};
}

/// Places of stations along the region, evenly from end to end.
inline Numbers even_places(int stations) {
  Numbers y;
  for (int k = 0; k < stations; ++k) y.push_back(region_width_m * k / (stations - 1));
  return y;
}
/// Nearly evenly, each in the middle of one of so many columns: a drawn section may change at every
/// edge of its columns, and beside a vertical contact the response of TM says within metres where
/// that is, which is no question to cells of a hundred metres.
inline Numbers middle_places(int stations, Index columns) {
  Numbers y;
  for (int k = 0; k < stations; ++k)
    y.push_back(region_width_m / double(columns) *
                (std::floor((k + 0.5) * double(columns) / stations) + 0.5));
  return y;
}

/// Soundings of both modes at so many stations, at frequencies from 1000 Hz down to 1 Hz.
inline DataTable table_of(int stations, int frequencies) {
  DataTable t;
  for (int s = 0; s < stations; ++s)
    for (int f = 0; f < frequencies; ++f)
      for (const Element e : {Element::xy, Element::yx}) {
        const double hz = std::pow(10.0, 3 - 3.0 * f / (frequencies - 1));
        t.add(s, hz, {e, Part::log10_rho}, 2, sigma_log10_rho);
        t.add(s, hz, {e, Part::phase}, 45, sigma_phase_deg);
      }
  return t;
}

/// How fine a mesh is, in m: columns and the uppermost row of the model, and of the solver.
struct Fineness {
  double column, row, growth, solver_row, solver_rate;
  int solver_columns;
  double depth = 1500;
};

struct Line {
  SectionMesh mesh;
  SectionForward forward;

  Line(const Numbers& places, const DataTable& table, const Fineness& fine, bool free_padding)
      : mesh(made(places, fine, free_padding)),
        forward(mesh.solver, mesh.sensors, table, frequencies(table)) {}

  /// (y, z) of the middle of each parameter.
  std::vector<std::array<double, 2>> middles() const {
    std::vector<std::array<double, 2>> out;
    for (Index c = 0; c < mesh.columns; ++c)
      for (Index r = 0; r < mesh.rows; ++r)
        out.push_back(
            {0.5 * (mesh.y[c] + mesh.y[c + 1]), 0.5 * (mesh.depth[r] + mesh.depth[r + 1])});
    return out;
  }
  Numbers ln_rho_of(const Section& s) const {
    Numbers m;
    for (const auto& [y, z] : middles()) m.push_back(s.at(y, z) * std::numbers::ln10);
    return m;
  }
  /// The parameter at a place in the region.
  std::size_t parameter_at(double y, double z) const {
    const auto c = std::upper_bound(mesh.y.begin(), mesh.y.end(), y) - mesh.y.begin() - 1,
               r = std::upper_bound(mesh.depth.begin(), mesh.depth.end(), z) - mesh.depth.begin() -
                   1;
    return static_cast<std::size_t>(c * mesh.rows + r);
  }
  /// Root mean square of log10 rho - that of the section over the section's own cells.
  double error(const Numbers& ln_rho, const Section& s) const {
    double sum = 0;
    for (Index r = 0; r < s.rows; ++r)
      for (Index c = 0; c < s.columns; ++c) {
        const double z = region_depth_m * (double(r) + 0.5) / double(s.rows),
                     y = region_width_m * (double(c) + 0.5) / double(s.columns);
        sum += std::pow(ln_rho[parameter_at(y, z)] / std::numbers::ln10 - s.at(y, z), 2);
      }
    return std::sqrt(sum / double(s.rows * s.columns));
  }

 private:
  static Numbers frequencies(const DataTable& t) {
    Numbers f = t.frequency_hz;
    std::sort(f.rbegin(), f.rend());
    f.erase(std::unique(f.begin(), f.end()), f.end());
    return f;
  }
  static SectionMesh made(const Numbers& places, const Fineness& fine, bool free_padding) {
    const Numbers level(places.size(), 0.0);
    const SectionStations s{places, level, level};
    return section_mesh(
        s,
        {.ohm_m = 100, .shallowest_m = 60, .deepest_m = 1200, .lowest_hz = 1, .highest_hz = 1000},
        {.cell_width_m = fine.column,
         .first_cell_m = fine.row,
         .growth = fine.growth,
         .depth_m = fine.depth,
         .free_padding = free_padding,
         .first_solver_m = fine.solver_row,
         .solver_rate = fine.solver_rate,
         .columns_of_cell = fine.solver_columns});
  }
};

/// A survey's data, and what they were made with.
struct Data {
  Numbers value, sigma;
  double typical_ln_rho = 0;  ///< of the mean apparent resistivity
};
inline Data sounded(const Line& line, const DataTable& table, const Numbers& ln_rho,
                    data::RandomKey key) {
  Data d{line.forward(tensor(ln_rho)).to_vector(), table.sigma};
  double sum = 0, n = 0;
  for (std::size_t i = 0; i < d.value.size(); ++i) {
    d.value[i] += d.sigma[i] * data::normal(key, i);
    if (table.kind[i].part == Part::log10_rho) sum += d.value[i], n += 1;
  }
  d.typical_ln_rho = sum / n * std::numbers::ln10;
  return d;
}

/// A section of a prior over the region, going on beyond it; with `pixels` one in each cell, whose
/// prior is the decoder's error on held-out sections in the region and half of ln 10 outside.
struct Placed {
  LearntModel model;
  GaussianPrior prior;
};
inline Placed placed(const Line& line, const Generator& generator,
                     const PriorCalibration& calibration, double typical_ln_rho, bool pixels) {
  const SectionMesh& mesh = line.mesh;
  CellPoints points{.axes = 2};
  for (Index c = 0; c < mesh.columns; ++c)
    for (Index r = 0; r < mesh.rows; ++r)
      for (const double i : {0.25, 0.75})
        for (const double j : {0.25, 0.75}) {
          points.at.push_back(mesh.depth[r] + i * (mesh.depth[r + 1] - mesh.depth[r]));
          points.at.push_back(mesh.y[c] + j * (mesh.y[c + 1] - mesh.y[c]));
          points.cell.push_back(static_cast<std::size_t>(c * mesh.rows + r));
        }
  const auto n = static_cast<std::size_t>(mesh.parameters());
  const Region region{.bounds = {{0, region_depth_m}, {0, region_width_m}},
                      .beyond = {{true, true}, {true, true}}};
  Placed out{learnt_model({generator}, {region}, points, Numbers(n, typical_ln_rho),
                          pixels ? sparse_diagonal(Numbers(n, 1.0)) : SparseMatrix{}),
             {}};
  if (!pixels) {
    out.prior = out.model.prior({});
    return out;
  }
  const Tensor& cell_error = calibration.cell_error;
  const double down = calibration.error_length * region_depth_m / double(cell_error.dim(0)),
               along = calibration.error_length * region_width_m / double(cell_error.dim(1));
  const Section error{cell_error.dim(0), cell_error.dim(1), cell_error.to_vector()};
  Numbers deviation;
  for (const auto& [y, z] : line.middles()) {
    const bool inside = y > 0 && y < region_width_m && z < region_depth_m;
    out.model.decoder_part[deviation.size()] = inside;
    deviation.push_back(std::numbers::ln10 * (inside ? error.at(y, z) : 0.5));
  }
  out.prior = out.model.prior(
      with_standard_deviations(section_correlation(mesh.cells, along, down), deviation));
  return out;
}

}  // namespace tessera::benchmarks
