// SPDX-License-Identifier: Apache-2.0
#include "tessera/autodiff/npy_format.h"

#include "tessera/autodiff/error.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <complex>
#include <cstring>
#include <random>

namespace tessera {
namespace {

std::span<const std::byte> bytes_of(const std::string& s) {
  return std::as_bytes(std::span(s.data(), s.size()));
}

NpyHeader parse(const std::string& file) {
  return parse_npy_header(bytes_of(file), file.size(), "a.npy");
}

std::string message(const std::string& file) {
  try {
    parse(file);
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

/// A file with the given dictionary and so many bytes of data.
std::string made(const std::string& dictionary, std::size_t n_data, int version = 1) {
  std::string out = std::string("\x93NUMPY") + static_cast<char>(version) + '\0';
  for (int i = 0; i < (version == 1 ? 2 : 4); ++i)
    out += static_cast<char>(dictionary.size() >> (8 * i) & 255);
  return out + dictionary + std::string(n_data, '\7');
}

// Files as NumPy 2.4.6 wrote them.
const std::string kMatrix = std::string("\x93NUMPY\x01\x00v\x00", 10) +
                            "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3), }" +
                            std::string(58, ' ') + "\n" +
                            std::string(
                                "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\360?\0\0\0\0\0\0\0@\0\0\0\0\0\0\010@"
                                "\0\0\0\0\0\0\020@\0\0\0\0\0\0\024@",
                                48);
const std::string kComplexBig =
    std::string("\x93NUMPY\x02\x00t\x00\x00\x00", 12) +
    "{'descr': '>c16', 'fortran_order': True, 'shape': (2, 2), }" + std::string(56, ' ') + "\n" +
    std::string(
        "\0\0\0\0\0\0\0\0?\360\0\0\0\0\0\0@\0\0\0\0\0\0\0?\360\0\0\0\0\0\0?\360\0\0\0\0\0\0?"
        "\360\0\0\0\0\0\0@\010\0\0\0\0\0\0?\360\0\0\0\0\0\0",
        64);
const std::string kScalar = std::string("\x93NUMPY\x03\x00t\x00\x00\x00", 12) +
                            "{'descr': '<i4', 'fortran_order': False, 'shape': (), }" +
                            std::string(60, ' ') + "\n\371\377\377\377";
const std::string kNone = std::string("\x93NUMPY\x01\x00v\x00", 10) +
                          "{'descr': '>f4', 'fortran_order': False, 'shape': (0, 5), }" +
                          std::string(58, ' ') + "\n";
const std::string kFlags = std::string("\x93NUMPY\x01\x00v\x00", 10) +
                           "{'descr': '|b1', 'fortran_order': False, 'shape': (3,), }" +
                           std::string(60, ' ') + "\n" + std::string("\1\0\1", 3);

TEST(NpyFormat, ReadsWhatNumpyWrites) {
  const NpyHeader matrix = parse(kMatrix);
  EXPECT_EQ(matrix.dtype, "<f8");
  EXPECT_EQ(matrix.shape, (std::vector<std::size_t>{2, 3}));
  EXPECT_FALSE(matrix.fortran_order);
  EXPECT_EQ(matrix.data_offset, 128u);
  EXPECT_EQ(matrix.data_size(), 48u);
  std::vector<double> values(6);
  std::memcpy(values.data(), kMatrix.data() + matrix.data_offset, 48);
  EXPECT_EQ(values, (std::vector<double>{0, 1, 2, 3, 4, 5}));

  const NpyHeader scalar = parse(kScalar);
  EXPECT_TRUE(scalar.shape.empty());
  EXPECT_EQ(scalar.element_count(), 1u);
  EXPECT_EQ(scalar.item_size(), 4u);
  EXPECT_EQ(parse(kNone).data_size(), 0u);
  EXPECT_EQ(parse(kFlags).dtype, "|b1");
}

TEST(NpyFormat, TextsAndTimesAreToldToWhoAsks) {
  const auto header = [](const std::string& dtype, std::size_t n_data) {
    const std::string file =
        made("{'descr': '" + dtype + "', 'fortran_order': False, 'shape': (3,), }\n", n_data);
    EXPECT_NE(message(file), "");
    return parse_npy_header(bytes_of(file), file.size(), "a.npy", NpyTypes::plain);
  };
  EXPECT_EQ(header("<U5", 60).item_size(), 20u);  // UTF-32
  EXPECT_EQ(header("|S7", 21).item_size(), 7u);
  EXPECT_EQ(header("<U0", 0).item_size(), 0u);
  EXPECT_EQ(header("|V16", 48).item_size(), 16u);
  EXPECT_EQ(header("<M8[ns]", 24).item_size(), 8u);
  EXPECT_EQ(header(">m8", 24).data_size(), 24u);
  for (const char* dtype : {"|O", "|O8", "<U", "<U1234567890", "<U5[ns]", "<M8[ns", "x5", "U5"})
    EXPECT_THROW(header(dtype, 24), NpyError) << dtype;
}

TEST(NpyFormat, ErrorsHaveTheirPlace) {
  try {
    parse(made("{'descr': '<f8', 'fortran_order': 0, 'shape': (), }\n", 8));
    FAIL();
  } catch (const NpyError& e) {
    EXPECT_EQ(e.byte, 10u + 34);
    EXPECT_EQ(e.why, "expected True or False, got '0'");
    EXPECT_STREQ(e.what(), "a.npy: byte 44: [npy] expected True or False, got '0'");
  }
}

TEST(NpyFormat, SwapsForeignByteOrder) {
  const NpyHeader h = parse(kComplexBig);
  EXPECT_TRUE(h.fortran_order);
  EXPECT_TRUE(h.big_endian());
  std::string data = kComplexBig.substr(h.data_offset);
  swap_to_native(h, std::as_writable_bytes(std::span(data.data(), data.size())));
  std::vector<std::complex<double>> values(4);
  std::memcpy(values.data(), data.data(), 64);
  // (arange(4) + i).reshape(2, 2), first index fastest
  EXPECT_EQ(values, (std::vector<std::complex<double>>{{0, 1}, {2, 1}, {1, 1}, {3, 1}}));
  std::string odd(15, '\0');
  EXPECT_THROW(swap_to_native(h, std::as_writable_bytes(std::span(odd.data(), odd.size()))), Error);
}

TEST(NpyFormat, WritesTheBytesOfNumpy) {
  for (const std::string* file : {&kMatrix, &kComplexBig, &kScalar, &kNone, &kFlags}) {
    const NpyHeader h = parse(*file);
    EXPECT_EQ(npy_header_bytes(h, (*file)[6]), file->substr(0, h.data_offset));
  }
}

TEST(NpyFormat, RoundTripOverAllKindsAndRanks) {
  for (const char* dtype : {"|b1", "|i1", "|u1", "<i2", "<i4", "<i8", "<u2", "<u4", "<u8", "<f2",
                            "<f4", "<f8", "<c8", "<c16", ">f8", ">u2", ">c8"})
    for (std::size_t rank = 0; rank <= kNpyMaxRank; ++rank)
      for (const int version : {1, 2, 3}) {
        NpyHeader h{.dtype = dtype,
                    .shape = std::vector<std::size_t>(rank, 1),
                    .fortran_order = rank % 2 == 1};
        if (rank) h.shape[rank / 2] = 3;
        const std::string head = npy_header_bytes(h, version);
        EXPECT_EQ(head.size() % 64, 0u);
        const NpyHeader back = parse(head + std::string(h.data_size(), 'x'));
        EXPECT_EQ(back.dtype, h.dtype);
        EXPECT_EQ(back.shape, h.shape);
        EXPECT_EQ(back.fortran_order, h.fortran_order);
        EXPECT_EQ(back.data_offset, head.size());
      }
}

TEST(NpyFormat, ReadsLooserHeadersOfOtherWriters) {
  EXPECT_EQ(parse(made("{\"shape\":(2L,3L),\"descr\":\"<f4\",\"fortran_order\":True}", 24)).shape,
            (std::vector<std::size_t>{2, 3}));
  EXPECT_EQ(parse(made(" { 'descr' : '=u2' , 'fortran_order':False,\t'shape': ( 4 , ) } \n\n", 8))
                .dtype.substr(1),
            "u2");
}

TEST(NpyFormat, RefusesWithTheByte) {
  struct Case {
    std::string file, says;
  };
  const std::string good = "{'descr': '<f8', 'fortran_order': False, 'shape': (2,), }\n";
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string text = good;
    return text.replace(text.find(from), from.size(), to);
  };
  const Case cases[] = {
      {"", "byte 0: [npy] not an npy file"},
      {"\x93NUMP", "byte 0: [npy] not an npy file"},
      {"\x93NUMPY", "byte 6: [npy] the file ends before its version"},
      {std::string("\x93NUMPY\x01\x00", 8), "byte 8: [npy] the file ends before the length"},
      {std::string("\x93NUMPY\x04\x00\x01\x00", 10), "byte 6: [npy] version 4.0"},
      {std::string("\x93NUMPY\x01\x02\x01\x00", 10), "byte 6: [npy] version 1.2"},
      {std::string("\x93NUMPY\x01\x00\xff\x00{", 11),
       "byte 8: [npy] a header of 255 bytes does not fit"},
      {std::string("\x93NUMPY\x02\x00\xff\xff\xff\xff{", 13),
       "byte 8: [npy] a header of 4294967295 bytes, expected at most"},
      {made("", 0), "expected '{'"},
      {made(good, 15), "the file ends after 15 bytes of data, expected 16"},
      {made(good, 17), "1 bytes stand after the data"},
      {made(with("<f8", "|O"), 16), "Python objects"},
      {made(with("<f8", "<U4"), 16), "texts"},
      {made(with("<f8", "|V8"), 16), "records"},
      {made(with("<f8", "<M8"), 16), "dates"},
      {made(with("<f8", "<f16"), 16), "expected one of"},
      {made(with("<f8", "|f8"), 16), "expected one of"},
      {made(with("<f8", "f8"), 16), "expected one of"},
      {made(with("'<f8'", "[('a', '<f8')]"), 16), "byte 20: [npy] records are not read"},
      {made(with("False", "__import__('os')"), 16), "expected True or False, got '_'"},
      {made(with("(2,)", "(2)"), 16), "expected ','"},
      {made(with("(2,)", "(-2,)"), 16), "a dimension of zero or more, got '-'"},
      {made(with("(2,)", "(2.0,)"), 16), "expected ','"},
      {made(with("(2,)", "(9223372036854775808,)"), 16), "too large for 63 bits"},
      {made(with("(2,)", "(99999999999999999999999,)"), 16), "too large for 63 bits"},
      {made(with("(2,)", "(4294967296, 4294967296)"), 16), "product of the dimensions"},
      {made(with("(2,)", "(0, 4294967296, 4294967296)"), 0), "product of the dimensions"},
      {made(with("(2,)", "(1152921504606846976,)"), 16), "product of the dimensions"},
      {made(with("(2,)", "(1000000000000,)"), 16), "expected 8000000000000"},
      {made(with("'descr'", "'desc'"), 16), "unknown key 'desc'"},
      {made(with("'shape'", "'descr'"), 16), "the key 'descr' stands twice"},
      {made(with("'shape': (2,), ", ""), 16), "'shape' is missing"},
      {made(with("'shape'", "'fortran_order': True, 'shape'"), 16), "stands twice"},
      {made(good + "import os", 16), "expected only blanks after"},
      {made(with("'descr'", "'de\\x73cr'"), 16), "printable characters"},
      {made("{'descr", 0), "expected a closing quote"},
  };
  for (const Case& c : cases) {
    const std::string said = message(c.file);
    EXPECT_NE(said.find(c.says), std::string::npos) << "said: " << said << "\nexpected: " << c.says;
    EXPECT_EQ(said.rfind("a.npy: byte ", 0), 0u) << said;
  }
  std::string deep = "(";
  for (int i = 0; i < 65; ++i) deep += "1,";
  EXPECT_NE(message(made(with("(2,)", deep + ")"), 8)).find("more than 64 dimensions"),
            std::string::npos);
}

TEST(NpyFormat, DamagedHeadersNeverPassUnnoticedOrCrash) {
  // Every prefix is refused, and a changed byte gives an error or a header that still accounts for
  // every byte.
  for (std::size_t n = 0; n < kMatrix.size(); ++n)
    EXPECT_THROW(parse(kMatrix.substr(0, n)), Error) << n;
  std::mt19937 random(11);
  for (int trial = 0; trial < 20000; ++trial) {
    std::string file = kComplexBig;
    for (int k = 0; k <= trial % 3; ++k) file[random() % 140] = static_cast<char>(random());
    try {
      const NpyHeader h = parse(file);
      EXPECT_EQ(h.data_offset + h.data_size(), file.size());
    } catch (const Error&) {
    }
  }
}

TEST(NpyFormat, WriterRefusesWhatTheReaderWould) {
  EXPECT_THROW(npy_header_bytes({.dtype = "|O", .shape = {}}), Error);
  EXPECT_THROW(npy_header_bytes({.dtype = "<f8", .shape = std::vector<std::size_t>(65, 1)}), Error);
  EXPECT_THROW(
      npy_header_bytes({.dtype = "<f8", .shape = {std::size_t{1} << 40, std::size_t{1} << 40}}),
      Error);
  EXPECT_THROW(npy_header_bytes({.dtype = "<f8", .shape = {}}, 4), Error);
}

}  // namespace
}  // namespace tessera
