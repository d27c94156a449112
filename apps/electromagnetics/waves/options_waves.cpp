// SPDX-License-Identifier: Apache-2.0
// What makes waves and what measures them: [[source]] and [[monitor]].
#include "electromagnetics/waves/option_tables.h"

namespace tessera::apps::waves {
namespace {

data::Options<WaveformOptions> waveform_table() {
  using O = WaveformOptions;
  data::Options<O> o("waveform", "Time dependence of a source.");
  o.add_kind("kind", &O::kind,
             {.doc = "gaussian: a modulated Gaussian; baseband: a Gaussian from zero frequency on; "
                     "derivative: its derivatives; ricker, ricker_derivative: a Ricker pulse and "
                     "its derivative; continuous: a continuous wave; file: samples of a file.",
              .choices = {"gaussian", "baseband", "derivative", "ricker", "ricker_derivative",
                          "continuous", "file"}});
  o.add("frequency", &O::frequency,
        frequency({.doc = "Of the carrier (gaussian, continuous); where the spectrum peaks "
                          "(ricker).",
                   .only_for = {"gaussian", "ricker", "ricker_derivative", "continuous"},
                   .required_for = {"ricker", "ricker_derivative", "continuous"}}));
  o.add("bandwidth", &O::bandwidth,
        {.doc = "Full width between the frequencies where the amplitude is a tenth of its peak.",
         .unit = "THz",
         .above = 0,
         .only_for = {"gaussian"}});
  o.add("frequency_min", &O::frequency_min,
        frequency({.doc = "Instead of frequency and bandwidth: the lower end of the band.",
                   .only_for = {"gaussian"}}));
  o.add("frequency_max", &O::frequency_max,
        frequency({.doc = "The upper end of the band.", .only_for = {"gaussian"}}));
  o.add("width", &O::width,
        duration({.doc = "tau of exp(-((t - t0)/tau)^2).",
                  .above = 0,
                  .required = true,
                  .only_for = {"baseband", "derivative"}}));
  o.add("order", &O::order,
        {.doc = "Of the derivative.", .min = 1, .max = 8, .only_for = {"derivative"}});
  o.add("delay", &O::delay,
        duration(
            {.doc = "t0, the middle of the pulse; such that it begins at 1e-7 or less of its "
                    "peak (Ricker pulses: at 5e-7) if not given.",
             .min = 0,
             .only_for = {"gaussian", "baseband", "derivative", "ricker", "ricker_derivative"}}));
  o.add("phase", &O::phase,
        {.doc = "Phase of the carrier; -90 deg is a sine, which leaves no charge behind.",
         .unit = "deg",
         .only_for = {"gaussian", "continuous"}});
  o.add("ramp", &O::ramp,
        duration({.doc = "Time in which it is turned on; five periods if not given.",
                  .above = 0,
                  .only_for = {"continuous"}}));
  o.add("file", &O::file,
        {.doc = "Two columns, time in s, evenly spaced, and value; # begins a comment.",
         .required = true,
         .only_for = {"file"}});
  return o;
}

}  // namespace

data::Options<SourceOptions> source_table() {
  using O = SourceOptions;
  const std::vector<std::string> currents = {"point", "line", "plane"},
                                 waves = {"plane_wave", "beam"};
  const std::vector<std::string> directed = {"plane_wave", "beam", "mode"};
  data::Options<O> o(
      "source",
      "A current at a point, along a line or over a plane; a plane wave within a "
      "box (total field inside, scattered field outside); a Gaussian beam; or a mode of a "
      "guide, which leaves its plane to one side.");
  o.add_kind("kind", &O::kind,
             {.doc = "What it is.",
              .choices = {"point", "line", "plane", "plane_wave", "beam", "mode"},
              .required = true});
  o.add("name", &O::name, {.doc = "What monitors call it."});
  o.add("component", &O::component,
        {.doc = "Direction of the current: electric along E, magnetic along H.",
         .choices = component_names,
         .required = true,
         .only_for = currents});
  o.add(
      "position", &O::position,
      length({.doc =
                  "Its middle, of a beam where its axis meets the plane it starts from; the middle "
                  "of the domain if not given. A plane wave without a size has no use for it.",
              .required_for = {"point", "line", "plane", "beam", "mode"}}));
  o.add(
      "size", &O::size,
      length({.doc =
                  "Extent of the line or plane, or of the box of a plane wave (just inside "
                  "the absorbing layers if not given); of a mode the part of the plane in which "
                  "the guide lies, walls of metal around it (all of the plane if not given); of a "
                  "beam 0 along the axis that its plane lies across (the one that it follows "
                  "most if not given), and of no matter along the others: nothing is cut off.",
              .min = 0,
              .only_for = {"line", "plane", "plane_wave", "beam", "mode"},
              .required_for = {"line", "plane"}}));
  o.add("direction", &O::direction,
        {.doc = "Where it travels to, a vector of any length; of a mode along an axis.",
         .required = true,
         .only_for = directed});
  o.add("polarization", &O::polarization,
        {.doc = "Direction of E; what lies along the direction of travel is left out.",
         .required = true,
         .only_for = waves});
  o.add("waist", &O::waist,
        length({.doc = "Radius where the amplitude in the focus is 1/e.",
                .above = 0,
                .required = true,
                .only_for = {"beam"}}));
  o.add("focus", &O::focus,
        length({.doc = "How far from its position along its direction the focus lies.",
                .only_for = {"beam"}}));
  o.add("mode", &O::mode,
        {.doc = "Which mode: 1 is the slowest that travels.",
         .min = 1,
         .max = 100,
         .only_for = {"mode"},
         .since = "0.3"});
  o.add("index", &O::index,
        {.doc = "Effective index about which modes are sought; above that of the densest medium in "
                "the plane if not given. Plasmons may be slower than that.",
         .above = 0,
         .only_for = {"mode"},
         .since = "0.3"});
  o.add(
      "amplitude", &O::amplitude,
      {.doc = "Factor on the waveform: V/m for waves and beams; sqrt(W) for modes; for currents A "
              "m (point), A (line), A/m (plane), magnetic ones with V for A."});
  o.add_table("waveform", &O::waveform, waveform_table(),
              {.doc = "Its time dependence.", .required = true});
  return o;
}

data::Options<MonitorOptions> monitor_table() {
  using M = MirrorOptions;
  data::Options<M> mirror("mirrors", "A perfectly conducting plane beside the radiating part.");
  mirror.add("axis", &M::axis, {.doc = "It lies across.", .choices = axis_names, .required = true});
  mirror.add("position", &M::position, length({.doc = "Where along the axis.", .required = true}));
  mirror.add("magnetic", &M::magnetic, {.doc = "A magnetic conductor, not an electric one."});

  using O = MonitorOptions;
  const std::vector<std::string> spectral = {"dft",  "flux",   "energy", "far_field", "rcs",
                                             "ldos", "orders", "mode",   "beam"},
                                 banded = {"dft",  "flux", "energy", "far_field", "rcs",
                                           "ldos", "mode", "beam",   "orders",    "resonances"},
                                 angular = {"far_field", "rcs"};
  data::Options<O> o("monitor", "What is measured, under its name in results.h5.");
  o.add_kind(
      "kind", &O::kind,
      {.doc =
           "probe: fields in time at a point; dft: Fourier transforms of fields; flux: "
           "power through a plane or out of a box; energy: energy in a box (poles with "
           "what they store: d(f Re eps)/df where nothing is lost, kinetic and potential "
           "energy of lossy ones); far_field: pattern of an antenna; rcs: scattering "
           "cross-section; ldos: density of states and Purcell factor of a point source; "
           "orders: diffraction orders; resonances: frequencies and Q of a ring-down, "
           "each mode once; snapshot: fields of a plane or box at intervals; mode: amplitudes of "
           "a guide's modes through a plane, both ways; beam: those of a Gaussian beam, which is "
           "the mode of a fibre.",
       .choices = {"probe", "dft", "flux", "energy", "far_field", "rcs", "ldos", "orders",
                   "resonances", "snapshot", "mode", "beam"},
       .required = true});
  o.add("name", &O::name, {.doc = "Its name, of letters, digits, _ and -.", .required = true});
  o.add(
      "position", &O::position,
      length({.doc = "A point, or the middle of the plane or box; the middle of the domain if not "
                     "given.",
              .only_for = {"probe", "dft", "flux", "energy", "far_field", "rcs", "orders",
                           "resonances", "snapshot", "mode", "beam"},
              .required_for = {"probe", "flux", "far_field", "rcs", "orders", "resonances", "mode",
                               "beam"}}));
  o.add(
      "size", &O::size,
      length({.doc = "Extent of the plane or box; 0 across a plane. Not given: dft a point, "
                     "energy and snapshot the domain. Of modes the part of the plane in which the "
                     "guide lies, walls of metal around it.",
              .min = 0,
              .only_for = {"dft", "flux", "energy", "far_field", "rcs", "orders", "snapshot",
                           "mode", "beam"},
              .required_for = {"flux", "far_field", "rcs", "orders", "mode", "beam"}}));
  o.add(
      "components", &O::components,
      {.doc = "Components of the field; if not given all that are computed, of resonances that of "
              "the first current.",
       .choices = component_names,
       .only_for = {"probe", "dft", "resonances", "snapshot"},
       .max_items = 6});
  o.add("frequencies", &O::frequencies,
        frequency({.doc = "Frequencies one by one.", .only_for = spectral, .max_items = 100000}));
  o.add("frequency_min", &O::frequency_min,
        frequency({.doc = "Instead: the lower end of a band.",
                   .only_for = banded,
                   .required_for = {"resonances"}}));
  o.add("frequency_max", &O::frequency_max,
        frequency({.doc = "Its upper end.", .only_for = banded, .required_for = {"resonances"}}));
  o.add("frequency_points", &O::frequency_points,
        {.doc = "How many in the band, evenly spaced.",
         .min = 1,
         .max = 100000,
         .only_for = spectral});
  o.add("reverse", &O::reverse,
        {.doc =
             "Count power along the falling axis (into a box) as positive; of orders, the side; of "
             "modes, call what runs that way forward.",
         .only_for = {"flux", "orders", "mode"}});
  o.add("relative_to", &O::relative_to,
        {.doc = "Name of a flux, mode or beam monitor with the same frequencies by whose power, of "
                "modes that of the first one forward (along the axis; against it where that "
                "monitor says reverse), of beams that along their direction, "
                "this one is divided. \"through.reference\" is "
                "the monitor \"through\" of the run that [reference] describes.",
         .only_for = {"flux", "orders", "mode", "beam"}});
  o.add("subtract", &O::subtract,
        {.doc = "Folder of a former run whose fields at this monitor are subtracted first. Both "
                "have the same sources, grid, time step and frequencies, and the monitor the same "
                "position. \"reference\" is the run that [reference] describes.",
         .only_for = {"dft", "flux", "far_field", "rcs", "orders"}});
  o.add("theta", &O::theta,
        {.doc = "Angles from +z; theta and phi are combined.",
         .unit = "deg",
         .min = 0,
         .max = 180,
         .only_for = angular});
  o.add("phi", &O::phi,
        {.doc = "Angles from +x towards +y.",
         .unit = "deg",
         .min = -360,
         .max = 360,
         .only_for = angular});
  o.add("angle_points", &O::angle_points,
        {.doc = "Where angles are not given: how many theta (with both poles) and phi.",
         .min = 1,
         .max = 100000,
         .only_for = angular});
  o.add_tables(
      "mirrors", &O::mirrors, mirror,
      {.doc =
           "Conducting planes, such as ground under an antenna. Walls and symmetries of the domain "
           "count without being named here. Behind walls and these planes there is no far field.",
       .only_for = {"far_field"},
       .max_items = 3});
  o.add(
      "beam", &O::beam,
      {.doc = "Also look for the main beam: its direction, directivity, widths in the planes of E "
              "and H, front to back, side lobes, axial ratio. Three dimensions.",
       .only_for = {"far_field"},
       .since = "0.3"});
  o.add("co_polar", &O::co_polar,
        {.doc = "Angle from +x towards +y of the E that an antenna looking along +z is for: gives "
                "co- and cross-polar directivity by Ludwig's third definition. Three dimensions.",
         .unit = "deg",
         .min = -360,
         .max = 360,
         .only_for = {"far_field"},
         .since = "0.3"});
  o.add("source", &O::source,
        {.doc = "Name of the plane wave (rcs) or point source (ldos) that it is measured against; "
                "the only one if not given. Orders are measured against none. A point source on a "
                "mirror counts together with its image.",
         .only_for = {"rcs", "ldos", "orders"}});
  o.add("orders", &O::orders,
        {.doc = "Which (m, n) along the two axes of the plane; those that propagate if not given.",
         .only_for = {"orders"}});
  o.add("modes", &O::modes,
        {.doc = "How many modes, from the slowest that travels on.",
         .min = 1,
         .max = 100,
         .only_for = {"mode"},
         .since = "0.3"});
  o.add("index", &O::index,
        {.doc = "Effective index about which modes are sought; above that of the densest medium in "
                "the plane if not given.",
         .above = 0,
         .only_for = {"mode"},
         .since = "0.3"});
  o.add("direction", &O::direction,
        {.doc = "Where the beam travels to, a vector of any length, at most 84 degrees off the "
                "normal of "
                "the plane; of what a fibre sends, from its end.",
         .required = true,
         .only_for = {"beam"},
         .since = "0.3"});
  o.add("polarization", &O::polarization,
        {.doc = "Direction of its E; what lies along the direction of travel is left out.",
         .required = true,
         .only_for = {"beam"},
         .since = "0.3"});
  o.add("waist", &O::waist,
        length({.doc = "Radius where the amplitude in the focus is 1/e: 5.2 um of a single-mode "
                       "fibre at 1.55 um.",
                .above = 0,
                .required = true,
                .only_for = {"beam"},
                .since = "0.3"}));
  o.add("through", &O::through,
        length({.doc = "A point of the beam's axis; if not given the middle of the plane.",
                .only_for = {"beam"},
                .since = "0.3"}));
  o.add("focus", &O::focus,
        length({.doc = "How far from `through` along its direction the focus lies, behind it "
                       "where negative.",
                .only_for = {"beam"},
                .since = "0.3"}));
  o.add("min_quality", &O::min_quality,
        {.doc = "Least |Q| of a resonance.", .min = 0, .only_for = {"resonances"}});
  o.add("max_modes", &O::max_modes,
        {.doc = "Most resonances that are reported, the strongest.",
         .min = 1,
         .max = 1000,
         .only_for = {"resonances"}});
  o.add(
      "derivatives", &O::derivatives,
      {.doc =
           "What its results are differentiated in, as QUANTITY_by_NAME. Of resonances, "
           "frequencies, "
           "decay and Q, by the adjoint of the run: names of [parameters], which may move "
           "structures "
           "and permittivities, and lengths of structures: \"ring.radius\", \"bar.size[1]\", "
           "\"taper.corners[0][1]\"; two more runs, whatever their number. Of transforms (since "
           "0.3) "
           "also names that move conductors, losses, sheets, wires, and R, L and C of loads and "
           "ports; one more pass of all runs for each name of the case, in float64. Of a far field "
           "directivity, intensity, power, E_theta and E_phi have them, and not axial_ratio, "
           "co_polar, cross_polar and what beam asks for. Sources, modes and the medium where a "
           "far field begins stay as they are.",
       .only_for = {"resonances", "dft", "flux", "far_field", "rcs", "ldos", "orders", "mode",
                    "beam"},
       .max_items = 1000});
  o.add("every", &O::every,
        duration({.doc = "Time between two snapshots, or between two values of a probe (every "
                         "step if not given).",
                  .above = 0,
                  .only_for = {"snapshot", "probe"},
                  .required_for = {"snapshot"}}));
  o.add("start", &O::start,
        duration({.doc = "Simulated time at which it begins; for resonances the end of the sources "
                         "if not given.",
                  .min = 0,
                  .only_for = {"snapshot", "probe", "resonances"}}));
  o.add("end", &O::end,
        duration({.doc = "Simulated time at which it ends.",
                  .above = 0,
                  .only_for = {"snapshot", "probe", "resonances"}}));
  return o;
}

data::Options<ReferenceOptions> reference_table() {
  using O = ReferenceOptions;
  data::Options<O> o("reference",
                     "A run of the same case without some of its bodies, in the same folder and "
                     "before it. Monitors refer to it by `subtract` and `relative_to`.");
  o.add("without", &O::without,
        {.doc = "Names of the structures that are left out.",
         .required = true,
         .min_items = 1,
         .since = "0.3"});
  return o;
}

std::vector<double> MonitorOptions::all_frequencies() const {
  if (!frequency_min || !frequency_max) return frequencies;
  const double low = *frequency_min, high = *frequency_max;
  const int n = frequency_points;
  std::vector<double> out;
  for (int i = 0; i < n; ++i)
    out.push_back(n == 1 ? (low + high) / 2 : low + (high - low) * i / (n - 1));
  return out;
}

}  // namespace tessera::apps::waves
