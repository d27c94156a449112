// SPDX-License-Identifier: Apache-2.0
//
// What holds on threads holds on processes: started by mpirun, or as mpi_ranks threads:3 NAME. With
// a name, what a rank does wrong: those of wrongs.h, "error", "asleep" (five seconds) or "gone"
// (for ever: ended after a second). It prints after how many seconds that was told.
#include "dealt.h"
#include "tessera/autodiff/error.h"
#include "tessera/parallel/mpi.h"
#include "wrongs.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>

using namespace tessera;
using parallel::Communicator;

namespace {

const auto begin = std::chrono::steady_clock::now();
double now_s() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

void sleep_s(int s) { std::this_thread::sleep_for(std::chrono::seconds(s)); }

/// Ends all where a rank finds something wrong.
void run(Communicator& c, const std::string& name, const std::function<void(int)>& end_all) {
  double from = 0;
  c.patience.say = [&](const std::string& text) {
    std::fprintf(stderr, "%s\ntold %.2f s\n", text.c_str(), now_s() - from);
  };
  try {
    if (name.empty()) {
      parallel::checks::all(c);
      parallel::checks::exchanges_are_transposed(c);
    }
    c.barrier();
    from = now_s();
    if (name == "error" && c.rank() == 1) throw Error("rank 1 is out of disk");
    if (name == "gone") c.patience.end = 1;
    if (c.rank() == 1 && (name == "asleep" || name == "gone")) sleep_s(name == "gone" ? 1000 : 5);
    for (const parallel::checks::Wrong& w : parallel::checks::wrongs())
      if (name == w.name) w.run(c);
    c.finish();
  } catch (const std::exception& e) {
    std::fprintf(stderr, "rank %d: %s\ntold %.2f s\n", c.rank(), e.what(), now_s() - from);
    end_all(7);
  }
  if (c.rank() == 0) std::printf("%d ranks: all holds\n", c.size());
}

}  // namespace

int main(int argc, char** argv) {
  std::string first = argc > 1 ? argv[1] : "";
  if (parallel::is_mpi_rank()) {
    Communicator c = parallel::mpi_communicator();
    run(c, first, parallel::end_all_ranks);
  } else if (first.starts_with("threads:")) {
    parallel::run_ranks(std::atoi(first.c_str() + 8), [&](Communicator& c) {
      run(c, argc > 2 ? argv[2] : "", [](int code) { std::_Exit(code); });
    });
  } else {
    std::fprintf(stderr, "start it with mpirun, or with threads:N\n");
    return 2;
  }
}
