// SPDX-License-Identifier: Apache-2.0
#include "molecular/dynamics/results.h"
#include "tessera/data/file_io.h"
#include "tessera/data/plot.h"

namespace tessera::apps::dynamics {
namespace {

struct Row {
  std::string column, label, unit;
};

data::Figure picture(const Summary& s, const std::string& title) {
  const bool down = s.type == StageType::minimize;
  const std::vector<Row> rows =
      down ? std::vector<Row>{{"potential", "Potential energy", "kJ/mol"},
                              {"largest_force_kj_mol_nm", "Largest force", "kJ/mol/nm"}}
           : std::vector<Row>{{"potential", "Potential energy", "kJ/mol"},
                              {"conserved", "Conserved energy", "kJ/mol"},
                              {"temperature_k", "Temperature", "K"},
                              {"pressure_bar", "Pressure", "bar"},
                              {"density_kg_m3", "Density", "kg/m^{3}"}};
  const auto* x = s.energies.find(down ? "step" : "time_ps");
  data::Figure f{.width = 380, .title = title.empty() ? s.name : title + ": " + s.name};
  for (const Row& row : rows) {
    const auto* y = s.energies.find(row.column);
    if (!y || !x) continue;
    data::Panel p;
    p.row = f.panels.size();
    p.x = {.label = down ? "Step" : "Time", .unit = down ? "" : "ps", .group = "time"};
    p.y = {.label = row.label, .unit = row.unit, .log = row.column == "largest_force_kj_mol_nm"};
    p.series = {data::Line{.label = "", .x = *x, .y = *y}};
    f.panels.push_back(std::move(p));
  }
  f.height = 60 + 110 * static_cast<double>(f.panels.size());
  return f;
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
    for (const char* ending : {".png", ".svg"}) {
      out.push_back(plots / (s.name + ending));
      data::save(f, out.back());
    }
    out.push_back(plots / (s.name + ".csv"));
    data::save_csv(f, out.back());
  }
  return out;
}

}  // namespace tessera::apps::dynamics
