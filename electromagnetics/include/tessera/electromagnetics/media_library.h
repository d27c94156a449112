// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "tessera/electromagnetics/medium.h"

#include <string>
#include <vector>

namespace tessera::electromagnetics {

/// A published model, as its source gives it.
struct LibraryMedium {
  Medium medium;        ///< its name is the key
  std::string what;     ///< `gold, film and bulk data, Lorentz-Drude`
  std::string source;   ///< authors, journal, volume, page, year
  double f_min_hz = 0;  ///< the range the source states; outside the model is an extrapolation
  double f_max_hz = 0;
};

/// All of them, in the order of their names:
///   metals, Rakic et al. 1998: Ag Al Au Cr Cu Ni Pt W
///   lossless Sellmeier models: Al2O3 BK7 CaF2 GaAs Ge Si Si3N4 SiO2 TiO2 (ordinary rays)
///   others: ITO SiC water; substrates FR4 RO4003C RO4350B RT5880 with a constant loss tangent
const std::vector<LibraryMedium>& media_library();

/// The names of all media.
std::vector<std::string> list_media();

/// The entry or the medium of that name; an unknown one is an Error that names the nearest.
const LibraryMedium& find_library_medium(const std::string& name);
const Medium& find_medium(const std::string& name);

}  // namespace tessera::electromagnetics
