// SPDX-License-Identifier: Apache-2.0
// Every call that changes a file fails or is the last one before a kill, one after the other: what
// was good before stays good, and what is new is whole or absent.
#include "fault_calls.h"
#include "input_error.h"
#include "temp_folder.h"
#include "tessera/data/checkpoint_shards.h"
#include "tessera/data/file_io.h"
#include "tessera/data/hdf5.h"
#include "tessera/data/hdf5_series.h"
#include "tessera/data/run.h"
#include "tessera/data/stop.h"
#include "tessera/data/windows.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

using namespace tessera::data;
using namespace tessera::testing;
namespace fs = std::filesystem;

namespace {

constexpr int kNotReached =
    100;  // the exit status of a child whose work had fewer calls than the plan

/// Forks; in the child plans the fault, works, and exits with the InputError's code, 0 or
/// kNotReached.
template <class Work>
int with_fault(long n, int error, Work work, bool only_torn = false) {
  const pid_t child = ::fork();
  if (child == 0) {
    int code = 0;
    try {
      plan_fault(n, error, only_torn);
      work();
      g_calls_left = -1;
      if (!g_fault_done) code = kNotReached;
    } catch (const InputError& e) {
      g_calls_left = -1;
      code = static_cast<int>(e.code());
    } catch (...) {
      code = 101;
    }
    ::_exit(code);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

Checkpoint state(std::uint64_t step) {
  Checkpoint c{.app = "a.b", .step = step};
  c.put("x", std::vector<double>(1000, double(step)));
  return c;
}

void expect_good(const fs::path& dir, std::uint64_t at_least) {
  const auto loaded = load_newest_checkpoint(dir);
  ASSERT_TRUE(loaded);
  EXPECT_TRUE(loaded->warnings.empty());
  EXPECT_GE(loaded->checkpoint.step, at_least);
  EXPECT_EQ(loaded->checkpoint.array<double>("x"),
            std::vector<double>(1000, double(loaded->checkpoint.step)));
}

std::size_t temporary_files(const fs::path& dir) {
  std::size_t n = 0;
  for (const auto& e : fs::recursive_directory_iterator(dir))
    n += e.path().filename().string().find(".tmp-") != std::string::npos;
  return n;
}

void write_results(const fs::path& path, double value) {
  H5Writer w(path);
  std::vector<double> x(20000);
  for (std::size_t i = 0; i < x.size(); ++i)
    x[i] = value + (i ? std::sin(double(i * i)) : 0);  // does not compress
  w.write("x", x, {}, {}, {.checksum = true});
  w.write("y", std::vector<double>(10, value));
  w.commit();
}
double results_value(const fs::path& path) {
  const auto all = read_h5(path);
  const auto& x = std::get<std::vector<double>>(all.at("/x").data);
  for (std::size_t i = 1; i < x.size(); ++i) EXPECT_EQ(x[i], x[0] + std::sin(double(i * i)));
  return x.at(0);
}

/// A trajectory is taken up after 30 of its 40 rows and goes on, killed at one call after the
/// other. It can then be gone on with after every row that was told. `shift`: bytes by which its
/// records come to lie further on. Returns the kills.
int expect_rows_kept(std::size_t shift, bool only_torn) {
  const std::vector<std::string> names = {"step", "value"};
  const auto add = [](H5Series& series, std::int64_t step) {
    const std::vector<double> value(900, 0.5 * static_cast<double>(step));
    series.row(0, std::span<const std::int64_t>(&step, 1));
    series.row(1, std::span<const double>(value));
    series.end_row();
  };
  TempFolder dir;
  const fs::path path = dir / "series.h5", killed = dir / "killed.h5";
  {
    H5Writer file(path, H5Growth::rows);
    file.series<std::int64_t>("step", {});
    file.attribute("step", "about", std::string(1 + shift, 'x'));
    file.series<double>("value", {300, 3});
    file.commit();
    H5Series series(path, names, 0);
    for (std::int64_t s = 0; s < 40; ++s)
      add(series, s);  // past the first block of the index of chunks
  }
  auto* const told = static_cast<std::uint64_t*>(::mmap(
      nullptr, sizeof(std::uint64_t), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  int kills = 0;
  for (;; ++kills) {
    fs::copy_file(path, killed, fs::copy_options::overwrite_existing);
    *told = 30;
    const auto work = [&] {
      H5Series series(killed, names, 30);
      for (std::int64_t s = 30; s < 33; ++s) add(series, s), ++*told;
    };
    if (with_fault(kills + 1, 0, work, only_torn) != 128 + SIGKILL) break;
    SCOPED_TRACE("shift " + std::to_string(shift) + ", killed at call " +
                 std::to_string(kills + 1));
    {
      H5Series series(killed, names, *told);
      add(series, -1);
    }
    const auto found = read_h5(killed, names);
    const auto& step = std::get<std::vector<std::int64_t>>(found.at("step").data);
    const auto& value = std::get<std::vector<double>>(found.at("value").data);
    EXPECT_EQ(step.size(), *told + 1);
    EXPECT_EQ(value.size(), 900 * step.size());
    if (value.size() != 900 * step.size()) break;
    for (std::size_t k = 0; k < step.size(); ++k) {
      EXPECT_EQ(step[k], k < *told ? static_cast<std::int64_t>(k) : -1);
      EXPECT_EQ(std::count(value.begin() + 900 * k, value.begin() + 900 * (k + 1),
                           0.5 * static_cast<double>(step[k])),
                900);
    }
  }
  ::munmap(told, sizeof(std::uint64_t));
  return kills;
}

}  // namespace

TEST(FaultInjection, KilledAtAnyCallAGoodCheckpointIsLeft) {
  TempFolder dir;
  for (std::uint64_t step : {1, 2, 3}) write_checkpoint(dir.path(), state(step));
  int killed = 0;
  std::uint64_t safe = 3;
  for (long n = 1;; ++n) {
    const std::uint64_t step = 3 + static_cast<std::uint64_t>(n);
    const int status = with_fault(n, 0, [&] { write_checkpoint(dir.path(), state(step)); });
    expect_good(dir.path(), safe);
    if (status == kNotReached) break;
    ASSERT_EQ(status, 128 + SIGKILL);
    ++killed;
    safe = load_newest_checkpoint(dir.path())->checkpoint.step;
  }
  EXPECT_GE(killed,
            12);  // open, ten-odd writes, fsync, rename, fsync of the folder, LATEST, pruning
  EXPECT_EQ(temporary_files(dir.path()),
            0u);  // the next good write clears what the killed ones left
}

/// The same where several writers have a part each, and try a step again that is there.
TEST(FaultInjection, KilledAtAnyCallAGoodSetOfShardsIsLeft) {
  const auto write = [](const fs::path& dir, std::uint64_t step, int writers) {
    Checkpoint c = state(step);
    for (int writer = 0; writer < writers; ++writer) {
      std::vector<ShardRow> rows;
      for (int i = 0; i < 3; ++i) rows.push_back({"y" + std::to_string(3 * writer + i), 1000});
      const std::vector<double> numbers(1000, double(step));
      c.shards.push_back(
          write_shard<double>(dir, c, writer, rows, [&](std::size_t) { return numbers.data(); }));
    }
    write_checkpoint(dir, c, 1);
  };
  for (int error : {0, ENOSPC, EIO}) {
    TempFolder dir;
    write(dir.path(), 1, 2);
    std::uint64_t safe = 1;
    int hit = 0;
    for (long n = 1;; ++n) {
      const std::uint64_t step = n % 2 ? safe : safe + 1;
      const int status =
          with_fault(n, error, [&] { write(dir.path(), step, 1 + static_cast<int>(n / 2 % 3)); });
      expect_good(dir.path(), safe);
      if (status == kNotReached) break;
      if (error == 0) {
        ASSERT_EQ(status, 128 + SIGKILL);
      }
      safe = load_newest_checkpoint(dir.path())->checkpoint.step;
      ++hit;
    }
    EXPECT_GE(hit, 20);
    EXPECT_EQ(temporary_files(dir.path()), 0u);
  }
}

TEST(FaultInjection, AFailingCallIsToldAndLosesNothing) {
  for (int error : {ENOSPC, EIO}) {
    TempFolder dir;
    for (std::uint64_t step : {1, 2, 3}) write_checkpoint(dir.path(), state(step));
    for (long n = 1;; ++n) {
      const int status = with_fault(n, error, [&] { write_checkpoint(dir.path(), state(4)); });
      expect_good(dir.path(), 3);
      if (status == kNotReached) break;
      // Pruning may fail in silence: it costs space only.
      EXPECT_TRUE(status == (error == ENOSPC ? 3 : 1) || status == 0)
          << "call " << n << " status " << status;
    }
  }
}

TEST(FaultInjection, ResultsAreOldOrNewNeverBetween) {
  TempFolder dir;
  const fs::path path = dir / "results.h5";
  write_results(path, 1);
  int killed = 0, failed = 0;
  for (long n = 1;; ++n) {
    const int status = with_fault(n, 0, [&] { write_results(path, 2); });
    const double v = results_value(path);
    EXPECT_TRUE(v == 1 || v == 2);
    if (status == kNotReached) break;
    ASSERT_EQ(status, 128 + SIGKILL);
    ++killed;
  }
  for (long n = 1;; ++n) {
    write_results(path, 1);
    const int status = with_fault(n, ENOSPC, [&] { write_results(path, 3); });
    if (status == kNotReached) break;
    // The fault is told and changes nothing, or it did no harm (the library looks for an older file
    // of the same name). After the rename only the folder's fsync is left: told as well, with the
    // new file in place.
    const double v = results_value(path);
    EXPECT_TRUE((status == 3 && (v == 1 || v == 3)) || (status == 0 && v == 3))
        << "call " << n << " " << status << " " << v;
    failed += status == 3;
  }
  EXPECT_GE(killed, 4);  // open, write, fsync, rename; the sync of the folder
  EXPECT_GE(failed, 4);
}

TEST(FaultInjection, ASeriesKilledAtAnyCallKeepsItsRows) {
  EXPECT_GE(expect_rows_kept(0, false), 12);
}

TEST(FaultInjection, NoRecordOfASeriesCanBeTorn) {
  for (std::size_t shift = 0; shift < 4096; shift += 64)
    expect_rows_kept(shift, true);  // the smallest record has 72 bytes
}

TEST(FaultInjection, ARunFolderBeingMadeCanBeMadeAgain) {
  TempFolder dir;
  for (long n = 1;; ++n) {
    const auto work = [&] {
      RunFolder run = RunFolder::create(dir / "RUN", true);
      run.write_text("input.toml", "x = 1\n");
      run.write_manifest(begin_manifest("a.b", {}, 1));
    };
    const int status = with_fault(n, 0, work);
    const std::string manifest = read_bytes(dir / "RUN/manifest.json");
    if (!manifest.empty()) {
      EXPECT_NO_THROW(manifest_from_json(manifest, "m"));
    }
    if (status == kNotReached) break;
  }
}

// The real thing: a file size limit, met with the signal ignored as a run does.
TEST(FaultInjection, AFileSizeLimitIsExitThreeWithoutPartialOutput) {
  TempFolder dir;
  write_checkpoint(dir / "ckpt", state(1));
  write_results(dir / "results.h5", 1);
  const auto limited = [&](auto work) {
    return with_fault(1000000, 0, [&] {
      const StopGuard guard;
      const rlimit small{4096, 4096};
      ::setrlimit(RLIMIT_FSIZE, &small);
      work();
    });
  };
  EXPECT_EQ(limited([&] { write_checkpoint(dir / "ckpt", state(2)); }), 3);
  EXPECT_EQ(limited([&] { write_results(dir / "results.h5", 2); }), 3);
  EXPECT_EQ(limited([&] { write_file_atomically(dir / "new.txt", std::string(10000, 'x')); }), 3);
  expect_good(dir / "ckpt", 1);
  EXPECT_EQ(results_value(dir / "results.h5"), 1);
  EXPECT_EQ(temporary_files(dir.path()), 0u);
  EXPECT_FALSE(fs::exists(dir / "new.txt"));
}

// The library fails where such a file is closed, and would crash over it as the process ends.
TEST(FaultInjection, AFileSizeLimitMetByTheLibraryIsExitThreeAndNoCrashAtTheEnd) {
  TempFolder dir;
  const fs::path series = dir / "series.h5", boxes = dir / "boxes.h5";
  const std::vector<std::string> names{"x"};
  const auto ended_with = [&](auto work) {
    const pid_t child = ::fork();
    if (child == 0) {
      const StopGuard guard;
      const rlimit small{1 << 16, 1 << 16};
      ::setrlimit(RLIMIT_FSIZE, &small);
      int code = 0;
      try {
        work();
      } catch (const InputError& e) {
        code = static_cast<int>(e.code());
      } catch (...) {
        code = 101;
      }
      std::exit(code);  // with all that is done at the end of a process
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  };
  EXPECT_EQ(ended_with([&] { create_boxes(boxes, {tessera::Dtype::f64, {100, 1000}}, "x"); }), 3);
  EXPECT_FALSE(fs::exists(boxes));
  EXPECT_FALSE(fs::exists(boxes.string() + ".partial"));
  EXPECT_EQ(ended_with([&] {
              {
                H5Writer file(series, H5Growth::rows);
                file.series<double>("x", {1000});
                file.commit();
              }
              H5Series rows(series, names, 0);
              const std::vector<double> row(1000, 1.0);
              for (int k = 0; k < 100; ++k) {
                rows.row(0, std::span<const double>(row));
                rows.end_row();
              }
            }),
            3);
}
