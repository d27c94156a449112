// SPDX-License-Identifier: Apache-2.0
#include "error_text.h"
#include "numpy_archives.h"
#include "tensors_of_every_type.h"
#include "tessera/autodiff/ops.h"
#include "tessera/data/hdf5.h"
#include "tessera/data/info.h"
#include "tessera/data/input_files.h"
#include "tessera/data/safetensors.h"
#include "zip_archive.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

using namespace tessera;
using namespace tessera::data;
using namespace tessera::testing;

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
  std::vector<NamedTensor> arrays = tensors_of_every_type();
  arrays.push_back({"group/é", arange(4)});
  arrays.push_back({"c128", tensor<c128>({{1, -2}, {0.1, 3}})});
  arrays.push_back({"long", arange(100000)});
  arrays.push_back({"", zeros({1})});
  for (const NpzPacking packing : {NpzPacking::stored, NpzPacking::deflated}) {
    write_npz(folder / "x.npz", arrays, packing);
    expect_same_tensors(read_npz(folder / "x.npz"), arrays);
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

TEST(ReadArray, IsOfAnInputFile) {
  const TempFolder folder;
  const auto path = folder.write("x.npz", kStoredArchive);
  const InputFiles inputs;
  read_array(path, "s");
  ASSERT_EQ(inputs.list().size(), 1U);
  EXPECT_EQ(inputs.list()[0].bytes, kStoredArchive.size());
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
