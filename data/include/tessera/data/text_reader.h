// SPDX-License-Identifier: Apache-2.0
// What readers of text formats share: strict numbers, tokens with their places, and the list of
// findings.
#pragma once
#include "tessera/data/text_file.h"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tessera::data {

/// Most tokens of one line or block: keeps what a hostile file can make us hold small.
inline constexpr std::size_t kMostItems = 100000;

/// Collects findings of one file. Errors are kept until `throw_if_errors`, but never more than 50.
class Findings {
 public:
  explicit Findings(const TextFile& text) : text_(&text) {}
  const TextFile& text() const { return *text_; }

  void error(int number, std::size_t offset, std::string message, std::string hint = {});
  void warn(int number, std::size_t offset, std::string message, std::string hint = {});
  void note(int number, std::size_t offset, std::string message, std::string hint = {});
  /// About the file as a whole.
  void warn(int number, std::string message, std::string hint = {});
  void note(int number, std::string message, std::string hint = {});

  bool has_errors() const { return !errors_.empty(); }
  void throw_if_errors();
  std::vector<Diagnostic> take_remarks() { return std::move(remarks_); }

 private:
  void remark(Severity severity, Diagnostic d);
  const TextFile* text_;
  std::vector<Diagnostic> errors_, remarks_;
};

struct Token {
  std::string_view text;
  std::size_t offset = 0;
};

enum class Exponent { e_only, fortran };  ///< whether 1.5D-3 is legal beside 1.5E-3

/// A finite decimal number and nothing else; reports E0303 and returns nothing otherwise.
std::optional<double> parse_number(Token token, Exponent exponent, Findings& findings);

/// A count as files declare it: a decimal integer from 1 to `most`; reports E0309 otherwise. `what`
/// names it.
std::optional<std::size_t> parse_count(Token token, std::size_t most, const std::string& what,
                                       Findings& findings);

/// Blank-separated tokens of text[begin, end), the first kMostItems + 1 of them.
std::vector<Token> split_tokens(std::string_view text, std::size_t begin, std::size_t end);

std::string_view trim(std::string_view s);
std::string upper(std::string_view s);
/// Short form for messages: quoted, cut at 40 characters, control characters replaced.
std::string shown(std::string_view s);

}  // namespace tessera::data
