// SPDX-License-Identifier: Apache-2.0
#include "tessera/inversion/profile.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

namespace tessera::inversion {
namespace {

constexpr double kDegree = std::numbers::pi / 180;

/// x and y along axes whose x points `azimuth_deg`.
PlanePoint seen_from_north(const std::array<double, 3>& place_m, double azimuth_deg) {
  const auto [x, y, z] = place_m;
  if (azimuth_deg == 0) return {x, y};
  const double c = std::cos(azimuth_deg * kDegree), s = std::sin(azimuth_deg * kDegree);
  return {c * x - s * y, s * x + c * y};
}

/// Vincenty's series along a geodesic of WGS84 whose azimuth at the equator has this cosine
/// squared.
struct GeodesicSeries {
  static constexpr double a = 6378137.0, f = 1 / 298.257223563, b = a * (1 - f);
  double cos2_alpha;
  double u_sq = cos2_alpha * (a * a - b * b) / (b * b);
  double big_a = 1 + u_sq / 16384 * (4096 + u_sq * (-768 + u_sq * (320 - 175 * u_sq)));
  double big_b = u_sq / 1024 * (256 + u_sq * (-128 + u_sq * (74 - 47 * u_sq)));
  double c = f / 16 * cos2_alpha * (4 + f * (4 - 3 * cos2_alpha));

  /// What sigma, the arc on the auxiliary sphere, is more than that of the length.
  double delta_sigma(double sin_sigma, double cos_sigma, double cos_2m) const {
    return big_b * sin_sigma *
           (cos_2m +
            big_b / 4 *
                (cos_sigma * (2 * cos_2m * cos_2m - 1) -
                 big_b / 6 * cos_2m * (4 * sin_sigma * sin_sigma - 3) * (4 * cos_2m * cos_2m - 3)));
  }
  /// What the difference of longitude there is more than that on the globe.
  double delta_lambda(double sin_alpha, double sigma, double sin_sigma, double cos_sigma,
                      double cos_2m) const {
    return (1 - c) * f * sin_alpha *
           (sigma + c * sin_sigma * (cos_2m + c * cos_sigma * (2 * cos_2m * cos_2m - 1)));
  }
};

}  // namespace

Geodesic geodesic(GeoPoint from, GeoPoint to) {
  constexpr double f = GeodesicSeries::f;
  const double u1 = std::atan((1 - f) * std::tan(from.latitude_deg * kDegree));
  const double u2 = std::atan((1 - f) * std::tan(to.latitude_deg * kDegree));
  const double l = std::remainder(to.longitude_deg - from.longitude_deg, 360.0) * kDegree;
  const double s1 = std::sin(u1), c1 = std::cos(u1), s2 = std::sin(u2), c2 = std::cos(u2);
  // Lambda is the difference of longitude on the auxiliary sphere.
  double lambda = l;
  for (int step = 0; step < 100; ++step) {
    const double sl = std::sin(lambda), cl = std::cos(lambda);
    const double sin_sigma = std::hypot(c2 * sl, c1 * s2 - s1 * c2 * cl);
    if (sin_sigma == 0 && s1 * s2 + c1 * c2 * cl > 0) return {};
    const double cos_sigma = s1 * s2 + c1 * c2 * cl, sigma = std::atan2(sin_sigma, cos_sigma);
    const double sin_alpha = sin_sigma > 0 ? c1 * c2 * sl / sin_sigma : 0,
                 cos2_alpha = 1 - sin_alpha * sin_alpha;
    const double cos_2m =
        cos2_alpha > 0 ? cos_sigma - 2 * s1 * s2 / cos2_alpha : 0;  // 0 along the equator
    const GeodesicSeries series{cos2_alpha};
    const double next = l + series.delta_lambda(sin_alpha, sigma, sin_sigma, cos_sigma, cos_2m);
    const double change = std::abs(next - lambda);
    lambda = next;
    if (change > 1e-13) continue;
    return {series.b * series.big_a * (sigma - series.delta_sigma(sin_sigma, cos_sigma, cos_2m)),
            std::atan2(c2 * std::sin(lambda), c1 * s2 - s1 * c2 * std::cos(lambda)) / kDegree};
  }
  const double mean_radius = 6371008.8;
  const double cosine = std::clamp(s1 * s2 + c1 * c2 * std::cos(l), -1.0, 1.0);
  return {mean_radius * std::acos(cosine),
          std::atan2(c2 * std::sin(l), c1 * s2 - s1 * c2 * std::cos(l)) / kDegree};
}

GeoPoint end_of(GeoPoint from, const Geodesic& path) {
  constexpr double f = GeodesicSeries::f;
  const double u1 = std::atan((1 - f) * std::tan(from.latitude_deg * kDegree)), s1 = std::sin(u1),
               c1 = std::cos(u1), sin_alpha1 = std::sin(path.azimuth_deg * kDegree),
               cos_alpha1 = std::cos(path.azimuth_deg * kDegree), sin_alpha = c1 * sin_alpha1,
               sigma1 = std::atan2(s1, c1 * cos_alpha1);
  const GeodesicSeries series{1 - sin_alpha * sin_alpha};
  const double plain = path.length_m / (series.b * series.big_a);
  double sigma = plain;
  for (int step = 0; step < 100; ++step) {
    const double next = plain + series.delta_sigma(std::sin(sigma), std::cos(sigma),
                                                   std::cos(2 * sigma1 + sigma)),
                 change = std::abs(next - sigma);
    sigma = next;
    if (change < 1e-14) break;
  }
  const double ss = std::sin(sigma), cs = std::cos(sigma);
  const double latitude =
      std::atan2(s1 * cs + c1 * ss * cos_alpha1,
                 (1 - f) * std::hypot(sin_alpha, s1 * ss - c1 * cs * cos_alpha1));
  const double lambda = std::atan2(ss * sin_alpha1, c1 * cs - s1 * ss * cos_alpha1);
  const double l =
      lambda - series.delta_lambda(sin_alpha, sigma, ss, cs, std::cos(2 * sigma1 + sigma));
  return {latitude / kDegree, std::remainder(from.longitude_deg + l / kDegree, 360.0)};
}

std::vector<PlanePoint> local_plane(std::span<const GeoPoint> points, GeoPoint centre) {
  std::vector<PlanePoint> out;
  for (const GeoPoint p : points) {
    const Geodesic g = geodesic(centre, p);
    out.push_back({g.length_m * std::cos(g.azimuth_deg * kDegree),
                   g.length_m * std::sin(g.azimuth_deg * kDegree)});
  }
  return out;
}

GeoPoint centre_of(std::span<const GeoPoint> points) {
  double x = 0, y = 0, z = 0;
  for (const GeoPoint p : points) {
    const double lat = p.latitude_deg * kDegree, lon = p.longitude_deg * kDegree;
    x += std::cos(lat) * std::cos(lon);
    y += std::cos(lat) * std::sin(lon);
    z += std::sin(lat);
  }
  if (x == 0 && y == 0 && z == 0) return {};
  return {std::atan2(z, std::hypot(x, y)) / kDegree, std::atan2(y, x) / kDegree};
}

StationPlaces station_places(std::span<const Sounding> soundings) {
  StationPlaces out;
  std::vector<GeoPoint> globe;
  std::vector<PlanePoint> own;
  std::vector<std::string> without_globe, without_any;
  for (const Sounding& s : soundings) {
    if (s.latitude_deg && s.longitude_deg)
      globe.push_back({*s.latitude_deg, *s.longitude_deg});
    else
      without_globe.push_back(s.station);
    if (s.place_m)
      own.push_back(seen_from_north(*s.place_m, s.azimuth_deg.empty() ? 0 : s.azimuth_deg[0]));
    else if (!(s.latitude_deg && s.longitude_deg))
      without_any.push_back(s.station);
  }
  if (globe.size() == soundings.size() && !globe.empty()) {
    out.points = local_plane(globe, centre_of(globe));
    out.on_globe = true;
  } else if (own.size() == soundings.size()) {
    out.points = std::move(own);
  } else {
    out.without = without_any.empty() ? std::move(without_globe) : std::move(without_any);
  }
  return out;
}

Profile make_profile(std::span<const Sounding> soundings, std::optional<double> azimuth_deg) {
  Profile out;
  const std::size_t n = soundings.size();
  out.order.resize(n);
  std::iota(out.order.begin(), out.order.end(), std::size_t{0});
  const StationPlaces places = station_places(soundings);
  if (places.points.empty()) {
    for (std::size_t i = 0; i < n; ++i) out.distance_m.push_back(static_cast<double>(i));
    const std::size_t n_without = places.without.size();
    std::string without;
    for (std::size_t k = 0; k < std::min<std::size_t>(n_without, 5); ++k)
      without += (k ? ", " : "") + places.without[k];
    if (n > 0)
      out.remarks.push_back(
          fmt::format("{} of {} stations have no position ({}{}): stations stand in the order "
                      "given, one unit apart; the horizontal axis "
                      "counts them and is no distance",
                      n_without, n, without, n_without > 5 ? ", ..." : ""));
    return out;
  }
  out.has_coordinates = true;
  const std::vector<PlanePoint>& plane = places.points;
  double north = 0, east = 0;
  for (const PlanePoint p : plane) {
    north += p.north_m / static_cast<double>(n);
    east += p.east_m / static_cast<double>(n);
  }
  double nn = 0, ne = 0, ee = 0;
  for (const PlanePoint p : plane) {
    nn += (p.north_m - north) * (p.north_m - north);
    ne += (p.north_m - north) * (p.east_m - east);
    ee += (p.east_m - east) * (p.east_m - east);
  }
  // The long axis of the scatter of positions.
  double azimuth = azimuth_deg ? *azimuth_deg : std::atan2(2 * ne, nn - ee) / 2 / kDegree;
  if (!azimuth_deg) azimuth = std::fmod(azimuth + 360, 180.0);
  out.azimuth_deg = azimuth;
  const double c = std::cos(azimuth * kDegree), s = std::sin(azimuth * kDegree);
  std::vector<double> along(n), right(n);
  for (std::size_t i = 0; i < n; ++i) {
    const double x = plane[i].north_m - north, y = plane[i].east_m - east;
    along[i] = c * x + s * y;
    right[i] = -s * x + c * y;
  }
  std::stable_sort(out.order.begin(), out.order.end(),
                   [&](std::size_t i, std::size_t j) { return along[i] < along[j]; });
  for (const std::size_t i : out.order) {
    out.distance_m.push_back(along[i] - along[out.order.front()]);
    out.offset_m.push_back(right[i]);
  }
  const double length = out.distance_m.back();
  double widest = 0;
  for (const double o : out.offset_m) widest = std::max(widest, std::abs(o));
  if (length > 0 && widest > 0.25 * length)
    out.remarks.push_back(fmt::format(
        "stations lie up to {:.3g} km off a line {:.3g} km long: a section along it mixes "
        "different places",
        widest / 1000, length / 1000));
  for (std::size_t k = 1; k < n; ++k)
    if (out.distance_m[k] - out.distance_m[k - 1] <= 1e-6 * length)
      out.remarks.push_back(fmt::format("stations {} and {} stand at the same place on the line",
                                        soundings[out.order[k - 1]].station,
                                        soundings[out.order[k]].station));
  return out;
}

}  // namespace tessera::inversion
