// SPDX-License-Identifier: Apache-2.0
#include "tessera/data/binary_file.h"
#include "tessera/data/text_reader.h"
#include "tessera/data/triangles.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <stdexcept>

namespace tessera::data {
namespace {

constexpr std::size_t kHeader = 84, kFacet = 50;  // bytes
constexpr std::size_t kMostFileBytes = kHeader + kFacet * kMostTriangles;

std::uint32_t little_endian(const std::string& bytes, std::size_t at) {
  std::uint32_t v = 0;
  for (std::size_t k = 4; k-- > 0;) v = v << 8 | static_cast<unsigned char>(bytes[at + k]);
  return v;
}

[[noreturn]] void refuse_bytes(const std::string& name, int number, std::size_t at,
                               std::string what, std::string hint = {}) {
  throw InputError(Diagnostic{.number = number,
                              .place = {.file = name, .byte = at},
                              .message = std::move(what),
                              .hint = std::move(hint)});
}

TriangleFile binary_stl(const std::string& name, const std::string& bytes) {
  const std::size_t n = little_endian(bytes, 80);
  if (n == 0) refuse_bytes(name, 374, 80, "the file says that it has no triangles");
  if (n > kMostTriangles)
    refuse_bytes(
        name, 374, 80,
        std::to_string(n) + " triangles; at most " + std::to_string(kMostTriangles) + " are read");
  TriangleFile out;
  out.points.reserve(3 * n);
  out.triangles.reserve(n);
  for (std::size_t t = 0; t < n; ++t) {
    for (std::size_t corner = 0; corner < 3; ++corner) {
      std::array<double, 3> p;
      for (std::size_t k = 0; k < 3; ++k) {
        const std::size_t at = kHeader + kFacet * t + 12 * (corner + 1) + 4 * k;
        p[k] = std::bit_cast<float>(little_endian(bytes, at));
        if (!(std::abs(p[k]) <= kFurthestPoint))
          refuse_bytes(
              name, 373, at,
              "triangle " + std::to_string(t + 1) + " has the coordinate " + std::to_string(p[k]),
              "coordinates are finite and at most 1e12 units");
      }
      out.points.push_back(p);
    }
    const auto first = static_cast<std::uint32_t>(3 * t);
    out.triangles.push_back({first, first + 1, first + 2});
  }
  return out;
}

/// solid NAME { facet normal x y z, outer loop, 3 x vertex x y z, endloop, endfacet } endsolid.
/// Words may stand on any lines, but for the names.
class TextStl {
 public:
  explicit TextStl(const TextFile& file) : file_(file), findings_(file) {}

  TriangleFile read() {
    for (std::size_t n = 0; n < file_.n_lines(); ++n) {
      const std::size_t begin = file_.line_starts[n];
      const std::vector<Token> words =
          split_tokens(file_.text, begin, begin + file_.line(n + 1).size());
      for (std::size_t k = 0; k < words.size();) {
        const std::string word = upper(words[k].text);
        if (within_ == Within::file || within_ == Within::solid) {
          if (word == (within_ == Within::file ? "SOLID" : "ENDSOLID")) {
            within_ = within_ == Within::file ? Within::solid : Within::file;
            break;  // the rest of the line is its name
          }
        }
        take(word, words[k], words, k);
      }
    }
    if (within_ != Within::file)
      fail(371, file_.text.size(), "the file ends within a solid", "endsolid is due");
    if (out_.triangles.empty()) fail(374, 0, "the file has no triangles");
    return std::move(out_);
  }

 private:
  enum class Within { file, solid, facet, loop };

  [[noreturn]] void fail(int number, std::size_t at, std::string what, std::string hint = {}) {
    findings_.error(number, at, std::move(what), std::move(hint));
    findings_.throw_if_errors();
    throw std::logic_error("stl: an error that is none");
  }

  [[noreturn]] void unexpected(const Token& t, const char* due) {
    fail(371, t.offset, std::string("expected ") + due + ", got " + shown(t.text));
  }

  void take(const std::string& word, const Token& t, const std::vector<Token>& words,
            std::size_t& k) {
    const auto then = [&](const char* second) {
      if (k + 1 >= words.size() || upper(words[k + 1].text) != upper(second))
        fail(371, t.offset, "expected '" + std::string(t.text) + " " + second + "'");
      k += 2;
    };
    switch (within_) {
      case Within::file:
        unexpected(t, "'solid'");
      case Within::solid:
        if (word != "FACET") unexpected(t, "'facet' or 'endsolid'");
        then("normal");
        if (k + 3 > words.size()) fail(371, t.offset, "a normal has three numbers");
        k += 3;  // not looked at: the corners tell it
        within_ = Within::facet;
        corners_ = 0;
        return;
      case Within::facet:
        if (word == "OUTER" && corners_ == 0) {
          then("loop");
          within_ = Within::loop;
        } else if (word == "ENDFACET" && corners_ > 0) {
          within_ = Within::solid;
          ++k;
        } else {
          unexpected(t, corners_ == 0 ? "'outer loop'" : "'endfacet'");
        }
        return;
      case Within::loop:
        break;
    }
    if (word == "ENDLOOP") {
      if (corners_ != 3)
        fail(371, t.offset, "a facet has three vertices, this has " + std::to_string(corners_));
      if (out_.triangles.size() == kMostTriangles)
        fail(374, t.offset, "more than " + std::to_string(kMostTriangles) + " triangles");
      const auto last = static_cast<std::uint32_t>(out_.points.size());
      out_.triangles.push_back({last - 3, last - 2, last - 1});
      within_ = Within::facet;
      ++k;
      return;
    }
    if (word != "VERTEX") unexpected(t, "'vertex' or 'endloop'");
    if (k + 4 > words.size()) fail(371, t.offset, "a vertex has three numbers");
    if (corners_ == 3) fail(371, t.offset, "a facet has three vertices, this has more");
    std::array<double, 3> p;
    for (std::size_t d = 0; d < 3; ++d) {
      const Token& x = words[k + 1 + d];
      const std::optional<double> value = parse_number(x, Exponent::e_only, findings_);
      findings_.throw_if_errors();
      p[d] = *value;
      if (!(std::abs(p[d]) <= kFurthestPoint))
        fail(373, x.offset, "the coordinate " + shown(x.text) + " is beyond 1e12 units");
    }
    out_.points.push_back(p);
    ++corners_;
    k += 4;
  }

  const TextFile& file_;
  Findings findings_;
  TriangleFile out_;
  Within within_ = Within::file;
  int corners_ = 0;
};

}  // namespace

TriangleFile parse_stl(std::string name, std::string bytes) {
  const std::size_t counted =
      bytes.size() >= kHeader ? kHeader + kFacet * std::size_t{little_endian(bytes, 80)} : 0;
  if (counted > 0 && counted == bytes.size()) return binary_stl(name, bytes);
  const std::size_t first = std::min(bytes.find_first_not_of(" \t\r\n"), bytes.size());
  const bool solid = upper(std::string_view(bytes).substr(first, 5)) == "SOLID";
  const bool text = solid && bytes.find('\0') == std::string::npos;
  if (!text) {
    if (bytes.size() < kHeader)
      refuse_bytes(name, 371, 0, "neither an STL text, which begins with 'solid', nor a binary one",
                   "a binary file has a header of 80 bytes and the number of triangles");
    refuse_bytes(name, 372, 80,
                 "the file says " + std::to_string(little_endian(bytes, 80)) +
                     " triangles, which are " + std::to_string(counted) + " bytes, and has " +
                     std::to_string(bytes.size()),
                 "it was cut off, or something was added: write it anew");
  }
  const TextFile file = make_text_file(std::move(name), std::move(bytes));
  return TextStl(file).read();
}

TriangleFile read_triangles(const std::filesystem::path& path) {
  const std::string ending = upper(path.extension().string());
  if (ending == ".OBJ") {
    TextFile file = read_text_file(path);
    return parse_obj(path.string(), std::move(file.text));
  }
  if (ending != ".STL")
    throw InputError(Diagnostic{.number = 430,
                                .place = {.file = path.string()},
                                .message = "the ending is neither .stl nor .obj",
                                .hint = "triangles are read from these"});
  const BinaryInput file(path);
  if (file.size() > kMostFileBytes)
    refuse_bytes(path.string(), 403, 0, "larger than " + std::to_string(kMostFileBytes) + " bytes");
  std::string bytes(static_cast<std::size_t>(file.size()), '\0');
  if (!file.read(0, bytes.data(), bytes.size()))
    refuse_bytes(path.string(), 401, 0, "the file became shorter while it was read");
  return parse_stl(path.string(), std::move(bytes));
}

}  // namespace tessera::data
