// SPDX-License-Identifier: Apache-2.0
// From numbers as the file has them to a Sounding in our conventions, and the doubts worth a word.
#pragma once
#include "mt_text.h"
#include "sounding/missing.h"
#include "tessera/inversion/sounding_read.h"

#include <cstddef>
#include <optional>
#include <vector>

namespace tessera::inversion {

/// What the file itself says, and what its format means where it is silent.
struct FileConventions {
  std::optional<TimeSign> stated_sign;
  std::optional<ImpedanceUnits> stated_units;
  TimeSign default_sign = TimeSign::plus;
  ImpedanceUnits default_units = ImpedanceUnits::field;
};

/// Leaves out rows without any value, checks the frequencies (E0305 non-positive, E0306 twice),
/// sorts everything by falling frequency, converts units and time sign, replaces impossible errors
/// by NaN, and adds the warnings. `frequency_offsets` are places in the text. Throws if the
/// findings hold errors.
void finish_sounding(Sounding& s, const FileConventions& file, const ReadOptions& options,
                     std::vector<std::size_t> frequency_offsets, Findings& findings);

/// Channel directions, clockwise from north in degrees.
struct ChannelAzimuths {
  double hx = 0, hy = 90, ex = 0, ey = 90;
};

/// Turns transfer functions between skew or differently turned channels into ones on right-angled
/// axes with x along Hx, and sets the azimuth. Exact also for the covariances. Reports E0318 if two
/// channels are parallel.
void use_channel_azimuths(Sounding& s, const ChannelAzimuths& channels, std::size_t offset,
                          Findings& findings);

/// Sets `*_error` from the covariances: the standard deviation of one part is sqrt(N_ii S_jj / 2).
/// Where there are none, which a file may give at some frequencies only, errors stay as they are.
void errors_from_covariance(Sounding& s);

/// Of which of them yx phases are.
enum class YxPhases { of_zyx, of_minus_zyx };
/// For formats that leave it open: those of -Zyx, whose real part is positive under either time
/// sign, lie within 90 degrees of zero as a rule, and so is their median.
YxPhases yx_phases_by_median(std::vector<double> degrees);
/// The same of a sounding's `resistivity`.
YxPhases yx_phases_by_median(const Sounding& s);

/// Computes the impedance (ohm) and its errors from `s.resistivity`, whose yx phases become those
/// of Zyx.
void impedance_from_resistivity(Sounding& s, YxPhases yx);

/// What is propagated of an error as the file has it: zero and negative ones are none.
double given_error(double e);

/// An angle brought into (-180, 180].
double wrap_degrees(double angle);

// One reader per format; each returns a finished sounding or throws.
Sounding read_edi(const data::TextFile& text, const ReadOptions& options);
Sounding read_emtf_xml(const data::TextFile& text, const ReadOptions& options);
Sounding read_jones_j(const data::TextFile& text, const ReadOptions& options);
Sounding read_emtf_z(const data::TextFile& text, const ReadOptions& options);
// Of all stations in the file, in its order.
std::vector<Sounding> read_modem_list(const data::TextFile& text, const ReadOptions& options);
std::vector<Sounding> read_emdata(const data::TextFile& text, const ReadOptions& options);

}  // namespace tessera::inversion
