// SPDX-License-Identifier: Apache-2.0
//
// One PETSc for the process: started with the first solver, finished at exit, called by one thread
// at a time. Solvers on all ranks are of MPI_COMM_WORLD: PETSC_COMM_WORLD may be this rank alone.
#pragma once
#include "petsc_plugin.h"

#include <petscsnes.h>

#include <exception>
#include <functional>
#include <mutex>
#include <string>

static_assert(sizeof(PetscScalar) == 2 * sizeof(double), "the complex build of PETSc is needed");

namespace tessera::solvers {

/// Holds PETSc for this thread; starts it when needed. Callbacks may call solvers again. BLAS and
/// MUMPS run on this thread alone while it lives: their sums depend on the number of threads, and
/// so would results.
class Session {
 public:
  Session();
  ~Session();
  Session(const Session&) = delete;
  static bool finished();  ///< PETSc is gone: handles must be left alone
  static void before_finish(std::function<void()> f);

 private:
  std::lock_guard<std::recursive_mutex> lock_;
  int threads_;
};

/// Throws Error with PETSc's own words where `code` is not 0.
void check(PetscErrorCode code);

/// What a callback threw, carried over PETSc's frames of C.
extern thread_local std::exception_ptr thrown_by_callback;
template <class F>
PetscErrorCode guarded(F f) {
  try {
    f();
    return 0;
  } catch (...) {
    thrown_by_callback = std::current_exception();
    return PETSC_ERR_USER;
  }
}

/// Options in PETSc's data base under a prefix of their own, for the life of this object.
class Words {
 public:
  explicit Words(const std::string& options);
  ~Words();
  Words(const Words&) = delete;
  const char* prefix() const { return prefix_.c_str(); }
  void refuse_unused() const;

 private:
  std::string prefix_;
  std::vector<std::string> names_;
};

}  // namespace tessera::solvers
