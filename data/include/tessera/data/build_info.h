// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <span>
#include <string_view>

namespace tessera::data {

/// A third-party part this build was configured with, or looked for in vain.
struct Part {
  std::string_view name;     ///< "PETSc"
  bool found;                ///< whether the configure step found it
  std::string_view version;  ///< empty when not found
  std::string_view package;  ///< what to install to have it (Debian's name)
  std::string_view purpose;  ///< what it is for
};

/// How this library was built: what a manifest must hold for a run to be repeated, and what
/// `doctor` shows.
struct BuildInfo {
  std::string_view version;     ///< of CMakeLists.txt, "0.2.0"
  std::string_view git_hash;    ///< commit of the sources; empty when they were not a git checkout
  bool dirty;                   ///< whether tracked files differed from that commit
  std::string_view compiler;    ///< "GNU 12.2.0"
  std::string_view build_type;  ///< "Release"
  std::string_view arch;        ///< value of -march, "x86-64-v3"
  std::string_view flags;       ///< compiler flags that may change numbers or speed
  std::span<const Part> parts;  ///< needed parts first, then those that are on if found
};

const BuildInfo& build_info();

}  // namespace tessera::data
