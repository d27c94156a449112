// SPDX-License-Identifier: Apache-2.0
// Lumped R, L and C between two conductors: [[load]].
#include "electromagnetics/waves/option_tables.h"

namespace tessera::apps::waves {

data::Options<LoadOptions> load_table() {
  using O = LoadOptions;
  data::Options<O> o("load",
                     "R, L and C between two conductors: over a rectangle, or along a line of the "
                     "grid.",
                     "0.3");
  o.add("name", &O::name, {.doc = "What messages call it."});
  o.add("position", &O::position, length({.doc = "Its middle.", .required = true}));
  o.add(
      "size", &O::size,
      length({.doc = "Its extent: from one conductor to the other along the current, its width "
                     "across; 0 leaves a line of edges. Of a whole that boundary.symmetry halves.",
              .min = 0,
              .required = true}));
  o.add("axis", &O::axis, {.doc = "The current's.", .choices = axis_names, .required = true});
  add_circuit(o);
  return o;
}

}  // namespace tessera::apps::waves
