// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "tessera/autodiff/error.h"
#include "tessera/data/exit_code.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tessera::data {

/// Where in which file. Lines and columns count from 1; 0 means unknown. Binary formats give a byte
/// offset instead.
struct Place {
  std::string file;
  std::size_t line = 0;
  std::size_t column = 0;
  std::optional<std::uint64_t> byte;
};

enum class Severity { error, warning, note };

/// One finding about one input, ready to be shown: `em.toml:14:9: error E0213: unknown key
/// 'freqency'`.
struct Diagnostic {
  Severity severity = Severity::error;
  int number = 0;  ///< E-number, listed in docs/reference/errors.md
  Place place;
  std::string message;      ///< what was found and what was expected
  std::string hint;         ///< how to mend it; may be empty
  std::string source_line;  ///< the line itself, for the caret; may be empty
};

/// `file:line:column: error E0213: message` then the source line with a caret and the hint, if
/// there are any. Control characters and overlong lines of the source are made safe for a terminal.
std::string to_string(const Diagnostic& d);

/// Thrown when an input cannot be used: carries every finding (not only the first) and the exit
/// code.
class InputError : public Error {
 public:
  InputError(ExitCode code, std::vector<Diagnostic> findings);
  explicit InputError(Diagnostic d, ExitCode code = ExitCode::input_invalid)
      : InputError(code, std::vector<Diagnostic>{std::move(d)}) {}
  ExitCode code() const { return code_; }
  const std::vector<Diagnostic>& findings() const { return findings_; }

 private:
  ExitCode code_;
  std::vector<Diagnostic> findings_;
};

}  // namespace tessera::data
