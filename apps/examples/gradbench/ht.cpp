// SPDX-License-Identifier: Apache-2.0
//
// GradBench's `ht` (hand tracking, from ADBench): 26 pose parameters move a skinned hand of 22
// bones; residuals are measured points less the vertices they belong to or, in the complicated
// form, less points inside triangles with coordinates u [n, 2].
//   pose: rotation (angle times axis), translation, and for each of five fingers four angles (two
//   of the first joint); bone transforms T_b = A_b B_b^-1, A_b = A_parent(b) M_b E(angles_b), E =
//   R_z R_y R_x; vertex = R (sum_b w_b T_b v) + t.
// Whole-array: rotations and products of all bones and vertices at once; only the chain of parents
// is a loop. The Jacobian is [3 n, 26], and [3 n, 2 + 26] with the columns of u pressed into two,
// since each residual has its own.
#include "tessera/autodiff/grad.h"
#include "tessera/autodiff/jit.h"
#include "verify.h"

using namespace tessera;

namespace {

constexpr Index kBones = 22, kVertices = 100, kPoints = 40, kTheta = 26;

struct HandModel {
  std::vector<int> parent;
  std::vector<double> relatives, inverses, vertices, weights,
      points;                          // [22,4,4] [22,4,4] [4,V] [22,V] [n,3]
  std::vector<std::int64_t> vertex;    // [n]
  std::vector<std::int64_t> triangle;  // [n,3]
};
/// Bones: wrist, then four for each finger, the first on the wrist, then the forearm.
HandModel make_hand() {
  std::mt19937_64 rng(1);
  const auto draw = [&](Index n) {
    return gradbench::uniform(static_cast<std::size_t>(n), rng, -1, 1);
  };
  HandModel h;
  for (int b = 0; b < kBones; ++b)
    h.parent.push_back(b == 0 ? -1 : b == kBones - 1 || b % 4 == 1 ? 0 : b - 1);
  const auto rigid = [&] {  // an affine map near a rotation
    auto m = draw(16);
    for (int i = 0; i < 4; ++i) m[static_cast<std::size_t>(5 * i)] += 1.5;
    m[12] = m[13] = m[14] = 0, m[15] = 1;
    return m;
  };
  for (Index b = 0; b < kBones; ++b)
    for (auto* to : {&h.relatives, &h.inverses}) {
      const auto m = rigid();
      to->insert(to->end(), m.begin(), m.end());
    }
  h.vertices = draw(4 * kVertices);
  std::fill(h.vertices.end() - kVertices, h.vertices.end(), 1.0);
  h.weights = gradbench::uniform(kBones * kVertices, rng, 0, 0.1);
  h.points = draw(3 * kPoints);
  for (Index i = 0; i < kPoints; ++i) {
    h.vertex.push_back((7 * i) % kVertices);
    for (Index c : {1, 5, 11}) h.triangle.push_back((c * i + c) % kVertices);
  }
  return h;
}

/// Where angle j of bone b stands in theta, or -1: fingers bend about x in joints 2 to 4 and about
/// z in joint 2.
int parameter(int b, int axis) {
  if (b == 0 || b == kBones - 1) return -1;
  const int finger = (b - 1) / 4, joint = (b - 1) % 4;
  if (joint == 0) return -1;
  const int first = 6 + 4 * finger;
  if (axis == 0) return joint == 1 ? first : first + joint;
  return axis == 1 && joint == 1 ? first + 1 : -1;
}

/// Rotation about an axis for a stack of angles [n]: [n, 3, 3].
Tensor about(int axis, const Tensor& angle) {
  const Tensor c = cos(angle), s = sin(angle), one = ones(angle.shape()),
               zero = zeros(angle.shape());
  const std::vector<Tensor> x{one, zero, zero, zero, c, -s, zero, s, c},
      y{c, zero, s, zero, one, zero, -s, zero, c}, z{c, -s, zero, s, c, zero, zero, zero, one};
  return reshape(stack(axis == 0 ? x : axis == 1 ? y : z, 1), {angle.dim(0), 3, 3});
}
Tensor axis_angle(const Tensor& r) {
  const Tensor angle = norm(r), n = r / angle;
  const auto at = [&](Index i) { return select(n, 0, i); };
  const Tensor zero = zeros({});
  const Tensor cross = reshape(
                   stack({zero, -at(2), at(1), at(2), zero, -at(0), -at(1), at(0), zero}), {3, 3}),
               along = outer(n, n);
  return along + (eye(3) - along) * cos(angle) + cross * sin(angle);
}

Tensor positions(const HandModel& h, const Tensor& theta) {
  std::vector<std::int64_t> of_x, of_z;  // a zero stands behind theta
  for (int b = 0; b < kBones; ++b) {
    const int x = parameter(b, 0), z = parameter(b, 1);
    of_x.push_back(x < 0 ? kTheta : x), of_z.push_back(z < 0 ? kTheta : z);
  }
  const Tensor padded = pad(theta, {0}, {1});
  const Tensor turn = matmul(about(2, gather(padded, tensor(of_z))),
                             about(0, gather(padded, tensor(of_x))));  // R_y is the unit matrix
  const Tensor corner = pad(ones({kBones, 1, 1}), {0, 3, 3}, {0, 0, 0});
  const Tensor local =
      matmul(tensor(h.relatives, {kBones, 4, 4}), pad(turn, {0, 0, 0}, {0, 1, 1}) + corner);
  std::vector<Tensor> absolute;
  for (Index b = 0; b < kBones; ++b) {
    const Tensor own = select(local, 0, b);
    const int p = h.parent[static_cast<std::size_t>(b)];
    absolute.push_back(p < 0 ? own : matmul(absolute[static_cast<std::size_t>(p)], own));
  }
  const Tensor transform =
      slice(matmul(stack(absolute), tensor(h.inverses, {kBones, 4, 4})), 1, 0, 3);  // [B, 3, 4]
  const Tensor moved =
      reshape(matmul(reshape(transform, {3 * kBones, 4}), tensor(h.vertices, {4, kVertices})),
              {kBones, 3, kVertices});
  const Tensor skinned =
      sum(moved * expand_dims(tensor(h.weights, {kBones, kVertices}), 1), {0});  // [3, V]
  return transpose(matmul(axis_angle(slice(theta, 0, 0, 3)), skinned)) +
         slice(theta, 0, 3, 6);  // [V, 3]
}
Tensor simple(const HandModel& h, const Tensor& theta) {
  return tensor(h.points, {kPoints, 3}) - gather(positions(h, theta), tensor(h.vertex));
}
Tensor complicated(const HandModel& h, const Tensor& theta, const Tensor& u) {
  const Tensor corners =
      gather(positions(h, theta), tensor(h.triangle, {kPoints, 3}));  // [n, 3 corners, 3]
  const Tensor weights = concatenate({u, 1.0 - sum(u, {1}, true)}, 1);
  return tensor(h.points, {kPoints, 3}) - sum(expand_dims(weights, 2) * corners, {1});
}

/// All residuals in loops.
template <class T>
std::vector<T> plain(const HandModel& h, const std::vector<T>& theta, const std::vector<T>& u) {
  using std::cos;
  using std::sin;
  using std::sqrt;
  using M = std::array<T, 16>;
  const auto times = [](const auto& a, const auto& b) {
    M c;
    for (int i = 0; i < 4; ++i)
      for (int j = 0; j < 4; ++j) {
        c[static_cast<std::size_t>(4 * i + j)] = T(0.0);
        for (int k = 0; k < 4; ++k)
          c[static_cast<std::size_t>(4 * i + j)] +=
              a[static_cast<std::size_t>(4 * i + k)] * b[static_cast<std::size_t>(4 * k + j)];
      }
    return c;
  };
  std::vector<M> absolute;
  std::vector<T> skinned(3 * kVertices, T(0.0));
  for (int b = 0; b < kBones; ++b) {
    const int px = parameter(b, 0), pz = parameter(b, 1);
    const T ax = px < 0 ? T(0.0) : theta[static_cast<std::size_t>(px)],
            az = pz < 0 ? T(0.0) : theta[static_cast<std::size_t>(pz)];
    const M rx{1, 0, 0, 0, 0, cos(ax), -sin(ax), 0, 0, sin(ax), cos(ax), 0, 0, 0, 0, 1},
        rz{cos(az), -sin(az), 0, 0, sin(az), cos(az), 0, 0, 0, 0, 1, 0, 0, 0, 0, 1};
    M relative, inverse;
    for (std::size_t k = 0; k < 16; ++k)
      relative[k] = h.relatives[static_cast<std::size_t>(16 * b) + k],
      inverse[k] = h.inverses[static_cast<std::size_t>(16 * b) + k];
    M own = times(relative, times(rz, rx));
    const int p = h.parent[static_cast<std::size_t>(b)];
    absolute.push_back(p < 0 ? own : times(absolute[static_cast<std::size_t>(p)], own));
    const M t = times(absolute.back(), inverse);
    for (int v = 0; v < kVertices; ++v)
      for (int i = 0; i < 3; ++i)
        for (int k = 0; k < 4; ++k)
          skinned[static_cast<std::size_t>(3 * v + i)] +=
              t[static_cast<std::size_t>(4 * i + k)] *
              h.vertices[static_cast<std::size_t>(k * kVertices + v)] *
              h.weights[static_cast<std::size_t>(b * kVertices + v)];
  }
  const T angle = sqrt(theta[0] * theta[0] + theta[1] * theta[1] + theta[2] * theta[2]);
  std::vector<T> vertex(3 * kVertices), out;
  for (int v = 0; v < kVertices; ++v) {  // Rodrigues
    const T* x = &skinned[static_cast<std::size_t>(3 * v)];
    T n[3], across(0.0);
    for (int i = 0; i < 3; ++i)
      n[i] = theta[static_cast<std::size_t>(i)] / angle, across += n[i] * x[i];
    for (int i = 0; i < 3; ++i) {
      const int j = (i + 1) % 3, k = (i + 2) % 3;
      vertex[static_cast<std::size_t>(3 * v + i)] =
          x[i] * cos(angle) + (n[j] * x[k] - n[k] * x[j]) * sin(angle) +
          n[i] * across * (1.0 - cos(angle)) + theta[static_cast<std::size_t>(3 + i)];
    }
  }
  for (std::size_t q = 0; q < kPoints; ++q)
    for (std::size_t i = 0; i < 3; ++i) {
      const auto at = [&](std::int64_t v) { return vertex[static_cast<std::size_t>(3 * v) + i]; };
      if (u.empty())
        out.push_back(h.points[3 * q + i] - at(h.vertex[q]));
      else
        out.push_back(h.points[3 * q + i] -
                      (u[2 * q] * at(h.triangle[3 * q]) + u[2 * q + 1] * at(h.triangle[3 * q + 1]) +
                       (1.0 - u[2 * q] - u[2 * q + 1]) * at(h.triangle[3 * q + 2])));
    }
  return out;
}

}  // namespace

int main() {
  const HandModel h = make_hand();
  std::mt19937_64 rng(3);
  const auto theta = gradbench::uniform(kTheta, rng, -0.8, 0.8),
             u = gradbench::uniform(2 * kPoints, rng, 0, 0.5);
  const Tensor t = tensor(theta), ut = tensor(u, {kPoints, 2});
  const auto jac_simple =
      jit([&](Tensor t) { return jacfwd([&](Tensor t) { return simple(h, t); })(t); });
  const auto jac_complicated = jit([&](Tensor t, Tensor u) {
    const Tensor by_theta = jacfwd([&](Tensor t) { return complicated(h, t, u); })(t);
    const auto by_u =
        [&](Index k) {  // all points' k-th coordinate at once: no two share a residual
          return expand_dims(jvp([&](Tensor u) { return complicated(h, t, u); }, u,
                                 one_hot(full({kPoints}, static_cast<double>(k), Dtype::i64), 2))
                                 .second,
                             2);
        };
    return concatenate({by_u(0), by_u(1), by_theta}, 2);
  });

  using Z = std::complex<double>;
  std::vector<Z> zt(theta.begin(), theta.end()), zu(u.begin(), u.end());
  const std::size_t rows = 3 * kPoints;
  std::vector<double> want_simple(rows * kTheta), want_complicated(rows * (kTheta + 2));
  for (std::size_t k = 0; k < kTheta; ++k) {
    zt[k] += Z(0, 1e-30);
    const auto a = plain(h, zt, {}), b = plain(h, zt, zu);
    for (std::size_t i = 0; i < rows; ++i)
      want_simple[i * kTheta + k] = a[i].imag() / 1e-30,
                               want_complicated[i * (kTheta + 2) + 2 + k] = b[i].imag() / 1e-30;
    zt[k] = theta[k];
  }
  for (std::size_t q = 0; q < kPoints; ++q)
    for (std::size_t k = 0; k < 2; ++k) {
      zu[2 * q + k] += Z(0, 1e-30);
      const auto b = plain(h, zt, zu);
      for (std::size_t i = 3 * q; i < 3 * q + 3; ++i)
        want_complicated[i * (kTheta + 2) + k] = b[i].imag() / 1e-30;
      zu[2 * q + k] = u[2 * q + k];
    }
  bool ok =
      gradbench::close("objective, simple", flatten(simple(h, t)).to_vector(), plain(h, theta, {}));
  ok &= gradbench::close("objective, complicated", flatten(complicated(h, t, ut)).to_vector(),
                         plain(h, theta, u));
  ok &= gradbench::close("jacobian, simple", flatten(jac_simple(t)).to_vector(), want_simple);
  ok &= gradbench::close("jacobian, complicated", flatten(jac_complicated(t, ut)).to_vector(),
                         want_complicated);
  std::printf("jacobian, complicated: %.2f ms\n",
              gradbench::milliseconds([&] { jac_complicated(t, ut); }));
  return ok ? 0 : 1;
}
