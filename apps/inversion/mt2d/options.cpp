// SPDX-License-Identifier: Apache-2.0
#include "inversion/mt2d/options.h"

#include "inversion/mt2d/section_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>

namespace tessera::apps::mt2d {
namespace {

constexpr double no_more = 1e7;  // of lengths, m: a quarter of the way around the earth

void add_model(data::Options<Mt2dOptions>& o) {
  using O = Mt2dOptions;
  o.add("model.reference_resistivity", &O::reference_resistivity,
        {.doc = "Of the start and of what no datum holds; the median apparent resistivity if not "
                "given.",
         .unit = "ohm*m",
         .above = 0});
  o.add("model.least_resistivity", &O::least_resistivity,
        {.doc = "Lower bound of every cell; needs the upper one.", .unit = "ohm*m", .above = 0});
  o.add("model.greatest_resistivity", &O::greatest_resistivity,
        {.doc = "Upper bound of every cell; needs the lower one.", .unit = "ohm*m", .above = 0});
  o.add("model.smooth_along", &O::smooth_along,
        {.doc = "Weight of differences along the section.", .min = 0});
  o.add("model.smooth_down", &O::smooth_down, {.doc = "Weight of differences down.", .min = 0});
  data::Options<TearOptions> tear("tear", "A fault: nothing ties the model across it.");
  tear.add("points", &TearOptions::points,
           {.doc = "Distance and depth below the ground of each point, in m.",
            .unit = "m",
            .required = true,
            .min_items = 2});
  o.add_tables("model.tear", &O::tears, tear,
               {.doc = "Lines across which the model is not smoothed."});
  data::Options<BodyOptions> fixed("fixed", "A part of the section that is known.");
  fixed.add("points", &BodyOptions::points,
            {.doc = "Corners of a polygon, distance and depth below the ground: cells with their "
                    "middle in it are fixed.",
             .unit = "m",
             .required = true,
             .min_items = 3});
  fixed.add("resistivity", &BodyOptions::resistivity,
            {.doc = "Its resistivity.", .unit = "ohm*m", .above = 0, .required = true});
  o.add_tables("model.fixed", &O::fixed, fixed,
               {.doc = "Parts of the section whose resistivity is known."});
}

void add_inversion(data::Options<Mt2dOptions>& o) {
  using O = Mt2dOptions;
  o.add("inversion.method", &O::method,
        {.doc = "occam: the smoothest model that fits; gauss_newton: the minimum at a given "
                "roughness weight; lbfgs: the same by gradients alone.",
         .choices = {"occam", "gauss_newton", "lbfgs"}});
  o.add("inversion.start", &O::start,
        {.doc = "The model that it starts from: a half-space of the reference, or the 1-D sections "
                "of the stations.",
         .choices = {"half_space", "soundings"}});
  survey::add_misfit_options(o, &O::misfit);
  o.add("inversion.target_rms", &O::target_rms,
        {.doc = "Wanted RMS; 1 if not given. With inversion.misfit = \"huber\" that of Huber's "
                "loss, not the plain one.",
         .above = 0});
  o.add("inversion.roughness_weight", &O::roughness_weight,
        {.doc = "Weight of the roughness for gauss_newton and lbfgs.", .above = 0});
  o.add("inversion.max_iterations", &O::max_iterations,
        {.doc = "Most steps.", .min = 1, .max = 10000});
  o.add("inversion.differences", &O::differences,
        {.doc = "How differences of neighbours count: squared (l2), or by their size (l1), which "
                "leaves edges sharp.",
         .choices = {"l2", "l1"}});
  o.add("inversion.equations", &O::equations,
        {.doc = "How the linear system of a step is solved; all give the same step.",
         .choices = {"automatic", "model_space", "data_space", "conjugate_gradients"}});
}

void add_prior(data::Options<Mt2dOptions>& o) {
  using O = Mt2dOptions;
  o.add("prior.file", [](O & x) -> auto& { return x.prior.file; },
        {.doc = "prior.safetensors of a run of inversion.prior: after the smooth section one of "
                "this prior is found too."});
  o.add("prior.left", [](O & x) -> auto& { return x.prior.left; },
        {.doc = "Where the prior's region begins along the section; none: at the first station.",
         .unit = "m"});
  o.add("prior.right", [](O & x) -> auto& { return x.prior.right; },
        {.doc = "Where it ends; none: at the last station.", .unit = "m"});
  o.add("prior.top", [](O & x) -> auto& { return x.prior.top; },
        {.doc = "Its top, below the ground.", .unit = "m", .min = 0});
  o.add("prior.depth", [](O & x) -> auto& { return x.prior.depth; },
        {.doc = "Its bottom, below the ground. Needed with prior.file.", .unit = "m", .above = 0});
  o.add("prior.fade", [](O & x) -> auto& { return x.prior.fade; },
        {.doc = "Over this part of the region's extent, from its sides and its bottom on, the "
                "prior comes in; 0: its outermost cells go on beyond the region.",
         .min = 0,
         .max = 0.5});
  o.add("prior.outside", [](O & x) -> auto& { return x.prior.outside; },
        {.doc = "Standard deviation, in decades, of what the region's outermost cells, or the "
                "background, do not say of cells outside.",
         .above = 0});
  o.add("prior.draws", [](O & x) -> auto& { return x.prior.draws; },
        {.doc = "Starts whose codes are drawn, beside zero and those of the smooth section.",
         .min = 0,
         .max = 1000});
}

void add_section(data::Options<Mt2dOptions>& o) {
  using O = Mt2dOptions;
  o.add("section.file", &O::section_file,
        {.doc =
             "The section: model.csv of a run, a model of MARE2DEM (.resistivity), or its .poly or "
             "Gmsh's .msh with section.resistivities."});
  o.add(
      "section.resistivities", &O::section_resistivities,
      {.doc = "Of the regions of a .poly, or physical groups of a .msh, from 1 on; that of air is "
              "\"inf\".",
       .unit = "ohm*m",
       .infinite = true,
       .above = 0});
  o.add("section.water", &O::water_regions,
        {.doc = "Regions of a .poly or .resistivity, or physical groups of a .msh, that are water, "
                "from 1 on: all between the air and the floor that stations stand on.",
         .min = 1,
         .since = "0.3"});
  o.add("section.resistivity", &O::background,
        {.doc = "Of what is in no layer and no body.", .unit = "ohm*m", .above = 0});
  data::Options<LayerOptions> layer("layer", "A layer of the section.");
  layer.add("top", &LayerOptions::top,
            {.doc = "Depth of its top below the ground.",
             .unit = "m",
             .min = 0,
             .max = no_more,
             .required = true});
  layer.add("resistivity", &LayerOptions::resistivity,
            {.doc = "Its resistivity.", .unit = "ohm*m", .above = 0, .required = true});
  o.add_tables("section.layer", &O::layers, layer, {.doc = "Layers, from the top down."});
  data::Options<BodyOptions> body("body", "A body in the section.");
  body.add("points", &BodyOptions::points,
           {.doc = "Corners of a polygon, distance and depth below the ground.",
            .unit = "m",
            .required = true,
            .min_items = 3});
  body.add("resistivity", &BodyOptions::resistivity,
           {.doc = "Its resistivity.", .unit = "ohm*m", .above = 0, .required = true});
  o.add_tables("section.body", &O::bodies, body,
               {.doc = "Bodies; the later ones lie over the earlier ones."});
  o.add("stations.at", &O::stations,
        {.doc = "Where stations stand along the section.", .unit = "m"});
  o.add("stations.first", &O::first_station,
        {.doc = "Instead of stations.at: the first of evenly spaced ones.", .unit = "m"});
  o.add("stations.last", &O::last_station, {.doc = "The last.", .unit = "m"});
  o.add("stations.count", &O::station_count, {.doc = "How many.", .min = 0, .max = 10000});
  o.add("stations.latitude", &O::latitude,
        {.doc = "Of distance 0; with longitude and data.strike the stations have positions on the "
                "globe, and their soundings are written as EDI, turned to north.",
         .unit = "deg",
         .min = -89,
         .max = 89});
  o.add("stations.longitude", &O::longitude,
        {.doc = "Of distance 0.", .unit = "deg", .min = -180, .max = 360});
  o.add("frequencies.at", &O::frequencies,
        {.doc = "At which frequencies.", .unit = "Hz", .above = 0});
  o.add("frequencies.lowest", &O::lowest_frequency,
        {.doc = "Instead of frequencies.at: the lowest of even steps in its logarithm.",
         .unit = "Hz",
         .above = 0});
  o.add("frequencies.highest", &O::highest_frequency,
        {.doc = "The highest.", .unit = "Hz", .above = 0});
  o.add("frequencies.per_decade", &O::per_decade,
        {.doc = "How many to a decade.", .min = 1, .max = 100});
  o.add("noise.impedance", &O::noise,
        {.doc = "Standard deviation of the noise that is added to real and imaginary part of "
                "impedances, as a part of the modulus; 0: data are what was computed.",
         .unit = "%",
         .min = 0,
         .max = 100});
  o.add("noise.tipper", &O::tipper_noise,
        {.doc = "That of real and imaginary part of tippers.", .min = 0, .max = 10});
}

void add_ground(data::Options<Mt2dOptions>& o) {
  using O = Mt2dOptions;
  o.add("ground.shape", &O::ground,
        {.doc = "The ground goes through the heights of the stations, is level, or is that of "
                "ground.file.",
         .choices = {"stations", "flat", "file"}});
  o.add("ground.file", &O::ground_file,
        {.doc = "CSV with the columns distance_m (along the section, as stations are) and "
                "elevation_m."});
  o.add("ground.tilted", &O::tilted,
        {.doc = "Electrodes lie along the ground; else they are level, or as the files say."});
  o.add(
      "ground.sea_resistivity", &O::sea_resistivity,
      {.doc =
           "Stations stand on a sea floor, below water of this resistivity whose surface is "
           "at elevation 0. Of an outline: its regions of this resistivity that are joined to the "
           "air; section.water names regions of several.",
       .unit = "ohm*m",
       .above = 0});
}

void add_mesh(data::Options<Mt2dOptions>& o) {
  using O = Mt2dOptions;
  o.add("mesh.cell_width", &O::cell_width,
        {.doc = "Width of the cells below the stations, in inversions at most the distance of "
                "neighbours; half of that if not given.",
         .unit = "m",
         .above = 0,
         .max = no_more});
  o.add("mesh.first_cell", &O::first_cell,
        {.doc = "Height of the uppermost cells; a quarter of the least depth that data speak of "
                "if not given. With task = \"forward\" the largest that it may have.",
         .unit = "m",
         .above = 0,
         .max = no_more});
  o.add("mesh.growth", &O::growth,
        {.doc = "Of the height of cells from row to row.", .min = 1, .max = 3});
  o.add("mesh.depth", &O::depth,
        {.doc = "Of the cells that are inverted, without their padding; if not given 1.5 times "
                "the depth that data reach, of each station and response the greatest, in the "
                "median.",
         .unit = "m",
         .above = 0,
         .max = no_more});
  o.add("mesh.order", &O::order,
        {.doc = "Of the finite elements; 1 for an inversion, 2 for a forward run if not given.",
         .min = 1,
         .max = 2});
  o.add("mesh.columns", &O::solver_columns,
        {.doc = "Solver columns in each column of cells below stations, where a run begins.",
         .min = 1,
         .max = 64,
         .since = "0.3"});
  o.add("mesh.split_rows", &O::split_rows,
        {.doc = "In so many parts each row of the solver is cut, where a run begins.",
         .min = 1,
         .max = 64,
         .since = "0.3"});
  o.add("mesh.error", &O::mesh_error,
        {.doc = "Inversions: columns or rows of the solver are halved, and the inversion goes on, "
                "while that changes the responses of the section found by more than this, in "
                "errors of the data (root mean square).",
         .above = 0,
         .since = "0.3"});
  o.add(
      "mesh.goal", &O::goal,
      {.doc = "Forward runs: cells are halved until all apparent resistivities change by less, and "
              "tippers by half of it; 100 %: they are taken as they come. If not given 1 %, "
              "of layers and bodies as far as 40,000 cells go.",
       .unit = "%",
       .above = 0,
       .max = 100});
  o.add("mesh.most_nodes", &O::most_nodes,
        {.doc = "A mesh of more nodes is refused.", .min = 100, .max = 100'000'000});
}

}  // namespace

const data::Options<Mt2dOptions>& mt2d_options() {
  static const auto table = [] {
    using O = Mt2dOptions;
    data::Options<O> o("inversion.mt2d",
                       "2-D magnetotellurics: a section from the soundings of a line, or the "
                       "soundings of a section",
                       "0.3");
    o.add("task", &O::task,
          {.doc = "invert: a section from soundings; forward: the soundings of a section; sample: "
                  "the posterior of a learnt prior ([prior]) from soundings.",
           .choices = {"invert", "forward", "sample"}});
    survey::add_files(o, &O::files);
    o.add(
        "data.responses", &O::responses,
        {.doc = "What is taken of each station: TE (E along strike), TM, the tipper across it, the "
                "determinant, the phase tensor (xx and yy, which no static shift changes).",
         .choices = {"te", "tm", "tipper", "determinant", "phase_tensor"},
         .min_items = 1});
    o.add(
        "data.form", &O::form,
        {.doc = "Impedances as log10 of the apparent resistivity and phase, as real and imaginary "
                "part, or as one of the former alone.",
         .choices = {"resistivity_phase", "impedance", "resistivity", "phase"}});
    survey::add_data_options(o, &O::data);
    o.add("data.tipper_floor", &O::tipper_floor,
          {.doc = "Least standard deviation of real and imaginary part of a tipper, 0.02 if not "
                  "given; of tables of data as error_floor.",
           .min = 0,
           .max = 10});
    o.add("data.phase_tensor_floor", &O::phase_tensor_floor,
          {.doc = "Least standard deviation of an element of the phase tensor, 0.05 if not given; "
                  "of tables of data as error_floor.",
           .min = 0,
           .max = 10,
           .since = "0.3"});
    o.add("data.estimate_strike", &O::estimate_strike,
          {.doc = "Take the strike that the phase tensors of all stations share, of its two "
                  "directions the one that the line crosses."});
    survey::add_profile_options(o, &O::profile);
    add_ground(o);
    add_mesh(o);
    add_model(o);
    add_inversion(o);
    survey::add_static_shift_options(o, &O::static_shift, false);
    survey::add_posterior_method(o, &O::posterior);
    survey::add_chain_options(o, &O::posterior);
    o.add("posterior.chains", &O::chains,
          {.doc = "How many chains a sampling run has.", .min = 1, .max = 1000});
    add_prior(o);
    add_section(o);
    o.add("output.pictures", &O::pictures, {.doc = "Draw sections and pseudo-sections."});
    o.add("output.pictures_of_stations", &O::pictures_of_stations,
          {.doc = "Draw the curves of each station."});
    o.add("seed", &O::seed, {.doc = "Seed of all random numbers."});
    survey::add_expect_options(o, &O::expect);
    o.add("expect.r_hat_max", &O::expected_r_hat,
          {.doc = "A sampling run fails (exit 6) if the largest R-hat is above it.", .above = 1});
    return o;
  }();
  return table;
}

std::vector<inversion::DatumKind> kinds_of(const Mt2dOptions& o) {
  using inversion::Element;
  using inversion::Part;
  std::vector<inversion::DatumKind> out;
  for (const ResponseChoice r : o.responses) {
    if (r == ResponseChoice::tipper) {
      out.push_back({Element::ty, Part::real});
      out.push_back({Element::ty, Part::imag});
      continue;
    }
    if (r == ResponseChoice::phase_tensor) {
      out.push_back({Element::xx, Part::phase_tensor});
      out.push_back({Element::yy, Part::phase_tensor});
      continue;
    }
    const Element e = r == ResponseChoice::te   ? Element::xy
                      : r == ResponseChoice::tm ? Element::yx
                                                : Element::determinant;
    if (o.form == Form::impedance) {
      out.push_back({e, Part::real});
      out.push_back({e, Part::imag});
    }
    if (o.form == Form::resistivity_phase || o.form == Form::resistivity)
      out.push_back({e, Part::log10_rho});
    if (o.form == Form::resistivity_phase || o.form == Form::phase) out.push_back({e, Part::phase});
  }
  return out;
}

bool has_size(ResponseChoice r) {
  return r != ResponseChoice::tipper && r != ResponseChoice::phase_tensor;
}

inversion::ErrorFloors floors_of(const Mt2dOptions& o) {
  inversion::ErrorFloors out{.impedance = survey::floor_of(o.data)};
  if (o.tipper_floor) out.tipper = *o.tipper_floor;
  if (o.phase_tensor_floor) out.phase_tensor = *o.phase_tensor_floor;
  return out;
}

namespace {

/// Of task = "forward": where, at which frequencies, of what.
void find_forward_contradictions(const data::Config& config, const Mt2dOptions& o,
                                 std::vector<data::Diagnostic>& wrong) {
  const auto say = [&](int number, std::string_view key, std::string message, std::string hint) {
    wrong.push_back(config.error(number, key, std::move(message), std::move(hint)));
  };
  const bool evenly = o.first_station || o.last_station || o.station_count > 0;
  if (o.stations.empty() == !evenly ||
      (evenly && !(o.first_station && o.last_station && o.station_count > 0)))
    say(689, o.stations.empty() ? "stations.count" : "stations.at",
        "stations are given by stations.at, or by all of first, last and count", "one of the two");
  else if (evenly && o.station_count > 1 && !(*o.first_station < *o.last_station))
    say(689, "stations.first", "stations.first is not before stations.last", "exchange them");
  if (o.latitude.has_value() != o.longitude.has_value() || (o.latitude && !o.data.strike))
    say(689, o.latitude ? "stations.latitude" : "stations.longitude",
        "positions on the globe need stations.latitude, stations.longitude and data.strike",
        "all three, or neither latitude nor longitude");
  const bool range = o.lowest_frequency || o.highest_frequency;
  if (o.frequencies.empty() == !range || (range && !(o.lowest_frequency && o.highest_frequency)))
    say(689, o.frequencies.empty() ? "frequencies.lowest" : "frequencies.at",
        "frequencies are given by frequencies.at, or by lowest and highest", "one of the two");
  else if (range && !(*o.lowest_frequency <= *o.highest_frequency))
    say(689, "frequencies.lowest", "frequencies.lowest is above frequencies.highest",
        "exchange them");
  if (o.section_file && (!o.layers.empty() || !o.bodies.empty()))
    say(689, "section.file", "the section is given by section.file and by layers or bodies",
        "one of the two");
  if (!o.water_regions.empty() && o.sea_resistivity)
    say(689, "section.water", "the water is given by section.water and by ground.sea_resistivity",
        "one of the two");
  for (std::size_t i = 1; i < o.layers.size(); ++i)
    if (!(o.layers[i - 1].top < o.layers[i].top))
      say(689, fmt::format("section.layer[{}].top", i),
          "the tops of layers do not go down from one to the next", "order them by depth");
  const auto asked = [&](ResponseChoice r) {
    return std::count(o.responses.begin(), o.responses.end(), r) > 0;
  };
  const bool impedances = std::any_of(o.responses.begin(), o.responses.end(), has_size);
  const inversion::ErrorFloors floors = floors_of(o);
  const auto without_error = [&](const char* noise, const char* floor) {
    say(689, floor,
        fmt::format("{} and {} are 0: these data would have no standard deviation, and be none",
                    noise, floor),
        fmt::format("{} above 0: values stay without noise, it is their standard deviation",
                    floor));
  };
  if (impedances && o.noise == 0 && floors.impedance == 0)
    without_error("noise.impedance", "data.error_floor");
  if (asked(ResponseChoice::phase_tensor) && o.noise == 0 && floors.phase_tensor == 0)
    without_error("noise.impedance", "data.phase_tensor_floor");
  if (asked(ResponseChoice::tipper) && o.tipper_noise == 0 && floors.tipper == 0)
    without_error("noise.tipper", "data.tipper_floor");
}

}  // namespace

Mt2dOptions read_options(const data::Config& config) {
  Mt2dOptions o = mt2d_options().read(config);
  std::vector<data::Diagnostic> wrong;
  const auto say = [&](int number, std::string_view key, std::string message, std::string hint) {
    wrong.push_back(config.error(number, key, std::move(message), std::move(hint)));
  };
  o.data.files = o.files.value_or("");
  if (o.task == Task::sample) o.posterior.method = inversion::PosteriorMethod::mcmc;
  if (o.task != Task::forward && !o.files)
    say(216, "data.files", "the required key data.files is missing",
        "a folder of soundings, or one file");
  survey::find_contradictions(config, o.data, o.static_shift, o.posterior, wrong);
  for (std::size_t i = 0; i < o.responses.size(); ++i)
    if (std::count(o.responses.begin(), o.responses.end(), o.responses[i]) > 1) {
      say(689, "data.responses", "a response is named twice", "each once");
      break;
    }
  if ((o.data.strike ? 1 : 0) + (o.profile.azimuth ? 1 : 0) + (o.estimate_strike ? 1 : 0) > 1)
    say(689, o.estimate_strike ? "data.estimate_strike" : "profile.azimuth",
        "the strike is given twice: data.strike, data.estimate_strike and profile.azimuth (the "
        "strike is across it) each say it",
        "one of the three");
  if ((o.ground == GroundShape::file) != o.ground_file.has_value())
    say(689, "ground.file", "ground.shape = \"file\" and ground.file go together", "both or none");
  if (o.task == Task::invert && o.posterior.method == inversion::PosteriorMethod::mcmc)
    say(689, "posterior.method", "an inversion's bands are not those of Markov chains",
        "task = \"sample\" with a learnt prior; or posterior.method = \"laplace\", or none");
  if (o.task == Task::sample && !o.prior.file)
    say(689, "task",
        "chains walk over the codes of a learnt prior, and there is none: the single cells of a "
        "smooth section are not sampled",
        "[prior] with file and depth; or task = \"invert\", whose posterior.method = \"laplace\" "
        "gives bands of each cell");
  if (o.task != Task::sample && o.expected_r_hat)
    say(689, "expect.r_hat_max", "there are no chains whose R-hat could be told",
        "task = \"sample\", or leave it out");
  if (survey::are_bounds(config, o.least_resistivity, o.greatest_resistivity, wrong)) {
    const auto between = [&](double ohm_m) {
      return *o.least_resistivity < ohm_m && ohm_m < *o.greatest_resistivity;
    };
    if (o.reference_resistivity && !between(*o.reference_resistivity))
      say(604, "model.reference_resistivity",
          "reference_resistivity does not lie between least_resistivity and greatest_resistivity",
          "a value between them: at a bound data have no hold on the model");
    for (std::size_t k = 0; k < o.fixed.size(); ++k)
      if (!between(o.fixed[k].resistivity))
        say(604, fmt::format("model.fixed[{}].resistivity", k),
            fmt::format("cells of {:.6g} ohm m do not lie between least_resistivity and "
                        "greatest_resistivity",
                        o.fixed[k].resistivity),
            "wider bounds: smoothness ties fixed cells to their neighbours between them");
  }
  for (std::size_t k = 0; k < o.fixed.size(); ++k)
    find_crossings(config, o.fixed[k].points, fmt::format("model.fixed[{}].points", k), wrong);
  if (o.prior.file.has_value() != o.prior.depth.has_value())
    say(689, o.prior.file ? "prior.file" : "prior.depth", "prior.file and prior.depth go together",
        "both or none");
  else if (o.prior.depth && !(o.prior.top < *o.prior.depth))
    say(689, "prior.top", "the prior's region has its top below its bottom", "exchange them");
  if (o.prior.file && !o.fixed.empty())
    say(689, "model.fixed", "a learnt prior and cells that are known exclude each other",
        "one of the two");
  if (o.prior.file && o.least_resistivity)
    say(689, "model.least_resistivity",
        "a learnt prior and bounds of resistivities exclude each other", "one of the two");
  if (o.smooth_along == 0 && o.smooth_down == 0)
    say(689, "model.smooth_along", "nothing ties cells that are next to each other",
        "a weight above 0 for one of smooth_along and smooth_down");

  if (o.task == Task::forward) find_forward_contradictions(config, o, wrong);
  if (!wrong.empty()) throw data::InputError(data::ExitCode::config_invalid, std::move(wrong));
  return o;
}

}  // namespace tessera::apps::mt2d
