// SPDX-License-Identifier: Apache-2.0
//
// Green's functions of an even lattice, by products of Bessel functions: the operator
// sum_d a_d (2 f - f+ - f-) has the symbol sum_d 2 a_d (1 - cos k_d), and
//
//   1/symbol = int_0^inf prod_d e^{-2 a_d t} e^{2 a_d t cos k_d} dt,
//
// whose inverse Fourier transform is the integral of prod_d e^{-2 a_d t} I_n(2 a_d t).
#pragma once
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <vector>

namespace tessera::electromagnetics::wires {

class LatticePotential {
 public:
  /// The inverse of the operator, for displacements up to `reach` along each axis.
  LatticePotential(const std::array<double, 3>& a, int reach);
  /// That of 1 - sum_d b_d sin^2(k_d / 2), the sum of b below 1.
  static LatticePotential of_steps(const std::array<double, 3>& b, int reach);
  double operator()(int i, int j, int k) const {
    const std::size_t n = static_cast<std::size_t>(reach_) + 1;
    return values_[(static_cast<std::size_t>(std::abs(k)) * n +
                    static_cast<std::size_t>(std::abs(j))) *
                       n +
                   static_cast<std::size_t>(std::abs(i))];
  }
  int reach() const { return reach_; }

 private:
  LatticePotential() = default;
  /// int e^{-decay t} prod_d e^{-x} I_n(x), x = rate_d t.
  void integrate(const std::array<double, 3>& rate, double decay);
  int reach_ = 0;
  std::vector<double> values_;  ///< [k, j, i]
};

/// e^{-x} I_n(x) for n up to `most`.
std::vector<double> scaled_bessel(int most, double x);

}  // namespace tessera::electromagnetics::wires
