// SPDX-License-Identifier: Apache-2.0
#include "build/room.h"

#include "system/memory.h"
#include "tessera/molecular/build.h"

#include <fmt/format.h>

#include <cstdint>
#include <limits>

namespace tessera::molecular {

void expect_room(const char* who, double atoms, double residues) {
  constexpr double most = std::numeric_limits<std::int32_t>::max();
  if (!(atoms <= most))
    throw BuildError(fmt::format("[{}] {:.3g} atoms are more than this program counts, {:.0f}", who,
                                 atoms, most));
  const double bytes = least_bytes(atoms, residues);
  if (bytes > memory_bytes())
    throw BuildError(fmt::format("[{}] {:.0f} atoms take {:.1f} GiB, this machine gives {:.1f} GiB",
                                 who, atoms, bytes / gib, memory_bytes() / gib));
}

}  // namespace tessera::molecular
