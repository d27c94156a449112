// SPDX-License-Identifier: Apache-2.0
//
// From recorded equations to nodes. A rule for each primitive; each writes its nodes by `node` and
// says the name of its result.
#pragma once
#include "onnx/model.h"
#include "onnx/sizes.h"

#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace tessera::data {

OnnxAttribute attribute(std::string name, std::int64_t i);
OnnxAttribute attribute(std::string name, std::vector<std::int64_t> ints);

class OnnxExporter {
 public:
  using Names = std::vector<std::string>;

  OnnxExporter(const Recordings& r, OnnxGraph& graph);

  const Recordings& r;
  std::size_t equation = 0;  ///< the one at hand
  std::string batch_of;      ///< an input whose first axis is the batch

  const Graph::Equation& e() const { return r.first().equations[equation]; }
  Graph::Id in(std::size_t k) const { return r.first().in(e())[k]; }
  Type type(std::size_t k) const { return r.first().types[in(k)]; }
  Type result() const { return r.first().types[e().out_begin]; }
  const BatchShape& shape(std::size_t k) const { return r.shape(in(k)); }
  const BatchShape& result_shape() const { return r.shape(e().out_begin); }

  /// A new value.
  std::string node(const std::string& op, Names in, std::vector<OnnxAttribute> attributes = {});
  std::string number(double v, Dtype dtype);
  std::string numbers(const std::vector<Index>& v);  ///< i64 [n]
  std::string constant(const Tensor& t);
  /// i64 [n], computed from the batch where it must be.
  std::string lengths(const BatchShape& s);
  std::string reshaped(const std::string& x, const BatchShape& s);

  /// The k-th operand in its own shape.
  std::string operand(std::size_t k) { return whole(in(k)); }
  std::string whole(Graph::Id id);
  /// The equation that makes the k-th operand, if one does.
  std::optional<std::size_t> made_by(std::size_t k) const;
  /// The operands of an operator that repeats axes of length 1 by itself, all but the last `own`.
  Names repeating_operands(std::size_t own = 0);
  void name(Graph::Id id, std::string name) { names_[id] = std::move(name); }
  /// A value that is `narrow` ([1] where it repeats) until somebody needs it in its own shape.
  void name_narrow(Graph::Id id, std::string narrow, BatchShape shape) {
    narrow_[id] = {std::move(narrow), std::move(shape)};
  }
  void result(std::string name) { names_[e().out_begin] = std::move(name); }

  [[noreturn]] void refuse(const std::string& why) const;

 private:
  std::string fresh() { return "_" + std::to_string(next_++); }

  OnnxGraph& graph_;
  struct Narrow {
    std::string name;
    BatchShape shape;
  };
  std::unordered_map<Graph::Id, std::string> names_;
  std::unordered_map<Graph::Id, Narrow> narrow_;
  std::map<std::vector<Index>, std::string> numbers_;
  std::map<Index, std::string> batches_;  ///< i64 [1]: so many times the batch
  std::vector<std::size_t> made_by_;      ///< of each value; equations.size(): none
  std::size_t next_ = 0;
};

/// Writes the nodes of the equation at hand; refuses one that has none.
void export_equation(OnnxExporter& x);

}  // namespace tessera::data
