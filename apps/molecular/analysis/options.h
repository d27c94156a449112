// SPDX-License-Identifier: Apache-2.0
// What a case of molecular.analysis may say. Quantities are in SI units, as they are read.
#pragma once
#include "tessera/data/config.h"
#include "tessera/data/options.h"

#include <array>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace tessera::apps::analysis {

enum class Times { file, append };
struct FrameOptions {
  std::optional<double> from, to;
  int every = 1;
  Times times = Times::file;
  std::optional<double> spacing;
  bool accept_cut_end = false;
};
struct GroupOptions {
  std::string name;
  std::vector<std::string> atoms, residues, elements;
  std::optional<std::array<int, 2>> range;
  std::optional<std::string> select;
};
enum class Kind { rdf, msd, vacf, density, rmsd, gyration, hydrogen_bonds };
enum class BoxAxis { a, b, c };
struct TaskOptions {
  Kind kind = Kind::rdf;
  std::string name;
  std::string group = "all";
  std::string with;
  std::optional<double> r_max;
  double bin = 5e-12;
  bool same_molecule = false;
  double fit_from = 0, fit_to = 1e-11;
  std::optional<double> lag;
  bool molecules = false;
  bool remove_drift = false;
  BoxAxis axis = BoxAxis::c;
  int slices = 100;
  bool mass_weighted = true;
  double distance = 0.35e-9, angle = 0.5235987755982988;
};
struct OutputOptions {
  bool pictures = true;
};
struct ExpectOptions {
  std::string quantity;
  double value = 0, tolerance = 0;
  bool relative = false;
};
struct AnalysisOptions {
  int schema = 1;
  std::string title;
  std::filesystem::path topology;
  std::vector<std::filesystem::path> include_folders, trajectory;
  FrameOptions frames;
  std::vector<GroupOptions> groups;
  std::vector<TaskOptions> tasks;
  OutputOptions output;
  std::vector<ExpectOptions> expect;
};

const data::Options<AnalysisOptions>& analysis_options();
/// What tables/averages.csv calls the number that an analysis finds; empty where it finds none.
std::string average_of(const TaskOptions& o);
/// Also free of contradictions. Throws data::InputError (exit 5).
AnalysisOptions read_analysis_options(const data::Config& config);

}  // namespace tessera::apps::analysis
