// SPDX-License-Identifier: Apache-2.0
//
// A network that was read, node by node: what each operator does, and what it takes.
#pragma once
#include "onnx/model.h"
#include "tessera/data/onnx.h"

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace tessera::data {

/// Values by name, of one graph; a branch sees those around it.
struct OnnxScope {
  std::unordered_map<std::string, Tensor> values;
  const OnnxScope* around = nullptr;
  const Tensor& at(const std::string& name) const;
};

/// A node as its rule sees it: operands, attributes, the version of the operators.
struct OnnxCall {
  const OnnxNode& node;
  std::int64_t opset;
  const std::string& file;
  std::vector<Tensor> in;  ///< undefined where left out
  const OnnxScope* scope = nullptr;
  std::size_t n_out() const { return node.out.size(); }

  bool given(std::size_t k) const { return k < in.size() && in[k].defined(); }
  const Tensor& x(std::size_t k = 0) const;  ///< refuses one that is left out
  const OnnxAttribute* find(std::string_view name) const;
  std::int64_t integer(std::string_view name, std::int64_t otherwise) const;
  double real(std::string_view name, double otherwise) const;
  std::string text(std::string_view name, const std::string& otherwise) const;
  std::vector<std::int64_t> integers(std::string_view name) const;  ///< empty where not given
  /// Integers of an operand that must be known.
  std::vector<std::int64_t> known(std::size_t k) const;
  /// Those of the operand k, or of the attribute where operands of that kind came later.
  std::vector<std::int64_t> known_or(std::size_t k, std::string_view name) const;
  std::vector<double> known_reals(std::size_t k) const;
  /// Counted from the front; `extra`: of a result with so many more axes.
  int axis(std::int64_t a, int ndim) const;

  /// Refuses (E0403) what would take more than half of the memory: so many elements.
  void must_fit(double elements) const;
  /// The same of a result with axes of length 1 of these shapes repeated.
  void must_fit_together(const std::vector<Shape>& shapes) const;
  std::vector<Shape> shapes() const;                           ///< of the operands that are given
  [[noreturn]] void refuse(const std::string& what) const;     ///< E0441
  [[noreturn]] void malformed(const std::string& what) const;  ///< E0439
};

struct OnnxRule {
  std::vector<Tensor> (*run)(const OnnxCall&);
  const char* attributes = "";      ///< that it reads, or that change nothing
  std::size_t least = 1, most = 1;  ///< operands
  std::size_t results = 1;
};
/// Null for an operator that is not read.
const OnnxRule* onnx_rule(const std::string& op);
// Families of rules; each gives its own by name.
using OnnxRules = std::map<std::string, OnnxRule, std::less<>>;
void add_element_rules(OnnxRules& to);
void add_reduction_rules(OnnxRules& to);
void add_shape_rules(OnnxRules& to);
void add_index_rules(OnnxRules& to);
void add_layer_rules(OnnxRules& to);
void add_resize_rules(OnnxRules& to);

class OnnxProgram {
 public:
  explicit OnnxProgram(const std::filesystem::path& path);
  std::vector<Tensor> run(const std::vector<NamedTensor>& weights,
                          const std::vector<Tensor>& inputs) const;
  void run_graph(const OnnxGraph& g, OnnxScope& scope) const;

  std::string file;
  OnnxModel model;
  std::int64_t opset = 0;
  std::vector<NamedTensor> weights;
  std::vector<NamedTensor> constants;
  std::vector<OnnxNetwork::Input> inputs;
  std::vector<std::string> outputs;
};

}  // namespace tessera::data
