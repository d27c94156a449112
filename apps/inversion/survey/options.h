// SPDX-License-Identifier: Apache-2.0
// The keys that all inversions of magnetotelluric data share: where data are, what is taken of
// them, how sure they are, and what a case expects.
#pragma once
#include "tessera/data/options.h"
#include "tessera/inversion/sounding_inversion.h"
#include "tessera/inversion/survey.h"

#include <concepts>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <type_traits>
#include <vector>

namespace tessera::apps::survey {

enum class SignChoice { file, plus, minus };
enum class UnitsChoice { file, ohm, field };

/// [data]; SI units, angles in radians.
struct DataOptions {
  std::filesystem::path files;
  std::optional<double> error_floor;  ///< 0.05 if not given
  std::optional<double> strike, rotation;
  std::optional<double> shortest_period, longest_period;
  std::vector<double> mask_periods;
  SignChoice sign = SignChoice::file;
  UnitsChoice units = UnitsChoice::file;
};
/// Of [inversion]: what residuals cost.
enum class Misfit { l2, huber };
struct MisfitOptions {
  Misfit kind = Misfit::l2;
  double huber_corner = 1.345;
};
/// [static_shift]
struct StaticShiftOptions {
  bool enabled = false;
  std::optional<double> prior_std, reference_resistivity, reference_period;
};
/// [posterior]
struct PosteriorOptions {
  inversion::PosteriorMethod method = inversion::PosteriorMethod::laplace;
  double prior_std = 1.0;
  int burn_in = 1000, samples = 10000, keep_every = 10;
};
/// [profile]
struct ProfileOptions {
  std::optional<double> azimuth;
};
/// [expect]: a run that does not meet it ends with exit 6.
struct ExpectOptions {
  std::optional<double> rms_max;
  std::optional<int> soundings;
};

/// Into a path, which is required, or an optional one.
template <class O, class Access>
void add_files(data::Options<O>& o, Access access) {
  o.add("data.files", access,
        {.doc = "A folder of soundings (EDI, EMTF XML, Jones J, EMTF Z), or one file: also a ModEM "
                "list, MARE2DEM data (.emdata) or a table of data (.csv, .h5).",
         .required = std::same_as<std::remove_cvref_t<std::invoke_result_t<Access, O&>>,
                                  std::filesystem::path>});
}

template <class O>
void add_data_options(data::Options<O>& o, DataOptions O::*in) {
  o.add(
      "data.error_floor", [in](O & x) -> auto& { return (x.*in).error_floor; },
      {.doc = "Least standard deviation of real and imaginary part, as a fraction of the "
              "modulus of the impedance. Tables of data (.csv, .h5) have their floors already: "
              "they are held to this one where it is given; 5 % for all other files if it is not.",
       .unit = "%",
       .min = 0,
       .max = 1000});
  o.add("data.strike", [in](O & x) -> auto& { return (x.*in).strike; },
        {.doc = "Geoelectric strike, clockwise from north: x is turned to it.",
         .unit = "deg",
         .min = -360,
         .max = 360});
  o.add("data.rotation", [in](O & x) -> auto& { return (x.*in).rotation; },
        {.doc = "What the azimuths that the files state are off by, clockwise: the declination, "
                "where channels were laid out by a compass.",
         .unit = "deg",
         .min = -360,
         .max = 360});
  o.add("data.shortest_period", [in](O & x) -> auto& { return (x.*in).shortest_period; },
        {.doc = "Shorter periods are left out.", .unit = "s", .above = 0});
  o.add("data.longest_period", [in](O & x) -> auto& { return (x.*in).longest_period; },
        {.doc = "Longer periods are left out.", .unit = "s", .above = 0});
  o.add("data.mask_periods", [in](O & x) -> auto& { return (x.*in).mask_periods; },
        {.doc = "Single periods that are left out (1 % tolerance).", .unit = "s", .above = 0});
  o.add("data.sign", [in](O & x) -> auto& { return (x.*in).sign; },
        {.doc = "Time sign of the files: as they say (file), exp(+i omega t) (plus) or exp(-i "
                "omega t) (minus).",
         .choices = {"file", "plus", "minus"}});
  o.add("data.units", [in](O & x) -> auto& { return (x.*in).units; },
        {.doc = "Impedance units of the files: as they say (file), ohm, or mV/km/nT (field).",
         .choices = {"file", "ohm", "field"}});
}

template <class O>
void add_misfit_options(data::Options<O>& o, MisfitOptions O::*in) {
  o.add("inversion.misfit", [in](O & x) -> auto& { return (x.*in).kind; },
        {.doc = "Squares (l2), or Huber's loss, on which outliers pull less.",
         .choices = {"l2", "huber"}});
  o.add("inversion.huber_corner", [in](O & x) -> auto& { return (x.*in).huber_corner; },
        {.doc = "Normalised residual from which Huber's loss is linear.", .above = 0});
}

/// Of single soundings, where a shift may be told by a reference, too; or of sections.
template <class O>
void add_static_shift_options(data::Options<O>& o, StaticShiftOptions O::*in,
                              bool reference = true) {
  o.add(
      "static_shift.enabled", [in](O & x) -> auto& { return (x.*in).enabled; },
      {.doc = reference ? "Let one real factor on the impedance be unknown; needs a prior or a "
                          "reference."
                        : "Let a real factor on the impedance of each station and mode be unknown; "
                          "needs a prior."});
  o.add("static_shift.prior_std", [in](O & x) -> auto& { return (x.*in).prior_std; },
        {.doc = "Prior standard deviation of log10 of the apparent-resistivity shift, in decades.",
         .above = 0,
         .max = 5});
  if (!reference) return;
  o.add("static_shift.reference_resistivity",
        [in](O & x) -> auto& { return (x.*in).reference_resistivity; },
        {.doc = "True apparent resistivity at the reference period.", .unit = "ohm*m", .above = 0});
  o.add(
      "static_shift.reference_period", [in](O & x) -> auto& { return (x.*in).reference_period; },
      {.doc = "Period at which it is known; the shortest if not given.", .unit = "s", .above = 0});
}

template <class O>
void add_posterior_method(data::Options<O>& o, PosteriorOptions O::*in) {
  o.add("posterior.method", [in](O & x) -> auto& { return (x.*in).method; },
        {.doc = "Uncertainty bands by Laplace's approximation or by Markov chains, or none.",
         .choices = {"laplace", "mcmc", "none"}});
}

/// Of chains.
template <class O>
void add_chain_options(data::Options<O>& o, PosteriorOptions O::*in) {
  o.add("posterior.burn_in", [in](O & x) -> auto& { return (x.*in).burn_in; },
        {.doc = "Steps of a chain before samples are kept.", .min = 0});
  o.add("posterior.samples", [in](O & x) -> auto& { return (x.*in).samples; },
        {.doc = "Steps of a chain after that.", .min = 10});
  o.add("posterior.keep_every", [in](O & x) -> auto& { return (x.*in).keep_every; },
        {.doc = "Keep the sample of every n-th step.", .min = 1});
}

template <class O>
void add_posterior_options(data::Options<O>& o, PosteriorOptions O::*in) {
  add_posterior_method(o, in);
  o.add("posterior.prior_std", [in](O & x) -> auto& { return (x.*in).prior_std; },
        {.doc = "Prior standard deviation of log10 resistivity about the reference, in decades; it "
                "ties the smooth model, too, with bands or without.",
         .above = 0,
         .max = 10});
  add_chain_options(o, in);
}

template <class O>
void add_profile_options(data::Options<O>& o, ProfileOptions O::*in) {
  o.add("profile.azimuth", [in](O & x) -> auto& { return (x.*in).azimuth; },
        {.doc = "Direction of the profile, clockwise from north; fitted to the stations if not "
                "given.",
         .unit = "deg",
         .min = -360,
         .max = 360});
}

template <class O>
void add_expect_options(data::Options<O>& o, ExpectOptions O::*in) {
  o.add("expect.rms_max", [in](O & x) -> auto& { return (x.*in).rms_max; },
        {.doc = "The run fails (exit 6) if a sounding's RMS is larger.", .above = 0});
  o.add("expect.soundings", [in](O & x) -> auto& { return (x.*in).soundings; },
        {.doc = "The run fails (exit 6) unless it has exactly this many soundings.", .min = 1});
}

/// data.error_floor, or what it is if not given.
inline double floor_of(const DataOptions& o) { return o.error_floor.value_or(0.05); }
/// Whether a key of a table stands in the case.
bool is_given(const data::Config& config, std::string_view table, std::string_view key);

/// Whether a case says another thing of a key ("inversion.starts") than its default, or of any key
/// of a table ("posterior"). That one stands in it does not tell: resolved.toml of a run is a case
/// that has them all.
using IsChosen = std::function<bool(std::string_view key)>;
bool is_chosen(const std::vector<data::OptionSpec>& specs, const void* values,
               std::string_view key);
template <class O>
IsChosen chosen_in(const data::Config& config, const data::Options<O>& options) {
  return [&options, values = std::make_shared<const O>(options.read(config))](
             std::string_view key) { return is_chosen(options.specs(), values.get(), key); };
}

/// Contradictions among them: E0602, E0605, E0608.
void find_contradictions(const data::Config& config, const DataOptions& data,
                         const StaticShiftOptions& shift, const PosteriorOptions& posterior,
                         std::vector<data::Diagnostic>& wrong);

/// Whether there are both model.least_resistivity and model.greatest_resistivity, in order; E0604
/// where there is one of them alone, or they are not.
bool are_bounds(const data::Config& config, const std::optional<double>& least,
                const std::optional<double>& greatest, std::vector<data::Diagnostic>& wrong);

/// A warning, E0604, of a resistivity that is known and lies within a tenth of the range of ln rho
/// of a bound. Smoothness is one of x = ln((ln rho - a) / (b - ln rho)), which has no end at the
/// bounds a and b: neighbours of what is fixed there are drawn far towards it.
void doubt_known(const data::Config& config, const std::string& key, const std::string& what,
                 double ohm_m, double least, double greatest, std::vector<data::Diagnostic>& out);

/// The options that stations are read with.
inversion::StationOptions station_options(const DataOptions& o,
                                          std::vector<inversion::DatumKind> kinds);
inversion::Loss loss_of(const MisfitOptions& o);
/// Nothing unless a static shift is enabled.
std::optional<inversion::StaticShift> static_shift_of(const StaticShiftOptions& o);

}  // namespace tessera::apps::survey
