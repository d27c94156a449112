// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "tessera/inversion/sounding.h"

#include <filesystem>
#include <span>
#include <string>

namespace tessera::inversion {

/// The sounding as SEG EDI 1.0: impedance in mV/km/nT and tipper under e^{+i omega t}, variances
/// (squares of the standard deviations), ZROT per frequency, EMPTY=1.0E32 for what is missing, ten
/// digits. What EDI cannot hold is left out: covariances, the declination's use. Read back it gives
/// the same numbers to 1e-9 relative.
std::string edi_text(const Sounding& s);

/// One table for any number of soundings, a row per station and frequency (RFC 4180). Columns:
/// station, latitude_deg, longitude_deg, elevation_m, frequency_hz, period_s, azimuth_deg; for each
/// element xx, xy, yx, yy zNN_re_ohm, zNN_im_ohm, zNN_error_ohm (standard deviation of each part),
/// rho_NN_ohm_m, rho_NN_error_ohm_m, phase_NN_deg, phase_NN_error_deg; for tx, ty re, im and error.
/// A missing number is an empty field; numbers are the shortest that read back to the same bits.
std::string csv_text(std::span<const Sounding> soundings);

/// Writes the file in one step (see data::write_file_atomically for the errors).
void write_edi(const std::filesystem::path& path, const Sounding& s);
void write_csv(const std::filesystem::path& path, std::span<const Sounding> soundings);

}  // namespace tessera::inversion
