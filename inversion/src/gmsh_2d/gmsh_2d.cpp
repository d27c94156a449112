// SPDX-License-Identifier: Apache-2.0
//
// Gmsh's reference manual, "MSH file format": versions 2.2 and 4.1.
#include "tessera/inversion/gmsh_2d.h"

#include "tessera/autodiff/error.h"
#include "tessera/data/text_reader.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string_view>

namespace tessera::inversion {
namespace {

/// Corners of Gmsh's plane elements by their number; 0 of all others.
int corners_of(Index type) {
  switch (type) {
    case 2:
    case 9:
      return 3;
    case 3:
    case 10:
    case 16:
      return 4;
    default:
      return 0;
  }
}

class MshReader {
 public:
  MshReader(const data::TextFile& text, const GmshOptions& options)
      : text_(text), options_(options) {}

  Mesh2d read() {
    while (next_line())
      if (line_.starts_with("$MeshFormat"))
        format();
      else if (line_.starts_with("$Entities"))
        entities();
      else if (line_.starts_with("$Nodes"))
        version_ == 4 ? nodes_4() : nodes_2();
      else if (line_.starts_with("$Elements"))
        version_ == 4 ? elements_4() : elements_2();
    if (mesh_.medium.empty()) fail("there are no triangles and no quadrilaterals");
    try {
      require_mesh(mesh_);
    } catch (const Error& e) {
      fail(e.what());
    }
    return std::move(mesh_);
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    const std::size_t last = text_.text.size() - 1;
    throw data::InputError(
        text_.error(365, number_ > text_.n_lines() ? last : text_.line_starts[number_ - 1], what));
  }
  bool next_line() {
    if (++number_ > text_.n_lines()) return false;
    line_ = text_.line(number_);
    return true;
  }
  /// The numbers of the next line, `least` or more.
  std::vector<double> numbers(std::size_t least) {
    if (!next_line()) fail("the file ends within a section");
    const std::size_t begin = text_.line_starts[number_ - 1];
    data::Findings findings(text_);
    std::vector<double> out;
    for (const data::Token& word : data::split_tokens(text_.text, begin, begin + line_.size()))
      if (const auto v = data::parse_number(word, data::Exponent::e_only, findings))
        out.push_back(*v);
    findings.throw_if_errors();
    if (out.size() < least) fail("this line has " + std::to_string(least) + " numbers or more");
    return out;
  }
  Index whole(double v) const {
    if (!(std::abs(v) < 1e15) || v != std::floor(v)) fail("a number that is not whole");
    return static_cast<Index>(v);
  }
  Index count(double v) const {
    const Index n = whole(v);
    if (n < 0 || n > 100'000'000) fail("a number of things that cannot be");
    return n;
  }

  void format() {
    const auto v = numbers(3);
    version_ = v[0] == 2.2 ? 2 : v[0] == 4.1 ? 4 : 0;
    if (version_ == 0) fail("formats 2.2 and 4.1 are read");
    if (v[1] != 0) fail("binary files are not read: Mesh.Binary = 0");
  }
  /// 4.1: the physical group of each surface.
  void entities() {
    const auto n = numbers(4);
    for (Index k = 0; k < count(n[0]) + count(n[1]); ++k) (void)numbers(4);
    for (Index k = 0; k < count(n[2]); ++k) {
      const auto v = numbers(8);
      if (count(v[7]) > 0 && v.size() > 8) group_of_surface_[whole(v[0])] = whole(v[8]);
    }
  }
  void node(double tag, double x, double y) { place_[whole(tag)] = {x, options_.upwards ? -y : y}; }
  void nodes_2() {
    for (Index k = count(numbers(1)[0]); k-- > 0;) {
      const auto v = numbers(4);
      node(v[0], v[1], v[2]);
    }
  }
  void nodes_4() {
    for (Index blocks = count(numbers(4)[0]); blocks-- > 0;) {
      const Index n = count(numbers(4)[3]);
      std::vector<double> tags;
      for (Index k = 0; k < n; ++k) tags.push_back(numbers(1)[0]);
      for (const double tag : tags) {
        const auto v = numbers(3);
        node(tag, v[0], v[1]);
      }
    }
  }
  void elements_2() {
    for (Index k = count(numbers(1)[0]); k-- > 0;) {
      const auto v = numbers(3);
      const int corners = corners_of(whole(v[1]));
      if (corners == 0) continue;
      const auto tags = static_cast<std::size_t>(count(v[2]));
      if (tags < 1 || v.size() < 3 + tags + static_cast<std::size_t>(corners))
        fail("too few numbers for an element");
      cell(corners, whole(v[3]), &v[3 + tags]);
    }
  }
  void elements_4() {
    for (Index blocks = count(numbers(4)[0]); blocks-- > 0;) {
      const auto head = numbers(4);
      const int corners = corners_of(whole(head[2]));
      for (Index k = count(head[3]); k-- > 0;) {
        const auto v = numbers(1 + static_cast<std::size_t>(corners));
        if (corners == 0) continue;
        const auto group = group_of_surface_.find(whole(head[1]));
        cell(corners, group == group_of_surface_.end() ? 0 : group->second, &v[1]);
      }
    }
  }
  void cell(int corners, Index group, const double* nodes) {
    if (group == 0) fail("a cell's surface is in no physical group");
    if (!mesh_.medium.empty() && mesh_.corners != corners)
      fail("triangles and quadrilaterals in one mesh");
    mesh_.corners = corners;
    std::vector<Index> v;
    for (int k = 0; k < corners; ++k) {
      const auto found = place_.find(whole(nodes[k]));
      if (found == place_.end())
        fail("a cell names node " + std::to_string(whole(nodes[k])) + ", which is not there");
      const auto [number, fresh] = vertex_.try_emplace(found->first, mesh_.vertices());
      if (fresh) {
        mesh_.y.push_back(found->second.first);
        mesh_.z.push_back(found->second.second);
      }
      v.push_back(number->second);
    }
    double area = 0;
    for (int k = 0; k < corners; ++k) {
      const Index a = v[static_cast<std::size_t>(k)],
                  b = v[static_cast<std::size_t>((k + 1) % corners)];
      area += mesh_.y[a] * mesh_.z[b] - mesh_.y[b] * mesh_.z[a];
    }
    if (area < 0) std::reverse(v.begin() + 1, v.end());
    mesh_.cell.insert(mesh_.cell.end(), v.begin(), v.end());
    mesh_.medium.push_back(options_.medium(group));
  }

  const data::TextFile& text_;
  const GmshOptions& options_;
  std::string_view line_;
  std::size_t number_ = 0;  ///< of the line
  int version_ = 0;
  std::map<Index, std::pair<double, double>> place_;
  std::map<Index, Index> group_of_surface_, vertex_;
  Mesh2d mesh_;
};

}  // namespace

Mesh2d read_msh(const std::string& text, const GmshOptions& options, const std::string& name) {
  if (!options.medium) throw Error("[read_msh] needs to be told the medium of each physical group");
  const data::TextFile file = data::make_text_file(name, text);
  return MshReader(file, options).read();
}

}  // namespace tessera::inversion
