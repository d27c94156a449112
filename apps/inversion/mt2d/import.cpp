// SPDX-License-Identifier: Apache-2.0
#include "inversion/mt2d/import.h"

#include "inversion/survey/input.h"
#include "tessera/data/text_file.h"
#include "tessera/inversion/mare2dem_model.h"
#include "tessera/inversion/outline_2d.h"
#include "tessera/inversion/sounding_read.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>
#include <set>

namespace tessera::apps::mt2d {
namespace {

namespace fs = std::filesystem;

/// `file` as a configuration in `folder` names it.
std::string seen_from(const fs::path& folder, const fs::path& file) {
  const auto whole = [](const fs::path& p) { return fs::absolute(p).lexically_normal(); };
  if (folder.empty()) return file.string();
  return whole(file).lexically_relative(whole(folder)).string();
}

/// A text of TOML in its quotes; a comment cannot hold control characters.
std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text)
    if (c == '"' || c == '\\')
      out += std::string("\\") + c;
    else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f)
      out += fmt::format("\\u{:04x}", static_cast<unsigned char>(c));
    else
      out += c;
  return out + "\"";
}
std::string in_comment(std::string text) {
  for (char& c : text)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';
  return text;
}

data::Diagnostic remark(const fs::path& file, std::string message) {
  data::Diagnostic d = survey::about(0, file.string(), std::move(message), "");
  d.severity = data::Severity::note;
  return d;
}

bool is_whole(const inversion::Tensor2<inversion::Complex>& z) {
  return std::isfinite(z[0][0].real()) && std::isfinite(z[0][1].real()) &&
         std::isfinite(z[1][0].real()) && std::isfinite(z[1][1].real());
}

/// Whether an impedance is there, or one half of it: Zxy of row 0, Zyx of row 1.
bool has(const inversion::Sounding& s, std::size_t i, std::size_t row) {
  if (s.has_impedance() && std::isfinite(s.impedance[i][row][1 - row].real())) return true;
  const inversion::ResistivityPhase& given = s.resistivity;
  return given.errors_apart && !given.empty() &&
         (std::isfinite(given.rho[i][row][1 - row]) || std::isfinite(given.phase[i][row][1 - row]));
}

/// What the stations of a list have, and where they stand.
struct Line {
  bool te = false, tm = false, tipper = false, places = true, globe = true, floor = true;
  bool resistivities = true;          ///< as such, no impedances
  bool tensor = false;                ///< whole ones, of which a strike can be estimated
  std::optional<double> azimuth_deg;  ///< of x, where it is that of all stations and periods
  double lowest = HUGE_VAL, highest = 0;
  std::size_t stations = 0, periods = 0;
};
Line line_of(const std::vector<inversion::Sounding>& soundings) {
  Line out;
  std::set<double> all;
  for (const inversion::Sounding& s : soundings) {
    ++out.stations;
    out.globe = out.globe && s.latitude_deg && s.longitude_deg;
    out.places = out.places && s.place_m;
    out.floor = out.floor && s.place_m && (*s.place_m)[2] > 0;
    out.resistivities = out.resistivities && s.impedance_from_resistivity;
    for (std::size_t i = 0; i < s.size(); ++i) {
      if (all.empty()) out.azimuth_deg = s.azimuth_deg[i];
      if (out.azimuth_deg && *out.azimuth_deg != s.azimuth_deg[i]) out.azimuth_deg.reset();
      all.insert(s.frequency_hz[i]);
      out.tensor = out.tensor || (s.has_impedance() && is_whole(s.impedance[i]));
      out.te = out.te || has(s, i, 0);
      out.tm = out.tm || has(s, i, 1);
      out.tipper = out.tipper || (s.has_tipper() && std::isfinite(s.tipper[i][1].real()));
    }
  }
  out.periods = all.size();
  if (!all.empty()) out.lowest = *all.begin(), out.highest = *all.rbegin();
  return out;
}

Imported import_list(const fs::path& file, const fs::path& folder, const std::string& program) {
  const std::vector<inversion::Sounding> soundings = inversion::read_stations_of(file);
  const Line line = line_of(soundings);
  Imported out;
  for (const inversion::Sounding& s : soundings)
    std::copy_if(s.findings.begin(), s.findings.end(), std::back_inserter(out.remarks),
                 [](const data::Diagnostic& d) { return d.severity != data::Severity::note; });
  out.remarks.push_back(
      remark(file, fmt::format("{} stations, {} frequencies from {:.4g} to {:.4g} Hz",
                               line.stations, line.periods, line.highest, line.lowest)));
  std::string responses;
  for (const auto& [there, name] :
       {std::pair{line.te, "te"}, {line.tm, "tm"}, {line.tipper, "tipper"}})
    if (there) responses += fmt::format("{}\"{}\"", responses.empty() ? "" : ", ", name);
  std::string& t = out.toml;
  t = fmt::format(
      "# From {}, {}.\napp = \"inversion.mt2d\"\n\n[data]\nfiles = {}\nresponses = "
      "[{}]\n",
      in_comment(file.filename().string()), program, quoted(seen_from(folder, file)), responses);
  if (!line.resistivities) t += "form = \"impedance\"\n";
  t += "error_floor = 0                    # the errors are those of the file\n";
  if (line.tipper) t += "tipper_floor = 0\n";
  if (line.globe && line.tensor) {
    t +=
        "estimate_strike = true             # stations have positions on the globe: which way does "
        "the line cross the strike?\n";
  } else if (line.globe && line.azimuth_deg) {
    t += fmt::format(
        "strike = \"{} deg\"    # where x of the file points: no tensor is whole, so none can be "
        "turned or tell its strike\n",
        *line.azimuth_deg);
  } else if (line.globe) {
    out.remarks.push_back(
        remark(file,
               "no tensor is whole, and x points in more than one direction: `tessera check` will "
               "ask for the strike"));
  } else if (!line.places) {
    out.remarks.push_back(
        remark(file, "stations have no places: `tessera check` will ask for them"));
  }
  if (line.floor && !line.globe) {
    t += "\n[ground]                           # all stations lie below z = 0: on a sea floor\n"
         "sea_resistivity = \"0.3 ohm*m\"\n";
    out.remarks.push_back(remark(
        file, "all stations lie below z = 0: ground.sea_resistivity is that of the usual sea"));
  }
  return out;
}

Imported import_model(const fs::path& file, const fs::path& folder) {
  const inversion::Mare2demModel model =
      inversion::read_mare2dem_model(data::read_text_file(file).text, file.string());
  Imported out;
  const fs::path beside = file.parent_path();
  if (model.anisotropic)
    out.remarks.push_back(remark(file, "the model is anisotropic: that along x is taken"));
  std::string& t = out.toml;
  t = fmt::format("# From {}, a model of MARE2DEM.\napp = \"inversion.mt2d\"\ntask = \"forward\"\n",
                  in_comment(file.filename().string()));
  t += fmt::format("\n[section]\nfile = {}\n", quoted(seen_from(folder, file)));
  std::vector<double> y, hz;
  bool tilted = false;  // along the ground, as beta says
  std::string ground;
  double shallowest = HUGE_VAL;
  const auto is_there = [](const fs::path& data) {
    std::error_code none;
    return fs::is_regular_file(data, none);
  };
  fs::path table = beside / model.data_file;
  if (model.data_file.empty() || !is_there(table))
    table = fs::path(file).replace_extension(".resp");
  if (is_there(table)) {
    std::set<double> all;
    for (const inversion::Sounding& s : inversion::read_stations_of(table)) {
      if (!s.place_m) continue;
      y.push_back((*s.place_m)[1]);
      tilted = tilted || s.tilt_deg != 0;
      shallowest = std::min(shallowest, (*s.place_m)[2]);
      all.insert(s.frequency_hz.begin(), s.frequency_hz.end());
    }
    hz.assign(all.begin(), all.end());
    std::sort(y.begin(), y.end());
  } else {
    out.remarks.push_back(
        remark(file, "its data are not beside it: stations and frequencies are made up"));
    y = {-5000, 0, 5000};
    hz = {0.01, 0.1, 1};
  }
  // Receivers below z = 0 lie on a sea floor: the water is the region with the highest seed.
  if (shallowest > 0 && shallowest < HUGE_VAL && is_there(beside / model.model_file)) {
    const inversion::Outline2d outline = inversion::read_poly(
        tessera::data::read_text_file(beside / model.model_file).text, model.model_file);
    double highest = HUGE_VAL, ohm_m = 0;
    for (const auto& seed : outline.seeds) {
      const auto region = static_cast<std::size_t>(seed.region);
      if (region >= model.regions.size() || model.regions[region].is_air() || seed.z >= highest)
        continue;
      highest = seed.z, ohm_m = model.regions[region].ohm_m[0];
    }
    if (ohm_m > 0) {
      ground =
          fmt::format("sea_resistivity = \"{} ohm*m\"    # receivers lie on a sea floor\n", ohm_m);
      out.remarks.push_back(remark(
          file, fmt::format("the highest region, of {} ohm m, is taken to be the sea", ohm_m)));
    }
  }
  if (tilted) ground += "tilted = true                      # receivers are: beta\n";
  if (!ground.empty()) t += "\n[ground]\n" + ground;
  const auto list = [&](const std::vector<double>& v, const char* unit) {
    std::string s;
    for (const double x : v) s += fmt::format("{}\"{} {}\"", s.empty() ? "" : ", ", x, unit);
    return s;
  };
  t += fmt::format(
      "\n[stations]\nat = [{}]\n\n[frequencies]\nat = [{}]\n\n[noise]\nimpedance = 0\n"
      "tipper = 0\n",
      list(y, "m"), list(hz, "Hz"));
  return out;
}

}  // namespace

std::vector<Importer> importers() {
  const auto mare2dem = [](const fs::path& file, const fs::path& folder) {
    return import_list(file, folder, "data of MARE2DEM");
  };
  return {{".emdata", "MARE2DEM's data", mare2dem},
          {".resp", "MARE2DEM's data", mare2dem},
          {".resistivity", "a model of MARE2DEM", import_model},
          {".dat", "ModEM's list of data", [](const fs::path& file, const fs::path& folder) {
             return import_list(file, folder, "a list of ModEM");
           }}};
}

}  // namespace tessera::apps::mt2d
