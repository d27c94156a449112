// SPDX-License-Identifier: Apache-2.0
#include "solvers/training/augment.h"

#include "tessera/autodiff/ops.h"
#include "tessera/solvers/augment.h"

namespace tessera::apps::training {
namespace {

Tensor changed(const AugmentOptions& o, const Tensor& x, const Tensor& keys) {
  switch (o.kind) {
    case AugmentKind::noise:
      return solvers::noisy(x, o.deviation, keys);
    case AugmentKind::flip:
      return solvers::flipped(x, static_cast<int>(o.axis), o.probability, keys);
    case AugmentKind::shift:
      return solvers::shifted(x, o.axes, o.by, keys);
  }
  throw Error("is no augmentation");
}

}  // namespace

data::Options<AugmentOptions> augment_table() {
  using O = AugmentOptions;
  data::Options<O> o("augment", "One change by chance of transformed inputs, in training alone.");
  o.add_kind(
      "kind", &O::kind,
      {.doc = "noise: normal, added; flip: an axis turned round; shift: elements moved along "
              "axes, 0 where none come. Targets stay as they are.",
       .choices = {"noise", "flip", "shift"}});
  o.add("deviation", &O::deviation,
        {.doc = "Standard deviation.", .min = 0, .only_for = {"noise"}, .required_for = {"noise"}});
  o.add("axis", &O::axis,
        {.doc = "Axis of a sample, from 0.",
         .min = 0,
         .max = 6,
         .only_for = {"flip"},
         .required_for = {"flip"}});
  o.add("probability", &O::probability,
        {.doc = "Share of the samples.", .min = 0, .max = 1, .only_for = {"flip"}});
  o.add("axes", &O::axes,
        {.doc = "Axes of a sample, from 0; each is moved by a number of its own.",
         .min = 0,
         .max = 6,
         .only_for = {"shift"},
         .required_for = {"shift"},
         .min_items = 1,
         .max_items = 7});
  o.add("by", &O::by,
        {.doc = "By at most so many elements, either way.",
         .min = 0,
         .max = 1e9,
         .only_for = {"shift"},
         .required_for = {"shift"}});
  return o;
}

void check_augment(const std::vector<AugmentOptions>& list, const Shape& sample,
                   const data::Config& config) {
  const auto refuse = [&](std::size_t k, const char* key, const std::string& message) {
    throw data::InputError(
        data::ExitCode::config_invalid,
        {config.error(671, "augment[" + std::to_string(k) + "]." + key, message)});
  };
  const std::string what = "a sample is " + to_string(sample);
  for (std::size_t k = 0; k < list.size(); ++k) {
    const AugmentOptions& o = list[k];
    if (o.kind == AugmentKind::flip && o.axis >= sample.size())
      refuse(k, "axis", "there is no axis " + std::to_string(o.axis) + ": " + what);
    if (o.kind != AugmentKind::shift) continue;
    for (const std::int64_t axis : o.axes) {
      if (axis >= sample.size())
        refuse(k, "axes", "there is no axis " + std::to_string(axis) + ": " + what);
      if (o.by >= sample[static_cast<int>(axis)])
        refuse(k, "by", "nothing may be left along axis " + std::to_string(axis) + ": " + what);
    }
  }
}

Tensor augmented(const std::vector<AugmentOptions>& list, Tensor x, Tensor& keys) {
  if (list.empty()) return x;
  const auto n = static_cast<Index>(list.size());
  const Tensor all = split_key(keys, n + 1);
  for (Index k = 0; k < n; ++k)
    x = changed(list[static_cast<std::size_t>(k)], x, select(all, 1, k));
  keys = select(all, 1, n);
  return x;
}

}  // namespace tessera::apps::training
