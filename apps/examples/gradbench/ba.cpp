// SPDX-License-Identifier: Apache-2.0
//
// GradBench's `ba` (bundle adjustment, from ADBench): p observations, each of one of n cameras (11
// numbers) and one of m points. With camera = [rotation r (angle times axis), centre C, focal
// length, principal point u, radial k1 k2], point X, weight w:
//   Y = R(r) (X - C),  v = (Y_0, Y_1) / Y_2,  v <- v (1 + k1 |v|^2 + k2 |v|^4),
//   error = w (focal v + u - measured),   weight error = 1 - w^2.
// The Jacobian is sparse: 2 rows x 15 numbers an observation, and one number a weight. They come
// from one observation's dense [2, 15] Jacobian by vmap over all observations.
#include "tessera/autodiff/grad.h"
#include "tessera/autodiff/jit.h"
#include "verify.h"

using namespace tessera;

namespace {

constexpr Index kCamera = 11;

Tensor cross(const Tensor& a, const Tensor& b) {
  const auto at = [](const Tensor& v, Index i) { return select(v, 0, i); };
  return stack({at(a, 1) * at(b, 2) - at(a, 2) * at(b, 1),
                at(a, 2) * at(b, 0) - at(a, 0) * at(b, 2),
                at(a, 0) * at(b, 1) - at(a, 1) * at(b, 0)});
}
/// Rodrigues' formula; to first order in r where r is 0, so that the derivative exists there.
Tensor rotated(const Tensor& r, const Tensor& x) {
  const Tensor square_angle = sum(square(r)), none = equal(square_angle, 0.0);
  const Tensor angle = sqrt(where(none, 1.0, square_angle)), axis = r / angle;
  const Tensor turned =
      x * cos(angle) + cross(axis, x) * sin(angle) + axis * (dot(axis, x) * (1.0 - cos(angle)));
  return where(none, x + cross(r, x), turned);
}
/// [2] from the 15 unknowns of one observation: camera, point, weight.
Tensor error(const Tensor& unknowns, const Tensor& measured) {
  const auto part = [&](Index from, Index to) { return slice(unknowns, 0, from, to); };
  const Tensor y = rotated(part(0, 3), part(11, 14) - part(3, 6));
  const Tensor v = slice(y, 0, 0, 2) / select(y, 0, 2), r2 = sum(square(v));
  const Tensor distorted =
      v * (1.0 + select(unknowns, 0, 9) * r2 + select(unknowns, 0, 10) * square(r2));
  return select(unknowns, 0, 14) * (distorted * select(unknowns, 0, 6) + part(7, 9) - measured);
}

/// Rows as above, with 17 numbers: the unknowns, then the measurement; component `which`.
template <class T>
T plain_error(const std::vector<T>& v, int which) {
  using std::cos;
  using std::sin;
  using std::sqrt;
  T x[3], y[3];
  for (int i = 0; i < 3; ++i) x[i] = v[11 + i] - v[3 + i];
  const T angle = sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
  T axis[3], across(0.0);
  for (int i = 0; i < 3; ++i) axis[i] = v[i] / angle;
  for (int i = 0; i < 3; ++i) across += axis[i] * x[i];
  for (int i = 0; i < 3; ++i) {
    const int j = (i + 1) % 3, k = (i + 2) % 3;
    y[i] = x[i] * cos(angle) + (axis[j] * x[k] - axis[k] * x[j]) * sin(angle) +
           axis[i] * across * (1.0 - cos(angle));
  }
  const T a = y[0] / y[2], b = y[1] / y[2], r2 = a * a + b * b,
          factor = 1.0 + v[9] * r2 + v[10] * r2 * r2;
  return v[14] * ((which ? b : a) * factor * v[6] + v[7 + which] - v[15 + which]);
}

}  // namespace

int main() {
  const Index cameras = 21, points = 113, observations = 365;
  std::mt19937_64 rng(1);
  const auto cam = gradbench::uniform(static_cast<std::size_t>(cameras * kCamera), rng, 0.1, 1),
             where_points = gradbench::uniform(static_cast<std::size_t>(points * 3), rng, 1, 2);
  const auto weights = gradbench::uniform(static_cast<std::size_t>(observations), rng),
             measured = gradbench::uniform(static_cast<std::size_t>(2 * observations), rng);
  std::vector<std::int64_t> of_camera, of_point;
  for (Index i = 0; i < observations; ++i)
    of_camera.push_back(i % cameras), of_point.push_back(i % points);

  const Tensor camera_index = tensor(of_camera), point_index = tensor(of_point),
               features = tensor(measured, {observations, 2});
  const auto gathered = [&](const Tensor& c, const Tensor& x, const Tensor& w) {
    return concatenate({gather(c, camera_index), gather(x, point_index), expand_dims(w, 1)}, 1);
  };
  const Tensor c = tensor(cam, {cameras, kCamera}), x = tensor(where_points, {points, 3}),
               w = tensor(weights);
  const auto objective = jit([&](Tensor c, Tensor x, Tensor w) {
    return std::pair(vmap(error)(gathered(c, x, w), features), 1.0 - square(w));
  });
  // Values of the sparse matrix by observation: [p, 2, 15], and the diagonal of the weights' rows.
  const auto jacobian = jit([&](Tensor c, Tensor x, Tensor w) {
    const auto blocks = vmap([](Tensor u, Tensor m) {
      return jacfwd([&](Tensor u) { return error(u, m); })(u);
    })(gathered(c, x, w), features);
    return std::pair(blocks, -2.0 * w);
  });
  const auto [errors, weight_errors] = objective(c, x, w);
  const auto [blocks, diagonal] = jacobian(c, x, w);

  std::vector<double> want_errors, want_weight_errors, want_blocks, want_diagonal;
  for (Index i = 0; i < observations; ++i) {
    std::vector<double> v;
    for (Index k = 0; k < kCamera; ++k)
      v.push_back(
          cam[static_cast<std::size_t>(of_camera[static_cast<std::size_t>(i)] * kCamera + k)]);
    for (Index k = 0; k < 3; ++k)
      v.push_back(
          where_points[static_cast<std::size_t>(of_point[static_cast<std::size_t>(i)] * 3 + k)]);
    v.push_back(weights[static_cast<std::size_t>(i)]);
    v.push_back(measured[static_cast<std::size_t>(2 * i)]),
        v.push_back(measured[static_cast<std::size_t>(2 * i + 1)]);
    for (const int which : {0, 1}) {
      const auto plain = [which](const auto& u) { return plain_error(u, which); };
      want_errors.push_back(plain(v));
      const auto g = gradbench::complex_step_gradient(plain, v);
      want_blocks.insert(want_blocks.end(), g.begin(), g.begin() + 15);
    }
    want_weight_errors.push_back(1 - v[14] * v[14]);
    want_diagonal.push_back(-2 * v[14]);
  }
  bool ok = gradbench::close("reprojection errors", flatten(errors).to_vector(), want_errors) &
            gradbench::close("weight errors", weight_errors.to_vector(), want_weight_errors);
  ok &= gradbench::close("jacobian, blocks", flatten(blocks).to_vector(), want_blocks) &
        gradbench::close("jacobian, weights", diagonal.to_vector(), want_diagonal);
  // A camera that is not turned: the derivative with respect to r exists, and is that of r x X.
  const auto at_rest = jacfwd([](Tensor r) {
    return rotated(r, tensor({1.0, 2.0, 3.0}));
  })(zeros({3}));
  ok &=
      gradbench::close("no rotation", flatten(at_rest).to_vector(), {0, 3, -2, -3, 0, 1, 2, -1, 0});
  std::printf("jacobian, %ld observations: %.2f ms\n", static_cast<long>(observations),
              gradbench::milliseconds([&] { jacobian(c, x, w); }));
  return ok ? 0 : 1;
}
