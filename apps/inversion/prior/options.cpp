// SPDX-License-Identifier: Apache-2.0
#include "inversion/prior/options.h"

namespace tessera::apps::prior {

const data::Options<PriorOptions>& prior_options() {
  static const auto table = [] {
    using O = PriorOptions;
    data::Options<O> o("inversion.prior",
                       "A prior of sections of the earth, learnt from drawn ones by a variational "
                       "autoencoder",
                       "0.3");
    o.add("data.sections", &O::sections,
          {.doc = "sections.h5 of a run of inversion.sections, or another file with an array "
                  "log10_resistivity [section, row, column].",
           .required = true});
    o.add("data.validation", &O::validation,
          {.doc = "Share of the sections by which the best epoch is chosen.",
           .above = 0,
           .max = 0.5});
    o.add(
        "data.test", &O::test,
        {.doc = "Share that nothing is chosen by: what is told of the prior is measured on these.",
         .above = 0,
         .max = 0.5});
    o.add("network.widths", &O::widths,
          {.doc = "Channels of each level; each halves rows and columns.",
           .min = 1,
           .max = 4096,
           .min_items = 1,
           .max_items = 10});
    o.add("network.codes", &O::codes,
          {.doc = "Numbers that a section is made of.", .min = 1, .max = 65536});
    o.add("network.noise", &O::noise,
          {.doc = "Standard deviation, in decades, of what codes do not say of a cell: smaller "
                  "values follow the sections more closely and leave the codes less normal.",
           .above = 0,
           .max = 10});
    o.add(
        "network.couplings", &O::couplings,
        {.doc = "Couplings of the map between the autoencoder's codes and normal numbers, which "
                "keeps draws of the prior among what sections have, and makes searches longer; 0: "
                "none.",
         .min = 0,
         .max = 100});
    o.add("network.flow_width", &O::flow_width,
          {.doc = "Numbers of its hidden layers.", .min = 1, .max = 4096});
    o.add("training.epochs", &O::epochs, {.doc = "Passes over the sections.", .min = 1});
    o.add("training.batch", &O::batch, {.doc = "Sections of a step.", .min = 2, .max = 65536});
    o.add("training.rate", &O::rate,
          {.doc = "Adam's rate at the start; it falls to zero as a cosine.", .above = 0, .max = 1});
    o.add("training.flow_epochs", &O::flow_epochs,
          {.doc = "Passes over the sections' codes for the couplings, after the autoencoder.",
           .min = 1});
    o.add("seed", &O::seed, {.doc = "Seed of weights, order and draws."});
    o.add("output.pictures", &O::pictures, {.doc = "Draw curves, pairs and draws."});
    o.add("expect.error_max", &O::expect_error_max,
          {.doc = "The run fails (exit 6) if the root mean square error of decoded test sections, "
                  "in decades, is larger.",
           .above = 0});
    return o;
  }();
  return table;
}

}  // namespace tessera::apps::prior
