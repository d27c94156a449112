// SPDX-License-Identifier: Apache-2.0
//
// Layouts written byte by byte, with areas and places by hand.
#include "tessera/data/gds.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <utility>

namespace tessera::data {
namespace {

/// A stream of records.
struct Stream {
  std::string bytes;
  Stream& record(int kind, int type, const std::string& data = {}) {
    const std::size_t n = data.size() + 4;
    bytes += {char(n >> 8), char(n), char(kind), char(type)};
    bytes += data;
    return *this;
  }
  static std::string two(int x) { return {char(x >> 8), char(x)}; }
  static std::string four(std::int64_t x) {
    return {char(x >> 24), char(x >> 16), char(x >> 8), char(x)};
  }
  static std::string real(double x) {
    int exponent = 0;
    double m = std::abs(x);
    while (m >= 1) m /= 16, ++exponent;
    while (m > 0 && m < 1.0 / 16) m *= 16, --exponent;
    auto bits = static_cast<std::uint64_t>(std::ldexp(m, 56));
    std::string out(8, '\0');
    for (int k = 7; k > 0; --k, bits >>= 8) out[static_cast<std::size_t>(k)] = char(bits);
    out[0] = char((x < 0 ? 0x80 : 0) | (x == 0 ? 0 : exponent + 64));
    return out;
  }
  static std::string text(std::string s) { return s.size() % 2 ? s + '\0' : s; }
  static std::string xy(const std::vector<GdsPoint>& p) {
    std::string out;
    for (const GdsPoint& q : p) out += four(q[0]) + four(q[1]);
    return out;
  }

  Stream& begin() {
    return record(0, 2, two(600))
        .record(1, 2, std::string(24, '\0'))
        .record(2, 6, text("LIB"))
        .record(3, 5, real(1e-3) + real(1e-9));
  }
  Stream& cell(const std::string& name) {
    return record(5, 2, std::string(24, '\0')).record(6, 6, text(name));
  }
  Stream& end_cell() { return record(7, 0); }
  Stream& area(int layer, const std::vector<GdsPoint>& p) {
    return record(8, 0)
        .record(0xd, 2, two(layer))
        .record(0xe, 2, two(0))
        .record(0x10, 3, xy(p))
        .record(0x11, 0);
  }
  Stream& square(int layer, int x, int y, int a) {
    return area(layer, {{x, y}, {x + a, y}, {x + a, y + a}, {x, y + a}, {x, y}});
  }
  Stream& path(int type, int width, const std::vector<GdsPoint>& p, int begin = 0, int end = 0) {
    record(9, 0)
        .record(0xd, 2, two(1))
        .record(0xe, 2, two(0))
        .record(0x21, 2, two(type))
        .record(0xf, 3, four(width));
    if (type == 4) record(0x30, 3, four(begin)).record(0x31, 3, four(end));
    return record(0x10, 3, xy(p)).record(0x11, 0);
  }
  Stream& place(const std::string& cell, const GdsPoint& at, double angle = 0, double mag = 1,
                bool mirror = false) {
    return record(0xa, 0)
        .record(0x12, 6, text(cell))
        .record(0x1a, 1, two(mirror ? 0x8000 : 0))
        .record(0x1b, 5, real(mag))
        .record(0x1c, 5, real(angle))
        .record(0x10, 3, xy({at}))
        .record(0x11, 0);
  }
  GdsLibrary read() {
    record(4, 0);
    return parse_gds("test.gds", bytes);
  }
};

double area_in(const GdsLibrary& g, const std::string& cell, int layer) {
  return area_of(united(gds_polygons(g, cell, layer, -1)));
}

std::string refusal(const std::string& bytes) {
  try {
    parse_gds("test.gds", bytes);
  } catch (const InputError& e) {
    return to_string(e.findings().front());
  }
  return {};
}

}  // namespace

TEST(Gds, UnitsCellsAndLayers) {
  const GdsLibrary g = Stream()
                           .begin()
                           .cell("A")
                           .square(1, 0, 0, 1000)
                           .square(7, 0, 0, 10)
                           .end_cell()
                           .cell("TOP")
                           .place("A", {5000, 0})
                           .end_cell()
                           .read();
  EXPECT_NEAR(g.unit_m, 1e-9, 1e-24);
  EXPECT_NEAR(g.user_unit, 1e-3, 1e-18);
  EXPECT_EQ(g.name, "LIB");
  EXPECT_EQ(top_cells(g), std::vector<std::string>{"TOP"});
  EXPECT_EQ(layers_of(g, "TOP"), (std::vector<std::array<int, 2>>{{1, 0}, {7, 0}}));
  EXPECT_EQ(area_in(g, "TOP", 1), 1e6);
  EXPECT_EQ(area_in(g, "TOP", 2), 0);
}

// p -> at + mag R(angle) M p
TEST(Gds, ReferencesTurnMirrorAndMagnify) {
  const GdsLibrary g = Stream()
                           .begin()
                           .cell("L")
                           .area(1, {{0, 0}, {30, 0}, {30, 10}, {0, 0}})
                           .end_cell()
                           .cell("TOP")
                           .place("L", {100, 200}, 90, 2, true)
                           .end_cell()
                           .read();
  const std::vector<Outline> o = gds_polygons(g, "TOP", 1, 0);
  ASSERT_EQ(o.size(), 1U);
  const Outline wanted{{100, 200}, {100, 260}, {120, 260}};  // (30, 10) -> (30, -10) -> (10, 30)
  EXPECT_EQ(o[0], wanted);
}

TEST(Gds, ArraysOfArraysCountOnce) {
  Stream s;
  s.begin().cell("A").square(1, 0, 0, 10).end_cell().cell("ROW");
  s.record(0xb, 0)
      .record(0x12, 6, Stream::text("A"))
      .record(0x13, 2, Stream::two(5) + Stream::two(1))
      .record(0x10, 3, Stream::xy({{0, 0}, {100, 0}, {0, 20}}))
      .record(0x11, 0)
      .end_cell()
      .cell("TOP");
  s.record(0xb, 0)
      .record(0x12, 6, Stream::text("ROW"))
      .record(0x13, 2, Stream::two(1) + Stream::two(4))
      .record(0x10, 3, Stream::xy({{0, 0}, {0, 0}, {0, 20}}))
      .record(0x11, 0)
      .end_cell();
  const GdsLibrary g = s.read();
  EXPECT_EQ(gds_polygons(g, "TOP", 1, -1).size(), 20U);
  EXPECT_EQ(area_in(g, "TOP", 1), 5 * (10 * 10 + 3 * 5 * 10));  // rows overlap by half
}

TEST(Gds, PathsHaveTheirWidthsEndsAndBends) {
  const auto area = [](int type, int width, const std::vector<GdsPoint>& p, int b = 0, int e = 0) {
    return area_in(Stream().begin().cell("P").path(type, width, p, b, e).end_cell().read(), "P", 1);
  };
  EXPECT_EQ(area(0, 20, {{0, 0}, {100, 0}}), 2000);
  EXPECT_EQ(area(2, 20, {{0, 0}, {100, 0}}), 2400);
  EXPECT_EQ(area(4, 20, {{0, 0}, {100, 0}}, 5, -7), 1960);
  const double end = 32 * std::sin(std::numbers::pi / 32) / 2 * 100;  // half of a 64-gon
  EXPECT_NEAR(area(1, 20, {{0, 0}, {100, 0}}), 2000 + 2 * end, 1e-9);
  EXPECT_EQ(area(0, 20, {{0, 0}, {100, 0}, {100, 100}}), 4000);
  EXPECT_EQ(area(0, 20, {{100, 100}, {100, 0}, {0, 0}}), 4000);
  EXPECT_NEAR(area(0, 20, {{0, 0}, {300, 0}, {600, 400}}), 20 * 800, 1e-9);
  EXPECT_EQ(area(0, 20, {{0, 0}, {100, 0}, {0, 0}}), 2200);  // turned back: half a width further
  EXPECT_EQ(area(0, 0, {{0, 0}, {100, 0}}), 0);
  // A negative width is not magnified.
  const auto placed = [](int width) {
    return area_in(Stream()
                       .begin()
                       .cell("P")
                       .path(0, width, {{0, 0}, {100, 0}})
                       .end_cell()
                       .cell("TOP")
                       .place("P", {0, 0}, 0, 3)
                       .end_cell()
                       .read(),
                   "TOP", 1);
  };
  EXPECT_NEAR(placed(20), 300 * 60, 1e-9);
  EXPECT_NEAR(placed(-20), 300 * 20, 1e-9);
}

TEST(Gds, SaysWhatIsWrongAndWhere) {
  const auto with = [](auto&& more) {
    Stream s;
    s.begin();
    more(s);
    return refusal(s.record(4, 0).bytes);
  };
  EXPECT_NE(refusal("").find("ends without ENDLIB"), std::string::npos);
  EXPECT_NE(refusal("not a layout").find("E0377"), std::string::npos);
  Stream open;
  open.begin();
  EXPECT_NE(refusal(open.bytes).find("ends without ENDLIB"), std::string::npos);
  EXPECT_NE(refusal(open.bytes + std::string("\0\x40\x05\x02", 4)).find("are there"),
            std::string::npos);
  EXPECT_NE(with([](Stream& s) {
              s.cell("A").place("B", {0, 0}).end_cell();
            }).find("E0378"),
            std::string::npos);
  EXPECT_NE(with([](Stream& s) {
              s.cell("A").place("B", {0, 0}).end_cell().cell("B").place("A", {0, 0}).end_cell();
            }).find("refers to itself"),
            std::string::npos);
  EXPECT_NE(with([](Stream& s) { s.cell("A").end_cell().cell("A").end_cell(); }).find("E0379"),
            std::string::npos);
  EXPECT_NE(with([](Stream& s) {
              s.cell("A").area(1, {{0, 0}, {1, 0}, {1, 1}}).end_cell();
            }).find("four points"),
            std::string::npos);
  EXPECT_NE(with([](Stream& s) {
              s.cell("A").area(1, {{0, 0}, {1, 0}, {1, 1}, {2, 2}}).end_cell();
            }).find("not the first again"),
            std::string::npos);
  EXPECT_NE(with([](Stream& s) {
              s.cell("A").path(3, 5, {{0, 0}, {1, 0}}).end_cell();
            }).find("type 3"),
            std::string::npos);
  EXPECT_NE(with([](Stream& s) { s.cell("A"); }).find("no ENDSTR"), std::string::npos);
}

// 2^40 squares in forty lines: they are counted before any is made.
TEST(Gds, NestedReferencesAreBounded) {
  Stream s;
  s.begin().cell("C0").square(1, 0, 0, 10).end_cell();
  for (int k = 1; k <= 40; ++k) {
    const std::string inner = "C" + std::to_string(k - 1);
    s.cell("C" + std::to_string(k)).place(inner, {0, 0}).place(inner, {5, 5}).end_cell();
  }
  const GdsLibrary g = s.read();
  try {
    gds_polygons(g, "C40", 1, -1);
    FAIL();
  } catch (const InputError& e) {
    EXPECT_EQ(e.findings().front().number, 380);
  }
  EXPECT_EQ(gds_polygons(g, "C40", 2, -1).size(), 0U);
  EXPECT_EQ(gds_polygons(g, "C10", 1, -1).size(), 1024U);
}

}  // namespace tessera::data
