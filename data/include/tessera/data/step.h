// SPDX-License-Identifier: Apache-2.0
// Bodies in STEP files (ISO 10303-21, boundary representations of AP203, AP214 and AP242), as
// triangles.
//
// OpenCASCADE reads them, in a child process: a file that makes it crash, hang or fill the memory
// costs an error.
#pragma once
#include "tessera/data/triangles.h"

#include <filesystem>
#include <string>

namespace tessera::data {

/// About how far triangles may be off the faces that they stand for.
struct Chord {
  double metres = 0;          ///< 0: by the share
  double share = 1.0 / 2000;  ///< of the diameter of all
};

struct StepFile {
  TriangleFile surface;  ///< points in m; those on the edge between two faces are the same in both
  std::size_t solids = 0, faces = 0;
  std::string unit;  ///< of length, by its name, of the first representation in the file
};

/// Whether this build has OpenCASCADE; if not, `why_not` says so.
bool reads_step(std::string* why_not = nullptr);

/// All faces of all roots, with the places that assemblies give them. Throws InputError (exit 4):
/// E0383 what is no STEP file, with its line, or one that tells no unit of length, E0384 one
/// without faces, or with faces that cannot be told, E0385 where there is no OpenCASCADE, E0429
/// where the child was stopped, E0374 more triangles than are read.
StepFile read_step(const std::filesystem::path& path, const Chord& chord = {});

}  // namespace tessera::data
