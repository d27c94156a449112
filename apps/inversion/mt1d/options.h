// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "inversion/survey/options.h"
#include "tessera/data/options.h"
#include "tessera/inversion/sounding_inversion.h"

#include <optional>
#include <string_view>
#include <vector>

namespace tessera::apps::mt1d {

enum class ResponseChoice { determinant, average, xy, yx, te, tm };

/// Everything that case.toml may say; SI units, angles in radians. The keys and their documentation
/// are in options.cpp.
struct Mt1dOptions {
  survey::DataOptions data;
  ResponseChoice response = ResponseChoice::determinant;

  int layers = 48;
  std::optional<double> first_depth, last_depth, reference_resistivity;
  std::optional<double> least_resistivity, greatest_resistivity;
  std::vector<double> fixed_top, fixed_bottom, fixed_resistivity;

  inversion::Method method = inversion::Method::occam;
  survey::MisfitOptions misfit;
  std::optional<double> target_rms;
  int order = 1;
  double roughness_weight = 1.0;
  int max_iterations = 120;
  int few_layers = 0, starts = 6;

  survey::StaticShiftOptions static_shift;
  survey::PosteriorOptions posterior;
  survey::ProfileOptions profile;
  bool pictures_of_soundings = true;
  std::uint64_t seed = 1;

  survey::ExpectOptions expect;
};

const data::Options<Mt1dOptions>& mt1d_options();

/// The options, also free of contradictions. Throws data::InputError (exit 5) with the place of the
/// key.
Mt1dOptions read_options(const data::Config& config);

/// Which response of the table of data is inverted.
inversion::Element element_of(ResponseChoice choice);

/// The library's options for the sounding of a station. Its random numbers go by the seed and this
/// name: whatever other stations a survey has.
inversion::SoundingInversionOptions inversion_options(const Mt1dOptions& o,
                                                      std::string_view station = {});

}  // namespace tessera::apps::mt1d
