// SPDX-License-Identifier: Apache-2.0
// Touchstone files: the numbers of the standard's own examples ("Touchstone File Format
// Specification", version 2.0, IBIS Open Forum 2009), every way of writing the same, and what is
// refused at which place. tests/acceptance/run devices --row touchstone reads and writes beside
// scikit-rf.
#include "tessera/data/touchstone.h"

#include "temp_folder.h"
#include "tessera/autodiff/error.h"
#include "tessera/data/info.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <random>

using namespace tessera::data;

namespace {

using Complex = std::complex<double>;

Complex polar(double size, double degrees) {
  return std::polar(size, degrees * std::numbers::pi / 180);
}
Touchstone parse(const std::string& name, const std::string& text) {
  return parse_touchstone(name, text).network;
}
void expect_near(Complex a, Complex b, double tolerance = 1e-14) {
  EXPECT_NEAR(a.real(), b.real(), tolerance * (1 + std::abs(b)));
  EXPECT_NEAR(a.imag(), b.imag(), tolerance * (1 + std::abs(b)));
}

/// n ports, three frequencies, no two elements alike.
Touchstone example(std::size_t n, NetworkKind kind = NetworkKind::S) {
  std::mt19937 rng(7 + static_cast<unsigned>(n));
  std::uniform_real_distribution<double> u(-1, 1);
  Touchstone t;
  t.kind = kind, t.ports = n;
  t.frequency_hz = {1.1e9, 2.4e9, 77e9 / 3};
  t.values.resize(3 * n * n);
  for (Complex& x : t.values) x = {u(rng), u(rng)};
  t.reference_ohm.assign(n, 50);
  return t;
}

Diagnostic refused(const std::string& name, const std::string& text) {
  try {
    parse_touchstone(name, text);
  } catch (const InputError& e) {
    return e.findings().at(0);
  }
  return {};
}

struct BadFile {
  std::string name, text;
  int number;
  std::size_t line, column;
  const char* says;
};
void expect_refused(const std::vector<BadFile>& files) {
  for (const BadFile& c : files) {
    const Diagnostic d = refused(c.name, c.text);
    EXPECT_EQ(d.number, c.number) << c.text << to_string(d);
    EXPECT_EQ(d.place.line, c.line) << to_string(d);
    EXPECT_EQ(d.place.column, c.column) << to_string(d);
    EXPECT_NE(d.message.find(c.says), std::string::npos) << to_string(d);
  }
}

}  // namespace

// Examples of one port: what is normalized in version 1 is not in version 2.
TEST(Touchstone, ReadsTheStandardsOnePorts) {
  const std::string data = "\n200 1.74440 0\n300 .600 136\n";
  const Touchstone s = parse("x.s1p", "# MHz S MA R 50" + data);
  EXPECT_EQ(s.frequency_hz, (std::vector<double>{2e8, 3e8}));
  expect_near(s.at(1, 0, 0), polar(0.6, 136));
  // 25 ohm less 25 i ohm, beside 50 ohm, and as it is.
  const Touchstone z1 = parse("z.s1p", "# MHz Z RI R 50\n200 .5 -.5\n");
  expect_near(z1.at(0, 0, 0), {25, -25});
  const Touchstone z2 =
      parse("z.ts",
            "[Version] 2.0\n# MHz Z RI R 50\n[Number of Ports] 1\n[Number of "
            "Frequencies] 1\n[Reference] 20\n[Network Data]\n200 25 -25\n[End]\n");
  EXPECT_EQ(z2.at(0, 0, 0), Complex(25, -25));
  EXPECT_EQ(z2.reference_ohm, (std::vector<double>{20}));
  EXPECT_EQ(z2.noise_reference_ohm, 50);
  const Touchstone y1 = parse("y.s1p", "# MHz Y RI R 50\n200 2 1\n");
  expect_near(y1.at(0, 0, 0), {0.04, 0.02});
}

TEST(Touchstone, ReadsTheStandardsTwoPorts) {
  const std::string row = "2 .95 -26 3.57 157 .04 76 .66 -14\n";
  const Touchstone v1 = parse("x.s2p", "# kHz H MA R 50\n" + row);
  expect_near(v1.at(0, 0, 0), 50.0 * polar(0.95, -26));
  expect_near(v1.at(0, 1, 0), polar(3.57, 157));
  expect_near(v1.at(0, 0, 1), polar(0.04, 76));
  expect_near(v1.at(0, 1, 1), polar(0.66, -14) / 50.0);
  const Touchstone g = parse("x.s2p", "# kHz G MA R 50\n" + row);
  expect_near(g.at(0, 0, 0), polar(0.95, -26) / 50.0);
  expect_near(g.at(0, 1, 1), polar(0.66, -14) * 50.0);
  const auto v2 = [&](const std::string& order, const std::string& format) {
    return parse("x.ts", "[Version] 2.0\n#\n[Number of Ports] 2\n[Two-Port Data Order] " + order +
                             "\n[Number of Frequencies] 1\n[Matrix Format] " + format +
                             "\n[Network Data]\n" + row + "[End]\n");
  };
  EXPECT_EQ(v2("21_12", "Full").frequency_hz[0], 2e9);
  expect_near(v2("21_12", "Full").at(0, 1, 0), polar(3.57, 157));
  expect_near(v2("12_21", "Full").at(0, 0, 1), polar(3.57, 157));
}

TEST(Touchstone, ReadsTheStandardsNoiseData) {
  const std::string data =
      "2 .95 -26 3.57 157 .04 76 .66 -14\n22 .60 -144 1.30 40 .14 40 .56 -85\n";
  const Touchstone v1 =
      parse("x.s2p", "#\n! NETWORK PARAMETERS\n" + data +
                         "! NOISE PARAMETERS\n4 .7 .64 69 .38\n18 2.7 .46 -33 .40\n");
  const Touchstone v2 = parse(
      "x.ts",
      "[Version] 2.0\n#\n[Number of Ports] 2\n[Two-Port Data Order] 21_12\n[Number of "
      "Frequencies] 2\n[Number of Noise Frequencies] 2\n[Reference] 50 25.0\n[Network Data]\n" +
          data + "[Noise Data]\n4 .7 .64 69 19\n18 2.7 .46 -33 20\n[End]\n");
  for (const Touchstone& t : {v1, v2}) {
    ASSERT_EQ(t.frequency_hz.size(), 2u);
    ASSERT_EQ(t.noise.size(), 2u);
    EXPECT_EQ(t.noise[1].frequency_hz, 18e9);
    EXPECT_EQ(t.noise[1].least_figure_db, 2.7);
    expect_near(t.noise[1].optimal_reflection, polar(0.46, -33));
    EXPECT_DOUBLE_EQ(t.noise[1].resistance_ohm, 20);
    EXPECT_DOUBLE_EQ(t.noise[0].resistance_ohm, 19);
    expect_near(t.at(1, 1, 0), polar(1.30, 40));
  }
  EXPECT_EQ(v2.reference_ohm, (std::vector<double>{50, 25}));
}

TEST(Touchstone, ReadsTheStandardsFourPorts) {
  const std::string rows =
      "5.00000 0.60 161.24 0.40 -42.20 0.42 -66.58 0.53 -79.34 !row 1\n"
      " 0.40 -42.20 0.60 161.20 0.53 -79.34 0.42 -66.58 !row 2\n"
      "0.42 -66.58 0.53 -79.34 0.60 161.24 0.40 -42.20 !row 3\n"
      "\t0.53 -79.34 0.42 -66.58 0.40 -42.20 0.60 161.24 !row 4\n";
  const Touchstone v1 = parse("x.s4p", "! points need not be aligned\n# GHz S MA R 50\n" + rows);
  const Touchstone v2 =
      parse("x.ts",
            "[version] 2.0\n# GHz S MA R 50\n[Number of Ports] 4\n[Reference] 50 "
            "75\n0.01 0.01 ! further\n[Number of Frequencies] 1\n[Network Data]\n" +
                rows + "[End]\n");
  const Touchstone v11 = parse("x.s4p", "# GHz S MA R 50 75 0.01 0.01\n" + rows);
  const Touchstone lower =
      parse("x.ts",
            "[Version] 2.0\n# GHz S MA R 50\n[Number of Ports] 4\n[Number of Frequencies] "
            "1\n[Reference] 50 75 0.01 0.01\n[Matrix Format] Lower\n[Network Data]\n"
            "5.00000 0.60 161.24 !row 1\n 0.40 -42.20 0.60 161.20 !row 2\n 0.42 -66.58 0.53 -79.34 "
            "0.60 161.24 !row 3\n 0.53 -79.34 0.42 -66.58 0.40 -42.20 0.60 161.24 !row 4\n[End]\n");
  const Touchstone upper =
      parse("x.ts",
            "[Version] 2.0\n# GHz S MA R 50\n[Number of Ports] 4\n[Number of Frequencies] "
            "1\n[Reference] 50 75 0.01 0.01\n[Matrix-Format] upper\n[Network Data]\n"
            "5.00000 0.60 161.24 0.40 -42.20 0.42 -66.58 0.53 -79.34 0.60 161.20 0.53 -79.34 0.42 "
            "-66.58 0.60 161.24 0.40 -42.20 0.60 161.24\n[End]\n");
  for (const Touchstone* t : {&v1, &v2, &v11, &lower, &upper}) {
    EXPECT_EQ(t->ports, 4u);
    expect_near(t->at(0, 1, 1), polar(0.60, 161.20));
    expect_near(t->at(0, 3, 1), polar(0.42, -66.58));
    expect_near(t->at(0, 0, 3), polar(0.53, -79.34));
  }
  EXPECT_EQ(v1.comments, (std::vector<std::string>{"points need not be aligned"}));
  EXPECT_EQ(v2.reference_ohm, (std::vector<double>{50, 75, 0.01, 0.01}));
  EXPECT_EQ(v11.reference_ohm, v2.reference_ohm);
}

TEST(Touchstone, ReadsTheStandardsMixedModes) {
  const Touchstone t = parse(
      "x.ts",
      "[Version] 2.0\n# MHz S RI R 50\n[Number of Ports] 6\n[Number of Frequencies] 1\n[Reference] "
      "50 75 75 50 0.01 0.01\n[Mixed-Mode Order] D2,3 D6,5 C2,3 C6,5 S4 S1\n[Network Data]\n"
      "5.00 8.0 9.0 2.0 -1.0 3.0 -2.0 1.0 3.0 1.0 0.1 0.2 -0.2\n"
      "2.0 -1.0 7.0 7.0 1.8 -2.0 -1.0 -1.0 -0.5 0.5 0.2 -0.1\n"
      "3.0 -2.0 1.8 -2.0 5.8 6.0 1.2 0.8 0.9 0.7 0.3 -0.5\n"
      "1.0 3.0 -1.0 -1.0 1.2 0.8 6.3 8.0 2.0 -0.5 1.5 0.6\n"
      "1.0 0.1 -0.5 0.5 0.9 0.7 2.0 -0.5 4.7 -6.0 -1.0 2.0\n"
      "0.2 -0.2 0.2 -0.1 0.3 -0.5 1.5 0.6 -1.0 2.0 5.5 -7.0\n[End]\n");
  using Kind = NetworkMode::Kind;
  EXPECT_EQ(t.modes, (std::vector<NetworkMode>{{Kind::differential, 1, 2},
                                               {Kind::differential, 5, 4},
                                               {Kind::common, 1, 2},
                                               {Kind::common, 5, 4},
                                               {Kind::single, 3, 0},
                                               {Kind::single, 0, 0}}));
  EXPECT_EQ(t.at(0, 0, 1), Complex(2, -1));
  EXPECT_EQ(t.at(0, 5, 5), Complex(5.5, -7));
  TouchstoneStyle style;
  style.version = 2;
  const Touchstone again = parse("x.ts", touchstone_text(t, style));
  EXPECT_EQ(again.modes, t.modes);
  EXPECT_EQ(again.values, t.values);
  EXPECT_THROW(touchstone_text(t), tessera::Error);
}

// Everything in any case and order, with tabs, CRLF, comments, defaults and a unit of each kind.
TEST(Touchstone, TakesWhatTheStandardAllows) {
  EXPECT_EQ(parse("x.S1P", "#\r\n1\t0.5 0 ! end\r\n2 0.5 90\r\n").frequency_hz,
            (std::vector<double>{1e9, 2e9}));
  const Touchstone t = parse("x.s1p", "!a\n!b\n#  r 75 RI hz  z\n\n1e3\t+.5e0  1.\n");
  EXPECT_EQ(t.frequency_hz[0], 1000);
  EXPECT_EQ(t.at(0, 0, 0), Complex(37.5, 75));
  EXPECT_EQ(parse("x.s1p", "#KHZ S DB\n0 -20 180\n1 -inf 0\n").at(1, 0, 0), 0.0);
  expect_near(parse("x.s1p", "#KHZ S DB\n0 -20 180\n").at(0, 0, 0), -0.1);
  // 2.4 GHz is the double next to 2.4e9, as 0.3 MHz is to 3e5.
  EXPECT_EQ(parse("x.s1p", "# MHz S RI\n0.3 0 0\n").frequency_hz[0], 3e5);
  // The ports of a name that tells none are those of the first record.
  for (std::size_t n = 1; n <= 5; ++n)
    EXPECT_EQ(parse("x.txt", touchstone_text(example(n))).ports, n);
  // Rows broken otherwise than the standard wants are still whole pairs.
  EXPECT_EQ(parse("x.s3p", "# GHz S RI\n1 1 0\n2 0 3 0\n4 0 5 0 6 0 7 0\n8 0 9 0\n").at(0, 2, 2),
            9.0);
  const TouchstoneFile twice = parse_touchstone("x.s1p", "# GHz S RI\n# ghz s ri\n1 0 0\n");
  EXPECT_EQ(twice.remarks.at(0).number, 367);
  const TouchstoneFile no_end = parse_touchstone(
      "x.ts",
      "[Version] 2.1\n# GHz S RI\n[Number of Ports] 1\n[Number of Frequencies] 1\n[Begin "
      "Information]\n[Whatever] 5\nfree text\n[End Information]\n[Network Data]\n1 0\n0.5\n");
  EXPECT_EQ(no_end.network.at(0, 0, 0), Complex(0, 0.5));
  EXPECT_EQ(no_end.remarks.at(0).number, 370);
}

TEST(Touchstone, WritesWhatReadsBackToTheSameBits) {
  using Style = TouchstoneStyle;
  for (std::size_t n = 1; n <= 6; ++n)
    for (const NetworkKind kind :
         {NetworkKind::S, NetworkKind::Z, NetworkKind::Y, NetworkKind::H, NetworkKind::G})
      for (const int version : {1, 2})
        for (const auto numbers : {Style::Numbers::RI, Style::Numbers::MA, Style::Numbers::DB})
          for (const char* unit : {"Hz", "kHz", "MHz", "GHz"})
            for (const bool rows_first : {true, false}) {
              if ((kind == NetworkKind::H || kind == NetworkKind::G) && n != 2) continue;
              const Touchstone t = example(n, kind);
              const Style style{
                  .version = version, .numbers = numbers, .unit = unit, .rows_first = rows_first};
              const Touchstone back =
                  parse("x.s" + std::to_string(n) + "p", touchstone_text(t, style));
              EXPECT_EQ(back.kind, kind);
              EXPECT_EQ(back.frequency_hz, t.frequency_hz);
              EXPECT_EQ(back.reference_ohm, t.reference_ohm);
              const bool exact =
                  numbers == Style::Numbers::RI && (version == 2 || kind == NetworkKind::S);
              for (std::size_t k = 0; k < t.values.size(); ++k)
                if (exact)
                  EXPECT_EQ(back.values[k], t.values[k]);
                else
                  expect_near(back.values[k], t.values[k]);
            }
}

TEST(Touchstone, WritesHalfMatricesReferencesNoiseAndZero) {
  Touchstone t = example(5);
  for (std::size_t f = 0; f < 3; ++f)
    for (std::size_t i = 0; i < 5; ++i)
      for (std::size_t j = 0; j < i; ++j) t.at(f, i, j) = t.at(f, j, i);
  t.reference_ohm = {50, 75, 100, 0.01, 25};
  t.comments = {"from a test"};
  for (const auto matrix : {TouchstoneStyle::Matrix::lower, TouchstoneStyle::Matrix::upper}) {
    const Touchstone back = parse("x.ts", touchstone_text(t, {.version = 2, .matrix = matrix}));
    EXPECT_EQ(back.values, t.values);
    EXPECT_EQ(back.reference_ohm, t.reference_ohm);
    EXPECT_EQ(back.comments, t.comments);
  }
  EXPECT_EQ(parse("x.s5p", touchstone_text(t)).reference_ohm, t.reference_ohm);  // 1.1
  t.at(0, 0, 1) = 0;
  EXPECT_THROW(touchstone_text(t, {.version = 2, .matrix = TouchstoneStyle::Matrix::lower}),
               tessera::Error);
  EXPECT_EQ(
      parse("x.s5p", touchstone_text(t, {.numbers = TouchstoneStyle::Numbers::DB})).at(0, 0, 1),
      0.0);
  Touchstone amplifier = example(2);
  amplifier.reference_ohm = {25, 25}, amplifier.noise_reference_ohm = 25;
  amplifier.noise = {{1e9, 0.7, polar(0.64, 69), 19}, {3e9, 2.7, polar(0.46, -33), 20}};
  for (const int version : {1, 2}) {
    const Touchstone back = parse("x.s2p", touchstone_text(amplifier, {.version = version}));
    ASSERT_EQ(back.noise.size(), 2u);
    expect_near(back.noise[1].optimal_reflection, polar(0.46, -33));
    EXPECT_NEAR(back.noise[1].resistance_ohm, 20, 1e-13);
  }
}

TEST(Touchstone, FilesAreWrittenByNamesThatTellTheirPortsAndInfoKnowsThem) {
  const tessera::testing::TempFolder folder;
  write_touchstone(folder.path() / "a.s3p", example(3));
  EXPECT_EQ(read_touchstone(folder.path() / "a.s3p").network.values, example(3).values);
  EXPECT_THROW(write_touchstone(folder.path() / "a.s2p", example(3)), tessera::Error);
  const std::string told = to_text(info(folder.path() / "a.s3p"));
  EXPECT_NE(told.find("ports: 3"), std::string::npos) << told;
  EXPECT_NE(told.find("last: 25.6666667 GHz"), std::string::npos) << told;
}

TEST(Touchstone, WritingRefusesWhatAVersionCannotSay) {
  const auto refuses = [](Touchstone t, TouchstoneStyle style, const std::string& says) {
    try {
      touchstone_text(t, style);
      ADD_FAILURE() << says;
    } catch (const tessera::Error& e) {
      EXPECT_NE(std::string(e.what()).find(says), std::string::npos) << e.what();
    }
  };
  Touchstone t = example(2, NetworkKind::Z);
  t.reference_ohm = {50, 75};
  refuses(t, {}, "normalizes by one reference");
  refuses(example(2), {.version = 3}, "version 3");
  refuses(example(2), {.unit = "THz"}, "unit 'THz'");
  refuses(example(3, NetworkKind::H), {.version = 2}, "2-ports");
  t = example(2), t.frequency_hz[1] = 0;
  refuses(t, {}, "do not rise");
  t = example(2), t.values[3] = {NAN, 0};
  refuses(t, {}, "not finite");
  t = example(2), t.values.pop_back();
  refuses(t, {}, "11 values for 3 frequencies and 2 ports");
  t = example(2), t.reference_ohm[1] = 0;
  refuses(t, {}, "above 0 ohm");
  // Its readers take noise beside the reference of port 1: 20 ohm would come back as 30.
  t = example(2), t.reference_ohm = {75, 75}, t.noise_reference_ohm = 50;
  t.noise = {{1e9, 0.7, polar(0.64, 69), 20}};
  refuses(t, {}, "they are 50 and 75 ohm");
  EXPECT_DOUBLE_EQ(parse("x.ts", touchstone_text(t, {.version = 2})).noise[0].resistance_ohm, 20);
  t.reference_ohm = {50, 75};
  EXPECT_DOUBLE_EQ(parse("x.s2p", touchstone_text(t)).noise[0].resistance_ohm, 20);
  t.noise[0].frequency_hz = 1e12;
  refuses(t, {}, "begins above the last frequency");
  refuses(t, {.version = 2}, "begins above the last frequency");
  t.noise = {{1e9, 0.7, polar(0.64, 69), 20}, {1e9, 0.7, polar(0.64, 69), 20}};
  refuses(t, {}, "frequencies of the noise do not rise");
}

TEST(Touchstone, SaysWhatIsWrongInVersion1WithLineAndColumn) {
  expect_refused(
      {{"x.s1p", "! nothing\n", 366, 1, 11, "nothing but comments"},
       {"x.s1p", "1 0 0\n", 367, 1, 1, "expected the option line"},
       {"x.s1p", "# GHz S RI\n", 366, 1, 12, "expected network data"},
       {"x.s1p", "# THz S RI\n1 0 0\n", 367, 1, 3, "'THz'"},
       {"x.s1p", "# GHz MHz\n1 0 0\n", 367, 1, 7, "unit of frequency twice"},
       {"x.s1p", "# S Z\n1 0 0\n", 367, 1, 5, "kind of parameter twice"},
       {"x.s1p", "# RI MA\n1 0 0\n", 367, 1, 6, "form of numbers twice"},
       {"x.s1p", "# GHz R\n1 0 0\n", 367, 1, 7, "without its ohms"},
       {"x.s1p", "# GHz R 0\n1 0 0\n", 367, 1, 9, "above 0 ohm"},
       {"x.s1p", "# GHz R -50\n1 0 0\n", 367, 1, 9, "above 0 ohm"},
       {"x.s1p", "# GHz R 50 60\n1 0 0\n", 369, 1, 1, "2 references for 1 port"},
       {"x.s1p", "# GHz S\n1 0 0\n# MHz S\n", 367, 3, 1, "a second option line"},
       {"x.s1p", "# GHz S RI\n1 0 0\n1 0 0\n", 368, 3, 1, "not above the one before"},
       {"x.s1p", "# GHz S RI\n2 0 0\n1 0 0\n", 368, 3, 1, "not above the one before"},
       {"x.s1p", "# GHz S RI\n-1 0 0\n", 368, 2, 1, "below zero"},
       {"x.s1p", "# GHz S RI\n1 0\n", 369, 2, 1, "expected a frequency and pairs"},
       {"x.s1p", "# GHz S RI\n1 0 0 0 0\n", 369, 2, 7, "a 1-port has 1 pair"},
       {"x.s1p", "# GHz S RI\n1 0 x\n", 303, 2, 5, "expected a number, got 'x'"},
       {"x.s1p", "# GHz S RI\n1 0 nan\n", 303, 2, 5, "expected a number"},
       {"x.s1p", "# GHz S RI\n1 0 1e999\n", 303, 2, 5, "beyond the range"},
       {"x.s1p", "# GHz S DB\n1 9999 0\n", 303, 2, 3, "what '9999' stands for is beyond"},
       {"x.s1p", "# GHz S RI\n1e300 0 0\n", 303, 2, 1, "what '1e300' stands for is beyond"},
       {"x.s1p", "# GHz Z RI R 1e300\n1 1e10 0\n", 303, 2, 3, "what '1e10' stands for is beyond"},
       {"x.s2p", "# GHz S RI\n1 1 0 2 0 3 0\n2 1 0 2 0 3 0\n", 369, 3, 1, "the record above has 7"},
       {"x.s2p", "# GHz S RI\n1 1 0 2 0 3 0\n", 369, 2, 15, "ends within a record"},
       {"x.s3p", "# GHz S RI\n1 1 0 2 0 3 0 4 0\n2 1 0 2 0 3 0 4 0\n", 369, 3, 1,
        "a 3-port has 19 numbers"},
       {"x.txt", "# GHz S RI\n1 1 0 2 0\n", 369, 2, 1, "3, 9, 19, 33"},
       {"x.s3p", "# GHz H RI\n1 1 0\n", 369, 1, 1, "those of 2-ports"},
       {"x.s2p", "# GHz S RI\n1 1 0 2 0 3 0 4 0\n2 .7 .6 69 .3\n", 369, 3, 15,
        "ends within a record"},
       {"x.s2p", "# GHz S RI\n1 1 0 2 0 3 0 4 0\n.5 .7 .6 69 .3\n.4 .7 .6 69 .3\n", 368, 4, 1,
        "noise data is not above"},
       {"x.s2p", "# GHz S RI\n1 1 0 2 0 3 0 4 0\n.5 .7 .6 69 .3\n.6 .7 .6\n", 369, 4, 1,
        "5 numbers, got 3"},
       {"x.s2p", "# GHz S RI\n1 1 0 2 0 3 0 4 0\n.5 .7 -.6 69 .3\n", 366, 3, 7,
        "size of at least 0"},
       {"x.s2p", "# GHz Z RI R 50 75\n1 1 0 2 0 3 0 4 0\n", 367, 1, 1,
        "normalized by one reference"},
       {"x.s1p", "# GHz\n[Number of Ports] 1\n1 0 0\n", 370, 2, 1,
        "a keyword in a file of version 1"},
       {"x.s99999999999p", "# GHz\n1 0 0\n", 369, 1, 1, "more than 10000"}});
}

TEST(Touchstone, SaysWhatIsWrongInVersion2WithLineAndColumn) {
  const std::string two = "[Version] 2.0\n# GHz S RI\n[Number of Ports] 2\n";
  const std::string one =
      "[Version] 2.0\n# GHz S RI\n[Number of Ports] 1\n[Number of Frequencies] 1\n";
  expect_refused(
      {{"x.ts", "[Version] 3.0\n#\n", 370, 1, 11, "'3.0' is not read"},
       {"x.ts", "[Version]\n#\n", 370, 1, 1, "got 0 words"},
       {"x.ts", "[Number of Ports] 1\n", 370, 1, 1, "expected [Version] 2.0"},
       {"x.ts", "[Version] 2.0\n[Number of Ports] 1\n", 367, 2, 1, "expected the option line"},
       {"x.ts", "[Version] 2.0\n# GHz\n[Reference] 50\n", 370, 3, 1, "expected [Number of Ports]"},
       {"x.ts", "[Version] 2.0\n# GHz\n[Number of Ports] 0\n", 309, 3, 19, "positive whole number"},
       {"x.s3p", two + "[End]\n", 369, 3, 1, "the name of the file tells 3 ports"},
       {"x.ts", two + "[Number of Frequencies] 1\n[Network Data]\n1 1 0 2 0 3 0 4 0\n", 370, 5, 1,
        "expected [Two-Port Data Order]"},
       {"x.ts", two + "[Two-Port Data Order] 11_22\n", 370, 4, 23, "expected 12_21 or 21_12"},
       {"x.ts", one + "[Two-Port Data Order] 12_21\n", 370, 5, 1, "is for 2-ports"},
       {"x.ts", one + "[Reference] 50 75\n", 369, 5, 1, "2 numbers for 1 port"},
       {"x.ts", one + "[Reference] 0\n", 370, 5, 13, "above 0 ohm"},
       {"x.ts", one + "[Matrix Format] Half\n", 370, 5, 17, "Full, Lower or Upper"},
       {"x.ts", one + "[Number of Frequencies] 2\n", 370, 5, 1, "given twice"},
       {"x.ts", one + "[Number of Noise Frequencies] 2\n", 370, 5, 1, "those of 2-ports"},
       {"x.ts", one + "[Refrence] 50\n", 370, 5, 1, "no keyword '[Refrence]'"},
       {"x.ts", one + "[Reference 50\n", 370, 5, 1, "no ']'"},
       {"x.ts", one + "5 0 0\n", 366, 5, 1, "expected a keyword"},
       {"x.ts", one + "[Network Data]\n1 0 0 2 0 0\n[End]\n", 369, 6, 7,
        "expected 1 times 3 numbers, got 6"},
       {"x.ts", one + "[Network Data]\n1 0\n[End]\n", 369, 5, 1, "got 2 numbers"},
       {"x.ts", one + "[End]\n", 370, 5, 1, "expected [Network Data]"},
       {"x.ts", one + "[Network Data]\n1 0 0\n[Reference] 50\n", 370, 7, 1, "stands behind"},
       {"x.ts", one + "[Network Data]\n1 0 0\n[End]\n5\n", 370, 8, 1, "text stands behind [End]"},
       {"x.ts", one + "[Begin Information]\n[Network Data]\n1 0 0\n", 370, 5, 1,
        "no [End Information]"},
       {"x.ts", one + "[End Information]\n", 370, 5, 1, "without [Begin Information]"},
       {"x.ts", one + "[Noise Data]\n", 370, 5, 1, "in front of [Network Data]"},
       {"x.ts",
        two + "[Two-Port Data Order] 12_21\n[Number of Frequencies] 1\n[Number of Noise "
              "Frequencies] 1\n[Network Data]\n1 1 0 2 0 3 0 4 0\n[End]\n",
        370, 9, 1, "expected [Noise Data]"},
       {"x.ts",
        two + "[Two-Port Data Order] 12_21\n[Number of Frequencies] 1\n[Number of Noise "
              "Frequencies] 1\n[Network Data]\n1 1 0 2 0 3 0 4 0\n[Noise Data]\n2 1 1 0 5\n[End]\n",
        368, 10, 1, "begin above the last frequency"},
       {"x.ts", two + "[Mixed-Mode Order] D1,2 S1\n", 370, 4, 1, "port 1 must be in one S"},
       {"x.ts", two + "[Mixed-Mode Order] D1,2\n", 370, 4, 1, "port 1 must be in one S"},
       {"x.ts", two + "[Mixed-Mode Order] D1,3 C1,3\n", 370, 4, 20, "expected S1, D1,2 or C1,2"},
       {"x.ts", two + "[Mixed-Mode Order] D1 C1\n", 370, 4, 20, "expected S1, D1,2 or C1,2"},
       {"x.ts", two + "[Mixed-Mode Order] X1 S2\n", 370, 4, 20, "expected S1, D1,2 or C1,2"}});
}
