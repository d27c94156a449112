// SPDX-License-Identifier: Apache-2.0
#include "tessera/data/text_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <filesystem>
#include <fstream>

using namespace tessera::data;
namespace fs = std::filesystem;

namespace {

int number_of(const std::string& bytes, TextLimits limits = {}) {
  try {
    make_text_file("mem", bytes, limits);
  } catch (const InputError& e) {
    return e.findings().at(0).number;
  }
  return 0;
}

class TextFileOnDisk : public testing::Test {
 protected:
  void SetUp() override {
    dir_ = fs::temp_directory_path() / ("tessera_text_" + std::to_string(::getpid()));
    fs::create_directories(dir_);
  }
  void TearDown() override { fs::remove_all(dir_); }
  int read_error(const fs::path& path, TextLimits limits = {}) {
    try {
      read_text_file(path, limits);
    } catch (const InputError& e) {
      return e.findings().at(0).number;
    }
    return 0;
  }
  fs::path dir_;
};

std::string gzipped(const std::string& text) {
  z_stream z{};
  deflateInit2(&z, 9, Z_DEFLATED, 16 + MAX_WBITS, 9, Z_DEFAULT_STRATEGY);
  std::string out(deflateBound(&z, text.size()) + 64, '\0');
  z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  z.avail_in = static_cast<uInt>(text.size());
  z.next_out = reinterpret_cast<Bytef*>(out.data());
  z.avail_out = static_cast<uInt>(out.size());
  deflate(&z, Z_FINISH);
  out.resize(z.total_out);
  deflateEnd(&z);
  return out;
}

TEST_F(TextFileOnDisk, GzipIsUnpacked) {
  const auto write = [&](const std::string& bytes) {
    std::ofstream(dir_ / "a.gz", std::ios::binary) << bytes;
  };
  const auto number = [&](TextLimits limits = {}) {
    try {
      read_text_file(dir_ / "a.gz", limits);
    } catch (const InputError& e) {
      return e.findings().at(0).number;
    }
    return 0;
  };
  std::string text;
  for (int i = 0; i < 20000; ++i) text += "line " + std::to_string(i) + "\n";
  const std::string packed = gzipped(text);
  write(packed);
  EXPECT_EQ(read_text_file(dir_ / "a.gz").text, text);
  EXPECT_EQ(number({.max_bytes = text.size() - 1}), 103) << "the limit is one of what comes out";
  write(packed + gzipped("more\n"));
  EXPECT_EQ(read_text_file(dir_ / "a.gz").text, text + "more\n");
  const std::string nothing = gzipped("");
  std::string many;  // two megabytes of empty ones: the work must go with their bytes, not with the
                     // square of them
  for (int k = 0; k < 100000; ++k) many += nothing;
  write(many + packed);
  EXPECT_EQ(read_text_file(dir_ / "a.gz").text, text);
  for (const std::size_t cut : {std::size_t{3}, packed.size() / 2, packed.size() - 1}) {
    write(packed.substr(0, cut));
    EXPECT_EQ(number(), 109) << cut;
  }
  std::string wrong = packed;
  wrong[packed.size() / 2] = static_cast<char>(wrong[packed.size() / 2] ^ 0x55);
  write(wrong);
  EXPECT_EQ(number(), 109);
}

}  // namespace

TEST(TextFile, UnifiesLineEndsAndKeepsLinesAndPlaces) {
  const TextFile f = make_text_file("mem", "\xef\xbb\xbfone\r\ntwo\rthree\n\nfive\x1a");
  EXPECT_EQ(f.text, "one\ntwo\nthree\n\nfive");
  ASSERT_EQ(f.n_lines(), 5u);
  EXPECT_EQ(f.line(1), "one");
  EXPECT_EQ(f.line(3), "three");
  EXPECT_EQ(f.line(4), "");
  EXPECT_EQ(f.line(5), "five");
  EXPECT_EQ(f.line(6), "");
  EXPECT_EQ(f.line(0), "");
  const Place p = f.place(f.text.find("three") + 2);
  EXPECT_EQ(p.line, 3u);
  EXPECT_EQ(p.column, 3u);
  EXPECT_EQ(f.place(10000).line, 5u);
  EXPECT_EQ(f.place(10000).column, 5u);
}

TEST(TextFile, PlacesAgreeWithANaiveCount) {
  const TextFile f = make_text_file("mem", "ab\n\nc\rdef\r\n\r\nx");
  std::size_t line = 1, column = 1;
  for (std::size_t i = 0; i < f.text.size(); ++i) {
    EXPECT_EQ(f.place(i).line, line);
    EXPECT_EQ(f.place(i).column, column);
    if (f.text[i] == '\n') {
      ++line;
      column = 1;
    } else {
      ++column;
    }
  }
}

TEST(TextFile, RejectsWhatIsNotText) {
  EXPECT_EQ(number_of(""), 107);
  EXPECT_EQ(number_of(" \n\t\r\n"), 107);
  EXPECT_EQ(number_of("\xef\xbb\xbf"), 107);
  EXPECT_EQ(number_of(std::string("\xff\xfe"
                                  "a\0b\0",
                                  6)),
            104);
  EXPECT_EQ(number_of(std::string("\xfe\xff\0a\0b", 6)), 104);
  EXPECT_EQ(number_of(std::string("a\0b\0c\0", 6)), 104);
  EXPECT_EQ(number_of(std::string("abc\0def", 7)), 105);
  EXPECT_EQ(number_of("abc\x01"), 105);
  EXPECT_EQ(number_of("\x7f"
                      "ELF"),
            105);
  EXPECT_EQ(number_of("x", {.max_bytes = 1}), 0);
  EXPECT_EQ(number_of("xy", {.max_bytes = 1}), 103);
  EXPECT_EQ(number_of("ok\n12345\n", {.max_line_bytes = 4}), 108);
  EXPECT_EQ(number_of("ok\n1234\n", {.max_line_bytes = 4}), 0);
}

TEST(TextFile, NamesTheByteThatIsWrong) {
  try {
    make_text_file("mem", std::string("one\ntw\0o", 8));
    FAIL();
  } catch (const InputError& e) {
    EXPECT_EQ(e.findings()[0].place.line, 2u);
    EXPECT_EQ(e.findings()[0].place.column, 3u);
    EXPECT_EQ(e.code(), ExitCode::input_invalid);
  }
}

TEST(TextFile, ReadsLatin1OnlyWhereAllowed) {
  const TextFile f = make_text_file("mem", "50\xb0 N\nnext");
  EXPECT_EQ(f.text, "50\xc2\xb0 N\nnext");
  EXPECT_EQ(f.line(2), "next");
  for (const char* bad :
       {"\xc0\xaf", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xe2\x82", "\x80", "\xf8\x88\x80\x80\x80"})
    EXPECT_EQ(number_of(std::string("a") + bad, {.encoding = Encoding::utf8}), 106) << bad;
  for (const char* good :
       {"\xc2\x80", "\xe2\x82\xac", "\xf0\x9f\x99\x82", "\xf4\x8f\xbf\xbf", "\xed\x9f\xbf"})
    EXPECT_EQ(number_of(std::string("a") + good, {.encoding = Encoding::utf8}), 0) << good;
}

TEST_F(TextFileOnDisk, RefusesEverythingButARegularFileOfAllowedSize) {
  EXPECT_EQ(read_error(dir_ / "absent"), 101);
  EXPECT_EQ(read_error(dir_), 102);
  EXPECT_EQ(read_error("/dev/zero"), 102);
  ASSERT_EQ(::mkfifo((dir_ / "fifo").c_str(), 0600), 0);
  EXPECT_EQ(read_error(dir_ / "fifo"), 102);
  fs::create_symlink("loop_b", dir_ / "loop_a");
  fs::create_symlink("loop_a", dir_ / "loop_b");
  EXPECT_EQ(read_error(dir_ / "loop_a"), 101);
  { std::ofstream(dir_ / "huge") << "x"; }
  fs::resize_file(dir_ / "huge", std::uintmax_t{1} << 30);
  EXPECT_EQ(read_error(dir_ / "huge"), 103);
  { std::ofstream(dir_ / "secret") << "x"; }
  fs::permissions(dir_ / "secret", fs::perms::none);
  if (::geteuid() == 0) GTEST_SKIP() << "root reads unreadable files";
  EXPECT_EQ(read_error(dir_ / "secret"), 101);
}

TEST_F(TextFileOnDisk, ReadsAFileWhoseSizeIsNotDeclared) {
  if (!fs::exists("/proc/self/status")) GTEST_SKIP() << "no /proc here";
  EXPECT_NE(read_text_file("/proc/self/status").text.find("Name:"), std::string::npos);
}
