// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "tessera/data/text_reader.h"

#include <cstddef>

namespace tessera::data {

struct XmlLimits {
  std::size_t max_depth = 64;  ///< a tree walk and its release are recursive in most parsers
  std::size_t max_tags =
      500000;  ///< 20,000 periods; a parser's node is some 20 times the size of `<a/>`
};

/// Walks over an XML text without building anything and refuses what is dangerous to parse: a
/// document type or entity declaration (E0313), nesting or tags beyond the limits (E0314), a tag
/// that is not closed (E0312). Throws.
void guard_xml(Findings& findings, const XmlLimits& limits = {});

}  // namespace tessera::data
