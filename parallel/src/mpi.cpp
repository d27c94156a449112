// SPDX-License-Identifier: Apache-2.0
#include "tessera/parallel/mpi.h"

#include "tessera/autodiff/error.h"
#include "tessera/autodiff/plugin.h"
#include "transport.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cstring>

namespace tessera::parallel {
namespace {

int number_in(const char* variable) {
  const char* text = std::getenv(variable);
  int n = 0;
  if (text) std::from_chars(text, text + std::strlen(text), n);
  return n;
}

bool is_set(const char* variable) { return std::getenv(variable) != nullptr; }

}  // namespace

int mpi_rank() {
  return number_in(is_set("OMPI_COMM_WORLD_RANK") ? "OMPI_COMM_WORLD_RANK" : "PMIX_RANK");
}
int mpi_ranks_here() { return std::max(1, number_in("OMPI_COMM_WORLD_LOCAL_SIZE")); }

bool is_mpi_rank() {
  if (is_set("PMIX_RANK") || is_set("OMPI_COMM_WORLD_RANK")) return true;
  struct Launcher {
    const char *variable, *name, *way_out;
  };
  constexpr Launcher others[] = {
      {"SLURM_STEP_NUM_TASKS", "srun", "start them with srun --mpi=pmix, or with mpirun"},
      {"PMI_SIZE", "another MPI's mpiexec", "start them with the mpirun of Open MPI"},
      {"MPI_LOCALNRANKS", "another MPI's mpiexec", "start them with the mpirun of Open MPI"}};
  for (const Launcher& l : others)
    if (const int n = number_in(l.variable); n > 1)
      throw Error("[mpi] " + std::string(l.name) + " has started " + std::to_string(n) +
                  " processes (" + l.variable +
                  "), but each would run alone: our MPI does not know of the others; " + l.way_out);
  return false;
}

Communicator mpi_communicator() {
  using Make = Transport* (*)();
  const auto make = reinterpret_cast<Make>(plugin_function("mpi", "tessera_mpi_transport"));
  return Communicator(std::unique_ptr<Transport>(make()));
}

void end_all_ranks(int exit_code) {
  using End = void (*)(int);
  reinterpret_cast<End>(plugin_function("mpi", "tessera_mpi_end"))(exit_code);
  std::_Exit(exit_code);
}

}  // namespace tessera::parallel
