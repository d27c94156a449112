// SPDX-License-Identifier: Apache-2.0
//
// Rate of a checkpoint: every rank of mpirun writes its shard of the state, beside the bare write
// and sync of a file with the same bytes, in turn.
//   [mpirun -n 2] checkpoint_ranks_bench [--folder F] [--gigabytes N, of all ranks] [--rounds N]
#include "measure.h"
#include "tessera/data/checkpoint_shards.h"
#include "tessera/parallel/mpi.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

int main(int argc, char** argv) {
  using namespace tessera;
  using namespace tessera::benchmarks;
  namespace fs = std::filesystem;
  fs::path folder = fs::temp_directory_path();
  double gigabytes = 4;
  int rounds = 3;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string key = argv[i];
    if (key == "--folder")
      folder = argv[i + 1];
    else if (key == "--gigabytes")
      gigabytes = std::atof(argv[i + 1]);
    else if (key == "--rounds")
      rounds = std::atoi(argv[i + 1]);
    else
      return std::fprintf(stderr, "unknown option %s\n", argv[i]), 2;
  }
  parallel::Communicator ranks =
      parallel::is_mpi_rank() ? parallel::mpi_communicator() : parallel::alone();
  const std::size_t plane = 200 * 200;  // doubles
  const auto planes =
      static_cast<std::size_t>(gigabytes * 1e9 / (8.0 * static_cast<double>(plane)) / ranks.size());
  std::vector<double> state(planes * plane);
  for (std::size_t i = 0; i < state.size(); ++i)
    state[i] = 1e-3 * static_cast<double>(i) + ranks.rank();

  std::vector<data::ShardRow> rows;
  for (std::size_t k = 0; k < planes; ++k) rows.push_back({"plane " + std::to_string(k), plane});
  const data::Checkpoint about{.app = "benchmark", .step = 1, .config_sha256 = "0"};
  const auto shard = [&] {
    ranks.barrier();
    data::write_shard<double>(folder, about, ranks.rank(), rows,
                              [&](std::size_t k) { return state.data() + k * plane; });
    ranks.barrier();
  };
  const fs::path bare = folder / ("bare." + std::to_string(ranks.rank()));
  const auto write = [&] {
    ranks.barrier();
    const int file = ::open(bare.c_str(), O_WRONLY | O_CREAT, 0666);
    for (std::size_t k = 0; k < planes; ++k)
      if (::write(file, state.data() + k * plane, plane * sizeof(double)) !=
          static_cast<ssize_t>(plane * sizeof(double)))
        std::exit(1);
    if (::fsync(file) != 0 || ::close(file) != 0) std::exit(1);
    ranks.barrier();
  };
  const auto clear = [&] {
    fs::remove(bare);
    if (ranks.rank() == 0)
      for (const auto& e : fs::directory_iterator(folder))
        if (e.path().extension() == ".shard") fs::remove(e.path());
    ranks.barrier();
  };

  Samples ours, peer;
  for (int r = 0; r <= rounds; ++r) {
    const double a = seconds_of(shard);
    clear();
    const double b = seconds_of(write);
    clear();
    if (r > 0) ours.add(a), peer.add(b);
  }
  if (ranks.rank() != 0) return 0;
  print_figure("checkpoint", gigabytes / ours.median(), "GB/s");
  print_figure("bare", gigabytes / peer.median(), "GB/s");
  print_figure("rate", peer.median() / ours.median(), "1");
  print_figure("spread", std::max(ours.spread(), peer.spread()), "1");
}
