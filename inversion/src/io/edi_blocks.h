// SPDX-License-Identifier: Apache-2.0
// The outer grammar of SEG EDI (Wight 1988, MT/EMAP data interchange standard): blocks opened by
// '>', options KEY=value, and numbers.
#pragma once
#include "mt_text.h"

#include <optional>
#include <string>
#include <vector>

namespace tessera::inversion {

struct EdiOption {
  std::string key;  ///< in capitals
  Token value;      ///< without blanks and quotation marks around it
};

/// `>NAME KEY=value ... // count` and the lines below it up to the next block.
struct EdiBlock {
  std::string name;        ///< in capitals, without '>'; sections keep their '=' ("=MTSECT")
  std::size_t offset = 0;  ///< of '>'
  std::vector<EdiOption> options;
  std::optional<Token> count;  ///< behind "//"
  std::size_t body_begin = 0, body_end = 0;

  const EdiOption* find(std::initializer_list<const char*> keys) const;
};

/// All blocks in order. Reports E0302 for text before the first one. Comments `>!` may stand
/// anywhere.
std::vector<EdiBlock> split_edi(Findings& findings);

/// The KEY=value pairs of text[begin, end): one value reaches to the next key of its line, or to
/// the line's end.
std::vector<EdiOption> edi_options(std::string_view text, std::size_t begin, std::size_t end);

/// The blank-separated words of text[begin, end) outside comments.
std::vector<Token> edi_tokens(std::string_view text, std::size_t begin, std::size_t end);

}  // namespace tessera::inversion
