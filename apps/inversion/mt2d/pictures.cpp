// SPDX-License-Identifier: Apache-2.0
#include "inversion/mt2d/results.h"
#include "tessera/data/file_io.h"
#include "tessera/data/plot.h"
#include "tessera/inversion/chain_figure.h"
#include "tessera/inversion/figures.h"
#include "tessera/inversion/section_figure.h"
#include "tessera/inversion/survey_figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

namespace tessera::apps::mt2d {
namespace {

namespace fs = std::filesystem;

/// Clear from a thirtieth of the greatest sensitivity on, nearly white from a ten-thousandth down.
std::vector<double> veil_of(const std::vector<double>& sensitivity) {
  constexpr double clear = 1.0 / 30, gone = 1e-4, most = 0.85;
  std::vector<double> out;
  for (const double s : sensitivity)
    out.push_back(s > 0 ? most * std::clamp(std::log(clear / s) / std::log(clear / gone), 0.0, 1.0)
                  : std::isnan(s) ? 0.0
                                  : most);
  return out;
}

inversion::MeshSection section(const Result& r, std::string title,
                               const std::vector<double>& ohm_m) {
  inversion::MeshSection s{.title = std::move(title), .mesh = &r.cells, .ohm_m = ohm_m};
  for (const inversion::Station& station : r.survey.stations)
    s.station.push_back(station.name.empty() ? station.id : station.name);
  s.y = r.y, s.z = r.z;
  return s;
}

/// Log density, RMS, and the codes and shifts that chains agree on least.
std::vector<inversion::ChainTrace> traces_of(const Draws& d) {
  const std::size_t n = d.numbers.size();
  std::vector<std::size_t> order;
  for (std::size_t k = 0; k + 2 < n; ++k) order.push_back(k);
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return d.numbers[a].r_hat > d.numbers[b].r_hat;  // false where both are NaN
  });
  order.resize(std::min<std::size_t>(order.size(), 4));
  order.insert(order.begin(), {n - 2, n - 1});
  std::vector<inversion::ChainTrace> out;
  for (const std::size_t k : order) {
    inversion::ChainTrace& t = out.emplace_back(
        inversion::ChainTrace{.name = d.numbers[k].name, .r_hat = d.numbers[k].r_hat});
    for (std::size_t c = 0; c < d.chains.size(); ++c) {
      t.chains.emplace_back();
      for (std::size_t i = 0; i < d.kept; ++i)
        t.chains.back().push_back(d.values[(c * d.kept + i) * n + k]);
    }
  }
  return out;
}

const char* name_of_file(inversion::Element e) {
  switch (e) {
    case inversion::Element::xy:
      return "pseudo_section_te";
    case inversion::Element::yx:
      return "pseudo_section_tm";
    case inversion::Element::ty:
      return "pseudo_section_tipper";
    case inversion::Element::determinant:
      return "pseudo_section_determinant";
    default:
      return nullptr;  // nothing that this app takes
  }
}

}  // namespace

std::vector<fs::path> draw(const fs::path& plots, const Result& r, bool each_station) {
  data::make_folder(plots);
  std::vector<fs::path> all;
  std::set<std::string> taken;
  const auto save = [&](std::string name, const data::Figure& figure) {
    while (!taken.insert(name).second) name += "_station";
    for (const fs::path& file : data::save_as_png_and_svg(figure, plots, name)) all.push_back(file);
    all.push_back(plots / (name + ".csv"));
    data::save_csv(figure, all.back());
  };
  const double rms = inversion::rms_of(r.survey.data);
  inversion::MeshSection model =
      section(r, r.ohm_m_y.empty() ? "Resistivity" : "Resistivity along the strike", r.ohm_m);
  if (!r.steps.empty())
    model.subtitle = fmt::format("RMS {:.3f}, {} steps; pale: what data hardly see", rms,
                                 static_cast<int>(r.steps.back().step));
  if (r.draws)
    model.subtitle =
        fmt::format("mean of log10 over {} draws of {} chains, its RMS {:.3f}",
                    r.draws->kept * r.draws->chains.size(), r.draws->chains.size(), rms);
  if (!r.ohm_m_y.empty()) {  // one scale for all three
    double low = HUGE_VAL, high = 0;
    for (const auto* along : {&r.ohm_m, &r.ohm_m_y, &r.ohm_m_z})
      for (const double v : *along)
        if (std::isfinite(v)) low = std::min(low, v), high = std::max(high, v);
    model.least_ohm_m = low, model.greatest_ohm_m = high;
  }
  if (!r.sensitivity.empty()) model.veil = veil_of(r.sensitivity);
  const data::Figure drawn = inversion::section_figure(model);
  save("section", drawn);
  const auto [least, greatest] =
      std::pair(drawn.panels[0].colour.axis.min, drawn.panels[0].colour.axis.max);
  for (const auto& [name, title, values] :
       {std::tuple{"section_y", "Resistivity along the section", &r.ohm_m_y},
        std::tuple{"section_z", "Resistivity down", &r.ohm_m_z},
        std::tuple{"section_q05", "Resistivity, 5 % quantile", &r.low},
        std::tuple{"section_q95", "Resistivity, 95 % quantile", &r.high}}) {
    if (values->empty()) continue;
    inversion::MeshSection band = section(r, title, *values);
    band.least_ohm_m = least, band.greatest_ohm_m = greatest;
    save(name, inversion::section_figure(band));
  }
  if (r.draws) save("chains", inversion::chain_figure("Chains", traces_of(*r.draws)));
  for (const inversion::Element e : inversion::elements_of(r.survey.data))
    if (const char* name = name_of_file(e))
      save(name, inversion::pseudo_section(r.survey, e, true));
  const auto& kinds = r.survey.data.kind;
  if (std::any_of(kinds.begin(), kinds.end(), [](const inversion::DatumKind& k) {
        return k.part == inversion::Part::phase_tensor;
      }))
    save("pseudo_section_phase_tensor", inversion::phase_tensor_elements(r.survey));
  if (std::isfinite(rms)) save("misfit", inversion::misfit_map(r.survey));
  if (inversion::has_phase_tensors(r.survey))
    save("phase_tensors", inversion::phase_tensor_section(r.survey));
  if (inversion::has_tippers(r.survey))
    save("induction_arrows", inversion::induction_arrows(r.survey));
  if (!r.steps.empty()) {
    std::vector<inversion::IterationRow> rows;
    for (const StepRow& s : r.steps)
      rows.push_back({static_cast<int>(s.step), s.rms, s.roughness, s.weight});
    save("steps", inversion::iteration_figure("Steps", rows, r.target_rms, std::nullopt));
    if (std::any_of(rows.begin(), rows.end(), [](const inversion::IterationRow& row) {
          return std::isfinite(row.roughness);
        }))
      save("l_curve",
           inversion::l_curve("Misfit against roughness", rows, rows.size() - 1, r.target_rms));
  }
  if (each_station) {
    const std::vector<std::string> names = names_of(r.survey);
    for (std::size_t k = 0; k < names.size(); ++k)
      save(names[k], inversion::station_figure(r.survey, k));
  }
  return all;
}

}  // namespace tessera::apps::mt2d
