// SPDX-License-Identifier: Apache-2.0
#include "session.h"

#include <omp.h>

#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

extern "C" void openblas_set_num_threads(int);

namespace tessera::solvers {

thread_local std::exception_ptr thrown_by_callback;

namespace {

std::recursive_mutex& mutex() {
  static auto* m = new std::recursive_mutex;  // outlives every static that may still hold a solver
  return *m;
}
bool is_finished = false;
std::string first_words;

PetscErrorCode keep_words(MPI_Comm, int, const char*, const char*, PetscErrorCode n,
                          PetscErrorType p, const char* message, void*) {
  if (p == PETSC_ERROR_INITIAL) first_words = message ? message : "";
  return n;
}

/// What Open MPI 4 does for a process that no mpiexec has started: it starts a daemon (0.1 s),
/// looks for networks (0.2 s), and makes and removes the user's folder without a lock, so that of
/// two processes that start at once one is ended. One alone needs neither daemon nor network and
/// has a folder of its own. What the user has set stays.
std::filesystem::path own_folder;

void start_alone() {
  int running = 0;
  MPI_Initialized(&running);
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMIX_RANK", "PMI_RANK"})
    if (running || std::getenv(name)) return;
  setenv("OMPI_MCA_ess_singleton_isolated", "1", 0);
  setenv("OMPI_MCA_pml", "ob1", 0);
  if (std::getenv("OMPI_MCA_orte_tmpdir_base")) return;
  std::error_code none;
  std::string place = (std::filesystem::temp_directory_path(none) / "tessera_mpi_XXXXXX").string();
  if (none || !mkdtemp(place.data())) return;  // MPI says what is wrong with the place
  own_folder = place;
  setenv("OMPI_MCA_orte_tmpdir_base", place.c_str(), 1);
}

std::vector<std::function<void()>>& last_wishes() {
  static auto* const all = new std::vector<std::function<void()>>;
  return *all;
}

void finish() {
  int ended = 0;
  MPI_Finalized(&ended);
  if (!ended)
    for (const auto& f : last_wishes()) f();
  is_finished = true;
  int gone = 0;
  MPI_Finalized(&gone);
  if (!gone) PetscFinalize();
  std::error_code none;
  if (!own_folder.empty()) std::filesystem::remove_all(own_folder, none);
}

void start() {
  PetscBool running = PETSC_FALSE;
  PetscInitialized(&running);
  if (running) return;
  start_alone();
  // PETSc starts and ends on all ranks of its world together (the first reads the file of options
  // for all). Where MPI runs, one rank may be alone with a solver: each is a world of its own.
  // Where it does not, PETSc starts MPI, on all ranks together in any case.
  int mpi = 0;
  MPI_Initialized(&mpi);
  if (mpi) PETSC_COMM_WORLD = MPI_COMM_SELF;
  PetscOptionsSetValue(nullptr, "-no_signal_handler", "true");
  if (PetscInitializeNoArguments()) throw Error("[petsc] PETSc does not start");
  PetscPushErrorHandler(keep_words, nullptr);
  std::atexit(finish);
}

}  // namespace

// The OpenMP build of OpenBLAS asks omp_get_max_threads() at each call, the pthread build keeps
// what it was told once.
Session::Session() : lock_(mutex()), threads_(omp_get_max_threads()) {
  static const bool once = (openblas_set_num_threads(1), start(), true);
  static_cast<void>(once);
  omp_set_num_threads(1);
}
Session::~Session() { omp_set_num_threads(threads_); }
bool Session::finished() { return is_finished; }
void Session::before_finish(std::function<void()> f) { last_wishes().push_back(std::move(f)); }

void check(PetscErrorCode code) {
  if (code == 0) return;
  if (thrown_by_callback) std::rethrow_exception(std::exchange(thrown_by_callback, nullptr));
  const char* kind = nullptr;
  PetscErrorMessage(code, &kind, nullptr);
  throw Error("[petsc] " + std::string(kind ? kind : "error " + std::to_string(code)) +
              (first_words.empty() ? "" : ": " + std::exchange(first_words, "")));
}

Words::Words(const std::string& options) {
  static int count = 0;
  prefix_ = "tessera" + std::to_string(count++) + "_";
  std::istringstream in(options);
  for (std::string word; in >> word;)
    if (word.size() > 1 && word[0] == '-' && std::isalpha(static_cast<unsigned char>(word[1])))
      names_.push_back("-" + prefix_ + word.substr(1));
  check(PetscOptionsPrefixPush(nullptr, prefix_.c_str()));
  const PetscErrorCode code = PetscOptionsInsertString(nullptr, options.c_str());
  check(PetscOptionsPrefixPop(nullptr));
  check(code);
}
Words::~Words() {
  if (Session::finished()) return;
  const Session session;
  for (const std::string& n : names_) PetscOptionsClearValue(nullptr, n.c_str());
}
void Words::refuse_unused() const {
  for (const std::string& n : names_) {
    PetscBool used = PETSC_FALSE;
    check(PetscOptionsUsed(nullptr, n.c_str() + 1, &used));  // it takes the name without its dash
    if (!used)
      throw Error("[petsc] the option -" + n.substr(prefix_.size() + 1) +
                  " was not used: it is misspelt or belongs to another solver or preconditioner");
  }
}

}  // namespace tessera::solvers
