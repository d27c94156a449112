// SPDX-License-Identifier: Apache-2.0
#include "electromagnetics/inverse_scattering/results.h"

#include "electromagnetics/inverse_scattering/data.h"
#include "electromagnetics/waves/bodies.h"
#include "tessera/data/file_io.h"
#include "tessera/data/hdf5.h"
#include "tessera/data/vtk_xml.h"
#include "tessera/electromagnetics/figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

namespace tessera::apps::inverse_scattering {
namespace {

namespace em = electromagnetics;

std::uint64_t cells(const InverseResult& r, std::size_t axis) { return r.lines[axis].size() - 1; }

/// The layer of cells that is shown: the domain in 2-D, that through the middle of the region in
/// 3-D.
std::size_t layer(const InverseResult& r) {
  std::size_t k = 0;
  const double middle = (r.region[0][2] + r.region[1][2]) / 2;
  while (k + 1 < cells(r, 2) && r.lines[2][k + 1] < middle) ++k;
  return k;
}

std::vector<double> plane(const InverseResult& r, const std::vector<double>& map) {
  const std::size_t points = cells(r, 0) * cells(r, 1);
  const auto begin = map.begin() + static_cast<std::ptrdiff_t>(layer(r) * points);
  return {begin, begin + static_cast<std::ptrdiff_t>(points)};
}

em::PermittivityMaps maps(const InverseResult& r) {
  const std::size_t k = layer(r);
  em::PermittivityMaps m{.x = r.lines[0],
                         .y = r.lines[1],
                         .z = (r.lines[2][k] + r.lines[2][k + 1]) / 2,
                         .found = plane(r, r.map),
                         .truth = {},
                         .most = *std::max_element(r.map.begin(), r.map.end())};
  if (!r.truth.empty()) {
    m.truth = plane(r, r.truth);
    m.most = std::max(m.most, *std::max_element(r.truth.begin(), r.truth.end()));
  }
  return m;
}

data::Figure descent(const InverseResult& r) {
  std::vector<double> iteration, misfit;
  for (const InverseRow& row : r.history) {
    iteration.push_back(row.iteration);
    misfit.push_back(row.misfit);
  }
  return em::descent_figure(iteration, misfit);
}

/// The receiver that sees most of each of up to four sources.
em::TracesFigure traces(const InverseResult& r) {
  em::TracesFigure f{.time_s = r.time, .traces = {}};
  const std::size_t n = r.time.size();
  for (std::size_t s = 0; s < std::min<std::uint64_t>(r.sources, 4); ++s) {
    std::size_t best = 0;
    double most = -1;
    for (std::size_t k = 0; k < r.receivers; ++k) {
      double squares = 0;
      for (std::size_t t = 0; t < n; ++t)
        squares += std::pow(r.measured[(s * n + t) * r.receivers + k], 2);
      if (squares > most) most = squares, best = k;
    }
    em::TracesFigure::Trace& one = f.traces.emplace_back();
    one.title = fmt::format("source {}, receiver {}", s, best);
    for (std::size_t t = 0; t < n; ++t) {
      one.measured.push_back(r.measured[(s * n + t) * r.receivers + best]);
      one.predicted.push_back(r.predicted[(s * n + t) * r.receivers + best]);
    }
  }
  return f;
}

}  // namespace

void write_inverse(const std::filesystem::path& run, const InverseResult& r, bool vtk) {
  data::H5Writer file(run / "results.h5");
  file.group("tessera");
  file.attribute("tessera", "app", "electromagnetics.inverse_scattering");
  const std::vector<std::uint64_t> shape{cells(r, 2), cells(r, 1), cells(r, 0)},
      traces_shape{r.sources, r.time.size(), r.receivers};
  for (std::size_t d = 0; d < 3; ++d)
    file.write(std::string("model/") + "xyz"[d], r.lines[d], {}, {"m", "lines between cells"});
  file.write("model/permittivity", r.map, shape, {"1", "relative permittivity that was found"});
  if (!r.truth.empty())
    file.write("model/truth", r.truth, shape, {"1", "true relative permittivity"});
  file.write("model/region_low", r.region[0], {}, {"m", ""});
  file.write("model/region_high", r.region[1], {}, {"m", ""});
  file.write("data/time", r.time, {}, {"s", ""});
  file.write("data/measured", r.measured, traces_shape,
             {r.field_units, "field at the receivers, [source, time, receiver]"});
  file.write("data/predicted", r.predicted, traces_shape,
             {r.field_units, "the same of the model that was found"});
  std::vector<double> history;
  for (const InverseRow& row : r.history)
    history.insert(history.end(), {row.iteration, row.misfit, row.gradient, row.psnr_db, row.ssim});
  file.write("descent/history", history, {r.history.size(), 5},
             {"", "iteration, misfit, largest gradient, PSNR in dB, SSIM"});
  file.commit();
  data::make_folder(run / "tables");
  write_scattering_data(run / "tables" / "measured.csv", r.measured, r.sources, r.receivers,
                        r.time);
  if (!vtk) return;
  data::make_folder(run / "vtk");
  data::RectilinearGrid g;
  g.x = r.lines[0], g.y = r.lines[1], g.z = r.lines[2];
  g.fields.cells.push_back({"permittivity", "1", "found", r.map});
  if (!r.truth.empty())
    g.fields.cells.push_back({"truth", "1", "true relative permittivity", r.truth});
  data::write_vtk_xml(run / "vtk" / "model.vtr", g);
}

InverseResult read_inverse(const std::filesystem::path& run) {
  const auto path = run / "results.h5";
  const auto found = data::read_h5(path, {}, data::limits_of_results());
  const auto array = [&](const std::string& name) -> const data::H5Array* {
    for (const std::string& full : {name, "/" + name})
      if (const auto it = found.find(full);
          it != found.end() && std::holds_alternative<std::vector<double>>(it->second.data))
        return &it->second;
    return nullptr;
  };
  const auto need = [&](const std::string& name) {
    const data::H5Array* a = array(name);
    if (a) return std::get<std::vector<double>>(a->data);
    data::Diagnostic d;
    d.number = 428;
    d.place.file = path.string();
    d.message = "the file has no usable " + name +
                ": it is no result of electromagnetics.inverse_scattering";
    throw data::InputError(std::move(d));
  };
  InverseResult r;
  for (std::size_t d = 0; d < 3; ++d) r.lines[d] = need(std::string("model/") + "xyz"[d]);
  r.map = need("model/permittivity");
  if (array("model/truth")) r.truth = need("model/truth");
  r.region = {need("model/region_low"), need("model/region_high")};
  r.time = need("data/time");
  r.measured = need("data/measured");
  r.predicted = need("data/predicted");
  const auto& shape = array("data/measured")->shape;
  r.field_units = array("data/measured")->attributes.units;
  const std::vector<double> history = need("descent/history");
  const auto wrong = r.lines[0].size() < 2 || r.lines[1].size() < 2 || r.lines[2].size() < 2 ||
                     shape.size() != 3 || shape[1] != r.time.size() ||
                     r.map.size() != cells(r, 0) * cells(r, 1) * cells(r, 2) ||
                     r.region[0].size() != 3 || r.region[1].size() != 3 || history.size() % 5 != 0;
  if (wrong) need("model of the shape of its data");
  r.sources = shape[0], r.receivers = shape[2];
  for (std::size_t i = 0; i + 4 < history.size(); i += 5)
    r.history.push_back(
        {history[i], history[i + 1], history[i + 2], history[i + 3], history[i + 4]});
  return r;
}

std::vector<std::filesystem::path> draw_inverse(const std::filesystem::path& run,
                                                const InverseResult& r, const InverseOptions& o) {
  const auto folder = run / "plots";
  data::make_folder(folder);
  std::vector<std::filesystem::path> out;
  for (const auto& [name, figure] :
       {std::pair<std::string, data::Figure>{
            "permittivity", em::permittivity_figure(maps(r), bodies_of(o.waves(true)))},
        {"misfit", descent(r)},
        {"traces", em::traces_figure(traces(r))}})
    std::ranges::move(data::save_as_png_and_svg(figure, folder, name), std::back_inserter(out));
  return out;
}

}  // namespace tessera::apps::inverse_scattering
