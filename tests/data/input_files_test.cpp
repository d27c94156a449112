// SPDX-License-Identifier: Apache-2.0
#include "tessera/data/input_files.h"

#include "input_error.h"
#include "open_counter.h"
#include "temp_folder.h"
#include "tessera/data/binary_file.h"
#include "tessera/data/hdf5.h"
#include "tessera/data/sha256.h"
#include "tessera/data/text_file.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <fstream>

namespace tessera::data {
namespace {

namespace fs = std::filesystem;
using testing::expect_input_error;
using testing::OpenCounter;
using testing::TempFolder;

TEST(InputFiles, ATextIsNamedByTheBytesThatWereParsed) {
  const TempFolder dir;
  const fs::path file = dir.write("a.txt", "one\r\ntwo\r\n");
  const InputFiles inputs;
  EXPECT_EQ(read_text_file(file).text, "one\ntwo\n");
  dir.write("a.txt", "another text");  // in place: the same file
  EXPECT_EQ(inputs.list(),
            (std::vector<InputFile>{{file.string(), 10, sha256_hex("one\r\ntwo\r\n")}}));
  EXPECT_EQ(inputs_read(), inputs.list());
}

TEST(InputFiles, AFileReadInPartsIsNamedByTheBytesThatItHadWhenItWasOpened) {
  const TempFolder dir;
  const std::string bytes(200000, 'x');
  const fs::path file = dir.write("a.bin", bytes);
  const InputFiles inputs;
  const BinaryInput in(file);
  std::ofstream(file, std::ios::app) << "more";
  EXPECT_EQ(in.size(), bytes.size());
  EXPECT_EQ(inputs.list(),
            (std::vector<InputFile>{{file.string(), bytes.size(), sha256_hex(bytes)}}));
}

TEST(InputFiles, EachIsOpenedOnceByWhateverNameAndReader) {
  const TempFolder dir;
  const fs::path file = dir.write("a.txt", "text"), other = dir.write("b.txt", "other"),
                 link = dir / "link.txt";
  fs::create_symlink("a.txt", link);
  OpenCounter counter({file, other});
  {
    const InputFiles inputs;
    open_input(file);
    EXPECT_EQ(read_text_file(file).text, "text");
    EXPECT_EQ(read_text_file(link).path, link.string());
    read_text_file(other);
    char c = 0;
    EXPECT_TRUE(BinaryInput(dir.path() / "." / "a.txt").read(1, &c, 1));
    EXPECT_EQ(c, 'e');
    std::vector<std::string> names;
    for (const InputFile& f : inputs.list()) names.push_back(f.path);
    EXPECT_EQ(names, (std::vector<std::string>{file.string(), other.string()}));
    EXPECT_EQ(counter.counts(), (std::map<std::string, int>{{"a.txt", 1}, {"b.txt", 1}}));
  }
  read_text_file(file);
  EXPECT_EQ(counter.counts().at("a.txt"), 2) << "nobody holds it any more";
}

TEST(InputFiles, WhatIsReadAfterTheCaseIsCompleteIsNoInput) {
  const TempFolder dir;
  const fs::path file = dir.write("a.txt", "input"), late = dir.write("b.txt", "a result");
  OpenCounter counter({file, late});
  InputFiles inputs;
  read_text_file(file);
  inputs.complete();
  EXPECT_EQ(read_text_file(file).text, "input");
  EXPECT_EQ(read_text_file(late).text, "a result");
  EXPECT_EQ(inputs.list().size(), 1U);
  EXPECT_EQ(counter.counts().at("a.txt"), 1);
  // Another file by the name of an input is another file.
  const fs::path there = dir.write("c.txt", "replaced");
  fs::rename(there, file);
  EXPECT_EQ(read_text_file(file).text, "replaced");
}

TEST(InputFiles, TheInnermostOfTheThreadTakesTheFiles) {
  const TempFolder dir;
  const fs::path file = dir.write("a.txt", "text");
  const InputFiles outer;
  {
    const InputFiles inner;
    read_text_file(file);
    EXPECT_EQ(inner.list().size(), 1U);
  }
  EXPECT_TRUE(outer.list().empty());
  read_text_file(file);
  EXPECT_EQ(outer.list().size(), 1U);
}

TEST(InputFiles, HoldHdf5FilesTooWhichTheLibraryOpensByTheirDescriptors) {
  const TempFolder dir;
  const fs::path file = dir / "a.h5";
  {
    H5Writer out(file);
    out.write("x", std::vector<double>{1, 2, 3}, {3});
    out.commit();
  }
  const std::string bytes = testing::read_bytes(file);
  const InputFiles inputs;
  EXPECT_EQ(list_h5(file).size(), 2U);
  // It is the same file by another name.
  const fs::path away = dir / "b.h5";
  fs::rename(file, away);
  EXPECT_EQ(std::get<std::vector<double>>(read_h5(away).at("/x").data),
            (std::vector<double>{1, 2, 3}));
  EXPECT_EQ(inputs.list(),
            (std::vector<InputFile>{{file.string(), bytes.size(), sha256_hex(bytes)}}));
}

TEST(InputFiles, MoreFilesThanAProcessMayOpenAtFirstAreHeld) {
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  if (before.rlim_max < 256) GTEST_SKIP() << "the machine allows no more";
  const rlimit few{64, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &few), 0);
  const TempFolder dir;
  {
    const InputFiles inputs;
    for (int k = 0; k < 100; ++k)
      read_text_file(dir.write(std::to_string(k), "text " + std::to_string(k)));
    EXPECT_EQ(inputs.list().size(), 100U);
  }
  ::setrlimit(RLIMIT_NOFILE, &before);
}

TEST(InputFiles, RefuseWhatIsNoRegularFile) {
  const TempFolder dir;
  const InputFiles inputs;
  expect_input_error([&] { open_input(dir / "missing"); }, ExitCode::input_invalid, 401);
  expect_input_error([&] { open_input(dir.path()); }, ExitCode::input_invalid, 402);
  expect_input_error([&] { open_input("/dev/zero"); }, ExitCode::input_invalid, 402);
  EXPECT_TRUE(inputs.list().empty());
}

}  // namespace
}  // namespace tessera::data
