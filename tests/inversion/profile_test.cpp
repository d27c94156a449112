// SPDX-License-Identifier: Apache-2.0
#include "tessera/inversion/profile.h"

#include "tessera/inversion/sounding_read.h"
#include "test_data.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

using namespace tessera::inversion;

namespace {

Sounding station(const char* name, std::optional<GeoPoint> p) {
  Sounding s{.station = name};
  if (p) {
    s.latitude_deg = p->latitude_deg;
    s.longitude_deg = p->longitude_deg;
  }
  return s;
}

TEST(Geodesic, MatchesValuesOfProj) {
  // From PROJ's geodesic routines (pyproj 3.7.2, Karney's algorithm) on WGS84.
  const struct {
    GeoPoint from, to;
    double length, azimuth;
  } rows[] = {{{-32.13, 20.46}, {-22.19, 29.85}, 1440490.7236434643, 42.45053580344166},
              {{10, -179.5}, {-5, 178}, 1681749.5138652811, -170.4015725062798},
              {{0, 0}, {0, 30}, 3339584.723798207, 90.0},
              {{60, 10}, {60.001, 10.002}, 157.6923730618411, 45.046926950311075},
              {{89.9, 0}, {89.9, 120}, 19345.962095544757, 30.000037787519947},
              {{0, 0}, {-40, 0}, 4429529.030350516, 180.0},
              {{-33, 151.2}, {51.5, -0.1}, 16913867.342891518, -39.6685614356222}};
  for (const auto& r : rows) {
    const Geodesic g = geodesic(r.from, r.to);
    EXPECT_NEAR(g.length_m, r.length, 1e-3);
    // An azimuth is worth 1 mm at the far end.
    EXPECT_NEAR(std::remainder(g.azimuth_deg - r.azimuth, 360.0), 0,
                60e-3 / std::min(r.length, 1e6));
  }
  for (const auto& r : rows) {  // and the way there
    const GeoPoint end = end_of(r.from, {r.length, r.azimuth}),
                   back = end_of(r.from, {-r.length, r.azimuth + 180});
    EXPECT_NEAR(geodesic(end, r.to).length_m, 0, 2e-3) << r.length;
    EXPECT_NEAR(geodesic(end, back).length_m, 0, 1e-6);
  }
  const GeoPoint here = end_of({12, 34}, {0, 77});
  EXPECT_NEAR(here.latitude_deg, 12, 1e-13);
  EXPECT_NEAR(here.longitude_deg, 34, 1e-13);
  EXPECT_NEAR(end_of({0, 179}, {222'638.98158654713, 90}).longitude_deg, -179, 1e-9);
  EXPECT_EQ(geodesic({12, 34}, {12, 34}).length_m, 0);
  // Antipodal: half the circumference to the flattening.
  EXPECT_NEAR(geodesic({0, 0}, {0, 180}).length_m / 2.0015e7, 1, 4e-3);
}

TEST(LocalPlane, StaysWithinATenthOfAPercentOverAThousandKilometres) {
  const GeoPoint centre{-28, 25};
  std::vector<GeoPoint> points;
  for (double lat = -31.5; lat <= -24.5; lat += 1.75)
    for (double lon = 21.5; lon <= 28.6; lon += 1.75) points.push_back({lat, lon});
  const auto plane = local_plane(points, centre);
  double worst = 0;
  for (std::size_t i = 0; i < points.size(); ++i)
    for (std::size_t j = 0; j < i; ++j) {
      const double flat =
          std::hypot(plane[i].north_m - plane[j].north_m, plane[i].east_m - plane[j].east_m);
      worst = std::max(worst, std::abs(flat / geodesic(points[i], points[j]).length_m - 1));
    }
  EXPECT_LT(worst, 1.1e-3);  // the corners lie 520 km from the centre
  EXPECT_GT(worst, 1e-5);
}

TEST(Profile, OrdersAlongTheLineWhateverTheOrderOfFiles) {
  const std::vector<Sounding> s{station("c", GeoPoint{0, 0.2}), station("a", GeoPoint{0.001, 0}),
                                station("d", GeoPoint{0, 0.4}),
                                station("b", GeoPoint{-0.001, 0.1})};
  const Profile p = make_profile(s);
  EXPECT_TRUE(p.has_coordinates);
  EXPECT_EQ(p.order, (std::vector<std::size_t>{1, 3, 0, 2}));
  EXPECT_NEAR(p.azimuth_deg, 90, 0.5);
  EXPECT_NEAR(p.distance_m.back(), 0.4 * 111319.49, 5);  // a degree along the equator
  EXPECT_TRUE(p.remarks.empty());
  const Profile north = make_profile(s, 0.0);
  EXPECT_EQ(north.order.front(), 3u);
  EXPECT_FALSE(north.remarks.empty());  // far off that line
}

TEST(Profile, CrossesTheDateLine) {
  const std::vector<Sounding> s{station("e", GeoPoint{0, -179.9}),
                                station("w", GeoPoint{0, 179.9})};
  const Profile p = make_profile(s);
  EXPECT_EQ(p.order, (std::vector<std::size_t>{1, 0}));
  EXPECT_NEAR(p.distance_m[1], 0.2 * 111319.49, 1);
}

TEST(Profile, StationsAtOnePlaceAreNamedWhereThereIsNoOther) {
  const GeoPoint here{40, -117};
  const std::vector<Sounding> s{station("a", here), station("b", here)};
  const Profile p = make_profile(s);
  EXPECT_EQ(p.distance_m, (std::vector<double>{0, 0}));
  ASSERT_EQ(p.remarks.size(), 1u);
  EXPECT_NE(p.remarks[0].find("a and b stand at the same place"), std::string::npos);
  EXPECT_TRUE(make_profile(std::vector<Sounding>{s[0]}).remarks.empty());
}

TEST(Profile, WithoutCoordinatesCountsStationsAndSaysSo) {
  const std::vector<Sounding> s{station("x", GeoPoint{0, 0}), station("y", std::nullopt)};
  const Profile p = make_profile(s);
  EXPECT_FALSE(p.has_coordinates);
  EXPECT_EQ(p.distance_m, (std::vector<double>{0, 1}));
  ASSERT_EQ(p.remarks.size(), 1u);
  EXPECT_NE(p.remarks[0].find("(y)"), std::string::npos);
  EXPECT_TRUE(make_profile({}).order.empty());
}

TEST(Profile, Kap03RunsNorthEastForFourteenHundredKilometres) {
  const auto folder = tessera::testing::test_data() / "mt/samtex_kap03";
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << "no test data at " << folder;
  const SoundingSet set_of = read_soundings(list_sounding_files(folder));
  const Profile p = make_profile(set_of.soundings);
  ASSERT_TRUE(p.has_coordinates);
  EXPECT_NEAR(p.distance_m.back(), 1.44e6, 0.01e6);
  EXPECT_NEAR(p.azimuth_deg, 40, 5);
  EXPECT_EQ(set_of.soundings[p.order.front()].station, "kap103");
  EXPECT_EQ(set_of.soundings[p.order.back()].station, "kap175");
}

}  // namespace
