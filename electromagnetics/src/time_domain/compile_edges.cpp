// SPDX-License-Identifier: Apache-2.0
#include "time_domain/compile_edges.h"

#include "tessera/autodiff/error.h"
#include "time_domain/couplings.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <utility>

namespace tessera::electromagnetics::time_domain {
namespace {

template <class T>
void add_list(Tables<T>& t, const std::vector<Edge>& edges, std::vector<Span> Special<T>::*list,
              const char* what) {
  for (std::size_t m = 0; m < edges.size(); ++m) {
    const Edge e = t.here(edges[m]);
    const ComponentTable<T>& f = t.component[e.component];
    const int at[3] = {e.i, e.j, e.k};
    for (int d = 0; d < 3; ++d)
      if (at[d] < f.first[d] || at[d] >= f.last[d])
        throw Error(std::string("[YeeScheme] ") + what + " edge " + std::to_string(m) + ", " +
                    name_of(e.component) + " at (" + std::to_string(edges[m].i) + ", " +
                    std::to_string(edges[m].j) + ", " + std::to_string(edges[m].k) +
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

}  // namespace

double metric(const YeeModel& m, int c, int axis, int i, double unit, bool periodic) {
  const bool middle = at_middle(c, axis);
  const double length =
      (middle ? m.grid.length(axis, i) : m.grid.dual_length(axis, i, periodic)) / unit;
  return axis == axis_of(c) ? length : 1 / length;
}

template <class T>
double field_unit(const Tables<T>& t, int c, int i, int j, int k) {
  const Edge e = t.whole(Edge{static_cast<std::uint8_t>(c), i, j, k});
  const int at[3] = {e.i, e.j, e.k}, axis = axis_of(c);
  return t.grid.length(axis, at[axis]) / t.unit * t.open.length_fraction(e);
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
bool in_layers(const Tables<T>& t, const Edge& e) {
  const int at[3] = {e.i, e.j, e.k};
  for (int d = 0; d < 3; ++d)
    for (const int c : {int{e.component}, 3 + d, 3 + (d + 1) % 3, 3 + (d + 2) % 3}) {
      const std::vector<std::uint8_t>& layered = t.layer[c][d].whole;
      if (layered.empty()) continue;
      // Of an edge at a line the middles on both sides, along its own axis its middle: the same at
      // both ends of the axis.
      const int last = t.whole(d, at[d]), first = at_middle(e.component, d) ? last : last - 1;
      for (int i = std::max(first, 0); i <= last; ++i)
        if (layered[static_cast<std::size_t>(i)]) return true;
    }
  return false;
}

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

template <class T>
void add_lists(Tables<T>& t, const YeeModel& m) {
  add_list(t, m.injected, &Special<T>::injected, "injected");
  add_list(t, m.recorded, &Special<T>::recorded, "recorded");
  add_list(t, m.traced, &Special<T>::traced, "traced");
  for (Edge& e : t.traced) e = t.here(e);
  for (const Edge& e : m.traced)
    if (!is_electric(e.component)) throw Error("[YeeScheme] only electric edges are traced");
}

template <class T>
void add_mixed(Tables<T>& t, const YeeModel& m) {
  const MixedEdges& mixed = m.mixed;
  t.channels = mixed.channels();
  for (std::size_t q = 0; q < mixed.edges.size();) {
    const Edge e = t.here(mixed.edges[q]);
    std::size_t end = q + 1;
    const auto follows = [&](const Edge& o) {
      return o.component == e.component && o.j == e.j && o.k == e.k &&
             o.i == e.i + static_cast<int>(end - q);
    };
    while (end < mixed.edges.size() && follows(t.here(mixed.edges[end]))) ++end;
    ComponentTable<T>& f = t.component[e.component];
    const int at[3] = {e.i, e.j, e.k}, length = static_cast<int>(end - q);
    for (int d = 0; d < 3; ++d)
      if (at[d] < f.first[d] || at[d] + (d == 0 ? length - 1 : 0) >= f.last[d])
        throw Error("[YeeScheme] mixed edge " + std::to_string(q) + ", " + name_of(e.component) +
                    ", is not among the edges that the scheme computes");
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
      const double open = t.open.gain(t.whole(Edge{e.component, i, e.j, e.k}));
      run.metric.push_back(t.cdt * metric(m, e.component, 0, i, t.unit, wraps) *
                           (is_electric(e.component) ? open : 1 / open));
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

template <class T>
bool couples(const Tables<T>& t, const Edge& e) {
  const ComponentTable<T>& f = t.component[e.component];
  const int at[3] = {e.i, e.j, e.k};
  for (int d = 0; d < 3; ++d)
    if (at[d] < f.known_first[d] || at[d] >= f.known_last[d]) return false;
  if (in_layers(t, e) || std::binary_search(t.uncoupled.begin(), t.uncoupled.end(),
                                            t.offset(e.component, e.i, e.j, e.k)))
    return false;
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
  return f.factor[index][e.i] != 0 && !t.open.listed(t.whole(e)) &&
         !(f.flags[index] & lossy && f.keep[index][e.i] != 1);
}

namespace {

/// Where a node lies in a slab, and with it the edges around it. Across joined faces it may lie at
/// both ends.
struct NodeImage {
  int cut, node, here;  ///< the axis, the node's index in the whole grid and in the slab
  Edge edge(Edge e) const {
    if (cut < 0) return e;
    int& i = cut == 1 ? e.j : e.k;
    i = i == node ? here : here - 1;
    return e;
  }
};
template <class T>
std::vector<NodeImage> images_of(const Tables<T>& t, const NodeTensor& node) {
  if (t.cut < 0) return {{-1, 0, 0}};
  std::vector<NodeImage> all;
  const int at = t.cut == 1 ? node.j : node.k, period = t.grid.cells(t.cut);
  for (const int turn : {-1, 0, 1}) {
    if (turn != 0 && !t.periodic[t.cut]) continue;
    const int here = at + turn * period - t.origin[t.cut];
    if (here >= 0 && here <= t.n[t.cut]) all.push_back({t.cut, at, here});
  }
  return all;
}

/// Whether an edge lies across joined faces of the cut axis.
template <class T>
bool crosses(const Tables<T>& t, const Edge& e) {
  if (t.cut < 0 || !t.periodic[t.cut]) return false;
  const int at = (t.cut == 1 ? e.j : e.k) + t.origin[t.cut];
  return at < 0 || at >= t.grid.cells(t.cut);
}

/// Whether an edge beside the slab lies below it.
template <class T>
bool lies_below(const Tables<T>& t, const Edge& e) {
  return (t.cut == 1 ? e.j : e.k) + t.origin[t.cut] < t.slab.begin;
}

/// Calls body(to, from, weight, whether it crosses joined faces of a cut axis) for each edge and
/// each one that tensors couple it to, in the order of the nodes.
template <class T, class F>
void over_couplings(const Tables<T>& t, const YeeModel& m, F&& body) {
  const std::array<bool, 3> periodic{t.periodic[0], t.periodic[1], t.periodic[2]};
  const std::array<double, 3> phases{t.phase[0], t.phase[1], t.phase[2]};
  for (const NodeTensor& node : m.tensors)
    for (const NodeImage& image : images_of(t, node))
      couplings_of(m.grid, periodic, phases, t.cdt * t.unit, node,
                   [&](Neighbour x, Neighbour y, double weight) {
                     x.edge = image.edge(x.edge), y.edge = image.edge(y.edge);
                     if (weight == 0 || !couples(t, x.edge) || !couples(t, y.edge)) return;
                     const bool turned = crosses(t, x.edge) != crosses(t, y.edge);
                     body(x, y, weight, turned);
                     body(y, x, weight, turned);
                   });
}

/// The edge at an offset.
template <class T>
Edge edge_at(const Tables<T>& t, std::int64_t offset) {
  int c = 2;
  while (c > 0 && offset < t.component[c].field) --c;
  const std::int64_t at = offset - t.component[c].field;
  return {static_cast<std::uint8_t>(c), static_cast<int>(at % t.plane % t.row),
          static_cast<int>(at % t.plane / t.row), static_cast<int>(at / t.plane)};
}

}  // namespace

/// Twice over all of them: first they are counted, then each goes to its place, so that none is
/// held more than once.
template <class T>
void add_tensors(Tables<T>& t, const YeeModel& m) {
  for (const NodeTensor& node : m.tensors)
    if (node.i < 0 || node.i > m.grid.cells(0) || node.j < 0 || node.j > m.grid.cells(1) ||
        node.k < 0 || node.k > m.grid.cells(2))
      throw Error("[YeeScheme] the tensor of node (" + std::to_string(node.i) + ", " +
                  std::to_string(node.j) + ", " + std::to_string(node.k) +
                  ") lies outside of the grid");
  const auto key = [&](const Edge& e) { return t.offset(e.component, e.i, e.j, e.k); };
  std::map<std::int64_t, std::int64_t> recorded;
  t.recorded_again.assign(m.recorded.size(), -1);
  for (std::size_t r = m.recorded.size(); r-- > 0;) {
    const auto column = static_cast<std::int64_t>(r);
    const auto [known, is_new] = recorded.try_emplace(key(t.here(m.recorded[r])), column);
    if (!is_new) t.recorded_again[r] = std::exchange(known->second, column);
  }
  const auto held = [&](const Edge& e) { return t.holds(e.component, e.j, e.k); };
  std::vector<std::int64_t> edges;  // of each term, by offset
  over_couplings(t, m, [&](const Neighbour& to, const Neighbour&, double, bool) {
    if (held(to.edge)) edges.push_back(key(to.edge));
  });
  std::sort(edges.begin(), edges.end());
  t.coupling.resize(edges.size());
  std::vector<std::int64_t> next;  // [edges] where its next term goes
  for (std::size_t at = 0; at < edges.size();) {
    const std::size_t end = static_cast<std::size_t>(
        std::upper_bound(edges.begin() + static_cast<std::ptrdiff_t>(at), edges.end(), edges[at]) -
        edges.begin());
    const Edge e = edge_at(t, edges[at]);
    special_of(t, e.component, e.j, e.k)
        .coupled.push_back({e.i, t.n_coupled++, static_cast<std::int64_t>(at),
                            static_cast<std::int64_t>(end - at)});
    next.push_back(static_cast<std::int64_t>(at));
    at = end;
  }
  edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
  std::vector<std::pair<std::size_t, std::int64_t>> above;  // details, numbers of their brackets
  over_couplings(t, m, [&](const Neighbour& to, const Neighbour& from, double weight, bool turned) {
    const auto r = recorded.find(key(from.edge));
    const BracketPlace place{key(from.edge), from.edge.component,
                             r == recorded.end() ? -1 : r->second};
    if (turned && crosses(t, to.edge)) t.turned.to.push_back(place);
    if (!turned && !held(to.edge) && held(from.edge))
      (lies_below(t, to.edge) ? t.beside.to_below : t.beside.to_above).push_back(place);
    if (!held(to.edge)) return;
    const double phase = from.phase - to.phase;
    CouplingDetail<T> more{static_cast<T>(weight * std::sin(phase)), place.recorded,
                           turned ? t.turned.from++ : -1};
    const bool is_beside = !turned && !held(from.edge);
    if (is_beside && lies_below(t, from.edge)) more.beside = t.beside.from_below++;
    if (is_beside && more.beside < 0)
      above.emplace_back(t.coupling_details.size(), t.beside.from_above++);
    const bool has_more = more.cross != 0 || more.recorded >= 0 || more.turned >= 0 || is_beside;
    const auto edge = std::lower_bound(edges.begin(), edges.end(), key(to.edge)) - edges.begin();
    t.coupling[static_cast<std::size_t>(next[static_cast<std::size_t>(edge)]++)] = {
        key(from.edge), static_cast<T>(weight * std::cos(phase)),
        static_cast<std::int32_t>(from.edge.component),
        has_more ? static_cast<std::int32_t>(t.coupling_details.size()) : -1};
    if (has_more) t.coupling_details.push_back(more);
  });
  for (const auto& [detail, number] : above)
    t.coupling_details[detail].beside = t.beside.from_below + number;
}

namespace {

/// Whether line i of an axis lies in a face that is a magnetic conductor.
template <class T>
bool is_at_magnetic_mirror(const Tables<T>& t, int d, int i) {
  const int line = t.whole(d, i);
  return t.resolved[d] && ((line == 0 && t.faces[d].low == Boundary::pmc) ||
                           (line == t.grid.cells(d) && t.faces[d].high == Boundary::pmc));
}

}  // namespace

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
        // Of a component across a magnetic mirror the image has the opposite sign: no mean there.
        if (is_at_magnetic_mirror(t, b, b == 0 ? run.first + q : b == 1 ? j : k)) continue;
        for (const int along : {0, 1})
          for (const int back : {0, 1}) {
            int at[3] = {run.first + q, j, k};
            at[c] += along, at[b] -= back;
            bool there = true;
            for (int d = 0; d < 3; ++d) {
              if (t.wraps(d) && d != t.cut) at[d] = (at[d] + t.n[d]) % t.n[d];
              there = there && at[d] >= t.component[b].known_first[d] &&
                      at[d] < t.component[b].known_last[d];
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

template double field_unit(const Tables<float>&, int, int, int, int);
template bool in_layers(const Tables<float>&, const Edge&);
template Special<float>& special_of(Tables<float>&, int, int, int);
template Polarized<float> polarized_of(Tables<float>&, const DispersiveRun&, int, int);
template void add_lists(Tables<float>&, const YeeModel&);
template void add_mixed(Tables<float>&, const YeeModel&);
template bool couples(const Tables<float>&, const Edge&);
template void add_tensors(Tables<float>&, const YeeModel&);
template void find_neighbours(Tables<float>&);
template double field_unit(const Tables<double>&, int, int, int, int);
template bool in_layers(const Tables<double>&, const Edge&);
template Special<double>& special_of(Tables<double>&, int, int, int);
template Polarized<double> polarized_of(Tables<double>&, const DispersiveRun&, int, int);
template void add_lists(Tables<double>&, const YeeModel&);
template void add_mixed(Tables<double>&, const YeeModel&);
template bool couples(const Tables<double>&, const Edge&);
template void add_tensors(Tables<double>&, const YeeModel&);
template void find_neighbours(Tables<double>&);

}  // namespace tessera::electromagnetics::time_domain
