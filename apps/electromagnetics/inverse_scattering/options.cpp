// SPDX-License-Identifier: Apache-2.0
#include "electromagnetics/inverse_scattering/options.h"

#include "electromagnetics/waves/checks.h"
#include "electromagnetics/waves/option_tables.h"

#include <fmt/format.h>

#include <algorithm>

namespace tessera::apps::inverse_scattering {
namespace {

data::Options<ReceiverOptions> receiver_table() {
  using O = ReceiverOptions;
  data::Options<O> o("receivers", "Where the field is known, at every step in time.");
  o.add("component", &O::component, {.doc = "Component of the field.", .choices = component_names});
  o.add("positions", &O::positions,
        length({.doc = "Points [x, y, z].", .required = true, .min_items = 1, .max_items = 10000}));
  return o;
}

data::Options<RegionOptions> region_table() {
  using O = RegionOptions;
  data::Options<O> o(
      "region",
      "Where the permittivity is sought: one number for each cell whose middle lies within.");
  o.add("low", &O::low, length({.doc = "Corner where x, y, z are least.", .required = true}));
  o.add("high", &O::high, length({.doc = "The opposite corner.", .required = true}));
  o.add("start", &O::start,
        {.doc = "Relative permittivity that the descent begins with; not given: that of "
                "grid.background. grid.cells_per_wavelength counts in it, too.",
         .min = 1});
  o.add("least", &O::least,
        {.doc = "Lower bound, passed by 0.01 at most: eps = least + rho above it, least + 0.01 "
                "(e^rho - 1) below. The time step is stable for all of these.",
         .min = 1});
  return o;
}

data::Options<DataOptions> data_table() {
  using O = DataOptions;
  data::Options<O> o("data", "The field at the receivers, one source at a time.");
  o.add("file", &O::file,
        {.doc = "Measured: a CSV table of time in s and one column for each receiver of the first "
                "source, then of the second ..., or "
                "an HDF5 file with data/time [n] and data/measured [source, n, receiver]; linear "
                "between times. Not given: found by "
                "a simulation of [[truth]]."});
  o.add("noise", &O::noise,
        {.doc = "Standard deviation of noise that is added, as a fraction of the root mean square "
                "of the data.",
         .min = 0,
         .max = 10});
  o.add("seed", &O::seed, {.doc = "Seed of the noise.", .min = 0});
  return o;
}

data::Options<DescentOptions> descent_table() {
  using O = DescentOptions;
  data::Options<O> o(
      "optimize",
      "How the misfit |F - d|^2/|d|^2 is lowered, F the field of the model and d the data.");
  o.add("method", &O::method,
        {.doc = "Adam's steps of a fixed rate, or L-BFGS with a line search.",
         .choices = {"adam", "lbfgs"}});
  o.add("iterations", &O::iterations, {.doc = "How many.", .min = 0, .max = 1000000});
  o.add("rate", &O::rate, {.doc = "Length of adam's steps, in permittivity.", .above = 0});
  o.add("until", &O::until, {.doc = "The descent ends when the misfit is below this.", .min = 0});
  o.add("smoothness", &O::smoothness,
        {.doc = "Weight of the mean squared difference of neighbouring cells, added to the misfit: "
                "for data with noise.",
         .min = 0});
  return o;
}

data::Options<InverseExpectOptions> expectation_table() {
  using O = InverseExpectOptions;
  data::Options<O> o(
      "expect", "What the result has to be; a run that does not meet it ends with exit code 6.");
  o.add("misfit_max", &O::misfit_max, {.doc = "Largest misfit.", .min = 0});
  o.add("psnr_min", &O::psnr_min,
        {.doc = "Least peak signal-to-noise ratio of the permittivity of the domain in dB; the "
                "peak is the range of the truth."});
  o.add(
      "ssim_min", &O::ssim_min,
      {.doc =
           "Least structural similarity of the domain to the truth, with one window and constants "
           "0.01 and 0.03 times the range, not their squares.",
       .max = 1});
  return o;
}

}  // namespace

CaseOptions InverseOptions::waves(bool with_truth) const {
  CaseOptions o;
  o.grid = grid;
  o.run = run;
  o.boundary = boundary;
  o.materials = materials;
  o.structures = structures;
  o.first_truth = o.structures.size();
  if (with_truth) o.structures.insert(o.structures.end(), truth.begin(), truth.end());
  o.sources = sources;
  o.output = output;
  o.title = title;
  return o;
}

const data::Options<InverseOptions>& inverse_options() {
  static const auto table = [] {
    using O = InverseOptions;
    data::Options<O> o("electromagnetics.inverse_scattering",
                       "The permittivity of a region from the waves of several sources that it "
                       "scatters to receivers");
    o.add("schema", &O::schema, {.doc = "Version of this layout.", .min = 1, .max = 1});
    o.add("title", &O::title, {.doc = "Title of reports and pictures."});
    o.add_table("grid", &O::grid, grid_table(), {.doc = "The domain and its cells."});
    o.add_table("run", &O::run, run_table(),
                {.doc = "The steps in time; stop.time or stop.steps is needed."});
    o.add_table("boundary", &O::boundary, boundary_table(), {.doc = "The faces of the domain."});
    o.add_tables("material", &O::materials, material_table(), {.doc = "Media by their names."});
    o.add_tables("structure", &O::structures, structure_table(),
                 {.doc = "Bodies that are known, outside of the region."});
    o.add_tables("source", &O::sources, source_table(),
                 {.doc = "Currents; each is on alone.", .min_items = 1, .max_items = 1000});
    o.add_table("receivers", &O::receivers, receiver_table(),
                {.doc = "Where the field is known.", .required = true});
    o.add_table("region", &O::region, region_table(),
                {.doc = "Where the permittivity is sought.", .required = true});
    o.add_tables(
        "truth", &O::truth, structure_table(),
        {.doc = "Bodies in the region: what makes the data, or what the result is compared with."});
    o.add_table("data", &O::data, data_table(), {.doc = "The field at the receivers."});
    o.add_table("optimize", &O::optimize, descent_table(), {.doc = "How the misfit is lowered."});
    o.add_table("output", &O::output, output_table(),
                {.doc = "What is written besides results.h5."});
    o.add_table("expect", &O::expect, expectation_table(), {.doc = "What the result has to be."});
    return o;
  }();
  return table;
}

namespace {

/// Whether fields of one component can come of a current of the other: where nothing changes along
/// an axis, those that a mirror across it turns round and those that it leaves are apart.
bool meet(const GridOptions& grid, Component a, Component b) {
  using electromagnetics::at_middle;
  for (int axis = 0; axis < 3; ++axis)
    if (!grid.resolved(axis) &&
        at_middle(static_cast<int>(a), axis) != at_middle(static_cast<int>(b), axis))
      return false;
  return true;
}

}  // namespace

InverseOptions read_inverse_options(const data::Config& config) {
  InverseOptions o = inverse_options().read(config);
  CaseOptions waves = o.waves(true);
  complete_options(waves, config);
  o.sources = waves.sources;
  Checks checks(config);
  const StopOptions& stop = o.run.stop;
  if ((!stop.time && !stop.steps) || stop.after_sources || stop.decay_db || stop.dft_tolerance)
    checks.say(650, "run.stop",
               "data of all models have the same length: the run ends by time or steps",
               "give run.stop.time or run.stop.steps alone");
  for (std::size_t s = 0; s < o.sources.size(); ++s)
    if (o.sources[s].kind == SourceKind::plane_wave || o.sources[s].kind == SourceKind::beam ||
        o.sources[s].kind == SourceKind::mode)
      checks.say(650, item("source", s) + ".kind", "sources here are currents",
                 "take point, line or plane");
  for (int a = 0; a < 3; ++a)
    if (o.grid.resolved(a) && o.boundary.low(a) == Face::bloch)
      checks.say(650, "boundary", "fields between Bloch faces are complex, data are not",
                 "take periodic faces");
  if (o.grid.exact_speed_at)
    checks.say(650, "grid.exact_speed_at", "is for media that are known",
               "leave it out, and take smaller cells");
  if (!is_computed(o.grid, o.receivers.component))
    checks.say(650, "receivers.component", "is not computed in this polarization",
               "change it, or grid.polarization");
  for (std::size_t s = 0; s < o.sources.size(); ++s)
    if (!meet(o.grid, o.sources[s].component, o.receivers.component))
      checks.say(
          650, item("source", s) + ".component",
          fmt::format("a current along {} makes no {}, whatever the region holds: the two are "
                      "of different polarizations",
                      electromagnetics::name_of(static_cast<int>(o.sources[s].component)),
                      electromagnetics::name_of(static_cast<int>(o.receivers.component))),
          "change it, or receivers.component");
  for (std::size_t r = 0; r < o.receivers.positions.size(); ++r)
    check_inside(o.grid, o.receivers.positions[r], {}, item("receivers.positions", r), 650, checks);
  Point middle{}, size{};
  for (std::size_t a = 0; a < 3; ++a) {
    middle[a] = (o.region.low[a] + o.region.high[a]) / 2,
    size[a] = o.region.high[a] - o.region.low[a];
    if (o.grid.resolved(static_cast<int>(a)) && size[a] <= 0) {
      checks.say(650, "region.low",
                 "region.low is not below region.high along every axis that is resolved",
                 "exchange them");
      break;
    }
  }
  check_inside(o.grid, middle, size, "region", 650, checks);
  if (o.region.start && *o.region.start < o.region.least)
    checks.say(650, "region.start", "is below region.least");
  if (o.data.file.has_value() == false && o.truth.empty())
    checks.say(650, "data", "there are no data", "give data.file, or [[truth]] to make them of");
  if (o.truth.empty() && (o.expect.psnr_min || o.expect.ssim_min))
    checks.say(650, "expect", "there is no truth to compare the result with",
               "give [[truth]], or leave psnr_min and ssim_min out");
  if (!checks.findings.empty())
    throw data::InputError(data::ExitCode::config_invalid, std::move(checks.findings));
  return o;
}

}  // namespace tessera::apps::inverse_scattering
