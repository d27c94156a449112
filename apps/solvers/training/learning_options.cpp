// SPDX-License-Identifier: Apache-2.0
#include "solvers/training/learning_options.h"

namespace tessera::apps::training {

data::Options<AverageChoice> average_table() {
  using O = AverageChoice;
  data::Options<O> o("average", "Averages of the weights along the training.");
  o.add_kind("kind", &O::kind,
             {.doc = "exponential: after each step, what is older counts `decay` times as much "
                     "(less at first); mean: of the ends of epochs.",
              .choices = {"exponential", "mean"}});
  o.add("decay", &O::decay,
        {.doc = "Near 1: the average is over some 1 / (1 - decay) steps.",
         .min = 0,
         .max = 0.9999999,
         .only_for = {"exponential"}});
  o.add("first_epoch", &O::first_epoch,
        {.doc = "Epochs before it have no part.", .min = 0, .only_for = {"mean"}});
  return o;
}

data::Options<LeafChoice> leaf_table() {
  using O = LeafChoice;
  data::Options<O> o("leaf", "What is different for weights of some names.");
  o.add(
      "names", &O::names,
      {.doc =
           "Names as weights.safetensors has them; `*` stands for any text, as in `layers.0.*`. Of "
           "the tables that name a leaf the last one counts.",
       .required = true});
  o.add("rate", &O::rate, {.doc = "Times the learning rate.", .above = 0});
  o.add("decay", &O::decay, {.doc = "In place of training.decay.", .min = 0});
  o.add("frozen", &O::frozen,
        {.doc = "They stay as they are, and have no part in training.clip_norm."});
  return o;
}

void check_learning(const Options& o, const Say& say) {
  if (const auto& a = o.training.average;
      a && a->first_epoch > 0 && a->first_epoch >= o.training.epochs)
    say("training.average.first_epoch", "no epoch is left for the mean", "below training.epochs");
  for (std::size_t k = 0; k < o.training.leaves.size(); ++k) {
    const LeafChoice& l = o.training.leaves[k];
    if (l.frozen && (l.rate || l.decay))
      say("training.leaf[" + std::to_string(k) + "].frozen",
          "frozen weights have no rate and no decay", "leave them out");
  }
}

}  // namespace tessera::apps::training
