// SPDX-License-Identifier: Apache-2.0
//
// Groups of particles of an H5MD file: each is a part of the system, all of it for most programs.
#pragma once
#include "tessera/data/hdf5.h"

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace tessera::molecular {

/// "/particles/NAME" of the group with an element ("/position/value"); empty: none has it. Throws
/// InputError E0742 where several have.
std::string h5md_particles(const std::filesystem::path& path,
                           const std::vector<data::H5Object>& objects, std::string_view element);

}  // namespace tessera::molecular
