// SPDX-License-Identifier: Apache-2.0
#include "tessera/data/transforms.h"

#include "error_text.h"
#include "tessera/autodiff/check.h"
#include "tessera/autodiff/ops.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

using namespace tessera;
using namespace tessera::data;
using tessera::testing::message_of;

namespace {

using Values = std::vector<double>;
using Kind = TransformKind;

Tensor three_designs() { return tensor(Values{1, 10, 5, 2, 100, 5, 6, 1000, 5}, {3, 3}); }

TEST(DataTransforms, StandardiseByTheTrainingSet) {
  const Tensor x = three_designs();
  const Transforms t = fit_transforms({{.kind = Kind::standardise}}, x);
  const Tensor z = t.apply(x);
  // 1, 2, 6: mean 3, variance 14/3; the third feature has one value, so the scale 1.
  const double s = std::sqrt(14.0 / 3);
  const Values first = {-2 / s, -1 / s, 3 / s};
  for (Index k = 0; k < 3; ++k) {
    EXPECT_DOUBLE_EQ(select(select(z, 0, k), 0, 0).item(), first[static_cast<std::size_t>(k)]);
    EXPECT_EQ(select(select(z, 0, k), 0, 2).item(), 0);
  }
  EXPECT_LT(max(abs(t.undo(z) - x)).item(), 1e-12);
}

TEST(DataTransforms, AFeatureOfOneValueHasTheScaleOne) {
  // 48 times 0.1 have a mean that is another number.
  const Tensor x = tensor(Values(48, 0.1), {48, 1});
  ASSERT_NE(mean(x).item(), 0.1);
  const Transforms t = fit_transforms({{.kind = Kind::standardise}}, x);
  EXPECT_EQ(t.apply(tensor(Values{0.1, 0.2}, {2, 1})).to_vector<double>(), (Values{0, 0.1}));
}

TEST(DataTransforms, OneHotRefusesOtherClassesOfNumbersThatAreThere) {
  const Transforms t =
      fit_transforms({{.kind = Kind::one_hot}}, tensor(std::vector<Index>{2, 0, 1}));
  EXPECT_EQ(t.checked(tensor(Values{1, 2})).to_vector<double>(),
            t.apply(tensor(Values{1, 2})).to_vector<double>());
  for (const double bad : {3.0, 0.5, -1.0, double(NAN)}) try {
      t.checked(tensor(Values{1, bad}));
      ADD_FAILURE() << bad;
    } catch (const SampleError& e) {
      EXPECT_EQ(e.sample, 1);
      EXPECT_TRUE(e.fault.ends_with("expected an integer from 0 to 2")) << e.fault;
    }
}

TEST(DataTransforms, OneAfterAnotherOnChosenFeatures) {
  const Tensor x = three_designs();
  const Transforms t = fit_transforms(
      {{.kind = Kind::log, .features = {1}}, {.kind = Kind::range, .features = {0, 1}}}, x);
  const Tensor z = t.apply(x);
  const Values expected = {0, 0, 5, 0.2, 0.5, 5, 1, 1, 5};
  const Values got = z.to_vector<double>();
  for (std::size_t k = 0; k < 9; ++k) EXPECT_NEAR(got[k], expected[k], 1e-15);
  EXPECT_LT(max(abs(t.undo(z) - x)).item(), 1e-11);
  // Beyond the training set, and with features below 0 that no logarithm is taken of.
  const Tensor beyond = tensor(Values{-3, 1, -7}, {1, 3});
  EXPECT_LT(max(abs(t.undo(t.apply(beyond)) - beyond)).item(), 1e-12);
  const CheckReport r =
      gradcheck([&](const Tensor& v) { return sum(square(t.apply(v))); }, beyond, {.order = 2});
  EXPECT_TRUE(r) << to_string(r);
}

TEST(DataTransforms, TogetherByOnePairOfNumbers) {
  const Tensor x = tensor(Values{0, 1, 2, 5}, {2, 2});
  const Transforms t = fit_transforms({{.kind = Kind::range, .together = true}}, x);
  EXPECT_EQ(t.apply(x).to_vector<double>(), (Values{0, 0.2, 0.4, 1}));
}

TEST(DataTransforms, OneHotIsUndoneByTheLargest) {
  const Tensor labels = tensor(std::vector<Index>{2, 0, 1});
  const Transforms t = fit_transforms({{.kind = Kind::one_hot}}, labels);
  EXPECT_EQ(t.apply(labels).to_vector<double>(), (Values{0, 0, 1, 1, 0, 0, 0, 1, 0}));
  EXPECT_EQ(t.undo(tensor(Values{0.1, 0.4, 0.4, 3, 2, 1}, {2, 3})).to_vector<double>(),
            (Values{1, 0}));
}

TEST(DataTransforms, SaysWhichSampleDoesNotFit) {
  const auto why = [](const TransformSpec& s, const Tensor& x) {
    return message_of([&] { fit_transforms({s}, x); });
  };
  EXPECT_EQ(why({.kind = Kind::log}, tensor(Values{1, 2, 3, 0}, {2, 2})),
            "sample 1 has 0: the logarithm is of numbers above 0");
  EXPECT_EQ(why({.kind = Kind::one_hot, .classes = 2}, tensor(Values{0, 1, 2})),
            "sample 2 has 2: expected an integer from 0 to 1");
  EXPECT_EQ(why({.kind = Kind::one_hot}, tensor(Values{0, 0.5})),
            "sample 1 has 0.5: expected an integer from 0 to 0");
  EXPECT_EQ(why({}, tensor(Values{1, std::numeric_limits<double>::quiet_NaN()})),
            "sample 1 has nan: expected a finite number");
  EXPECT_EQ(why({.features = {3}}, three_designs()), "feature 3 is not one of 0 to 2");
  EXPECT_EQ(why({}, zeros({0, 3})), "there are no samples");
  const std::string beyond = ": how far they scatter is beyond f64; take another unit";
  EXPECT_EQ(why({}, tensor(Values{1, 1e300, 1, -1e300}, {2, 2})),
            "feature 1 has numbers from -1e+300 to 1e+300" + beyond);
  EXPECT_EQ(why({}, tensor(Values{1e-200, 2e-200})),
            "feature 0 has numbers from 1e-200 to 2e-200" + beyond);
  EXPECT_EQ(why({.kind = Kind::range}, tensor(Values{1e308, -1e308})),
            "feature 0 has numbers from -1e+308 to 1e+308" + beyond);
  // Of one value there is no scatter, however large it is.
  EXPECT_EQ(fit_transforms({{.kind = Kind::range}}, tensor(Values{1e308, 1e308}))
                .apply(zeros({1}))
                .item(),
            -1e308);
}

}  // namespace
