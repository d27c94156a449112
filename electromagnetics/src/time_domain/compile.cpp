// SPDX-License-Identifier: Apache-2.0
#include "tessera/autodiff/error.h"
#include "tessera/electromagnetics/constants.h"
#include "time_domain/compile_edges.h"
#include "time_domain/seams.h"

#include <algorithm>
#include <cmath>

namespace tessera::electromagnetics::time_domain {
namespace {

template <class T>
void cut_out(Tables<T>& t) {
  const Slab& s = t.slab;
  if (!s.ranks) return;
  t.cut = s.axis;
  const int cells = t.grid.cells(s.axis);
  if (s.axis < 1 || s.axis > 2 || !t.resolved[s.axis] || s.begin < 0 || s.begin >= s.end ||
      s.end > cells)
    throw Error("[YeeScheme] a slab is cut out of the " + std::to_string(cells) +
                " cells of a resolved axis y or z");
  if ((s.below < 0) != (s.begin == 0 && !t.periodic[s.axis]) ||
      (s.above < 0) != (s.end == cells && !t.periodic[s.axis]))
    throw Error("[YeeScheme] a slab has neighbours where the grid goes on, and there alone");
  t.origin[s.axis] = s.begin - (s.below < 0 ? 0 : 1);
  t.n[s.axis] = s.end + (s.above < 0 ? 0 : 1) - t.origin[s.axis];
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
  const std::int64_t size = aligned(t.plane * (t.n[2] + 2)) + 9 * row_alignment;
  const std::int64_t step[3] = {1, t.row, t.plane};
  for (int d = 0; d < 3; ++d) t.step[d] = t.resolved[d] ? step[d] : 0;
  for (int c = 0; c < 6; ++c) t.component[c].field = c * size + t.plane + t.row + row_alignment;
  t.state_size = 6 * size + row_alignment;
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

/// Indices that are updated in the whole grid.
template <class T>
std::pair<int, int> whole_range(const Tables<T>& t, int c, int d) {
  const int cells = t.grid.cells(d);
  if (at_middle(c, d) || !t.resolved[d] || t.periodic[d]) return {0, cells};
  return {t.faces[d].low == Boundary::pmc ? 0 : 1,
          t.faces[d].high == Boundary::pmc ? cells + 1 : cells};
}

template <class T>
void set_ranges(Tables<T>& t, const YeeModel& m) {
  for (int c = 0; c < 6; ++c)
    for (int d = 0; d < 3; ++d) {
      ComponentTable<T>& f = t.component[c];
      const auto [first, last] = whole_range(t, c, d);
      f.known_first[d] = f.first[d] = first;
      f.known_last[d] = f.last[d] = m.active[c] ? last : first;
      if (d != t.cut || !m.active[c]) continue;
      const int at = t.origin[d];
      const bool is_last = t.slab.end == t.grid.cells(d);
      f.first[d] = std::max(first, t.slab.begin) - at;
      f.last[d] = std::max((is_last ? last : t.slab.end) - at, f.first[d]);
      f.known_first[d] = t.periodic[d] ? 0 : std::max(first - at, 0);
      f.known_last[d] = t.periodic[d] || !is_last ? t.n[d] : last - at;
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
      if (axis == axis_of(c) || !t.resolved[axis] || f.known_last[axis] == f.known_first[axis])
        continue;
      if (!m.active[f.source[f.axis[0] == axis ? 0 : 1]]) continue;  // a difference of zeros
      const PmlProfile p =
          pml_profile(m.grid.lines[axis], t.faces[axis], m.pml, m.dt_s, at_middle(c, axis));
      if (!p.any()) continue;
      LayerTable<T>& l = t.layer[c][axis];
      for (int i = 0; i <= t.n[axis]; ++i) {
        const auto at = static_cast<std::size_t>(t.whole(axis, i));
        l.b.push_back(static_cast<T>(p.b[at]));
        l.c.push_back(static_cast<T>(p.c[at]));
        l.m.push_back(static_cast<T>(p.m[at]));
      }
      l.slab.assign(l.b.size(), -1);
      const auto [first, last] = whole_range(t, c, axis);
      l.whole.assign(p.b.size(), 0);
      for (int i = first; i < last; ++i)
        l.whole[static_cast<std::size_t>(i)] = p.b[static_cast<std::size_t>(i)] != 0;
      const int half = t.n[axis] / 2;
      l.low_begin = l.low_end = f.first[axis];
      l.high_begin = l.high_end = f.last[axis];
      for (int i = f.known_first[axis]; i < f.known_last[axis]; ++i) {
        if (p.b[static_cast<std::size_t>(t.whole(axis, i))] == 0) continue;
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
  const int whole_j = t.whole(1, j), whole_k = t.whole(2, k);
  if (m.material) m.material(c, whole_j, whole_k, row);
  for (const CutCellFraction& p : t.open.row(c, whole_j, whole_k)) {  // the open part of ds and A
    const auto i = static_cast<std::size_t>(p.edge.i);
    if (p.fraction > 0)
      metric_x[i] *= is_electric(c) ? p.share : 1 / p.share;
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
      const bool metal = row.inverse[i] == 0;         // such as a thin wire: D and e stay zero
      const bool linear = metal || in_layers(t, {static_cast<std::uint8_t>(c), i, j, k});
      p.eps.push_back(static_cast<T>(metal ? 1 : 1 / row.inverse[i] + loss));
      p.twice_loss.push_back(static_cast<T>(2 * loss));
      p.chi2.push_back(static_cast<T>(linear ? 0 : run.chi2[q] / unit));
      p.chi3.push_back(static_cast<T>(linear ? 0 : run.chi3[q] / (unit * unit)));
      p.to_unknown.push_back(static_cast<T>(unit * unit));
      p.gain.push_back(static_cast<T>(
          metal ? 0 : t.cdt * metric_x[i] * double(f.scale_y[j]) * double(f.scale_z[k])));
    }
    special_of(t, c, j, k).nonlinear.push_back(std::move(p));
  }
}

/// Of a slab between joined faces an edge may lie at either end.
template <class T>
void find_uncoupled(Tables<T>& t, const YeeModel& m) {
  for (const Edge& whole : m.uncoupled)
    for (const int turn : {-1, 0, 1}) {
      Edge e = t.here(whole);
      if (turn != 0 && (t.cut < 0 || !t.periodic[t.cut])) continue;
      if (turn != 0) (t.cut == 1 ? e.j : e.k) += turn * t.grid.cells(t.cut);
      if (e.j >= -1 && e.j <= t.n[1] && e.k >= -1 && e.k <= t.n[2])
        t.uncoupled.push_back(t.offset(e.component, e.i, e.j, e.k));
    }
  std::sort(t.uncoupled.begin(), t.uncoupled.end());
}

}  // namespace

template <class T>
Tables<T> compile(const YeeModel& m, const Slab& slab) {
  Tables<T> t;
  t.slab = slab;
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
  cut_out(t);
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
    for (int j = f.known_first[1]; j < f.known_last[1]; ++j)
      f.scale_y[j] = static_cast<T>(metric(m, c, 1, t.whole(1, j), t.unit, t.wraps(1)));
    for (int k = f.known_first[2]; k < f.known_last[2]; ++k)
      f.scale_z[k] = static_cast<T>(metric(m, c, 2, t.whole(2, k), t.unit, t.wraps(2)));
    MaterialRow row{std::vector<double>(t.n[0] + 1), std::vector<double>(t.n[0] + 1), {}, {}};
    for (int k = f.known_first[2]; k < f.known_last[2]; ++k)
      for (int j = f.known_first[1]; j < f.known_last[1]; ++j) {
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
  add_lists(t, m);
  add_mixed(t, m);
  find_uncoupled(t, m);
  add_tensors(t, m);
  t.coupled = !m.tensors.empty();
  if (t.cut >= 0) agree(t);
  if (t.nonlinear && t.bloch)
    throw Error(
        "[YeeScheme] between faces joined with a phase fields are complex, and a nonlinear medium "
        "needs the real field: take "
        "periodic faces and a wave through whole periods, or leave chi2 and chi3 out");
  if (t.nonlinear) find_neighbours(t);
  if (t.cut >= 0) find_seams(t);
  t.n_injected = static_cast<std::int64_t>(m.injected.size());
  t.n_recorded = static_cast<std::int64_t>(m.recorded.size());
  t.n_traced = static_cast<std::int64_t>(m.traced.size()) +
               static_cast<std::int64_t>(m.mixed.edges.size()) * t.channels;
  return t;
}

template Tables<float> compile(const YeeModel&, const Slab&);
template Tables<double> compile(const YeeModel&, const Slab&);

}  // namespace tessera::electromagnetics::time_domain
