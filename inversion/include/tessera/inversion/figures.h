// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "tessera/data/plot.h"
#include "tessera/inversion/station_result.h"

#include <optional>
#include <span>
#include <string>
#include <vector>

/// The pictures of magnetotelluric work, from plain numbers or from results. Periods in s, apparent
/// resistivities in ohm m, phases in degrees (e^{+iωt}: 45 over a half-space), depths in m below
/// the surface, distances in m. NaN means "no value".
namespace tessera::inversion {

/// The response that the model predicts.
struct PredictedCurve {
  std::string name = "predicted";
  std::vector<double> period, rho_a, phase;
};

/// A layered earth: layer i reaches from top[i] to top[i + 1], the last one down without end.
struct LayeredModel {
  std::string name;
  std::vector<double> top;          ///< top[0] = 0, rising
  std::vector<double> resistivity;  ///< as long as top
};

/// Normalized residuals, (observed - predicted) / error.
struct ResidualCurve {
  std::string name;  ///< "real", "phase xy"
  std::vector<double> period, value;
};

struct SoundingFigure {
  std::string station;
  std::vector<ModeCurve> observed;
  /// One, of what is inverted; or of the modes, in the order of `observed` and in their colours.
  std::vector<PredictedCurve> predicted;
  std::vector<ResidualCurve> residual;

  std::optional<LayeredModel> model;
  std::vector<double> low50, high50, low90,
      high90;  ///< resistivity bands, one entry per layer of `model`; or empty
  std::vector<LayeredModel> reference;  ///< starting, reference or true models
  std::vector<double> bostick_depth, bostick_resistivity;
  std::optional<double> depth_of_investigation;
  std::optional<double>
      greatest_depth;  ///< of the drawing; from depth of investigation and model if not given
  bool log_depth = true;

  std::optional<double> rms,
      rms_bound;  ///< reached, and the least that any layered earth reaches (D+)
  std::optional<int> iterations;
  std::string note;  ///< more for the line under the title
};

/// Curves at the left, the model at the right, residuals below: a full page wide.
data::Figure sounding_figure(const SoundingFigure& s);
/// Of an inverted sounding: its tensor pale, what was inverted, model, bands, residuals.
data::Figure station_figure(const StationResult& result);

/// Responses of a whole profile. Maps are [station][period]: value[s * n_periods + p]. Stations
/// rise with distance.
struct ProfileData {
  std::string title, mode;
  std::vector<std::string> station;
  std::vector<double> distance;
  std::vector<double> period;
  std::vector<double> rho_a, phase;                      ///< observed
  std::vector<double> predicted_rho_a, predicted_phase;  ///< may be empty: then observed only
  std::vector<double> rho_a_error, phase_error;  ///< with them residuals are in standard deviations
  bool counted = false;  ///< `distance` only counts the stations: they have no coordinates
};

/// Observed, predicted and residual (rows) of apparent resistivity and phase (columns) against
/// distance and period.
data::Figure pseudo_section(const ProfileData& p);
/// Of inverted soundings in the order of their line.
data::Figure pseudo_section(std::span<const StationResult> results, bool has_coordinates);

struct SectionFigure {
  std::string title;
  std::vector<std::string> station;
  std::vector<double> distance;
  std::vector<LayeredModel> model;
  std::vector<double> depth_of_investigation;  ///< one for each station, or empty
  std::vector<double> rms;                     ///< likewise
  std::optional<double> least_resistivity, greatest_resistivity;  ///< ends of the colour axis
  bool log_depth = false;
  bool counted = false;  ///< `distance` only counts the stations: they have no coordinates
};

/// The 1-D models side by side, each over half the way to its neighbours; hatched below the depth
/// of investigation. Axes of depth and colour are those of the stations that see no deeper than ten
/// times the median; the subtitle names the others (as a rule their units are wrong).
data::Figure stitched_section(const SectionFigure& s);
/// Of inverted soundings in the order of their line.
data::Figure stitched_section(std::span<const StationResult> results, bool has_coordinates);

struct IterationRow {
  int iteration = 0;
  double rms = 0, roughness = 0, mu = 0;
};

/// RMS, roughness and regularization parameter against iteration; of the latter two those that rows
/// have, where NaN is none.
data::Figure iteration_figure(const std::string& title, const std::vector<IterationRow>& rows,
                              std::optional<double> target_rms, std::optional<double> rms_bound);

/// RMS against roughness, one point for each row, with its weight; `chosen` is the row that was
/// taken.
data::Figure l_curve(const std::string& title, const std::vector<IterationRow>& rows,
                     std::optional<std::size_t> chosen, std::optional<double> target_rms);

/// Phase tensors of one sounding (Caldwell, Bibby and Brown 2004): ellipses coloured by skew, and
/// strike and skew against period. Directions are clockwise from north.
data::Figure phase_tensor_figure(const std::string& station, const PhaseTensorCurve& p);
/// Of all soundings in the order of their line: ellipses over distance and period, with the strike
/// that they share.
data::Figure phase_tensor_section(std::span<const StationResult> results, bool has_coordinates);

}  // namespace tessera::inversion
