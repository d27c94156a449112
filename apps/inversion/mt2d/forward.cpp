// SPDX-License-Identifier: Apache-2.0
#include "inversion/mt2d/forward.h"

#include "inversion/mt2d/outline.h"
#include "tessera/autodiff/ops.h"
#include "tessera/data/random.h"
#include "tessera/inversion/mt_transform.h"
#include "tessera/inversion/profile.h"
#include "tessera/inversion/section_forward.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace tessera::apps::mt2d {
namespace {

using inversion::Complex;
using inversion::Element;

std::vector<double> frequencies_of(const Mt2dOptions& o) {
  std::vector<double> out = o.frequencies;
  if (out.empty()) {
    const double decades = std::log10(*o.highest_frequency / *o.lowest_frequency);
    const int steps =
        decades > 0 ? std::max(1, static_cast<int>(std::lround(decades * o.per_decade))) : 0;
    for (int k = 0; k <= steps; ++k)
      out.push_back(*o.highest_frequency * std::pow(10.0, steps ? -decades * k / steps : 0.0));
  }
  std::sort(out.rbegin(), out.rend());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

std::vector<double> places_of(const Mt2dOptions& o) {
  std::vector<double> out = o.stations;
  if (out.empty())
    for (int k = 0; k < o.station_count; ++k)
      out.push_back(o.station_count == 1 ? *o.first_station
                                         : *o.first_station + (*o.last_station - *o.first_station) *
                                                                  k / (o.station_count - 1));
  std::sort(out.begin(), out.end());
  return out;
}

/// The ground of a forward run: that of its file, else the upper rim of a section that is given by
/// cells, else level at 0; stations stand on it.
Ground ground_for(const Mt2dOptions& o, const SectionModel& model, const std::vector<double>& y) {
  inversion::Survey places;
  for (const double at : y) {
    inversion::Station s;
    s.distance_m = at;
    s.place_m = {{0, at, 0}};
    places.stations.push_back(s);
  }
  if (o.ground != GroundShape::file && !model.rim) return ground_of(o, places);
  const inversion::Ground2d line =
      o.ground == GroundShape::file ? ground_line(*o.ground_file) : *model.rim;
  double off = 0;
  for (inversion::Station& s : places.stations) {
    s.place_m = {{0, s.distance_m, depth_of(line, s.distance_m)}};
    if (model.rim)
      off = std::max(off, std::abs((*s.place_m)[2] - depth_of(*model.rim, s.distance_m)));
  }
  Ground out = ground_of(o, places);
  const auto [highest, lowest] = std::minmax_element(line.z.begin(), line.z.end());
  if (o.ground == GroundShape::stations && *highest < *lowest) out.line = line;
  if (off > 1)
    out.remarks.push_back(fmt::format(
        "below stations the ground is up to {:.4g} m off that of {}: what lies above it is cut "
        "off, what is missing is that of the nearest cell",
        off, o.section_file->filename().string()));
  return out;
}

/// Beside a section of cells there is nothing to compute; from its ends on the outermost ones go
/// on.
void require_stations_in(const data::Config& config, const Mt2dOptions& o,
                         const SectionModel& model, const std::vector<double>& y) {
  for (const double at : y)
    if (at < model.left || at > model.right)
      throw data::InputError(
          data::ExitCode::config_invalid,
          {config.error(
              684, o.stations.empty() ? "stations.first" : "stations.at",
              fmt::format("a station stands at {:.6g} m along the section, cells of {} "
                          "reach from {:.6g} to {:.6g} m",
                          at, o.section_file->filename().string(), model.left, model.right),
              "stations on the section")});
}

}  // namespace

ForwardProblem forward_problem(const data::Config& config, const Mt2dOptions& o) {
  ForwardProblem p{.options = o,
                   .frequency_hz = frequencies_of(o),
                   .ground = {},
                   .model = {},
                   .mesh = {},
                   .ln_rho = {},
                   .doubt = {}};
  const std::vector<double> y = places_of(o);
  for (std::size_t k = 1; k < y.size(); ++k)
    if (!(y[k] > y[k - 1]))
      throw data::InputError(
          data::ExitCode::config_invalid,
          {config.error(685, "stations.at",
                        fmt::format("two stations stand at {:.6g} m along the section", y[k]),
                        "each place once")});
  if (o.section_file && is_outline(*o.section_file)) {
    OutlinedSection given = outlined_section(config, o, y);
    p.ground.stations.y = given.mesh.sensors.y;
    p.ground.stations.z = given.mesh.sensors.z;
    p.mesh = std::move(given.mesh);
    p.mesh.remarks = std::move(given.remarks);
    p.model.ohm_m = std::move(given.ohm_m);
    p.ln_rho = parameters_of(p.mesh, p.model);
    return p;
  }
  p.model = section_model(config, o);
  require_stations_in(config, o, p.model, y);
  p.ground = ground_for(o, p.model, y);
  if (p.model.water) p.ground.surface = p.model.water->surface;
  if (p.model.water && !o.sea_resistivity) {
    const SectionModel::Water& water = *p.model.water;
    p.options.sea_resistivity = water.ohm_m;
    p.ground.remarks.push_back(fmt::format(
        "cells of {} that are no parameter are taken as water of {:g} ohm m above the sea floor, "
        "up to elevation {:.6g} m{}",
        o.section_file->filename().string(), water.ohm_m, 0.0 - water.surface,
        water.greatest > water.least * (1 + 1e-6)
            ? fmt::format(", the mean conductivity of theirs of {:g} to {:g} ohm m", water.least,
                          water.greatest)
            : ""));
  }
  p.mesh = forward_mesh(config, p.options, p.ground, p.model, p.frequency_hz);
  p.ln_rho = parameters_of(p.mesh, p.model);
  return p;
}

bool refine(const data::Config& config, ForwardProblem& p, MeshSearch& search,
            const std::function<bool(Index cells)>& go_on) {
  if (p.options.section_file && is_outline(*p.options.section_file)) {
    auto doubt = refine(config, p.mesh, p.options, p.ln_rho, p.frequency_hz, search.outline, go_on);
    if (!doubt) return false;
    p.doubt = *std::move(doubt);
    p.ground.stations.z = p.mesh.sensors.z;
    return true;
  }
  auto fine =
      fine_forward_mesh(config, p.options, p.ground, p.model, p.frequency_hz, search.looks, go_on);
  if (!fine) return false;
  p.mesh = std::move(fine->mesh), p.doubt = std::move(fine->doubt);
  p.ln_rho = parameters_of(p.mesh, p.model);
  return true;
}

void refine(const data::Config& config, ForwardProblem& p) {
  MeshSearch search;
  refine(config, p, search, [](Index) { return true; });
}

std::string describe(const ForwardProblem& p) {
  return fmt::format("{} stations, {} frequencies from {:.4g} to {:.4g} Hz; {} regions on {} cells",
                     p.ground.stations.y.size(), p.frequency_hz.size(), p.frequency_hz.front(),
                     p.frequency_hz.back(), p.model.ohm_m.size(), p.mesh.solver.cells());
}

namespace {
bool has_tippers(const Mt2dOptions& o) {
  return std::count(o.responses.begin(), o.responses.end(), ResponseChoice::tipper) > 0;
}
}  // namespace

bool has_noise(const Mt2dOptions& o) {
  return o.noise > 0 || (has_tippers(o) && o.tipper_noise > 0);
}

std::string describe_noise(const Mt2dOptions& o) {
  if (!has_noise(o))
    return "data are the responses as computed, without noise; their standard deviations are the "
           "floors of [data]";
  std::string of;
  if (o.noise > 0) of = fmt::format("{:g} % of impedances (noise.impedance)", 100 * o.noise);
  if (has_tippers(o) && o.tipper_noise > 0)
    of +=
        fmt::format("{}{:g} of tippers (noise.tipper)", of.empty() ? "" : " and ", o.tipper_noise);
  return fmt::format(
      "data have noise: {}, seed {}; what was computed is their column `predicted`, and in "
      "predicted/",
      of, o.seed);
}

void solve_some(const ForwardProblem& p, Solved& solved) {
  constexpr std::ptrdiff_t at_once = 4;
  const auto first = p.frequency_hz.begin() + static_cast<std::ptrdiff_t>(solved.frequencies);
  const std::vector<double> hz(first, first + std::min(at_once, p.frequency_hz.end() - first));
  if (hz.empty()) return;
  const inversion::Responses2d r = inversion::Forward2d(
      p.mesh.solver, p.mesh.sensors, hz,
      {.order = p.options.order.value_or(2), .tipper = has_tippers(p.options)})(p.ln_rho);
  const auto add = [](std::vector<c128>& to, const Tensor& more) {
    const auto values = more.to_vector<c128>();
    to.insert(to.end(), values.begin(), values.end());
  };
  add(solved.te, r.te), add(solved.tm, r.tm), add(solved.tipper, r.tipper);
  solved.frequencies += hz.size();
}

Solved solve(const ForwardProblem& p) {
  Solved out;
  while (out.frequencies < p.frequency_hz.size()) solve_some(p, out);
  return out;
}

std::vector<inversion::Sounding> soundings_of(const ForwardProblem& p, const Solved& solved) {
  const std::size_t stations = p.ground.stations.y.size();
  std::vector<inversion::Sounding> out(stations);
  for (std::size_t k = 0; k < stations; ++k) {
    inversion::Sounding& s = out[k];
    s.station = fmt::format("s{:0{}}", k + 1, stations < 100 ? 2 : stations < 1000 ? 3 : 4);
    s.format = "forward";
    s.place_m = {{0, p.ground.stations.y[k], p.ground.stations.z[k]}};
    s.elevation_m = 0.0 - p.ground.stations.z[k];
    s.source_units = inversion::ImpedanceUnits::ohm;
    s.sign_stated = s.units_stated = true;
    for (std::size_t f = 0; f < solved.frequencies; ++f) {
      const std::size_t at = f * stations + k;
      const Complex te = solved.te[at], tm = solved.tm[at];
      const double sigma_te = p.options.noise * std::abs(te),
                   sigma_tm = p.options.noise * std::abs(tm);
      s.frequency_hz.push_back(p.frequency_hz[f]);
      s.azimuth_deg.push_back(p.options.data.strike.value_or(0) * degrees);
      s.impedance.push_back({{{Complex(), te}, {tm, Complex()}}});
      s.impedance_error.push_back({{{sigma_te, sigma_te}, {sigma_tm, sigma_tm}}});
      if (solved.tipper.empty()) continue;
      s.tipper.push_back({Complex(), solved.tipper[at]});
      s.tipper_error.push_back({p.options.tipper_noise, p.options.tipper_noise});
    }
  }
  return out;
}

std::vector<inversion::Sounding> with_noise(const ForwardProblem& p,
                                            std::vector<inversion::Sounding> soundings) {
  for (std::size_t k = 0; k < soundings.size(); ++k) {
    inversion::Sounding& s = soundings[k];
    const data::RandomKey key{p.options.seed, static_cast<std::uint64_t>(k)};
    for (std::size_t f = 0; f < s.size(); ++f) {
      std::uint64_t n = 16 * static_cast<std::uint64_t>(f);
      const auto draw = [&](double sigma) {
        const double re = data::normal(key, n), im = data::normal(key, n + 1);
        n += 2;
        return sigma * Complex(re, im);
      };
      for (std::size_t i = 0; i < 2; ++i)
        for (std::size_t j = 0; j < 2; ++j)
          s.impedance[f][i][j] += draw(s.impedance_error[f][i][j]);
      if (s.has_tipper())
        for (std::size_t j = 0; j < 2; ++j) s.tipper[f][j] += draw(s.tipper_error[f][j]);
    }
  }
  return soundings;
}

std::vector<inversion::Sounding> on_the_globe(const ForwardProblem& p,
                                              std::vector<inversion::Sounding> soundings) {
  const inversion::GeoPoint origin{degrees * *p.options.latitude, degrees * *p.options.longitude};
  for (inversion::Sounding& s : soundings) {
    const inversion::GeoPoint at = inversion::end_of(
        origin,
        {.length_m = (*s.place_m)[1], .azimuth_deg = degrees * *p.options.data.strike + 90});
    s.latitude_deg = at.latitude_deg, s.longitude_deg = at.longitude_deg;
    s.place_m.reset();
    inversion::rotate_to(s, 0);
    const auto given = [](double& e) { e = e > 0 ? e : NAN; };
    for (auto& t : s.impedance_error)
      for (auto& row : t) std::for_each(row.begin(), row.end(), given);
    for (auto& t : s.tipper_error) std::for_each(t.begin(), t.end(), given);
  }
  return soundings;
}

Result forward_result(const ForwardProblem& p, const std::vector<inversion::Sounding>& exact,
                      const std::vector<inversion::Sounding>& noisy) {
  Result r;
  const std::vector<inversion::DatumKind> kinds = kinds_of(p.options);
  const inversion::ErrorFloors floors = floors_of(p.options);
  r.survey.has_coordinates = true;
  r.survey.azimuth_deg = p.options.data.strike.value_or(0) * degrees + 90;
  for (std::size_t k = 0; k < noisy.size(); ++k) {
    inversion::Station s;
    s.id = s.name = noisy[k].station;
    s.place_m = noisy[k].place_m;
    s.elevation_m = noisy[k].elevation_m;
    s.distance_m = p.ground.stations.y[k];
    const inversion::DataTable rows = inversion::rows_of(noisy[k], kinds, floors, s);
    inversion::Station unused;
    const inversion::DataTable truth = inversion::rows_of(exact[k], kinds, floors, unused);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      r.survey.data.add(static_cast<std::int64_t>(k), rows.frequency_hz[i], rows.kind[i],
                        rows.value[i], rows.sigma[i]);
      double& exactly = r.survey.data.predicted.back();
      exactly = truth.value[i];
      if (const double turn = inversion::turn_of(rows.kind[i]); turn > 0)
        exactly += turn * std::round((rows.value[i] - exactly) / turn);
    }
    s.sounding = noisy[k];
    r.survey.stations.push_back(std::move(s));
  }
  r.survey = tilted_as(p.mesh.sensors, std::move(r.survey));
  r.y = p.mesh.sensors.y, r.z = p.mesh.sensors.z;
  r.cells = p.mesh.solver;
  const auto along = [&](Index axis) {
    const Tensor one = p.ln_rho.ndim() == 2 ? select(p.ln_rho, 1, axis) : p.ln_rho;
    return resistivity_of_cells(r.cells, one.to_vector<double>());
  };
  r.ohm_m = along(0);
  if (p.ln_rho.ndim() == 2) r.ohm_m_y = along(1), r.ohm_m_z = along(2);
  r.reason = "computed";
  return r;
}

}  // namespace tessera::apps::mt2d
