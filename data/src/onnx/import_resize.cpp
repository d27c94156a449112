// SPDX-License-Identifier: Apache-2.0
//
// Axes of other lengths. Along each axis y = W x with a matrix of weights of neighbours: of the
// nearest, of two by distance, of four by the cubic of R. Keys, doi:10.1109/TASSP.1981.1163711.
#include "onnx/program.h"
#include "tessera/autodiff/ops.h"

#include <algorithm>
#include <cmath>

namespace tessera::data {
namespace {

using C = OnnxCall;
using Out = std::vector<Tensor>;

struct Resizing {
  std::string mode, coordinates, nearest;
  double cubic = -0.75;
  bool exclude_outside = false;
};

/// Where the middle of a result's element lies in the operand.
double source_of(const C& c, const Resizing& r, Index o, double scale, Index n, Index m) {
  const double at = static_cast<double>(o), in = static_cast<double>(n),
               out = static_cast<double>(m);
  if (r.coordinates == "half_pixel") return (at + 0.5) / scale - 0.5;
  if (r.coordinates == "pytorch_half_pixel") return m > 1 ? (at + 0.5) / scale - 0.5 : 0;
  if (r.coordinates == "align_corners") return m > 1 ? at * (in - 1) / (out - 1) : 0;
  if (r.coordinates == "asymmetric") return at / scale;
  if (r.coordinates == "tf_half_pixel_for_nn") return (at + 0.5) / scale;
  c.refuse("coordinate_transformation_mode = " + r.coordinates);
}
Index nearest_to(const C& c, const Resizing& r, double at) {
  const double down = std::floor(at);
  if (r.nearest == "floor") return static_cast<Index>(down);
  if (r.nearest == "ceil") return static_cast<Index>(std::ceil(at));
  if (r.nearest == "round_prefer_floor")
    return static_cast<Index>(at - down > 0.5 ? down + 1 : down);
  if (r.nearest == "round_prefer_ceil")
    return static_cast<Index>(at - down < 0.5 ? down : down + 1);
  c.refuse("nearest_mode = " + r.nearest);
}
double cubic_weight(double t, double a) {
  t = std::abs(t);
  if (t <= 1) return ((a + 2) * t - (a + 3)) * t * t + 1;
  if (t < 2) return ((a * t - 5 * a) * t + 8 * a) * t - 4 * a;
  return 0;
}

/// x with axis d of length m.
Tensor resized_along(const C& c, const Resizing& r, const Tensor& x, int d, double scale, Index m) {
  const Index n = x.dim(d);
  if (n == 0 && m > 0) c.malformed("an empty axis");
  c.must_fit(8.0 * static_cast<double>(m) * static_cast<double>(n ? x.size() / n : 1));
  if (r.mode == "nearest") {
    std::vector<std::int64_t> at;
    for (Index o = 0; o < m; ++o)
      at.push_back(std::clamp<Index>(nearest_to(c, r, source_of(c, r, o, scale, n, m)), 0, n - 1));
    return take(x, tensor(at, {m}), d);
  }
  if (!is_float(x.dtype())) c.refuse("of " + to_string(x.type()));
  // The neighbours of each result, some more for cubics.
  const int reach = r.mode == "cubic" ? 2 : 1;
  std::vector<double> weights(static_cast<std::size_t>(m * 2 * reach));
  std::vector<std::int64_t> places(weights.size());
  for (Index o = 0; o < m; ++o) {
    const double at = source_of(c, r, o, scale, n, m), down = std::floor(at);
    double total = 0;
    for (int k = 0; k < 2 * reach; ++k) {
      const Index i = static_cast<Index>(down) + k - reach + 1;
      const double distance = at - static_cast<double>(i);
      double w = reach == 2 ? cubic_weight(distance, r.cubic) : 1 - std::abs(distance);
      if (r.exclude_outside && (i < 0 || i >= n)) w = 0;
      const std::size_t to = static_cast<std::size_t>(o * 2 * reach + k);
      weights[to] = w, places[to] = std::clamp<Index>(i, 0, n - 1);
      total += w;
    }
    if (r.exclude_outside)
      for (int k = 0; k < 2 * reach; ++k)
        weights[static_cast<std::size_t>(o * 2 * reach + k)] /= total;
  }
  const Tensor w = cast(tensor(weights, {m, 2 * reach}), x.dtype());
  const Tensor near = take(moveaxis(x, d, -1), tensor(places, {m, 2 * reach}), -1);
  return moveaxis(sum(near * w, {-1}), -1, d);
}

Out resize(const C& c, const Resizing& r, std::vector<double> scales,
           const std::vector<std::int64_t>& sizes, std::vector<std::int64_t> axes) {
  Tensor x = c.x();
  if (axes.empty())
    for (int d = 0; d < x.ndim(); ++d) axes.push_back(d);
  if ((scales.empty() ? sizes.size() : scales.size()) != axes.size() ||
      (!scales.empty() && !sizes.empty()))
    c.malformed("expected a scale or a size for each of " + std::to_string(axes.size()) + " axes");
  for (std::size_t k = 0; k < axes.size(); ++k) {
    const int d = c.axis(axes[k], x.ndim());
    const double n = static_cast<double>(x.dim(d));
    // In single precision, as other readers: 10 times the scale that is next to 0.7 is 7 there.
    const double times =
        scales.empty()
            ? 0
            : static_cast<double>(static_cast<float>(x.dim(d)) * static_cast<float>(scales[k]));
    const double length = scales.empty() ? static_cast<double>(sizes[k]) : std::floor(times);
    if (!(length >= 0 && length < 0x1p31)) c.malformed("an axis of " + std::to_string(length));
    const Index m = static_cast<Index>(length);
    const double scale = scales.empty() ? static_cast<double>(m) / n : scales[k];
    if (m == x.dim(d) && scale == 1) continue;
    // Readers differ in whether the length between corners is cut to an integer.
    if (r.coordinates == "align_corners" && !scales.empty() && times != length)
      c.refuse("align_corners with scales that give no integer");
    x = resized_along(c, r, x, d, scale, m);
  }
  return {x};
}

Out resize_by(const C& c) {
  if (c.opset < 11)
    return resize(c, {c.text("mode", "nearest"), "asymmetric", "floor"}, c.known_reals(1), {}, {});
  if (c.integer("antialias", 0)) c.refuse("antialias");
  if (const std::string p = c.text("keep_aspect_ratio_policy", "stretch"); p != "stretch")
    c.refuse("keep_aspect_ratio_policy = " + p);
  const Resizing r{c.text("mode", "nearest"),
                   c.text("coordinate_transformation_mode", "half_pixel"),
                   c.text("nearest_mode", "round_prefer_floor"), c.real("cubic_coeff_a", -0.75),
                   c.integer("exclude_outside", 0) != 0};
  if (r.mode != "nearest" && r.mode != "linear" && r.mode != "cubic") c.refuse("mode = " + r.mode);
  std::vector<double> scales;
  std::vector<std::int64_t> sizes;
  if (c.given(2) && c.in[2].size()) scales = c.known_reals(2);
  if (c.given(3)) sizes = c.known(3);
  return resize(c, r, scales, sizes, c.integers("axes"));
}
Out upsample_by(const C& c) {
  const std::string mode = c.text("mode", "nearest");
  if (mode != "nearest" && mode != "linear") c.refuse("mode = " + mode);
  const OnnxAttribute* scales = c.find("scales");
  return resize(c, {mode, "asymmetric", "floor"}, scales ? scales->floats : c.known_reals(1), {},
                {});
}

}  // namespace

void add_resize_rules(OnnxRules& r) {
  r["Resize"] = {resize_by,
                 "antialias axes coordinate_transformation_mode cubic_coeff_a exclude_outside "
                 "extrapolation_value keep_aspect_ratio_policy mode nearest_mode",
                 1, 4};
  r["Upsample"] = {upsample_by, "mode scales", 1, 2};
}

}  // namespace tessera::data
