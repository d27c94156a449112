// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "tessera/autodiff/tensor.h"
#include "tessera/inversion/bounds.h"
#include "tessera/inversion/forward_map.h"

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace tessera::inversion {

/// Surface impedance of a layered earth in engine operations, so that every transform of the engine
/// applies (jvp, vjp, vmap, jit, any order). `ln_rho` holds n tensors, `ln_thickness` n - 1, all of
/// one shape that broadcasts with `frequency_hz`: a column [soundings, 1] against a row
/// [frequencies] gives every sounding at every frequency. ln rho of ohm m, ln h of m; the result is
/// complex, in ohm, exp(+i w t).
///
/// Wait's recursion (1954, Geophysics 19, 281) from the bottom. With zeta_j = (1+i) a_j,
/// a_j = sqrt(w mu0 rho_j / 2), Z_j = (1+i) w_j and E = exp(-2 k_j h_j), k_j = (1+i) sqrt(w mu0 / 2
/// rho_j):
///   q = (a_j - w_{j+1}) E,   s = a_j + w_{j+1},   w_j = a_j (s - q) / (s + q).
/// |E| <= 1 for any thickness, and |q| < |s| since Re w > 0: nothing overflows or cancels.
Tensor layered_impedance(const std::vector<Tensor>& ln_rho, const std::vector<Tensor>& ln_thickness,
                         const Tensor& frequency_hz);

/// What a model m holds in place of ln rho, and beside it.
struct LayeredParameters {
  std::optional<Bounds> ln_rho_bounds;  ///< m_j = x_j of the band-pass map in place of ln rho_j
  /// One more parameter g at the end, Z = exp(g) Z_layers: a real factor on the impedance, the
  /// static shift of a sounding (ln rho_a shifts by 2 g).
  bool static_shift = false;
};

/// Impedance data (Re, Im interleaved, ohm) of fixed layers as a function of m = ln rho [n], with
/// Jacobian by one reverse pass over all frequencies and second derivatives by forward over
/// reverse, all of it by the engine. Compiled once per number of layers and rounded-up number of
/// frequencies; bounds are arguments of what is compiled.
ForwardMap layered_forward(std::vector<double> frequency_hz, std::vector<double> thickness_m,
                           const LayeredParameters& parameters = {});
/// The same with free thicknesses: m = (ln rho [n], ln h [n - 1]).
ForwardMap layered_forward_free(std::vector<double> frequency_hz, int n_layers,
                                const LayeredParameters& parameters = {});

/// Many soundings at the same frequencies with the same number of layers, for training sets and
/// samplers. Arrays are parameter by parameter: `ln_rho[j * count + s]`; data frequency by
/// frequency within a sounding: `re[s * n_frequencies + f]`. Works through the soundings in chunks
/// that stay in the cache, on `threads` threads (0: all); results do not depend on the number.
class LayeredBatch {
 public:
  LayeredBatch(std::vector<double> frequency_hz, int n_layers, int threads = 0);

  /// Misfit sum((F - d)^2 / sigma^2) of each sounding and its gradient with respect to ln rho and
  /// ln h. `sigma` is one number per datum pair, shaped like `re`.
  void misfit_and_gradient(std::size_t count, std::span<const double> ln_rho,
                           std::span<const double> ln_thickness, std::span<const double> re,
                           std::span<const double> im, std::span<const double> sigma,
                           std::span<double> misfit, std::span<double> d_ln_rho,
                           std::span<double> d_ln_thickness) const;
  /// Impedances; `re` and `im` are [count * n_frequencies].
  void predict(std::size_t count, std::span<const double> ln_rho,
               std::span<const double> ln_thickness, std::span<double> re,
               std::span<double> im) const;
  /// d(Re Z, Im Z) / d(ln rho, ln h): `re[((j * count) + s) * n_frequencies + f]`, j over the n
  /// values of ln rho and the n - 1 of ln h.
  void jacobian(std::size_t count, std::span<const double> ln_rho,
                std::span<const double> ln_thickness, std::span<double> re,
                std::span<double> im) const;

 private:
  std::vector<double> frequency_hz_;
  std::size_t layers_;
  int threads_;
};

}  // namespace tessera::inversion
