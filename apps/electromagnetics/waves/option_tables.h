// SPDX-License-Identifier: Apache-2.0
// The option tables of the sections of a case, for those that an application puts together.
#pragma once
#include "electromagnetics/waves/options.h"

namespace tessera::apps::waves {

/// With `auto` where the program may choose lines.
data::Options<GridOptions> grid_table(bool with_auto = false);
/// With `excite` where cases have ports.
data::Options<SteppingOptions> run_table(bool with_ports = false);
data::Options<BoundaryOptions> boundary_table();
data::Options<MaterialOptions> material_table();
data::Options<StructureOptions> structure_table();
data::Options<SourceOptions> source_table();
data::Options<PortOptions> port_table();
data::Options<ScatteringOptions> scattering_table();
data::Options<LoadOptions> load_table();
data::Options<SheetOptions> sheet_table();
data::Options<WireOptions> wire_table();
data::Options<MonitorOptions> monitor_table();
data::Options<ReferenceOptions> reference_table();
data::Options<OutputOptions> output_table();
data::Options<ExpectOptions> expect_table();

/// Frequencies of vacuum wavelengths and photon energies.
inline const data::Alternative from_wavelength{"um", "c0/x"};
inline const data::Alternative from_photon_energy{"eV", "x/6.62607015e-34 J*s"};

/// A frequency above zero, also as a vacuum wavelength or a photon energy.
inline data::Field frequency(data::Field f) {
  f.unit = "THz";
  f.alternatives = {from_wavelength, from_photon_energy};
  f.above = 0;
  return f;
}
inline data::Field length(data::Field f) {
  f.unit = "um";
  return f;
}
inline data::Field duration(data::Field f) {
  f.unit = "fs";
  return f;
}

inline const std::vector<std::string> axis_names = {"x", "y", "z"};
inline const std::vector<std::string> component_names = {"Ex", "Ey", "Ez", "Hx", "Hy", "Hz"};

/// R, L and C of a table that has a member `circuit`, for some of its kinds where these are named.
template <class T>
void add_circuit(data::Options<T>& o, const std::vector<std::string>& kinds = {}) {
  const auto value = [&](const char* key, std::optional<double> CircuitOptions::*member,
                         const char* doc, const char* unit) {
    o.add(key, [member](T& t) -> std::optional<double>& { return t.circuit.*member; },
          {.doc = doc, .unit = unit, .above = 0, .only_for = kinds});
  };
  value("resistance", &CircuitOptions::resistance,
        "Its resistance, in two dimensions that of 1 m across the plane; none if not given.",
        "ohm");
  value("inductance", &CircuitOptions::inductance, "Its inductance; none if not given.", "nH");
  value("capacitance", &CircuitOptions::capacitance, "Its capacitance; none if not given.", "pF");
  o.add("circuit", [](T& t) -> CircuitChoice& { return t.circuit.circuit; },
        {.doc = "How resistance, inductance and capacitance are joined.",
         .choices = {"series", "parallel"},
         .only_for = kinds});
}

}  // namespace tessera::apps::waves
