// SPDX-License-Identifier: Apache-2.0
//
// What the loop and branch primitives hold. A loop is a list of *sweeps* over the same steps. A
// plain scan has one. Its transpose has two: one forwards that keeps per step what the other,
// backwards, reads; a sweep may read what any earlier one kept. That family is closed under jvp
// (each body is joined by its tangents), transpose (each body is split into what is linear and what
// is not; the linear part runs backwards) and batching.
//
// Order of operands: [condition consts], then for each sweep: consts, first carries, xs.
// Order of results:  for each sweep: last carries, ys.
#pragma once
#include "../core/graph_passes.h"
#include "../transform/subgraph.h"
#include "program.h"
#include "tessera/autodiff/loops.h"

#include <mutex>

namespace tessera::detail {

/// A graph without traced captures and, once it has run, its compiled form.
class Body {
 public:
  explicit Body(Graph g) : graph_(std::move(g)), order_(order_of(graph_)) {}
  const Graph& graph() const { return graph_; }
  Ordering order() const { return order_; }
  const Program& program() const;
  /// The same inputs, the first `n` outputs alone.
  const Body& first_outputs(std::size_t n) const;

 private:
  Graph graph_;
  Ordering order_;
  mutable std::once_flag compiled_, cut_;
  mutable std::unique_ptr<const Program> program_;
  mutable std::unique_ptr<const Body> first_;
};
using BodyPtr = std::shared_ptr<const Body>;
inline BodyPtr body_of(Graph g) { return std::make_shared<Body>(std::move(g)); }

/// What sweep `sweep` kept as its number `kept`.
struct Source {
  std::size_t sweep, kept;
};

/// body: consts, carry, xs, from -> carry, kept, ys.
struct Sweep {
  BodyPtr body;
  std::size_t n_consts = 0, n_carry = 0, n_xs = 0;
  std::vector<Source> from;
  std::size_t n_kept = 0, n_ys = 0;
  bool reverse = false;  ///< from step n-1 to step 0

  std::size_t operands() const { return n_consts + n_carry + n_xs; }
  std::size_t results() const { return n_carry + n_ys; }
  std::size_t xs_begin() const { return n_consts + n_carry; }
};

struct Loop {
  std::vector<Sweep> sweeps;
  Index length = 0;  ///< of a scan
  /// Of a while: condition consts, then the carries of sweep 0 with these numbers -> bool of one
  /// element.
  BodyPtr condition;
  std::size_t n_condition_consts = 0;
  std::vector<std::size_t> condition_carry;
  Checkpoint checkpoint;
  BodyPtr
      inverse;  ///< of the policy `reversible`: consts, carry after, xs of sweep 0 -> carry before
};
using LoopPtr = std::shared_ptr<const Loop>;
struct LoopAttributes final : Attributes {
  LoopPtr loop;
  explicit LoopAttributes(LoopPtr l) : loop(std::move(l)) {}
  bool equal(const Attributes& o) const override;
  std::vector<NamedAttribute> named() const override;
  std::string text() const override;
};
inline const Loop& loop_of(const Attributes* a) {
  return *static_cast<const LoopAttributes*>(a)->loop;
}
Ordering order_of(const Loop& loop);
/// Whether a while begins: its condition, asked of its first carry.
Tensor first_answer(const Loop& loop, std::span<const Tensor> condition_consts,
                    std::span<const Tensor> carry);
/// g(x) if `steps`; else zeros, and g is not run.
std::vector<Tensor> if_it_steps(const Tensor& steps, const Graph& g, const std::vector<Tensor>& x);
/// Records or runs the loop.
std::vector<Tensor> apply_loop(LoopPtr loop, const std::vector<Tensor>& operands, SourceLine line);
/// The kernel of both loop primitives.
void run_loop(const Loop& loop, Inputs in, Outputs out);

/// A while counts as one step (loop_cost.cpp).
Cost cost_of_loop(const Loop& loop);

/// The rules of both (loop_forward.cpp, loop_transpose.cpp, loop_batch.cpp).
std::vector<bool> moved_by_loop(const std::vector<bool>& operands, const Attributes* a);
void jvp_loop(const Application& a, std::span<const Tensor> t, std::span<Tensor> o);
void jet_loop(const Curves& curves, const Application& a, std::span<const Series> x,
              std::span<Series> o);
void transpose_loop(const Application& a, std::span<const bool> linear, std::span<const Tensor> ct,
                    std::span<Tensor> o);
void batch_loop(const Application& a, std::span<const bool> batched, Index size,
                std::span<Tensor> o);

/// then_f, else_f: x -> y. Operands: predicate, x.
struct Branches {
  BodyPtr then_f, else_f;
};
struct BranchAttr {
  std::shared_ptr<const Branches> branches;
  TESSERA_ATTRIBUTES(branches)
};
inline const Branches& branches_of(const Attributes* a) { return *get<BranchAttr>(a).branches; }
std::vector<Tensor> apply_cond(std::shared_ptr<const Branches> b,
                               const std::vector<Tensor>& operands, SourceLine line);

// ---- batches of which a part takes part (lanes.cpp)
// ----------------------------------------------------------- Where the elements of a batch go
// different ways, each computes on operands that it, or another element, comes to by itself; so
// nothing fails, never ends or has a derivative without a value that would not alone.

/// where(lanes, a, b) by the leading axis.
Tensor choose(const Tensor& lanes, const Tensor& a, const Tensor& b);
/// Lends operands to those that do not take part: each gets what the first that does computes on,
/// as constants.
class Lender {
 public:
  /// lanes [size], bool: who takes part.
  explicit Lender(const Tensor& lanes);
  Tensor operator()(const Tensor& x) const;

 private:
  Tensor lanes_, first_;
};

// ---- bodies from bodies (derive.cpp) ----
using Flags = std::vector<bool>;

/// What is followed from flagged inputs: values; `changes`, values and what operations of
/// Ordering::every give, which no step may take from another; tangents, through operations that
/// have a derivative; or the unknown of a linear map, which goes on as a value where
/// `stop_gradient` takes its derivative (finished elements of a batch hold it so).
enum class Follow : std::uint8_t { values, changes, tangents, unknown };
/// Which values of g depend on the flagged inputs.
Flags reached(const Graph& g, const Flags& inputs, Follow what);
/// The same for the body of a sweep, whose carries are flagged too where their new value is:
/// `inputs` grows until nothing changes.
Flags settle(const Sweep& s, Flags& inputs, Follow what);
/// What of g is needed to compute `outputs` from `inputs`.
Graph extract(const Graph& g, std::span<const Graph::Id> inputs,
              std::span<const Graph::Id> outputs);
/// Every value of g, recorded or run on the given inputs.
std::vector<Tensor> evaluate_all(const Graph& g, std::span<const Tensor> inputs);

/// The tangents that go beside a value which moves: its derivative, or its Taylor
/// coefficients 1..K.
struct Tangents {
  std::size_t count;
  Type (*type)(const Curves&, const Type&,
               std::size_t k);  ///< of tangent k of a value of this type
  /// Tangents of g's outputs from those of its inputs (empty: none), given all values of g.
  std::vector<std::vector<Tensor>> (*push)(const Curves&, const Graph& g,
                                           std::span<const Tensor> values,
                                           const std::vector<std::vector<Tensor>>& in);
  Curves curves = {};
};
Tangents first_tangents();
Tangents taylor_tangents(const Curves& curves);
/// Tangents 1..K of a series; empty where nothing moves. And back, with the value.
std::vector<Tensor> tangents_of(const Curves& curves, const Series& s, const Type& type);
Series series_of(const Curves& curves, const Tensor& value, const std::vector<Tensor>& tangents);

/// A run of inputs or outputs and whether its members themselves stay.
struct Group {
  std::size_t size;
  bool primal = true;
};
/// Inputs: g's, each group followed by the tangents of its flagged members, member by member;
/// outputs likewise.
Closed joint_graph(const Graph& g, const Tangents& tangents, const std::vector<Group>& in,
                   const Flags& in_flags, const std::vector<Group>& out, const Flags& out_flags);

/// g split by `linear` (a flag per value, closed under dependence): the values that the linear part
/// reads.
std::vector<Graph::Id> residuals(const Graph& g, const Flags& linear);
/// Values from which cheap operations make the `wanted` ones again, of least bytes: a minimum cut
/// (exec/recompute.h). `free`: values that are there anyway.
std::vector<Graph::Id> cheapest_to_keep(const Graph& g, std::span<const Graph::Id> wanted,
                                        const Flags& free);
/// Cotangents of the inputs `in` from those of the outputs `out` (undefined: zero), given the
/// residuals.
std::vector<Tensor> pull_back(const Graph& g, std::span<const Graph::Id> in,
                              std::span<const Graph::Id> out, std::span<const Graph::Id> residual,
                              std::span<const Tensor> residual_values,
                              std::span<const Tensor> cotangents);

}  // namespace tessera::detail
