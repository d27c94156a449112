// SPDX-License-Identifier: Apache-2.0
// Archives that lie, each in one number.
#include "numpy_archives.h"
#include "zip_archive.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

using namespace tessera::data;
using namespace tessera::testing;

TEST(NpzHostile, WhatIsCutOffOrGoesOnIsRefused) {
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

TEST(NpzHostile, DirectoriesThatLieAreRefused) {
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

TEST(NpzHostile, HeadersThatDisagreeAreRefused) {
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
  const std::string half("\1\0\6\0abcdef", 10);
  expect_no_archive(with(kStoredArchive, kLocalS + 35, half + half), kLocalS, "two ZIP64 fields");
  expect_no_archive(with(kStoredArchive, kLocalS + 35, "\2"), kLocalS, other);
}

TEST(NpzHostile, EncryptedAndOtherwisePackedOnesAreRefused) {
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

TEST(NpzHostile, NamesThatLeadAwayAreRefused) {
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

TEST(NpzHostile, MembersThatOverlapAreRefused) {
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

TEST(NpzHostile, DeflateCannotReachFurtherThanItDoes) {
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

TEST(NpzHostile, MoreThanHalfOfTheMemoryIsRefusedBeforeItIsTaken) {
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

TEST(NpzHostile, LargeNumbersStandInFieldsOf64Bits) {
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

TEST(NpzHostile, ArraysThatAreNoneAreRefusedWithTheirNames) {
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
