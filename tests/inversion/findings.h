// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "tessera/inversion/sounding.h"

#include <algorithm>

namespace tessera::inversion {

/// Whether what was found on reading is among this.
inline bool says(const Sounding& s, int number) {
  return std::any_of(s.findings.begin(), s.findings.end(),
                     [&](const data::Diagnostic& d) { return d.number == number; });
}

}  // namespace tessera::inversion
