// SPDX-License-Identifier: Apache-2.0
//
// Triangle's .poly files (J. Shewchuk, "Triangle", the page of its file formats).
#include "tessera/data/text_reader.h"
#include "tessera/inversion/outline_2d.h"

#include <fmt/format.h>

#include <cmath>
#include <iterator>
#include <map>

namespace tessera::inversion {
namespace {

/// Lines of numbers; what follows # is left out, and so are lines without any.
class PolyLines {
 public:
  explicit PolyLines(const data::TextFile& text) : text_(text) {}

  std::vector<double> next(std::size_t least, const char* what) {
    while (++line_ <= text_.n_lines()) {
      const std::string_view line = text_.line(line_);
      const std::size_t begin = text_.line_starts[line_ - 1];
      words_ = data::split_tokens(text_.text, begin, begin + line.substr(0, line.find('#')).size());
      if (words_.empty()) continue;
      if (words_.size() < least)
        fail(words_.size() - 1, fmt::format("{} has {} numbers or more", what, least));
      data::Findings findings(text_);
      std::vector<double> out;
      for (const data::Token& word : words_)
        if (const auto v = data::parse_number(word, data::Exponent::fortran, findings))
          out.push_back(*v);
      findings.throw_if_errors();
      return out;
    }
    throw data::InputError(text_.error(365, text_.text.size() - 1,
                                       fmt::format("the file ends where {} is due", what)));
  }
  /// What number `word` of the line is: whole and within a range.
  Index whole(std::size_t word, double value, double least, const char* what) const {
    if (value != std::floor(value) || value < least || value > 1e8)
      fail(word, fmt::format("{} is a whole number from {} to 1e8", what, least));
    return static_cast<Index>(value);
  }
  [[noreturn]] void fail(std::size_t word, const std::string& what) const {
    throw data::InputError(text_.error(365, words_[word].offset, what));
  }

 private:
  const data::TextFile& text_;
  std::vector<data::Token> words_;
  std::size_t line_ = 0;
};

}  // namespace

Outline2d read_poly(const std::string& text, const std::string& name) {
  const data::TextFile file = data::make_text_file(name, text);
  PolyLines lines(file);
  const auto count = [&](const char* of) { return lines.whole(0, lines.next(1, of)[0], 0, of); };
  Outline2d out;
  const Index points = count("the number of points");
  if (points == 0) lines.fail(0, "points in a .node file of their own are not read");
  std::map<Index, Index> place;
  for (Index k = 0; k < points; ++k) {
    const auto p = lines.next(3, "a point");
    if (!place.emplace(lines.whole(0, p[0], 0, "a point's number"), k).second)
      lines.fail(0, "this point's number comes twice");
    out.y.push_back(p[1]);
    out.z.push_back(p[2]);
  }
  const Index segments = count("the number of segments");
  for (Index k = 0; k < segments; ++k) {
    const auto s = lines.next(3, "a segment");
    std::array<Index, 2> ends{};
    for (std::size_t e = 0; e < 2; ++e) {
      const auto at = place.find(lines.whole(e + 1, s[e + 1], 0, "a segment's end"));
      if (at == place.end()) lines.fail(e + 1, "this segment's end is no point of the file");
      ends[e] = at->second;
    }
    const auto [a, b] = ends;
    if (out.y[a] == out.y[b] && out.z[a] == out.z[b])
      lines.fail(2, a == b
                        ? "this segment has no length: it ends where it begins"
                        : fmt::format("this segment has no length: points {} and {} are one place",
                                      static_cast<Index>(s[1]), static_cast<Index>(s[2])));
    out.segments.push_back(ends);
  }
  if (count("the number of holes") > 0) lines.fail(0, "holes are not read: a section has none");
  const Index regions = count("the number of regions");
  for (Index k = 0; k < regions; ++k) {
    const auto r = lines.next(4, "a region");
    out.seeds.push_back({r[1], r[2], lines.whole(3, r[3], 1, "a region's attribute") - 1});
  }
  return out;
}

std::string poly_text(const Outline2d& o) {
  std::string out;
  const auto add = [&]<class... A>(fmt::format_string<A...> format, A&&... args) {
    fmt::format_to(std::back_inserter(out), format, std::forward<A>(args)...);
  };
  add("{} 2 0 0\n", o.y.size());
  for (std::size_t k = 0; k < o.y.size(); ++k) add("{} {} {}\n", k + 1, o.y[k], o.z[k]);
  add("{} 0\n", o.segments.size());
  for (std::size_t k = 0; k < o.segments.size(); ++k)
    add("{} {} {}\n", k + 1, o.segments[k][0] + 1, o.segments[k][1] + 1);
  add("0\n{}\n", o.seeds.size());
  for (std::size_t k = 0; k < o.seeds.size(); ++k)
    add("{} {} {} {} -1\n", k + 1, o.seeds[k].y, o.seeds[k].z, o.seeds[k].region + 1);
  return out;
}

}  // namespace tessera::inversion
