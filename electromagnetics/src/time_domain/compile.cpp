// SPDX-License-Identifier: Apache-2.0
#include "tessera/autodiff/error.h"
#include "tessera/electromagnetics/constants.h"
#include "time_domain/couplings.h"
#include "time_domain/tables.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace tessera::electromagnetics::time_domain {
namespace {

constexpr std::int64_t kAlign = 16;  // elements: rows begin at cache lines
std::int64_t aligned(std::int64_t n) { return (n + kAlign - 1) / kAlign * kAlign; }

/// ds along the component's axis, 1/ds* across it (E), and with dual and primal lengths exchanged
/// (H); units of `unit`.
double metric(const YeeModel& m, int c, int axis, int i, double unit, bool periodic) {
  const bool middle = at_middle(c, axis);
  const double length =
      (middle ? m.grid.length(axis, i) : m.grid.dual_length(axis, i, periodic)) / unit;
  return axis == axis_of(c) ? length : 1 / length;
}

template <class T>
void place_fields(Tables<T>& t) {
  constexpr int line = kLine / static_cast<int>(sizeof(T));
  const int edges = t.n[0] + (t.resolved[0] && t.faces[0].high == Boundary::pmc ? 1 : 0);
  t.run = (edges + line - 1) / line * line;
  t.row = aligned(t.run + 1);  // the updates of a row leave the next one's ghost alone
  t.plane = t.row * (t.n[1] + 2);
  // One ghost row and plane before the first edge; fields a few lines apart, so that equal indices
  // fall into different sets.
  const std::int64_t size = aligned(t.plane * (t.n[2] + 2)) + 9 * kAlign;
  const std::int64_t step[3] = {1, t.row, t.plane};
  for (int d = 0; d < 3; ++d) t.step[d] = t.resolved[d] ? step[d] : 0;
  for (int c = 0; c < 6; ++c) t.component[c].field = c * size + t.plane + t.row + kAlign;
  t.state_size = 6 * size + kAlign;
  for (int c = 0; c < 6; ++c) {
    ComponentTable<T>& f = t.component[c];
    const int a = axis_of(c), b = (a + 1) % 3, d = (a + 2) % 3;
    const auto field = [&](int component) { return t.component[component].field - f.field; };
    if (is_electric(c)) {  // (h_d - h_d[b-1]) - (h_b - h_b[d-1])
      f.source[0] = 3 + d, f.axis[0] = b, f.source[1] = 3 + b, f.axis[1] = d;
      f.p = field(3 + d), f.q = f.p - t.step[b], f.r = field(3 + b), f.t = f.r - t.step[d];
    } else {  // (e_b[d+1] - e_b) - (e_d[b+1] - e_d)
      f.source[0] = b, f.axis[0] = d, f.source[1] = d, f.axis[1] = b;
      f.q = field(b), f.p = f.q + t.step[d], f.t = field(d), f.r = f.t + t.step[b];
    }
    for (int term = 0; term < 2; ++term)
      f.layer_flag[term] = f.axis[term] == 0 ? 0 : f.axis[term] == 1 ? layer_y : layer_z;
  }
}

template <class T>
void set_ranges(Tables<T>& t, const YeeModel& m) {
  for (int c = 0; c < 6; ++c)
    for (int d = 0; d < 3; ++d) {
      ComponentTable<T>& f = t.component[c];
      f.first[d] = 0;
      f.last[d] = t.n[d];
      if (!at_middle(c, d) && t.resolved[d] && !t.periodic[d]) {
        f.first[d] = t.faces[d].low == Boundary::pmc ? 0 : 1;
        f.last[d] = t.faces[d].high == Boundary::pmc ? t.n[d] + 1 : t.n[d];
      }
      if (!m.active[c]) f.last[d] = f.first[d];
    }
}

/// The ends of a row reach over whole registers where there is room for them: b = c = m = 0 in what
/// is added.
template <class T>
void widen(LayerTable<T>& l, int first, int last) {
  constexpr int line = kLine / static_cast<int>(sizeof(T));
  const auto whole = [](int n) { return (n + line - 1) / line * line; };
  const int low = whole(l.low_end - l.low_begin), high = whole(l.high_end - l.high_begin);
  if (low + high > last - first) return;
  l.low_end = l.low_begin + low;
  l.high_begin = l.high_end - high;
}

template <class T>
void place_layers(Tables<T>& t, const YeeModel& m) {
  for (int c = 0; c < 6; ++c)
    for (int axis = 0; axis < 3; ++axis) {
      const ComponentTable<T>& f = t.component[c];
      if (axis == axis_of(c) || !t.resolved[axis] || f.last[axis] == f.first[axis]) continue;
      if (!m.active[f.source[f.axis[0] == axis ? 0 : 1]]) continue;  // a difference of zeros
      const PmlProfile p =
          pml_profile(m.grid.lines[axis], t.faces[axis], m.pml, m.dt_s, at_middle(c, axis));
      if (!p.any()) continue;
      LayerTable<T>& l = t.layer[c][axis];
      l.b.assign(p.b.begin(), p.b.end());
      l.c.assign(p.c.begin(), p.c.end());
      l.m.assign(p.m.begin(), p.m.end());
      l.slab.assign(p.b.size(), -1);
      const int half = t.n[axis] / 2;
      l.low_begin = l.low_end = f.first[axis];
      l.high_begin = l.high_end = f.last[axis];
      for (int i = f.first[axis]; i < f.last[axis]; ++i) {
        if (p.b[i] == 0) continue;
        l.slab[i] = l.slabs++;
        if (i < half)
          l.low_end = i + 1;
        else
          l.high_begin = std::min(l.high_begin, i);
      }
      if (axis == 0) widen(l, f.first[0], f.last[0]);
      l.psi = t.state_size;
      const std::int64_t size = axis == 0   ? t.psi_length_x(l) * t.rows()
                                : axis == 1 ? t.row * l.slabs * (t.n[2] + 1)
                                            : t.row * l.slabs * (t.n[1] + 1);
      t.state_size += aligned(size);
      t.has_layers = true;
    }
}

template <class T>
Special<T>& special_of(Tables<T>& t, int c, int j, int k) {
  ComponentTable<T>& f = t.component[c];
  if (f.special.empty()) f.special.assign(t.rows(), -1);
  std::int32_t& at = f.special[t.row_index(j, k)];
  if (at < 0) {
    at = static_cast<std::int32_t>(t.specials.size());
    t.specials.emplace_back();
    f.flags[t.row_index(j, k)] |= listed;
  }
  return t.specials[at];
}

template <class T>
void add_list(Tables<T>& t, const std::vector<Edge>& edges, std::vector<Span> Special<T>::*list,
              const char* what) {
  for (std::size_t m = 0; m < edges.size(); ++m) {
    const Edge& e = edges[m];
    const ComponentTable<T>& f = t.component[e.component];
    const int at[3] = {e.i, e.j, e.k};
    for (int d = 0; d < 3; ++d)
      if (at[d] < f.first[d] || at[d] >= f.last[d])
        throw Error(std::string("[YeeScheme] ") + what + " edge " + std::to_string(m) + ", " +
                    name_of(e.component) + " at (" + std::to_string(e.i) + ", " +
                    std::to_string(e.j) + ", " + std::to_string(e.k) +
                    "), is not among the edges that the scheme computes: it lies outside of the "
                    "grid, on an outer conductor or behind a joined "
                    "face, or `active` leaves its component out");
    std::vector<Span>& spans = special_of(t, e.component, e.j, e.k).*list;
    if (!spans.empty() && spans.back().first + spans.back().length == e.i &&
        spans.back().column + spans.back().length == static_cast<std::int64_t>(m))
      ++spans.back().length;
    else
      spans.push_back({e.i, 1, static_cast<std::int64_t>(m)});
  }
}

/// ds / l of an electric edge.
template <class T>
double field_unit(const Tables<T>& t, int c, int i, int j, int k) {
  const int at[3] = {i, j, k}, axis = axis_of(c);
  return t.grid.length(axis, at[axis]) / t.unit *
         t.open.length_fraction({static_cast<std::uint8_t>(c), i, j, k});
}

/// The neighbours of nonlinear edges, once all of these are known.
template <class T>
void find_neighbours(Tables<T>& t) {
  std::map<std::int64_t, std::pair<std::int64_t, T>> d_of;  // offset of e -> offset of D, 1/eps
  const auto each = [&](auto body) {
    for (int c = 0; c < 3; ++c)
      for (int k = 0; k <= t.n[2]; ++k)
        for (int j = 0; j <= t.n[1]; ++j)
          if (!t.component[c].special.empty())
            if (const std::int32_t at = t.component[c].special[t.row_index(j, k)]; at >= 0)
              for (Nonlinear<T>& run : t.specials[static_cast<std::size_t>(at)].nonlinear)
                body(c, j, k, run);
  };
  each([&](int c, int j, int k, Nonlinear<T>& run) {
    for (int q = 0; q < run.length; ++q)
      d_of[t.offset(c, run.first + q, j, k)] = {run.state + q,
                                                1 / run.eps[static_cast<std::size_t>(q)]};
  });
  each([&](int c, int j, int k, Nonlinear<T>& run) {
    for (int other = 0; other < 2; ++other) {
      const int b = (c + 1 + other) % 3;
      for (int q = 0; q < run.length; ++q) {
        run.begin[other].push_back(static_cast<int>(run.around[other].size()));
        for (const int along : {0, 1})
          for (const int back : {0, 1}) {
            int at[3] = {run.first + q, j, k};
            at[c] += along, at[b] -= back;
            bool there = true;
            for (int d = 0; d < 3; ++d) {
              if (t.wraps(d)) at[d] = (at[d] + t.n[d]) % t.n[d];
              there = there && at[d] >= t.component[b].first[d] && at[d] < t.component[b].last[d];
            }
            if (!there) continue;
            const std::int64_t offset = t.offset(b, at[0], at[1], at[2]);
            const T weight = static_cast<T>(0.25 / field_unit(t, b, at[0], at[1], at[2]));
            const auto found = d_of.find(offset);
            if (found == d_of.end())
              run.around[other].push_back({offset, weight});
            else
              run.around[other].push_back({found->second.first, weight * found->second.second});
          }
      }
      run.begin[other].push_back(static_cast<int>(run.around[other].size()));
    }
  });
}

/// Whether an absorbing layer has a part in the differences that an edge takes, or that are taken
/// of it.
template <class T>
bool in_layers(const Tables<T>& t, const Edge& e) {
  const int at[3] = {e.i, e.j, e.k};
  for (int d = 0; d < 3; ++d)
    for (const int c : {int{e.component}, 3 + d, 3 + (d + 1) % 3, 3 + (d + 2) % 3}) {
      const LayerTable<T>& l = t.layer[c][d];
      if (l.slabs == 0) continue;
      for (const int i : {at[d] - 1, at[d]})
        if (i >= 0 && l.slab[i] >= 0) return true;
    }
  return false;
}

/// The terms of a run, with room in the state; `gain` is left to the caller.
template <class T>
Polarized<T> polarized_of(Tables<T>& t, const DispersiveRun& run, int first, int length) {
  Polarized<T> p;
  p.first = first;
  p.length = length;
  p.state = t.state_size;
  t.state_size += aligned(2 * std::int64_t{p.length} * static_cast<std::int64_t>(run.alpha.size()));
  for (std::size_t q = 0; q < run.alpha.size(); ++q) {
    const double shear = run.shear.empty() ? 0 : run.shear[q], turn = run.alpha[q].imag();
    if (shear != 0 && turn != 0) throw Error("[YeeScheme] a double pole has a real alpha");
    p.alpha.push_back(static_cast<T>(run.alpha[q].real()));
    p.re_of_im.push_back(static_cast<T>(shear - turn));
    p.im_of_re.push_back(static_cast<T>(turn));
    p.beta.emplace_back(run.beta[q]);
    p.pair.push_back(run.counts_once(q) ? 1 : 2);
    p.two.push_back(shear != 0 || turn != 0 || run.beta[q].imag() != 0);
  }
  return p;
}

/// Factors of one row, its dispersive and its nonlinear runs.
template <class T>
void compile_row(Tables<T>& t, const YeeModel& m, int c, int j, int k, MaterialRow& row,
                 std::vector<double> metric_x) {
  ComponentTable<T>& f = t.component[c];
  const std::int64_t index = t.row_index(j, k);
  const int n = t.n[0] + 1;
  std::fill(row.inverse.begin(), row.inverse.end(), 1.0);
  std::fill(row.loss.begin(), row.loss.end(), 0.0);
  row.dispersive.clear();
  row.nonlinear.clear();
  if (m.material) m.material(c, j, k, row);
  for (const CutCellFraction& p : t.open.row(c, j, k)) {  // the open part of ds and A
    const auto i = static_cast<std::size_t>(p.edge.i);
    if (p.fraction > 0)
      metric_x[i] *= is_electric(c) ? p.fraction : 1 / p.fraction;
    else if (is_electric(c))
      row.inverse[i] = 0;
  }

  std::vector<double> response(n, 0.0);  // sum of pair Re beta weight
  for (const DispersiveRun& run : row.dispersive)
    for (std::size_t p = 0; p < run.alpha.size(); ++p) {
      const double pair = run.counts_once(p) ? 1 : 2;
      for (std::size_t q = 0; q < run.weight.size(); ++q)
        response[run.first + q] += pair * run.beta[p].real() * run.weight[q];
    }
  std::vector<T> factor(aligned(n), 0), keep(aligned(n), 1);
  bool any_loss = false;
  for (int i = f.first[0]; i < f.last[0]; ++i) {
    const double loss = (row.loss[i] + response[i]) * row.inverse[i];
    factor[i] = static_cast<T>(t.cdt * metric_x[i] * row.inverse[i] / (1 + loss));
    keep[i] = static_cast<T>(row.inverse[i] == 0 ? 0 : (1 - loss) / (1 + loss));
    any_loss |= keep[i] != 1;
  }
  f.factor[index] = t.pool.keep(factor);
  if (any_loss) {
    if (f.keep.empty()) f.keep.assign(t.rows(), nullptr);
    f.keep[index] = t.pool.keep(keep);
    f.flags[index] |= lossy;
  }
  for (const DispersiveRun& run : row.dispersive) {
    Polarized<T> p = polarized_of(t, run, run.first, static_cast<int>(run.weight.size()));
    const double scale = double(f.scale_y[j]) * double(f.scale_z[k]) * t.cdt;
    for (int q = 0; q < p.length; ++q) {  // edges in an outer conductor take no part
      const int i = p.first + q;
      p.gain.push_back(i < f.first[0] || i >= f.last[0]
                           ? T{0}
                           : static_cast<T>(run.weight[q] / (scale * metric_x[i])));
    }
    special_of(t, c, j, k).polarized.push_back(std::move(p));
  }
  for (const NonlinearRun& run : row.nonlinear) {
    Nonlinear<T> p;
    p.first = run.first;
    p.length = static_cast<int>(run.chi2.size());
    p.state = t.state_size;
    t.state_size += aligned(p.length);
    t.nonlinear = true;
    for (int q = 0; q < p.length; ++q) {
      const int i = p.first + q;
      const double unit = field_unit(t, c, i, j, k),
                   loss = row.loss[i] + response[i];  // unit: e per E
      const bool linear = in_layers(t, {static_cast<std::uint8_t>(c), i, j, k});
      p.eps.push_back(static_cast<T>(1 / row.inverse[i] + loss));
      p.twice_loss.push_back(static_cast<T>(2 * loss));
      p.chi2.push_back(static_cast<T>(linear ? 0 : run.chi2[q] / unit));
      p.chi3.push_back(static_cast<T>(linear ? 0 : run.chi3[q] / (unit * unit)));
      p.to_unknown.push_back(static_cast<T>(unit * unit));
      p.gain.push_back(
          static_cast<T>(t.cdt * metric_x[i] * double(f.scale_y[j]) * double(f.scale_z[k])));
    }
    special_of(t, c, j, k).nonlinear.push_back(std::move(p));
  }
}

/// Mixed edges, in runs of neighbours. What their row has for them is put out of action; they keep
/// one of its factors for the mask of unknowns.
template <class T>
void add_mixed(Tables<T>& t, const YeeModel& m) {
  const MixedEdges& mixed = m.mixed;
  t.channels = mixed.channels();
  for (std::size_t q = 0; q < mixed.edges.size();) {
    const Edge& e = mixed.edges[q];
    std::size_t end = q + 1;
    const auto follows = [&](const Edge& o) {
      return o.component == e.component && o.j == e.j && o.k == e.k &&
             o.i == e.i + static_cast<int>(end - q);
    };
    while (end < mixed.edges.size() && follows(mixed.edges[end])) ++end;
    ComponentTable<T>& f = t.component[e.component];
    const int at[3] = {e.i, e.j, e.k}, length = static_cast<int>(end - q);
    for (int d = 0; d < 3; ++d)
      if (at[d] < f.first[d] || at[d] + (d == 0 ? length - 1 : 0) >= f.last[d])
        throw Error("[YeeScheme] mixed edge " + std::to_string(q) + ", " + name_of(e.component) +
                    ", is not among the edges that the scheme computes");
    if (!is_electric(e.component)) throw Error("[YeeScheme] only electric edges are mixed");
    const std::int64_t index = t.row_index(e.j, e.k);
    if (f.keep.empty()) f.keep.assign(t.rows(), nullptr);
    if (!f.keep[index]) f.keep[index] = t.pool.keep(std::vector<T>(aligned(t.n[0] + 1), 1));
    f.flags[index] |= lossy;
    Special<T>& special = special_of(t, e.component, e.j, e.k);
    Mixed<T> run{.first = e.i,
                 .length = length,
                 .column = static_cast<std::int64_t>(m.traced.size()) +
                           static_cast<std::int64_t>(q) * t.channels};
    for (int i = e.i; i < e.i + length; ++i) {
      if (f.factor[index][i] == 0)
        throw Error("[YeeScheme] mixed edge " + std::to_string(q) + " is a conductor in its row");
      for (Polarized<T>& p : special.polarized)
        if (p.mixed < 0 && i >= p.first && i < p.first + p.length)
          p.gain[static_cast<std::size_t>(i - p.first)] = 0;
      for (const Nonlinear<T>& p : special.nonlinear)
        if (i >= p.first && i < p.first + p.length)
          throw Error("[YeeScheme] mixed edge " + std::to_string(q) + " is nonlinear in its row");
      const bool wraps = t.wraps(0);
      run.metric.push_back(t.cdt * metric(m, e.component, 0, i, t.unit, wraps) *
                           t.open.length_fraction({e.component, i, e.j, e.k}));
      t.mixed_gain.push_back(run.metric.back() * double(t.scale(e.component, e.j, e.k)));
    }
    for (const DispersiveRun& poles : mixed.poles) {
      Polarized<T> p = polarized_of(t, poles, e.i, length);
      p.mixed = t.n_mixed_gains;
      t.n_mixed_gains += length;
      double response = 0;
      for (std::size_t n = 0; n < p.beta.size(); ++n)
        response += double(p.pair[n]) * poles.beta[n].real();
      run.response.push_back(static_cast<T>(response));
      run.polarized.push_back(special.polarized.size());
      special.polarized.push_back(std::move(p));
    }
    special.mixed.push_back(std::move(run));
    q = end;
  }
}

}  // namespace

template <class T>
bool couples(const Tables<T>& t, const Edge& e) {
  const ComponentTable<T>& f = t.component[e.component];
  const int at[3] = {e.i, e.j, e.k};
  for (int d = 0; d < 3; ++d)
    if (at[d] < f.first[d] || at[d] >= f.last[d]) return false;
  if (in_layers(t, e)) return false;
  const std::int64_t index = t.row_index(e.j, e.k);
  if (!f.special.empty() && f.special[index] >= 0) {
    const auto within = [&](const auto& run) {
      return e.i >= run.first && e.i < run.first + run.length;
    };
    const Special<T>& special = t.specials[static_cast<std::size_t>(f.special[index])];
    if (std::any_of(special.nonlinear.begin(), special.nonlinear.end(), within) ||
        std::any_of(special.mixed.begin(), special.mixed.end(), within))
      return false;
  }
  return f.factor[index][e.i] != 0 && t.open.fraction(e) == 1 &&
         !(f.flags[index] & lossy && f.keep[index][e.i] != 1);
}
template bool couples(const Tables<float>&, const Edge&);
template bool couples(const Tables<double>&, const Edge&);

namespace {

/// What the tensors couple, by the edges that take part. Across joined faces e_to e^{i phase_to} +=
/// W u_from e^{i phase_from}.
template <class T>
void add_tensors(Tables<T>& t, const YeeModel& m) {
  const auto key = [&](const Edge& e) { return t.offset(e.component, e.i, e.j, e.k); };
  std::map<std::int64_t, std::pair<Edge, std::vector<CouplingTerm<T>>>> edges;
  std::map<std::int64_t, std::int64_t> recorded;
  for (std::size_t r = 0; r < m.recorded.size(); ++r)
    recorded[key(m.recorded[r])] = static_cast<std::int64_t>(r);
  const std::array<bool, 3> periodic{t.periodic[0], t.periodic[1], t.periodic[2]};
  const std::array<double, 3> phases{t.phase[0], t.phase[1], t.phase[2]};
  for (const NodeTensor& node : m.tensors)
    couplings_of(m.grid, periodic, phases, t.cdt * t.unit, node,
                 [&](const Neighbour& x, const Neighbour& y, double weight) {
                   if (weight == 0 || !couples(t, x.edge) || !couples(t, y.edge)) return;
                   const auto couple = [&](const Neighbour& to, const Neighbour& from) {
                     auto& [edge, terms] = edges[key(to.edge)];
                     edge = to.edge;
                     const auto r = recorded.find(key(from.edge));
                     const double phase = from.phase - to.phase;
                     terms.push_back({key(from.edge), from.edge.component,
                                      static_cast<T>(weight * std::cos(phase)),
                                      static_cast<T>(weight * std::sin(phase)),
                                      r == recorded.end() ? -1 : r->second});
                   };
                   couple(x, y);
                   couple(y, x);
                 });
  for (auto& [offset, entry] : edges) {
    auto& [edge, terms] = entry;
    special_of(t, edge.component, edge.j, edge.k)
        .coupled.push_back({edge.i, t.n_coupled++, static_cast<std::int64_t>(t.coupling.size()),
                            static_cast<std::int64_t>(terms.size())});
    t.coupling.insert(t.coupling.end(), terms.begin(), terms.end());
  }
}

}  // namespace

template <class T>
Tables<T> compile(const YeeModel& m) {
  Tables<T> t;
  t.grid = m.grid;
  t.faces = m.faces;
  t.open = m.open;
  t.traced = m.traced;
  t.unit = INFINITY;
  for (int d = 0; d < 3; ++d) {
    t.n[d] = m.grid.cells(d);
    if (t.n[d] < 1) throw Error("[YeeScheme] the grid has no cells");
    const bool low = m.faces[d].low == Boundary::periodic,
               high = m.faces[d].high == Boundary::periodic;
    t.resolved[d] = m.grid.resolved(d);
    if (t.resolved[d] && low != high)
      throw Error("[YeeScheme] a periodic face needs the opposite face to be periodic too");
    if (t.resolved[d] && t.n[d] == 1 && !low)
      throw Error("[YeeScheme] an axis of one cell is a period: its faces are joined");
    t.periodic[d] = t.resolved[d] && low;
    if (t.periodic[d]) t.phase[d] = m.bloch_phase[d];
    t.bloch |= t.phase[d] != 0;
    if (t.resolved[d]) t.unit = std::min(t.unit, m.grid.smallest_length(d));
  }
  if (!std::isfinite(t.unit)) throw Error("[YeeScheme] no axis of the grid is resolved");
  t.cdt = speed_of_light * m.dt_s / t.unit;
  place_fields(t);
  set_ranges(t, m);
  place_layers(t, m);

  for (int c = 0; c < 6; ++c) {
    ComponentTable<T>& f = t.component[c];
    f.factor.assign(t.rows() + 1, nullptr);
    f.flags.assign(t.rows(), 0);
    f.scale_y.assign(t.n[1] + 1, 0);
    f.scale_z.assign(t.n[2] + 1, 0);
    std::vector<double> metric_x(t.n[0] + 1, 0);
    for (int i = f.first[0]; i < f.last[0]; ++i)
      metric_x[i] = metric(m, c, 0, i, t.unit, t.wraps(0));
    for (int j = f.first[1]; j < f.last[1]; ++j)
      f.scale_y[j] = static_cast<T>(metric(m, c, 1, j, t.unit, t.wraps(1)));
    for (int k = f.first[2]; k < f.last[2]; ++k)
      f.scale_z[k] = static_cast<T>(metric(m, c, 2, k, t.unit, t.wraps(2)));
    MaterialRow row{std::vector<double>(t.n[0] + 1), std::vector<double>(t.n[0] + 1), {}, {}};
    for (int k = f.first[2]; k < f.last[2]; ++k)
      for (int j = f.first[1]; j < f.last[1]; ++j) {
        std::uint8_t& flags = f.flags[t.row_index(j, k)];
        const int at[3] = {0, j, k};
        for (int term = 0; term < 2; ++term) {
          const int axis = f.axis[term];
          const std::uint8_t flag = axis == 0 ? layer_x : axis == 1 ? layer_y : layer_z;
          const auto in_layer = [&](const LayerTable<T>& l, int i) {
            return l.slabs > 0 && (axis == 0 || (i >= 0 && i <= t.n[axis] && l.slab[i] >= 0));
          };
          // The transposed step convolves the sources of the difference, on both sides of the row.
          const LayerTable<T>& source = t.layer[f.source[term]][axis];
          const int above = is_electric(c) ? at[axis] : at[axis] + 1;
          if (in_layer(t.layer[c][axis], at[axis]) || in_layer(source, above) ||
              in_layer(source, above - 1))
            flags |= flag;
        }
        compile_row(t, m, c, j, k, row, metric_x);
      }
  }
  add_list(t, m.injected, &Special<T>::injected, "injected");
  add_list(t, m.recorded, &Special<T>::recorded, "recorded");
  add_list(t, m.traced, &Special<T>::traced, "traced");
  for (const Edge& e : m.traced)
    if (!is_electric(e.component)) throw Error("[YeeScheme] only electric edges are traced");
  add_mixed(t, m);
  add_tensors(t, m);
  if (t.nonlinear && t.bloch)
    throw Error(
        "[YeeScheme] between faces joined with a phase fields are complex, and a nonlinear medium "
        "needs the real field: take "
        "periodic faces and a wave through whole periods, or leave chi2 and chi3 out");
  if (t.nonlinear) find_neighbours(t);
  t.n_injected = static_cast<std::int64_t>(m.injected.size());
  t.n_recorded = static_cast<std::int64_t>(m.recorded.size());
  t.n_traced = static_cast<std::int64_t>(m.traced.size()) +
               static_cast<std::int64_t>(m.mixed.edges.size()) * t.channels;
  return t;
}

template Tables<float> compile(const YeeModel&);
template Tables<double> compile(const YeeModel&);

}  // namespace tessera::electromagnetics::time_domain
