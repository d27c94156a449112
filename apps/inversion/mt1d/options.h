// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "tessera/data/options.h"
#include "tessera/inversion/mt_transform.h"
#include "tessera/inversion/sounding_inversion.h"

#include <filesystem>
#include <optional>
#include <vector>

namespace tessera::apps::mt1d {

enum class ResponseChoice { determinant, average, xy, yx, te, tm };
enum class SignChoice { file, plus, minus };
enum class UnitsChoice { file, ohm, field };
enum class Misfit { l2, huber };

/// Everything that case.toml may say; SI units, angles in radians. The keys and their documentation
/// are in options.cpp.
struct Mt1dOptions {
  std::filesystem::path files;
  ResponseChoice response = ResponseChoice::determinant;
  double error_floor = 0.05;
  std::optional<double> strike, rotation;
  std::optional<double> shortest_period, longest_period;
  std::vector<double> mask_periods;
  SignChoice sign = SignChoice::file;
  UnitsChoice units = UnitsChoice::file;

  int layers = 48;
  std::optional<double> first_depth, last_depth, reference_resistivity;
  std::optional<double> least_resistivity, greatest_resistivity;
  std::vector<double> fixed_top, fixed_bottom, fixed_resistivity;

  inversion::Method method = inversion::Method::occam;
  Misfit misfit = Misfit::l2;
  double huber_corner = 1.345;
  std::optional<double> target_rms;
  int order = 1;
  double roughness_weight = 1.0;
  int max_iterations = 120;
  int few_layers = 0, starts = 6;

  bool static_shift = false;
  std::optional<double> static_shift_std, static_shift_resistivity, static_shift_period;

  inversion::PosteriorMethod posterior = inversion::PosteriorMethod::laplace;
  double prior_decades = 1.0;
  int burn_in = 1000, samples = 10000, keep_every = 10;

  std::optional<double> profile_azimuth;
  bool pictures_of_soundings = true;
  std::uint64_t seed = 1;

  // What the case expects of its result; a run that does not meet it ends with exit 6.
  std::optional<double> expect_rms_max;
  std::optional<int> expect_soundings;
};

const data::Options<Mt1dOptions>& mt1d_options();

/// The options, also free of contradictions. Throws data::InputError (exit 5) with the place of the
/// key.
Mt1dOptions read_options(const data::Config& config);

/// The library's options for sounding number `index`.
inversion::SoundingInversionOptions inversion_options(const Mt1dOptions& o, std::uint64_t index);

}  // namespace tessera::apps::mt1d
