// SPDX-License-Identifier: Apache-2.0
#include "inversion/mt1d/output.h"
#include "inversion/mt1d/profile.h"
#include "tessera/data/vtk_xml.h"
#include "tessera/data/vtkhdf.h"

#include <algorithm>
#include <cmath>

namespace tessera::apps::mt1d {
namespace {

/// The stitched section: for every station a column of cells that reaches half the way to its
/// neighbours; x is the distance along the profile, z points up, so that ParaView shows depth
/// downwards.
data::UnstructuredGrid section_grid(const std::vector<Record>& records) {
  const auto edges = column_edges(records);
  const double bottom = greatest_depth(records);
  data::UnstructuredGrid g;
  data::FieldArray rho{"resistivity", "ohm*m", "resistivity of the layers"},
      station{"station", "1", "number of the station along the profile"},
      low{"resistivity_q05", "ohm*m", "5 % quantile"},
      high{"resistivity_q95", "ohm*m", "95 % quantile"},
      seen{"seen", "1", "1 above the Bostick depth at the longest period"};
  for (std::size_t k = 0; k < records.size(); ++k) {
    const auto& s = records[k].result;
    const auto z = inversion::bottoms(s.thickness_m);
    double top = 0;
    for (std::size_t j = 0; j < s.resistivity_ohm_m.size() && top < bottom; ++j) {
      const double base = j < z.size() ? std::min(z[j], bottom) : bottom;
      const auto first = static_cast<std::int64_t>(g.points.size() / 3);
      for (const auto& [x, d] : {std::pair(edges[k], base), std::pair(edges[k + 1], base),
                                 std::pair(edges[k + 1], top), std::pair(edges[k], top)})
        g.points.insert(g.points.end(), {x, 0.0, -d});
      for (int c = 0; c < 4; ++c) g.connectivity.push_back(first + c);
      g.offsets.push_back(static_cast<std::int64_t>(g.connectivity.size()));
      g.shapes.push_back(data::CellShape::quad);
      rho.values.push_back(s.resistivity_ohm_m[j]);
      low.values.push_back(s.q05.empty() ? NAN : s.q05[j]);
      high.values.push_back(s.q95.empty() ? NAN : s.q95[j]);
      station.values.push_back(static_cast<double>(k));
      seen.values.push_back(top < s.depth.bostick_m ? 1 : 0);
      top = base;
    }
  }
  g.fields.cells = {rho, low, high, station, seen};
  return g;
}

/// Apparent resistivity and phase over distance and log10 period.
data::RectilinearGrid pseudo_section_grid(const std::vector<Record>& records) {
  const auto edges = column_edges(records);
  const PeriodTable t = period_table(records);
  data::RectilinearGrid g;
  g.x = edges;
  const double half = t.period.size() > 1 ? 0.5 * std::log10(t.period[1] / t.period[0]) : 0.1;
  g.y = {0};
  g.z.clear();
  for (std::size_t p = t.period.size(); p-- > 0;)
    g.z.push_back(-std::log10(t.period[p]) - half);  // long periods below
  g.z.push_back(-std::log10(t.period[0]) + half);
  data::FieldArray fields[4] = {{"apparent_resistivity", "ohm*m", "observed"},
                                {"phase", "deg", "observed"},
                                {"predicted_apparent_resistivity", "ohm*m", "predicted"},
                                {"predicted_phase", "deg", "predicted"}};
  const std::vector<double>* from[4] = {&t.rho_a, &t.phase, &t.predicted_rho_a, &t.predicted_phase};
  for (int f = 0; f < 4; ++f) {
    for (std::size_t p = t.period.size(); p-- > 0;)
      for (std::size_t k = 0; k < records.size(); ++k)
        fields[f].values.push_back((*from[f])[k * t.period.size() + p]);
    g.fields.cells.push_back(std::move(fields[f]));
  }
  return g;
}

}  // namespace

void write_results(const std::filesystem::path& run, const std::vector<Record>& records,
                   bool has_coordinates, bool vtk_xml) {
  const data::UnstructuredGrid section = section_grid(records);
  data::H5Writer file(run / "results.h5");
  data::write_vtkhdf(file, section);
  file.group("tessera");
  file.attribute("tessera", "app", "inversion.mt1d");
  file.attribute("tessera", "time_convention", "exp(+i omega t)");
  std::vector<std::string> ids;
  for (const Record& r : records) ids.push_back(r.id);
  file.write_texts("tessera/profile/sounding", ids, {"", "soundings in the order of the profile"});
  file.write("tessera/profile/has_coordinates", std::vector<double>{has_coordinates ? 1.0 : 0.0},
             {}, {"1", "0: distances only count stations"});
  for (const Record& r : records) write(file, "tessera/sounding/" + r.id, r);
  file.commit();
  if (!vtk_xml) return;
  std::filesystem::create_directories(run / "vtk");
  data::write_vtk_xml(run / "vtk" / "section.vtu", section);
  data::write_vtk_xml(run / "vtk" / "pseudo_section.vtr", pseudo_section_grid(records));
}

std::vector<Record> read_results(const std::filesystem::path& results_h5, bool& has_coordinates) {
  const auto found = data::read_h5(results_h5);
  std::map<std::string, data::H5Array> datasets;
  for (const auto& [name, array] : found)
    datasets.emplace(name.starts_with('/') ? name.substr(1) : name, array);
  const auto missing = [&](const char* what) {
    data::Diagnostic d;
    d.number = 428;
    d.place.file = results_h5.string();
    d.message = std::string("the file has no ") + what + ": it is no result of inversion.mt1d";
    return data::InputError(std::move(d));
  };
  const auto order = datasets.find("tessera/profile/sounding"),
             flag = datasets.find("tessera/profile/has_coordinates");
  if (order == datasets.end() || flag == datasets.end()) throw missing("tessera/profile");
  const auto* ids = std::get_if<std::vector<std::string>>(&order->second.data);
  const auto* coordinates = std::get_if<std::vector<double>>(&flag->second.data);
  if (!ids || ids->empty() || !coordinates || coordinates->size() != 1)
    throw missing("usable tessera/profile");
  has_coordinates = (*coordinates)[0] != 0;
  std::vector<Record> records;
  for (const std::string& id : *ids)
    records.push_back(read(datasets, "tessera/sounding/" + id, results_h5.string()));
  return records;
}

}  // namespace tessera::apps::mt1d
