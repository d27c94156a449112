// SPDX-License-Identifier: Apache-2.0
#include "inversion/sections/options.h"

#include <string>

namespace tessera::apps::sections {
namespace {

data::Options<inversion::Event> event_options() {
  using E = inversion::Event;
  data::Options<E> o("event", "What happened to the region; each acts on all that came before it.",
                     "0.3");
  o.add_kind(
      "kind", &E::kind,
      {.doc = "layers: level layers (the first event, and it alone); fold: they bend as a "
              "sine; fault: a plane along which they slide; intrusion: an ellipse; basin: a "
              "trough below the top; block: a rectangle; random_field: Gaussian, added.",
       .choices = {"layers", "fold", "fault", "intrusion", "basin", "block", "random_field"}});
  o.add("probability", &E::probability,
        {.doc = "With which it happens in a section.", .min = 0, .max = 1});
  o.add("count", &E::count,
        {.doc = "How often, where it happens: drawn from the first to the second; of layers their "
                "number.",
         .min = 1,
         .max = 1000});
  o.add("resistivity", &E::resistivity_ohm_m,
        {.doc = "Between these, evenly in the logarithm.",
         .unit = "ohm*m",
         .above = 0,
         .only_for = {"layers", "intrusion", "basin", "block"}});
  o.add("x", &E::x,
        {.doc = "Of its middle, or of a fault at the top; 0 is the left side of the region, 1 the "
                "right one.",
         .only_for = {"fault", "intrusion", "basin", "block"}});
  o.add("z", &E::z,
        {.doc = "Of its middle; 0 is the top of the region, 1 its bottom.",
         .only_for = {"intrusion", "block"}});
  const std::vector<std::string> bodies{"intrusion", "basin", "block", "random_field"};
  o.add("width", &E::width,
        {.doc = "From side to side, as a part of the region's width; of a random field the length "
                "over which it is alike.",
         .above = 0,
         .only_for = bodies});
  o.add("height", &E::height,
        {.doc = "From top to bottom, as a part of the region's depth.",
         .above = 0,
         .only_for = bodies});
  o.add("tilt", &E::tilt,
        {.doc = "By which it is turned, clockwise.",
         .unit = "deg",
         .min = -360,
         .max = 360,
         .only_for = {"intrusion"}});
  o.add("dip", &E::dip,
        {.doc = "Of the plane from the horizontal, to the left or to the right.",
         .unit = "deg",
         .above = 0,
         .max = 90,
         .only_for = {"fault"}});
  o.add("throw", &E::throw_,
        {.doc = "By which what lies above the plane slides down along it, as a part of the "
                "region's depth; negative: up.",
         .only_for = {"fault"}});
  o.add("amplitude", &E::amplitude,
        {.doc = "Of the sine, as a part of the region's depth; of a random field its standard "
                "deviation in decades.",
         .only_for = {"fold", "random_field"}});
  o.add("wavelength", &E::wavelength,
        {.doc = "As a part of the region's width.", .above = 0, .only_for = {"fold"}});
  return o;
}

}  // namespace

const data::Options<SectionsOptions>& sections_options() {
  static const auto table = [] {
    using O = SectionsOptions;
    data::Options<O> o("inversion.sections",
                       "Sections of the earth drawn by chance, for priors to learn from", "0.3");
    o.add("region.rows", [](O & x) -> auto& { return x.geology.rows; },
          {.doc = "Cells from top to bottom.", .min = 1, .max = 10000});
    o.add("region.columns", [](O & x) -> auto& { return x.geology.columns; },
          {.doc = "Cells from left to right.", .min = 1, .max = 10000});
    o.add("region.aspect", [](O & x) -> auto& { return x.geology.aspect; },
          {.doc = "Width of the region over its depth, for angles.", .above = 0, .max = 1000});
    o.add(
        "region.resistivity", [](O & x) -> auto& { return x.geology.ohm_m; },
        {.doc = "What lies outside of these two is brought to them.", .unit = "ohm*m", .above = 0});
    o.add("sections.count", &O::count, {.doc = "How many are drawn.", .min = 1, .max = 100000000});
    o.add_tables("event", [](O & x) -> auto& { return x.geology.events; }, event_options(),
                 {.doc = "The recipe, in the order of time.", .min_items = 1, .max_items = 100});
    o.add("seed", &O::seed, {.doc = "Seed of all random numbers."});
    o.add("expect.mean_min", &O::expect_mean_min,
          {.doc = "The run fails (exit 6) if the mean of log10 of the resistivity in ohm m over "
                  "all cells is smaller."});
    o.add("expect.mean_max", &O::expect_mean_max,
          {.doc = "The run fails (exit 6) if that mean is larger."});
    return o;
  }();
  return table;
}

SectionsOptions read_options(const data::Config& config) {
  SectionsOptions o = sections_options().read(config);
  std::vector<data::Diagnostic> wrong;
  // What the ranges of single keys do not say; the library names events as "events[2].dip: why".
  for (const std::string& fault : inversion::faults_of(o.geology)) {
    const auto colon = fault.find(": ");
    std::string key = fault.substr(0, colon);
    if (key.starts_with("events"))
      key.replace(0, 6, "event");
    else
      key = key == "ohm_m" ? "region.resistivity" : "region." + key;
    wrong.push_back(
        config.error(691, key, key + " is " + fault.substr(colon + 2),
                     "tessera explain " + key.substr(0, key.find('[')) + " says what it means"));
  }
  if (!wrong.empty()) throw data::InputError(data::ExitCode::config_invalid, std::move(wrong));
  return o;
}

}  // namespace tessera::apps::sections
