// SPDX-License-Identifier: Apache-2.0
//
// The plane waves that make up the field on a plane of a periodic structure, e^{+i w t}. With E(r +
// a) = E(r) e^{-i k_B.a} over the periods a_lo, a_hi, order (m, n) is the sum over its two
// directions of
//
//   E = (E_s s^ + E_p p^) e^{-i k.r},   k = k_t +- k_n n^,
//   k_t = k_B + 2 pi (m/a_lo, n/a_hi),   k_n = sqrt(k^2 - k_t^2),
//
// with n^ the outward normal, k_n > 0 where the order propagates and k_n = -i |k_n| where it is
// evanescent (it decays along its direction). t^ = k_t/|k_t| (along lo for k_t = 0), s^ = n^ x t^,
// p^ = s^ x k/|k|, k/|k| = (k_t +- k_n n^)/k. Amplitudes are those at the origin in the plane, at
// the plane itself: e^{-i k_n n} is not taken out. The tangential E and H tell the two directions
// apart:
//
//   E_s(+-) = (E.s^ -+ (w mu/k_n) H.t^)/2,   E_p(+-) = eta (H.s^ +- (w eps/k_n) E.t^)/2,
//
// each carrying +- area Re(k_n)/(2 w mu) (|E_s|^2 + |E_p|^2) along n^. The net flux is the sum of
// these, and, of an evanescent order that is there in both directions, their product.
#pragma once
#include "tessera/electromagnetics/medium.h"
#include "tessera/electromagnetics/surface.h"
#include "tessera/electromagnetics/yee_grid.h"

#include <span>

namespace tessera::electromagnetics {

struct PeriodicPlane {
  Patch patch;  ///< evenly spaced points over one whole period; periods are the sums of the weights
  std::array<double, 2> bloch{};  ///< k_B along lo and hi, rad/m
  double eps = 1, mu = 1;         ///< relative, of the medium at the plane
  /// Cells along lo and hi, m, where fields are of a Yee grid, brought to the middles of its cells
  /// (add_patch): E_lo and H_hi are means of two neighbours along hi, E_hi and H_lo along lo, which
  /// takes cos(k_t cell / 2) of a wave, and is given back. 0: fields are those of the points.
  std::array<double, 2> cell{};
};

/// The longest over the shortest of the cells along `axis` whose middles lie within size / 2 of
/// `position`: 1 where they are even, where there are none and across a plane without extent.
double unevenness(const YeeGrid& grid, int axis, double position, double size);

struct Order {
  int m = 0, n = 0;  ///< along lo and along hi
  bool operator==(const Order&) const = default;
};
/// One order at one frequency.
struct OrderWave {
  Order order;
  std::array<double, 2> k_tangential{};  ///< rad/m along lo and hi
  std::complex<double> k_normal;         ///< rad/m
  bool evanescent = false;
  double angle_rad = 0;  ///< from the normal; NaN where evanescent
};

/// The orders that propagate at one frequency or more, m slowest. An axis of one point has order 0
/// alone.
std::vector<Order> propagating_orders(const PeriodicPlane& plane,
                                      std::span<const double> frequencies_hz);
/// [frequency][order].
std::vector<std::vector<OrderWave>> order_waves(const PeriodicPlane& plane,
                                                std::span<const double> frequencies_hz,
                                                std::span<const Order> orders);

/// Tensors [frequency, order]: complex amplitudes in V/m, and the power in W (two dimensions: W/m)
/// along the direction of each wave, zero for evanescent ones. Linear and quadratic expressions of
/// the fields; they differentiate.
struct OrderAmplitudes {
  Tensor s, p, power;                 ///< outward
  Tensor s_back, p_back, power_back;  ///< against the normal
  TESSERA_TREE(s, p, power, s_back, p_back, power_back)
};
/// Throws Error for an order that the points cannot tell from another (|m| >= n_lo/2, |n| >=
/// n_hi/2, and of a grid |k_t| cell >= pi), for one that grazes the plane at one of the
/// frequencies, |k_n| < 1e-6 k, where the two directions are one, and where there is none.
void require_orders(const PeriodicPlane& plane, std::span<const double> frequencies_hz,
                    std::span<const Order> orders);
/// Throws Error as `require_orders`.
OrderAmplitudes diffraction_orders(const PeriodicPlane& plane, const SurfaceFields& fields,
                                   std::span<const double> frequencies_hz,
                                   std::span<const Order> orders);

/// The plane in a transparent medium: once for all frequencies where that has no poles, else one
/// for each of them.
std::vector<PeriodicPlane> planes_in(const Medium& medium, PeriodicPlane plane,
                                     std::span<const double> frequencies_hz);
/// As above, with one plane for all frequencies or one for each, alike but for eps.
std::vector<Order> propagating_orders(std::span<const PeriodicPlane> planes,
                                      std::span<const double> frequencies_hz);
void require_orders(std::span<const PeriodicPlane> planes, std::span<const double> frequencies_hz,
                    std::span<const Order> orders);
OrderAmplitudes diffraction_orders(std::span<const PeriodicPlane> planes,
                                   const SurfaceFields& fields,
                                   std::span<const double> frequencies_hz,
                                   std::span<const Order> orders);

}  // namespace tessera::electromagnetics
