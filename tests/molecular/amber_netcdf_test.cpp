// SPDX-License-Identifier: Apache-2.0
//
// NetCDF files of AMBER, put together here byte by byte as other programs write them.
#include "input_error.h"
#include "temp_folder.h"
#include "tessera/molecular/amber.h"
#include "trajectory_cases.h"

#include <gtest/gtest.h>

#include <bit>

namespace tessera::molecular {
namespace {

using tessera::testing::expect_input_error;

/// The classic format in the order in which a test gives its parts. Extent 0 and `records` as in
/// the format.
class Bytes {
 public:
  explicit Bytes(int version, std::uint64_t records) : version_(version) {
    text_ = "CDF" + std::string(1, static_cast<char>(version));
    count(records);
  }
  template <class T>
  Bytes& number(T v) {
    const auto raw = std::bit_cast<std::array<char, sizeof(T)>>(v);
    for (std::size_t k = 0; k < sizeof(T); ++k)
      text_ += raw[std::endian::native == std::endian::little ? sizeof(T) - 1 - k : k];
    return *this;
  }
  Bytes& count(std::uint64_t n) {
    return version_ == 5 ? number(n) : number(static_cast<std::uint32_t>(n));
  }
  Bytes& list(int tag, std::uint64_t n) { return number(tag).count(n); }
  Bytes& name(const std::string& s) {
    count(s.size());
    text_ += s;
    text_.append((4 - s.size() % 4) % 4, '\0');
    return *this;
  }
  Bytes& dimension(const std::string& s, std::uint64_t extent) { return name(s).count(extent); }
  Bytes& attribute(const std::string& s, const std::string& value) {
    return name(s).number(2).name(value);
  }
  Bytes& attribute(const std::string& s, float value) {
    return name(s).number(5).count(1).number(value);
  }
  /// A variable without attributes up to its place.
  Bytes& variable(const std::string& s, const std::vector<std::uint64_t>& dimensions) {
    name(s).count(dimensions.size());
    for (std::uint64_t d : dimensions) count(d);
    return *this;
  }
  Bytes& placed(int type, std::uint64_t bytes, std::uint64_t begin) {
    number(type).count(bytes);
    return version_ == 1 ? number(static_cast<std::uint32_t>(begin)) : number(begin);
  }
  const std::string& text() const { return text_; }

 private:
  int version_;
  std::string text_;
};

/// A restart of two atoms: velocities before positions, a box, values in double precision.
std::string restart(int version, const std::string& conventions = "AMBERRESTART",
                    const std::string& unit = "angstrom", float scale = 20.455F) {
  const auto made = [&](std::uint64_t begin) {
    Bytes b(version, 0);
    b.list(10, 3).dimension("atom", 2).dimension("spatial", 3).dimension("cell", 3);
    b.list(12, 2).attribute("Conventions", conventions).attribute("title", "two");
    b.list(11, 5);
    b.variable("velocities", {0, 1})
        .list(12, 2)
        .attribute("units", "angstrom/picosecond")
        .attribute("scale_factor", scale)
        .placed(6, 48, begin);
    b.variable("time", {}).list(12, 1).attribute("units", "picosecond").placed(6, 8, begin + 48);
    b.variable("coordinates", {0, 1})
        .list(12, 1)
        .attribute("units", unit)
        .placed(6, 48, begin + 56);
    b.variable("cell_lengths", {2}).list(0, 0).placed(6, 24, begin + 104);
    b.variable("cell_angles", {2})
        .list(12, 1)
        .attribute("units", "degrees")
        .placed(6, 24, begin + 128);
    return b;
  };
  Bytes b = made(made(0).text().size());
  for (double v : {1., 2., 3., 4., 5., 6.}) b.number(0.1 * v);
  b.number(12.5);
  for (double v : {1., 2., 3., 4., 5., 6.5}) b.number(v);
  for (double v : {20., 25., 30., 90., 90., 90.}) b.number(v);
  return b.text();
}

Frame read(const std::string& bytes, std::optional<std::size_t> n = {}) {
  return read_amber_netcdf_restart(data::BinaryInput("r.ncrst", bytes), n);
}

TEST(AmberNetcdf, RestartsOfEveryVersion) {
  for (int version : {1, 2, 5}) {
    const Frame f = read(restart(version), 2);
    EXPECT_EQ(f.time_ps, 12.5);
    ASSERT_EQ(f.x_nm.size(), 2u);
    EXPECT_DOUBLE_EQ(f.x_nm[1][2], 0.65);
    EXPECT_NEAR(f.v_nm_ps[1][0], 0.4 * 20.455 * 0.1, 1e-7);  // the scale is a float
    EXPECT_EQ(f.box.edge, rectangular_box({2, 2.5, 3}).edge);
  }
}

TEST(AmberNetcdf, TheFirstBytesTellWhichRestartItIs) {
  const tessera::testing::TempFolder folder;
  EXPECT_EQ(read_amber_restart(folder.write("a.rst7", restart(2)), 2).time_ps, 12.5);
  EXPECT_EQ(read_amber_restart(folder.write("b.rst7",
                                            "two\n2 1.5\n   1.0000000   2.0000000   3.0000000   "
                                            "4.0000000   5.0000000   6.0000000\n"),
                               2)
                .time_ps,
            1.5);
}

TEST(AmberNetcdf, RestartsAreWrittenInDoublePrecision) {
  for (bool box : {true, false}) {
    Frame f = testing::moving_waters(7, 1)[0].frame;
    if (!box) f.box = {}, f.v_nm_ps.clear();
    const Frame came = read(amber_netcdf_restart(f, "seven"), 21);
    EXPECT_LE(testing::largest_difference(came.x_nm, f.x_nm), 5e-16);
    EXPECT_LE(testing::largest_difference(came.v_nm_ps, f.v_nm_ps), 5e-16);
    EXPECT_LE(testing::largest_difference(came.box, f.box), 1e-14);
    EXPECT_EQ(came.time_ps, f.time_ps);
  }
}

/// Three frames of one atom, with a variable of a row of 5 bytes, padded to 8, between what is
/// ours.
std::string frames(int version, std::uint64_t records) {
  const auto made = [&](std::uint64_t begin) {
    Bytes b(version, records);
    b.list(10, 4)
        .dimension("frame", 0)
        .dimension("atom", 1)
        .dimension("spatial", 3)
        .dimension("five", 5);
    b.list(12, 1).attribute("Conventions", "CF-1.0 AMBER");
    b.list(11, 3);
    b.variable("coordinates", {0, 1, 2})
        .list(12, 1)
        .attribute("units", "angstrom")
        .placed(5, 12, begin);
    b.variable("odd", {0, 3}).list(0, 0).placed(1, 8, begin + 12);
    b.variable("time", {0}).list(12, 1).attribute("units", "picosecond").placed(5, 4, begin + 20);
    return b;
  };
  Bytes b = made(made(0).text().size());
  for (float t : {0.F, 1.F, 2.F}) {
    for (float v : {t, 10 * t, 100.F}) b.number(v);
    b.number(std::uint64_t{0x0102030405000000});
    b.number(0.5F * t);
  }
  return b.text();
}

TEST(AmberNetcdf, FramesOfOtherPrograms) {
  for (const auto& [version, records] :
       {std::pair{1, std::uint64_t{3}}, {2, UINT32_MAX}, {5, UINT64_MAX}}) {
    const auto reader = open_trajectory(data::BinaryInput("t.nc", frames(version, records)));
    const std::vector<Snapshot> came = testing::read_all(*reader);
    ASSERT_EQ(came.size(), 3u) << version;
    for (std::size_t k = 0; k < 3; ++k) {
      const double t = static_cast<double>(k);
      EXPECT_EQ(came[k].frame.step, static_cast<std::int64_t>(k));
      EXPECT_EQ(came[k].frame.time_ps, 0.5 * t);
      EXPECT_NEAR(came[k].frame.x_nm[0][0], 0.1 * t, 1e-15);
      EXPECT_NEAR(came[k].frame.x_nm[0][1], t, 1e-15);
      EXPECT_EQ(came[k].frame.box.edge, Box{}.edge);
      EXPECT_TRUE(came[k].frame.v_nm_ps.empty());
    }
  }
}

TEST(AmberNetcdf, WhatIsWrongIsSaid) {
  const auto said = [](const std::string& bytes, int number, const std::string& words) {
    const std::string text =
        expect_input_error([&] { read(bytes, 2); }, data::ExitCode::input_invalid, number);
    EXPECT_NE(text.find(words), std::string::npos) << text;
    EXPECT_NE(text.find("byte "), std::string::npos) << text;
  };
  const std::string good = restart(2);
  const auto with = [&](const std::string& what, std::size_t further, const std::string& change) {
    std::string b = good;
    return b.replace(b.find(what) + further, change.size(), change);
  };
  said(restart(2, "CF-1.6"), 742, "'CF-1.6'");
  said(restart(2, "AMBER"), 741, "time of 1 numbers in all");  // no records: no trajectory
  said(frames(2, 3), 742, "expected a restart");
  said(restart(2, "AMBERRESTART", "bohr"), 742, "coordinates in 'bohr'; angstrom");
  said(restart(2, "AMBERRESTART", "angstrom", 0), 741, "multiplied by 0");
  said("\x89HDF\r\n\x1a\n", 742, "nccopy");
  said("CDX\2", 741, "no NetCDF");
  said(std::string("CDF\3\0\0\0\0", 8), 742, "version 3");
  said(with("atom", 4, std::string("\0\0\0\3", 4)), 704, "3 atoms, the topology 2");
  said(with("cell_lengths", 12, std::string("\0\0\0\1\0\0\0\7", 8)), 741, "dimension 7 of 3");
  said(with("units", 8, std::string("\0\0\0\x0f", 4)), 741, "type 15");
  said(good.substr(0, good.size() - 1), 740, "cut off");
  std::string nan = good;
  nan.replace(nan.size() - 96, 8, std::string("\x7f\xf8\0\0\0\0\0\0", 8));
  said(nan, 741, "no numbers");
  std::string flat = good;
  flat.replace(flat.size() - 8, 8, std::string(8, '\0'));
  said(flat, 741, "no cell");
  const std::string text =
      expect_input_error([&] { read(good, 3); }, data::ExitCode::input_invalid, 704);
  EXPECT_NE(text.find("2 atoms, the topology 3"), std::string::npos);
}

TEST(AmberNetcdf, AnyChangedByteEndsInAnErrorOrAFrame) {
  for (const std::string& good : {restart(1), frames(2, 3), frames(5, UINT64_MAX)})
    for (std::size_t at = 0; at < good.size(); ++at)
      for (int change : {0, 1, 0x7f, 0x80, 0xff}) {
        std::string b = good;
        b[at] = static_cast<char>(change);
        try {
          const auto reader = open_trajectory(data::BinaryInput("t.nc", b));
          for (Snapshot s; reader->read(s);) ASSERT_EQ(s.frame.x_nm.size(), reader->n_atoms());
        } catch (const data::InputError& e) {
          ASSERT_TRUE(e.findings().front().place.byte &&
                      *e.findings().front().place.byte <= b.size())
              << e.what();
        }
      }
}

}  // namespace
}  // namespace tessera::molecular
