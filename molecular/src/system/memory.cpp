// SPDX-License-Identifier: Apache-2.0
#include "system/memory.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>

namespace tessera::molecular {

double memory_bytes() {
  const double machine =
      static_cast<double>(::sysconf(_SC_PHYS_PAGES)) * static_cast<double>(::sysconf(_SC_PAGESIZE));
  struct rlimit limit {};
  const bool limited = ::getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
  return limited ? std::min(machine, static_cast<double>(limit.rlim_cur)) : machine;
}

}  // namespace tessera::molecular
