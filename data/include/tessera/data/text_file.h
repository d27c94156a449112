// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "tessera/data/diagnostic.h"

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace tessera::data {

/// What bytes above 0x7f mean. Field instruments still write Latin-1; configuration never does.
enum class Encoding {
  utf8,            ///< anything else is E0106
  utf8_or_latin1,  ///< text that is not UTF-8 is taken as Latin-1 and turned into UTF-8
};

/// What a text reader is willing to take in. A breach is an InputError with `code`.
struct TextLimits {
  std::size_t max_bytes = std::size_t{256} << 20;
  std::size_t max_line_bytes = std::size_t{1} << 20;
  Encoding encoding = Encoding::utf8_or_latin1;
  ExitCode code = ExitCode::input_invalid;
};

/// A text that has passed every check of `read_text_file`: not empty, no NUL and no control
/// characters except tab and form feed, valid UTF-8, lines ended by '\n' alone (CRLF and lone CR
/// are turned into it, a byte order mark and a DOS end-of-file mark are dropped). Offsets are into
/// `text`; columns count bytes from 1.
struct TextFile {
  std::string path;
  std::string text;
  std::vector<std::size_t> line_starts;

  std::size_t n_lines() const { return line_starts.size(); }
  /// Line `n`, counted from 1, without its end; empty beyond the last one.
  std::string_view line(std::size_t n) const;
  /// Where `offset` lies; logarithmic in the number of lines. An offset at or past the end is the
  /// end of the last line.
  Place place(std::size_t offset) const;
  /// An error at `offset`, with its source line.
  Diagnostic error(int number, std::size_t offset, std::string message,
                   std::string hint = {}) const;
};

/// Reads a regular file whole, unpacking what gzip has packed. Throws InputError: E0101 cannot be
/// opened, E0102 not a regular file, E0103 too large, E0104 UTF-16 or UTF-32, E0105 NUL or control
/// character, E0106 not UTF-8, E0107 empty, E0108 a line is too long, E0109 reading failed. Never
/// blocks on a FIFO and never reads a device.
TextFile read_text_file(const std::filesystem::path& path, const TextLimits& limits = {});

/// The same checks on text that is already in memory (tests, fuzzing, piped input). `name` stands
/// for the path.
TextFile make_text_file(std::string name, std::string bytes, const TextLimits& limits = {});

}  // namespace tessera::data
