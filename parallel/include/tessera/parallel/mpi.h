// SPDX-License-Identifier: Apache-2.0
//
// Ranks that are processes which mpirun, or srun --mpi=pmix, has started.
#pragma once
#include "tessera/parallel/communicator.h"

namespace tessera::parallel {

/// This process is one of them. MPI is not loaded to tell. Throws Error, which names the way out,
/// where a launcher has started several processes that our MPI would not join: plain srun, the
/// mpiexec of another MPI.
bool is_mpi_rank();

/// Which of them; 0 where this process is none. MPI is not loaded to tell.
int mpi_rank();
/// How many of them run on this machine; 1 where this process is none.
int mpi_ranks_here();

/// All ranks of the program; loads MPI, which stays until the process ends. Throws Error where the
/// plug-in is not there.
Communicator mpi_communicator();

/// Ends the processes of all ranks with that exit code, whatever they do.
[[noreturn]] void end_all_ranks(int exit_code);

}  // namespace tessera::parallel
