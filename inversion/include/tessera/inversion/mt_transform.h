// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "tessera/inversion/sounding.h"

#include <cstddef>
#include <span>
#include <vector>

namespace tessera::inversion {

/// One complex response per frequency. A missing value or error is NaN.
struct Response {
  std::vector<Complex> z;     ///< [n] ohm, phase of a layered earth in 0..90 degrees
  std::vector<double> error;  ///< [n] ohm, standard deviation of the real and of the imaginary part
};

/// Apparent resistivity and phase per frequency with standard deviations.
struct SoundingCurve {
  std::vector<double> rho, rho_error;      ///< [n] ohm m
  std::vector<double> phase, phase_error;  ///< [n] degrees
};

/// What of the tensor a layered earth is fitted to.
enum class ResponseKind {
  determinant,  ///< sqrt(Zxx Zyy - Zxy Zyx), the root with positive real part; free of the axes'
                ///< direction
  average,      ///< (Zxy - Zyx) / 2, free of the axes' direction
  xy,           ///< Zxy: TE if x points along strike
  yx,           ///< -Zyx: TM if x points along strike
};

/// Errors are propagated to first order, with the covariance of the file if there is one (Cov(Z_ij,
/// Z_kl*) = N_ik S_jl), else, and where it is incomplete, with the elements taken as independent.
/// NaN where an error that enters is missing.
Response response_of(const Sounding& s, ResponseKind kind);

/// rho = |z|^2 / (omega mu0), phase = arg z; to first order d rho = 2 rho e/|z|, d phase = e/|z|.
/// `frequency_hz` and `r` have equal lengths.
SoundingCurve sounding_curve(std::span<const double> frequency_hz, const Response& r);

/// Turns the axes clockwise (seen from above) by `angle_deg`, impedance and tipper: Z' = R Z R^T,
/// T' = T R^T with R = [[cos, sin], [-sin, cos]] (Simpson and Bahr 2005, Practical
/// Magnetotellurics, section 5.1). Covariances turn exactly and give the errors; without them
/// variances add with the squared coefficients, elements taken as independent. Apparent
/// resistivities as the file gave them do not turn and are dropped unless the angle is 0.
void rotate_by(Sounding& s, double angle_deg);

/// Turns the axes at each frequency so that x points `azimuth_deg` east of north.
void rotate_to(Sounding& s, double azimuth_deg);

/// The impedance in other units and under another time sign, for writing to other programs.
std::vector<Tensor2<Complex>> impedance_in(const Sounding& s, ImpedanceUnits units,
                                           TimeSign sign = TimeSign::plus);

/// Keeps the frequencies whose period lies in [shortest_s, longest_s]. Returns how many were left
/// out.
std::size_t keep_periods(Sounding& s, double shortest_s, double longest_s);

/// Makes all values at the given periods missing (1 % tolerance in period). Returns those that
/// match no period.
std::vector<double> mask_periods(Sounding& s, std::span<const double> periods_s);

/// Keeps the listed indices in the order given, in every array of the sounding.
void select_frequencies(Sounding& s, std::span<const std::size_t> indices);

}  // namespace tessera::inversion
