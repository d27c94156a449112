// SPDX-License-Identifier: Apache-2.0
// Sheets thinner than a cell: [[sheet]].
#include "electromagnetics/waves/option_tables.h"

#include <cmath>

namespace tessera::apps::waves {

data::Options<SheetOptions> sheet_table() {
  using O = SheetOptions;
  data::Options<O> o("sheet",
                     "A sheet thinner than a cell: a surface resistance, or a film of a medium. "
                     "The line of the grid that is nearest to it is put on it.",
                     "0.3");
  o.add_kind("shape", &O::shape,
             {.doc = "Its outline in its plane.", .choices = {"rectangle", "disc", "polygon"}});
  o.add("name", &O::name, {.doc = "What messages and reference.without call it."});
  o.add("normal", &O::normal,
        {.doc = "The axis across it.", .choices = axis_names, .required = true});
  o.add("position", &O::position,
        length({.doc = "Its middle; of a polygon only where along the normal it lies.",
                .required = true}));
  data::Field size = length({.doc = "Its extent in its plane, 0 along the normal; the whole plane "
                                    "if not given.",
                             .infinite = true,
                             .only_for = {"rectangle"}});
  size.min = 0;
  o.add("size", &O::size, size);
  o.add("radius", &O::radius,
        length({.doc = "Its radius.", .above = 0, .required = true, .only_for = {"disc"}}));
  o.add("corners", &O::corners,
        length({.doc = "Its outline: (x, y), for the normal x (y, z), for y (z, x).",
                .required = true,
                .only_for = {"polygon"},
                .min_items = 3}));
  o.add("resistance", &O::resistance,
        {.doc = "Surface resistance: of a square of it, whatever its size.",
         .unit = "ohm",
         .above = 0});
  o.add("material", &O::material,
        {.doc = "Instead of resistance: the medium of the film, one without magnetism and "
                "nonlinearity."});
  o.add("thickness", &O::thickness,
        length({.doc = "Thickness of the film, at most a cell.", .above = 0}));
  return o;
}

}  // namespace tessera::apps::waves
