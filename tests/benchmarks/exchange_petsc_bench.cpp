// SPDX-License-Identifier: Apache-2.0
//
// Ghosts of grids on two ranks, and their transpose, beside PETSc's DMDA and PetscSF, and a sum of
// one number beside MPI_Allreduce, all in one process a rank, in turn. Same bytes: PETSc here has
// complex scalars, so its DMDA has half as many components (2048^2) or half as many points along
// the axis that no rank cuts (256^3); its SF moves what we move. Each rank times a call between two
// barriers; the slower rank's time counts.
//   mpirun -n 2 exchange_petsc_bench [--rounds N]
#include "measure.h"
#include "tessera/autodiff/forall.h"
#include "tessera/autodiff/ops.h"
#include "tessera/parallel/exchanges.h"
#include "tessera/parallel/ghosts.h"
#include "tessera/parallel/mpi.h"

#include <petscdmda.h>
#include <petscsf.h>

#include <cstring>
#include <functional>
#include <numeric>
#include <stdexcept>

using namespace tessera;
using namespace tessera::benchmarks;
using parallel::Communicator;

namespace {

void check(int code) {
  if (code != 0) throw std::runtime_error("PETSc fails: " + std::to_string(code));
}

/// Seconds of the slower rank.
double slowest(const std::function<void()>& f) {
  MPI_Barrier(MPI_COMM_WORLD);
  double mine = seconds_of(f), all = 0;
  MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return all;
}
using Ways = std::vector<std::pair<std::string, std::function<void()>>>;
/// Times of each way, taken in turn, after two rounds that are not counted. Prints their medians,
/// and the medians over rounds of the first way's time over each other's.
std::vector<Samples> in_turn(int rounds, const std::string& name, const Ways& ways, bool prints) {
  std::vector<Samples> times(ways.size()), ratios(ways.size());
  for (int r = -2; r < rounds; ++r)
    for (std::size_t k = 0; k < ways.size(); ++k) {
      const double t = slowest(ways[k].second);
      if (r < 0) continue;
      times[k].add(t);
      ratios[k].add(times[0].values.back() / t);
    }
  for (std::size_t k = 0; k < ways.size() && prints; ++k) {
    const std::string way = name + "_" + ways[k].first;
    print_figure(way + "_ms", 1e3 * times[k].median(), "ms");
    print_figure(way + "_least_ms", 1e3 * times[k].best(), "ms");
    if (k == 0) continue;
    print_figure(way + "_ratio", ratios[k].median(), "x");
    print_figure(way + "_ratio_spread", ratios[k].spread(), "1");
  }
  return times;
}

/// A grid [n..., components] of f64 in two boxes, cut along `axis`, with ghosts one wide.
struct Case {
  std::string name;
  std::vector<Index> grid;
  Index components;
  std::size_t axis;
};

std::size_t bytes_of(const Tensor& x) {
  return static_cast<std::size_t>(x.size()) * sizeof(double);
}

/// PETSc's grid of the same bytes: its first axis is the fastest; half of it, or of the components,
/// in complex numbers.
DM make_dmda(const Case& k, int ranks) {
  const std::size_t axes = k.grid.size();
  const bool halves_axis = k.components == 1;
  std::vector<PetscInt> n(3, 1), parts(3, 1);
  for (std::size_t d = 0; d < axes; ++d) {
    n[axes - 1 - d] = static_cast<PetscInt>(k.grid[d]);
    if (d == k.axis) parts[axes - 1 - d] = ranks;
  }
  if (halves_axis) n[0] /= 2;
  const auto dof = static_cast<PetscInt>(halves_axis ? 1 : k.components / 2);
  DM dm = nullptr;
  constexpr DMBoundaryType none = DM_BOUNDARY_NONE;
  if (axes == 2)
    check(DMDACreate2d(PETSC_COMM_WORLD, none, none, DMDA_STENCIL_BOX, n[0], n[1], parts[0],
                       parts[1], dof, 1, nullptr, nullptr, &dm));
  else
    check(DMDACreate3d(PETSC_COMM_WORLD, none, none, none, DMDA_STENCIL_BOX, n[0], n[1], n[2],
                       parts[0], parts[1], parts[2], dof, 1, nullptr, nullptr, nullptr, &dm));
  check(DMSetUp(dm));
  return dm;
}
void fill(Vec v, const Tensor& from) {
  PetscInt size = 0;
  PetscScalar* at = nullptr;
  check(VecGetLocalSize(v, &size));
  if (static_cast<std::size_t>(size) * sizeof(PetscScalar) != bytes_of(from))
    throw std::runtime_error("PETSc holds other bytes");
  check(VecGetArray(v, &at));
  std::memcpy(static_cast<void*>(at), from.data<double>().data(), bytes_of(from));
  check(VecRestoreArray(v, &at));
}
void require_same(const char* what, const void* theirs, const Tensor& ours) {
  if (std::memcmp(theirs, ours.data<double>().data(), bytes_of(ours)) != 0)
    throw std::runtime_error(std::string(what) + ": PETSc's values are not ours");
}
void require_same(const char* what, Vec v, const Tensor& ours) {
  PetscScalar* at = nullptr;
  check(VecGetArray(v, &at));
  require_same(what, static_cast<const void*>(at), ours);
  check(VecRestoreArray(v, &at));
}

/// The plan as a star forest: leaf j is copy j, its root where the owner has it.
PetscSF make_sf(const parallel::Ghosts& g, int rank) {
  const Index rows = g.owned.count();
  const Tensor here = stack({full({rows}, rank, Dtype::i64), arange(rows, Dtype::i64)}, 1);
  const Tensor places = contiguous(parallel::push(g.plan, here));
  const auto at = places.data<std::int64_t>();
  std::vector<PetscSFNode> roots(static_cast<std::size_t>(g.copies.count()));
  for (std::size_t j = 0; j < roots.size(); ++j)
    roots[j] = {static_cast<PetscInt>(at[2 * j]), static_cast<PetscInt>(at[2 * j + 1])};
  PetscSF sf = nullptr;
  check(PetscSFCreate(PETSC_COMM_WORLD, &sf));
  check(PetscSFSetGraph(sf, static_cast<PetscInt>(rows), static_cast<PetscInt>(roots.size()),
                        nullptr, PETSC_COPY_VALUES, roots.data(), PETSC_COPY_VALUES));
  check(PetscSFSetUp(sf));
  return sf;
}

void run(Communicator& c, const Case& k, int rounds) {
  const std::size_t axes = k.grid.size();
  std::vector<Index> begin(axes, 0), end = k.grid;
  begin[k.axis] = k.grid[k.axis] * c.rank() / c.size();
  end[k.axis] = k.grid[k.axis] * (c.rank() + 1) / c.size();
  const std::vector<Index> one(axes, 1);
  const auto g =
      parallel::ghosts(c, {k.grid, begin, end, one, one, std::vector<bool>(axes, false)});
  const auto by_chance = [&](Shape s, std::uint64_t seed) {
    if (k.components > 1) s.push_back(k.components);
    return uniform(random_key(seed + static_cast<std::uint64_t>(c.rank())), s);
  };
  const Tensor x = by_chance(g.owned, 1), y = by_chance(g.copies, 11);
  Tensor pushed, pulled;

  DM dm = make_dmda(k, c.size());
  Vec global = nullptr, local = nullptr;
  check(DMCreateGlobalVector(dm, &global));
  check(DMCreateLocalVector(dm, &local));
  fill(global, x);
  PetscSF sf = make_sf(g, c.rank());
  MPI_Datatype unit = MPI_DOUBLE;
  if (k.components > 1) {
    MPI_Type_contiguous(static_cast<int>(k.components), MPI_DOUBLE, &unit);
    MPI_Type_commit(&unit);
  }
  std::vector<double> leaves(bytes_of(y) / sizeof(double)), sums(bytes_of(x) / sizeof(double));
  const double *from = x.data<double>().data(), *back = y.data<double>().data();

  const bool prints = c.rank() == 0;
  in_turn(rounds, k.name,
          {{"push", [&] { pushed = parallel::with_ghosts(g, x); }},
           {"dmda",
            [&] {
              check(DMGlobalToLocalBegin(dm, global, INSERT_VALUES, local));
              check(DMGlobalToLocalEnd(dm, global, INSERT_VALUES, local));
            }},
           {"sf",
            [&] {
              check(PetscSFBcastBegin(sf, unit, from, leaves.data(), MPI_REPLACE));
              check(PetscSFBcastEnd(sf, unit, from, leaves.data(), MPI_REPLACE));
            }}},
          prints);
  require_same("DMGlobalToLocal", local, pushed);
  require_same("PetscSFBcast", leaves.data(), pushed);

  fill(local, y);
  in_turn(rounds, k.name,
          {{"pull_add", [&] { pulled = parallel::add_ghosts(g, y); }},
           {"dmda_transposed",
            [&] {
              check(VecSet(global, 0));
              check(DMLocalToGlobalBegin(dm, local, ADD_VALUES, global));
              check(DMLocalToGlobalEnd(dm, local, ADD_VALUES, global));
            }},
           {"sf_transposed",
            [&] {
              std::fill(sums.begin(), sums.end(), 0.0);
              check(PetscSFReduceBegin(sf, unit, back, sums.data(), MPI_SUM));
              check(PetscSFReduceEnd(sf, unit, back, sums.data(), MPI_SUM));
            }}},
          prints);
  require_same("DMLocalToGlobal", global, pulled);
  require_same("PetscSFReduce", sums.data(), pulled);
  if (prints) print_figure(k.name + "_megabytes", 1e-6 * static_cast<double>(bytes_of(x)), "MB");
  PetscSFDestroy(&sf);
  VecDestroy(&local);
  VecDestroy(&global);
  DMDestroy(&dm);
}

/// Microseconds of a sum of one number, one after the other.
void sums(Communicator& c, int rounds) {
  constexpr int calls = 2000;
  const auto parts = parallel::deal_parts(c.size(), c.size());
  const std::vector<double> mine{1.0 + c.rank()};
  double all = 0, ours = 0;
  const Tensor one = Tensor(mine[0]);
  const auto times =
      in_turn(rounds, "sum",
              {{"ours",
                [&] {
                  for (int k = 0; k < calls; ++k)
                    ours = parallel::sum_of_parts<double>(c, mine, 1, parts)[0];
                }},
               {"mpi",
                [&] {
                  for (int k = 0; k < calls; ++k)
                    MPI_Allreduce(mine.data(), &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
                }},
               {"tensor",
                [&] {
                  for (int k = 0; k < calls; ++k) parallel::sum_over_ranks(c, one);
                }}},
              false);
  if (ours != all) throw std::runtime_error("MPI's sum is not ours");
  if (c.rank() != 0) return;
  print_figure("sum_ours_us", 1e6 * times[0].median() / calls, "us");
  print_figure("sum_mpi_us", 1e6 * times[1].median() / calls, "us");
  print_figure("sum_ours_least_us", 1e6 * times[0].best() / calls, "us");
  print_figure("sum_mpi_least_us", 1e6 * times[1].best() / calls, "us");
  print_figure("sum_tensor_us", 1e6 * times[2].median() / calls, "us");
}

}  // namespace

int main(int argc, char** argv) {
  int rounds = 15;
  for (int k = 1; k + 1 < argc; k += 2)
    if (!std::strcmp(argv[k], "--rounds")) rounds = std::atoi(argv[k + 1]);
  if (!parallel::is_mpi_rank()) return std::fprintf(stderr, "start it with mpirun -n 2\n"), 2;
  check(PetscInitializeNoArguments());
  try {
    set_num_threads(1);
    Communicator c = parallel::mpi_communicator();
    sums(c, rounds);
    for (const Case& k :
         {Case{"plane_rows", {2048, 2048}, 16, 0}, Case{"cube_slabs", {256, 256, 256}, 1, 0},
          Case{"plane_columns", {2048, 2048}, 16, 1}, Case{"cube_middle", {256, 256, 256}, 1, 1}})
      run(c, k, rounds);
    c.finish();
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  PetscFinalize();
}
