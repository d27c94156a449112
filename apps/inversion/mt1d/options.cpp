// SPDX-License-Identifier: Apache-2.0
#include "inversion/mt1d/options.h"

#include "tessera/autodiff/error.h"
#include "tessera/inversion/survey_files.h"

#include <fmt/format.h>

#include <numbers>
#include <string_view>

namespace tessera::apps::mt1d {

const data::Options<Mt1dOptions>& mt1d_options() {
  static const auto table = [] {
    using O = Mt1dOptions;
    data::Options<O> o("inversion.mt1d",
                       "1-D inversion of magnetotelluric soundings: a layered earth with its "
                       "uncertainty under each");
    survey::add_files(
        o, [](O & x) -> auto& { return x.data.files; });
    o.add("data.response", &O::response,
          {.doc = "What a layered earth is fitted to; te and tm are xy and yx after turning x to "
                  "the strike.",
           .choices = {"determinant", "average", "xy", "yx", "te", "tm"}});
    survey::add_data_options(o, &O::data);
    o.add("model.layers", &O::layers,
          {.doc = "Number of layers of the smooth models, the half-space included.",
           .min = 3,
           .max = 500});
    o.add("model.first_depth", &O::first_depth,
          {.doc = "Bottom of the first layer; chosen from the data if not given.",
           .unit = "m",
           .above = 0});
    o.add("model.last_depth", &O::last_depth,
          {.doc = "Top of the half-space below; chosen from the data if not given.",
           .unit = "m",
           .above = 0});
    o.add("model.reference_resistivity", &O::reference_resistivity,
          {.doc = "Resistivity of the reference model, also the start; the median apparent "
                  "resistivity if not given, a tenth of the range away from bounds.",
           .unit = "ohm*m",
           .above = 0});
    o.add("model.least_resistivity", &O::least_resistivity,
          {.doc = "Lower bound of every layer; needs the upper one.", .unit = "ohm*m", .above = 0});
    o.add("model.greatest_resistivity", &O::greatest_resistivity,
          {.doc = "Upper bound of every layer; needs the lower one.", .unit = "ohm*m", .above = 0});
    o.add("model.fixed_top", &O::fixed_top,
          {.doc = "Tops of depth ranges whose resistivity is known.", .unit = "m", .min = 0});
    o.add("model.fixed_bottom", &O::fixed_bottom,
          {.doc = "Their bottoms.", .unit = "m", .above = 0});
    o.add("model.fixed_resistivity", &O::fixed_resistivity,
          {.doc = "Their resistivities.", .unit = "ohm*m", .above = 0});
    o.add("inversion.method", &O::method,
          {.doc = "occam: the smoothest model that fits; gauss_newton: the minimum at a given "
                  "roughness weight; few_layer: a few layers with free thicknesses.",
           .choices = {"occam", "gauss_newton", "few_layer"}});
    survey::add_misfit_options(o, &O::misfit);
    o.add(
        "inversion.target_rms", &O::target_rms,
        {.doc =
             "Wanted RMS; max(1, 1.15 times the D+ bound) if not given. Of gauss_newton, which has "
             "no target, the errors of bands grow by it.",
         .above = 0});
    o.add("inversion.order", &O::order,
          {.doc = "Order of the derivative in log depth that is kept small.", .min = 1, .max = 2});
    o.add("inversion.roughness_weight", &O::roughness_weight,
          {.doc = "Weight of the roughness of ln resistivity for gauss_newton, bounds or not.",
           .above = 0});
    o.add(
        "inversion.max_iterations", &O::max_iterations,
        {.doc = "Most Gauss-Newton steps for one sounding; of few_layer, for each of its searches.",
         .min = 1,
         .max = 10000});
    o.add("inversion.few_layers", &O::few_layers,
          {.doc = "Number of layers for few_layer; 0 takes the fewest that reach the target.",
           .min = 0,
           .max = 30});
    o.add("inversion.starts", &O::starts,
          {.doc = "Start models for few_layer.", .min = 1, .max = 1000});
    survey::add_static_shift_options(o, &O::static_shift);
    survey::add_posterior_options(o, &O::posterior);
    survey::add_profile_options(o, &O::profile);
    o.add("output.pictures_of_soundings", &O::pictures_of_soundings,
          {.doc = "Draw each sounding's fit and model (the sections are always drawn)."});
    o.add("seed", &O::seed, {.doc = "Seed of all random numbers."});
    survey::add_expect_options(o, &O::expect);
    return o;
  }();
  return table;
}

Mt1dOptions read_options(const data::Config& config) {
  Mt1dOptions o = mt1d_options().read(config);
  std::vector<data::Diagnostic> wrong;
  const auto say = [&](int number, std::string_view key, std::string message, std::string hint) {
    wrong.push_back(config.error(number, key, std::move(message), std::move(hint)));
  };
  if ((o.response == ResponseChoice::te || o.response == ResponseChoice::tm) && !o.data.strike)
    inversion::is_survey_table(o.data.files)
        ? say(601, "data.response", "a table of data has no te and tm but its xy and yx",
              o.response == ResponseChoice::te ? "data.response = \"xy\""
                                               : "data.response = \"yx\"")
        : say(601, "data.response", "te and tm need the strike direction",
              "give data.strike, e.g. \"30 deg\", or take \"determinant\"");
  survey::find_contradictions(config, o.data, o.static_shift, o.posterior, wrong);
  if (o.fixed_top.size() != o.fixed_bottom.size() ||
      o.fixed_top.size() != o.fixed_resistivity.size())
    say(603, "model.fixed_top", "fixed_top, fixed_bottom and fixed_resistivity differ in length",
        "one entry of each for every range");
  else
    for (std::size_t i = 0; i < o.fixed_top.size(); ++i)
      if (!(o.fixed_top[i] < o.fixed_bottom[i])) {
        say(603, "model.fixed_top",
            "range " + std::to_string(i + 1) + ": fixed_top is not above fixed_bottom",
            "depths grow downwards");
      } else {
        for (std::size_t j = 0; j < i; ++j)
          if (o.fixed_top[i] < o.fixed_bottom[j] && o.fixed_top[j] < o.fixed_bottom[i] &&
              o.fixed_resistivity[i] != o.fixed_resistivity[j])
            say(603, "model.fixed_top",
                "ranges " + std::to_string(j + 1) + " and " + std::to_string(i + 1) +
                    " overlap between fixed_top and fixed_bottom, and say different resistivities",
                "one resistivity for each depth");
      }
  if (survey::are_bounds(config, o.least_resistivity, o.greatest_resistivity, wrong)) {
    const auto between = [&](double rho, const std::string& key, const std::string& what) {
      if (rho < *o.least_resistivity || rho > *o.greatest_resistivity)
        say(604, key,
            fmt::format("{}, {:g} ohm*m, lies outside of least_resistivity and "
                        "greatest_resistivity, {:g} and {:g} ohm*m",
                        what, rho, *o.least_resistivity, *o.greatest_resistivity),
            "the bounds hold for every layer: widen them");
    };
    if (const auto& start = o.reference_resistivity) {
      between(*start, "model.reference_resistivity", "reference_resistivity");
      if (*start == *o.least_resistivity || *start == *o.greatest_resistivity)
        say(604, "model.reference_resistivity",
            fmt::format("the inversion would start at a bound, {:g} ohm*m, where the data have no "
                        "hold on the model",
                        *start),
            "a reference_resistivity between the bounds");
    }
    for (std::size_t i = 0; i < o.fixed_resistivity.size(); ++i) {
      const double rho = o.fixed_resistivity[i];
      const std::string what = fmt::format("fixed_resistivity of range {}", i + 1);
      between(rho, "model.fixed_resistivity", what);
      if (rho == *o.least_resistivity || rho == *o.greatest_resistivity)
        say(604, "model.fixed_resistivity",
            fmt::format("{}, {:g} ohm*m, is that of a bound, to which smoothness would draw the "
                        "layers about it",
                        what, rho),
            "wider bounds");
    }
  }
  if (o.first_depth && o.last_depth && *o.first_depth >= *o.last_depth)
    say(605, "model.first_depth", "first_depth is not above last_depth",
        "leave one out to have it chosen from the data");
  if (o.method == inversion::Method::few_layer) {
    if (o.few_layers > o.layers)
      say(606, "inversion.few_layers",
          "inversion.few_layers = " + std::to_string(o.few_layers) +
              " layers cannot be cut out of a smooth model of model.layers = " +
              std::to_string(o.layers),
          "more layers there, or fewer here");
    const auto not_with = [&](bool given, std::string_view key, const char* hint) {
      if (given)
        say(606, key, std::string(key) + " does not go with inversion.method = \"few_layer\"",
            hint);
    };
    not_with(o.least_resistivity.has_value(), "model.least_resistivity",
             "take occam, or leave the bounds out");
    not_with(!o.fixed_top.empty(), "model.fixed_top", "take occam, or leave the fixed ranges out");
    not_with(o.static_shift.enabled && o.static_shift.prior_std, "static_shift.prior_std",
             "take occam, or a static shift by a reference");
    not_with(o.posterior.method == inversion::PosteriorMethod::mcmc, "posterior.method",
             "set posterior.method = \"laplace\"");
  }
  if (!wrong.empty()) throw data::InputError(data::ExitCode::config_invalid, std::move(wrong));
  return o;
}

inversion::Element element_of(ResponseChoice choice) {
  switch (choice) {
    case ResponseChoice::determinant:
      return inversion::Element::determinant;
    case ResponseChoice::average:
      return inversion::Element::average;
    case ResponseChoice::xy:
    case ResponseChoice::te:
      return inversion::Element::xy;
    case ResponseChoice::yx:
    case ResponseChoice::tm:
      return inversion::Element::yx;
  }
  throw Error("[element_of] unknown response");
}

inversion::SoundingInversionOptions inversion_options(const Mt1dOptions& o,
                                                      std::string_view station) {
  inversion::SoundingInversionOptions s;
  s.method = o.method;
  s.loss = survey::loss_of(o.misfit);
  s.target_rms = o.target_rms;
  s.layers = o.layers;
  s.first_depth_m = o.first_depth;
  s.last_depth_m = o.last_depth;
  s.reference_ohm_m = o.reference_resistivity;
  s.prior_std_ln_rho = o.posterior.prior_std * std::numbers::ln10;
  s.order = o.order;
  s.mu = o.roughness_weight;
  s.max_iterations = o.max_iterations;
  for (std::size_t i = 0; i < o.fixed_top.size(); ++i)
    s.fixed.push_back({o.fixed_top[i], o.fixed_bottom[i], o.fixed_resistivity[i]});
  s.least_ohm_m = o.least_resistivity;
  s.greatest_ohm_m = o.greatest_resistivity;
  s.static_shift = survey::static_shift_of(o.static_shift);
  s.few_layers = o.few_layers;
  s.starts = o.starts;
  s.posterior = o.posterior.method;
  s.burn_in = static_cast<std::uint64_t>(o.posterior.burn_in);
  s.samples = static_cast<std::uint64_t>(o.posterior.samples);
  s.keep_every = static_cast<std::uint64_t>(o.posterior.keep_every);
  s.key = {o.seed, 14695981039346656037u};  // FNV-1a
  for (const char c : station)
    s.key.stream = (s.key.stream ^ static_cast<unsigned char>(c)) * 1099511628211u;
  return s;
}

}  // namespace tessera::apps::mt1d
