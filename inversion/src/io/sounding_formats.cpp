// SPDX-License-Identifier: Apache-2.0
// What `tessera info` tells of a magnetotelluric file.
#include "sounding_finish.h"
#include "tessera/data/info.h"
#include "tessera/data/median.h"
#include "tessera/inversion/mt_transform.h"
#include "tessera/inversion/phase_tensor.h"
#include "tessera/inversion/profile.h"
#include "tessera/inversion/sounding_read.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace tessera::inversion {
namespace {

using data::InfoNode;

void add_optional(InfoNode& node, const char* name, const std::optional<double>& v) {
  if (v)
    node.add(name, *v);
  else
    node.add(name, std::string("not given"));
}

/// Of determinants, which files without the diagonal have none of.
void add_median(InfoNode& node, const char* name, const std::vector<double>& of) {
  if (const double median = data::median(of); std::isfinite(median))
    node.add(name, median);
  else
    node.add(name, std::string("none: nowhere are all four elements given"));
}

/// One station.
InfoNode describe_sounding(const Sounding& s) {
  InfoNode node{.name = s.format};
  node.add("station", s.station);
  add_optional(node, "latitude_deg", s.latitude_deg);
  add_optional(node, "longitude_deg", s.longitude_deg);
  add_optional(node, "elevation_m", s.elevation_m);
  if (s.place_m)
    node.add("place_m", fmt::format("x {:g}, y {:g}, z {:g}", (*s.place_m)[0], (*s.place_m)[1],
                                    (*s.place_m)[2]));
  if (s.declination_deg) node.add("declination_deg", *s.declination_deg);
  node.add("frequencies", static_cast<std::int64_t>(s.size()));
  node.add("shortest_period_s", 1 / s.frequency_hz.front());
  node.add("longest_period_s", 1 / s.frequency_hz.back());
  node.add("azimuth_of_x_deg", s.azimuth_deg.front());
  node.add("units", std::string(s.source_units == ImpedanceUnits::ohm ? "ohm" : "mV/km/nT") +
                        (s.units_stated ? ", stated" : ", the format's default"));
  node.add("time_sign",
           std::string(s.source_sign == TimeSign::plus ? "e^{+i omega t}" : "e^{-i omega t}") +
               (s.sign_stated ? ", stated" : ", the format's default"));
  node.add("impedance", s.has_impedance());
  node.add("covariances", !s.impedance_covariance.empty());
  node.add("tipper", s.has_tipper());
  if (s.has_impedance()) {
    std::int64_t given = 0;
    for (const auto& t : s.impedance_error)
      for (const auto& row : t)
        given += std::count_if(row.begin(), row.end(), [](double e) { return e > 0; });
    node.add("errors_given", fmt::format("{} of {}", given, 4 * s.size()));
    const ModeCurve c = mode_curve("determinant", response_of(s, Element::determinant));
    add_median(node, "median_determinant_resistivity_ohm_m", c.rho_a);
    add_median(node, "median_determinant_phase_deg", c.phase);
    if (const auto strike = estimate_strike(std::span(&s, 1))) {
      node.add("strike_deg",
               fmt::format("{:.1f} or {:.1f}", strike->strike_deg, strike->strike_deg + 90));
      node.add("strike_concentration", strike->concentration);
      node.add("median_phase_tensor_skew_deg", strike->median_skew_deg);
    }
  }
  InfoNode& findings = node.add("findings", static_cast<std::int64_t>(s.findings.size()));
  for (const data::Diagnostic& d : s.findings)
    findings.add(d.severity == data::Severity::warning ? "warning" : "note",
                 fmt::format("E{:04}: {}", d.number, d.message));
  return node;
}

InfoNode summarize(const std::filesystem::path& path) {
  return describe_sounding(read_sounding(path));
}

/// The stations of a line; the first one in full.
InfoNode summarize_line(const std::filesystem::path& path) {
  const std::vector<Sounding> all = read_stations_of(path);
  InfoNode node{.name = all.front().format};
  node.add("stations", static_cast<std::int64_t>(all.size()));
  const Profile line = make_profile(all);
  if (line.has_coordinates) node.add("length_m", line.distance_m.back());
  InfoNode first = describe_sounding(all.front());
  first.name = "first_station";
  node.children.push_back(std::move(first));
  return node;
}

bool is_edi(std::string_view head, const std::filesystem::path&) {
  return sniff_sounding_format(head) == "EDI";
}
bool is_xml(std::string_view head, const std::filesystem::path&) {
  return sniff_sounding_format(head) == "EMTF XML" && head.find("<EM_TF") != std::string_view::npos;
}
/// By the header of a block such as "ZXY S.I.": comments that begin with '#' many files have.
bool is_j(std::string_view head, const std::filesystem::path&) {
  std::string blocks;
  for (std::size_t begin = 0; begin < head.size();) {
    const std::size_t end = std::min(head.find('\n', begin), head.size());
    if (head[begin] != '#' && head[begin] != '>')
      blocks.append(head.substr(begin, end - begin)) += '\n';
    begin = end + 1;
  }
  return sniff_sounding_format(blocks) == "Jones J";
}
bool is_z(std::string_view head, const std::filesystem::path&) {
  return sniff_sounding_format(head) == "EMTF Z";
}

bool is_modem(std::string_view head, const std::filesystem::path&) {
  return sniff_sounding_format(head) == "ModEM";
}
bool is_mare2dem(std::string_view head, const std::filesystem::path&) {
  return sniff_sounding_format(head) == "MARE2DEM";
}

const data::RegisterFormat edi({.name = "EDI",
                                .summary = "SEG EDI magnetotelluric sounding",
                                .extensions = {".edi"},
                                .sniff = is_edi,
                                .summarize = summarize});
const data::RegisterFormat xml({.name = "EMTF XML",
                                .summary = "EMTF XML magnetotelluric transfer functions",
                                .extensions = {".xml"},
                                .sniff = is_xml,
                                .summarize = summarize});
// J and Z have the weaker marks: after everything that has a signature.
const data::RegisterFormat j({.name = "Jones J",
                              .summary = "Jones J magnetotelluric sounding",
                              .extensions = {".j", ".dat"},
                              .sniff = is_j,
                              .summarize = summarize,
                              .priority = 80});
const data::RegisterFormat z({.name = "EMTF Z",
                              .summary = "EMTF Z magnetotelluric transfer functions",
                              .extensions = {".zmm", ".zrr", ".zss"},
                              .sniff = is_z,
                              .summarize = summarize,
                              .priority = 80});
const data::RegisterFormat modem({.name = "ModEM",
                                  .summary = "ModEM list of magnetotelluric data",
                                  .extensions = {".dat"},
                                  .sniff = is_modem,
                                  .summarize = summarize_line,
                                  .priority = 80});
const data::RegisterFormat mare2dem({.name = "MARE2DEM",
                                     .summary = "MARE2DEM magnetotelluric data",
                                     .extensions = {".emdata"},
                                     .sniff = is_mare2dem,
                                     .summarize = summarize_line});

}  // namespace
}  // namespace tessera::inversion
