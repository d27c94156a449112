// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "tessera/autodiff/primitive.h"

#include <cstdint>
#include <functional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace tessera {

/// A recorded computation: static single assignment, flat arrays, no recursion anywhere. Values are
/// numbers into `types`; each equation's results are consecutive values.
struct Graph {
  using Id = std::uint32_t;
  struct Equation {
    const Primitive* primitive;
    Id in_begin, in_count;    ///< range of `operands`
    Id out_begin, out_count;  ///< range of values
    AttributesPtr attr;
    SourceLine line;
  };
  std::vector<Type> types;
  std::vector<Equation> equations;
  std::vector<Id> operands;
  std::vector<Id> inputs, outputs;
  std::vector<std::pair<Id, Tensor>>
      captures;  ///< values of outer scopes that the computation uses

  std::span<const Id> in(const Equation& e) const {
    return {operands.data() + e.in_begin, e.in_count};
  }
  Id add_value(const Type& t) {
    types.push_back(t);
    return static_cast<Id>(types.size() - 1);
  }
};

/// One line per equation: `%5 f64[3] = mul %3 %4  # file:line`.
std::string to_string(const Graph& g);
/// Checks the graph's invariants (every operand defined before use, types as inferred); throws on a
/// bug.
void verify(const Graph& g);
/// The same computation without equations that nobody uses or that repeat an earlier one.
Graph simplify(const Graph& g);

/// A recording in progress. With `live`, every operation is also run on the values at hand, so that
/// C++ control flow may read them; without, only types flow.
///
/// Nesting: recordings form a stack (by depth). An operation belongs to the innermost recording
/// among its operands (or to a branch being recorded inside of that one); operands from outside
/// become captures of it. That alone keeps perturbations of nested derivatives apart: no tags, no
/// levels.
class Recorder {
 public:
  Recorder(const char* transform, bool live, int depth)
      : transform_(transform), live_(live), depth_(depth) {}

  const char* transform() const { return transform_; }
  bool live() const { return live_; }
  bool open() const { return open_; }
  int depth() const { return depth_; }
  Graph& graph() { return graph_; }
  const std::vector<Tensor>& values() const { return values_; }  ///< live value of each graph value

  /// A new input; with `live`, `value` is what it stands for. `self` is the shared owner of this
  /// recorder.
  static Tensor input(const std::shared_ptr<Recorder>& self, const Type& type, const Tensor& value);
  static void record(const std::shared_ptr<Recorder>& self, const Primitive& p,
                     std::span<const Tensor* const> in, AttributesPtr attr, SourceLine line,
                     std::span<Tensor> out);
  /// The number of `t` in this recording; a value from outside becomes a capture.
  Graph::Id id_of(const Tensor& t);
  void close() { open_ = false; }

 private:
  const char* transform_;
  bool live_;
  bool open_ = true;
  int depth_;
  Graph graph_;
  std::vector<Tensor> values_;
  std::unordered_map<const detail::TensorImpl*, Graph::Id> captured_;
};

using FlatFunction = std::function<std::vector<Tensor>(const std::vector<Tensor>&)>;

/// A closed recording: the graph and, for live recordings, the value of every number in it.
struct Recording {
  Graph graph;
  std::vector<Tensor> values;
};
/// Records `f` on inputs of the given types (abstract) or values (live).
Recording record_abstract(const char* transform, const FlatFunction& f,
                          std::span<const Type> inputs);
/// Abstract, for what may not be run at all: the branch of a condition, the body of a loop without
/// steps. Operations on values from outside are recorded too (elsewhere they belong to their own
/// recording, or run at once), so that they are computed, fail, have a derivative where and when
/// the branch does. Known values alone are computed with at once, unless that fails.
Recording record_branch(const char* transform, const FlatFunction& f, std::span<const Type> inputs);
/// Abstract, for what is run later, maybe many times: a compiled function, the body of a loop.
/// Operations of Ordering::every are recorded though their operands are known; the others belong
/// where they always do.
Recording record_program(const char* transform, const FlatFunction& f,
                         std::span<const Type> inputs);
Recording record_live(const char* transform, const FlatFunction& f, std::span<const Tensor> inputs);

/// Runs the graph equation by equation on the given inputs. Where they are traced, it is recorded
/// anew.
std::vector<Tensor> evaluate(const Graph& g, std::span<const Tensor> inputs);
/// The graph of `f` at inputs of these types, for looking at and for compilation.
Graph trace(const FlatFunction& f, std::span<const Type> inputs);

}  // namespace tessera
