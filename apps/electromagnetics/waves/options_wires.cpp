// SPDX-License-Identifier: Apache-2.0
// Thin wires: [[wire]].
#include "electromagnetics/waves/option_tables.h"

namespace tessera::apps::waves {

data::Options<WireOptions> wire_table() {
  using O = WireOptions;
  data::Options<O> o("wire", "A round wire of perfect conductor, thinner than a cell.", "0.3");
  o.add("name", &O::name, {.doc = "What messages call it."});
  o.add("points", &O::points,
        length({.doc = "Its points, joined by straight pieces; with the last point on the first it "
                       "is closed. Where all pieces run along lines of the grid it is metal there, "
                       "and its two ends may lie anywhere along it; others, and those that meet "
                       "them, have currents of their own. Ports and loads on it take their place "
                       "there.",
                .required = true,
                .min_items = 2,
                .max_items = 100000}));
  o.add(
      "radius", &O::radius,
      length(
          {.doc = "Its radius, up to 0.3 of the cells next to it.", .above = 0, .required = true}));
  return o;
}

}  // namespace tessera::apps::waves
