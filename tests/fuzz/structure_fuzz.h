// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "processor_limit.h"
#include "tessera/molecular/structure_file.h"

#include <cmath>
#include <cstdlib>
#include <string_view>

namespace tessera::testing {

/// Reads the bytes; what is read must be whole, and what is written of it must be read as the same
/// atoms.
template <class Read>
int fuzz_structure(const std::uint8_t* data, std::size_t size, const char* name, Read&& read) {
  using namespace tessera::molecular;
  const ProcessorLimit limit;
  try {
    const Structure s =
        read(data::make_text_file(name, std::string(reinterpret_cast<const char*>(data), size)))
            .structure;
    const std::size_t n = s.n_atoms();
    if (n == 0 || s.element.size() != n || s.residue.size() != n || s.x_nm.size() != n ||
        s.chain.size() != s.residues.size())
      std::abort();
    for (std::size_t i = 0; i < n; ++i) {
      if (s.residue[i] < (i ? s.residue[i - 1] : 0) ||
          static_cast<std::size_t>(s.residue[i]) >= s.residues.size())
        std::abort();
      for (const double x : s.x_nm[i])
        if (!std::isfinite(x)) std::abort();
    }
    for (const auto& [i, j] : s.bonds)
      if (i < 0 || i >= j || static_cast<std::size_t>(j) >= n) std::abort();
    try {
      if (read_mmcif(data::make_text_file("written.cif", mmcif_text(s))).structure.n_atoms() != n)
        std::abort();
      if (read_pdb(data::make_text_file("written.pdb", pdb_text(s))).structure.n_atoms() != n)
        std::abort();
    } catch (const data::InputError&) {  // names with blanks or a cell too small for its digits
    } catch (const Error&) {             // no room in PDB
    }
  } catch (const data::InputError& e) {
    if (e.findings().empty() || e.code() != data::ExitCode::input_invalid) std::abort();
  }
  return 0;
}

}  // namespace tessera::testing
