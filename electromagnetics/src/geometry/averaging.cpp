// SPDX-License-Identifier: Apache-2.0
#include "geometry/grid_boxes.h"

#include <Eigen/Dense>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace tessera::electromagnetics {
using namespace detail;
namespace {

using Eigen::Matrix3d;
using Eigen::Vector3d;

Matrix3d matrix(const SymmetricTensor& t) {
  Matrix3d m;
  m << t[0], t[3], t[4], t[3], t[1], t[5], t[4], t[5], t[2];
  return m;
}

SymmetricTensor packed(const Matrix3d& m) {
  return {m(0, 0), m(1, 1), m(2, 2), m(0, 1), m(0, 2), m(1, 2)};
}

bool isotropic(const Point& value) { return value[0] == value[1] && value[1] == value[2]; }

/// T + V V^T / S for one direction.
Matrix3d across(const Fill& fill, const std::vector<Point>& values, const Vector3d& n) {
  double s = 0;
  Vector3d v = Vector3d::Zero();
  Matrix3d t = Matrix3d::Zero();
  for (const Share& share : fill.media) {
    const Vector3d e = Eigen::Map<const Vector3d>(values[share.medium].data());
    const Vector3d en = e.cwiseProduct(n);
    const double enn = n.dot(en);
    s += share.fraction / enn;
    v += share.fraction / enn * en;
    t += share.fraction * (Matrix3d(e.asDiagonal()) - en * en.transpose() / enn);
  }
  return t + v * v.transpose() / s;
}

}  // namespace

namespace detail {

SymmetricTensor orientation(const Fill& fill, const std::vector<Point>& values) {
  SymmetricTensor sum{};
  for (const Interface& face : fill.interfaces) {
    const Point &a = values[face.inside], &b = values[face.outside];
    double contrast = 0;
    for (int k = 0; k < 3; ++k) contrast += (a[k] - b[k]) * (a[k] - b[k]) / (a[k] * b[k]);
    for (int k = 0; k < 6; ++k) sum[k] += contrast * face.orientation[k];
  }
  const double trace = sum[0] + sum[1] + sum[2];
  if (trace > 0)
    for (double& x : sum) x /= trace;
  return sum;
}

}  // namespace detail

SymmetricTensor inverse_average(const Fill& fill, const std::vector<Point>& values) {
  if (fill.media.size() == 1) {
    const Point& e = values[fill.media[0].medium];
    return {1 / e[0], 1 / e[1], 1 / e[2], 0, 0, 0};
  }
  const Matrix3d nn = matrix(orientation(fill, values));
  const bool all_isotropic = std::all_of(fill.media.begin(), fill.media.end(), [&](const Share& s) {
    return isotropic(values[s.medium]);
  });
  if (all_isotropic) {
    double mean = 0, mean_inverse = 0;
    for (const Share& s : fill.media) {
      mean += s.fraction * values[s.medium][0];
      mean_inverse += s.fraction / values[s.medium][0];
    }
    return packed(nn * mean_inverse + (Matrix3d::Identity() - nn) / mean);
  }
  if (nn.trace() == 0) {
    Vector3d mean = Vector3d::Zero();
    for (const Share& s : fill.media)
      mean += s.fraction * Eigen::Map<const Vector3d>(values[s.medium].data());
    return {1 / mean[0], 1 / mean[1], 1 / mean[2], 0, 0, 0};
  }
  // One direction, or the mean over the principal directions of several.
  const Eigen::SelfAdjointEigenSolver<Matrix3d> eigen(nn);
  Matrix3d sum = Matrix3d::Zero();
  for (int k = 0; k < 3; ++k)
    if (const double weight = eigen.eigenvalues()[k]; weight > 1e-12)
      sum += weight * across(fill, values, eigen.eigenvectors().col(k)).inverse();
  return packed(sum);
}

std::array<double, 3> clip_off_diagonals(const Point& smallest_diagonal,
                                         const std::array<double, 3>& x) {
  const double dx = std::sqrt(smallest_diagonal[0]), dy = std::sqrt(smallest_diagonal[1]),
               dz = std::sqrt(smallest_diagonal[2]);
  // 1 + C with C = {{0, a, b}, {a, 0, c}, {b, c, 0}}; the eigenvalues of C solve
  //   l^3 - q l - 2 r = 0,  q = a^2 + b^2 + c^2,  r = a b c.
  const double a = x[0] / (dx * dy), b = x[1] / (dx * dz), c = x[2] / (dy * dz);
  const double third = (a * a + b * b + c * c) / 3, root = std::sqrt(third);
  if (root == 0) return x;
  const double angle = std::acos(std::clamp(a * b * c / (third * root), -1.0, 1.0)) / 3;
  const double least = 2 * root * std::cos(angle + 2 * std::numbers::pi / 3);
  constexpr double margin = 1e-3;
  const double factor = std::min(1.0, (1 - margin) / -least);
  return {factor * x[0], factor * x[1], factor * x[2]};
}

}  // namespace tessera::electromagnetics
