// SPDX-License-Identifier: Apache-2.0
//
// Networks of other programs and for them: ONNX files (github.com/onnx/onnx). What is written is
// the recorded computation itself, so that any function of operations that ONNX has can be; what is
// read becomes a function of our operations, which differentiates, compiles and trains like any
// other.
//
//   write_onnx("net.onnx", [](const nn::Mlp& m, const std::vector<Tensor>& x) { return m(x[0]); },
//              net, {.inputs = {{"x", {Dtype::f32, {1, 3}}}}, .outputs = {"y"}});
//
//   const OnnxNetwork other = read_onnx("other.onnx");
//   auto [l, g] = value_and_grad([&](const OnnxNetwork& n) { return loss(n({x})[0], y); })(other);
#pragma once
#include "tessera/autodiff/tree.h"
#include "tessera/data/arrays.h"

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace tessera::data {

// ---- out ----

struct OnnxInput {
  std::string name;
  Type type;  ///< the first axis is the batch
};
struct OnnxOptions {
  std::vector<OnnxInput> inputs;
  std::vector<std::string> outputs;  ///< a name for each result; empty: "y", or "y.0", "y.1", ...
  bool any_batch = true;             ///< of any number of samples, where the function allows it
  std::map<std::string, std::string> metadata = {};
};
struct OnnxWritten {
  bool any_batch = false;    ///< the file takes any number of samples, not only that of `inputs`
  std::string why_not = {};  ///< what in the function depends on the number
};
using OnnxFunction = std::function<std::vector<Tensor>(const std::vector<Tensor>& parameters,
                                                       const std::vector<Tensor>& inputs)>;

/// f(parameters, inputs) as an ONNX file of operator set 17, weights inside. The function is
/// recorded; with `any_batch` with batches of several sizes, of which the file has what they have
/// in common: lengths are numbers, or multiples of the batch. Throws Error, before anything is
/// written: an operation that has no operator in ONNX (with the line of the call), complex numbers,
/// names given twice, parameters that are traced, 2 GiB or more; InputError E0501 to E0503 where
/// the file cannot be written.
OnnxWritten write_onnx_function(const std::filesystem::path& path, const OnnxFunction& f,
                                const std::vector<NamedTensor>& parameters,
                                const OnnxOptions& options);
/// The same of a tree of parameters, by the names of its leaves; f(tree, inputs) gives a tree.
template <class F, IsTree P>
OnnxWritten write_onnx(const std::filesystem::path& path, const F& f, const P& parameters,
                       const OnnxOptions& options) {
  return write_onnx_function(
      path,
      [&](const std::vector<Tensor>& leaves, const std::vector<Tensor>& inputs) {
        return flatten_tree(f(unflatten_tree(parameters, leaves), inputs));
      },
      named_leaves(parameters), options);
}

// ---- in ----

class OnnxProgram;

/// A network that was read: a tree, whose leaves are the weights by their names in the file.
/// Numbers that are no weights (running statistics of batch norms, constants) are part of the
/// function.
struct OnnxNetwork {
  std::vector<NamedTensor> weights;
  std::shared_ptr<const OnnxProgram> program;

  /// A tensor for each of `inputs`; gives one for each of `outputs`. Throws Error, with the node,
  /// where types or shapes do not fit.
  std::vector<Tensor> operator()(const std::vector<Tensor>& inputs) const;

  struct Input {
    std::string name;
    Dtype dtype = Dtype::f32;
    std::vector<Index> shape;  ///< -1: any length
    bool any_shape = false;    ///< the file says nothing
  };
  const std::vector<Input>& inputs() const;
  const std::vector<std::string>& outputs() const;
};

/// Operator sets 7 to 20 of the standard domain, as far as they are listed in
/// docs/reference/onnx.md; as networks are used, not as they are trained (dropout does nothing).
/// Throws InputError (exit 4): E0401, E0402 no such regular file, E0403 more than half of the
/// memory, E0439 anything malformed, with its byte, or weights outside of the folder of the file,
/// E0441 an operator, an attribute or an element type that is not read.
OnnxNetwork read_onnx(const std::filesystem::path& path);
/// Names of the operators that are read, in the order of the alphabet.
std::vector<std::string> onnx_operators();
/// One tensor by itself (.pb), as ONNX's own tests have them. Throws as read_onnx.
NamedTensor read_onnx_tensor(const std::filesystem::path& path);

}  // namespace tessera::data

template <>
struct tessera::Tree<tessera::data::OnnxNetwork> {
  template <class T, class F>
  static void visit(T& t, F&& f) {
    for (auto& w : t.weights) f(w.values);
  }
  static void describe(const data::OnnxNetwork& t, TreeStructure& s) {
    s.push_back(reinterpret_cast<std::uintptr_t>(t.program.get()));
  }
  static void name(const data::OnnxNetwork& t, const std::string& path, LeafNames& names) {
    for (const data::NamedTensor& w : t.weights) names.push_back(detail::part_of(path, w.name));
  }
};
