// SPDX-License-Identifier: Apache-2.0
// The case as a whole: its sections.
#include "electromagnetics/fdtd/options.h"

#include "electromagnetics/waves/option_tables.h"

namespace tessera::apps::fdtd {

const data::Options<CaseOptions>& fdtd_options() {
  static const auto table = [] {
    using O = CaseOptions;
    data::Options<O> o(
        "electromagnetics.fdtd",
        "Maxwell's equations in time on a Yee grid, in one, two or three dimensions");
    o.add("schema", &O::schema, {.doc = "Version of this layout.", .min = 1, .max = 1});
    o.add("title", &O::title, {.doc = "Title of reports and pictures."});
    o.add_table("grid", &O::grid, grid_table(true), {.doc = "The domain and its cells."});
    o.add_table("run", &O::run, run_table(true), {.doc = "The steps in time."});
    o.add_table("boundary", &O::boundary, boundary_table(), {.doc = "The faces of the domain."});
    o.add_tables("material", &O::materials, material_table(), {.doc = "Media by their names."});
    o.add_tables(
        "structure", &O::structures, structure_table(),
        {.doc = "Bodies; where they overlap the higher priority wins, then the later one."});
    o.add_tables("source", &O::sources, source_table(),
                 {.doc = "What makes the waves, where ports do not.", .max_items = 10000});
    o.add_tables(
        "port", &O::ports, port_table(),
        {.doc = "Where waves enter and leave a device.", .max_items = 1000, .since = "0.3"});
    o.add_table("s_parameters", &O::scattering, scattering_table(),
                {.doc = "What is made of the waves at ports.", .since = "0.3"});
    o.add_tables(
        "load", &O::loads, load_table(),
        {.doc = "Lumped elements between conductors.", .max_items = 10000, .since = "0.3"});
    o.add_tables("sheet", &O::sheets, sheet_table(),
                 {.doc = "Sheets thinner than a cell.", .max_items = 1000, .since = "0.3"});
    o.add_tables("wire", &O::wires, wire_table(),
                 {.doc = "Conductors thinner than a cell.", .max_items = 10000, .since = "0.3"});
    o.add_tables("monitor", &O::monitors, monitor_table(),
                 {.doc = "What is measured.", .max_items = 10000});
    o.add_table("reference", &O::reference, reference_table(),
                {.doc = "A run without the bodies, to compare with.", .since = "0.3"});
    o.add_table("output", &O::output, output_table(), {.doc = "What is written."});
    o.add_tables(
        "expect", &O::expectations, expect_table(),
        {.doc = "Numbers that are expected; a run that does not meet one ends with exit code 6."});
    return o;
  }();
  return table;
}

CaseOptions read_options(const data::Config& config) {
  CaseOptions o = fdtd_options().read(config);
  o.use = fdtd_options().parameter_use(config);
  o.read_again = read_options;
  complete_options(o, config);
  return o;
}

}  // namespace tessera::apps::fdtd
