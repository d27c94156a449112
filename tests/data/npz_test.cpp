// SPDX-License-Identifier: Apache-2.0
#include "error_text.h"
#include "input_error.h"
#include "temp_folder.h"
#include "tessera/autodiff/ops.h"
#include "tessera/data/arrays.h"
#include "tessera/data/hdf5.h"
#include "tessera/data/info.h"
#include "tessera/data/safetensors.h"
#include "zip_archive.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <fstream>
#include <limits>

using namespace tessera;
using namespace tessera::data;
using namespace tessera::testing;

namespace {

std::string from_hex(std::string_view digits) {
  std::string out;
  for (std::size_t i = 0; i + 1 < digits.size(); i += 2)
    out += static_cast<char>(std::stoi(std::string(digits.substr(i, 2)), nullptr, 16));
  return out;
}

// As NumPy 2.4.6 wrote them, with Python 3.11.7.
// numpy.savez(f, a=np.array([[1, 2], [3, 4]], np.int16), s=np.array(2.5))
const std::string kStoredArchive = from_hex(
    "504b03042d00000000000000210000cadc6dffffffffffffffff05001400612e6e7079010010008800000000"
    "0000008800000000000000934e554d5059010076007b276465736372273a20273c6932272c2027666f727472"
    "616e5f6f72646572273a2046616c73652c20277368617065273a2028322c2032292c207d2020202020202020"
    "2020202020202020202020202020202020202020202020202020202020202020202020202020202020202020"
    "2020202020200a0100020003000400504b03042d00000000000000210035b43a93ffffffffffffffff050014"
    "00732e6e70790100100088000000000000008800000000000000934e554d5059010076007b27646573637227"
    "3a20273c6638272c2027666f727472616e5f6f72646572273a2046616c73652c20277368617065273a202829"
    "2c207d2020202020202020202020202020202020202020202020202020202020202020202020202020202020"
    "2020202020202020202020202020202020202020200a0000000000000440504b01022d032d00000000000000"
    "210000cadc6d8800000088000000050000000000000000000000800100000000612e6e7079504b01022d032d"
    "00000000000000210035b43a9388000000880000000500000000000000000000008001bf000000732e6e7079"
    "504b05060000000002000200660000007e0100000000");
// numpy.savez_compressed(f, i1=np.array([-128, 127], np.int8),
//   i2=np.array([[1, 2, 3], [-4, 5, -32768]], '>i2', order='F'), u2=np.array([65535], np.uint16),
//   u4=np.array([4294967295], '>u4'), u8=np.array([2**63 - 1, 7], np.uint64),
//   f2=np.array([1.5, -np.inf, 2**-24], '>f2'), c8=np.array([[1 + 2j], [3 - 4j]], '>c8',
//   order='F'), none=np.zeros((0, 3)))
const std::string kDeflatedArchive = from_hex(
    "504b03042d0000000800000021004581d4aaffffffffffffffff0600140069312e6e70790100100082000000"
    "0000000046000000000000009bec17ea1b10c9c850c650ad9e925a9c5ca46ea5a05e9369a8aea3a09e965f54"
    "529498179f5f94920a12774bcc294e058a17672416a402f91a463a9a3a0ab50a1400ae867a00504b03042d00"
    "0000080000002100a02fdf87ffffffffffffffff0600140069322e6e7079010010008c000000000000005100"
    "0000000000009bec17ea1b10c9c850c650ad9e925a9c5ca46ea5a06e9769a4aea3a09e965f54529498179f5f"
    "94920a120f292a4d050a17672416a402b91a463a0ac69a3a0ab50ae4032e06c6ff7f1898185819981b180050"
    "4b03042d000000080000002100556c9149ffffffffffffffff0600140075322e6e7079010010008200000000"
    "00000046000000000000009bec17ea1b10c9c850c650ad9e925a9c5ca46ea5a06e536aa4aea3a09e965f5452"
    "9498179f5f94920a12774bcc294e058a17672416a402f91a863a9a3a0ab50a1400aeffff01504b03042d0000"
    "000800000021002947a178ffffffffffffffff0600140075342e6e7079010010008400000000000000470000"
    "00000000009bec17ea1b10c9c850c650ad9e925a9c5ca46ea5a06e576aa2aea3a09e965f54529498179f5f94"
    "920a12774bcc294e058a17672416a402f91a863a9a3a0ab50a1400aeff400000504b03042d00000008000000"
    "21002d7fbe54ffffffffffffffff0600140075382e6e70790100100090000000000000004b00000000000000"
    "9bec17ea1b10c9c850c650ad9e925a9c5ca46ea5a06e536aa1aea3a09e965f54529498179f5f94920a12774b"
    "cc294e058a17672416a402f91a463a9a3a0ab50a1400aeff1050cfce000100504b03042d0000000800000021"
    "00868e3928ffffffffffffffff0600140066322e6e70790100100086000000000000004a000000000000009b"
    "ec17ea1b10c9c850c650ad9e925a9c5ca46ea5a06e9766a4aea3a09e965f54529498179f5f94920a12774bcc"
    "294e058a17672416a402f91ac63a9a3a0ab50a14002e3b863f0c0c8c00504b03042d00000008000000210014"
    "6179daffffffffffffffff0600140063382e6e707901001000900000000000000052000000000000009bec17"
    "ea1b10c9c850c650ad9e925a9c5ca46ea5a06e976ca1aea3a09e965f54529498179f5f94920a12774bcc294e"
    "058a17672416a402f91a463a0a869a3a0ab50a64032efb060606070620061207806c00504b03042d00000008"
    "000000210058fb60f8ffffffffffffffff080014006e6f6e652e6e7079010010008000000000000000460000"
    "00000000009bec17ea1b10c9c850c650ad9e925a9c5ca46ea5a06e9366a1aea3a09e965f54529498179f5f94"
    "920a12774bcc294e058a17672416a402f91a063a0ac69a3a0ab50a64032e00504b01022d032d000000080000"
    "0021004581d4aa460000008200000006000000000000000000000080010000000069312e6e7079504b01022d"
    "032d000000080000002100a02fdf87510000008c00000006000000000000000000000080017e00000069322e"
    "6e7079504b01022d032d000000080000002100556c9149460000008200000006000000000000000000000080"
    "010701000075322e6e7079504b01022d032d0000000800000021002947a17847000000840000000600000000"
    "0000000000000080018501000075342e6e7079504b01022d032d0000000800000021002d7fbe544b00000090"
    "00000006000000000000000000000080010402000075382e6e7079504b01022d032d00000008000000210086"
    "8e39284a0000008600000006000000000000000000000080018702000066322e6e7079504b01022d032d0000"
    "00080000002100146179da520000009000000006000000000000000000000080010903000063382e6e707950"
    "4b01022d032d00000008000000210058fb60f846000000800000000800000000000000000000008001930300"
    "006e6f6e652e6e7079504b05060000000008000800a2010000130400000000");
// numpy.savez_compressed(f, x=np.array([1.5, 2.5], np.float16)), f not seekable
const std::string kStreamedArchive = from_hex(
    "504b03042d00080008000000210000000000ffffffffffffffff05001400782e6e7079010010000000000000"
    "00000000000000000000009bec17ea1b10c9c850c650ad9e925a9c5ca46ea5a06e9366a4aea3a09e965f5452"
    "9498179f5f94920a12774bcc294e058a17672416a402f91a463a9a3a0ab50a14002e063b064700504b070805"
    "723d9648000000000000008400000000000000504b01022d032d00080008000000210005723d964800000084"
    "000000050000000000000000000000800100000000782e6e7079504b05060000000001000100330000009700"
    "00000000");
// numpy.savez(f, x=np.array([[1, 2, 3], [4, 5, 6]], np.float32, order='F')), f not seekable
const std::string kStreamedStoredArchive = from_hex(
    "504b03042d00080000000000210000000000ffffffffffffffff05001400782e6e7079010010000000000000"
    "0000000000000000000000934e554d5059010076007b276465736372273a20273c6634272c2027666f727472"
    "616e5f6f72646572273a20547275652c20277368617065273a2028322c2033292c207d202020202020202020"
    "2020202020202020202020202020202020202020202020202020202020202020202020202020202020202020"
    "2020202020200a0000803f00008040000000400000a040000040400000c040504b0708b267dd239800000000"
    "0000009800000000000000504b01022d032d000800000000002100b267dd2398000000980000000500000000"
    "00000000000000800100000000782e6e7079504b0506000000000100010033000000e70000000000");
// numpy.savez(f, **{'é': np.array([True, False])})
const std::string kUtf8Archive = from_hex(
    "504b03042d000008000000002100ee19bb5dffffffffffffffff06001400c3a92e6e70790100100082000000"
    "000000008200000000000000934e554d5059010076007b276465736372273a20277c6231272c2027666f7274"
    "72616e5f6f72646572273a2046616c73652c20277368617065273a2028322c292c207d202020202020202020"
    "2020202020202020202020202020202020202020202020202020202020202020202020202020202020202020"
    "202020202020200a0100504b01022d032d000008000000002100ee19bb5d8200000082000000060000000000"
    "000000000000800100000000c3a92e6e7079504b0506000000000100010034000000ba0000000000");

std::vector<NamedTensor> arrays_of(const std::string& bytes,
                                   const std::vector<std::string>& names = {}) {
  const TempFolder folder;
  return read_npz(folder.write("x.npz", bytes), names);
}

/// Refused as an archive, at this byte.
void expect_no_archive(const std::string& bytes, std::uint64_t byte, const std::string& part) {
  const Diagnostic d = fault([&] { arrays_of(bytes); });
  EXPECT_EQ(d.number, 437) << to_string(d) << " expected: " << part;
  EXPECT_EQ(d.place.byte, byte) << to_string(d);
  EXPECT_NE(d.message.find(part), std::string::npos) << to_string(d) << " expected: " << part;
}

std::string with(std::string bytes, std::size_t at, const std::string& other) {
  return bytes.replace(at, other.size(), other);
}

/// What NumPy writes of such an array.
std::string npy_bytes(const std::string& descr, const std::string& shape, const std::string& data) {
  std::string header = "{'descr': " + descr + ", 'fortran_order': False, 'shape': " + shape + ", }";
  header.append(117 - header.size(), ' ') += '\n';
  return std::string("\x93NUMPY\x01\0v\0", 10) + header + data;
}
const std::string kTwoBytes = npy_bytes("'|u1'", "(2,)", "ab");

// Places in kStoredArchive: local headers of a.npy and s.npy, their bytes, the directory, the end.
constexpr std::size_t kLocalA = 0, kDataA = 55, kLocalS = 191, kDataS = 246, kCentralA = 382,
                      kCentralS = 433, kEnd = 484;

}  // namespace

TEST(Npz, ReadsWhatNumpyStores) {
  const auto arrays = arrays_of(kStoredArchive);
  ASSERT_EQ(arrays.size(), 2U);
  EXPECT_EQ(arrays[0].name, "a");
  EXPECT_EQ(arrays[0].values.shape(), (Shape{2, 2}));
  EXPECT_EQ(arrays[0].values.to_vector<std::int32_t>(), (std::vector<std::int32_t>{1, 2, 3, 4}));
  EXPECT_EQ(arrays[1].name, "s");
  EXPECT_EQ(arrays[1].values.type(), (Type{Dtype::f64, {}}));
  EXPECT_EQ(arrays[1].values.item(), 2.5);
  const auto utf8 = arrays_of(kUtf8Archive);
  EXPECT_EQ(utf8.at(0).name, "é");
  EXPECT_EQ(utf8[0].values.to_vector<bool>(), (std::vector<bool>{true, false}));
}

TEST(Npz, ReadsWhatNumpyCompressesWidened) {
  const auto arrays = arrays_of(kDeflatedArchive);
  ASSERT_EQ(arrays.size(), 8U);
  const auto values = [&](const char* name) {
    for (const NamedTensor& a : arrays)
      if (a.name == name) return a.values;
    return Tensor();
  };
  using Ints = std::vector<std::int32_t>;
  EXPECT_EQ(values("i1").to_vector<std::int32_t>(), (Ints{-128, 127}));
  EXPECT_EQ(values("i2").shape(), (Shape{2, 3}));
  EXPECT_EQ(values("i2").to_vector<std::int32_t>(), (Ints{1, 2, 3, -4, 5, -32768}));
  EXPECT_EQ(values("u2").to_vector<std::int32_t>(), (Ints{65535}));
  EXPECT_EQ(values("u4").to_vector<std::uint32_t>(), (std::vector<std::uint32_t>{4294967295U}));
  EXPECT_EQ(values("u8").to_vector<std::int64_t>(),
            (std::vector<std::int64_t>{std::numeric_limits<std::int64_t>::max(), 7}));
  EXPECT_EQ(values("f2").to_vector<float>(), (std::vector<float>{1.5F, -INFINITY, 0x1p-24F}));
  EXPECT_EQ(values("c8").shape(), (Shape{2, 1}));
  EXPECT_EQ(values("c8").to_vector<c64>(), (std::vector<c64>{{1, 2}, {3, -4}}));
  EXPECT_EQ(values("none").type(), (Type{Dtype::f64, {0, 3}}));
}

TEST(Npz, ReadsWhatNumpyStreams) {
  EXPECT_EQ(arrays_of(kStreamedArchive).at(0).values.to_vector<float>(),
            (std::vector<float>{1.5F, 2.5F}));
  const Tensor x = arrays_of(kStreamedStoredArchive).at(0).values;
  EXPECT_EQ(x.shape(), (Shape{2, 3}));
  EXPECT_EQ(x.to_vector<float>(), (std::vector<float>{1, 2, 3, 4, 5, 6}));
  // The descriptor is what no header before the bytes can say.
  const std::size_t descriptor = kStreamedArchive.find("PK\x07\x08");
  for (const std::size_t at : {4U, 8U, 16U})
    expect_no_archive(with(kStreamedArchive, descriptor + at, "\x63"), 0,
                      "no data descriptor behind it says what the directory says");
  // One without its mark, which the format allows, here with numbers of 32 bits.
  ZipArchive zip;
  zip.add({.name = "x.npy", .data = kTwoBytes, .flags = 8, .wide = false});
  EXPECT_EQ(arrays_of(zip.bytes()).at(0).values.to_vector<std::uint8_t>(),
            (std::vector<std::uint8_t>{'a', 'b'}));
}

TEST(Npz, OnlyWantedOnesAreUnpacked) {
  const std::string damaged = with(kStoredArchive, kDataA + 130, "\xff");
  EXPECT_EQ(arrays_of(damaged, {"s"}).at(0).values.item(), 2.5);
  expect_no_archive(damaged, kLocalS, "member 'a.npy': damaged: its checksum is wrong");
  const auto turned = arrays_of(kStoredArchive, {"s", "a"});
  EXPECT_EQ(turned.at(0).name, "s");
  EXPECT_EQ(turned.at(1).name, "a");
  const Diagnostic d = fault([&] { arrays_of(kStoredArchive, {"b"}); });
  EXPECT_EQ(d.number, 440);
  EXPECT_EQ(d.message, "there is no array 'b'; the file has a, s");
}

TEST(Npz, WhatIsWrittenIsReadAgain) {
  const TempFolder folder;
  const Tensor f64 = tensor({1.0, -0.0, 1e-320, 1e308, HUGE_VAL, -1.5}, {2, 3});
  const std::vector<NamedTensor> arrays = {
      {"flags", tensor<bool>({true, false, true})},
      {"f64", f64},
      {"group/turned é", transpose(f64, {1, 0})},  // not row-major
      {"u8", tensor<std::uint8_t>({0, 255})},
      {"i32", tensor<std::int32_t>({-5})},
      {"i64", tensor<std::int64_t>({std::numeric_limits<std::int64_t>::min()})},
      {"u32", tensor<std::uint32_t>({4294967295U})},
      {"f32", tensor<float>({0.1F})},
      {"c64", tensor<c64>({{1, -2}})},
      {"c128", tensor<c128>({{1, -2}, {0.1, 3}})},
      {"scalar", tensor(3.25)},
      {"none", zeros({3, 0, 2}, Dtype::f32)},
      {"long", arange(100000)},
      {"", zeros({1})}};
  for (const NpzPacking packing : {NpzPacking::stored, NpzPacking::deflated}) {
    write_npz(folder / "x.npz", arrays, packing);
    const auto back = read_npz(folder / "x.npz");
    ASSERT_EQ(back.size(), arrays.size());
    for (std::size_t i = 0; i < arrays.size(); ++i) {
      const Tensor &a = arrays[i].values, &b = back[i].values;
      EXPECT_EQ(back[i].name, arrays[i].name);
      ASSERT_EQ(b.type(), a.type()) << arrays[i].name;
      visit_dtype(a.dtype(), [&](auto tag) {
        using T = typename decltype(tag)::type;
        EXPECT_EQ(b.to_vector<T>(), a.to_vector<T>()) << arrays[i].name;
      });
    }
  }
  EXPECT_LT(std::filesystem::file_size(folder / "x.npz"), 400'000U);
  write_npz(folder / "none.npz", {});
  EXPECT_TRUE(read_npz(folder / "none.npz").empty());
  EXPECT_EQ(read_bytes(folder / "none.npz"), std::string("PK\5\6") + std::string(18, '\0'));
}

TEST(Npz, TheBytesOfNumpyAreWritten) {
  const TempFolder folder;
  const std::vector<NamedTensor> array = {{"é", tensor<bool>({true, false})}};
  write_npz(folder / "x.npz", array);
  EXPECT_EQ(read_bytes(folder / "x.npz"), kUtf8Archive);
}

TEST(Npz, MoreMembersThan16BitsCount) {
  const TempFolder folder;
  std::vector<NamedTensor> many;
  for (int i = 0; i < 65536; ++i) many.push_back({std::to_string(i), scalar(i % 256, Dtype::u8)});
  write_npz(folder / "x.npz", many);
  const auto back = read_npz(folder / "x.npz");
  ASSERT_EQ(back.size(), many.size());
  for (int i = 0; i < 65536; i += 255)
    EXPECT_EQ(back[static_cast<std::size_t>(i)].values.item<int>(), i % 256);
}

TEST(Npz, NamesThatAreNoneAreNotWritten) {
  const TempFolder folder;
  const auto refused = [&](const std::string& name) {
    return message_of([&] {
      write_npz(folder / "x.npz", std::vector<NamedTensor>{{name, ones({1})}});
    });
  };
  for (const char* name : {"/etc/passwd", "../x", "a/../../x", "a\\b"})
    EXPECT_NE(refused(name).find("[write_npz] an archive cannot have the name '" +
                                 std::string(name) + "': its name leads out of a folder"),
              std::string::npos)
        << refused(name);
  EXPECT_NE(refused("a\nb").find("a control character in its name"), std::string::npos);
  EXPECT_NE(refused(std::string(1, '\0')).find("a control character"), std::string::npos);
  EXPECT_NE(refused("\xff").find("not UTF-8"), std::string::npos);
  EXPECT_NE(refused(std::string(65532, 'x')).find("more than 65,531 bytes"), std::string::npos);
  EXPECT_EQ(refused(std::string(65531, 'x')), "");
  EXPECT_EQ(refused("..x"), "");
  const std::vector<NamedTensor> twice = {{"a", ones({1})}, {"a", ones({1})}};
  EXPECT_EQ(message_of([&] { write_npz(folder / "y.npz", twice); }),
            "[write_npz] two tensors are called 'a'");
  const std::vector<NamedTensor> undefined = {{"a", Tensor()}};
  EXPECT_EQ(message_of([&] { write_npz(folder / "y.npz", undefined); }),
            "[write_npz] the tensor 'a' was never given a value");
  EXPECT_FALSE(std::filesystem::exists(folder / "y.npz"));
}

TEST(Npz, WhatIsCutOffOrGoesOnIsRefused) {
  expect_no_archive("", 0, "no end record of a ZIP archive: not an .npz file, or cut off");
  expect_no_archive("text", 4, "no end record");
  for (std::size_t n = 0; n < kStoredArchive.size(); ++n)
    EXPECT_EQ(fault([&] { arrays_of(kStoredArchive.substr(0, n)); }).number, 437) << n;
  for (std::size_t n = 1; n <= kCentralA; n += 7)
    EXPECT_EQ(fault([&] { arrays_of(kStoredArchive.substr(n)); }).number, 437) << n;
  expect_no_archive(kStoredArchive + "x", kEnd,
                    "a comment of 0 bytes, but 1 follow the end record");
  const std::string comment = with(kStoredArchive, kEnd + 20, "\x05") + "words";
  EXPECT_EQ(arrays_of(comment).size(), 2U);
  expect_no_archive(comment.substr(0, comment.size() - 1), kEnd, "a comment of 5 bytes, but 4");
}

TEST(Npz, DirectoriesThatLieAreRefused) {
  const std::string two("\2\0", 2);
  expect_no_archive(with(kStoredArchive, kEnd + 4, two), kEnd, "several parts");
  expect_no_archive(with(kStoredArchive, kEnd + 8, "\1"), kEnd, "several parts");
  expect_no_archive(with(kStoredArchive, kEnd + 8, "\1").replace(kEnd + 10, 1, "\1"), kCentralS,
                    "51 bytes stand behind the 1 entries of the directory");
  expect_no_archive(with(kStoredArchive, kEnd + 8, "\3").replace(kEnd + 10, 1, "\3"), kCentralA,
                    "3 members do not fit into a directory of 102 bytes");
  expect_no_archive(with(kStoredArchive, kEnd + 8, std::string("\0\0\0\0", 4)), kCentralA,
                    "102 bytes stand behind the 0 entries");
  expect_no_archive(with(kStoredArchive, kEnd + 12, "\x67"), kEnd,
                    "the directory, 103 bytes from byte 382 on");
  expect_no_archive(with(kStoredArchive, kEnd + 16, "\xff\xff\xff\x7f"), kEnd,
                    "2147483647 on, does not reach to the end record");
  expect_no_archive(with(kStoredArchive, kCentralA, "PK\3\4"), kCentralA, "expected an entry");
  expect_no_archive(with(kStoredArchive, kCentralS + 28, "\x06"), kCentralS,
                    "an entry goes beyond the directory");
  expect_no_archive(with(kStoredArchive, kCentralA + 34, "\1"), kCentralA, "several parts");
  expect_no_archive(with(kStoredArchive, kCentralA + 30, "\1"), kCentralA,
                    "an extra field goes beyond its place");
  expect_no_archive(with(kStoredArchive, kCentralA + 42, "\1"), 1,
                    "expected its local header here");
  expect_no_archive(with(kStoredArchive, kCentralA + 42, "\xf9\1"), 505,
                    "goes beyond the end of the file");
  expect_no_archive(with(kStoredArchive, kCentralA + 42, "\xff\xff\xff\x7f"), 506,
                    "member 'a.npy' goes beyond the end of the file");
  expect_no_archive(with(kStoredArchive, kCentralA + 20, "\x89"), kCentralA,
                    "stored, but its sizes in and out of the file differ");
}

TEST(Npz, HeadersThatDisagreeAreRefused) {
  const char* other = "its local header has other sizes or another checksum than the directory";
  expect_no_archive(with(kStoredArchive, kLocalS + 14, "\1"), kLocalS, other);
  expect_no_archive(with(kStoredArchive, kLocalS + 39, "\1"), kLocalS, other);
  expect_no_archive(with(kStoredArchive, kLocalS + 47, "\1"), kLocalS, other);
  expect_no_archive(with(kStoredArchive, kCentralS + 16, "\1"), kLocalS, other);
  expect_no_archive(with(kStoredArchive, kLocalS + 30, "t"), kLocalS,
                    "member 's.npy': its local header calls it 't.npy'");
  expect_no_archive(with(kStoredArchive, kLocalS + 6, "\2"), kLocalS, "has other flags");
  expect_no_archive(with(kStoredArchive, kLocalS + 8, "\x08"), kLocalS, "or another method");
  expect_no_archive(with(kStoredArchive, kLocalS + 37, "\x20"), kLocalS,
                    "an extra field goes beyond");
  expect_no_archive(with(kStoredArchive, kLocalS + 35, "\2"), kLocalS, other);
}

TEST(Npz, EncryptedAndOtherwisePackedOnesAreRefused) {
  const auto both = [](std::size_t local, std::size_t central, const std::string& bytes) {
    return with(with(kStoredArchive, kLocalA + local, bytes), kCentralA + central, bytes);
  };
  for (const char* flag : {"\1", "\x41"})
    expect_no_archive(both(6, 8, flag), kCentralA,
                      "member 'a.npy': encrypted members are not read");
  expect_no_archive(both(7, 9, "\x20"), kCentralA, "encrypted");
  expect_no_archive(both(6, 8, "\x20"), kCentralA, "patches are not read");
  expect_no_archive(both(8, 10, "\x0c"), kCentralA,
                    "packed by method 12, expected 0 (stored) or 8 (deflated)");
}

TEST(Npz, NamesThatLeadAwayAreRefused) {
  const auto named = [](const std::string& name) {
    return with(with(kStoredArchive, kLocalA + 30, name), kCentralA + 46, name);
  };
  for (const char* name : {"/.npy", "../xy", "a/../", "x\\npy"})
    expect_no_archive(named(name), kCentralA, "its name leads out of a folder");
  expect_no_archive(named(std::string("a\0npy", 5)), kCentralA, "a control character in its name");
  expect_no_archive(named("a\xff.np"), kCentralA, "its name is not UTF-8");
  expect_no_archive(named("\xc3\xa9npy"), kCentralA, "not ASCII, and not marked as UTF-8");
  expect_no_archive(named("s.npy"), kCentralS, "two members are called 's.npy'");
  expect_no_archive(named("a.txt"), kLocalA, "member 'a.txt' is no .npy file by its name");
  EXPECT_EQ(arrays_of(named("a.txt"), {"s"}).at(0).values.item(), 2.5);
  ZipArchive zip;
  zip.add({.name = "", .data = "x"});
  expect_no_archive(zip.bytes(), 31, "a member without a name");
}

TEST(Npz, MembersThatOverlapAreRefused) {
  ZipArchive inner;
  inner.add({.name = "b.npy", .data = kTwoBytes});
  const std::string body = inner.locals();
  ZipArchive outer;
  outer.add({.name = "a.npy", .data = body});
  const std::uint64_t b = 30 + 5;
  outer.name_again({.name = "b.npy", .data = kTwoBytes}, b);
  expect_no_archive(outer.bytes(), 0, "member 'a.npy' overlaps member 'b.npy'");
  // The last one into the directory: its size is 10 more, in all three places.
  ZipArchive last;
  last.add({.name = "a.npy", .data = kTwoBytes, .declared = kTwoBytes.size() + 10});
  expect_no_archive(last.bytes(), 0, "member 'a.npy' overlaps the directory");
  ZipArchive beyond;
  beyond.add({.name = "a.npy", .data = kTwoBytes, .declared = 5000});
  expect_no_archive(beyond.bytes(), 0, "its bytes go beyond the end of the file");
  // Others leave what they have replaced between members.
  ZipArchive gap("replaced");
  gap.add({.name = "a.npy", .data = kTwoBytes});
  EXPECT_EQ(arrays_of(gap.bytes()).size(), 1U);
}

TEST(Npz, DeflateCannotReachFurtherThanItDoes) {
  const std::string zeros_npy = npy_bytes("'|u1'", "(10000000,)", std::string(10'000'000, '\0'));
  ZipArchive good;
  good.add({.name = "a.npy", .data = zeros_npy, .method = 8});
  EXPECT_LT(good.bytes().size(), 10'500U);  // nearly as far as deflate reaches
  EXPECT_EQ(arrays_of(good.bytes()).at(0).values.size(), 10'000'000);
  const std::string packed = deflated(kTwoBytes);
  const auto declared = [](const std::string& stream, std::uint64_t size) {
    ZipArchive zip;
    zip.add({.name = "a.npy", .data = stream, .method = 8, .packed = true, .declared = size});
    return zip.bytes();
  };
  const std::uint64_t most = 1032 * packed.size();
  expect_no_archive(declared(packed, most + 1032), 35 + packed.size(),
                    std::to_string(packed.size()) + " bytes are to become " +
                        std::to_string(most + 1032) +
                        ", and deflate reaches at most 1032 times as many");
  const std::uint64_t end = 35 + packed.size();
  expect_no_archive(declared(packed, most), end, "it unpacks to fewer bytes than the");
  expect_no_archive(declared(packed, 131), end, "fewer bytes than the 131 declared");
  // What NumPy's header says is compared with the size first, here one byte too few.
  const Diagnostic d = fault([&] { arrays_of(declared(packed, 129)); });
  EXPECT_EQ(d.number, 431);
  EXPECT_EQ(d.message,
            "member 'a.npy', byte 129 of what it unpacks to: the file ends after 1 bytes "
            "of data, expected 2");
  expect_no_archive(declared(deflated(kTwoBytes + "c"), 130), 35 + deflated(kTwoBytes + "c").size(),
                    "it unpacks to more bytes than the 130 declared");
  expect_no_archive(declared(packed + "trailing", 130), end + 8, "its stream ends 8 bytes early");
  expect_no_archive(declared(packed.substr(0, packed.size() - 2), 130), end - 2,
                    "its bytes end before their stream does");
  expect_no_archive(declared("\xff" + packed.substr(1), 130), end,
                    "its bytes are no deflated stream: invalid block type");
}

TEST(Npz, MoreThanHalfOfTheMemoryIsRefusedBeforeItIsTaken) {
  // A directory alone can claim it where there are enough bytes in the file, here those of a hole.
  const std::uint64_t claimed = std::uint64_t{1} << 42, packed = (claimed >> 10) + 1;
  const TempFolder folder;
  const auto path = folder / "x.npz";
  ZipArchive zip;
  zip.add({.name = "a.npy",
           .data = "",
           .method = 8,
           .packed = true,
           .declared = claimed,
           .packed_size = packed,
           .central64 = true});
  std::ofstream(path, std::ios::binary) << zip.locals();
  std::filesystem::resize_file(path, zip.locals().size() + packed);
  std::ofstream(path, std::ios::binary | std::ios::app) << zip.directory(packed);
  const std::string text =
      expect_input_error([&] { read_npz(path); }, ExitCode::input_invalid, 403);
  EXPECT_NE(text.find("more than half of the memory"), std::string::npos) << text;
}

TEST(Npz, LargeNumbersStandInFieldsOf64Bits) {
  const auto archive = [](const ZipArchive::Wide64& wide) {
    ZipArchive zip;
    zip.add({.name = "a.npy", .data = kTwoBytes, .central64 = true});
    zip.wide = wide;
    return zip.bytes();
  };
  EXPECT_EQ(arrays_of(archive({})).at(0).values.size(), 2);
  const std::uint64_t end = 35 + 20 + kTwoBytes.size() + 46 + 5 + 28, locator = end + 56;
  expect_no_archive(archive({.at = 1}), locator, "cannot be at byte 18446744073709551615");
  expect_no_archive(archive({.at = -1}), locator, "cannot be at byte");
  expect_no_archive(archive({.parts = 2}), locator, "several parts");
  expect_no_archive(archive({.length = 45}), end, "expected a ZIP64 end record");
  expect_no_archive(archive({.members = 2}), end, "several parts");
  expect_no_archive(archive({.short_members = 2}), end, "of 32 and of 64 bits say different");
  expect_no_archive(archive({.size = 1}), end, "does not reach from where it begins");
  expect_no_archive(archive({.begin = 1}), end, "does not reach from where it begins");
  ZipArchive without;
  without.add({.name = "a.npy", .data = kTwoBytes, .central64 = true, .fields64 = 2});
  expect_no_archive(without.bytes(), 35 + 20 + kTwoBytes.size(), "a number of 64 bits is missing");
}

TEST(Npz, ArraysThatAreNoneAreRefusedWithTheirNames) {
  const auto refused = [](const std::string& npy, int method = 0) {
    ZipArchive zip;
    zip.add({.name = "a.npy", .data = npy, .method = static_cast<std::uint16_t>(method)});
    return fault([&] { arrays_of(zip.bytes()); });
  };
  Diagnostic d = refused(npy_bytes("'|O'", "(1,)", "pickled"));
  EXPECT_EQ(d.number, 431);
  EXPECT_EQ(d.place.byte, 35U + 10 + 14);
  EXPECT_EQ(d.message,
            "member 'a.npy': the dtype '|O' cannot be used: Python objects are not read: "
            "they could run code");
  EXPECT_NE(refused(npy_bytes("'<U2'", "(1,)", "12345678")).message.find("texts are not read"),
            std::string::npos);
  EXPECT_NE(
      refused(npy_bytes("[('a', '<f8')]", "(1,)", "12345678")).message.find("records are not read"),
      std::string::npos);
  EXPECT_NE(refused(npy_bytes("'<f8'", "(2,)", "12345678"))
                .message.find("member 'a.npy': the file ends after 8 bytes of data, expected 16"),
            std::string::npos);
  d = refused(npy_bytes("'<u8'", "(1,)", std::string(8, '\xff')), 8);
  EXPECT_EQ(d.number, 431);
  EXPECT_EQ(d.message,
            "member 'a.npy', byte 128 of what it unpacks to: holds the number "
            "18446744073709551615, and unsigned integers are read up to 2^63 - 1");
  EXPECT_EQ(refused(npy_bytes("'|u1'", "(1, 1, 1, 1, 1, 1, 1, 1, 1)", "x")).message,
            "member 'a.npy': has 9 axes, and a tensor has at most 8");
  EXPECT_NE(refused("no array").message.find("not an npy file"), std::string::npos);
}

TEST(Npy, WhatIsWrittenIsReadAgain) {
  const TempFolder folder;
  const Tensor turned = transpose(tensor({1.0, 2.0, 3.0, 4.0, 5.0, 6.0}, {2, 3}), {1, 0});
  write_npy(folder / "x.npy", turned);
  EXPECT_EQ(read_npy(folder / "x.npy").type(), turned.type());
  EXPECT_EQ(read_npy(folder / "x.npy").to_vector(), turned.to_vector());
  const auto path = folder.write("bad.npy", npy_bytes("'<f8'", "(1,)", "1234"));
  const Diagnostic d = fault([&] { read_npy(path); });
  EXPECT_EQ(d.number, 431);
  EXPECT_EQ(d.place.byte, 132U);
  EXPECT_EQ(d.message, "the file ends after 4 bytes of data, expected 8");
  expect_input_error([&] { read_npy(folder / "none.npy"); }, ExitCode::input_invalid, 401);
  expect_input_error([&] { write_npy(folder / "none" / "x.npy", turned); }, ExitCode::usage, 502);
}

TEST(Npy, BooleansThatAreNeitherAreTrue) {
  const TempFolder folder;
  EXPECT_EQ(read_npy(folder.write("b.npy", npy_bytes("'|b1'", "(3,)", std::string("\0\1\2", 3))))
                .to_vector<bool>(),
            (std::vector<bool>{false, true, true}));
}

TEST(ReadArray, ByItsEndingAndName) {
  const TempFolder folder;
  const Tensor x = tensor({1.0, 2.0}), y = tensor<std::int64_t>({3, 4}, {1, 2});
  const std::vector<NamedTensor> two = {{"images", x}, {"labels", y}}, one = {{"x", x}};
  write_npy(folder / "x.npy", x);
  write_npz(folder / "two.npz", two);
  write_npz(folder / "one.NPZ", one);
  write_safetensors(folder / "two.safetensors", two);
  H5Writer h5(folder / "two.h5");
  h5.write("images", std::vector<double>{1, 2});
  h5.write("deep/labels", std::vector<std::int64_t>{3, 4}, {1, 2});
  h5.write_text("note", "words");
  h5.commit();
  EXPECT_EQ(read_array(folder / "x.npy").to_vector(), x.to_vector());
  EXPECT_EQ(read_array(folder / "one.NPZ").to_vector(), x.to_vector());
  EXPECT_EQ(read_array(folder / "two.safetensors", "images").to_vector(), x.to_vector());
  EXPECT_EQ(read_array(folder / "two.h5", "images").to_vector(), x.to_vector());
  for (const auto& labels :
       {read_array(folder / "two.npz", "labels"), read_array(folder / "two.h5", "deep/labels")}) {
    EXPECT_EQ(labels.type(), y.type());
    EXPECT_EQ(labels.to_vector<std::int64_t>(), y.to_vector<std::int64_t>());
  }
  const auto refused = [&](const char* file, const char* name, int number) {
    const Diagnostic d = fault([&] { read_array(folder / file, name); });
    EXPECT_EQ(d.number, number) << to_string(d);
    EXPECT_EQ(d.place.file, (folder / file).string());
    return d.message;
  };
  EXPECT_EQ(refused("two.npz", "", 440), "which array? The file has images, labels");
  EXPECT_EQ(refused("two.safetensors", "label", 440),
            "there is no array 'label'; the file has images, labels");
  EXPECT_EQ(refused("two.h5", "label", 440),
            "there is no array 'label'; the file has deep/labels, images, note");
  EXPECT_EQ(refused("two.h5", "", 440), "which array? The file has deep/labels, images, note");
  EXPECT_EQ(refused("two.h5", "note", 427), "dataset 'note' holds texts, expected numbers");
  EXPECT_EQ(refused("x.npy", "x", 440),
            "an .npy file has one array without a name, got the name 'x'");
  EXPECT_EQ(refused("x.csv", "x", 430),
            "arrays are read from files that end in .npy, .npz, .safetensors, .h5 or .hdf5");
}

TEST(Info, ArchivesOfArraysWhateverTheyHold) {
  const TempFolder folder;
  EXPECT_EQ(
      to_text(info(folder.write("x", kStoredArchive))),
      "x\n  format: npz\n  bytes: 506\n  arrays: 2\n    a: <i2, 2 x 2\n    s: <f8, one value\n");
  ZipArchive zip;
  zip.add({.name = "f.npy", .data = npy_bytes("'<U2'", "(1,)", "12345678"), .method = 8});
  zip.add({.name = "o.npy", .data = npy_bytes("'|O'", "(1,)", "pickled")});
  zip.add({.name = "t.npy", .data = npy_bytes("'<M8[ns]'", "(1,)", "12345678")});
  zip.add({.name = "notes.txt", .data = "words"});
  const std::string text = to_text(info(folder.write("y.npz", zip.bytes())));
  EXPECT_NE(text.find("arrays: 4\n    f: <U2, 1\n    o: not read: member 'o.npy': the dtype '|O' "
                      "cannot be used: Python objects are not read: they could run code\n"
                      "    t: <M8[ns], 1\n    notes.txt: not read: "),
            std::string::npos)
      << text;
  expect_input_error([&] { info(folder.write("bad.npz", kStoredArchive + "x")); },
                     ExitCode::input_invalid, 437);
  expect_input_error([&] { info(folder.write("z.zip", "PK\x03\x04 some other archive")); },
                     ExitCode::input_invalid, 430);
}
