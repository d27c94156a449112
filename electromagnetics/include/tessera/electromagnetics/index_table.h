// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "tessera/data/text_file.h"

#include <complex>
#include <filesystem>
#include <string>
#include <vector>

namespace tessera::electromagnetics {

/// Measured permittivity over frequency, e^{+i w t}: absorption is Im eps < 0.
struct IndexTable {
  std::string name;                       ///< of the file, or what the caller calls it
  std::vector<double> f_hz;               ///< ascending, > 0
  std::vector<std::complex<double>> eps;  ///< relative
};

/// Reads columns separated by commas, semicolons, tabs or blanks. The first line names them:
///
///   wl, wavelength, lambda   um, unless the name ends in a unit: wavelength_nm, wl (m), lambda [A]
///   f, frequency             Hz, THz, GHz: a unit is required, as in f_hz
///   energy, e                eV: a unit is required
///   n                        with k, or without it (lossless)
///   eps1, eps2 (eps_re, eps_im; e1, e2)   eps2 >= 0 absorbs, as in tables of optics
///
/// k and eps2 are counts of loss and must be >= 0, whatever time sign the source uses. A file may
/// hold two tables below each other, `wl,n` and then `wl,k`, with the same wavelengths, as
/// refractiveindex.info exports them. Lines that start with # are left out. Rows may come in any
/// order. Throws data::InputError: E0303 no number, E0305 not positive, E0306 a row twice, E0360
/// unknown columns, E0361 negative loss, E0433 another number of columns than the first line names.
IndexTable read_index_table(const std::filesystem::path& path);

/// The same from text in memory.
IndexTable parse_index_table(const data::TextFile& text);

}  // namespace tessera::electromagnetics
