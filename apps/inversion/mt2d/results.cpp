// SPDX-License-Identifier: Apache-2.0
#include "inversion/mt2d/results.h"

#include "tessera/data/csv.h"
#include "tessera/data/file_io.h"
#include "tessera/data/hdf5.h"
#include "tessera/data/vtk_xml.h"
#include "tessera/data/vtkhdf.h"
#include "tessera/inversion/sounding_write.h"
#include "tessera/inversion/survey_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <map>

namespace tessera::apps::mt2d {
namespace {

namespace fs = std::filesystem;

std::optional<double> if_known(double v) { return std::isnan(v) ? std::nullopt : std::optional(v); }
std::optional<double> if_known(const std::vector<double>& v, std::size_t k) {
  return v.empty() ? std::nullopt : if_known(v[k]);
}

/// What draws say of cells, beside what every section has.
struct DrawnField {
  const char *name, *column, *units, *meaning;
  const std::vector<double>* values;
};
std::vector<DrawnField> fields_of(const Result& r) {
  if (!r.draws) return {};
  const Draws& d = *r.draws;
  return {{"resistivity_q25", "q25_ohm_m", "ohm*m", "25 % quantile", &d.q25},
          {"resistivity_q50", "q50_ohm_m", "ohm*m", "median", &d.q50},
          {"resistivity_q75", "q75_ohm_m", "ohm*m", "75 % quantile", &d.q75},
          {"log10_resistivity_std", "std_decades", "1", "standard deviation of log10, decades",
           &d.deviation},
          {"r_hat", "r_hat", "1", "of log10 of the resistivity", &d.r_hat},
          {"effective_draws", "effective_draws", "1", "independent draws that they are worth",
           &d.effective}};
}

std::string mixing_table(const Draws& d) {
  data::CsvTable t(
      {"number", "mean", "standard_deviation", "q05", "q50", "q95", "r_hat", "effective_draws"});
  for (const SampledNumber& n : d.numbers) {
    t.add(n.name).add(n.mean).add(if_known(n.deviation)).add(n.low).add(n.middle).add(n.high);
    t.add(if_known(n.r_hat)).add(if_known(n.effective)).end_row();
  }
  return t.text();
}
std::string chain_table(const Draws& d) {
  data::CsvTable t({"chain", "step_size", "acceptance", "divergent", "cut", "gradients"});
  for (std::size_t k = 0; k < d.chains.size(); ++k) {
    const ChainRow& c = d.chains[k];
    t.add(k).add(c.step).add(c.acceptance).add(c.divergent).add(c.cut).add(c.gradients).end_row();
  }
  return t.text();
}

std::string model_table(const Result& r) {
  std::vector<std::string> columns{"cell"};
  const auto corners = static_cast<std::size_t>(r.cells.corners);
  for (std::size_t k = 0; k < corners; ++k) {
    columns.push_back(fmt::format("y{}_m", k));
    columns.push_back(fmt::format("z{}_m", k));
  }
  columns.insert(columns.end(), {"parameter", "resistivity_ohm_m"});
  const bool anisotropic = !r.ohm_m_y.empty();
  if (anisotropic) columns.insert(columns.end(), {"resistivity_y_ohm_m", "resistivity_z_ohm_m"});
  columns.insert(columns.end(), {"q05_ohm_m", "q95_ohm_m", "sensitivity"});
  const auto fields = fields_of(r);
  for (const DrawnField& field : fields) columns.push_back(field.column);
  data::CsvTable t(columns);
  for (std::size_t c = 0; c < r.ohm_m.size(); ++c) {
    if (std::isnan(r.ohm_m[c])) continue;
    t.add(c);
    for (std::size_t k = 0; k < corners; ++k) {
      const auto v = static_cast<std::size_t>(r.cells.cell[c * corners + k]);
      t.add(r.cells.y[v]).add(r.cells.z[v]);
    }
    t.add(r.cells.medium[c].parameter).add(r.ohm_m[c]);
    if (anisotropic) t.add(r.ohm_m_y[c]).add(r.ohm_m_z[c]);
    t.add(if_known(r.low, c)).add(if_known(r.high, c)).add(if_known(r.sensitivity, c));
    for (const DrawnField& field : fields) t.add(if_known(*field.values, c));
    t.end_row();
  }
  return t.text();
}

std::string station_table(const Result& r) {
  data::CsvTable t({"station", "name", "file", "y_m", "z_m", "offset_m", "latitude_deg",
                    "longitude_deg", "data", "rms", "rms_te", "rms_tm", "rms_tipper",
                    "shift_te_decades", "shift_tm_decades"});
  const inversion::Survey& s = r.survey;
  for (std::size_t k = 0; k < s.stations.size(); ++k) {
    const inversion::Station& station = s.stations[k];
    inversion::DataTable own;
    for (std::size_t i = 0; i < s.data.size(); ++i)
      if (s.data.station[i] == static_cast<std::int64_t>(k)) {
        own.add(0, s.data.frequency_hz[i], s.data.kind[i], s.data.value[i], s.data.sigma[i]);
        own.predicted.back() = s.data.predicted[i];
      }
    t.add(station.id)
        .add(station.name)
        .add(fs::path(station.file.path).filename().string())
        .add(r.y[k])
        .add(r.z[k])
        .add(station.offset_m)
        .add(station.latitude_deg)
        .add(station.longitude_deg)
        .add(own.size());
    t.add(if_known(inversion::rms_of(own)));
    for (const auto e : {inversion::Element::xy, inversion::Element::yx, inversion::Element::ty})
      t.add(if_known(rms_of_element(own, e)));
    t.add(if_known(r.shift, 2 * k)).add(if_known(r.shift, 2 * k + 1)).end_row();
  }
  return t.text();
}

/// Cells of the earth; x along the section, z upwards, so that ParaView shows depth downwards.
data::UnstructuredGrid grid_of(const Result& r) {
  data::UnstructuredGrid g;
  for (std::size_t v = 0; v < r.cells.y.size(); ++v)
    g.points.insert(g.points.end(), {r.cells.y[v], 0.0, -r.cells.z[v]});
  data::FieldArray rho{"resistivity", "ohm*m", "resistivity"},
      parameter{"parameter", "1", "number of the parameter; -1: given"};
  std::vector<std::pair<const std::vector<double>*, data::FieldArray>> others;
  if (!r.ohm_m_y.empty()) {
    others.push_back({&r.ohm_m_y, {"resistivity_y", "ohm*m", "along the section"}});
    others.push_back({&r.ohm_m_z, {"resistivity_z", "ohm*m", "down"}});
  }
  if (!r.low.empty()) others.push_back({&r.low, {"resistivity_q05", "ohm*m", "5 % quantile"}});
  if (!r.high.empty()) others.push_back({&r.high, {"resistivity_q95", "ohm*m", "95 % quantile"}});
  if (!r.sensitivity.empty())
    others.push_back({&r.sensitivity, {"sensitivity", "1", "of all data, over the greatest"}});
  for (const DrawnField& f : fields_of(r))
    others.push_back({f.values, {f.name, f.units, f.meaning}});
  const auto corners = static_cast<std::size_t>(r.cells.corners);
  for (std::size_t c = 0; c < r.ohm_m.size(); ++c) {
    if (std::isnan(r.ohm_m[c])) continue;
    for (std::size_t k = 0; k < corners; ++k)
      g.connectivity.push_back(r.cells.cell[c * corners + k]);
    g.offsets.push_back(static_cast<std::int64_t>(g.connectivity.size()));
    g.shapes.push_back(corners == 3 ? data::CellShape::triangle : data::CellShape::quad);
    rho.values.push_back(r.ohm_m[c]);
    parameter.values.push_back(static_cast<double>(r.cells.medium[c].parameter));
    for (auto& [from, field] : others) field.values.push_back((*from)[c]);
  }
  g.fields.cells = {std::move(rho), std::move(parameter)};
  for (auto& [from, field] : others) g.fields.cells.push_back(std::move(field));
  return g;
}

data::PolyGrid stations_of(const Result& r) {
  data::PolyGrid g;
  data::FieldArray number{"station", "1", "number along the section"}, rms{"rms", "1", "misfit"};
  for (std::size_t k = 0; k < r.y.size(); ++k) {
    g.points.insert(g.points.end(), {r.y[k], 0.0, -r.z[k]});
    g.vertices.connectivity.push_back(static_cast<std::int64_t>(k));
    g.vertices.offsets.push_back(static_cast<std::int64_t>(k + 1));
    number.values.push_back(static_cast<double>(k));
    rms.values.push_back(inversion::rms_of_station(r.survey.data, k));
  }
  g.fields.points = {std::move(number), std::move(rms)};
  return g;
}

/// The rows that another program's file can hold.
inversion::Survey rows_for(const inversion::Survey& survey,
                           const std::function<bool(inversion::DatumKind)>& holds) {
  inversion::Survey out = survey;
  out.data = {};
  const inversion::DataTable& t = survey.data;
  for (std::size_t i = 0; i < t.size(); ++i)
    if (holds(t.kind[i]))
      out.data.add(t.station[i], t.frequency_hz[i], t.kind[i], t.value[i], t.sigma[i]);
  return out;
}

bool is_resistivity_or_phase(inversion::DatumKind k) {
  return (k.element == inversion::Element::xy || k.element == inversion::Element::yx) &&
         (k.part == inversion::Part::log10_rho || k.part == inversion::Part::phase);
}

/// Stations stand where they were computed, on the ground of the section.
void write_for_others(const fs::path& run, const Result& r) {
  using inversion::Element, inversion::Part;
  inversion::Survey survey = r.survey;
  for (std::size_t k = 0; k < survey.stations.size(); ++k) {
    inversion::Station& s = survey.stations[k];
    s.place_m = {{s.offset_m, s.distance_m, r.z[k]}};
  }
  const auto& kinds = survey.data.kind;
  const auto has = [&](inversion::DatumKind k) {
    return std::find(kinds.begin(), kinds.end(), k) != kinds.end();
  };
  const inversion::Survey emdata = rows_for(survey, is_resistivity_or_phase);
  if (emdata.data.size() > 0) inversion::write_emdata(run / "data.emdata", emdata);
  // ModEM's list has numbers in pairs: real and imaginary part, resistivity and phase.
  const inversion::Survey modem = rows_for(survey, [&](inversion::DatumKind k) {
    if (k.element == Element::determinant || k.element == Element::average ||
        k.part == Part::phase_tensor)
      return false;
    return k.part == Part::log10_rho ? has({k.element, Part::phase})
           : k.part == Part::phase   ? has({k.element, Part::log10_rho})
                                     : true;
  });
  if (modem.data.size() > 0)
    inversion::write_modem(run / "data.dat", modem, modem.azimuth_deg - 90);
}

/// What the section predicts as soundings along the strike, a file each: EDI.
void write_predicted(const fs::path& folder, const inversion::Survey& survey) {
  using inversion::Complex, inversion::Element;
  constexpr Complex none(NAN, NAN);
  const std::vector<std::string> names = names_of(survey);
  bool made = false;
  for (std::size_t k = 0; k < survey.stations.size(); ++k) {
    std::map<double, std::array<Complex, 2>, std::greater<>> at;  // by frequency: xy, yx
    const auto add = [&](std::size_t which, double hz, Complex v) {
      at.try_emplace(hz, std::array{none, none}).first->second[which] = v;
    };
    for (const auto& [which, element] :
         {std::pair{std::size_t{0}, Element::xy}, {1, Element::yx}}) {
      const inversion::Response r = inversion::predicted_response(survey.data, k, element);
      for (std::size_t i = 0; i < r.size(); ++i)
        if (std::isfinite(r.impedance_ohm[i].real()))  // yx of the table is -Zyx
          add(which, r.frequency_hz[i], which ? -r.impedance_ohm[i] : r.impedance_ohm[i]);
    }
    if (at.empty()) continue;
    const inversion::Station& from = survey.stations[k];
    inversion::Sounding s{.station = from.name.empty() ? from.id : from.name};
    s.latitude_deg = from.latitude_deg, s.longitude_deg = from.longitude_deg;
    s.elevation_m = from.elevation_m;
    for (const auto& [hz, v] : at) {
      s.frequency_hz.push_back(hz);
      s.azimuth_deg.push_back(std::remainder(survey.azimuth_deg - 90, 360.0));
      s.impedance.push_back({{{Complex(), v[0]}, {v[1], Complex()}}});
      s.impedance_error.push_back({{{NAN, NAN}, {NAN, NAN}}});
    }
    if (!made) data::make_folder(folder);
    made = true;
    inversion::write_edi(folder / (names[k] + ".edi"), s);
  }
}

/// Impedances and tippers of the stations' files, for pictures and for Python.
void write_soundings(data::H5Writer& file, const inversion::Survey& survey) {
  for (std::size_t k = 0; k < survey.stations.size(); ++k) {
    const inversion::Sounding& s = survey.stations[k].sounding;
    if (s.size() == 0) continue;
    const std::string at = fmt::format("tessera/sounding/{}/", k);
    file.write(at + "frequency", s.frequency_hz, {}, {"Hz", ""});
    file.write(at + "azimuth", s.azimuth_deg, {}, {"deg", "of x, clockwise from north"});
    if (s.has_impedance()) {
      std::vector<std::complex<double>> z;
      for (const auto& t : s.impedance)
        for (const auto& row : t) z.insert(z.end(), row.begin(), row.end());
      file.write(at + "impedance", z, {s.size(), 2, 2}, {"ohm", ""});
    }
    if (s.has_tipper()) {
      std::vector<std::complex<double>> t;
      for (const auto& pair : s.tipper) t.insert(t.end(), pair.begin(), pair.end());
      file.write(at + "tipper", t, {s.size(), 2}, {"1", ""});
    }
  }
}

void write_draws(data::H5Writer& file, const Draws& d) {
  const std::string at = "tessera/posterior/";
  std::vector<std::string> names;
  std::vector<double> numbers, chains;
  for (const SampledNumber& n : d.numbers) {
    names.push_back(n.name);
    for (const double v : {n.mean, n.deviation, n.low, n.middle, n.high, n.r_hat, n.effective})
      numbers.push_back(v);
  }
  for (const ChainRow& c : d.chains)
    for (const double v : {c.step, c.acceptance, c.divergent, c.cut, c.gradients})
      chains.push_back(v);
  file.write_texts(at + "names", names);
  file.write(at + "draws", d.values, {d.chains.size(), d.kept, d.numbers.size()},
             {"", "of each chain, the numbers that `names` says"});
  file.write(at + "numbers", numbers, {d.numbers.size(), numbers_of_number},
             {"", "mean, standard deviation, quantiles of 5, 50, 95 %, R-hat, effective draws"});
  file.write(at + "chains", chains, {d.chains.size(), numbers_of_chain},
             {"", "step size, acceptance, divergent and cut trajectories, gradients"});
}

void write_h5(const fs::path& path, const Result& r, const data::UnstructuredGrid& grid) {
  data::H5Writer file(path);
  data::write_vtkhdf(file, grid);
  file.group("tessera");
  file.attribute("tessera", "app", "inversion.mt2d");
  file.attribute("tessera", "time_convention", "exp(+i omega t)");
  inversion::write_survey(file, "tessera/survey", r.survey);
  write_soundings(file, r.survey);
  file.write("tessera/stations/y", r.y, {}, {"m", "along the section"});
  file.write("tessera/stations/z", r.z, {}, {"m", "down"});
  file.write("tessera/stations/azimuth", std::vector<double>{r.survey.azimuth_deg}, {},
             {"deg", "in which the section runs"});
  if (!r.shift.empty())
    file.write("tessera/stations/shift", r.shift, {r.y.size(), 2},
               {"1", "decades of the apparent resistivity of TE and TM"});
  const std::string at = "tessera/model/";
  file.write(at + "y", r.cells.y, {}, {"m", "of the vertices, along the section"});
  file.write(at + "z", r.cells.z, {}, {"m", "of the vertices, down"});
  file.write(at + "cell", std::vector<std::int64_t>(r.cells.cell.begin(), r.cells.cell.end()),
             {r.ohm_m.size(), static_cast<std::uint64_t>(r.cells.corners)},
             {"1", "vertices of each cell"});
  std::vector<std::int64_t> parameter;
  for (const inversion::Medium2d& m : r.cells.medium) parameter.push_back(m.parameter);
  file.write(at + "parameter", parameter, {}, {"1", "-1: given"});
  file.write(at + "resistivity", r.ohm_m, {}, {"ohm*m", "NaN in the air"});
  if (!r.ohm_m_y.empty()) {
    file.write(at + "resistivity_y", r.ohm_m_y, {}, {"ohm*m", "along the section"});
    file.write(at + "resistivity_z", r.ohm_m_z, {}, {"ohm*m", "down"});
  }
  if (!r.low.empty()) file.write(at + "resistivity_q05", r.low, {}, {"ohm*m", "5 % quantile"});
  if (!r.high.empty()) file.write(at + "resistivity_q95", r.high, {}, {"ohm*m", "95 % quantile"});
  if (!r.sensitivity.empty())
    file.write(at + "sensitivity", r.sensitivity, {}, {"1", "of all data, over the greatest"});
  for (const DrawnField& f : fields_of(r))
    file.write(at + f.name, *f.values, {}, {f.units, f.meaning});
  if (r.draws) write_draws(file, *r.draws);
  std::vector<double> steps;
  for (const StepRow& row : r.steps)
    for (const double v : numbers_of(row)) steps.push_back(v);
  file.write("tessera/steps", steps, {r.steps.size(), step_columns().size()},
             {"", "as the columns of metrics.csv"});
  file.write("tessera/target_rms", std::vector<double>{r.target_rms.value_or(NAN)}, {}, {"1", ""});
  file.write_text("tessera/reason", r.reason);
  file.commit();
}

}  // namespace

std::vector<std::string> step_columns() {
  return {"step",       "rms",       "rms_te",           "rms_tm",
          "rms_tipper", "roughness", "roughness_weight", "length"};
}
std::vector<double> numbers_of(const StepRow& r) {
  return {r.step, r.rms, r.rms_te, r.rms_tm, r.rms_tipper, r.roughness, r.weight, r.length};
}
StepRow step_row(const std::vector<double>& v) {
  return {v.at(0), v.at(1), v.at(2), v.at(3), v.at(4), v.at(5), v.at(6), v.at(7)};
}

std::vector<std::string> names_of(const inversion::Survey& survey) {
  std::vector<std::string> ids;
  for (const inversion::Station& s : survey.stations) ids.push_back(s.id);
  return inversion::file_names(ids);
}

double rms_of_element(const inversion::DataTable& t, inversion::Element element) {
  double sum = 0;
  std::size_t n = 0;
  for (std::size_t i = 0; i < t.size(); ++i) {
    const double r = (t.value[i] - t.predicted[i]) / t.sigma[i];
    if (t.kind[i].element == element && std::isfinite(r)) sum += r * r, ++n;
  }
  return n ? std::sqrt(sum / static_cast<double>(n)) : NAN;
}

void write_results(const fs::path& run, const Result& r, bool vtk_xml) {
  // First what all the rest can be made of again.
  const data::UnstructuredGrid grid = grid_of(r);
  write_h5(run / "results.h5", r, grid);
  data::write_file_atomically(run / "model.csv", model_table(r));
  data::write_file_atomically(run / "stations.csv", station_table(r));
  if (r.draws) {
    data::write_file_atomically(run / "mixing.csv", mixing_table(*r.draws));
    data::write_file_atomically(run / "chains.csv", chain_table(*r.draws));
  }
  inversion::write_survey_csv(run / "data.csv", r.survey);
  write_for_others(run, r);
  write_predicted(run / "predicted", r.survey);
  if (!vtk_xml) return;
  data::write_vtk_xml(run / "model.vtu", grid);
  data::write_vtk_xml(run / "stations.vtp", stations_of(r));
}

}  // namespace tessera::apps::mt2d
