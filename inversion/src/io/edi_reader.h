// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "edi_blocks.h"
#include "sounding_finish.h"

#include <optional>
#include <vector>

namespace tessera::inversion {

/// What the parts of the EDI reader share.
struct EdiContext {
  Findings& findings;
  std::vector<EdiBlock> blocks;
  double empty = 1e32;  ///< the file's EMPTY
  std::vector<std::size_t> frequency_offsets;

  std::string_view text() const { return findings.text().text; }
  const EdiBlock* first(std::string_view name) const;
  /// Of a number alone. Where EMPTY is zero it is what it is: one part of an element may be zero.
  bool is_empty(double v) const;
  /// Of an element: zero where EMPTY is.
  bool is_filler(double re, double im) const;
};

/// One number of an option; blank and EMPTY mean not given.
std::optional<double> option_number(EdiContext& context, const EdiOption* option);

/// A channel of >HMEAS or >EMEAS.
struct EdiChannel {
  std::string id;    ///< as spelled
  std::string type;  ///< in capitals: HX, HY, HZ, EX, EY, RRHX, ...
  std::optional<double>
      azimuth_deg;  ///< AZM of a coil, direction of the electrode line; none if the file has none
};
std::vector<EdiChannel> edi_channels(EdiContext& context);
/// Where the channels point, of those that the file tells; nothing where it does not of HX, the
/// first of that name (the second one is remote).
std::optional<ChannelAzimuths> channel_azimuths(EdiContext& context);

/// Fills impedance, tipper, covariances, frequencies and azimuths from >SPECTRA blocks
/// (edi_spectra.cpp).
void read_edi_spectra(EdiContext& context, Sounding& s);

}  // namespace tessera::inversion
