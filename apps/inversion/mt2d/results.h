// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "tessera/inversion/mesh_2d.h"
#include "tessera/inversion/survey.h"

#include <cmath>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace tessera::apps::mt2d {

/// A row of metrics.csv: what a step came to. NaN: there is none.
struct StepRow {
  double step = 0, rms = 0, rms_te = 0, rms_tm = 0, rms_tipper = 0, roughness = 0, weight = 0,
         length = 0;
};
std::vector<std::string> step_columns();
std::vector<double> numbers_of(const StepRow& row);
StepRow step_row(const std::vector<double>& numbers);

/// RMS of all rows of the responses: TE, TM, tipper.
double rms_of_element(const inversion::DataTable& table, inversion::Element element);

/// A number that chains walk over, and how well they agree on it; NaN where draws are too few.
struct SampledNumber {
  std::string name;
  double mean = 0, deviation = 0, low = 0, middle = 0, high = 0;  ///< 5, 50, 95 %
  double r_hat = NAN, effective = NAN;
};
/// How a chain went, after its warm-up.
struct ChainRow {
  double step = 0, acceptance = 0, divergent = 0, cut = 0, gradients = 0;
};
/// Columns of these in results.h5.
inline constexpr std::size_t numbers_of_number = 7, numbers_of_chain = 5;

/// What chains of a learnt prior leave. Of cells NaN where they are given.
struct Draws {
  std::size_t kept = 0;                  ///< of each chain
  std::vector<double> deviation;         ///< of log10 rho, decades, [cells]
  std::vector<double> q25, q50, q75;     ///< [cells], ohm m
  std::vector<double> r_hat, effective;  ///< [cells]
  std::vector<SampledNumber> numbers;    ///< codes, static shifts, log density, RMS
  std::vector<double> values;            ///< [chains, kept, numbers]
  std::vector<ChainRow> chains;
};

/// What a run found, or computed.
struct Result {
  inversion::Survey survey;   ///< with predictions
  std::vector<double> y, z;   ///< of the stations, m
  inversion::Mesh2d cells;    ///< of the section
  std::vector<double> ohm_m;  ///< [cells]; NaN in the air
  /// Along the section and down, where those differ from `ohm_m`, which then is that along the
  /// strike; or empty.
  std::vector<double> ohm_m_y, ohm_m_z;
  std::vector<double> low, high;  ///< its 5 and 95 % quantiles, or empty
  /// What data see of a cell: root of the sum of squares of its derivatives over their errors, by
  /// area, over the greatest; or empty.
  std::vector<double> sensitivity;
  std::vector<double> shift;  ///< decades of rho_a of each station, TE then TM; or empty
  std::vector<StepRow> steps;
  std::optional<Draws> draws;  ///< ohm_m is then their mean of log10 rho
  std::optional<double> target_rms;
  std::string reason;  ///< why it ended, for the user
};

/// What files of stations are named after (inversion::file_names).
std::vector<std::string> names_of(const inversion::Survey& survey);

/// results.h5, then model.csv, model.vtu, stations.vtp, stations.csv, data.csv, for other programs
/// data.dat, data.emdata and predicted/*.edi, of draws mixing.csv and chains.csv. No times in any
/// of them. `vtk_xml` false leaves the VTK files out.
void write_results(const std::filesystem::path& run, const Result& r, bool vtk_xml);
Result read_results(const std::filesystem::path& results_h5);

/// plots/: PNG, SVG and CSV of each picture; returns the files.
std::vector<std::filesystem::path> draw(const std::filesystem::path& plots, const Result& r,
                                        bool each_station);

}  // namespace tessera::apps::mt2d
