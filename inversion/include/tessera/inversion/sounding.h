// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "tessera/data/diagnostic.h"
#include "tessera/inversion/constants.h"

#include <array>
#include <complex>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace tessera::inversion {

using Complex = std::complex<double>;
/// Rows are outputs (Ex, Ey), columns inputs (Hx, Hy): `t[0][1]` is xy.
template <class T>
using Tensor2 = std::array<std::array<T, 2>, 2>;

enum class ImpedanceUnits {
  ohm,   ///< E/H in V/A
  field  ///< E/B in mV/km/nT
};
enum class TimeSign {
  plus,  ///< e^{+i omega t}: the xy phase of a layered earth lies in 0..90 degrees
  minus  ///< e^{-i omega t}: it lies in -90..0 degrees
};

/// Apparent resistivity (ohm m) and phase (degrees), element by element; NaN where not given.
struct ResistivityPhase {
  std::vector<Tensor2<double>> rho, rho_error;  ///< [n][2][2] ohm m
  std::vector<Tensor2<double>> phase,
      phase_error;  ///< [n][2][2] degrees, phase of the impedance element
  bool errors_apart =
      false;  ///< both errors mean what is written here: neither follows from the other
  bool empty() const { return rho.empty(); }
};

/// Second-order statistics from which every variance and covariance of a transfer function follows
/// (Egbert and Booker 1986; Eisel and Egbert 2001, Geophys. J. Int. 144, 65-82):
/// Cov(T_ij, T_kl^*) = residual[i][k] * signal_inverse[j][l]. Units: those of impedance^2 (ohm^2)
/// in the product.
struct Covariance {
  std::vector<Tensor2<Complex>> signal_inverse;  ///< [n][2][2] over the inputs Hx, Hy; Hermitian
  std::vector<Tensor2<Complex>> residual;        ///< [n][2][2] over the outputs Ex, Ey; Hermitian
  bool empty() const { return signal_inverse.empty(); }
};

/// One magnetotelluric sounding after reading and conversion. Conventions: x along `azimuth_deg`
/// (0 = north), y 90 degrees clockwise of x (east), z down, e^{+i omega t}, impedance E/H in ohm.
/// Frequencies fall strictly (periods rise), so index 0 is the shallowest. A number that the file
/// does not have is NaN, in values and in errors; an error is never 0 or infinite.
struct Sounding {
  std::string station;  ///< as the file spells it, blanks kept
  std::string file;
  std::string format;  ///< "EDI", "EDI SPECTRA", "EDI rho/phase", "EMTF XML", "Jones J", "EMTF Z",
                       ///< "ModEM" or "MARE2DEM"
  std::optional<double> latitude_deg, longitude_deg, elevation_m;
  /// x, y, z in m, x along `azimuth_deg` (of the first frequency, where axes turn), z down from the
  /// datum (the sea's surface in MARE2DEM's); where the file has such. Positions on the globe go
  /// first.
  std::optional<std::array<double, 3>> place_m;
  double tilt_deg = 0;  ///< of the instrument's y axis below the horizontal, as along a sea floor
  std::optional<double> declination_deg;  ///< if the file tells it; never applied by the reader

  std::vector<double> frequency_hz;  ///< [n], strictly falling
  std::vector<double> azimuth_deg;   ///< [n], clockwise from north, in (-180, 180]

  std::vector<Tensor2<Complex>> impedance;  ///< [n] ohm; empty if the file has none
  /// [n] ohm: standard deviation of the real part and of the imaginary part, each. EDI: sqrt(VAR);
  /// EMTF files and SPECTRA, whose variance is that of the complex number: sqrt(VAR/2); J: the
  /// error column.
  std::vector<Tensor2<double>> impedance_error;
  Covariance impedance_covariance;  ///< of the complex elements (twice the variance of one part);
                                    ///< may be empty

  std::vector<std::array<Complex, 2>>
      tipper;  ///< [n] Hz = Tx Hx + Ty Hy; empty if the file has none
  std::vector<std::array<double, 2>> tipper_error;  ///< [n] as impedance_error
  Covariance tipper_covariance;                     ///< residual[n][0][0] is that of Hz

  ResistivityPhase
      resistivity;  ///< as the file gives it (EDI RHO/PHS, J R blocks); empty if it does not
  bool impedance_from_resistivity =
      false;  ///< the file had RHO/PHS only and the impedance was computed from it

  ImpedanceUnits source_units = ImpedanceUnits::field;  ///< that were converted from
  TimeSign source_sign = TimeSign::plus;
  bool units_stated = false;  ///< the file (or ReadOptions) said so; otherwise the format's default
  bool sign_stated = false;

  std::vector<data::Diagnostic> findings;  ///< warnings and notes; errors are thrown

  std::size_t size() const { return frequency_hz.size(); }
  bool has_impedance() const { return !impedance.empty(); }
  bool has_tipper() const { return !tipper.empty(); }
};

}  // namespace tessera::inversion
