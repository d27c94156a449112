// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "inversion/survey/options.h"
#include "tessera/data/options.h"
#include "tessera/inversion/gauss_newton.h"

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace tessera::apps::mt2d {

enum class Task { invert, forward, sample };
enum class ResponseChoice { te, tm, tipper, determinant, phase_tensor };
enum class Form { resistivity_phase, impedance, resistivity, phase };
enum class GroundShape { stations, flat, file };
enum class Method { occam, gauss_newton, lbfgs };
enum class Differences { l2, l1 };
enum class Start { half_space, soundings };

/// Along the section and below the ground, m.
using Place = std::array<double, 2>;

/// [[section.layer]]: from this depth below the ground on down.
struct LayerOptions {
  double top = 0, resistivity = 100;
};
/// [[section.body]] and [[model.fixed]]: a polygon filled with one resistivity.
struct BodyOptions {
  std::vector<Place> points;
  double resistivity = 100;
};
/// [[model.tear]]: a line across which the model is not smoothed.
struct TearOptions {
  std::vector<Place> points;
};

/// [prior]: a learnt prior in a region of the section, below the ground.
struct PriorOptions {
  std::optional<std::filesystem::path> file;
  std::optional<double> left, right, depth;
  double top = 0, fade = 0, outside = 0.5;
  int draws = 4;
};

/// What case.toml may say; SI units, angles in radians. The keys and their documentation are in
/// options.cpp.
struct Mt2dOptions {
  Task task = Task::invert;

  std::optional<std::filesystem::path> files;  ///< those of `data`
  survey::DataOptions data;
  std::vector<ResponseChoice> responses = {ResponseChoice::te, ResponseChoice::tm};
  Form form = Form::resistivity_phase;
  std::optional<double> tipper_floor;        ///< 0.02 if not given
  std::optional<double> phase_tensor_floor;  ///< 0.05 if not given
  bool estimate_strike = false;
  survey::ProfileOptions profile;

  GroundShape ground = GroundShape::stations;
  std::optional<std::filesystem::path> ground_file;
  bool tilted = false;
  std::optional<double> sea_resistivity;

  std::optional<double> cell_width, first_cell, depth;
  double growth = 1.12;
  std::optional<int> order;
  int solver_columns = 2, split_rows = 1;
  double mesh_error = 0.25;
  int most_nodes = 400'000;

  std::optional<double> reference_resistivity, least_resistivity, greatest_resistivity;
  double smooth_along = 1, smooth_down = 1;
  std::vector<TearOptions> tears;
  std::vector<BodyOptions> fixed;

  Method method = Method::occam;
  Start start = Start::half_space;
  survey::MisfitOptions misfit;
  std::optional<double> target_rms;
  double roughness_weight = 1;
  int max_iterations = 30;
  Differences differences = Differences::l2;
  inversion::NormalEquations equations = inversion::NormalEquations::automatic;

  survey::StaticShiftOptions static_shift;
  survey::PosteriorOptions posterior = {.burn_in = 200, .samples = 500, .keep_every = 1};
  int chains = 4;

  PriorOptions prior;

  std::optional<std::filesystem::path> section_file;
  std::vector<double> section_resistivities;
  std::vector<std::int64_t> water_regions;  ///< section.water, from 1
  std::optional<double> goal;
  double background = 100;
  std::vector<LayerOptions> layers;
  std::vector<BodyOptions> bodies;
  std::vector<double> stations;
  std::optional<double> first_station, last_station;
  int station_count = 0;
  std::optional<double> latitude, longitude;
  std::vector<double> frequencies;
  std::optional<double> lowest_frequency, highest_frequency;
  int per_decade = 4;
  double noise = 0, tipper_noise = 0;

  bool pictures = true, pictures_of_stations = true;
  std::uint64_t seed = 1;
  survey::ExpectOptions expect;
  std::optional<double> expected_r_hat;
};

const data::Options<Mt2dOptions>& mt2d_options();

/// The options, also free of contradictions. Throws data::InputError (exit 5) with the place of the
/// key.
Mt2dOptions read_options(const data::Config& config);

/// The kinds of data that the case asks for.
std::vector<inversion::DatumKind> kinds_of(const Mt2dOptions& o);

/// Whether a response has the size of an impedance, which a static shift changes.
bool has_size(ResponseChoice r);

/// The floors of soundings.
inversion::ErrorFloors floors_of(const Mt2dOptions& o);

}  // namespace tessera::apps::mt2d
