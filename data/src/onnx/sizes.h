// SPDX-License-Identifier: Apache-2.0
//
// One computation recorded with batches of several sizes, read as one: what is the same in all is a
// number, what grows with the batch a multiple of it.
#pragma once
#include "tessera/autodiff/graph.h"

#include <string>
#include <string_view>
#include <vector>

namespace tessera::data {

/// A length: `value`, or `batches` times the batch where that is not 0.
struct BatchSize {
  Index value = 0;  ///< with the first batch
  Index batches = 0;
  bool operator==(const BatchSize&) const = default;
};
using BatchShape = std::vector<BatchSize>;

/// Thrown where the recordings have nothing in common.
struct DependsOnBatch {
  std::string why;
};

class Recordings {
 public:
  /// `batches`: those that they were recorded with, one each; of one recording nothing varies.
  Recordings(std::vector<Graph> graphs, std::vector<Index> batches);

  const Graph& first() const { return graphs_[0]; }
  const BatchShape& shape(Graph::Id value) const { return shapes_[value]; }
  /// A parameter of an equation by its name; the same in all but for `sizes`.
  Index number(std::size_t equation, std::string_view name) const;
  bool flag(std::size_t equation, std::string_view name) const;
  std::vector<Index> numbers(std::size_t equation, std::string_view name) const;
  BatchShape sizes(std::size_t equation, std::string_view name) const;
  /// A captured value without axes along which it repeats, [1] there.
  struct Constant {
    Tensor values;
    bool repeats = false;
  };
  Constant constant(std::size_t capture) const;

 private:
  BatchSize common(const std::vector<Index>& values, const std::string& what) const;
  template <class T>
  T same(std::size_t equation, std::string_view name) const;
  std::string place(std::size_t equation) const;

  std::vector<Graph> graphs_;
  std::vector<Index> batches_;
  std::vector<BatchShape> shapes_;
};

/// `matmul at layers.cpp:72`.
std::string place_of(const Graph::Equation& e);

}  // namespace tessera::data
