// SPDX-License-Identifier: Apache-2.0
#include "tessera/autodiff/plugin.h"

#include "tessera/autodiff/error.h"

#include <dlfcn.h>

#include <filesystem>

namespace tessera {
namespace fs = std::filesystem;
namespace {

std::string file_of(const std::string& name) { return "tessera/libtessera_" + name + ".so"; }

/// Beside the library (or program) that holds this code, and beside its neighbour `lib` folder.
fs::path path_of(const std::string& name) {
  Dl_info here{};
  if (!::dladdr(reinterpret_cast<const void*>(&path_of), &here) || !here.dli_fname) return {};
  std::error_code ignored;
  const fs::path folder = fs::absolute(here.dli_fname, ignored).parent_path();
  for (const fs::path& candidate : {folder / file_of(name), folder / "../lib" / file_of(name)})
    if (fs::is_regular_file(candidate, ignored)) return candidate;
  return {};
}

}  // namespace

bool plugin_available(const std::string& name, std::string* why_not) {
  if (!path_of(name).empty()) return true;
  if (why_not) *why_not = "the plug-in " + file_of(name) + " is not beside Tessera's libraries";
  return false;
}

void* plugin_function(const std::string& name, const char* symbol) {
  std::string why_not;
  if (!plugin_available(name, &why_not)) throw Error("[" + name + "] " + why_not);
  const fs::path path = path_of(name);
  void* library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) throw Error("[" + name + "] cannot load the plug-in: " + std::string(::dlerror()));
  void* function = ::dlsym(library, symbol);
  if (!function)
    throw Error("[" + name + "] " + path.string() + " is of another version of Tessera");
  return function;
}

}  // namespace tessera
