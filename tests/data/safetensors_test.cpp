// SPDX-License-Identifier: Apache-2.0
#include "tessera/data/safetensors.h"

#include "error_text.h"
#include "input_error.h"
#include "temp_folder.h"
#include "tensors_of_every_type.h"
#include "tessera/autodiff/jit.h"
#include "tessera/autodiff/ops.h"
#include "tessera/data/info.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

using namespace tessera;
using namespace tessera::data;
using namespace tessera::testing;

namespace {

/// A file with this header, not padded, and this buffer.
std::string safetensors_bytes(const std::string& header, const std::string& buffer = "") {
  const std::uint64_t length = header.size();
  std::string out(8, '\0');
  std::memcpy(out.data(), &length, 8);
  return out + header + buffer;
}

Safetensors read_bytes_of(const std::string& bytes, const std::vector<std::string>& names = {}) {
  const TempFolder folder;
  return read_safetensors(folder.write("w.safetensors", bytes), names);
}

/// One entry, for buffers of its own.
std::string entry(const std::string& name, const std::string& dtype, const std::string& shape,
                  const std::string& offsets) {
  return "\"" + name + "\":{\"dtype\":\"" + dtype + "\",\"shape\":" + shape +
         ",\"data_offsets\":" + offsets + "}";
}

void expect_refused(const std::string& bytes, std::uint64_t byte, const char* part) {
  const Diagnostic d = fault([&] { read_bytes_of(bytes); });
  EXPECT_EQ(d.number, 438) << to_string(d) << " expected: " << part;
  EXPECT_EQ(d.place.byte, byte) << to_string(d);
  EXPECT_NE(d.message.find(part), std::string::npos) << to_string(d);
  EXPECT_NE(d.place.file.find("w.safetensors"), std::string::npos);
}
void expect_header_refused(const std::string& header, std::uint64_t at, const char* part,
                           const std::string& buffer = "") {
  expect_refused(safetensors_bytes(header, buffer), 8 + at, part);
}

// As `safetensors.numpy.save` of safetensors 0.8.0 wrote them, with NumPy 2.4.6.
const std::string kMixedWeights = safetensors_bytes(
    R"({"__metadata__":{"by":"é\"\n","format":"np"},"n":{"dtype":"I64","shape":[2],"data_offsets":[0,16]},"s":{"dtype":"F64","shape":[],"data_offsets":[16,24]},"none":{"dtype":"F32","shape":[0,4],"data_offsets":[24,24]},"w":{"dtype":"F32","shape":[2,3],"data_offsets":[24,48]},"flag":{"dtype":"BOOL","shape":[3],"data_offsets":[48,51]}}      )",
    std::string("\xff\xff\xff\xff\xff\xff\xff\xff\x02\0\0\0\0\0\0\0\0\0\0\0\0\0\x04@\0\0\0\0\0\0"
                "\x80?\0\0\0@\0\0@@\0\0\x80@\0\0\xa0@\x01\0\x01",
                51));
const std::string kNarrowWeights = safetensors_bytes(
    R"({"u64":{"dtype":"U64","shape":[2],"data_offsets":[0,16]},"u32":{"dtype":"U32","shape":[1],"data_offsets":[16,20]},"i32":{"dtype":"I32","shape":[1],"data_offsets":[20,24]},"f16":{"dtype":"F16","shape":[4],"data_offsets":[24,32]},"u16":{"dtype":"U16","shape":[1],"data_offsets":[32,34]},"i16":{"dtype":"I16","shape":[2],"data_offsets":[34,38]},"i8":{"dtype":"I8","shape":[2],"data_offsets":[38,40]},"u8":{"dtype":"U8","shape":[2],"data_offsets":[40,42]}}    )",
    std::string("\xff\xff\xff\xff\xff\xff\xff\x7f\x07\0\0\0\0\0\0\0\xff\xff\xff\xff\0\0\0\x80\0>"
                "\x01\x80\xff{\0|\xff\xff\0\x80\x05\0\x80\x7f\0\xff",
                42));
const std::string kEmptyWeights = safetensors_bytes("{}      ");
const std::string kComplexWeights =
    safetensors_bytes(R"({"c":{"dtype":"C64","shape":[1],"data_offsets":[0,8]}}  )",
                      std::string("\0\0\x80?\0\0\0@", 8));
const std::string kBrainWeights =
    safetensors_bytes(R"({"b":{"dtype":"BF16","shape":[2],"data_offsets":[0,4]}} )", "\xc0?@\xc0");

}  // namespace

TEST(Safetensors, ReadsWhatTheReferenceWrites) {
  const Safetensors f = read_bytes_of(kMixedWeights);
  EXPECT_EQ(f.metadata, (std::map<std::string, std::string>{{"by", "é\"\n"}, {"format", "np"}}));
  ASSERT_EQ(f.tensors.size(), 5U);
  const std::vector<std::string> names = {"n", "s", "none", "w", "flag"};
  for (std::size_t i = 0; i < names.size(); ++i) EXPECT_EQ(f.tensors[i].name, names[i]);
  EXPECT_EQ(f.tensors[0].values.to_vector<std::int64_t>(), (std::vector<std::int64_t>{-1, 2}));
  EXPECT_EQ(f.tensors[1].values.shape(), Shape());
  EXPECT_EQ(f.tensors[1].values.item(), 2.5);
  EXPECT_EQ(f.tensors[2].values.type(), (Type{Dtype::f32, {0, 4}}));
  EXPECT_EQ(f.tensors[3].values.shape(), (Shape{2, 3}));
  EXPECT_EQ(f.tensors[3].values.to_vector<float>(), (std::vector<float>{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(f.tensors[4].values.to_vector<bool>(), (std::vector<bool>{true, false, true}));
  EXPECT_TRUE(read_bytes_of(kEmptyWeights).tensors.empty());
  EXPECT_EQ(read_bytes_of(kComplexWeights).tensors[0].values.to_vector<c64>(),
            (std::vector<c64>{{1, 2}}));
}

TEST(Safetensors, NarrowTypesAreWidened) {
  const Safetensors f = read_bytes_of(kNarrowWeights);
  const auto values = [&](std::size_t i) { return f.tensors.at(i).values; };
  constexpr auto most = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(values(0).to_vector<std::int64_t>(), (std::vector<std::int64_t>{most, 7}));
  EXPECT_EQ(values(1).to_vector<std::uint32_t>(), (std::vector<std::uint32_t>{4294967295U}));
  EXPECT_EQ(values(2).to_vector<std::int32_t>(), (std::vector<std::int32_t>{-2147483647 - 1}));
  EXPECT_EQ(values(3).to_vector<float>(), (std::vector<float>{1.5F, -0x1p-24F, 65504, INFINITY}));
  EXPECT_EQ(values(4).to_vector<std::int32_t>(), (std::vector<std::int32_t>{65535}));
  EXPECT_EQ(values(5).to_vector<std::int32_t>(), (std::vector<std::int32_t>{-32768, 5}));
  EXPECT_EQ(values(6).to_vector<std::int32_t>(), (std::vector<std::int32_t>{-128, 127}));
  EXPECT_EQ(values(7).to_vector<std::uint8_t>(), (std::vector<std::uint8_t>{0, 255}));
  EXPECT_EQ(read_bytes_of(kBrainWeights).tensors[0].values.to_vector<float>(),
            (std::vector<float>{1.5F, -3}));
}

TEST(Safetensors, EveryHalfIsItsNumber) {
  // All 65,536 of them: sign, exponent e, fraction f mean f 2^-24 and (1024 + f) 2^(e - 25).
  std::string buffer(2 * 65536, '\0');
  for (unsigned h = 0; h < 65536; ++h) {
    buffer[2 * h] = static_cast<char>(h & 255);
    buffer[2 * h + 1] = static_cast<char>(h >> 8);
  }
  const Safetensors f = read_bytes_of(
      safetensors_bytes("{" + entry("h", "F16", "[65536]", "[0,131072]") + "}", buffer));
  const std::vector<float> values = f.tensors[0].values.to_vector<float>();
  for (unsigned h = 0; h < 65536; ++h) {
    const int e = static_cast<int>(h >> 10 & 31), fraction = static_cast<int>(h & 1023);
    const double size = e == 0    ? std::ldexp(fraction, -24)
                        : e == 31 ? (fraction ? NAN : INFINITY)
                                  : std::ldexp(1024 + fraction, e - 25);
    ASSERT_EQ(std::signbit(values[h]), h >= 32768) << h;
    if (std::isnan(size))
      ASSERT_TRUE(std::isnan(values[h])) << h;
    else
      ASSERT_EQ(std::fabs(values[h]), size) << h;
  }
}

TEST(Safetensors, WhatIsWrittenIsReadAgain) {
  const TempFolder folder;
  std::vector<NamedTensor> tensors = tensors_of_every_type();
  tensors.push_back({"layers.0.weight \"é\"", zeros({0})});
  tensors.push_back({"", zeros({0})});
  const std::map<std::string, std::string> metadata = {{"", "empty key"}, {"k\n", "\x01 \\ é"}};
  const auto path = folder / "w.safetensors";
  write_safetensors(path, tensors, metadata);
  const Safetensors back = read_safetensors(path);
  EXPECT_EQ(back.metadata, metadata);
  expect_same_tensors(back.tensors, tensors);
  EXPECT_TRUE(std::signbit(back.tensors[1].values.to_vector()[1]));
  // The buffer begins, and each tensor in it, at a multiple of 8 and of its element's size.
  const std::string bytes = read_bytes(path);
  std::uint64_t length = 0;
  std::memcpy(&length, bytes.data(), 8);
  EXPECT_EQ(length % 8, 0U);
  const std::string header = bytes.substr(8, length);
  EXPECT_NE(header.find(R"("i32":{"dtype":"I32","shape":[1],"data_offsets":[120,124]})"),
            std::string::npos)
      << header;
}

TEST(Safetensors, TheReferencesBytesAreWritten) {
  // kMixedWeights again, its tensors in the reference's order.
  const TempFolder folder;
  const Safetensors f = read_bytes_of(kMixedWeights);
  write_safetensors(folder / "w.safetensors", f.tensors, f.metadata);
  EXPECT_EQ(read_bytes(folder / "w.safetensors"), kMixedWeights);
  write_safetensors(folder / "none.safetensors", {});
  EXPECT_EQ(read_bytes(folder / "none.safetensors"), kEmptyWeights);
}

TEST(Safetensors, OnlyWantedOnesAreRead) {
  const Safetensors f = read_bytes_of(kMixedWeights, {"w", "s"});
  ASSERT_EQ(f.tensors.size(), 2U);
  EXPECT_EQ(f.tensors[0].name, "w");
  EXPECT_EQ(f.tensors[1].values.item(), 2.5);
  const Diagnostic d = fault([] { read_bytes_of(kMixedWeights, {"flags"}); });
  EXPECT_EQ(d.number, 440);
  EXPECT_EQ(d.message, "there is no array 'flags'; the file has n, s, none, w, flag");
  EXPECT_EQ(d.hint, "did you mean 'flag'?");
}

TEST(Safetensors, LengthsThatLieAreRefused) {
  const auto prefix = [](std::uint64_t length, const std::string& rest) {
    std::string out(8, '\0');
    std::memcpy(out.data(), &length, 8);
    return out + rest;
  };
  expect_refused("", 0, "expected 8 bytes with the length of the header, the file has 0");
  expect_refused(std::string(7, '\0'), 7, "the file has 7");
  expect_refused(prefix(3, "{}"), 0, "a header of 3 bytes does not fit into a file of 10");
  expect_refused(prefix(100'000'001, "{}"), 0, "expected at most 100000000");
  expect_refused(prefix(UINT64_MAX, "{}"), 0, "a header of 18446744073709551615 bytes");
  expect_refused(prefix(0, ""), 8, "expected a header that begins with '{'");
  expect_refused(prefix(0, "{}"), 8, "begins with '{'");
  expect_refused(prefix(3, " {}"), 8, "begins with '{'");
  expect_refused(prefix(2, "{}x"), 10, "1 bytes stand after the last tensor");
}

TEST(Safetensors, OffsetsThatLieAreRefused) {
  const std::string one = entry("a", "U8", "[2]", "[0,2]");
  const auto two = [&](const std::string& shape, const std::string& offsets) {
    return "{" + one + "," + entry("b", "U8", shape, offsets) + "}";
  };
  const std::size_t b = 1 + one.size() + 1;
  expect_header_refused(two("[2]", "[3,5]"), b, "a hole of 1 bytes lies before its own", "abcde");
  expect_header_refused("{" + entry("a", "U8", "[2]", "[1,3]") + "}", 1, "a hole of 1", "abc");
  expect_header_refused(two("[2]", "[1,3]"), b, "overlap those of another tensor, which end at 2",
                        "abc");
  expect_header_refused(two("[2]", "[0,2]"), b, "overlap", "ab");
  expect_header_refused(two("[2]", "[2,4]"), b, "bytes 2 to 4 go beyond the buffer of 3", "abc");
  expect_header_refused(two("[2]", "[2,0]"), b, "bytes 2 to 0 end before they begin", "ab");
  expect_header_refused(two("[3]", "[2,4]"), b, "ask for 3 bytes, data_offsets for 2", "abcd");
  expect_header_refused(two("[]", "[2,2]"), b, "ask for 1 bytes, data_offsets for 0", "ab");
  expect_header_refused("{" + one + "}", 2 + one.size() + 2, "2 bytes stand after the last",
                        "abcd");
  expect_header_refused(two("[4294967296,4294967296]", "[2,2]"), b, "too large for 63 bits", "ab");
  expect_header_refused(two("[0,4294967296,4294967296]", "[2,2]"), b, "too large for 63", "ab");
  expect_header_refused(two("[9223372036854775807]", "[2,2]"), b, "ask for 9223372036854775807",
                        "ab");
  // An empty tensor may lie anywhere between others.
  EXPECT_EQ(read_bytes_of(safetensors_bytes(two("[0]", "[2,2]"), "ab")).tensors.size(), 2U);
  EXPECT_EQ(read_bytes_of(safetensors_bytes(two("[0]", "[0,0]"), "ab")).tensors.size(), 2U);
  expect_header_refused(two("[0]", "[1,1]"), b, "overlap", "ab");
}

TEST(Safetensors, HeadersThatAreNoneAreRefused) {
  const std::string a = entry("a", "U8", "[0]", "[0,0]");
  expect_header_refused("{" + a, 1 + a.size(), "the header is not JSON");
  expect_header_refused("{" + a + "}}", 2 + a.size(), "the header is not JSON");
  expect_header_refused("{" + a + ",}", 2 + a.size(), "the header is not JSON");
  expect_header_refused("{\"\xff\":1}", 2, "the header is not JSON");
  expect_header_refused(std::string("{}\0", 3), 2, "the header is not JSON: a NUL");
  expect_header_refused("{" + a + "," + a + "}", 2 + a.size(), "the name 'a' stands twice");
  expect_header_refused("{" + a + R"(,"\u0061":{}})", 2 + a.size(), "the name 'a' stands twice");
  expect_header_refused(R"({"a":[1]})", 5, "expected an object with dtype, shape and data_offsets");
  expect_header_refused(R"({"a": 7})", 6, "data_offsets as 'a', got a number");
  expect_header_refused(R"({"a":null})", 5, "got null");
  expect_header_refused(R"({"a":{"dtype":"U8","shape":[0]}})", 1,
                        "the key data_offsets is missing");
  expect_header_refused(R"({"a":{}})", 1, "the key dtype is missing");
  expect_header_refused(R"({"a":{"dtype":"U8","dtype":"U8"}})", 19, "'dtype' stands twice");
  expect_header_refused(R"({"a":{"strides":[1]}})", 6, "unknown key 'strides'");
  expect_header_refused("{" + entry("a", "F8_E5M2", "[0]", "[0,0]") + "}", 14,
                        "tensor 'a': unknown dtype 'F8_E5M2', expected one of F64 F32");
  expect_header_refused(R"({"a":{"dtype":["U8"]}})", 14, "expected a text as dtype, got a list");
  expect_header_refused(R"({"a":{"shape":"3"}})", 14, "expected a list of numbers as shape");
}

TEST(Safetensors, NumbersThatAreNoneAreRefused) {
  const auto shape = [](const std::string& s) { return R"({"a":{"shape":)" + s + "}}"; };
  expect_header_refused(shape("[-1]"), 15,
                        "tensor 'a': expected a whole number of zero or more, got the number -1");
  expect_header_refused(shape("[2, 1.0]"), 18, "got the number 1.0");
  expect_header_refused(shape("[1e3]"), 15, "got the number 1e3");
  expect_header_refused(shape("[1e999]"), 19, "not JSON: number overflow parsing '1e999'");
  expect_header_refused(shape("[true]"), 15, "got true");
  expect_header_refused(shape("[null]"), 15, "got null");
  expect_header_refused(shape("[\"1\"]"), 15, "got a text");
  expect_header_refused(shape("[[1]]"), 15, "got a list");
  expect_header_refused(shape("[{}]"), 15, "got an object");
  expect_header_refused(shape("[9223372036854775808]"), 15, "too large for 63 bits");
  expect_header_refused(shape("[18446744073709551616]"), 15, "got the number 18446744073709551616");
  std::string many = "[1";
  for (int i = 0; i < 64; ++i) many += ",1";
  expect_header_refused(shape(many + "]"), 15 + 128, "more than 64 numbers");
  expect_header_refused(R"({"a":{"data_offsets":[0]}})", 24, "expected two data_offsets, got 1");
  expect_header_refused(R"({"a":{"data_offsets":[0,0,0]}})", 28, "data_offsets, got 3");
  // As many axes as the format may have, more than a tensor may.
  const Diagnostic d = fault([] {
    read_bytes_of(
        safetensors_bytes("{" + entry("a", "U8", "[1,1,1,1,1,1,1,1,1]", "[0,1]") + "}", "x"));
  });
  EXPECT_EQ(d.number, 438);
  EXPECT_EQ(d.message, "tensor 'a' has 9 axes, and a tensor has at most 8");
}

TEST(Safetensors, MetadataIsOfTexts) {
  const auto metadata = [](const std::string& m) { return R"({"__metadata__":)" + m + "}"; };
  EXPECT_TRUE(read_bytes_of(safetensors_bytes(metadata("{}"))).metadata.empty());
  expect_header_refused(metadata(R"({"a":1})"), 21, "expected a text as 'a', got a number");
  expect_header_refused(metadata(R"({"a":{"b":"c"}})"), 21,
                        "expected a text as 'a', got an object");
  expect_header_refused(metadata(R"({"a":["c"]})"), 21, "got a list");
  expect_header_refused(metadata(R"({"a":"b","a":"c"})"), 25, "'a' of __metadata__ stands twice");
  expect_header_refused(metadata(R"("text")"), 16, "expected an object of texts as __metadata__");
  expect_header_refused(R"({"__metadata__":{},"__metadata__":{}})", 19, "stands twice");
}

TEST(Safetensors, DeepNestingEndsAtOnce) {
  for (const char open : {'[', '{'}) {
    std::string deep = R"({"a":)";
    deep.append(1'000'000, open);
    const Diagnostic d = fault([&] { read_bytes_of(safetensors_bytes(deep)); });
    EXPECT_EQ(d.number, 438);
    EXPECT_LE(*d.place.byte, 16U);
  }
}

TEST(Safetensors, NumbersAboveThoseOfATensorAreRefused) {
  const std::string bytes = safetensors_bytes("{" + entry("u", "U64", "[1]", "[0,8]") + "}",
                                              std::string("\0\0\0\0\0\0\0\x80", 8));
  expect_refused(bytes, 9, "tensor 'u' holds the number 9223372036854775808");
}

TEST(Safetensors, WhatTheFormatDoesNotHaveIsNotWritten) {
  const TempFolder folder;
  const auto refused = [&](const std::vector<NamedTensor>& tensors,
                           const std::map<std::string, std::string>& metadata = {}) {
    return message_of([&] { write_safetensors(folder / "w.safetensors", tensors, metadata); });
  };
  EXPECT_EQ(refused({{"z", tensor<c128>({{1, 2}})}}),
            "[write_safetensors] the tensor 'z' is c128, which the format does not have: write its "
            "real and imaginary parts, or cast it to c64");
  EXPECT_EQ(refused({{"a", ones({1})}, {"a", ones({1})}}),
            "[write_safetensors] two tensors are called 'a'");
  EXPECT_EQ(refused({{"__metadata__", ones({1})}}),
            "[write_safetensors] '__metadata__' names no tensor in this format");
  EXPECT_EQ(refused({{"\xff", ones({1})}}), "[write_safetensors] the name '\xff' is not UTF-8");
  EXPECT_EQ(refused({}, {{"k", "\xc3"}}), "[write_safetensors] the metadata '\xc3' is not UTF-8");
  EXPECT_EQ(refused({{"a", Tensor()}}),
            "[write_safetensors] the tensor 'a' was never given a value");
  const std::string traced = message_of([&] {
    jit([&](const Tensor& x) {
      write_safetensors(folder / "w.safetensors", std::vector<NamedTensor>{{"x", x}});
      return x;
    })(ones({2}));
  });
  EXPECT_NE(traced.find("[write_safetensors] the tensor 'x' is traced"), std::string::npos)
      << traced;
  EXPECT_FALSE(std::filesystem::exists(folder / "w.safetensors"));
  expect_input_error([&] { write_safetensors(folder / "none" / "w.safetensors", {}); },
                     ExitCode::usage, 502);
  expect_input_error([&] { read_safetensors(folder / "none.safetensors"); },
                     ExitCode::input_invalid, 401);
  expect_input_error([&] { read_safetensors(folder.path()); }, ExitCode::input_invalid, 402);
}

TEST(Safetensors, InfoKnowsThem) {
  const TempFolder folder;
  EXPECT_EQ(
      to_text(info(folder.write("w.bin", kMixedWeights))),
      "w.bin\n  format: safetensors\n  bytes: 395\n  metadata: 2\n    by: é\" \n    format: np\n"
      "  tensors: 5\n    n: I64, 2\n    s: F64, one value\n    none: F32, 0 x 4\n"
      "    w: F32, 2 x 3\n    flag: BOOL, 3\n");
  expect_input_error([&] { info(folder.write("cut.safetensors", kMixedWeights.substr(0, 390))); },
                     ExitCode::input_invalid, 438);
}
