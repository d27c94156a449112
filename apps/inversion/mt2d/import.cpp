// SPDX-License-Identifier: Apache-2.0
#include "inversion/mt2d/import.h"

#include "inversion/mt2d/water.h"
#include "inversion/survey/input.h"
#include "tessera/autodiff/error.h"
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

data::Diagnostic remark(const fs::path& file, std::string message,
                        data::Severity severity = data::Severity::note, int number = 0,
                        std::string hint = "") {
  data::Diagnostic d = survey::about(number, file.string(), std::move(message), std::move(hint));
  d.severity = severity;
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

/// Whether it, or one half of it, has an error.
bool has_error(const inversion::Sounding& s, std::size_t i, std::size_t row) {
  if (s.has_impedance() && std::isfinite(s.impedance_error[i][row][1 - row])) return true;
  const inversion::ResistivityPhase& given = s.resistivity;
  return given.errors_apart && !given.empty() &&
         (std::isfinite(given.rho_error[i][row][1 - row]) ||
          std::isfinite(given.phase_error[i][row][1 - row]));
}

/// What the stations of a list have, and where they stand.
struct Line {
  bool te = false, tm = false, tipper = false, places = true, globe = true;
  double shallowest = HUGE_VAL;                                      ///< z of the highest, m
  bool te_errors = false, tm_errors = false, tipper_errors = false;  ///< there are some
  bool resistivities = true;                                         ///< as such, no impedances
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
    out.shallowest = std::min(out.shallowest, s.place_m ? (*s.place_m)[2] : -HUGE_VAL);
    out.resistivities = out.resistivities && s.impedance_from_resistivity;
    for (std::size_t i = 0; i < s.size(); ++i) {
      if (all.empty()) out.azimuth_deg = s.azimuth_deg[i];
      if (out.azimuth_deg && *out.azimuth_deg != s.azimuth_deg[i]) out.azimuth_deg.reset();
      all.insert(s.frequency_hz[i]);
      out.tensor = out.tensor || (s.has_impedance() && is_whole(s.impedance[i]));
      out.te = out.te || has(s, i, 0);
      out.tm = out.tm || has(s, i, 1);
      out.tipper = out.tipper || (s.has_tipper() && std::isfinite(s.tipper[i][1].real()));
      out.te_errors = out.te_errors || has_error(s, i, 0);
      out.tm_errors = out.tm_errors || has_error(s, i, 1);
      out.tipper_errors =
          out.tipper_errors || (s.has_tipper() && std::isfinite(s.tipper_error[i][1]));
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
  if ((line.te || line.tm) && !line.resistivities) t += "form = \"impedance\"\n";
  // A floor of 0 would leave out what has no errors.
  const bool te_lacks = line.te && !line.te_errors, tm_lacks = line.tm && !line.tm_errors;
  if ((line.te || line.tm) && !te_lacks && !tm_lacks)
    t += "error_floor = 0                    # the errors are those of the file\n";
  if (te_lacks || tm_lacks) {
    const bool all = te_lacks == line.te && tm_lacks == line.tm;
    out.remarks.push_back(
        remark(file, fmt::format("{} no errors: data.error_floor stays what it is, 5 %{}",
                                 all        ? "data have"
                                 : te_lacks ? "te has"
                                            : "tm has",
                                 all ? "" : ", for both modes")));
  }
  if (line.tipper && line.tipper_errors) t += "tipper_floor = 0\n";
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
  if (line.shallowest > 0 && line.shallowest < HUGE_VAL) {
    // Receivers on land are buried by decimetres, and z of a file begins where it likes.
    constexpr double under_water = 20;  // m
    const bool sea = line.shallowest >= under_water;
    t += fmt::format(
        "\n{0}[ground]                           # all stations lie below z = 0, from "
        "{1:.4g} m on\n{0}sea_resistivity = \"0.3 ohm*m\"\n",
        sea ? "" : "# ", line.shallowest);
    out.remarks.push_back(
        remark(file, sea ? "all stations lie below z = 0: they are taken to be on a sea floor, and "
                           "ground.sea_resistivity is that of the usual sea; leave it out on land"
                         : "all stations lie below z = 0, the highest by less than 20 m: they are "
                           "taken to be on land; ground.sea_resistivity where it is a sea floor"));
  }
  return out;
}

/// section.water: the regions of a model that lie above its receivers, and what there is to say of
/// that.
std::string water_for(const fs::path& outline, const inversion::Mare2demModel& model,
                      const Receivers& receivers, std::vector<data::Diagnostic>& remarks) {
  std::vector<Axes> ohm_m;
  for (const auto& region : model.regions) ohm_m.push_back(region.ohm_m);
  Afloat found;
  try {
    found = afloat(inversion::triangles_of(
                       inversion::read_poly(data::read_text_file(outline).text, outline.string()),
                       inversion::media_of(model)),
                   ohm_m, receivers);
  } catch (const data::InputError&) {
    throw;
  } catch (const Error& e) {  // `tessera check` will say so as an error
    remarks.push_back(remark(outline, e.what()));
    return {};
  }
  const auto numbers = [](const std::vector<Index>& regions) {
    std::string out;
    for (const Index k : regions) out += fmt::format("{}{}", out.empty() ? "" : ", ", k + 1);
    return out;
  };
  const std::string water = numbers(found.water);
  if (!water.empty())
    remarks.push_back(remark(
        outline, fmt::format("regions {} lie above receivers and are taken to be the sea", water)));
  if (!found.buried_by.empty())
    remarks.push_back(remark(
        outline,
        fmt::format("regions {} lie above receivers and do not conduct like a sea: they are taken "
                    "as earth, and stations stand on them",
                    numbers(found.buried_by)),
        data::Severity::warning, 684, "section.water where they are water"));
  if (found.off_m > 1)
    remarks.push_back(remark(
        outline,
        fmt::format("the receiver at y = {:.6g} m, z = {:.6g} m lies {:.4g} m off the ground or "
                    "floor that stations are put on",
                    found.worst.first, found.worst.second, found.off_m),
        data::Severity::warning, 684, "section.water: all regions between the air and the floor"));
  return water;
}

Imported import_model(const fs::path& file, const fs::path& folder) {
  const inversion::Mare2demModel model =
      inversion::read_mare2dem_model(data::read_text_file(file).text, file.string());
  Imported out;
  const fs::path beside = file.parent_path();
  if (model.anisotropic)
    out.remarks.push_back(remark(
        file,
        "the model is anisotropic: TE has the resistivities along x, TM those along y and z"));
  std::string& t = out.toml;
  t = fmt::format("# From {}, a model of MARE2DEM.\napp = \"inversion.mt2d\"\ntask = \"forward\"\n",
                  in_comment(file.filename().string()));
  t += fmt::format("\n[section]\nfile = {}\n", quoted(seen_from(folder, file)));
  std::vector<double> y, hz;
  bool tilted = false;  // along the ground, as beta says
  Receivers receivers;
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
      receivers.emplace_back((*s.place_m)[1], (*s.place_m)[2]);
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
  if (is_there(beside / model.model_file)) {
    const std::string water = water_for(beside / model.model_file, model, receivers, out.remarks);
    if (!water.empty()) t += fmt::format("water = [{}]    # receivers lie on its floor\n", water);
  }
  if (tilted) t += "\n[ground]\ntilted = true                      # receivers are: beta\n";
  const auto list = [&](const std::vector<double>& v, const char* unit) {
    std::string s;
    for (const double x : v) s += fmt::format("{}\"{} {}\"", s.empty() ? "" : ", ", x, unit);
    return s;
  };
  t += fmt::format("\n[stations]\nat = [{}]\n\n[frequencies]\nat = [{}]\n", list(y, "m"),
                   list(hz, "Hz"));
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
