// SPDX-License-Identifier: Apache-2.0
// Media and bodies: [[material]] and [[structure]].
#include "electromagnetics/waves/option_tables.h"
#include "tessera/electromagnetics/media_library.h"

#include <algorithm>

namespace tessera::apps::waves {
namespace {

namespace em = electromagnetics;

/// How a parameter of a term is given.
data::Field field_of(const em::DispersionParameter& p) {
  data::Field f{.doc = p.doc, .required = !p.standard, .since = p.since};
  switch (p.quantity) {
    case em::DispersionQuantity::frequency:
      f = frequency(f);
      break;
    case em::DispersionQuantity::damping:
      f.unit = "THz", f.alternatives = {from_photon_energy}, f.min = 0;
      break;
    case em::DispersionQuantity::angle:
      f.unit = "deg";
      break;
    case em::DispersionQuantity::complex:
      f.unit = "rad/s";
      break;
    case em::DispersionQuantity::number:
      break;
  }
  for (const em::DispersionModel& m : em::dispersion_models())
    if (std::find(m.parameters.begin(), m.parameters.end(), p.name) != m.parameters.end())
      f.only_for.push_back(m.name);
  return f;
}

/// A key for the form, and one for each parameter, as dispersion_models.h has them.
data::Options<PoleOptions> pole_table() {
  using O = PoleOptions;
  data::Options<O> o("poles", "A term of the permittivity, e^{+i w t}, ordinary frequencies.");
  data::Field kind{.doc = "Its form, with f0 = frequency and g = damping: ", .required = true};
  for (const em::DispersionModel& m : em::dispersion_models()) {
    kind.doc += (kind.choices.empty() ? "" : ", ") + m.formula;
    kind.choices.push_back(m.name);
  }
  kind.doc += ".";
  o.add_kind("kind", &O::kind, std::move(kind));
  for (const em::DispersionParameter& p : em::dispersion_parameters()) {
    if (p.quantity == em::DispersionQuantity::complex)
      o.add(
          p.name, [name = p.name](O & t) -> auto& { return t.values.at(name); }, field_of(p));
    else
      o.add(
          p.name, [name = p.name](O& t) -> double& { return t.values.at(name)[0]; }, field_of(p));
  }
  return o;
}

data::Options<IndexFitOptions> fit_table() {
  using O = IndexFitOptions;
  data::Options<O> o("fit", "How poles are fitted to index_file.");
  o.add(
      "tolerance", &O::tolerance,
      {.doc = "Root mean square of the relative error that is good enough.", .above = 0, .max = 1});
  o.add("most_poles", &O::most_poles, {.doc = "Most poles.", .min = 1, .max = 40});
  o.add("conducting", &O::conducting, {.doc = "Let there be a conductivity, as metals need."});
  o.add("least_eps", &O::least_eps,
        {.doc = "Least permittivity at infinite frequency; below 1 the time step shrinks.",
         .above = 0});
  return o;
}

/// Where a drawing lies, and what of it is taken.
void add_drawing_keys(data::Options<StructureOptions>& o) {
  using O = StructureOptions;
  o.add("unit", &O::unit,
        length({.doc = "What a length of 1 in the file is: neither STL nor OBJ tells.",
                .above = 0,
                .required = true,
                .only_for = {"mesh"},
                .since = "0.3"}));
  o.add("origin", &O::origin,
        length({.doc = "Where the origin of the file lies.",
                .only_for = {"mesh", "gds", "step"},
                .since = "0.3"}));
  o.add(
      "chord", &O::chord,
      length({.doc =
                  "About how far triangles may be off the faces of the file; if not given 1/200 of "
                  "the smallest cell that grid.cell or lines give, or, where the program makes "
                  "the lines, 1/4000 of the body's diameter.",
              .above = 0,
              .only_for = {"step"},
              .since = "0.3"}));
  o.add("cell", &O::cell,
        {.doc = "The cell of the layout; the only one that no other refers to if not given.",
         .only_for = {"gds"},
         .since = "0.3"});
  o.add("layer", &O::layer,
        {.doc = "The layer of the layout; its polygons and paths count once where they overlap.",
         .min = 0,
         .max = 65535,
         .required = true,
         .only_for = {"gds"},
         .since = "0.3"});
  o.add("datatype", &O::datatype,
        {.doc = "The datatype within the layer; all of them if not given.",
         .min = 0,
         .max = 65535,
         .only_for = {"gds"},
         .since = "0.3"});
}

}  // namespace

data::Options<MaterialOptions> material_table() {
  using O = MaterialOptions;
  data::Options<O> o("material",
                     "A medium: from the library, from a table of n and k, or by its constants. "
                     "vacuum and pec (perfect conductor) are always there, and so are the media of "
                     "the library by their names.");
  o.add("name", &O::name, {.doc = "What structures call it.", .required = true});
  o.add("pec", &O::pec, {.doc = "A perfect electric conductor; takes nothing else."});
  o.add(
      "surface_impedance", &O::surface_impedance,
      {.doc =
           "A good conductor of conductivity sigma: no field is within it, and its surface has "
           "the impedance sqrt(i w mu/sigma) over the band of sources and monitors, also where it "
           "runs across the grid. Takes sigma, mu and roughness alone.",
       .since = "0.3"});
  o.add("roughness", &O::roughness,
        length({.doc = "Root mean square roughness of the surface of a conductor with "
                       "surface_impedance: it loses 1 + 2/pi atan(1.4 (roughness/skin depth)^2) of "
                       "what a smooth one does.",
                .min = 0,
                .since = "0.3"}));
  o.add("library", &O::library,
        {.doc = "A published medium.", .choices = electromagnetics::list_media()});
  o.add("index_file", &O::index_file,
        {.doc = "A table over wavelength, frequency or energy of n and k or eps1 and eps2; poles "
                "are fitted to it."});
  o.add_table("fit", &O::fit, fit_table(), {.doc = "How poles are fitted to index_file."});
  o.add("index", &O::index, {.doc = "Refractive index n without losses: eps = n^2.", .above = 0});
  o.add("eps", &O::eps,
        {.doc = "Relative permittivity (at infinite frequency, where there are poles): one, or "
                "along x, y, z.",
         .above = 0,
         .one_for_all = true});
  o.add("sigma", &O::sigma, {.doc = "Conductivity.", .unit = "S/m", .min = 0, .one_for_all = true});
  o.add("loss_tangent", &O::loss_tangent,
        {.doc = "Loss tangent at loss_frequency, of eps and poles together, instead of sigma.",
         .min = 0,
         .max = 10});
  o.add("loss_frequency", &O::loss_frequency, frequency({.doc = "Where the loss tangent holds."}));
  o.add("loss_band", &O::loss_band,
        frequency({.doc = "Band in which the loss tangent stays nearly the same; without one the "
                          "loss is a conductivity, right at loss_frequency alone."}));
  o.add("mu", &O::mu,
        {.doc = "Relative permeability: one, or along x, y, z.", .above = 0, .one_for_all = true});
  o.add("sigma_m", &O::sigma_m,
        {.doc = "Magnetic conductivity.", .unit = "ohm/m", .min = 0, .one_for_all = true});
  o.add("chi2", &O::chi2, {.doc = "Second-order susceptibility.", .unit = "pm/V"});
  o.add("chi3", &O::chi3, {.doc = "Third-order susceptibility.", .unit = "m^2/V^2"});
  o.add_tables("poles", &O::poles, pole_table(),
               {.doc = "Terms of dispersion, added to eps.", .max_items = 100});
  return o;
}

data::Options<StructureOptions> structure_table() {
  using R = RotateOptions;
  data::Options<R> rotate("rotate", "A turn of the body, right-handed.");
  rotate.add("axis", &R::axis, {.doc = "Direction of the axis, of any length."});
  rotate.add("angle", &R::angle, {.doc = "Angle.", .unit = "deg", .required = true});
  rotate.add("about", &R::about,
             length({.doc = "A point on the axis; if not given the centre of the body, of a "
                            "half-space its point."}));
  using P = RepeatOptions;
  data::Options<P> repeat("repeat",
                          "Copies in rows along x, y and z; the first is the body itself.");
  repeat.add("count", &P::count,
             {.doc = "How many along x, y, z.", .min = 1, .max = 100000, .required = true});
  repeat.add("step", &P::step,
             length({.doc = "From one to the next along x, y, z.", .required = true}));

  using O = StructureOptions;
  const std::vector<std::string> combined = {"union", "intersection", "difference"};
  data::Options<O> o("structure",
                     "A body of one medium. Lengths may be \"inf\" where it says so: a body that "
                     "reaches into an absorbing layer has to run through it.");
  o.add_kind(
      "shape", &O::shape,
      {.doc =
           "Its shape; union, intersection and difference combine other structures by their names; "
           "pixels is a block of densities from a file, mesh a surface of triangles from one, gds "
           "a layer of a layout, raised, step the solids of a STEP file.",
       .choices = {"box", "half_space", "sphere", "ellipsoid", "cylinder", "cone", "torus", "prism",
                   "union", "intersection", "difference", "pixels", "mesh", "gds", "step"},
       .required = true});
  o.add("name", &O::name, {.doc = "For messages and as a part of other structures."});
  o.add("material", &O::material,
        {.doc = "A [[material]], a medium of the library, vacuum or pec. Without one the body is "
                "only a part of others."});
  o.add("priority", &O::priority,
        {.doc = "Where bodies overlap the highest wins; among equals the later."});
  o.add(
      "centre", &O::centre,
      length({.doc = "Its middle.",
              .only_for = {"box", "sphere", "ellipsoid", "cylinder", "cone", "torus", "pixels"}}));
  const auto side = [](std::string doc) {
    data::Field f =
        length({.doc = std::move(doc), .infinite = true, .only_for = {"box", "pixels"}});
    return f;
  };
  data::Field size = side(
      "Lengths of the sides, about the centre. 0 along an axis that is not resolved is the same as "
      "inf; along another it makes a sheet, of a perfect conductor alone.");
  size.min = 0;
  o.add("size", &O::size, size);
  o.add("low", &O::low, side("Instead of size: the corner where x, y, z are least."));
  o.add("high", &O::high, side("The opposite corner."));
  o.add("point", &O::point,
        length({.doc = "A point of its face.", .required = true, .only_for = {"half_space"}}));
  o.add("outward", &O::outward,
        {.doc = "Direction out of the body, across its face, of any length.",
         .required = true,
         .only_for = {"half_space"}});
  o.add("radius", &O::radius,
        length({.doc = "Radius; of a torus that of its ring, to the middle of the tube.",
                .above = 0,
                .required = true,
                .only_for = {"sphere", "cylinder", "torus"}}));
  o.add("tube_radius", &O::tube_radius,
        length({.doc = "Radius of the tube, below that of the ring.",
                .above = 0,
                .required = true,
                .only_for = {"torus"},
                .since = "0.3"}));
  o.add("inner_radius", &O::inner_radius,
        length({.doc = "Radius of the hole of a shell, tube or ring.",
                .above = 0,
                .only_for = {"sphere", "cylinder"}}));
  o.add("semi_axes", &O::semi_axes,
        length({.doc = "Half its lengths along x, y, z.",
                .above = 0,
                .required = true,
                .only_for = {"ellipsoid"}}));
  o.add("radius_low", &O::radius_low,
        length({.doc = "Radius at the low end of the axis.",
                .min = 0,
                .required = true,
                .only_for = {"cone"}}));
  o.add(
      "radius_high", &O::radius_high,
      length({.doc = "Radius at the high end.", .min = 0, .required = true, .only_for = {"cone"}}));
  o.add("height", &O::height,
        length({.doc = "Length along the axis; that of a cylinder or of a body with upright walls "
                       "may be inf, or 0 where nothing is resolved along the axis: it has no end "
                       "there.",
                .infinite = true,
                .min = 0,
                .required = true,
                .only_for = {"cylinder", "cone", "prism", "gds"}}));
  o.add("axis", &O::axis,
        {.doc = "Direction of the axis; rotate turns it further.",
         .choices = axis_names,
         .only_for = {"cylinder", "cone", "torus", "prism", "gds"}});
  o.add("corners", &O::corners,
        length({.doc = "Outline across the axis: (x, y), for axis x (y, z), for axis y (z, x).",
                .required = true,
                .only_for = {"prism"},
                .min_items = 3}));
  o.add("base", &O::base,
        length({.doc = "Where along the axis it begins.", .only_for = {"prism", "gds"}}));
  o.add("sidewall", &O::sidewall,
        {.doc = "How far its walls lean inwards towards the top.",
         .unit = "deg",
         .above = -89,
         .max = 89,
         .only_for = {"prism", "gds"}});
  o.add("parts", &O::parts,
        {.doc = "Names of earlier structures; a difference is the first without the others.",
         .required = true,
         .only_for = combined,
         .min_items = 2});
  o.add("file", &O::file,
        {.doc = "Of pixels densities from 0 to 1: numbers of a .csv without a line of names, a "
                ".npy, or the grey values of a .png, black 0 and white 1. The block has as many "
                "pixels of equal size along each axis as the file has numbers. Of a mesh the "
                "triangles, .stl or .obj, which should close a surface. Of gds a GDSII stream. Of "
                "step faces of solids, in the unit that the file tells.",
         .required = true,
         .only_for = {"pixels", "mesh", "gds", "step"},
         .since = "0.3"});
  o.add(
      "axes", &O::axes,
      {.doc = "Which way each index of the file runs: of a .csv or .png the first counts rows from "
              "the top, the second columns from the left. \"-x\" runs against x.",
       .choices = {"x", "y", "z", "-x", "-y", "-z"},
       .required = true,
       .only_for = {"pixels"},
       .min_items = 1,
       .max_items = 3,
       .since = "0.3"});
  o.add(
      "empty", &O::empty,
      {.doc = "The medium where the density is 0; that of grid.background if not given. `material` "
              "is where it is 1; between them permittivity, conductivity and poles are mixed "
              "linearly.",
       .only_for = {"pixels"},
       .since = "0.3"});
  o.add("interpolation", &O::interpolation,
        {.doc = "Between the middles of pixels: pixels, each as it is, to its edges; linear, by "
                "quarters of a pixel.",
         .choices = {"pixels", "linear"},
         .only_for = {"pixels"},
         .since = "0.3"});
  add_drawing_keys(o);
  o.add_table("rotate", &O::rotate, rotate, {.doc = "A turn of the body."});
  o.add_table("repeat", &O::repeat, repeat, {.doc = "Copies in rows."});
  return o;
}

}  // namespace tessera::apps::waves
