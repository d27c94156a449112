// SPDX-License-Identifier: Apache-2.0
#include "molecular/dynamics/results.h"
#include "tessera/data/file_io.h"
#include "tessera/molecular/figures.h"

#include <algorithm>
#include <iterator>

namespace tessera::apps::dynamics {
namespace {

struct Row {
  std::string column, label, unit;
  bool log = false;
};

data::Figure picture(const Summary& s, const std::string& title) {
  const bool down = s.type == StageType::minimize;
  const std::vector<Row> rows =
      down ? std::vector<Row>{{"potential", "Potential energy", "kJ/mol"},
                              {"largest_force_kj_mol_nm", "Largest force", "kJ/mol/nm", true}}
           : std::vector<Row>{{"potential", "Potential energy", "kJ/mol"},
                              {"conserved", "Conserved energy", "kJ/mol"},
                              {"temperature_k", "Temperature", "K"},
                              {"pressure_bar", "Pressure", "bar"},
                              {"density_kg_m3", "Density", "kg/m^{3}"}};
  mol::StageFigure f{.title = title.empty() ? s.name : title + ": " + s.name,
                     .axis = down ? "Step" : "Time",
                     .axis_unit = down ? "" : "ps",
                     .at = {},
                     .quantities = {}};
  if (const auto* x = s.energies.find(down ? "step" : "time_ps")) {
    f.at = *x;
    for (const Row& row : rows)
      if (const auto* y = s.energies.find(row.column))
        f.quantities.push_back({row.label, row.unit, *y, row.log});
  }
  return mol::stage_figure(f);
}

}  // namespace

std::vector<std::filesystem::path> draw(const std::filesystem::path& plots,
                                        const std::vector<Summary>& stages,
                                        const std::string& title) {
  std::vector<std::filesystem::path> out;
  data::make_folder(plots);
  for (const Summary& s : stages) {
    if (s.energies.rows() < 2) continue;
    const data::Figure f = picture(s, title);
    std::ranges::move(data::save_as_png_and_svg(f, plots, s.name), std::back_inserter(out));
    out.push_back(plots / (s.name + ".csv"));
    data::save_csv(f, out.back());
  }
  return out;
}

}  // namespace tessera::apps::dynamics
