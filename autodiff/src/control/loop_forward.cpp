// SPDX-License-Identifier: Apache-2.0
//
// Loops in forward and Taylor mode: each body is joined by its tangents, which are further carries,
// slices and results.
#include "../core/rules.h"
#include "loop_groups.h"
#include "tessera/autodiff/ops.h"

#include <algorithm>

namespace tessera::detail {
namespace {

/// What of a sweep moves: inputs of its body; carries, what it keeps, ys.
struct Moving {
  Flags in, out;
};
std::vector<Moving> moving_of(const Loop& l, const Flags& operands) {
  std::vector<Moving> all;
  std::vector<Flags> kept;
  auto at = operands.begin() + static_cast<std::ptrdiff_t>(l.n_condition_consts);
  for (const Sweep& s : l.sweeps) {
    Moving m{Flags(at, at + static_cast<std::ptrdiff_t>(s.operands())), {}};
    at += static_cast<std::ptrdiff_t>(s.operands());
    flag_sources(s, kept, m.in);
    const Flags v = settle(s, m.in, Follow::tangents);
    for (Graph::Id id : s.body->graph().outputs) m.out.push_back(v[id]);
    for (std::size_t k = 0; k < s.n_carry; ++k) m.out[k] = m.in[s.n_consts + k];
    const auto keeps = m.out.begin() + static_cast<std::ptrdiff_t>(s.n_carry);
    kept.emplace_back(keeps, keeps + static_cast<std::ptrdiff_t>(s.n_kept));
    all.push_back(std::move(m));
  }
  return all;
}

/// Tangents of the results of the loop; those of operands are given, empty for none.
/// Those of slices and of stacked results have the axis of the steps first.
std::vector<std::vector<Tensor>> push_forward(const Application& a, const Tangents& tangents,
                                              const std::vector<std::vector<Tensor>>& t) {
  const Loop& l = loop_of(a.attr.get());
  const std::size_t n = tangents.count;
  auto joined = std::make_shared<Loop>();
  joined->length = l.length;
  joined->condition = l.condition;
  joined->n_condition_consts = l.n_condition_consts;
  joined->condition_carry = l.condition_carry;
  joined->checkpoint = l.checkpoint;
  std::vector<Tensor> operands(a.in.begin(),
                               a.in.begin() + static_cast<std::ptrdiff_t>(l.n_condition_consts));
  Flags given;
  for (const std::vector<Tensor>& x : t) given.push_back(!x.empty());
  const std::vector<Moving> flags = moving_of(l, given);
  std::vector<Flags> kept, moving;  // of each sweep: flags of what it keeps; of carries, then ys
  std::size_t at = l.n_condition_consts;
  for (const Sweep& s : l.sweeps) {
    const Graph& g = s.body->graph();
    const Flags &in = flags[moving.size()].in, &out = flags[moving.size()].out;
    const std::vector<Group> in_groups = {{s.n_consts}, {s.n_carry}, {s.n_xs}, {s.from.size()}};
    const std::vector<Group> out_groups = {{s.n_carry}, {s.n_kept}, {s.n_ys, false}};
    Closed joint = joint_graph(g, tangents, in_groups, in, out_groups, out);

    Sweep j;
    j.reverse = s.reverse;
    j.n_consts = s.n_consts + n * counted(in, 0, s.n_consts) + joint.captured.size();
    j.n_carry = s.n_carry + n * counted(in, s.n_consts, s.n_carry);
    j.n_xs = s.n_xs + n * counted(in, s.xs_begin(), s.n_xs);
    j.n_kept = s.n_kept + n * counted(out, s.n_carry, s.n_kept);
    j.n_ys = n * counted(out, s.n_carry + s.n_kept, s.n_ys);
    for (const Source& f : s.from) j.from.push_back(f);
    for (const Source& f : s.from)
      for (std::size_t r = 0; kept[f.sweep][f.kept] && r < n; ++r)
        j.from.push_back({f.sweep, l.sweeps[f.sweep].n_kept + n * rank(kept[f.sweep], f.kept) + r});
    // What rules brought along are further constants.
    std::rotate(joint.graph.inputs.begin() +
                    static_cast<std::ptrdiff_t>(j.n_consts - joint.captured.size()),
                joint.graph.inputs.end() - static_cast<std::ptrdiff_t>(joint.captured.size()),
                joint.graph.inputs.end());
    if (l.inverse && &s == &l.sweeps[0]) {
      Closed back = joint_graph(l.inverse->graph(), tangents,
                                {in_groups[0], in_groups[1], in_groups[2]}, in, {{s.n_carry}},
                                Flags(in.begin() + static_cast<std::ptrdiff_t>(s.n_consts),
                                      in.begin() + static_cast<std::ptrdiff_t>(s.xs_begin())));
      if (back.captured.empty() && joint.captured.empty())
        joined->inverse = body_of(std::move(back.graph));
      else
        joined->checkpoint = Checkpoint::all();
    }
    j.body = body_of(std::move(joint.graph));
    joined->sweeps.push_back(std::move(j));

    const auto x = a.in.subspan(at, s.operands());
    const auto group = [&](std::size_t begin, std::size_t count) {
      operands.insert(operands.end(), x.begin() + static_cast<std::ptrdiff_t>(begin),
                      x.begin() + static_cast<std::ptrdiff_t>(begin + count));
      for (std::size_t k = begin; k < begin + count; ++k)
        for (std::size_t r = 0; in[k] && r < n; ++r) {
          Type want = tangents.type(tangents.curves, g.types[g.inputs[k]], r);
          if (k >= s.xs_begin()) want.shape.insert(0, l.length);
          operands.push_back(t[at + k].empty() ? zeros_of(want) : t[at + k][r]);
        }
    };
    group(0, s.n_consts);
    append(operands, joint.captured);
    group(s.n_consts, s.n_carry);
    group(s.xs_begin(), s.n_xs);
    at += s.operands();

    kept.emplace_back(out.begin() + static_cast<std::ptrdiff_t>(s.n_carry),
                      out.begin() + static_cast<std::ptrdiff_t>(s.n_carry + s.n_kept));
    Flags results(out.begin(), out.begin() + static_cast<std::ptrdiff_t>(s.n_carry));
    results.insert(results.end(), out.begin() + static_cast<std::ptrdiff_t>(s.n_carry + s.n_kept),
                   out.end());
    moving.push_back(std::move(results));
  }
  const bool moves = std::any_of(moving.begin(), moving.end(), [](const Flags& f) {
    return std::find(f.begin(), f.end(), true) != f.end();
  });
  const LoopPtr attr = joined;
  const std::vector<Tensor> y =
      moves ? apply_loop(attr, operands, context_line()) : std::vector<Tensor>{};
  std::vector<std::vector<Tensor>> out;
  std::size_t from = 0;
  for (std::size_t i = 0; i < l.sweeps.size(); ++i) {
    from += l.sweeps[i].n_carry;
    for (std::size_t k = 0; k < l.sweeps[i].results(); ++k) {
      out.emplace_back();
      for (std::size_t r = 0; moving[i][k] && r < n; ++r) out.back().push_back(y[from++]);
    }
  }
  return out;
}

}  // namespace

std::vector<bool> moved_by_loop(const std::vector<bool>& operands, const Attributes* a) {
  const Loop& l = loop_of(a);
  Flags out;
  const std::vector<Moving> flags = moving_of(l, operands);
  for (std::size_t i = 0; i < flags.size(); ++i) {
    const Sweep& s = l.sweeps[i];
    const auto begin = flags[i].out.begin();
    out.insert(out.end(), begin, begin + static_cast<std::ptrdiff_t>(s.n_carry));
    out.insert(out.end(), begin + static_cast<std::ptrdiff_t>(s.n_carry + s.n_kept),
               flags[i].out.end());
  }
  return out;
}

void jvp_loop(const Application& a, std::span<const Tensor> t, std::span<Tensor> o) {
  std::vector<std::vector<Tensor>> beside;
  for (const Tensor& x : t)
    beside.push_back(x.defined() ? std::vector<Tensor>{x} : std::vector<Tensor>{});
  const std::vector<std::vector<Tensor>> y = push_forward(a, first_tangents(), beside);
  for (std::size_t k = 0; k < o.size(); ++k)
    if (!y[k].empty()) o[k] = y[k][0];
}

/// Taylor mode: directions come before the axis of the steps outside of the loop, behind it inside.
void jet_loop(const Curves& curves, const Application& a, std::span<const Series> x,
              std::span<Series> o) {
  const Loop& l = loop_of(a.attr.get());
  const auto turn = [&](std::vector<Tensor>& tangents, int from, int to) {
    for (std::size_t k = 0; curves.directions > 0 && k + 1 < tangents.size(); ++k)
      tangents[k] = moveaxis(tangents[k], from, to);
  };
  std::vector<std::vector<Tensor>> beside(l.n_condition_consts);
  for (const Sweep& s : l.sweeps)
    for (std::size_t k = 0; k < s.operands(); ++k) {
      const std::size_t at = beside.size();
      beside.push_back(is_inexact(a.in_types[at].dtype) ? tangents_of(curves, x[at], a.in_types[at])
                                                        : std::vector<Tensor>{});
      if (k >= s.xs_begin()) turn(beside.back(), 0, 1);
    }
  std::vector<std::vector<Tensor>> y = push_forward(a, taylor_tangents(curves), beside);
  std::size_t at = 0;
  for (const Sweep& s : l.sweeps)
    for (std::size_t k = 0; k < s.results(); ++k, ++at) {
      if (k >= s.n_carry) turn(y[at], 1, 0);
      o[at] = series_of(curves, a.out[at], y[at]);
    }
}

}  // namespace tessera::detail
