// SPDX-License-Identifier: Apache-2.0
// The grid, the steps in time, the boundaries, what is written and what is expected.
#include "electromagnetics/waves/options.h"

#include "electromagnetics/waves/option_tables.h"

#include <algorithm>

namespace tessera::apps::waves {

double GridOptions::low(int a) const {
  const auto& lines = axis(a).lines;
  const auto i = static_cast<std::size_t>(a);
  return lines.empty() ? centre[i] - size[i] / 2 : lines.front();
}

double GridOptions::high(int a) const {
  const auto& lines = axis(a).lines;
  const auto i = static_cast<std::size_t>(a);
  return lines.empty() ? centre[i] + size[i] / 2 : lines.back();
}

double GridOptions::middle(int a) const {
  return axis(a).lines.empty() ? centre[static_cast<std::size_t>(a)] : (low(a) + high(a)) / 2;
}

Face BoundaryOptions::low(int a) const {
  return a == 0 ? x_low.value_or(x) : a == 1 ? y_low.value_or(y) : z_low.value_or(z);
}

Face BoundaryOptions::high(int a) const {
  return a == 0 ? x_high.value_or(x) : a == 1 ? y_high.value_or(y) : z_high.value_or(z);
}

bool BoundaryOptions::is_symmetry(int a, bool high) const {
  return std::find(symmetry.begin(), symmetry.end(),
                   static_cast<FaceName>(2 * a + (high ? 1 : 0))) != symmetry.end();
}

int BoundaryOptions::layer_cells(int a, bool is_high) const {
  const Face f = is_high ? high(a) : low(a);
  return f == Face::pml ? pml.cells : f == Face::absorber ? absorber.cells : 0;
}

namespace {

data::Options<AxisOptions> axis_table(const std::string& name) {
  data::Options<RefineOptions> refine("refine", "A stretch of an axis with smaller cells.");
  refine.add("from", &RefineOptions::from, length({.doc = "Where it begins.", .required = true}));
  refine.add("to", &RefineOptions::to, length({.doc = "Where it ends.", .required = true}));
  refine.add("cell", &RefineOptions::cell,
             length({.doc = "Length of a cell within.", .above = 0, .required = true}));
  data::Options<AxisOptions> o(name, "How the cells of one axis differ from even ones.");
  o.add("lines", &AxisOptions::lines,
        length({.doc = "All lines between cells, rising; they give the size of this axis.",
                .max_items = 1000000}));
  o.add_tables("refine", &AxisOptions::refine, refine,
               {.doc = "Stretches with smaller cells; others grow by max_ratio at most."});
  return o;
}

}  // namespace

data::Options<ExpectOptions> expect_table() {
  using O = ExpectOptions;
  data::Options<O> o("expect", "A number that the run has to find.");
  o.add("monitor", &O::monitor, {.doc = "Name of the monitor that finds it.", .required = true});
  o.add("quantity", &O::quantity,
        {.doc = "Which of its results, as results.h5 names them; its first if not given."});
  o.add(
      "frequency", &O::frequency,
      frequency(
          {.doc =
               "At which of its frequencies (the nearest, in its band); its first if not given."}));
  o.add("index", &O::index,
        {.doc = "Which entry, where there are several: mode, direction, order.", .min = 0});
  o.add("value", &O::value, {.doc = "The number that is expected, in SI units.", .required = true});
  o.add("tolerance", &O::tolerance, {.doc = "How far off it may be.", .min = 0, .required = true});
  o.add("relative", &O::relative, {.doc = "The tolerance is relative: a fraction of the value."});
  return o;
}

data::Options<OutputOptions> output_table() {
  using O = OutputOptions;
  data::Options<O> o("output", "What is written besides results.h5.");
  o.add("vtk", &O::vtk, {.doc = "Write fields and snapshots for ParaView, too."});
  o.add("pictures", &O::pictures, {.doc = "Draw spectra, patterns and fields."});
  o.add("scene", &O::scene,
        {.doc = "Show the media as the grid sees them: a picture with sources and monitors or "
                "receivers, a file for ParaView."});
  o.add(
      "scene_at", &O::scene_at,
      length({.doc = "In 3-D, the point through which the picture of the scene is cut across x, y "
                     "and z; the position of the first source if not given.",
              .since = "0.3"}));
  return o;
}

data::Options<GridOptions> grid_table(bool with_auto) {
  using A = AutoGridOptions;
  data::Options<A> automatic("auto",
                             "Lines by the program, closer where waves are shorter and "
                             "bodies finer.",
                             "0.3");
  automatic.add("cells_per_wavelength", &A::cells_per_wavelength,
                {.doc = "Cells in the wavelength of the highest frequency in each medium: that of "
                        "sources, ports and monitors, or grid.frequency_max.",
                 .min = 2,
                 .max = 1000});
  automatic.add("gap_cells", &A::gap_cells,
                {.doc = "Cells at least across a gap between two conductors, whatever fills it, a "
                        "slot, and a strip of metal.",
                 .min = 1,
                 .max = 1000});
  automatic.add("layer_cells", &A::layer_cells,
                {.doc = "Cells at least across a layer of another medium.", .min = 1, .max = 1000});
  automatic.add("min_cell", &A::min_cell,
                length({.doc = "A floor: lines that bodies ask for nearer to each other than this "
                               "are one, and no demand makes cells shorter. A gap that it leaves "
                               "too few cells is refused.",
                        .above = 0}));
  automatic.add("padding", &A::padding,
                {.doc = "Where no grid.size is given: room between what is in the domain and "
                        "absorbing layers, in wavelengths of the lowest frequency in vacuum.",
                 .min = 0,
                 .max = 1000});
  using O = GridOptions;
  data::Options<O> o("grid", "The domain and its cells. Axes that are not resolved come last.");
  o.add("size", &O::size,
        length({.doc = "Size of the domain, absorbing layers included; 0 leaves an axis unresolved "
                       "(2-D: z, 1-D: y and z).",
                .min = 0}));
  o.add("centre", &O::centre, length({.doc = "Middle of the domain."}));
  o.add("cell", &O::cell,
        length({.doc = "Length of a cell, the largest where the grid is graded.",
                .above = 0,
                .one_for_all = true}));
  o.add("cells_per_wavelength", &O::cells_per_wavelength,
        {.doc = "Instead of cell: cells in the shortest wavelength of frequency_max in any medium.",
         .min = 2,
         .max = 1000});
  o.add(
      "frequency_max", &O::frequency_max,
      frequency(
          {.doc = "Highest frequency that has to be resolved: that of cells_per_wavelength and of "
                  "auto. Of cells that are given otherwise, those are told that are too "
                  "coarse for it."}));
  o.add("max_ratio", &O::max_ratio,
        {.doc = "Largest ratio of neighbouring cells where the grid is graded.",
         .above = 1,
         .max = 3});
  o.add_table("x", &O::x, axis_table("x"), {.doc = "Lines or refinement along x."});
  o.add_table("y", &O::y, axis_table("y"), {.doc = "Lines or refinement along y."});
  o.add_table("z", &O::z, axis_table("z"), {.doc = "Lines or refinement along z."});
  if (with_auto)
    o.add_table(
        "auto", &O::automatic, automatic,
        {.doc = "Instead of cell: lines of the axes that have none are made by the program, "
                "from wavelengths, faces, gaps, layers and ports; max_ratio holds. "
                "`tessera mesh` shows them.",
         .since = "0.3"});
  o.add(
      "background", &O::background,
      {.doc = "Medium where no structure is: a [[material]], a medium of the library, or vacuum."});
  o.add("polarization", &O::polarization,
        {.doc = "In 2-D, the components that are computed: Ez, Hx, Hy or Hz, Ex, Ey or both.",
         .choices = {"both", "Ez", "Hz"}});
  o.add("averaging", &O::averaging,
        {.doc = "Permittivity where media meet: kottke, an averaged tensor (second order at faces "
                "along the grid); corners, the same with tensors of corners (more accurate at "
                "oblique and curved faces, slower to set up); volume, the mean by volume; none, "
                "the medium at each point.",
         .choices = {"kottke", "corners", "volume", "none"}});
  o.add("conductors", &O::conductors,
        {.doc =
             "Perfect conductors whose surface runs across the grid: their true surface (edges and "
             "faces count by their open part), or a staircase of whole edges.",
         .choices = {"conformal", "staircase"}});
  o.add("exact_speed_at", &O::exact_speed_at,
        frequency({.doc = "Frequency at which waves run at their exact speed, as the mean over "
                          "all directions: permittivities are scaled to cancel the dispersion of "
                          "the grid. 0.87 of the highest frequency leaves a quarter of its phase "
                          "errors over a wide band. Needs even cells.",
                   .above = 0}));
  return o;
}

data::Options<SteppingOptions> run_table(bool with_ports) {
  using S = StopOptions;
  data::Options<S> stop("stop", "When the run ends: whichever comes first.");
  stop.add("time", &S::time, duration({.doc = "Simulated time.", .above = 0}));
  stop.add("steps", &S::steps, {.doc = "Number of time steps.", .min = 1});
  stop.add("after_sources", &S::after_sources,
           duration({.doc = "Simulated time after the end of the last source.", .min = 0}));
  stop.add("decay_db", &S::decay_db,
           {.doc = "How far the energy has fallen below its peak, once the sources have ended, in "
                   "decibels.",
            .above = 0,
            .max = 300});
  stop.add("dft_tolerance", &S::dft_tolerance,
           {.doc = "Relative change of every transform between two checks, once the sources have "
                   "ended.",
            .above = 0,
            .max = 1});
  stop.add("check_every", &S::check_every,
           duration({.doc = "Time between checks of decay_db and dft_tolerance; some periods if "
                            "not given.",
                     .above = 0}));
  using O = SteppingOptions;
  data::Options<O> o("run", "The steps in time.");
  o.add("precision", &O::precision,
        {.doc = "Precision of the fields; transforms are summed in double precision.",
         .choices = {"f32", "f64"}});
  o.add("courant", &O::courant,
        {.doc = "Time step as a share of the longest stable one.", .above = 0, .max = 1});
  o.add("dt", &O::dt, duration({.doc = "Time step, instead of courant.", .above = 0}));
  o.add_table("stop", &O::stop, stop, {.doc = "When the run ends."});
  if (with_ports)
    o.add(
        "excite", &O::excite,
        {.doc = "Ports that are driven one after the other, a run for each in one folder: \"all\", "
                "or their names. Where a case has ports and no [[source]], all of them if not "
                "given; where it has sources, these drive it, and ports measure.",
         .one_for_all = true,
         .max_items = 1000,
         .since = "0.3"});
  return o;
}

data::Options<BoundaryOptions> boundary_table() {
  using P = PmlOptions;
  const auto of = []<class T>(T electromagnetics::Pml::*member) {
    return static_cast<T P::*>(member);
  };
  data::Options<P> pml("pml",
                       "Absorbing layers: convolutional PML within the domain. Over a depth "
                       "u from 0 to 1, sigma grows as u^order.");
  pml.add("cells", of(&P::cells), {.doc = "Thickness.", .min = 1, .max = 1000});
  pml.add("order", of(&P::order),
          {.doc = "Power by which sigma and kappa grow.", .min = 1, .max = 8});
  pml.add("sigma_factor", of(&P::sigma_factor),
          {.doc = "sigma at the outer face, in units of 0.8 (order + 1)/(impedance times cell).",
           .above = 0});
  pml.add("kappa_max", of(&P::kappa_max), {.doc = "Stretching at the outer face.", .min = 1});
  pml.add("alpha_factor", of(&P::alpha_factor),
          {.doc = "Frequency shift at the inner face, in units of eps0 times speed of light over "
                  "depth of the layer; "
                  "above 0 it helps against evanescent waves.",
           .min = 0});
  pml.add("index", &P::medium_index,
          {.doc = "Refractive index in the layers; that of grid.background in the middle of the "
                  "band if not given.",
           .above = 0});
  using A = AbsorberOptions;
  data::Options<A> absorber("absorber",
                            "Layers of conductivity, electric and magnetic alike, that rises "
                            "slowly as u^order from 0 over a depth u "
                            "from 0 to 1: thicker than a pml, and passive with every medium, also "
                            "where a film or surface of negative "
                            "permittivity runs through it.");
  absorber.add("cells", &A::cells,
               {.doc = "Thickness; two wavelengths reflect little at all angles up to 60 degrees.",
                .min = 2,
                .max = 10000});
  absorber.add("order", &A::order,
               {.doc = "Power by which the conductivity grows.", .min = 1, .max = 8});
  absorber.add("reflection", &A::reflection,
               {.doc = "Amplitude reflected of a wave along the axis: fixes the conductivity.",
                .above = 0,
                .max = 0.5});
  using O = BoundaryOptions;
  data::Options<O> o("boundary", "What happens at the six faces of the domain.");
  const std::vector<std::string> kinds = {"pml", "pec", "pmc", "periodic", "bloch", "absorber"};
  o.add("x", &O::x, {.doc = "Both faces across x.", .choices = kinds});
  o.add("y", &O::y, {.doc = "Both faces across y.", .choices = kinds});
  o.add("z", &O::z, {.doc = "Both faces across z.", .choices = kinds});
  const std::pair<const char*, std::optional<Face> O::*> faces[] = {
      {"x_low", &O::x_low},   {"x_high", &O::x_high}, {"y_low", &O::y_low},
      {"y_high", &O::y_high}, {"z_low", &O::z_low},   {"z_high", &O::z_high}};
  for (const auto& [name, face] : faces)
    o.add(name, face, {.doc = "This face, if it differs from the opposite one.", .choices = kinds});
  o.add("symmetry", &O::symmetry,
        {.doc = "Faces of pec or pmc in which the structure goes on as its image. Power, energy, "
                "modes and density of states of what such a face cuts then count the whole; far "
                "fields, cross-sections and S are the whole's, a port beside such a face one with "
                "its images. "
                "Other such faces are walls: in a far field whose box stands on one, its image is "
                "taken, and power and "
                "directivity are of the open half.",
         .choices = {"x_low", "x_high", "y_low", "y_high", "z_low", "z_high"},
         .max_items = 6});
  o.add("wall_material", &O::wall_material,
        {.doc = "What the faces of pec are made of that are no symmetry: a [[material]] with "
                "surface_impedance; a perfect conductor if not given.",
         .since = "0.3"});
  o.add_table("pml", &O::pml, pml, {.doc = "The absorbing layers."});
  o.add_table("absorber", &O::absorber, absorber, {.doc = "The conducting layers."});
  o.add("bloch_k", &O::bloch_k,
        {.doc = "Wave vector k of bloch faces: E(r + a) = E(r) exp(-i k.a), a the period.",
         .unit = "rad/um"});
  o.add("bloch_phase", &O::bloch_phase,
        {.doc = "Instead of bloch_k: the phase k.a of each axis.", .unit = "deg"});
  return o;
}

}  // namespace tessera::apps::waves
