// SPDX-License-Identifier: Apache-2.0
//
// Taylor coefficients of one application of a primitive, y(t) = p(x(t)), order by order. The rule
// classes give
//
//   linear       y_k = p(x_k)
//   bilinear     y_k = sum_j p(x_j, w_{k-j})
//   solves       undo(b, y) = a:  y_k = p(a_k - sum_{j>0} undo(b_j, y_{k-j}), b_0)
//   zero         y_k = 0 for k > 0
//   all others   y' = jvp(x, y; x'), hence y_k = (1/k) [t^{k-1}] jvp(x(t), y(t); x'(t))
//
// The last line needs no rule beside the jvp: the jvp is recorded, and the coefficients of its
// equations are asked for in turn. They ask for coefficients of y and of other functions of x that
// are lower by one, so that the recursion ends, also where each derivative is a new function
// (polygamma). Applications that repeat one already known (cosh asks for sinh, which asks for cosh)
// are that one: every order costs one pass over a few sums, O(K^2) in all (A. Griewank & A.
// Walther, Evaluating Derivatives, 2nd ed., 2008, section 13.2).
//
// Collapse (F. Dangel, T. Siebert, M. Zeinhofer, A. Walther, Collapsing Taylor Mode Automatic
// Differentiation, 2025): the K-th coefficient of a value, the (K-1)-th of a velocity x', enters
// all of the above linearly and meets only what is the same for all directions; there the sum over
// directions is taken at once.
#pragma once
#include "tessera/autodiff/graph.h"

#include <deque>
#include <functional>
#include <optional>

namespace tessera::detail {

class Expansion {
 public:
  /// Without `collapse` the last coefficients are those of each direction.
  explicit Expansion(const Curves& curves, bool collapse = true)
      : curves_(curves), collapse_(collapse) {}

  /// Thrown by `of` where a rule takes products of velocities in with what is linear in more of
  /// them, as those of differential equations do: its coefficients cannot be collapsed.
  struct Mixed {};

  /// Coefficients of the results of `p`, of which `values` are the zeroth. Operands with equal
  /// `names` are one value.
  std::vector<Series> of(const Primitive& p, const AttributesPtr& attr,
                         std::span<const Graph::Id> names, std::span<const Series> in,
                         std::span<const Type> in_types, std::span<const Type> out_types,
                         std::span<const Tensor> values);

 private:
  using Id = int;
  static constexpr Id kZero = -1;
  /// factor o base, where the factor is the same for all directions: multiplied out only where it
  /// must be, since sum_r c a_r b_r = c sum_r a_r b_r.
  struct Scaled {
    Tensor base, factor;
  };
  /// A value along the curves: given, the velocity of another, a constant, or a result of a call.
  struct Node {
    enum class Kind : std::uint8_t { given, velocity, result } kind;
    Type type;
    Id of = 0;     ///< velocity: of which node; result: of which call
    int out = 0;   ///< result: which
    int lead = 0;  ///< orders by which its collapsed coefficient comes before K: of how many
                   ///< velocities it is a product
    bool moves = false;
    std::vector<std::optional<Coefficient>> known = {};
    std::vector<std::optional<Scaled>> scaled = {};
  };
  struct Call {
    const Primitive* primitive;
    AttributesPtr attr;
    std::vector<Id> in, out;
    bool moves = false;
    std::optional<std::vector<Id>> velocity = {};  ///< of the results, in terms of other nodes
  };
  /// Terms of one coefficient: what is the same for all directions (or summed over them), and the
  /// rest.
  struct Sum {
    Tensor alone, batched;
  };

  Id add(Node n);
  Id constant(const Tensor& t);
  Id velocity_of(Id x);
  Id call(const Primitive& p, const AttributesPtr& attr, const std::vector<Id>& in,
          std::span<const Type> out_types);
  const Coefficient& coefficient(Id n, int k);
  /// The coefficient of a batched value as base and factor (undefined: 1); null for others.
  std::optional<Scaled> factored(Id n, int k);
  void fill(Id n, int k);
  void compute(Id call, int k);
  std::optional<Scaled> scale(const Call& c, int k);
  std::vector<Coefficient> bilinear(const Call& c, int k);
  /// Empty where this application of the primitive has no bilinear `undo`.
  std::optional<std::vector<Coefficient>> solve(const Call& c, int k);
  std::vector<Coefficient> linear(const Call& c, int k);
  void ask_for_influence(const Call& c, std::size_t operand);
  void by_velocity(Id call, int k);
  void find_velocity(Id call);
  Types types_of(const Call& c) const;
  /// Whether coefficient k of the call's results is kept as its sum over the directions.
  bool summed(const Call& c, int k) const {
    return collapse_ && curves_.directions > 0 && k + nodes_[c.out[0]].lead == curves_.order;
  }
  std::optional<Coefficient> apply_map(const std::function<Tensor(const Tensor&, const Tensor&)>& f,
                                       const Coefficient& a, const Coefficient& b,
                                       const Type& a_type, const Type& b_type) const;
  std::vector<Coefficient> apply_to(const Primitive& p, const AttributesPtr& attr,
                                    std::span<const Coefficient> in, std::span<const Type> types,
                                    std::size_t n_out) const;
  void accumulate(Sum& s, const Coefficient& c) const;
  Coefficient total(Sum s, bool collapsed) const;

  const Curves& curves_;
  bool collapse_;
  std::deque<Node> nodes_;
  std::deque<Call> calls_;
  std::vector<std::pair<Tensor, Id>> constants_;
};

/// Coefficients of the graph's outputs; `values` are the zeroth coefficients of all its values.
std::vector<Series> jet_graph(const Curves& curves, const Graph& g, std::span<const Series> inputs,
                              std::span<const Tensor> values);

/// sum_r weights_r c_r over the leading axis.
Tensor sum_over_directions(const Curves& curves, const Tensor& c);

}  // namespace tessera::detail
