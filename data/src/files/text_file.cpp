// SPDX-License-Identifier: Apache-2.0
#include "tessera/data/text_file.h"

#include "files/regular_file.h"
#include "files/utf8.h"

#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>

namespace tessera::data {
namespace {

[[noreturn]] void refuse(const TextLimits& limits, int number, const std::string& path,
                         std::string message, std::string hint = {}) {
  throw InputError(Diagnostic{.number = number,
                              .place = {path},
                              .message = std::move(message),
                              .hint = std::move(hint)},
                   limits.code);
}

std::string size_text(std::size_t bytes) {
  if (bytes >= (std::size_t{1} << 20)) return std::to_string(bytes >> 20) + " MiB";
  return bytes >= 1024 ? std::to_string(bytes >> 10) + " KiB" : std::to_string(bytes) + " bytes";
}

const char* kind_of(mode_t mode) {
  if (S_ISDIR(mode)) return "a folder";
  if (S_ISFIFO(mode)) return "a FIFO";
  if (S_ISSOCK(mode)) return "a socket";
  return "a device";
}

/// The file, opened now if it is not among the inputs already.
std::shared_ptr<const RegularFile> open_text(const std::string& path, const TextLimits& limits) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0)
    refuse(limits, 101, path, std::string("cannot be opened: ") + std::strerror(errno));
  if (!S_ISREG(info.st_mode))
    refuse(limits, 102, path, std::string("expected a regular file, got ") + kind_of(info.st_mode));
  if (auto open = OpenInputs::find(info)) return open;
  const int fd = open_to_read(path);
  if (fd < 0) refuse(limits, 101, path, std::string("cannot be opened: ") + std::strerror(errno));
  // Asked again of what was really opened: the name may have changed hands in between.
  const bool regular = ::fstat(fd, &info) == 0 && S_ISREG(info.st_mode);
  auto file = std::make_shared<const RegularFile>(path, fd, info);
  if (!regular) refuse(limits, 102, path, "expected a regular file");
  OpenInputs::add(file);
  return file;
}

/// The whole file, growing as bytes arrive: a declared size is a hint, never a promise.
std::string read_bytes(const std::string& path, const TextLimits& limits) {
  const std::shared_ptr<const RegularFile> file = open_text(path, limits);
  const auto too_large = [&] {
    refuse(limits, 103, path,
           "is larger than the " + size_text(limits.max_bytes) + " allowed here");
  };
  const std::uint64_t size = file->size_now();
  if (size > limits.max_bytes) too_large();

  std::string bytes;
  std::size_t used = 0;
  bytes.resize(std::min(limits.max_bytes, static_cast<std::size_t>(size)) + 1);
  for (;;) {
    const ssize_t got = ::pread(file->descriptor(), bytes.data() + used, bytes.size() - used,
                                static_cast<off_t>(used));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) refuse(limits, 109, path, std::string("reading failed: ") + std::strerror(errno));
    if (got == 0) break;
    used += static_cast<std::size_t>(got);
    if (used > limits.max_bytes) too_large();
    if (used == bytes.size()) bytes.resize(std::min(2 * used, limits.max_bytes + 1));
  }
  bytes.resize(used);
  OpenInputs::parsed(*file, bytes);
  return bytes;
}

/// What gzip packed into `packed`, no more than the limit: a small file may hold a large one.
std::string unpacked(const std::string& packed, const std::string& shown,
                     const TextLimits& limits) {
  z_stream z{};
  if (::inflateInit2(&z, 16 + MAX_WBITS) != Z_OK)
    refuse(limits, 109, shown, "no memory to unpack the file");
  const std::unique_ptr<z_stream, int (*)(z_stream*)> end(&z, ::inflateEnd);
  z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
  z.avail_in = static_cast<uInt>(packed.size());
  std::string out;
  std::size_t used = 0;  // of `out`, which keeps its size from one joined file to the next: many
                         // empty ones are no work
  for (int state = Z_OK; state != Z_STREAM_END || z.avail_in > 0;) {
    if (state == Z_STREAM_END) ::inflateReset(&z);  // files that were packed apart and joined
    if (used == out.size())
      out.resize(std::min(std::max<std::size_t>(2 * used, 4 * packed.size() + 1024),
                          limits.max_bytes + 1));
    z.next_out = reinterpret_cast<Bytef*>(out.data() + used);
    z.avail_out = static_cast<uInt>(out.size() - used);
    state = ::inflate(&z, Z_NO_FLUSH);
    const bool full = z.avail_out == 0;
    used = out.size() - z.avail_out;
    if (used > limits.max_bytes)
      refuse(limits, 103, shown,
             "unpacks to more than the " + size_text(limits.max_bytes) + " allowed here");
    if ((state != Z_OK && state != Z_STREAM_END) || (state == Z_OK && !full && z.avail_in == 0))
      refuse(limits, 109, shown,
             "is damaged: gzip cannot unpack it beyond byte " + std::to_string(z.total_in));
  }
  out.erase(used);
  return out;
}

bool starts_with(const std::string& s, std::string_view head) {
  return s.compare(0, head.size(), head) == 0;
}

/// Two zero bytes in every four, or every second byte zero: text in a wide encoding without its
/// mark.
bool looks_wide(const std::string& s) {
  const std::size_t n = std::min<std::size_t>(s.size(), 64);
  if (n < 4) return false;
  std::size_t even = 0, odd = 0;
  for (std::size_t i = 0; i < n; ++i) (i % 2 ? odd : even) += s[i] == '\0';
  return (even == 0 && odd >= n / 2) || (odd == 0 && even >= n / 2);
}

std::size_t first_bad_utf8(const std::string& s) {
  for (std::size_t i = 0; i < s.size();) {
    const std::size_t n = detail::utf8_length(s, i);
    if (!n) return i;
    i += n;
  }
  return std::string::npos;
}

std::string from_latin1(const std::string& s) {
  std::string out;
  out.reserve(s.size() + s.size() / 8);
  for (const char raw : s) {
    const auto c = static_cast<unsigned char>(raw);
    if (c < 0x80) {
      out += raw;
    } else {
      out += static_cast<char>(0xc0 | (c >> 6));
      out += static_cast<char>(0x80 | (c & 0x3f));
    }
  }
  return out;
}

/// CRLF and lone CR become '\n', in place.
void unify_line_ends(std::string& s) {
  std::size_t to = 0;
  for (std::size_t i = 0; i < s.size(); ++i) {
    if (s[i] != '\r') {
      s[to++] = s[i];
    } else {
      s[to++] = '\n';
      if (i + 1 < s.size() && s[i + 1] == '\n') ++i;
    }
  }
  s.resize(to);
}

std::string hex(unsigned char c) {
  const char* digits = "0123456789abcdef";
  return {'0', 'x', digits[c >> 4], digits[c & 15]};
}

}  // namespace

std::string_view TextFile::line(std::size_t n) const {
  if (n == 0 || n > line_starts.size()) return {};
  const std::size_t begin = line_starts[n - 1];
  std::size_t end = n < line_starts.size() ? line_starts[n] : text.size();
  if (end > begin && text[end - 1] == '\n') --end;
  return std::string_view(text).substr(begin, end - begin);
}

Place TextFile::place(std::size_t offset) const {
  offset = std::min(offset, text.size());
  const auto after = std::upper_bound(line_starts.begin(), line_starts.end(), offset);
  const auto n = static_cast<std::size_t>(after - line_starts.begin());
  return {path, n, n ? offset - line_starts[n - 1] + 1 : 1, {}};
}

Diagnostic TextFile::error(int number, std::size_t offset, std::string message,
                           std::string hint) const {
  const Place where = place(offset);
  return {.number = number,
          .place = where,
          .message = std::move(message),
          .hint = std::move(hint),
          .source_line = std::string(line(where.line).substr(0, std::size_t{1} << 16))};
}

TextFile make_text_file(std::string name, std::string bytes, const TextLimits& limits) {
  if (bytes.size() > limits.max_bytes)
    refuse(limits, 103, name,
           "is larger than the " + size_text(limits.max_bytes) + " allowed here");
  if (bytes.empty()) refuse(limits, 107, name, "is empty");
  if (starts_with(bytes, "\xff\xfe") || starts_with(bytes, "\xfe\xff") || looks_wide(bytes))
    refuse(limits, 104, name, "is in UTF-16 or UTF-32, expected UTF-8",
           "convert it, e.g. iconv -f UTF-16 -t UTF-8");
  if (starts_with(bytes, "\xef\xbb\xbf")) bytes.erase(0, 3);
  while (!bytes.empty() && bytes.back() == '\x1a') bytes.pop_back();
  unify_line_ends(bytes);

  TextFile file{.path = std::move(name), .text = std::move(bytes)};
  std::size_t bad = std::string::npos;
  file.line_starts.push_back(0);
  for (std::size_t i = 0; i < file.text.size(); ++i) {
    const auto c = static_cast<unsigned char>(file.text[i]);
    if (c == '\n' && i + 1 < file.text.size()) file.line_starts.push_back(i + 1);
    if ((c < 0x20 && c != '\n' && c != '\t' && c != '\f') || c == 0x7f) {
      bad = i;
      break;
    }
  }
  if (bad != std::string::npos) {
    const auto c = static_cast<unsigned char>(file.text[bad]);
    file.text.erase(std::min(file.text.find('\n', bad),
                             file.text.size()));  // lines behind it were not looked for
    Diagnostic d = file.error(
        105, bad, c ? "control character " + hex(c) + " in a text file" : "NUL byte in a text file",
        "is this a binary file, or was it damaged in transfer?");
    throw InputError(std::move(d), limits.code);
  }
  if (file.text.find_first_not_of(" \t\n\f") == std::string::npos)
    refuse(limits, 107, file.path, "is empty (holds nothing but blanks)");
  for (std::size_t n = 1; n <= file.n_lines(); ++n) {
    if (file.line(n).size() > limits.max_line_bytes) {
      Diagnostic d = file.error(
          108, file.line_starts[n - 1] + limits.max_line_bytes,
          "line is longer than the " + size_text(limits.max_line_bytes) + " allowed here");
      throw InputError(std::move(d), limits.code);
    }
  }
  const std::size_t not_utf8 = first_bad_utf8(file.text);
  if (not_utf8 != std::string::npos) {
    if (limits.encoding == Encoding::utf8) {
      const auto c = static_cast<unsigned char>(file.text[not_utf8]);
      throw InputError(
          file.error(106, not_utf8, "byte " + hex(c) + " is not UTF-8", "save the file as UTF-8"),
          limits.code);
    }
    file.text = from_latin1(file.text);
    file.line_starts.assign(1, 0);
    for (std::size_t i = 0; i + 1 < file.text.size(); ++i)
      if (file.text[i] == '\n') file.line_starts.push_back(i + 1);
  }
  return file;
}

TextFile read_text_file(const std::filesystem::path& path, const TextLimits& limits) {
  std::string bytes = read_bytes(path.string(), limits);
  if (starts_with(bytes, "\x1f\x8b")) bytes = unpacked(bytes, path.string(), limits);
  return make_text_file(path.string(), std::move(bytes), limits);
}

}  // namespace tessera::data
