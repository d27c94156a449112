// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "tessera/inversion/data_table.h"
#include "tessera/inversion/response.h"
#include "tessera/inversion/sounding.h"

#include <cstddef>
#include <span>
#include <vector>

namespace tessera::inversion {

/// Errors are propagated to first order, with the covariance of the file if there is one (Cov(Z_ij,
/// Z_kl*) = N_ik S_jl), else, and where it is incomplete, with the elements taken as independent.
/// NaN where an error that enters is missing. Throws tessera::Error for an element of the tipper.
Response response_of(const Sounding& s, Element element);

/// Turns the axes clockwise (seen from above) by `angle_deg`, impedance, tipper and `place_m`: Z' =
/// R Z R^T, T' = T R^T with R = [[cos, sin], [-sin, cos]] (Simpson and Bahr 2005, Practical
/// Magnetotellurics, section 5.1). Covariances turn exactly and give the errors; without them
/// variances add with the squared coefficients, elements taken as independent. Apparent
/// resistivities as the file gave them do not turn and are dropped unless the angle is 0.
void rotate_by(Sounding& s, double angle_deg);

/// Turns the axes at each frequency so that x points `azimuth_deg` east of north; `place_m` as
/// those of the first frequency.
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
