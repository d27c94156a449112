// SPDX-License-Identifier: Apache-2.0
// Do the arrays of each series fit together?
#include "plot/layout.h"
#include "tessera/autodiff/error.h"

#include <initializer_list>
#include <utility>

namespace tessera::data::plot {
namespace {

using Vector = std::vector<double>;

struct Checker {
  const std::string& panel;

  [[noreturn]] void fail(const std::string& label, const std::string& what) const {
    throw Error("[plot] panel '" + panel + "', series '" + label + "': " + what);
  }
  void equal(const std::string& label, std::size_t n,
             std::initializer_list<std::pair<const char*, const Vector*>> arrays,
             bool may_be_empty = false) const {
    for (const auto& [name, a] : arrays)
      if (a->size() != n && !(may_be_empty && a->empty()))
        fail(label, std::string(name) + " has " + std::to_string(a->size()) +
                        " entries, expected " + std::to_string(n));
  }
  void monotonic(const std::string& label, const char* name, const Vector& edge) const {
    for (std::size_t i = 1; i < edge.size(); ++i) {
      const bool rises = edge[1] > edge[0];
      if (!(rises ? edge[i] > edge[i - 1] : edge[i] < edge[i - 1]))
        fail(label, std::string(name) + " must rise or fall strictly; entry " + std::to_string(i) +
                        " does not");
    }
  }

  void operator()(const Line& s) const { equal(s.label, s.x.size(), {{"y", &s.y}}); }
  void operator()(const Steps& s) const {
    if (s.edge.size() != s.value.size() + 1 && !(s.edge.empty() && s.value.empty()))
      fail(s.label, "edge has " + std::to_string(s.edge.size()) +
                        " entries, expected one more than value (" +
                        std::to_string(s.value.size()) + ")");
    monotonic(s.label, "edge", s.edge);
  }
  void operator()(const Points& s) const {
    equal(s.label, s.x.size(), {{"y", &s.y}});
    equal(s.label, s.x.size(),
          {{"x_minus", &s.x_minus},
           {"x_plus", &s.x_plus},
           {"y_minus", &s.y_minus},
           {"y_plus", &s.y_plus}},
          true);
  }
  void operator()(const Band& s) const {
    equal(s.label, s.low.size(), {{"high", &s.high}});
    if (s.at.size() != s.low.size() && s.at.size() != s.low.size() + 1)
      fail(s.label, "at has " + std::to_string(s.at.size()) +
                        " entries, expected as many as low (" + std::to_string(s.low.size()) +
                        ") or one more");
  }
  void operator()(const HeatMap& s) const {
    const std::size_t nx = s.x_edge.empty() ? 0 : s.x_edge.size() - 1,
                      ny = s.y_edge.empty() ? 0 : s.y_edge.size() - 1;
    equal(s.label, nx * ny, {{"value", &s.value}});
    if (!s.masked.empty() && s.masked.size() != s.value.size())
      fail(s.label, "masked has " + std::to_string(s.masked.size()) + " entries, expected " +
                        std::to_string(s.value.size()));
    monotonic(s.label, "x_edge", s.x_edge);
    monotonic(s.label, "y_edge", s.y_edge);
  }
  void operator()(const MeshCells& s) const {
    equal(s.label, s.x.size(), {{"y", &s.y}});
    if (s.corners < 3) fail(s.label, "cells have three corners or more");
    if (s.corner.size() != s.corners * s.value.size())
      fail(s.label, "corner has " + std::to_string(s.corner.size()) + " entries, expected " +
                        std::to_string(s.corners) + " for each of " +
                        std::to_string(s.value.size()) + " values");
    for (const std::size_t c : s.corner)
      if (c >= s.x.size())
        fail(s.label,
             "corner names point " + std::to_string(c) + " of " + std::to_string(s.x.size()));
    equal(s.label, s.value.size(), {{"veil", &s.veil}}, true);
  }
  void operator()(const Text&) const {}
  void operator()(const Rule&) const {}
  void operator()(const Ellipses& s) const {
    equal(s.label, s.x.size(),
          {{"y", &s.y}, {"major", &s.major}, {"minor", &s.minor}, {"angle", &s.angle}});
    equal(s.label, s.x.size(), {{"value", &s.value}}, true);
  }
  void operator()(const Arrows& s) const {
    equal(s.label, s.x.size(), {{"y", &s.y}, {"length", &s.length}, {"angle", &s.angle}});
  }
};

}  // namespace

std::string panel_name(const Panel& p) {
  return p.title.empty() ? std::to_string(p.row) + "," + std::to_string(p.column) : p.title;
}

void check_sizes(const Figure& figure) {
  for (const Panel& p : figure.panels) {
    if (p.row_span == 0 || p.column_span == 0 || p.row >= 1000 || p.column >= 1000 ||
        p.row_span > 1000 || p.column_span > 1000)
      throw Error("[plot] panel '" + panel_name(p) +
                  "': spans must be 1 to 1000 and row and column less than 1000");
    for (const Series& s : p.series) std::visit(Checker{panel_name(p)}, s);
  }
}

const std::string& series_label(const Series& s) {
  static const std::string none;
  return std::visit(
      [](const auto& v) -> const std::string& {
        if constexpr (requires { v.label; })
          return v.label;
        else
          return none;
      },
      s);
}

}  // namespace tessera::data::plot
