// SPDX-License-Identifier: Apache-2.0
#include "onnx/sizes.h"

#include "arrays/elements.h"
#include "tessera/autodiff/ops/shape.h"

#include <algorithm>
#include <filesystem>

namespace tessera::data {
namespace {

/// Without axes along which it repeats.
Tensor compact(const Tensor& t) {
  Shape stop = t.shape(), start = Shape::filled(stop.size(), 0);
  for (int d = 0; d < stop.size(); ++d)
    if (stop[d] > 1 && t.view().strides[d] == 0) stop[d] = 1;
  return contiguous(slice(t, start, stop));
}

}  // namespace

std::string place_of(const Graph::Equation& e) {
  std::string text = e.primitive->name;
  if (e.line.number == 0) return text;
  return text + " at " + std::filesystem::path(e.line.file).filename().string() + ":" +
         std::to_string(e.line.number);
}

Recordings::Recordings(std::vector<Graph> graphs, std::vector<Index> batches)
    : graphs_(std::move(graphs)), batches_(std::move(batches)) {
  const Graph& f = graphs_[0];
  for (const Graph& g : graphs_) {
    bool same = g.equations.size() == f.equations.size() && g.operands == f.operands &&
                g.types.size() == f.types.size() && g.captures.size() == f.captures.size() &&
                g.inputs == f.inputs && g.outputs == f.outputs;
    if (!same) throw DependsOnBatch{"other operations are done for other numbers of samples"};
    for (std::size_t e = 0; e < f.equations.size(); ++e)
      if (g.equations[e].primitive != f.equations[e].primitive)
        throw DependsOnBatch{place_of(f.equations[e])};
  }
  for (std::size_t v = 0; v < f.types.size(); ++v) {
    BatchShape& s = shapes_.emplace_back();
    for (int d = 0; d < f.types[v].shape.size(); ++d) {
      std::vector<Index> lengths;
      for (const Graph& g : graphs_) {
        if (g.types[v].dtype != f.types[v].dtype ||
            g.types[v].shape.size() != f.types[v].shape.size())
          throw DependsOnBatch{"types differ"};
        lengths.push_back(g.types[v].shape[d]);
      }
      s.push_back(common(lengths, "a length of " + to_string(f.types[v])));
    }
  }
}

BatchSize Recordings::common(const std::vector<Index>& values, const std::string& what) const {
  if (std::ranges::all_of(values, [&](Index v) { return v == values[0]; })) return {values[0], 0};
  const Index times = values[0] / batches_[0];
  for (std::size_t k = 0; k < values.size(); ++k)
    if (values[k] != times * batches_[k])
      throw DependsOnBatch{what + " is no multiple of the number of samples"};
  return {values[0], times};
}

std::string Recordings::place(std::size_t equation) const {
  return place_of(first().equations[equation]);
}

template <class T>
T Recordings::same(std::size_t e, std::string_view name) const {
  const T value = value_of<T>(first().equations[e].attr.get(), name);
  for (const Graph& g : graphs_)
    if (value_of<T>(g.equations[e].attr.get(), name) != value) throw DependsOnBatch{place(e)};
  return value;
}
Index Recordings::number(std::size_t e, std::string_view name) const {
  return same<Index>(e, name);
}
bool Recordings::flag(std::size_t e, std::string_view name) const { return same<bool>(e, name); }
std::vector<Index> Recordings::numbers(std::size_t e, std::string_view name) const {
  const Shape s = same<Shape>(e, name);
  return {s.begin(), s.end()};
}

BatchShape Recordings::sizes(std::size_t e, std::string_view name) const {
  BatchShape s;
  const int axes = value_of<Shape>(first().equations[e].attr.get(), name).size();
  for (int d = 0; d < axes; ++d) {
    std::vector<Index> values;
    for (const Graph& g : graphs_)
      values.push_back(value_of<Shape>(g.equations[e].attr.get(), name)[d]);
    s.push_back(common(values, "a size in " + place(e)));
  }
  return s;
}

Recordings::Constant Recordings::constant(std::size_t capture) const {
  const auto& [id, whole] = first().captures[capture];
  Constant c{compact(whole)};
  c.repeats = c.values.shape() != whole.shape();
  for (const Graph& g : graphs_) {
    const Tensor other = compact(g.captures[capture].second);
    if (other.type() != c.values.type() || !std::ranges::equal(bytes_of(other), bytes_of(c.values)))
      throw DependsOnBatch{"a constant " + to_string(whole.type())};
  }
  return c;
}

}  // namespace tessera::data
