// SPDX-License-Identifier: Apache-2.0
#include "onnx/sizes.h"

#include "arrays/elements.h"
#include "tessera/autodiff/ops/shape.h"

#include <algorithm>
#include <filesystem>
#include <sstream>

namespace tessera::data {
namespace {

/// Parameters in the order in which they are printed, `name=value` or `value`.
std::vector<std::string> words_of(const Attributes* a) {
  std::vector<std::string> words;
  if (!a) return words;
  std::istringstream text(a->text());
  for (std::string w; text >> w;) words.push_back(w.substr(w.find('=') + 1));
  return words;
}
std::vector<Index> numbers_in(const std::string& word) {
  std::vector<Index> all;
  std::string text = word;
  std::ranges::replace_if(
      text, [](char c) { return c == '[' || c == ']' || c == ','; }, ' ');
  std::istringstream in(text);
  for (Index i; in >> i;) all.push_back(i);
  return all;
}

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
    auto& words = words_.emplace_back();
    for (const Graph::Equation& e : g.equations) words.push_back(words_of(e.attr.get()));
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

std::string Recordings::word(std::size_t e, std::size_t k) const {
  for (const auto& words : words_)
    if (words[e].at(k) != words_[0][e].at(k)) throw DependsOnBatch{place(e)};
  return words_[0][e][k];
}
std::vector<Index> Recordings::numbers(std::size_t e, std::size_t k) const {
  return numbers_in(word(e, k));
}
Index Recordings::number(std::size_t e, std::size_t k) const { return numbers(e, k).at(0); }

BatchShape Recordings::sizes(std::size_t e, std::size_t k) const {
  std::vector<std::vector<Index>> all;
  for (const auto& words : words_) all.push_back(numbers_in(words[e].at(k)));
  BatchShape s;
  for (std::size_t d = 0; d < all[0].size(); ++d) {
    std::vector<Index> values;
    for (const auto& numbers : all) values.push_back(numbers.at(d));
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
