// SPDX-License-Identifier: Apache-2.0
#include "tessera/electromagnetics/yee_primitive.h"

#include "adjoint/operands.h"
#include "adjoint/rank_columns.h"
#include "tessera/autodiff/error.h"
#include "tessera/autodiff/linear_pair.h"
#include "tessera/parallel/communicator.h"

#include <fmt/format.h>

#include <algorithm>

namespace tessera::electromagnetics {
namespace {

using namespace adjoint;

struct YeeAttr {
  YeeOpPtr op;
  TESSERA_ATTRIBUTES(op)
};

Index steps_of(const char* name, const Type& t) {
  if (t.shape.size() < 2) fail(name, "needs [.., steps, edges], got " + to_string(t));
  return t.shape[t.shape.size() - 2];
}

/// The state with all but its unknowns set to zero.
template <class T>
void keep_unknowns(const YeeOp& op, const T* from, T* to) {
  const std::vector<bool>& unknown = op.unknown;
  forall(static_cast<std::int64_t>(unknown.size()), [from, to, &unknown](std::int64_t i) {
    to[i] = unknown[static_cast<std::size_t>(i)] ? from[i] : T{0};
  });
}
/// Operands state, currents [n, driven and design]; results state, records, traces; parameters: the
/// coefficients.
struct YeeAdvance {
  static constexpr const char *name = "yee_advance", *transposed_name = "yee_advance_transposed";
  static constexpr std::size_t operands = 2, results = 3;
  static Ordering order(const Attributes* a) { return order_of(*tessera::get<YeeAttr>(a).op); }
  /// Six an edge or face and step: a curl of four differences, scaled and added to what decays.
  static double flops(TypeSpan in, TypeSpan, const Attributes*) {
    return 6 * static_cast<double>(in[0].shape.count()) *
           static_cast<double>(steps_of(name, in[1]));
  }
  static Types result_types(std::span<const Type> in, const Attributes* a) {
    const YeeOp& op = *tessera::get<YeeAttr>(a).op;
    const Index n = steps_of(name, in[1]), design = op.n_traced();
    expect(name, in[0], with_lead({op.scheme.dtype(), in[0].shape}, 1, {op.scheme.state_size()}),
           "the state");
    expect(name, in[1], with_lead(in[0], 1, table_of(op, n, op.n_injected())), "the currents");
    expect(name, in[2], with_lead(in[0], 1, {design}), "the coefficients");
    return {in[0], with_lead(in[0], 1, table_of(op, n, op.n_recorded())),
            with_lead(in[0], 1, table_of(op, n, design))};
  }
  static Types operand_types(std::span<const Type> in, const Attributes* a) {
    const YeeOp& op = *tessera::get<YeeAttr>(a).op;
    const Index n = steps_of(transposed_name, in[1]), design = op.n_traced();
    expect(transposed_name, in[0],
           with_lead({op.scheme.dtype(), in[0].shape}, 1, {op.scheme.state_size()}),
           "the cotangent of the state");
    expect(transposed_name, in[1], with_lead(in[0], 1, table_of(op, n, op.n_recorded())),
           "the cotangent of the records");
    expect(transposed_name, in[2], with_lead(in[0], 1, table_of(op, n, design)),
           "the cotangent of the traces");
    expect(transposed_name, in[3], with_lead(in[0], 1, {design}), "the coefficients");
    return {in[0], with_lead(in[0], 1, table_of(op, n, op.n_injected()))};
  }
  template <class T>
  static void run(Inputs in, Outputs out, const Attributes* attr) {
    const YeeOp& op = *tessera::get<YeeAttr>(attr).op;
    if (op.before_steps) op.before_steps();
    const Index n = steps_of(name, in[1]->type()), size = op.scheme.state_size(),
                rows = op.scheme.parts() * n;
    over_samples(op, in[0]->count() / size, [&](Index b) {
      T* state = part<T>(*out[0], b, size);
      keep_unknowns(op, part<const T>(*in[0], b, size), state);
      advance_on_ranks<T>(
          op, state, n,
          {part<const T>(*in[1], b, rows * op.n_injected()),
           part<T>(*out[1], b, rows * op.n_recorded()), part<T>(*out[2], b, rows * op.n_traced())},
          part<const T>(*in[2], b, op.n_traced()));
      keep_unknowns(op, state, state);
    });
  }
  template <class T>
  static void run_transposed(Inputs in, Outputs out, const Attributes* attr) {
    const YeeOp& op = *tessera::get<YeeAttr>(attr).op;
    if (op.before_steps) op.before_steps();
    const Index n = steps_of(transposed_name, in[1]->type()), size = op.scheme.state_size(),
                rows = op.scheme.parts() * n;
    over_samples(op, in[0]->count() / size, [&](Index b) {
      T* state = part<T>(*out[0], b, size);
      keep_unknowns(op, part<const T>(*in[0], b, size), state);
      advance_transposed_on_ranks<T>(op, state, n,
                                     {part<const T>(*in[1], b, rows * op.n_recorded()),
                                      part<const T>(*in[2], b, rows * op.n_traced()),
                                      part<T>(*out[1], b, rows * op.n_injected())},
                                     part<const T>(*in[3], b, op.n_traced()));
      keep_unknowns(op, state, state);
    });
  }
  static KernelFn kernel(std::span<const Dtype> in, const Attributes*) {
    return in[0] == Dtype::f64 ? run<double> : in[0] == Dtype::f32 ? run<float> : nullptr;
  }
  static KernelFn transposed_kernel(std::span<const Dtype> in, const Attributes*) {
    return in[0] == Dtype::f64   ? run_transposed<double>
           : in[0] == Dtype::f32 ? run_transposed<float>
                                 : nullptr;
  }
  /// The current that stands for the change of c; of one channel it is no part of the bracket.
  static Change change(const Application& a, std::span<const Tensor> dc) {
    const YeeOp& op = *a.get<YeeAttr>().op;
    const Tensor w = current_of_change(op, dc[0], a.in[2], a.out[2], op.scheme.parts());
    Change c{{Tensor(), design_among_currents(op, w)}, {}};
    if (op.channels == 1) c.own = {Tensor(), Tensor(), w};
    return c;
  }
  static Change transposed_change(const Application& a, std::span<const Tensor> dc) {
    const YeeOp& op = *a.get<YeeAttr>().op;
    return {{Tensor(), Tensor(),
             traces_of_change(op, dc[0], a.in[3], design_columns(op, a.out[1]), a.in[2],
                              op.scheme.parts())},
            {}};
  }
};
TESSERA_REGISTER_PAIR(YeeAdvance);

/// cb of the design edges in vacuum. Neighbours in the list often share a row of the model.
std::vector<double> in_vacuum(const YeeModel& m, const YeeScheme& scheme,
                              const std::vector<Edge>& design) {
  const auto n = static_cast<std::size_t>(m.grid.cells(0)) + 1;
  MaterialRow row;
  std::vector<double> out;
  for (std::size_t q = 0; q < design.size(); ++q) {
    const Edge& e = design[q];
    const auto refuse = [&](const char* what) {
      throw Error(
          fmt::format("[yee_op] design edge {}, {} at ({}, {}, {}), is {}: choose edges of "
                      "lossless dielectrics, whose coefficient tells all of the medium",
                      q, name_of(e.component), e.i, e.j, e.k, what));
    };
    if (q == 0 || e.component != design[q - 1].component || e.j != design[q - 1].j ||
        e.k != design[q - 1].k) {
      row = {std::vector<double>(n, 1.0), std::vector<double>(n, 0.0), {}};
      if (m.material) m.material(e.component, e.j, e.k, row);
    }
    const auto i = static_cast<std::size_t>(e.i);
    if (row.inverse[i] == 0) refuse("a conductor");
    if (row.loss[i] != 0) refuse("lossy");
    for (const DispersiveRun& run : row.dispersive)
      if (e.i >= run.first && e.i < run.first + static_cast<int>(run.weight.size()) &&
          run.weight[static_cast<std::size_t>(e.i - run.first)] != 0)
        refuse("dispersive");
    out.push_back(scheme.coefficient(e) / row.inverse[i]);
  }
  return out;
}

}  // namespace

namespace {

/// The edges of a rank among all.
std::vector<Edge> edges_of(const std::vector<Edge>& all, const std::vector<std::int64_t>& numbers) {
  std::vector<Edge> own;
  for (const std::int64_t q : numbers) own.push_back(all[static_cast<std::size_t>(q)]);
  return own;
}

/// The columns of all lists that each rank holds: of the injected ones the driven come first.
YeeOp::Columns columns_of(const std::vector<Edge>& driven, const std::vector<Edge>& design,
                          const std::vector<Edge>& recorded, std::int64_t channels,
                          const GridCut& cut) {
  YeeOp::Columns c{edges_by_rank(driven, cut), edges_by_rank(recorded, cut), {}};
  for (const std::vector<std::int64_t>& of_rank : edges_by_rank(design, cut)) {
    std::vector<std::int64_t>& injected = c.injected[c.traced.size()];
    std::vector<std::int64_t>& traced = c.traced.emplace_back();
    for (const std::int64_t q : of_rank) {
      injected.push_back(static_cast<std::int64_t>(driven.size()) + q);
      for (std::int64_t k = 0; k < channels; ++k) traced.push_back(q * channels + k);
    }
  }
  return c;
}

}  // namespace

YeeOpPtr yee_op(YeeModel model, GridCut cut, std::function<void()> before_steps) {
  const bool mixed = !model.mixed.edges.empty();
  if (mixed && !model.traced.empty())
    throw Error(
        "[yee_op] design edges are all lossless dielectrics (traced) or all mixtures (mixed): put "
        "them into one list");
  const std::int64_t channels = mixed ? model.mixed.channels() : 1;
  const std::vector<Edge> driven = model.injected,
                          design = mixed ? model.mixed.edges : model.traced,
                          recorded = model.recorded;
  const auto me = static_cast<std::size_t>(cut.ranks ? cut.ranks->rank() : 0);
  const std::vector<Edge> own_design = edges_of(design, edges_by_rank(design, cut)[me]);
  if (cut.ranks) {
    model.injected = edges_of(driven, edges_by_rank(driven, cut)[me]);
    model.recorded = edges_of(recorded, edges_by_rank(recorded, cut)[me]);
    (mixed ? model.mixed.edges : model.traced) = own_design;
    if (mixed) model.uncoupled.insert(model.uncoupled.end(), design.begin(), design.end());
  }
  model.injected.insert(model.injected.end(), own_design.begin(), own_design.end());
  YeeScheme scheme(model, slab_of(model.faces, cut));
  if (scheme.nonlinear())
    throw Error(
        "[yee_op] a nonlinear medium's step is not linear in the fields: leave chi2 and chi3 out");
  std::vector<double> unit, coefficient, per_channel;
  if (!mixed) unit = in_vacuum(model, scheme, own_design);
  if (!mixed)
    for (const Edge& e : own_design) coefficient.push_back(scheme.coefficient(e));
  for (const double gain : scheme.mixed_gains())
    per_channel.insert(per_channel.end(), static_cast<std::size_t>(channels), -1 / gain);
  const std::vector<std::uint8_t> unknowns = scheme.unknowns();
  YeeOp op{.scheme = std::move(scheme),
           .driven = driven,
           .design = design,
           .recorded = recorded,
           .dt_s = model.dt_s,
           .unknown = {unknowns.begin(), unknowns.end()},
           .unit = {},
           .coefficient = {},
           .channels = channels,
           .per_channel = {},
           .cut = cut,
           .columns = columns_of(driven, design, recorded, channels, cut),
           .before_steps = std::move(before_steps)};
  std::vector<double>* const of_design[] = {&op.unit, &op.coefficient, &op.per_channel};
  const std::vector<double>* const own[] = {&unit, &coefficient, &per_channel};
  for (std::size_t q = 0; q < 3; ++q)
    if (mixed == (q == 2))
      *of_design[q] = whole_list<double>(op, *own[q], op.columns.traced, op.n_traced(), 1);
  return std::make_shared<const YeeOp>(std::move(op));
}

namespace {
void need_dielectrics(const YeeOpPtr& op) {
  if (op->channels != 1)
    throw Error(
        "[coefficients] the design edges are mixtures: their parameters are those of "
        "mixture_parameters");
}
}  // namespace
Tensor coefficients(const YeeOpPtr& op, const Tensor& inverse_eps) {
  need_dielectrics(op);
  return tensor(op->unit) * inverse_eps;
}
Tensor coefficients(const YeeOpPtr& op) {
  need_dielectrics(op);
  return tensor(op->coefficient);
}
Tensor initial_state(const YeeOpPtr& op) {
  return zeros({op->scheme.state_size()}, op->scheme.dtype());
}

YeeResult advance(const YeeOpPtr& op, const Tensor& state, const Tensor& c,
                  const Tensor& currents) {
  const Dtype t = op->scheme.dtype();
  expect_currents(*op, "advance", currents);
  const Tensor x = cast(state, t), cb = cast(c, t),
               w = driven_among_currents(*op, cast(currents, t));
  const std::vector<Tensor> out =
      LinearPair<YeeAdvance>::apply(attributes(YeeAttr{op}), {x, w, cb});
  return {out[0], out[1], out[2]};
}

}  // namespace tessera::electromagnetics
