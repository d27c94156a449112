// SPDX-License-Identifier: Apache-2.0
// Two ranks add their numbers: 1 + 2 = 3 on both.   mpirun -n 2 part_mpi
#include <mpi.h>

#include <cstdio>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const double mine = rank + 1;
  double sum = 0;
  MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  std::printf("rank %d of %d: sum %g, expected 3\n", rank, size, sum);
  MPI_Finalize();
  return size == 2 && sum == 3.0 ? 0 : 1;
}
