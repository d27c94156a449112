// SPDX-License-Identifier: Apache-2.0
// Bad inputs of EDI, EMTF XML, Jones J and EMTF Z: each must end in an InputError (exit code 4)
// that names the file, the place and the number of the error, or, where reading on is right, in a
// sounding that says so.
#include "findings.h"
#include "temp_folder.h"
#include "tessera/inversion/sounding_read.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cmath>
#include <functional>
#include <numbers>

namespace fs = std::filesystem;
using namespace tessera;
using namespace tessera::inversion;

namespace {

std::string edi(const std::string& head = " LAT=-30:30:00\n LONG=127.5\n",
                const std::string& freq = "10 1 0.1", const std::string& count = "3") {
  std::string text = ">HEAD\n DATAID=\"S 1\"\n" + head +
                     " EMPTY=1.0E32\n>=MTSECT\n NFREQ=" + count + "\n>FREQ //3\n " + freq + "\n";
  const char* names[] = {"ZXXR", "ZXXI", "ZXYR", "ZXYI", "ZYXR", "ZYXI", "ZYYR", "ZYYI"};
  const char* values[] = {"0 0 0",      "0 0 0",      "30 10 3", "30 10 3",
                          "-30 -10 -3", "-30 -10 -3", "0 0 0",   "0 0 0"};
  for (int k = 0; k < 8; ++k) text += std::string(">") + names[k] + " //3\n " + values[k] + "\n";
  return text + ">ZXY.VAR //3\n 1 1 1\n>END\n";
}

std::string xml() {
  return "<?xml version=\"1.0\"?>\n<EM_TF>\n<Site><Id>X 1</Id><Location><Latitude>34.5</Latitude>"
         "<Longitude>-108</Longitude></Location></Site>\n"
         "<ProcessingInfo><SignConvention>exp(+ i\\omega t)</SignConvention></ProcessingInfo>\n"
         "<Data count=\"1\">\n<Period value=\"4.6\" units=\"secs\">\n<Z units=\"[mV/km]/[nT]\">\n"
         "<value output=\"Ex\" input=\"Hy\">3 3</value>\n<value output=\"Ey\" input=\"Hx\">-3 "
         "-3</value>\n</Z>\n"
         "</Period>\n</Data>\n</EM_TF>\n";
}

std::string jones() {
  return "#comment\n>LATITUDE = -28.4\n>LONGITUDE = 24:05:43\nS 1\nZXY S.I.\n2\n 1.0 1E-3 1E-3 "
         "1E-4 1 1\n"
         " 10.0 3E-4 3E-4 1E-5 1 1\nZYX S.I.\n1\n 1.0 -1E-3 -1E-3 1E-4 1 1\n";
}

std::string zmm() {
  return " TRANSFER FUNCTIONS IN MEASUREMENT COORDINATES\n ********** WITH FULL ERROR "
         "COVARIANCE*********\n\n300\n"
         "coordinate 34.7 -115.7 declination 0.0\nnumber of channels 4 number of frequencies 1\n"
         " orientations and tilts of each channel\n 1 0.00 0.00 300 Hx\n 2 90.00 0.00 300 Hy\n 3 "
         "0.00 0.00 300 Ex\n"
         " 4 90.00 0.00 300 Ey\n\nperiod : 1.5 decimation level 0 freq. band from 0 to 0\n"
         "number of data point 0 sampling freq. 8 Hz\n Transfer Functions\n 0 0 10 10\n -10 -10 0 "
         "0\n"
         " Inverse Coherent Signal Power Matrix\n 1 0\n 0 0 1 0\n Residual Covariance\n 1 0\n 0 0 "
         "1 0\n";
}

struct Format {
  const char* name;
  std::string text;
  std::string number;  ///< a number of the data that occurs once, for replacement
};

std::vector<Format> formats() {
  return {{"a.edi", edi(), "0.1"},
          {"a.xml", xml(), "4.6"},
          {"a.j", jones(), "3E-4"},
          {"a.zmm", zmm(), "1.5"}};
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

class BadSounding : public ::testing::Test {
 protected:
  /// Writes the file, reads it, and returns the first error; its number must be one of `numbers`.
  data::Diagnostic refused(const std::string& name, std::string_view text, std::vector<int> numbers,
                           bool has_line = true) {
    const fs::path path = folder_.write(name, text);
    try {
      (void)read_sounding(path);
    } catch (const data::InputError& e) {
      EXPECT_EQ(static_cast<int>(e.code()), 4);
      const data::Diagnostic& d = e.findings().front();
      EXPECT_NE(std::find(numbers.begin(), numbers.end(), d.number), numbers.end())
          << name << ": " << data::to_string(d);
      EXPECT_EQ(d.place.file, path.string());
      EXPECT_EQ(d.place.line > 0, has_line) << data::to_string(d);
      EXPECT_EQ(d.place.column > 0, has_line) << data::to_string(d);
      EXPECT_FALSE(d.message.empty());
      return d;
    }
    ADD_FAILURE() << name << " was read:\n" << text.substr(0, 300);
    return {};
  }
  Sounding accepted(const std::string& name, std::string_view text, std::vector<int> remarks = {}) {
    const Sounding s = read_sounding(folder_.write(name, text));
    for (const int number : remarks)
      EXPECT_TRUE(says(s, number)) << name << " does not say E0" << number;
    return s;
  }
  tessera::testing::TempFolder folder_;
};

TEST_F(BadSounding, TheBaseFilesAreGood) {
  for (const Format& f : formats()) {
    const Sounding s = accepted(f.name, f.text);
    EXPECT_TRUE(s.has_impedance()) << f.name;
    EXPECT_FALSE(says(s, 330)) << f.name;
  }
}

// ---- what can happen to any text file ----

TEST_F(BadSounding, EmptyAndBlankFiles) {
  for (const Format& f : formats()) {
    refused(f.name, "", {107}, false);
    refused(f.name, "  \n\n \t\n", {107}, false);
  }
}

TEST_F(BadSounding, NothingBehindTheHeader) {
  refused("a.edi", ">HEAD\n DATAID=X\n", {307});
  refused("a.edi", ">HEAD\n", {307});
  refused("a.xml", "<?xml version=\"1.0\"?>\n", {312});
  refused("a.xml", "<EM_TF></EM_TF>", {315});
  refused("a.j", "#c\n>LATITUDE = 1\nS1\n", {307});
  refused("a.zmm", zmm().substr(0, zmm().find("number of channels")), {302});
}

TEST_F(BadSounding, TruncationAnywhereIsRefusedOrLosesNoNumber) {
  for (const Format& f : formats()) {
    const std::string whole = f.text;
    for (std::size_t n = 1; n < whole.size(); ++n) {
      try {
        const Sounding s = parse_sounding(whole.substr(0, n), f.name);
        // Only what follows the last number may be absent, and for J, which has no end mark and
        // counts rows only, a block or the last columns.
        const std::string_view rest = std::string_view(whole).substr(n);
        const bool harmless = rest.find_first_of("0123456789") == std::string_view::npos;
        const bool whole_block = std::string(f.name) == "a.j";
        const bool last_digit = whole[n - 1] == '0' || whole[n - 1] == '1';
        EXPECT_TRUE(harmless || whole_block || last_digit)
            << f.name << " cut at " << n << " was read";
      } catch (const data::InputError& e) {
        EXPECT_EQ(static_cast<int>(e.code()), 4);
      }
    }
  }
}

TEST_F(BadSounding, TruncatedInTheMiddleOfALine) {
  refused("a.edi", edi().substr(0, edi().find("-30 -10")), {304, 307});
  refused("a.edi", edi().substr(0, edi().find(">END")) + ">EN", {308});
  refused("a.xml", xml().substr(0, xml().find("-3 -3")), {312});
  refused("a.j", jones().substr(0, jones().find("3E-4 1E-5")), {304});
  refused("a.zmm", zmm().substr(0, zmm().find("-10 -10")), {304, 309});
}

TEST_F(BadSounding, BinaryAndNul) {
  std::string junk =
      "\x7f"
      "ELF\x02\x01\x01";
  for (int i = 0; i < 1000; ++i) junk += static_cast<char>(i * 37 + 11);
  for (const Format& f : formats()) {
    refused(f.name, junk, {104, 105, 106, 301});
    refused(f.name, replaced(f.text, f.number, std::string("1\0", 2)), {105});
  }
}

TEST_F(BadSounding, ByteOrderMarkAndLineEndsAreHarmless) {
  for (const Format& f : formats()) {
    const std::size_t n = accepted(f.name, f.text).size();
    EXPECT_EQ(accepted(f.name, "\xef\xbb\xbf" + f.text).size(), n);
    std::string crlf, cr;
    for (const char c : f.text) {
      crlf += c == '\n' ? std::string("\r\n") : std::string(1, c);
      cr += c == '\n' ? '\r' : c;
    }
    EXPECT_EQ(accepted(f.name, crlf).size(), n);
    EXPECT_EQ(accepted(f.name, cr).size(), n);
  }
}

TEST_F(BadSounding, Utf16) {
  for (const Format& f : formats()) {
    std::string wide, marked = "\xff\xfe";
    for (const char c : f.text) wide += std::string(1, c) + '\0';
    refused(f.name, marked + wide, {104}, false);
    refused(f.name, wide, {104}, false);
  }
}

TEST_F(BadSounding, OneVeryLongLine) {
  for (const Format& f : formats())
    refused(f.name, replaced(f.text, f.number, f.number + std::string(3 << 20, ' ')), {108});
}

TEST_F(BadSounding, NumbersThatAreNone) {
  for (const Format& f : formats()) {
    const bool fortran = std::string(f.name) != "a.xml";
    for (const char* bad : {"nan", "inf", "-inf", "1e400", "0x1p3", "1,5", "--5", "+-5", "1.2.3",
                            "1e", "e5", "1d", "5m", "********", "1_000"})
      refused(f.name, replaced(f.text, f.number, bad), {303});
    if (fortran) {
      accepted(f.name, replaced(f.text, f.number, "2d1"));
    } else {
      EXPECT_NE(refused(f.name, replaced(f.text, f.number, "1d5"), {303}).hint.find("E"),
                std::string::npos);
    }
    accepted(f.name, replaced(f.text, f.number, "+5"));
    EXPECT_NE(refused(f.name, replaced(f.text, f.number, "1,5"), {303}).hint.find("decimal point"),
              std::string::npos);
  }
}

TEST_F(BadSounding, PlaceOfABadNumberIsExact) {
  const data::Diagnostic d = refused("a.edi", edi("", "10 1x 0.1"), {303});
  EXPECT_EQ(d.place.line, 7u);
  EXPECT_EQ(d.place.column, 5u);
  EXPECT_EQ(d.source_line, " 10 1x 0.1");
  const data::Diagnostic x = refused("a.xml", replaced(xml(), "-3 -3", "-3 -3e"), {303});
  EXPECT_EQ(x.place.line, 9u);
  EXPECT_EQ(x.place.column, 34u);
}

TEST_F(BadSounding, Counts) {
  for (const char* bad : {"-5", "0", "100000000000", "9223372036854775808",
                          "99999999999999999999999", "3.5", "three", "x"}) {
    refused("a.edi", edi("", "10 1 0.1", bad), {309});
    refused("a.edi", replaced(edi(), ">FREQ //3", std::string(">FREQ //") + bad), {309});
    refused("a.xml", replaced(xml(), "count=\"1\"", std::string("count=\"") + bad + "\""), {309});
    refused("a.j", replaced(jones(), "\n2\n", std::string("\n") + bad + "\n"), {309});
    refused("a.zmm", replaced(zmm(), "channels 4", std::string("channels ") + bad), {309});
    refused("a.zmm", replaced(zmm(), "frequencies 1", std::string("frequencies ") + bad), {309});
  }
}

TEST_F(BadSounding, TrailingRubbish) {
  refused("a.xml", xml() + "<more/>", {312});
  refused("a.xml", xml() + "text", {312});
  refused("a.j", jones() + "rubbish\n", {302});
  refused("a.zmm", zmm() + "rubbish\n", {304});
  // EDI ends with >END; what follows belongs to nobody and is not looked at by other programs
  // either.
  EXPECT_EQ(accepted("a.edi", edi() + "rubbish\n", {357}).size(), 3u);
}

TEST_F(BadSounding, NoRegularFile) {
  const auto number_of = [](const fs::path& p) {
    try {
      (void)read_sounding(p);
    } catch (const data::InputError& e) {
      EXPECT_EQ(static_cast<int>(e.code()), 4);
      return e.findings().front().number;
    }
    return 0;
  };
  EXPECT_EQ(number_of(folder_.path()), 102);
  EXPECT_EQ(number_of(folder_.path() / "none.edi"), 101);
  EXPECT_EQ(number_of("/dev/zero"), 102);
  ASSERT_EQ(::mkfifo((folder_.path() / "fifo.edi").c_str(), 0600), 0);
  EXPECT_EQ(number_of(folder_.path() / "fifo.edi"), 102);
  fs::create_symlink(folder_.path() / "loop.edi", folder_.path() / "loop.edi");
  EXPECT_EQ(number_of(folder_.path() / "loop.edi"), 101);
}

TEST_F(BadSounding, UnknownContent) {
  refused("a.edi", "hello world\n", {301});
  refused("a.txt", "station,depth\n1,2\n", {301});
}

TEST_F(BadSounding, AllFilesAreTriedAndAllErrorsListed) {
  std::vector<fs::path> files{folder_.write("1.edi", edi("", "10 0 0.1")),
                              folder_.write("2.edi", edi()), folder_.write("3.xml", "<a>"),
                              folder_.path() / "4.edi"};
  const SoundingSet set = read_soundings(files);
  EXPECT_EQ(set.soundings.size(), 1u);
  EXPECT_EQ(set.rejected_files.size(), 3u);
  EXPECT_EQ(set.errors.size(), 3u);
  EXPECT_THROW(list_sounding_files(folder_.path() / "nowhere"), data::InputError);
  fs::create_directory(folder_.path() / "empty");
  EXPECT_THROW(list_sounding_files(folder_.path() / "empty"), data::InputError);
  EXPECT_EQ(list_sounding_files(folder_.path()).size(), 3u);
}

// A Mac leaves one beside each file on foreign disks, with what its own file system would keep.
TEST_F(BadSounding, HiddenFilesOfAFolderArePassedOver) {
  folder_.write("gv9.edi", edi());
  folder_.write("._gv9.edi", std::string_view("\0\5\26\7\0\2\0\0Mac OS X", 16));
  const auto list = list_sounding_files(folder_.path());
  ASSERT_EQ(list.size(), 1u);
  EXPECT_EQ(list[0].filename(), "gv9.edi");
}

// ---- what can be wrong with a sounding ----

TEST_F(BadSounding, CountsThatDisagree) {
  const data::Diagnostic d = refused("a.edi", edi("", "10 1 0.1", "4"), {304});
  EXPECT_NE(d.message.find("NFREQ is 4"), std::string::npos);
  refused("a.edi", edi("", "10 1"), {304});
  refused("a.edi", replaced(edi(), "30 10 3\n>ZXYI", "30 10\n>ZXYI"), {304});
  refused("a.xml", replaced(xml(), "count=\"1\"", "count=\"2\""), {304});
  refused("a.j", replaced(jones(), "\n2\n", "\n3\n"), {303, 304});
  refused("a.zmm", replaced(zmm(), "channels 4", "channels 3"), {318, 304});
}

TEST_F(BadSounding, Frequencies) {
  for (const char* bad : {"10 0 0.1", "10 -1 0.1", "10 1E32 0.1"}) {
    const data::Diagnostic d = refused("a.edi", edi("", bad), {305});
    EXPECT_EQ(d.place.line, 7u);
    EXPECT_EQ(d.place.column, 5u);
  }
  const data::Diagnostic d = refused("a.edi", edi("", "10 1 10"), {306});
  EXPECT_EQ(d.place.column, 7u);
  const Sounding s = accepted("a.edi", edi("", "1 10 0.1"), {334});
  EXPECT_EQ(s.frequency_hz, (std::vector<double>{10, 1, 0.1}));
  EXPECT_DOUBLE_EQ(s.impedance[0][0][1].real(), 10 * ohm_per_field_unit);  // went along
  refused("a.xml", replaced(xml(), "4.6", "0"), {305});
  refused("a.xml", replaced(xml(), "4.6", "-1"), {305});
  refused("a.j", replaced(jones(), "10.0 3E-4", "0 3E-4"), {305});
  refused("a.j", replaced(jones(), "10.0 3E-4", "1.0 3E-4"), {306});
  refused("a.zmm", replaced(zmm(), "1.5", "0"), {305});
}

TEST_F(BadSounding, VariancesMissingZeroNegativeEmpty) {
  for (const auto& [value, remark] :
       {std::pair{"0", 335}, {"-1", 342}, {"1E32", 336}, {"1E33", 336}}) {
    const Sounding s =
        accepted("a.edi", replaced(edi(), "1 1 1", std::string("1 ") + value + " 1"), {remark});
    EXPECT_TRUE(std::isnan(s.impedance_error[1][0][1]));
    EXPECT_DOUBLE_EQ(s.impedance_error[0][0][1], ohm_per_field_unit);
    EXPECT_FALSE(std::isnan(s.impedance[1][0][1].real()));
  }
  const Sounding none = accepted("a.edi", replaced(edi(), ">ZXY.VAR //3\n 1 1 1\n", ""), {341});
  EXPECT_TRUE(std::isnan(none.impedance_error[0][0][1]));
  const Sounding negative =
      accepted("a.zmm", replaced(zmm(), "Residual Covariance\n 1 0", "Residual Covariance\n -1 0"));
  EXPECT_TRUE(std::isnan(negative.impedance_error[0][0][0]));
}

// Channels that lie askew are turned with their errors: by the covariances where a period has them,
// by its variances elsewhere.
TEST_F(BadSounding, TurnedChannelsKeepTheErrorsOfPeriodsWithoutCovariances) {
  const auto block = [](const std::string& name, const std::string& out, const std::string& in,
                        const std::string& value) {
    std::string text = "<" + name + ">";
    for (const std::string o : {"x", "y"})
      for (const std::string i : {"x", "y"})
        text += "<value output=\"" + out + o + "\" input=\"" + in + i + "\">" + value + "</value>";
    return text + "</" + name + ">\n";
  };
  const auto file = [&](const std::string& variance) {
    return "<EM_TF>\n<SiteLayout><InputChannels><Magnetic name=\"Hx\" orientation=\"0\"/>"
           "<Magnetic name=\"Hy\" orientation=\"90\"/></InputChannels><OutputChannels>"
           "<Electric name=\"Ex\" orientation=\"10\"/><Electric name=\"Ey\" orientation=\"100\"/>"
           "</OutputChannels></SiteLayout>\n<Data>\n<Period value=\"1\">" +
           block("Z", "E", "H", "3 3") + block("Z.VAR", "E", "H", "1") +
           block("Z.INVSIGCOV", "H", "H", "1 0") + block("Z.RESIDCOV", "E", "E", "1 0") +
           "</Period>\n<Period value=\"10\">" + block("Z", "E", "H", "3 3") +
           block("Z.VAR", "E", "H", variance) + "</Period>\n</Data>\n</EM_TF>\n";
  };
  const double angle = 10 * std::numbers::pi / 180, c = std::cos(angle), s = std::sin(angle);
  const Sounding turned = accepted("a.xml", file("2"), {340});
  EXPECT_NEAR(turned.impedance_error[0][0][0] / ohm_per_field_unit, (c - s) / std::sqrt(2.0),
              1e-12);
  EXPECT_NEAR(turned.impedance_error[1][0][0] / ohm_per_field_unit, 1, 1e-12);
  // An error that is none stays none.
  for (const char* none : {"0", "-2"})
    EXPECT_TRUE(std::isnan(accepted("a.xml", file(none), {336}).impedance_error[1][0][0])) << none;
  const Sounding tipper =
      accepted("a.edi",
               replaced(edi(), ">END",
                        ">TROT //3\n 30 30 30\n>TXR.EXP //3\n .1 .1 .1\n>TXI.EXP //3\n .1 .1 .1\n"
                        ">TYR.EXP //3\n .2 .2 .2\n>TYI.EXP //3\n .2 .2 .2\n"
                        ">TXVAR.EXP //3\n -1 0 4\n>TYVAR.EXP //3\n 4 4 4\n>END"),
               {345});
  EXPECT_TRUE(std::isnan(tipper.tipper_error[0][0]) && std::isnan(tipper.tipper_error[1][1]));
  EXPECT_NEAR(tipper.tipper_error[2][0], 2, 1e-12);
}

TEST_F(BadSounding, EmptyValues) {
  const Sounding s =
      accepted("a.edi", replaced(edi(), "30 10 3\n>ZXYI", "30 1.0E32 3\n>ZXYI"), {337});
  EXPECT_TRUE(std::isnan(s.impedance[1][0][1].real()));
  const Sounding own = accepted("a.edi", replaced(replaced(edi(), "EMPTY=1.0E32", "EMPTY=-999"),
                                                  "30 10 3\n>ZXYI", "30 -999 3\n>ZXYI"));
  EXPECT_TRUE(std::isnan(own.impedance[1][0][1].real()));
  const Sounding x = accepted("a.xml", replaced(xml(), "-3 -3", "1.0E32 1.0E32"), {337});
  EXPECT_TRUE(std::isnan(x.impedance[0][1][0].real()));
}

/// The table of docs/reference/mt-files.md, row by row; the values of EMPTY, 1e32, 1e33, zero and
/// negative errors are above.
class MissingValues : public BadSounding {};

TEST_F(MissingValues, NaNInEmtfXmlIsMissingAndCountedWithItsLine) {
  const std::string two =
      replaced(replaced(xml(), "-3 -3", "NaN nan"), "</Z>\n",
               "</Z>\n<Z.VAR><value output=\"Ex\" input=\"Hy\">NaN</value><value output=\"Ey\" "
               "input=\"Hx\">1</value></Z.VAR>\n");
  const Sounding s = accepted("a.xml", two, {358, 337});
  EXPECT_TRUE(std::isnan(s.impedance[0][1][0].real()));
  EXPECT_FALSE(std::isnan(s.impedance[0][0][1].real()));
  EXPECT_TRUE(std::isnan(s.impedance_error[0][0][1]));
  EXPECT_FALSE(std::isnan(s.impedance_error[0][1][0]));
  for (const auto& d : s.findings)
    if (d.number == 358) {
      EXPECT_EQ(d.place.line, 9u);
      EXPECT_NE(d.message.find("3 values"), std::string::npos) << d.message;
    }
}

TEST_F(MissingValues, AnEdiNumberMayHaveAFortranExponent) {
  const Sounding s = accepted(
      "a.edi", replaced(replaced(edi("", "1.0D+1 1d0 1D-1"), "30 10 3\n>ZXYI", "3.0D1 10 3\n>ZXYI"),
                        "1 1 1", "4.0D-2 1 1"));
  EXPECT_EQ(s.frequency_hz, (std::vector<double>{10, 1, 0.1}));
  EXPECT_DOUBLE_EQ(s.impedance[0][0][1].real(), 30 * ohm_per_field_unit);
  EXPECT_DOUBLE_EQ(s.impedance_error[0][0][1], 0.2 * ohm_per_field_unit);
}

TEST_F(MissingValues, AnImpedanceOfZeroIsMissing) {
  std::string text = edi();
  for (const char* part :
       {"30 10 3\n>ZXYI", "30 10 3\n>ZYXR", "-30 -10 -3\n>ZYXI", "-30 -10 -3\n>ZYYR"}) {
    std::string zero = part;
    zero.replace(zero.find("10"), 2, "0");
    text = replaced(text, part, zero);
  }
  const Sounding s = accepted("a.edi", replaced(text, "-0 -3\n>ZYXI", "0 -3\n>ZYXI"), {359, 356});
  EXPECT_EQ(s.frequency_hz, (std::vector<double>{10, 0.1})) << "a row without values is left out";
  // One element of zero beside others is what it says.
  EXPECT_EQ(accepted("a.edi", edi()).impedance[0][0][0], Complex{});
}

TEST_F(MissingValues, AnOffDiagonalElementOfZeroIsMissing) {
  std::string text = edi();
  for (const char* part : {"30 10 3\n>ZXYI", "30 10 3\n>ZYXR"}) {
    std::string zero = part;
    zero.replace(zero.find("10"), 2, "0");
    text = replaced(text, part, zero);
  }
  for (const char* empty : {"1.0E32", "0", "0.0"}) {
    const bool stated = empty[0] == '0';
    const Sounding s =
        accepted("a.edi", replaced(text, "EMPTY=1.0E32", std::string("EMPTY=") + empty),
                 {stated ? 337 : 359});
    EXPECT_EQ(says(s, 359), !stated);
    ASSERT_EQ(s.size(), 3u);
    EXPECT_TRUE(std::isnan(s.impedance[1][0][1].real()));
    EXPECT_DOUBLE_EQ(s.impedance[1][1][0].real(), -10 * ohm_per_field_unit);
    EXPECT_EQ(std::isnan(s.impedance[0][0][0].real()), stated);
  }
  // One part of an element may be zero.
  const Sounding real = accepted("a.edi", replaced(replaced(edi(), "EMPTY=1.0E32", "EMPTY=0"),
                                                   "30 10 3\n>ZXYI", "30 0 3\n>ZXYI"));
  EXPECT_EQ(real.impedance[1][0][1], Complex(0, 10 * ohm_per_field_unit));
}

TEST_F(MissingValues, NaNInPlacesAndDirectionsOfEmtfXmlIsNotGiven) {
  const Sounding place = accepted("a.xml", replaced(xml(), "34.5", "NaN"), {358, 333});
  EXPECT_FALSE(place.latitude_deg);
  EXPECT_FALSE(accepted("a.xml", replaced(xml(), "-108", "nan"), {358, 333}).longitude_deg);
  const Sounding turned = accepted(
      "a.xml",
      replaced(xml(), "</Site>",
               "<Orientation angle_to_geographic_north=\"NaN\">orthogonal</Orientation></Site>"),
      {358, 344});
  EXPECT_EQ(turned.azimuth_deg.at(0), 0);
  const auto channels = [](const std::string& of_hx) {
    return replaced(xml(), "<Data",
                    "<SiteLayout><InputChannels><Magnetic name=\"Hx\" orientation=\"" + of_hx +
                        "\"/><Magnetic name=\"Hy\" orientation=\"100\"/></InputChannels>"
                        "<OutputChannels><Electric name=\"Ex\" orientation=\"10\"/><Electric "
                        "name=\"Ey\" orientation=\"100\"/></OutputChannels></SiteLayout>\n<Data");
  };
  EXPECT_NEAR(accepted("a.xml", channels("10")).azimuth_deg.at(0), 10, 1e-12);
  EXPECT_EQ(accepted("a.xml", channels("NaN"), {358, 344}).azimuth_deg.at(0), 0);
}

TEST_F(MissingValues, ATipperOfZeroThroughoutIsNotGivenInAnyFormat) {
  const std::string tipper =
      ">TXR.EXP //3\n 0 0 0\n>TXI.EXP //3\n 0 0 0\n>TYR.EXP //3\n 0 0 0\n>TYI.EXP //3\n 0 0 "
      "0\n>END";
  EXPECT_FALSE(accepted("a.edi", replaced(edi(), ">END", tipper), {347}).has_tipper());
  const std::string in_xml =
      "</Z>\n<T><value output=\"Hz\" input=\"Hx\">0 0</value><value output=\"Hz\" input=\"Hy\">0 "
      "0</value></T>\n";
  EXPECT_FALSE(accepted("a.xml", replaced(xml(), "</Z>\n", in_xml), {347}).has_tipper());
  EXPECT_FALSE(accepted("a.j", jones() + "TZX\n1\n 1.0 0 0 1E-4 1 1\n", {347}).has_tipper());
  EXPECT_TRUE(accepted("a.j", jones() + "TZX\n1\n 1.0 0.1 0 1E-4 1 1\n").has_tipper());
  // Where there is nothing else the file holds no sounding.
  refused("a.j", "#c\n>LATITUDE = 1\nS1\nTZX\n1\n 1.0 0 0 1E-4 1 1\n", {307});
}

TEST_F(MissingValues, TheFrequency999WithoutAnImpedanceIsAFiller) {
  std::string text = edi("", "10 999 0.1");
  for (const char* part :
       {"30 10 3\n>ZXYI", "30 10 3\n>ZYXR", "-30 -10 -3\n>ZYXI", "-30 -10 -3\n>ZYYR"}) {
    std::string empty = part;
    const bool minus = empty.starts_with("-");
    empty.replace(empty.find(minus ? "-10" : "10"), minus ? 3 : 2, "1E32");
    text = replaced(text, part, empty);
  }
  for (const char* name : {"ZXXR", "ZXXI", "ZYYR", "ZYYI"})
    text = replaced(text, std::string(">") + name + " //3\n 0 0 0",
                    std::string(">") + name + " //3\n 0 1E32 0");
  const std::string tipper = ">TXR.EXP //3\n .1 .1 .1\n>TXI.EXP //3\n 0 0 0\n>END";
  EXPECT_EQ(accepted("a.edi", replaced(text, ">END", tipper), {356}).frequency_hz,
            (std::vector<double>{10, 0.1}));
  // With an impedance it is a frequency like any other.
  EXPECT_EQ(accepted("a.edi", edi("", "999 10 0.1")).frequency_hz.front(), 999);
}

TEST_F(MissingValues, InJonesJItIsMinus999) {
  const Sounding s = accepted("a.j", replaced(jones(), "3E-4 3E-4 1E-5", "-999 -999 -999"), {356});
  EXPECT_EQ(s.frequency_hz, (std::vector<double>{1}));
  // In the header it is no place and no direction either.
  const Sounding nowhere =
      accepted("a.j",
               replaced(replaced(jones(), "LATITUDE = -28.4", "LATITUDE = -999.0"), "S 1\n",
                        ">ELEVATION = -999\n>AZIMUTH = -999.\nS 1\n"),
               {333});
  EXPECT_FALSE(nowhere.latitude_deg || nowhere.elevation_m);
  EXPECT_EQ(nowhere.azimuth_deg.at(0), 0);
}

TEST_F(MissingValues, InJonesJAnEstimateOfNegativeWeightIsRejected) {
  const auto with = [&](const std::string& weight) {
    return accepted("a.j", "# R\nS\nRXY\n2\n 1 100 45 110 90 46 44 1 1\n 10 100 45 110 90 46 44 " +
                               weight +
                               " 1\nRYX\n2\n 1 100 -135 110 90 -134 -136 1 1\n"
                               " 10 100 -135 110 90 -134 -136 1 1\n");
  };
  const Sounding rejected = with("-1.00");
  EXPECT_FALSE(std::isnan(rejected.impedance[0][0][1].real()));
  EXPECT_TRUE(std::isnan(rejected.impedance[1][0][1].real()));
  EXPECT_FALSE(std::isnan(rejected.impedance[1][1][0].real()));
  for (const char* weight : {"1", "0", "-999", "****"})
    EXPECT_FALSE(std::isnan(with(weight).impedance[1][0][1].real())) << weight;
  EXPECT_EQ(
      accepted("a.j", replaced(jones(), "3E-4 3E-4 1E-5 1 1", "3E-4 3E-4 1E-5 -1 1"), {356}).size(),
      1u);
}

TEST_F(MissingValues, ARotationThatIsMissingIsTheDirectionOfHx) {
  const auto azimuths = [&](const std::string& before, std::vector<int> remarks = {}) {
    return accepted("a.edi", replaced(edi(), ">FREQ", before + ">FREQ"), remarks).azimuth_deg;
  };
  const std::string coil = ">HMEAS ID=1 CHTYPE=HX X=0 Y=0 AZM=30\n";
  EXPECT_EQ(azimuths(coil + ">ZROT //3\n 1E32 1E32 1E32\n"), (std::vector<double>{30, 30, 30}));
  EXPECT_EQ(azimuths(coil + ">ZROT //3\n 10 1E32 10\n"), (std::vector<double>{10, 30, 10}));
  EXPECT_EQ(azimuths(">ZROT //3\n 1E32 1E32 1E32\n", {344}), (std::vector<double>{0, 0, 0}));
}

TEST_F(MissingValues, ChannelsThatAreSkewWithoutARotationAreDoubted) {
  const auto told = [&](const std::string& hy, const std::string& ex, const std::string& zrot,
                        std::vector<int> remarks) {
    accepted("a.edi",
             replaced(edi(), ">FREQ",
                      ">HMEAS ID=1 CHTYPE=HX X=0 Y=0 AZM=30\n>HMEAS ID=2 CHTYPE=HY X=0 Y=0 AZM=" +
                          hy + "\n>EMEAS ID=3 CHTYPE=EX X=0 Y=0 " + ex + "\n" + zrot + ">FREQ"),
             remarks);
  };
  const std::string along = "X2=86.6 Y2=50", against = "X2=-86.6 Y2=-50", north = "X2=100 Y2=0";
  told("120", along, "", {});
  told("-60", against, "", {});  // a channel may point either way
  told("124", along, "", {});
  told("120", north, "", {340});
  told("100", along, "", {340});
  told("30", along, "", {});  // of a program that does not know
  told("120", north, ">ZROT //3\n 10 10 10\n", {});
}

TEST_F(BadSounding, UnitsTakenForOthersAreSaidAndNotMended) {
  const std::string in_ohm = replaced(replaced(edi(), "30 10 3\n>ZXYI", "0.03 0.01 0.003\n>ZXYI"),
                                      "30 10 3\n>ZYXR", "0.03 0.01 0.003\n>ZYXR");
  const std::string both = replaced(replaced(in_ohm, "-30 -10 -3", "-0.03 -0.01 -0.003"),
                                    "-30 -10 -3", "-0.03 -0.01 -0.003");
  const Sounding s = accepted("a.edi", both, {331});
  EXPECT_DOUBLE_EQ(s.impedance[0][0][1].real(), 0.03 * ohm_per_field_unit);
  const Sounding told = parse_sounding(both, "a.edi", {.units = ImpedanceUnits::ohm});
  EXPECT_DOUBLE_EQ(told.impedance[0][0][1].real(), 0.03);
  // Apparent resistivities are in ohm m, whatever the units of impedances.
  const Sounding rho = accepted(
      "a.edi", ">HEAD\n DATAID=A\n>FREQ //1\n 10\n>RHOXY //1\n 1e8\n>PHSXY //1\n 45\n>END\n",
      {331});
  for (const data::Diagnostic& d : rho.findings)
    if (d.number == 331) {
      EXPECT_TRUE(d.hint.empty()) << d.hint;
    }
  refused("a.xml", replaced(xml(), "[mV/km]/[nT]", "furlongs"), {316});
  const Sounding si = accepted("a.xml", replaced(xml(), "[mV/km]/[nT]", "[V/m]/[T]"));
  EXPECT_DOUBLE_EQ(si.impedance[0][0][1].real(), 3e-3 * ohm_per_field_unit);
  refused("a.j", replaced(jones(), "ZYX S.I.", "ZYX FIELD"), {316});
}

TEST_F(BadSounding, SignAbsentStatedAndNotUnderstood) {
  const std::string conjugate = replaced(replaced(edi(), "30 10 3\n>ZYXR", "-30 -10 -3\n>ZYXR"),
                                         "-30 -10 -3\n>ZYYR", "30 10 3\n>ZYYR");
  const Sounding absent = accepted("a.edi", conjugate, {330});
  EXPECT_LT(absent.impedance[0][0][1].imag(), 0);  // the format's default holds
  EXPECT_FALSE(absent.sign_stated);
  EXPECT_GT(parse_sounding(conjugate, "a.edi", {.sign = TimeSign::minus}).impedance[0][0][1].imag(),
            0);
  const std::string stated =
      replaced(conjugate, ">=MTSECT", ">INFO\n x.sign_convention = -\n>=MTSECT");
  EXPECT_GT(accepted("a.edi", stated).impedance[0][0][1].imag(), 0);
  const std::string in_one_word =
      replaced(conjugate, ">=MTSECT", ">INFO\n SIGNCONVENTION=exp(-i \\omega t)\n>=MTSECT");
  EXPECT_GT(accepted("a.edi", in_one_word).impedance[0][0][1].imag(), 0);
  accepted("a.xml", replaced(xml(), "exp(+ i\\omega t)", "positive"), {317});
  EXPECT_LT(accepted("a.xml", replaced(xml(), "exp(+ i\\omega t)", "exp(- i\\omega t)"))
                .impedance[0][0][1]
                .imag(),
            0);
}

TEST_F(BadSounding, NamesWithBlanks) {
  EXPECT_EQ(accepted("a.edi", edi()).station, "S 1");
  EXPECT_EQ(accepted("a.edi", replaced(edi(), "\"S 1\"", "my own  site")).station, "my own  site");
  EXPECT_EQ(accepted("a.edi", replaced(edi(), " DATAID=\"S 1\"\n", ""), {354}).station, "a");
  EXPECT_EQ(accepted("a.xml", xml()).station, "X 1");
  EXPECT_EQ(accepted("a.j", jones()).station, "S 1");
  // In Jones J the azimuth may stand behind the name, and both before each block.
  const auto azimuth = [&](const char* header) {
    return replaced(replaced(jones(), "S 1\n", std::string(header) + "kb0001  -30\n"), "ZYX S.I.",
                    "kb0001  -30\nZYX S.I.");
  };
  EXPECT_EQ(accepted("a.j", azimuth(">AZIMUTH = -30.0\n")).station, "kb0001");
  EXPECT_EQ(accepted("a.j", azimuth(">AZIMUTH = -30.0\n")).azimuth_deg.at(0), -30);
  EXPECT_EQ(accepted("a.j", azimuth("")).station, "kb0001  -30");
  EXPECT_EQ(accepted("a.zmm", replaced(zmm(), "\n300\n", "\nstation : N 30\n")).station, "N 30");
}

TEST_F(BadSounding, Positions) {
  const auto at = [&](const char* lat) { return edi(std::string(" LAT=") + lat + "\n LONG=10\n"); };
  EXPECT_NEAR(*accepted("a.edi", at("-30:30:36")).latitude_deg, -30.51, 1e-12);
  EXPECT_NEAR(*accepted("a.edi", at("-0:30:00")).latitude_deg, -0.5, 1e-12);
  EXPECT_NEAR(*accepted("a.edi", at("30:30.6")).latitude_deg, 30.51, 1e-12);
  EXPECT_NEAR(*accepted("a.edi", at("30.51 S")).latitude_deg, -30.51, 1e-12);
  for (const char* bad : {"30:75:00", "30:10:61", "91", "-90.5", "30:-5:0", "1:2:3:4", "north",
                          "nan", "30,5", ":", "1e400"})
    refused("a.edi", at(bad), {310});
  EXPECT_NEAR(*accepted("a.edi", at("S30.51")).latitude_deg, -30.51, 1e-12);
  refused("a.xml", replaced(xml(), "34.5", "134.5"), {310});
  refused("a.j", replaced(jones(), "24:05:43", "24:65:43"), {310});
  refused("a.zmm", replaced(zmm(), "34.7", "x"), {310});
  accepted("a.edi", edi(" LAT=\n LONG=\n"), {333});
  accepted("a.edi", edi(" LAT=1.0E+32\n LONG=0.1000000E+33\n"), {333});  // EMPTY
  accepted("a.edi", edi(" LAT=0\n LONG=0\n"), {333});
  accepted("a.edi",
           replaced(edi(), ">=MTSECT", ">=DEFINEMEAS\n REFLAT=-30:30:00\n REFLONG=117.5\n>=MTSECT"),
           {332});
  EXPECT_NEAR(*accepted("a.zmm", replaced(zmm(), "-115.7", "244.3")).longitude_deg, -115.7, 1e-12);
}

// The SEG standard has UNITS of the header for ELEV and those of DEFINEMEAS for REFELEV: M, or FT
// of 0.3048 m.
TEST_F(BadSounding, ElevationsInFeet) {
  EXPECT_NEAR(*accepted("a.edi", edi(" ELEV=1000\n")).elevation_m, 1000, 1e-9);
  EXPECT_NEAR(*accepted("a.edi", edi(" ELEV=1000\n UNITS=M\n")).elevation_m, 1000, 1e-9);
  EXPECT_NEAR(*accepted("a.edi", edi(" ELEV=1000\n UNITS=ft\n")).elevation_m, 304.8, 1e-9);
  EXPECT_NEAR(*accepted("a.edi", replaced(edi(), ">=MTSECT",
                                          ">=DEFINEMEAS\n UNITS=FT\n REFELEV=100\n>=MTSECT"))
                   .elevation_m,
              30.48, 1e-9);
  const auto high = [&](const char* attributes) {
    return *accepted("a.xml", replaced(xml(), "</Location>",
                                       std::string("<Elevation") + attributes +
                                           ">1000</Elevation></Location>"))
                .elevation_m;
  };
  EXPECT_NEAR(high(""), 1000, 1e-9);
  EXPECT_NEAR(high(" units=\"meters\""), 1000, 1e-9);
  EXPECT_NEAR(high(" units=\"feet\""), 304.8, 1e-9);
}

// Modes, averages and other functions than the impedance are blocks of the format, too.
TEST_F(BadSounding, BlocksOfJonesJThatAreNoElementsArePassedOver) {
  const std::string mode = "RTE\n1\n 1.0 100 45 110 90 46 44 1 1\n",
                    schmucker = "CXY\n1\n 2.0 1 -1 0.1 1\n";
  const Sounding s = accepted("a.j", jones() + mode + schmucker, {346});
  EXPECT_EQ(s.frequency_hz, accepted("a.j", jones()).frequency_hz);
  EXPECT_TRUE(s.resistivity.empty());
  EXPECT_TRUE(refused("a.j", "# R\nS\n" + mode, {307}).message.ends_with(" RTE"));
  // Nor are estimates that are biased upwards: S of R, Q of Z.
  const std::string upwards = "SXY\n1\n 1.0 100 45 110 90 46 44 1 1\n";
  EXPECT_TRUE(accepted("a.j", jones() + upwards, {346}).resistivity.empty());
  EXPECT_TRUE(refused("a.j", "# R\nS\n" + upwards, {307}).message.ends_with(" SXY"));
  refused("a.j", jones() + "RTX\n1\n 1.0 100 45 110 90 46 44 1 1\n", {302});
}

// Re(-Zyx) is positive under either time sign, so phases about zero are those of -Zyx.
TEST_F(BadSounding, PhasesOfMinusZyxUnderEitherTimeSign) {
  for (const int sign : {1, -1}) {
    const std::string
        xy = std::to_string(sign * 45),
        yx = std::to_string(sign * 60),
        file = ">HEAD\n DATAID=A\n>FREQ //2\n 10 1\n>RHOXY //2\n 100 100\n>PHSXY //2\n " + xy +
               " " + xy + "\n>RHOYX //2\n 100 100\n>PHSYX //2\n " + yx + " " + yx + "\n>END\n";
    const Sounding s =
        parse_sounding(file, "a.edi", {.sign = sign > 0 ? TimeSign::plus : TimeSign::minus});
    EXPECT_TRUE(says(s, 348));
    EXPECT_NEAR(std::arg(s.impedance[0][0][1]), 45 * std::numbers::pi / 180, 1e-12) << sign;
    EXPECT_NEAR(std::arg(-s.impedance[0][1][0]), 60 * std::numbers::pi / 180, 1e-12) << sign;
  }
  const std::string j = "# R\nS\nRYX\n1\n 1.0 100 60 110 90 61 59 1 1\n";
  accepted("a.j", j, {348, 349});
}

// Impedances from apparent resistivities stand in the axes of these, whatever those of a tipper.
TEST_F(BadSounding, ApparentResistivitiesHaveAxesOfTheirOwn) {
  const Sounding s =
      accepted("a.edi",
               ">HEAD\n DATAID=A\n>FREQ //2\n 10 1\n>RHOROT //2\n 30 30\n>RHOXY //2\n 100 100\n"
               ">PHSXY //2\n 45 45\n>TROT //2\n 0 0\n>TXR.EXP //2\n .1 .1\n>TXI.EXP //2\n 0 0\n"
               ">TYR.EXP //2\n 0 0\n>TYI.EXP //2\n 0 0\n>END\n",
               {345, 349});
  EXPECT_EQ(s.azimuth_deg, (std::vector<double>{30, 30}));
  EXPECT_NEAR(s.tipper[0][0].real(), 0.1 * std::cos(std::numbers::pi / 6), 1e-15);
  EXPECT_NEAR(s.tipper[0][1].real(), -0.05, 1e-15);
}

TEST_F(BadSounding, BlocksMissingHalvedOrTwice) {
  refused("a.edi", replaced(edi(), ">ZXYI", ">ZQYI"), {307});
  refused("a.edi", replaced(edi(), ">FREQ", ">FROQ"), {307});
  refused("a.edi", replaced(edi(), ">ZYYR", ">ZXXR"), {311});
  refused("a.edi", "rubbish\n" + edi(), {302});
  refused("a.xml", replaced(xml(), "<Z units", "<Q units"), {312});
  refused("a.xml", replaced(xml(), "output=\"Ex\"", "output=\"Qx\""), {315});
  refused("a.xml", replaced(xml(), "3 3<", "3<"), {315});
  refused("a.j", replaced(jones(), "ZYX S.I.", "ZXY S.I."), {311});
  refused("a.zmm", replaced(zmm(), "Transfer Functions", "Functions"), {304});
  refused("a.zmm", replaced(zmm(), "300 Ex", "300 Ey"), {318});
  refused("a.zmm", replaced(zmm(), "2 90.00", "2 1.00"), {318});
}

TEST_F(BadSounding, SpectraThatCannotBe) {
  const std::string good =
      ">HEAD\n DATAID=P\n>=SPECTRASECT\n NCHAN=4\n NFREQ=1\n // 4\n 1 2 3 4\n"
      ">SPECTRA FREQ=1 ROTSPEC=0 AVGT=100 //16\n 2 0 0 9\n 0 2 -9 0\n 0 -9 99 0\n 9 0 0 99\n>END\n";
  const Sounding s =
      accepted("a.edi", good, {311, 352});  // no channels are defined: the usual order
  EXPECT_TRUE(s.has_impedance());
  for (const char* n : {"3", "5", "0", "65", "-1"})
    refused("a.edi", replaced(good, "NCHAN=4", std::string("NCHAN=") + n), {304, 309, 311});
  refused("a.edi", replaced(good, "//16", "//17"), {304});
  refused("a.edi", replaced(good, "A FREQ=1", "A FREK=1"), {311});
  refused("a.edi", replaced(good, ">=SPECTRASECT", ">=OTHERSECT"), {307});
  accepted("a.edi", replaced(good, "AVGT=100", "AVGT=0"), {350, 336});
  EXPECT_EQ(accepted("a.edi", replaced(good, "ROTSPEC=0", "ROTSPEC=1.0E32")).azimuth_deg.at(0), 0);
  const Sounding flat = accepted(
      "a.edi", replaced(replaced(good, " 2 0 0 9", " 0 0 0 9"), " 0 2 -9 0", " 0 0 -9 0"), {351});
  EXPECT_TRUE(std::isnan(flat.impedance[0][0][1].real()));
}

// ---- XML ----

TEST_F(BadSounding, XmlEntitiesAndDocumentTypes) {
  std::string bomb = "<?xml version=\"1.0\"?>\n<!DOCTYPE lolz [\n <!ENTITY lol \"lol\">\n";
  for (int i = 1; i < 10; ++i)
    bomb += " <!ENTITY lol" + std::to_string(i) +
            " \"&lol;&lol;&lol;&lol;&lol;&lol;&lol;&lol;&lol;&lol;\">\n";
  bomb += "]>\n<EM_TF>&lol9;</EM_TF>\n";
  EXPECT_EQ(refused("a.xml", bomb, {313}).place.line, 2u);
  refused("a.xml", "<!DOCTYPE EM_TF SYSTEM \"file:///etc/passwd\">\n" + xml(), {313});
  const Sounding s = accepted("a.xml", replaced(xml(), "X 1", "&#65;&amp;&unknown;"));
  EXPECT_EQ(s.station, "A&&unknown;");
}

TEST_F(BadSounding, XmlDepthAndSize) {
  std::string deep;
  for (int i = 0; i < 100000; ++i) deep += "<a>";
  refused("a.xml", deep, {314});
  std::string wide = "<EM_TF>\n";
  for (int i = 0; i < 600000; ++i) wide += i % 1000 ? "<a/>" : "<a/>\n";
  refused("a.xml", wide + "</EM_TF>", {314});
}

TEST_F(BadSounding, MoreItemsThanAnybodyHas) {
  std::string blocks = ">HEAD\n", values;
  for (int i = 0; i < 100001; ++i) {
    blocks += ">A\n";
    values += i % 20 ? " 1" : "\n1";
  }
  refused("a.edi", blocks, {309});
  refused("a.edi", edi("", values), {304, 309});
  refused("a.xml", replaced(xml(), "-3 -3", "-3 -3 " + values), {315});
  std::string large;
  while (large.size() <= std::size_t{8} << 20) large += std::string(1023, 'x') + "\n";
  refused("big.edi", large, {103});
}

TEST_F(BadSounding, XmlThatIsNotWellFormed) {
  for (const char* bad :
       {"<", "<EM_TF", "<EM_TF>", "<EM_TF></EM>", "<EM_TF a=1/>", "<EM_TF><!-- </EM_TF>",
        "<EM_TF><![CDATA[ </EM_TF>", "<?xml", "<a b='></a>"})
    refused("a.xml", bad, {312, 315});
}

TEST_F(BadSounding, LongInputsTakeLinearTime) {
  // 4 MiB each; a quadratic scan would take minutes.
  const std::size_t n = std::size_t{4} << 20;
  std::string words = ">HEAD\n", opens = ">HEAD\n", equals = ">HEAD\n", quotes = ">HEAD\n";
  while (words.size() < n) words += "a b c d e f g h\n";
  while (opens.size() < n) opens += ">A\n>B //\n";
  while (equals.size() < n) equals += std::string(1000, ' ') + "a" + std::string(1000, ' ') + "=\n";
  while (quotes.size() < n) quotes += "a=\"b=\"c\n";
  for (const std::string& text : {words, opens, equals, quotes})
    refused("a.edi", text, {307, 302, 309, 304});
  std::string comments = "<EM_TF>";
  while (comments.size() < n) comments += "<!-- -->\n";
  refused("a.xml", comments, {312});
  std::string rows = jones();
  while (rows.size() < n) rows += "#\n";
  EXPECT_EQ(accepted("a.j", rows).size(), 2u);
}

}  // namespace
