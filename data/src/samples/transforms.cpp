// SPDX-License-Identifier: Apache-2.0
#include "tessera/data/transforms.h"

#include "tessera/autodiff/error.h"
#include "tessera/autodiff/ops.h"
#include "tessera/data/csv.h"

#include <cmath>
#include <string>

namespace tessera::data {
namespace {

Tensor as_f64(const Tensor& x) { return x.dtype() == Dtype::f64 ? x : cast(x, Dtype::f64); }

/// f(x) of the chosen features, the others as they are; f sees `harmless` in their place, so that
/// neither their values nor their derivatives can spoil anything.
template <class F>
Tensor of_chosen(const Tensor& chosen, const Tensor& x, double harmless, const F& f) {
  if (!chosen.defined()) return f(x);
  return where(chosen, f(where(chosen, x, harmless)), x);
}

Tensor apply(const Transform& t, const Tensor& x) {
  switch (t.kind) {
    case TransformKind::none:
      return x;
    case TransformKind::standardise:
    case TransformKind::range:
      return of_chosen(t.chosen, x, 0, [&](const Tensor& v) { return (v - t.shift) / t.scale; });
    case TransformKind::log:
      return of_chosen(t.chosen, x, 1 - t.shift.item(),
                       [&](const Tensor& v) { return log(v + t.shift); });
    case TransformKind::one_hot:
      return one_hot(cast(x, Dtype::i64), t.classes);
  }
  throw Error("is no kind of transform");
}

Tensor undo(const Transform& t, const Tensor& y) {
  switch (t.kind) {
    case TransformKind::none:
      return y;
    case TransformKind::standardise:
    case TransformKind::range:
      return of_chosen(t.chosen, y, 0, [&](const Tensor& v) { return v * t.scale + t.shift; });
    case TransformKind::log:
      return of_chosen(t.chosen, y, 0, [&](const Tensor& v) { return exp(v) - t.shift; });
    case TransformKind::one_hot:
      return as_f64(argmax(y, -1));
  }
  throw Error("is no kind of transform");
}

[[noreturn]] void refuse(const Tensor& x, const std::vector<double>& values, std::size_t k,
                         const std::string& what) {
  const std::size_t samples = static_cast<std::size_t>(x.dim(0));
  throw SampleError(static_cast<std::int64_t>(k / (values.size() / samples)),
                    "has " + number_text(values[k]) + ": " + what);
}

void check_classes(const Tensor& x, std::int64_t classes) {
  const std::vector<double> values = x.to_vector<double>();
  for (std::size_t k = 0; k < values.size(); ++k)
    if (!(values[k] >= 0 && values[k] == std::floor(values[k]) &&
          values[k] < static_cast<double>(classes)))
      refuse(x, values, k, "expected an integer from 0 to " + std::to_string(classes - 1));
}

Tensor mask_of(const TransformSpec& s, const Tensor& x) {
  if (s.features.empty()) return {};
  if (x.ndim() < 2) throw Error("samples without axes have no features to choose from");
  const std::int64_t n = x.dim(-1);
  std::vector<bool> chosen(static_cast<std::size_t>(n));
  for (const std::int64_t f : s.features) {
    if (f < 0 || f >= n)
      throw Error("feature " + std::to_string(f) + " is not one of 0 to " + std::to_string(n - 1));
    chosen[static_cast<std::size_t>(f)] = true;
  }
  return cast(tensor(std::vector<double>(chosen.begin(), chosen.end())), Dtype::boolean);
}

/// 1 where all numbers are one: their mean is it but for rounding, and how far they scatter about
/// that is nothing to divide by. Throws where squares of different numbers vanish, or where they go
/// beyond f64.
Tensor checked_scale(const Tensor& scale, const Tensor& least, const Tensor& largest) {
  const auto s = scale.to_vector<double>(), a = least.to_vector<double>(),
             b = largest.to_vector<double>();
  for (std::size_t k = 0; k < s.size(); ++k)
    if (!std::isfinite(s[k]) || (s[k] == 0 && a[k] != b[k]))
      throw Error("feature " + std::to_string(k) + " has numbers from " + number_text(a[k]) +
                  " to " + number_text(b[k]) +
                  ": how far they scatter is beyond f64; take another unit");
  return where(least < largest, scale, 1);
}

Transform fitted(const TransformSpec& s, const Tensor& x) {
  Transform t{.kind = s.kind, .chosen = mask_of(s, x)};
  const std::vector<double> values = x.to_vector<double>();
  Shape axes{0};
  if (s.together)
    for (int k = 1; k < x.ndim(); ++k) axes.push_back(k);
  const auto seen = [&](double harmless) {  // statistics of features that are not chosen are unused
    return t.chosen.defined() ? where(t.chosen, x, harmless) : x;
  };
  if (s.together && t.chosen.defined()) throw Error("`together` is for all features, not for some");
  switch (s.kind) {
    case TransformKind::none:
      break;
    case TransformKind::standardise: {
      const Tensor least = min(seen(0), axes), largest = max(seen(0), axes);
      t.shift = where(least < largest, mean(seen(0), axes), least);
      t.scale = checked_scale(standard_deviation(seen(0), axes), least, largest);
      break;
    }
    case TransformKind::range:
      t.shift = min(seen(0), axes);
      t.scale = checked_scale(max(seen(0), axes) - t.shift, t.shift, max(seen(0), axes));
      break;
    case TransformKind::log: {
      t.shift = Tensor(s.offset);
      const std::vector<double> terms = (seen(1 - s.offset) + s.offset).to_vector<double>();
      for (std::size_t k = 0; k < terms.size(); ++k)
        if (!(terms[k] > 0))
          refuse(x, values, k, "the logarithm is of numbers above " + number_text(0 - s.offset));
      break;
    }
    case TransformKind::one_hot: {
      t.classes = s.classes;
      for (const double v : values)
        if (s.classes == 0) t.classes = std::max(t.classes, static_cast<std::int64_t>(v) + 1);
      check_classes(x, t.classes);
      break;
    }
  }
  return t;
}

}  // namespace

Tensor Transforms::apply(const Tensor& x) const {
  Tensor t = as_f64(x);
  for (const Transform& s : steps) t = data::apply(s, t);
  return t;
}
Tensor Transforms::checked(const Tensor& x) const {
  Tensor t = as_f64(x);
  for (const Transform& s : steps) {
    if (s.kind == TransformKind::one_hot) check_classes(t, s.classes);
    t = data::apply(s, t);
  }
  return t;
}
Tensor Transforms::undo(const Tensor& y) const {
  Tensor t = as_f64(y);
  for (auto s = steps.rbegin(); s != steps.rend(); ++s) t = data::undo(*s, t);
  return t;
}

Transforms fit_transforms(const std::vector<TransformSpec>& specs, const Tensor& train) {
  if (train.ndim() < 1 || train.dim(0) == 0) throw Error("there are no samples");
  Tensor x = as_f64(train);
  const std::vector<double> values = x.to_vector<double>();
  for (std::size_t k = 0; k < values.size(); ++k)
    if (!std::isfinite(values[k])) refuse(x, values, k, "expected a finite number");
  Transforms all;
  for (const TransformSpec& s : specs) {
    all.steps.push_back(fitted(s, x));
    x = data::apply(all.steps.back(), x);
  }
  return all;
}

}  // namespace tessera::data
