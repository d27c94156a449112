// SPDX-License-Identifier: Apache-2.0
// HDF5 files made to do harm: each ends in a numbered error, soon, and with little memory.
#define H5_USE_110_API
#include "data/src/files/guarded_child.h"
#include "input_error.h"
#include "temp_folder.h"
#include "tessera/data/hdf5.h"
#include "tessera/data/info.h"
#include "tessera/data/windows.h"

#include <gtest/gtest.h>
#include <hdf5.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <random>

using namespace tessera::data;
using namespace tessera::testing;

namespace {

/// A file of the newest format, made by `fill` through the C API.
template <class Fill>
std::filesystem::path evil(const TempFolder& dir, const std::string& name, Fill fill) {
  const auto path = dir / name;
  const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
  H5Pset_libver_bounds(access, H5F_LIBVER_V110, H5F_LIBVER_V110);
  const hid_t file = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access);
  EXPECT_GE(file, 0);
  fill(file);
  H5Pclose(access);
  EXPECT_GE(H5Fclose(file), 0);
  return path;
}

hid_t make_dataset(hid_t file, const char* name, hid_t type, std::vector<hsize_t> dims,
                   hid_t plist) {
  const hid_t space = H5Screate_simple(int(dims.size()), dims.data(), nullptr);
  const hid_t set = H5Dcreate2(file, name, type, space, H5P_DEFAULT, plist, H5P_DEFAULT);
  EXPECT_GE(set, 0);
  H5Sclose(space);
  return set;
}

/// Both ways in must refuse, with exit 4.
void expect_refused(const std::filesystem::path& path, int number) {
  expect_input_error([&] { list_h5(path); }, ExitCode::input_invalid, number);
  expect_input_error([&] { info(path); }, ExitCode::input_invalid, number);
  const std::string text =
      expect_input_error([&] { read_h5(path); }, ExitCode::input_invalid, number);
  EXPECT_NE(text.find(path.string()), std::string::npos) << text;
}

}  // namespace

TEST(Hdf5Hostile, ATinyFileThatDeclaresTerabytes) {
  TempFolder dir;
  const auto path = evil(dir, "huge.h5", [](hid_t file) {
    const hid_t plist = H5Pcreate(H5P_DATASET_CREATE);
    const hsize_t chunk = 1024;
    H5Pset_chunk(plist, 1, &chunk);
    H5Pset_deflate(plist, 9);
    H5Dclose(make_dataset(file, "d", H5T_NATIVE_DOUBLE, {hsize_t{1100000000000}}, plist));
    H5Pclose(plist);
  });
  EXPECT_LT(std::filesystem::file_size(path), 10000u);
  expect_refused(path, 426);
}

TEST(Hdf5Hostile, AGzipBomb) {
  TempFolder dir;
  const auto path = evil(dir, "bomb.h5", [](hid_t file) {
    const hid_t plist = H5Pcreate(H5P_DATASET_CREATE);
    const hsize_t chunk = 1 << 20;
    H5Pset_chunk(plist, 1, &chunk);
    H5Pset_deflate(plist, 9);
    const std::vector<double> zeros(12 << 20);
    const hid_t set = make_dataset(file, "d", H5T_NATIVE_DOUBLE, {zeros.size()}, plist);
    H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, zeros.data());
    H5Dclose(set);
    H5Pclose(plist);
  });
  EXPECT_LT(std::filesystem::file_size(path), 1000000u);
  expect_input_error([&] { read_h5(path); }, ExitCode::input_invalid, 426);
  // Of a list nothing is read.
  EXPECT_EQ(list_h5(path).at(1).shape, (std::vector<std::uint64_t>{12 << 20}));
  EXPECT_NO_THROW(info(path));
  EXPECT_EQ(read_h5(path, {}, {.max_bytes = 200 << 20}).size(),
            1u);  // trusted: the limit is raised
  EXPECT_EQ(read_h5(path, {}, limits_of_results()).size(), 1u);
}

TEST(Hdf5Hostile, ALargeChunkOfZerosIsReadByBoxes) {
  TempFolder dir;
  constexpr tessera::Index n = 10 << 20;
  const auto path = evil(dir, "chunk.h5", [](hid_t file) {
    const hid_t plist = H5Pcreate(H5P_DATASET_CREATE);
    const hsize_t chunk = n;
    H5Pset_chunk(plist, 1, &chunk);
    H5Pset_deflate(plist, 1);
    const std::vector<double> zeros(n);
    const hid_t set = make_dataset(file, "d", H5T_NATIVE_DOUBLE, {n}, plist);
    H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, zeros.data());
    H5Dclose(set);
    H5Pclose(plist);
  });
  EXPECT_LT(std::filesystem::file_size(path), 1000000u);
  EXPECT_EQ(open_boxes(path).read({{n - 2}, {n}}).to_vector(), (std::vector<double>{0, 0}));
}

TEST(Hdf5Hostile, ANullDataspaceIsSaidAndLeftOut) {
  TempFolder dir;
  const auto path = evil(dir, "null.h5", [](hid_t file) {
    const hid_t none = H5Screate(H5S_NULL);
    H5Dclose(H5Dcreate2(file, "nothing", H5T_NATIVE_DOUBLE, none, H5P_DEFAULT, H5P_DEFAULT,
                        H5P_DEFAULT));
    H5Sclose(none);
    H5Dclose(make_dataset(file, "x", H5T_NATIVE_DOUBLE, {3}, H5P_DEFAULT));
  });
  EXPECT_EQ(list_h5(path).at(1).shape, (std::vector<std::uint64_t>{0}));
  const auto all = read_h5(path);
  EXPECT_EQ(all.size(), 1u);
  EXPECT_TRUE(all.contains("/x"));
  const std::vector<std::string> name = {"nothing"};
  expect_input_error([&] { read_h5(path, name); }, ExitCode::input_invalid, 427);
  expect_input_error([&] { open_boxes(path, "nothing"); }, ExitCode::input_invalid, 427);
}

TEST(Hdf5Hostile, DataOfAnotherFile) {
  TempFolder dir;
  const auto secret = dir.write("secret", "top secret bytes");
  expect_refused(evil(dir, "external.h5",
                      [&](hid_t file) {
                        const hid_t plist = H5Pcreate(H5P_DATASET_CREATE);
                        H5Pset_external(plist, secret.c_str(), 0, 16);
                        H5Dclose(make_dataset(file, "d", H5T_NATIVE_UINT8, {16}, plist));
                        H5Pclose(plist);
                      }),
                 423);
  expect_refused(evil(dir, "virtual.h5",
                      [&](hid_t file) {
                        const hid_t plist = H5Pcreate(H5P_DATASET_CREATE);
                        const hsize_t n = 16;
                        const hid_t space = H5Screate_simple(1, &n, nullptr);
                        H5Pset_virtual(plist, space, secret.c_str(), "d", space);
                        H5Dclose(make_dataset(file, "d", H5T_NATIVE_UINT8, {16}, plist));
                        H5Sclose(space);
                        H5Pclose(plist);
                      }),
                 423);
  expect_refused(evil(dir, "link.h5",
                      [&](hid_t file) {
                        H5Lcreate_external(secret.c_str(), "/d", file, "d", H5P_DEFAULT,
                                           H5P_DEFAULT);
                      }),
                 423);
}

TEST(Hdf5Hostile, SoftLinksLeadNowhereButToObjectsOfTheFile) {
  TempFolder dir;
  expect_refused(
      evil(dir, "nowhere.h5",
           [](hid_t file) { H5Lcreate_soft("/absent", file, "s", H5P_DEFAULT, H5P_DEFAULT); }),
      423);
  expect_refused(
      evil(dir, "self.h5",
           [](hid_t file) { H5Lcreate_soft("/s", file, "s", H5P_DEFAULT, H5P_DEFAULT); }),
      423);
  const auto fine = evil(dir, "fine.h5", [](hid_t file) {
    H5Dclose(make_dataset(file, "d", H5T_NATIVE_DOUBLE, {1}, H5P_DEFAULT));
    H5Lcreate_soft("/d", file, "s", H5P_DEFAULT, H5P_DEFAULT);
  });
  const auto objects = list_h5(fine);
  ASSERT_EQ(objects.size(), 3u);
  EXPECT_EQ(objects[2].kind, H5Object::Kind::soft_link);
  const std::vector<std::string> through = {"s"};
  expect_input_error([&] { read_h5(fine, through); }, ExitCode::input_invalid, 428);
}

TEST(Hdf5Hostile, UnknownFilter) {
  TempFolder dir;
  expect_refused(evil(dir, "filter.h5",
                      [](hid_t file) {
                        const H5Z_class2_t same = {H5Z_CLASS_T_VERS,
                                                   300,
                                                   1,
                                                   1,
                                                   "same",
                                                   nullptr,
                                                   nullptr,
                                                   [](unsigned, size_t, const unsigned*, size_t n,
                                                      size_t*, void**) { return n; }};
                        H5Zregister(&same);
                        const hid_t plist = H5Pcreate(H5P_DATASET_CREATE);
                        const hsize_t chunk = 4;
                        H5Pset_chunk(plist, 1, &chunk);
                        H5Pset_filter(plist, 300, H5Z_FLAG_MANDATORY, 0, nullptr);
                        H5Dclose(make_dataset(file, "d", H5T_NATIVE_DOUBLE, {4}, plist));
                        H5Pclose(plist);
                      }),
                 424);
}

TEST(Hdf5Hostile, LoopsDepthAndManyWaysToOneObject) {
  TempFolder dir;
  expect_refused(evil(dir, "loop.h5",
                      [](hid_t file) {
                        H5Gclose(H5Gcreate2(file, "a", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
                        H5Lcreate_hard(file, "/", file, "a/up", H5P_DEFAULT, H5P_DEFAULT);
                      }),
                 425);
  expect_refused(evil(dir, "deep.h5",
                      [](hid_t file) {
                        std::string path;
                        for (int i = 0; i < 100; ++i)
                          H5Gclose(H5Gcreate2(file, (path += "/g").c_str(), H5P_DEFAULT,
                                              H5P_DEFAULT, H5P_DEFAULT));
                      }),
                 425);
  // Thirty levels, two names each: 2^30 paths, 31 groups.
  const auto lattice = evil(dir, "lattice.h5", [](hid_t file) {
    std::string path;
    for (int i = 0; i < 30; ++i) {
      H5Gclose(H5Gcreate2(file, (path + "/a").c_str(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
      H5Lcreate_hard(file, (path + "/a").c_str(), file, (path + "/b").c_str(), H5P_DEFAULT,
                     H5P_DEFAULT);
      path += "/a";
    }
  });
  EXPECT_EQ(list_h5(lattice).size(), 61u);
}

TEST(Hdf5Hostile, AHugeAttribute) {
  TempFolder dir;
  expect_refused(evil(dir, "attribute.h5",
                      [](hid_t file) {
                        const hsize_t n = 8 << 20;
                        const hid_t space = H5Screate_simple(1, &n, nullptr);
                        const hid_t a = H5Acreate2(file, "a", H5T_NATIVE_UINT8, space, H5P_DEFAULT,
                                                   H5P_DEFAULT);
                        const std::vector<std::uint8_t> zeros(n);
                        H5Awrite(a, H5T_NATIVE_UINT8, zeros.data());
                        H5Aclose(a);
                        H5Sclose(space);
                      }),
                 426);
}

TEST(Hdf5Hostile, TypesThatAreNotReadAreListedAndSaid) {
  TempFolder dir;
  const auto path = evil(dir, "types.h5", [](hid_t file) {
    const hid_t opaque = H5Tcreate(H5T_OPAQUE, 16);
    H5Dclose(make_dataset(file, "opaque", opaque, {2}, H5P_DEFAULT));
    H5Tclose(opaque);
    H5Dclose(make_dataset(file, "pointer", H5T_STD_REF_OBJ, {2}, H5P_DEFAULT));
  });
  EXPECT_EQ(list_h5(path)[1].type, "opaque");
  EXPECT_TRUE(read_h5(path).empty());
  const std::vector<std::string> name = {"opaque"};
  expect_input_error([&] { read_h5(path, name); }, ExitCode::input_invalid, 427);
}

TEST(Hdf5Hostile, GarbageTruncatedAndUnclosedFiles) {
  TempFolder dir;
  expect_input_error([&] { list_h5(dir.write("empty.h5", "")); }, ExitCode::input_invalid, 420);
  expect_input_error([&] { list_h5(dir.write("text.h5", std::string(5000, 'x'))); },
                     ExitCode::input_invalid, 420);
  expect_input_error([&] { list_h5(dir.write("head.h5", "\x89HDF\r\n\x1a\n")); },
                     ExitCode::input_invalid, 421);
  std::string junk = "\x89HDF\r\n\x1a\n";
  std::mt19937_64 random(1);
  while (junk.size() < 5000) junk += static_cast<char>(random());
  expect_input_error([&] { list_h5(dir.write("junk.h5", junk)); }, ExitCode::input_invalid);
  const auto good = evil(dir, "good.h5", [](hid_t file) {
    H5Dclose(make_dataset(file, "d", H5T_NATIVE_DOUBLE, {1000}, H5P_DEFAULT));
  });
  std::string bytes = read_bytes(good);
  expect_input_error([&] { list_h5(dir.write("cut.h5", bytes.substr(0, bytes.size() - 100))); },
                     ExitCode::input_invalid, 421);
  bytes[11] = 1;
  expect_input_error([&] { list_h5(dir.write("open.h5", bytes)); }, ExitCode::input_invalid, 422);
  bytes[11] = 5;
  const std::string text = expect_input_error([&] { list_h5(dir.write("swmr.h5", bytes)); },
                                              ExitCode::input_invalid, 422);
  EXPECT_NE(text.find("byte 11"), std::string::npos) << text;
}

TEST(Hdf5Hostile, FlippedBytesEndInAnErrorOrAnAnswer) {
  TempFolder dir;
  const auto path = dir / "base.h5";
  {
    H5Writer w(path);
    std::vector<double> x(2000);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = double(i);
    w.write("g/x", x, {20, 100}, {"m", "a thing"}, {.checksum = true});
    w.write_texts("names", std::vector<std::string>{"a", "b"});
    w.attribute("", "note", "text");
    w.commit();
  }
  const std::string bytes = read_bytes(path);
  std::mt19937_64 random(20260102);
  int refused = 0;
  for (int i = 0; i < 200; ++i) {
    std::string bad = bytes;
    for (int k = 0; k < 4; ++k)
      bad[random() % std::min<std::size_t>(bad.size(), 3000)] = static_cast<char>(random());
    try {
      read_h5(dir.write("bad.h5", bad));
    } catch (const InputError& e) {
      EXPECT_EQ(static_cast<int>(e.code()), 4);
      ++refused;
    }
  }
  EXPECT_GT(refused, 50);
}

TEST(GuardedChild, CrashMemoryTimeAndFaultAreSaid) {
  const std::filesystem::path file = "f";
  const std::string crash = expect_input_error(
      [&] {
        run_guarded(file, {}, []() -> std::string {
          ::raise(SIGSEGV);
          return "";
        });
      },
      ExitCode::input_invalid, 429);
  EXPECT_NE(crash.find("signal 11"), std::string::npos) << crash;
  expect_input_error(
      [&] {
        run_guarded(file, {.memory_bytes = 64 << 20},
                    [] { return std::string(std::size_t{8} << 30, 'x'); });
      },
      ExitCode::input_invalid, 429);
  expect_input_error(
      [&] {
        run_guarded(file, {.cpu_seconds = 1}, []() -> std::string {
          for (volatile unsigned i = 0;;) {
            const unsigned next = i + 1;
            i = next;
          }
        });
      },
      ExitCode::input_invalid, 429);
  EXPECT_THROW(run_guarded(file, {}, []() -> std::string { throw std::runtime_error("odd"); }),
               tessera::Error);
  EXPECT_EQ(run_guarded(file, {}, [] { return std::string(1000000, 'y'); }),
            std::string(1000000, 'y'));
}

/// A signal to the group of processes is no fault of the file: whether to stop is for the process
/// to say, which waits for the child.
TEST(GuardedChild, RequestsToStopAreForTheProcessItself) {
  for (const int request : {SIGINT, SIGTERM, SIGHUP})
    EXPECT_EQ(run_guarded("f", {},
                          [request] {
                            ::raise(request);
                            return std::string("there");
                          }),
              "there")
        << request;
}

/// A process that a signal ends leaves no child behind that computes on.
TEST(GuardedChild, EndsWithTheProcess) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const pid_t process = ::fork();
  ASSERT_GE(process, 0);
  if (process == 0) {
    run_guarded("f", {}, [&]() -> std::string {
      if (::write(ends[1], "b", 1) == 1) ::sleep(30);
      return "";
    });
    ::_exit(0);
  }
  ::close(ends[1]);
  char byte = 0;
  ASSERT_EQ(::read(ends[0], &byte, 1), 1);
  ::kill(process, SIGTERM);
  ::waitpid(process, nullptr, 0);
  pollfd held{ends[0], POLLIN, 0};  // by the child, until it ends
  EXPECT_EQ(::poll(&held, 1, 10000), 1);
  EXPECT_TRUE(held.revents & POLLHUP);
  ::close(ends[0]);
}
