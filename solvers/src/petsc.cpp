// SPDX-License-Identifier: Apache-2.0
#include "tessera/solvers/petsc.h"

#include <dlfcn.h>

#include <filesystem>

#include "petsc_plugin.h"

namespace tessera::solvers {
namespace fs = std::filesystem;
namespace {

constexpr const char* kPlugin = "tessera/libtessera_petsc.so";

/// Beside the library (or program) that holds this code, and beside its neighbour `lib` folder.
fs::path plugin_path() {
  Dl_info here{};
  if (!::dladdr(reinterpret_cast<const void*>(&plugin_path), &here) || !here.dli_fname) return {};
  std::error_code ignored;
  const fs::path folder = fs::absolute(here.dli_fname, ignored).parent_path();
  for (const fs::path& candidate : {folder / kPlugin, folder / "../lib" / kPlugin})
    if (fs::is_regular_file(candidate, ignored)) return candidate;
  return {};
}

class PetscSolver final : public LinearSolver {
 public:
  explicit PetscSolver(PetscOptions o) : options_(std::move(o)) {}
  std::string name() const override { return "PETSc " + options_.ksp + ", " + options_.pc; }
  bool one_at_a_time() const override { return true; }
  std::unique_ptr<PreparedSolver> prepare(const SolverOperator& a) const override { return petsc_plugin().prepare(a, options_); }

 private:
  PetscOptions options_;
};

LinearSolverPtr mumps(const char* pc, bool distributed) {
  return petsc({.ksp = "preonly", .pc = pc, .options = "-pc_factor_mat_solver_type mumps", .distributed = distributed});
}

}  // namespace

const PetscPlugin& petsc_plugin() {
  static const PetscPlugin* loaded = [] {
    const fs::path path = plugin_path();
    if (path.empty()) throw Error(std::string("[petsc] the plug-in ") + kPlugin + " is not beside Tessera's libraries");
    void* library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!library) throw Error("[petsc] cannot load the plug-in: " + std::string(::dlerror()));
    auto* get = reinterpret_cast<GetPetsc>(::dlsym(library, kGetPetsc));
    if (!get) throw Error("[petsc] " + path.string() + " is of another version of Tessera");
    return get();
  }();
  return *loaded;
}

LinearSolverPtr petsc(PetscOptions options) { return std::make_shared<const PetscSolver>(std::move(options)); }
LinearSolverPtr mumps_lu(bool distributed) { return mumps("lu", distributed); }
LinearSolverPtr mumps_symmetric(bool distributed) { return mumps("cholesky", distributed); }
NonlinearSolver petsc_snes(SnesOptions options) {
  return [options](const NonlinearSystem& s, const Tensor& x0) { return petsc_plugin().snes(s, x0, options); };
}
bool petsc_available(std::string* why_not) {
  if (!plugin_path().empty()) return true;
  if (why_not) *why_not = std::string("the plug-in ") + kPlugin + " is not beside Tessera's libraries";
  return false;
}
bool slepc_available(std::string* why_not) {
  if (!petsc_available(why_not)) return false;
  if (petsc_plugin().eigen) return true;
  if (why_not) *why_not = "SLEPc was not there when Tessera was built: install libslepc-complex-dev and build again, or use eigh or eig";
  return false;
}

}  // namespace tessera::solvers
