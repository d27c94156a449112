// SPDX-License-Identifier: Apache-2.0
// The fields of a run in the shards of its checkpoints: each rank writes its slices, and reads them
// from whatever ranks have written them.
#pragma once
#include "tessera/data/checkpoint.h"
#include "tessera/electromagnetics/time_domain.h"

#include <cstddef>
#include <filesystem>
#include <vector>

namespace tessera::apps::fdtd {

/// Writes the fields of all ranks and names their shards in `c`, which is to be written then.
void save_fields(electromagnetics::TimeDomain& run, const std::filesystem::path& dir,
                 data::Checkpoint& c);
/// Goes on from the fields of `c` at its step, or at its value "run_step" where it has one. Throws
/// InputError where its shards are not as they were written.
void load_fields(electromagnetics::TimeDomain& run, const std::filesystem::path& dir,
                 const data::Checkpoint& c);
/// What the other ranks do for that (TimeDomain::help).
std::vector<std::byte> work_on_fields(electromagnetics::TimeDomain& run,
                                      const std::vector<std::byte>& told);

}  // namespace tessera::apps::fdtd
