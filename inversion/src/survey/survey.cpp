// SPDX-License-Identifier: Apache-2.0
#include "tessera/inversion/survey.h"

#include "sounding/missing.h"
#include "tessera/inversion/profile.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

namespace tessera::inversion {

Response1d usable_response(const Sounding& s, ResponseKind kind, double error_floor,
                           Station& station) {
  const Response r = response_of(s, kind);
  Response1d out;
  for (std::size_t i = 0; i < s.size(); ++i) {
    const auto z = r.z[i];
    const double least = error_floor * std::abs(z), error = r.error[i];
    if (!std::isfinite(z.real()) || !std::isfinite(z.imag()) || std::abs(z) == 0) {
      ++station.without_value;
      continue;
    }
    const double sigma = std::isfinite(error) ? std::max(error, least) : least;
    if (!(sigma > 0)) {
      ++station.without_error;
      continue;
    }
    out.frequency_hz.push_back(s.frequency_hz[i]);
    out.impedance_ohm.push_back(z);
    out.sigma_ohm.push_back(sigma);
  }
  return out;
}

Station read_station(const std::filesystem::path& file, const StationOptions& options) {
  Station station;
  {
    const data::InputFiles one;  // thousands of soundings would be thousands of open files
    station.sounding = read_sounding(file, options.read);
    station.file = one.list().front();
  }
  station.id = file.stem().string();
  Sounding& s = station.sounding;
  if (!s.has_impedance()) return station;
  if (options.rotation_deg) rotate_by(s, *options.rotation_deg);
  if (options.strike_deg) rotate_to(s, *options.strike_deg);
  station.absent_periods_s = mask_periods(s, options.mask_periods_s);
  if (options.shortest_period_s > 0 || std::isfinite(options.longest_period_s))
    keep_periods(s, options.shortest_period_s, options.longest_period_s);
  station.response = usable_response(s, options.response, options.error_floor, station);
  return station;
}

Survey line_up(std::vector<Station> stations, std::optional<double> azimuth_deg) {
  std::set<std::string> ids;
  std::vector<Sounding> soundings;
  for (Station& s : stations) {
    const std::string name = s.id;
    for (int k = 2; !ids.insert(s.id).second; ++k) s.id = name + "-" + std::to_string(k);
    soundings.push_back(s.sounding);
  }
  const Profile profile = make_profile(soundings, azimuth_deg);
  Survey out{.has_coordinates = profile.has_coordinates, .remarks = profile.remarks};
  for (std::size_t k = 0; k < profile.order.size(); ++k) {
    Station& s = stations[profile.order[k]];
    s.distance_m = profile.distance_m[k];
    out.stations.push_back(std::move(s));
  }
  return out;
}

StationResult station_result(const Station& station, SoundingInversion result) {
  const Sounding& s = station.sounding;
  return {.id = station.id,
          .station = s.station,
          .file = s.file,
          .distance_m = station.distance_m,
          .latitude_deg = s.latitude_deg.value_or(kNaN),
          .longitude_deg = s.longitude_deg.value_or(kNaN),
          .result = std::move(result),
          .tensor_frequency = s.frequency_hz,
          .xy = sounding_curve(s.frequency_hz, response_of(s, ResponseKind::xy)),
          .yx = sounding_curve(s.frequency_hz, response_of(s, ResponseKind::yx))};
}

}  // namespace tessera::inversion
