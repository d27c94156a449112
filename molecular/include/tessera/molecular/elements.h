// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string_view>

namespace tessera::molecular {

/// "H" for 1; "X" for 0 (no element) and beyond 118.
std::string_view symbol_of(std::uint8_t element);
/// Atomic number of a symbol in any case; 0 where there is none.
std::uint8_t element_of(std::string_view symbol);
/// The element whose standard atomic weight is nearest to a mass, within 0.5 amu (hydrogens made
/// heavier by repartitioning are not recognised); 0 where there is none or the mass is 0.
std::uint8_t element_of_mass(double mass_amu);
/// Standard atomic weight [amu] (IUPAC 2021, abridged); 0 for element 0.
double mass_of(std::uint8_t element);
/// Mass [amu] of the isotopes of hydrogen that have symbols of their own, deuterium "D" and tritium
/// "T" in any case; 0 for all other symbols, which `element_of` knows.
double mass_of_isotope(std::string_view symbol);

}  // namespace tessera::molecular
