// SPDX-License-Identifier: Apache-2.0
// Thin wires: [[wire]].
#include "electromagnetics/waves/option_tables.h"

namespace tessera::apps::waves {

data::Options<WireOptions> wire_table() {
  using O = WireOptions;
  data::Options<O> o(
      "wire", "A round wire of perfect conductor, thinner than a cell, on lines of the grid.",
      "0.3");
  o.add("name", &O::name, {.doc = "What messages call it."});
  o.add("points", &O::points,
        length({.doc = "Its points, joined by straight pieces along the axes: across a piece they "
                       "lie on lines of the grid, as bends do. The two ends may lie anywhere along "
                       "the wire; with the last point on the first it is closed. Ports and loads "
                       "on it take its place there.",
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
