// SPDX-License-Identifier: Apache-2.0
#include "onnx/program.h"

#include "tessera/autodiff/error.h"
#include "tessera/autodiff/ops.h"
#include "tessera/data/diagnostic.h"
#include "tessera/data/memory.h"

#include <algorithm>
#include <set>

namespace tessera::data {
namespace {

std::string called(const OnnxNode& n) { return n.op + (n.name.empty() ? "" : " '" + n.name + "'"); }

[[noreturn]] void refuse_operator(const std::string& file, std::uint64_t byte,
                                  const std::string& what) {
  throw InputError(Diagnostic{.number = 441,
                              .place = {.file = file, .byte = byte},
                              .message = what,
                              .hint = "docs/reference/onnx.md lists what is read"});
}

/// Operands that say how, not with what: no weights, though they may be real numbers.
const std::map<std::string, std::set<std::size_t>, std::less<>> kSettings = {
    {"Resize", {1, 2, 3}},
    {"Upsample", {1}},
    {"Range", {0, 1, 2}},
    {"Dropout", {1, 2}},
    {"BatchNormalization", {3, 4}}};

void collect_settings(const OnnxGraph& g, std::set<std::string>& settings) {
  for (const OnnxNode& n : g.nodes) {
    if (const auto found = kSettings.find(n.op); found != kSettings.end())
      for (const std::size_t k : found->second)
        if (k < n.in.size()) settings.insert(n.in[k]);
    for (const OnnxAttribute& a : n.attributes)
      if (a.g) collect_settings(*a.g, settings);
  }
}

/// Real numbers along axes. Not masks with infinities, nor the ones and zeros that
/// InstanceNormalization has where it stands for another norm.
bool may_be_trained(const OnnxModel& m, const OnnxTensor& t) {
  if (m.producer == "tessera" && is_made_by_export(t.name)) return false;
  if (!is_float(t.values.dtype()) || t.values.ndim() == 0 || t.values.size() == 0) return false;
  if (!all(is_finite(t.values)).item<bool>()) return false;
  for (const OnnxNode& n : m.graph.nodes)
    if (n.op == "InstanceNormalization" && n.in.size() == 3 &&
        ((n.in[1] == t.name && all(equal(t.values, 1)).item<bool>()) ||
         (n.in[2] == t.name && all(equal(t.values, 0)).item<bool>())))
      return false;
  return true;
}

/// Values before they are used, each made once; operators and attributes that are read.
void check_graph(const std::string& file, const OnnxGraph& g, std::set<std::string> known) {
  const auto make = [&](const std::string& name, std::uint64_t byte) {
    if (!known.insert(name).second)
      refuse_onnx(file, byte, "the value '" + name + "' is made twice");
  };
  std::set<std::string> named;
  for (const OnnxTensor& t : g.initializers) {
    if (!dtype_of_onnx(t.type))
      refuse_operator(file, t.byte,
                      "'" + t.name + "' has elements of type " + onnx_type_name(t.type) + " (" +
                          std::to_string(t.type) + ")");
    make(t.name, t.byte);
    named.insert(t.name);
  }
  for (const OnnxValueInfo& v : g.inputs)
    if (!named.contains(v.name)) make(v.name, 0);
  for (const OnnxNode& n : g.nodes) {
    for (const std::string& name : n.in)
      if (!name.empty() && !known.contains(name))
        refuse_onnx(file, n.byte,
                    called(n) + " takes '" + name + "', which no node before it makes");
    if (!n.domain.empty())
      refuse_operator(file, n.byte, called(n) + ": operators of '" + n.domain + "' are not read");
    const OnnxRule* rule = onnx_rule(n.op);
    if (!rule) refuse_operator(file, n.byte, called(n) + ": this operator is not read");
    if (n.in.size() < rule->least || n.in.size() > rule->most)
      refuse_onnx(file, n.byte,
                  called(n) + " has " + std::to_string(n.in.size()) + " operands, expected " +
                      std::to_string(rule->least) + " to " + std::to_string(rule->most));
    if (n.out.empty()) refuse_onnx(file, n.byte, called(n) + " has no result");
    for (std::size_t k = rule->results; k < n.out.size(); ++k)
      if (!n.out[k].empty())
        refuse_operator(file, n.byte,
                        called(n) + ": its result number " + std::to_string(k) + " ('" + n.out[k] +
                            "') is not made here");
    const std::string attributes = " " + std::string(rule->attributes) + " ";
    for (const OnnxAttribute& a : n.attributes) {
      if (attributes.find(" " + a.name + " ") == std::string::npos)
        refuse_operator(file, n.byte, called(n) + ": its attribute '" + a.name + "' is not read");
      if (a.kind == OnnxAttribute::tensor && !dtype_of_onnx(a.t.type))
        refuse_operator(file, n.byte, called(n) + ": elements of type " + onnx_type_name(a.t.type));
      if (!a.g) continue;
      check_graph(file, *a.g, known);
      for (std::size_t k = a.g->outputs.size(); k < n.out.size(); ++k)
        if (!n.out[k].empty())
          refuse_onnx(file, n.byte,
                      called(n) + ": its branch '" + a.name + "' has " +
                          std::to_string(a.g->outputs.size()) + " results, expected " +
                          std::to_string(n.out.size()));
    }
    for (const std::string& name : n.out)
      if (!name.empty()) make(name, n.byte);
  }
  for (const OnnxValueInfo& v : g.outputs)
    if (!known.contains(v.name))
      refuse_onnx(file, 0, "expected a node that makes the result '" + v.name + "', found none");
}

}  // namespace

namespace {
const OnnxRules& all_rules() {
  static const OnnxRules rules = [] {
    OnnxRules all;
    for (const auto add : {add_element_rules, add_reduction_rules, add_shape_rules, add_index_rules,
                           add_layer_rules, add_resize_rules})
      add(all);
    return all;
  }();
  return rules;
}
}  // namespace

const OnnxRule* onnx_rule(const std::string& op) {
  const auto found = all_rules().find(op);
  return found == all_rules().end() ? nullptr : &found->second;
}
std::vector<std::string> onnx_operators() {
  std::vector<std::string> names;
  for (const auto& [name, rule] : all_rules()) names.push_back(name);
  return names;
}

// ---- what a rule sees ----

const Tensor& OnnxScope::at(const std::string& name) const {
  for (const OnnxScope* s = this; s; s = s->around)
    if (const auto found = s->values.find(name); found != s->values.end()) return found->second;
  throw Error("[read_onnx] there is no value '" + name + "'");
}

void OnnxCall::must_fit(double elements) const {
  if (elements * 8 <= static_cast<double>(memory_limit() / 2)) return;
  throw InputError(Diagnostic{.number = 403,
                              .place = {.file = file, .byte = node.byte},
                              .message = called(node) + ": a result of " +
                                         std::to_string(elements) +
                                         " elements is more than half of the memory"});
}
void OnnxCall::must_fit_together(const std::vector<Shape>& shapes) const {
  double elements = 1;
  for (int d = 1; d <= kMaxDims; ++d) {  // from the last axis on
    Index length = 1;
    for (const Shape& s : shapes)
      if (d <= s.size() && s[s.size() - d] != 1) length = s[s.size() - d];
    elements *= static_cast<double>(length);
  }
  must_fit(elements);
}
std::vector<Shape> OnnxCall::shapes() const {
  std::vector<Shape> all;
  for (const Tensor& t : in)
    if (t.defined()) all.push_back(t.shape());
  return all;
}
void OnnxCall::refuse(const std::string& what) const {
  refuse_operator(file, node.byte, called(node) + ": " + what);
}
void OnnxCall::malformed(const std::string& what) const {
  refuse_onnx(file, node.byte, called(node) + ": " + what);
}
const Tensor& OnnxCall::x(std::size_t k) const {
  if (!given(k)) malformed("its operand " + std::to_string(k) + " is missing");
  return in[k];
}
const OnnxAttribute* OnnxCall::find(std::string_view name) const {
  for (const OnnxAttribute& a : node.attributes)
    if (a.name == name) return &a;
  return nullptr;
}
namespace {
const OnnxAttribute* of_kind(const OnnxCall& c, std::string_view name, OnnxAttribute::Kind kind) {
  const OnnxAttribute* a = c.find(name);
  if (a && a->kind != kind)
    c.malformed("its attribute '" + a->name + "' is of kind " + std::to_string(a->kind) +
                ", expected " + std::to_string(kind));
  return a;
}
}  // namespace
std::int64_t OnnxCall::integer(std::string_view name, std::int64_t otherwise) const {
  const OnnxAttribute* a = of_kind(*this, name, OnnxAttribute::integer);
  return a ? a->i : otherwise;
}
double OnnxCall::real(std::string_view name, double otherwise) const {
  const OnnxAttribute* a = of_kind(*this, name, OnnxAttribute::real);
  return a ? a->f : otherwise;
}
std::string OnnxCall::text(std::string_view name, const std::string& otherwise) const {
  const OnnxAttribute* a = of_kind(*this, name, OnnxAttribute::text);
  return a ? a->s : otherwise;
}
std::vector<std::int64_t> OnnxCall::integers(std::string_view name) const {
  const OnnxAttribute* a = of_kind(*this, name, OnnxAttribute::integers);
  return a ? a->ints : std::vector<std::int64_t>{};
}
std::vector<std::int64_t> OnnxCall::known(std::size_t k) const {
  if (!is_integer(x(k).dtype()))
    malformed("its operand " + std::to_string(k) + " is " + to_string(x(k).type()) +
              ", expected integers");
  return contiguous(cast(x(k), Dtype::i64)).to_vector<std::int64_t>();
}
std::vector<std::int64_t> OnnxCall::known_or(std::size_t k, std::string_view name) const {
  return given(k) ? known(k) : integers(name);
}
std::vector<double> OnnxCall::known_reals(std::size_t k) const {
  return contiguous(cast(x(k), Dtype::f64)).to_vector<double>();
}
int OnnxCall::axis(std::int64_t a, int ndim) const {
  if (a < -ndim || a >= ndim)
    malformed("axis " + std::to_string(a) + " of " + std::to_string(ndim));
  return static_cast<int>(a < 0 ? a + ndim : a);
}

// ---- the whole network ----

OnnxProgram::OnnxProgram(const std::filesystem::path& path)
    : file(path.string()), model(read_onnx_model(path)) {
  if (model.functions)
    refuse_operator(file, 0, "the file has operators of its own (functions), which are not read");
  check_graph(file, model.graph, {});
  const auto found = model.opsets.find("");
  if (found == model.opsets.end())
    refuse_onnx(file, 0, "expected the version of its operators, found none");
  opset = found->second;
  if (opset < kOldestOpset || opset > kNewestOpset)
    refuse_operator(file, 0,
                    "its operators are of version " + std::to_string(opset) + "; those of " +
                        std::to_string(kOldestOpset) + " to " + std::to_string(kNewestOpset) +
                        " are read");
  std::set<std::string> settings, given;
  collect_settings(model.graph, settings);
  for (OnnxTensor& t : model.graph.initializers) {
    given.insert(t.name);
    auto& to = !settings.contains(t.name) && may_be_trained(model, t) ? weights : constants;
    to.push_back({t.name, std::move(t.values)});
  }
  for (const OnnxValueInfo& v : model.graph.inputs) {
    if (given.contains(v.name)) continue;
    const std::optional<Dtype> dtype = dtype_of_onnx(v.type);
    if (!dtype)
      refuse_operator(file, 0,
                      "the input '" + v.name + "' is " +
                          (v.type == 0 ? "no tensor" : "of type " + onnx_type_name(v.type)));
    OnnxNetwork::Input in{.name = v.name, .dtype = *dtype, .any_shape = !v.shape};
    if (v.shape)
      for (const OnnxAxis& a : *v.shape) in.shape.push_back(a.name.empty() ? a.length : -1);
    inputs.push_back(std::move(in));
  }
  for (const OnnxValueInfo& v : model.graph.outputs) outputs.push_back(v.name);
}

void OnnxProgram::run_graph(const OnnxGraph& g, OnnxScope& scope) const {
  for (const OnnxNode& n : g.nodes) {
    OnnxCall call{n, opset, file, {}, &scope};
    for (const std::string& name : n.in)
      call.in.push_back(name.empty() ? Tensor() : scope.at(name));
    std::vector<Tensor> out;
    try {
      if (n.op == "If") {
        const bool yes = call.x().item<bool>();
        const OnnxAttribute* branch = call.find(yes ? "then_branch" : "else_branch");
        if (!branch || !branch->g) call.malformed("it has no branch");
        OnnxScope inner{{}, &scope};
        for (const OnnxTensor& t : branch->g->initializers) inner.values[t.name] = t.values;
        run_graph(*branch->g, inner);
        for (const OnnxValueInfo& v : branch->g->outputs) out.push_back(inner.at(v.name));
      } else {
        out = onnx_rule(n.op)->run(call);
      }
    } catch (const InputError&) {
      throw;
    } catch (const Error& e) {
      throw Error("[read_onnx] " + called(n) + ": " + e.what());
    }
    for (std::size_t k = 0; k < n.out.size(); ++k)
      if (!n.out[k].empty()) {
        if (k >= out.size())
          call.malformed("its result number " + std::to_string(k) + " is not made");
        call.must_fit(static_cast<double>(out[k].size()));
        scope.values[n.out[k]] = out[k];
      }
  }
}

std::vector<Tensor> OnnxProgram::run(const std::vector<NamedTensor>& with,
                                     const std::vector<Tensor>& x) const {
  if (x.size() != inputs.size())
    throw Error("[read_onnx] the network takes " + std::to_string(inputs.size()) + " inputs, got " +
                std::to_string(x.size()));
  OnnxScope scope;
  for (const NamedTensor& c : constants) scope.values[c.name] = c.values;
  for (const NamedTensor& w : with) scope.values[w.name] = w.values;
  for (std::size_t k = 0; k < x.size(); ++k) {
    const OnnxNetwork::Input& in = inputs[k];
    bool fits = x[k].dtype() == in.dtype &&
                (in.any_shape || static_cast<std::size_t>(x[k].ndim()) == in.shape.size());
    for (int d = 0; fits && !in.any_shape && d < x[k].ndim(); ++d) {
      const Index n = in.shape[static_cast<std::size_t>(d)];
      fits = n < 0 || n == x[k].dim(d);
    }
    if (!fits) {
      std::string shape;
      for (const Index n : in.shape)
        shape += (shape.empty() ? "" : ",") + (n < 0 ? "?" : std::to_string(n));
      throw Error("[read_onnx] the input '" + in.name + "' is " + name_of(in.dtype) +
                  (in.any_shape ? "" : "[" + shape + "]") + ", got " + to_string(x[k].type()));
    }
    scope.values[in.name] = x[k];
  }
  run_graph(model.graph, scope);
  std::vector<Tensor> y;
  for (const std::string& name : outputs) y.push_back(scope.at(name));
  return y;
}

std::vector<Tensor> OnnxNetwork::operator()(const std::vector<Tensor>& inputs) const {
  return program->run(weights, inputs);
}
const std::vector<OnnxNetwork::Input>& OnnxNetwork::inputs() const { return program->inputs; }
const std::vector<std::string>& OnnxNetwork::outputs() const { return program->outputs; }

NamedTensor read_onnx_tensor(const std::filesystem::path& path) {
  OnnxTensor t = read_onnx_tensor_file(path);
  if (!t.values.defined())
    refuse_operator(path.string(), 0, "its elements are of type " + onnx_type_name(t.type));
  return {std::move(t.name), std::move(t.values)};
}

OnnxNetwork read_onnx(const std::filesystem::path& path) {
  auto program = std::make_shared<OnnxProgram>(path);
  return {std::move(program->weights), program};
}

}  // namespace tessera::data
