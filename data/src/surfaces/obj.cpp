// SPDX-License-Identifier: Apache-2.0
// Of an OBJ file v and f are read; groups, names, materials, normals and textures are passed over.
// Faces of more than three corners are cut into triangles by ears, so that they may be concave.
#include "tessera/data/text_reader.h"
#include "tessera/data/triangles.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <stdexcept>

namespace tessera::data {
namespace {

using Point3 = std::array<double, 3>;
using Flat = std::array<double, 2>;
constexpr std::size_t kMostCorners = 10000;   ///< of a face
constexpr std::size_t kMostLooks = 20000000;  ///< at corners within ears, of a file

/// Twice the area of a b c, positive if it turns left.
double turn_of(const Flat& a, const Flat& b, const Flat& c) {
  return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
}

class ObjReader {
 public:
  explicit ObjReader(const TextFile& file) : file_(file), findings_(file) {}

  TriangleFile read() {
    std::vector<Token> words;
    for (std::size_t n = 0; n < file_.n_lines(); ++n) {
      const std::size_t begin = file_.line_starts[n];
      std::string_view line = file_.line(n + 1);
      line = line.substr(0, line.find('#'));
      const std::vector<Token> more = split_tokens(file_.text, begin, begin + line.size());
      words.insert(words.end(), more.begin(), more.end());
      if (words.size() > kMostItems)
        fail(371, begin, "a line has more than " + std::to_string(kMostItems) + " words");
      if (!words.empty() && words.back().text == "\\") {
        words.pop_back();
        continue;
      }
      if (!words.empty()) statement(words);
      words.clear();
    }
    if (!words.empty()) statement(words);
    if (out_.triangles.empty()) fail(374, 0, "the file has no faces");
    return std::move(out_);
  }

 private:
  [[noreturn]] void fail(int number, std::size_t at, std::string what, std::string hint = {}) {
    findings_.error(number, at, std::move(what), std::move(hint));
    findings_.throw_if_errors();
    throw std::logic_error("obj: an error that is none");
  }

  void statement(const std::vector<Token>& words) {
    static constexpr std::string_view passed_over[] = {
        "vt",     "vn",         "vp",        "g",      "o",     "s",        "mg",
        "usemtl", "mtllib",     "usemap",    "maplib", "bevel", "c_interp", "d_interp",
        "lod",    "shadow_obj", "trace_obj", "p",      "l"};
    const Token& first = words.front();
    if (first.text == "v") return vertex(words);
    if (first.text == "f" || first.text == "fo") return face(words);
    if (std::find(std::begin(passed_over), std::end(passed_over), first.text) !=
        std::end(passed_over))
      return;
    fail(371, first.offset, "expected a statement of an OBJ file, got " + shown(first.text),
         "vertices (v) and faces (f) are read; free-form curves and surfaces are not");
  }

  void vertex(const std::vector<Token>& words) {
    if (words.size() < 4) fail(371, words[0].offset, "a vertex has three coordinates");
    if (out_.points.size() == kMostTriangles)
      fail(374, words[0].offset, "more than " + std::to_string(kMostTriangles) + " vertices");
    Point3 p;
    for (std::size_t k = 0; k < 3; ++k) {
      const std::optional<double> x = parse_number(words[k + 1], Exponent::e_only, findings_);
      findings_.throw_if_errors();
      p[k] = *x;
      if (!(std::abs(p[k]) <= kFurthestPoint))
        fail(373, words[k + 1].offset,
             "the coordinate " + shown(words[k + 1].text) + " is beyond 1e12 units");
    }
    out_.points.push_back(p);
  }

  /// "7", "7/1", "7/1/2", "7//2": the first counts, from 1, or from the last vertex by -1.
  std::uint32_t index(const Token& word) {
    const std::string_view text = word.text.substr(0, word.text.find('/'));
    long long n = 0;
    const auto [end, ec] = std::from_chars(text.data(), text.data() + text.size(), n);
    const auto count = static_cast<long long>(out_.points.size());
    if (ec != std::errc() || end != text.data() + text.size() || text.empty())
      fail(375, word.offset, "expected the number of a vertex, got " + shown(word.text));
    if (n == 0 || n > count || n < -count)
      fail(
          375, word.offset,
          "there are " + std::to_string(count) + " vertices so far, the face names " + shown(text));
    return static_cast<std::uint32_t>(n > 0 ? n - 1 : count + n);
  }

  void add(std::uint32_t a, std::uint32_t b, std::uint32_t c, std::size_t at) {
    if (out_.triangles.size() == kMostTriangles)
      fail(374, at, "more than " + std::to_string(kMostTriangles) + " triangles");
    out_.triangles.push_back({a, b, c});
  }

  void face(const std::vector<Token>& words) {
    if (words.size() < 4)
      fail(375, words[0].offset,
           "a face has three vertices at least, this has " + std::to_string(words.size() - 1));
    if (words.size() - 1 > kMostCorners)
      fail(375, words[0].offset,
           "a face has at most " + std::to_string(kMostCorners) + " vertices");
    std::vector<std::uint32_t> corners;
    for (std::size_t k = 1; k < words.size(); ++k) corners.push_back(index(words[k]));
    if (corners.size() == 3) return add(corners[0], corners[1], corners[2], words[0].offset);
    cut_ears(corners, words[0].offset);
  }

  /// In the plane across Newell's normal. Where no corner is an ear (the face crosses itself) the
  /// next one is cut off all the same: the sum of areas stays.
  void cut_ears(std::vector<std::uint32_t> corners, std::size_t at) {
    Point3 normal{};
    for (std::size_t k = 0; k < corners.size(); ++k) {
      const Point3 &a = out_.points[corners[k]],
                   &b = out_.points[corners[(k + 1) % corners.size()]];
      for (std::size_t d = 0; d < 3; ++d)
        normal[d] += (a[(d + 1) % 3] - b[(d + 1) % 3]) * (a[(d + 2) % 3] + b[(d + 2) % 3]);
    }
    std::size_t axis = 0;
    for (std::size_t d = 1; d < 3; ++d)
      if (std::abs(normal[d]) > std::abs(normal[axis])) axis = d;
    const auto flat = [&](std::uint32_t corner) {
      const Point3& p = out_.points[corner];
      const Flat q{p[(axis + 1) % 3], p[(axis + 2) % 3]};
      return normal[axis] < 0 ? Flat{q[1], q[0]} : q;
    };
    std::vector<Flat> place;
    for (const std::uint32_t c : corners) place.push_back(flat(c));
    std::size_t here = 0, refused = 0;
    while (corners.size() > 3) {
      const std::size_t n = corners.size(), before = (here + n - 1) % n, after = (here + 1) % n;
      if (refused < n && !is_ear(place, before, here, after, at)) {
        ++refused;
        here = after;
        continue;
      }
      add(corners[before], corners[here], corners[after], at);
      corners.erase(corners.begin() + static_cast<std::ptrdiff_t>(here));
      place.erase(place.begin() + static_cast<std::ptrdiff_t>(here));
      here = here % corners.size();
      refused = 0;
    }
    add(corners[0], corners[1], corners[2], at);
  }

  bool is_ear(const std::vector<Flat>& place, std::size_t a, std::size_t b, std::size_t c,
              std::size_t at) {
    if (!(turn_of(place[a], place[b], place[c]) > 0)) return false;
    for (std::size_t k = 0; k < place.size(); ++k) {
      if (k == a || k == b || k == c) continue;
      if (++looks_ > kMostLooks)
        fail(375, at, "faces of too many corners",
             "cut them into triangles in the program that wrote them");
      if (place[k] == place[a] || place[k] == place[b] || place[k] == place[c]) continue;
      if (turn_of(place[a], place[b], place[k]) >= 0 &&
          turn_of(place[b], place[c], place[k]) >= 0 && turn_of(place[c], place[a], place[k]) >= 0)
        return false;
    }
    return true;
  }

  const TextFile& file_;
  Findings findings_;
  TriangleFile out_;
  std::size_t looks_ = 0;
};

}  // namespace

TriangleFile parse_obj(std::string name, std::string text) {
  const TextFile file = make_text_file(std::move(name), std::move(text));
  return ObjReader(file).read();
}

}  // namespace tessera::data
