// SPDX-License-Identifier: Apache-2.0
#include "mode.h"

#include "tessera/autodiff/error.h"

#include <algorithm>
#include <cmath>
#include <string>

namespace tessera::inversion {
namespace {

enum class Rim { none, left, right, top, bottom, ground };

struct RimEdge {
  Rim where;
  Index edge, cell;
};

/// The rim of the cells that take part. TM's upper rim is the ground; TE's the top of the air.
std::vector<RimEdge> rim_of(const Mesh2d& m, const Space2d& s, const std::vector<bool>& active,
                            bool te) {
  const auto [left, right] = std::minmax_element(m.y.begin(), m.y.end());
  const auto [top, bottom] = std::minmax_element(m.z.begin(), m.z.end());
  std::vector<RimEdge> out;
  for (std::size_t k = 0; k < s.edges.size(); ++k) {
    const Edge2d& e = s.edges[k];
    Index cell = -1;
    int sides = 0;
    for (const Index c : e.cell)
      if (c >= 0 && active[c]) cell = c, ++sides;
    if (sides != 1) continue;
    const bool outer = e.cell[1] < 0;
    const auto both = [&](const std::vector<double>& x, double at) {
      return x[e.node[0]] == at && x[e.node[1]] == at;
    };
    Rim where = Rim::none;
    if (!outer)
      where = Rim::ground;
    else if (both(s.y, *left))
      where = Rim::left;
    else if (both(s.y, *right))
      where = Rim::right;
    else if (both(s.z, *bottom))
      where = Rim::bottom;
    else if (te ? both(s.z, *top) : true)
      where = te ? Rim::top : Rim::ground;
    if (where == Rim::none)
      throw Error("[Forward2d] the rim of the mesh near y = " + std::to_string(s.y[e.node[0]]) +
                  ", z = " + std::to_string(s.z[e.node[0]]) +
                  " is neither an upright side, nor a level top or bottom");
    out.push_back({where, static_cast<Index>(k), cell});
  }
  return out;
}

}  // namespace

LazySensitivity2d::LazySensitivity2d(Entries2d entries, Index parameters, Index rows, Index cols,
                                     const std::array<bool, kinds_2d>& constant)
    : parameters_(parameters), rows_(rows), cols_(cols), constant_(constant) {
  for (int k = 0; k < kinds_2d; ++k) {
    if (constant[k]) continue;
    std::erase_if(entries[k], [&](const Entry2d& e) { return e.medium >= parameters; });
    entries[k].shrink_to_fit();
    entries_[k] = std::move(entries[k]);
  }
}
const Sensitivity2d& LazySensitivity2d::get() const {
  std::call_once(made_, [&] {
    sensitivity_ = Sensitivity2d(entries_, parameters_, rows_, cols_, constant_);
    entries_ = {};
  });
  return sensitivity_;
}

namespace {

/// Makes one mode, step by step.
struct ModeMaker {
  bool te;
  const Mesh2d& m;
  const Space2d& s;
  const CellIntegrals& integrals;
  const Media2d& media;
  const SensorLines& lines;
  bool columns, conductor, electric;
  double top = 0, bottom = 0;
  std::vector<bool> active;
  std::vector<RimEdge> rim;
  Entries2d entries;
  Mode2d mode;

  ModeMaker(bool te_mode, const Mesh2d& mesh, const Space2d& space, const CellIntegrals& of_cells,
            const Media2d& of_mesh, const SensorLines& sensors, const Forward2dOptions& options)
      : te(te_mode),
        m(mesh),
        s(space),
        integrals(of_cells),
        media(of_mesh),
        lines(sensors),
        columns(options.sides == Sides2d::columns),
        conductor(options.base == Base2d::conductor),
        electric(te && options.top == Top2d::electric),
        top(*std::min_element(m.z.begin(), m.z.end())),
        bottom(*std::max_element(m.z.begin(), m.z.end())),
        active(static_cast<std::size_t>(m.cells()), true) {
    if (!te)
      for (Index c = 0; c < m.cells(); ++c) active[c] = !m.medium[c].is_air();
    rim = rim_of(m, s, active, te);
    number_nodes();
    integrate();
    make_matrices();
  }

  /// Which node is what, and what is given.
  void number_nodes() {
    enum class State : std::uint8_t { out, inside, side, given };
    std::vector<State> state(static_cast<std::size_t>(s.nodes()), State::out);
    for (Index c = 0; c < s.cells(); ++c)
      if (active[c])
        for (int k = 0; k < s.per_cell; ++k) state[s.node[c * s.per_cell + k]] = State::inside;
    const auto mark = [&](const RimEdge& r, State as) {
      for (int k = 0; k <= s.order; ++k) state[s.edges[r.edge].node[k]] = as;
    };
    for (const RimEdge& r : rim)
      if (columns && (r.where == Rim::left || r.where == Rim::right)) mark(r, State::side);
    for (const RimEdge& r : rim)
      if (r.where == Rim::ground || (electric && r.where == Rim::top) ||
          (te && conductor && r.where == Rim::bottom))
        mark(r, State::given);

    mode.te = te;
    mode.freedom.assign(state.size(), -1);
    Index next = 0;
    const auto number = [&](State which) {
      const Index first = next;
      for (std::size_t k = 0; k < state.size(); ++k)
        if (state[k] == which) mode.freedom[k] = next++;
      return next - first;
    };
    mode.inside = number(State::inside);
    mode.side = number(State::side);
    mode.given = number(State::given);
    if (mode.inside == 0) throw Error("[Forward2d] the mesh leaves no unknown inside");
    // TE's given values are those on the conductor and, if so wanted, at the top; TM's those on the
    // ground.
    std::vector<double> given(static_cast<std::size_t>(mode.given), te ? 0.0 : 1.0);
    for (std::size_t k = 0; k < state.size(); ++k)
      if (electric && state[k] == State::given && s.z[k] == top)
        given[mode.freedom[k] - mode.inside - mode.side] = 1;
    mode.base = te ? 0 : 1;
    for (double& g : given) g -= mode.base;
    mode.given_rise = tensor(given);
    mode.constant =
        te ? std::array{true, true, false, false} : std::array{false, false, true, false};
  }

  /// The triplets of all rows, and the loads.
  void integrate() {
    const auto add = [&](int kind, Index row, Index col, Index medium, double value) {
      entries[kind].push_back({row, col, medium, value});
    };
    const int n = s.per_cell;
    const auto add_cell = [&](Index c, int i, Index row) {
      for (int j = 0; j < n; ++j) {
        const Index at = (c * n + i) * n + j, col = mode.freedom[s.node[c * n + j]];
        add(kind_yy, row, col, media.of_cell[c], integrals.yy[at]);
        add(kind_zz, row, col, media.of_cell[c], integrals.zz[at]);
        add(kind_mass, row, col, media.of_cell[c], integrals.mass[at]);
      }
    };
    for (Index c = 0; c < s.cells(); ++c) {
      if (!active[c]) continue;
      for (int i = 0; i < n; ++i)
        if (const Index row = mode.freedom[s.node[c * n + i]]; row < mode.inside)
          add_cell(c, i, row);
    }
    std::vector<double> load(static_cast<std::size_t>(mode.inside), 0.0),
        side_load(static_cast<std::size_t>(mode.side), 0.0);
    for (const RimEdge& r : rim) {
      const Edge2d& edge = s.edges[r.edge];
      const double length =
          std::hypot(s.y[edge.node[1]] - s.y[edge.node[0]], s.z[edge.node[1]] - s.z[edge.node[0]]);
      const EdgeIntegrals e = edge_integrals(s.order, length);
      const Index medium = media.of_cell[r.cell];
      const bool column = columns && (r.where == Rim::left || r.where == Rim::right);
      for (int i = 0; i < e.n; ++i) {
        const Index row = mode.freedom[edge.node[i]];
        const bool in_column = row >= mode.inside && row < mode.inside + mode.side;
        if (r.where == Rim::top && !electric && row < mode.inside) load[row] += e.load[i];
        if (r.where == Rim::bottom && !conductor && row < mode.inside)
          for (int j = 0; j < e.n; ++j)
            add(kind_robin, row, mode.freedom[edge.node[j]], medium, e.mass[i][j]);
        if (!column || !in_column) continue;
        for (int j = 0; j < e.n; ++j) {
          add(kind_zz, row, mode.freedom[edge.node[j]], medium, e.stiffness[i][j]);
          add(kind_mass, row, mode.freedom[edge.node[j]], medium, e.mass[i][j]);
        }
        if (te && !electric && s.z[edge.node[i]] == top) side_load[row - mode.inside] += 1;
        if (!conductor && s.z[edge.node[i]] == bottom) add(kind_robin, row, row, medium, 1);
      }
    }
    const Index first_left_over = mode.inside + mode.side;
    for (const auto& [place, c] : lines.under) {
      if (!active[c]) throw Error("[Forward2d] a line that sensors stand on has air below it");
      int i = 0;
      while (s.node[c * n + i] != lines.node[place]) ++i;
      add_cell(c, i, first_left_over + place);
    }

    if (te) mode.load = tensor(load), mode.side_load = tensor(side_load);
  }

  void make_matrices() {
    const auto n_lines = static_cast<Index>(lines.node.size());
    const auto block = [&](Index r0, Index r1, Index c0, Index c1) {
      return Block2d(entries, media.count(), r0, r1, c0, c1, mode.constant);
    };
    const Index a = mode.inside, b = a + mode.side, d = b + mode.given;
    mode.matrix = block(0, a, 0, a);
    mode.coupling = block(0, a, a, d);
    mode.side_matrix = block(a, b, a, b);
    mode.side_coupling = block(a, b, b, d);
    mode.left_over = block(b, b + n_lines, 0, d);
    Entries2d sums;
    for (const int kind : {kind_mass, kind_robin}) {
      sums[kind] = entries[kind];
      for (Entry2d& e : sums[kind]) e.col = 0;
    }
    const auto sum_of = [&](Index r0, Index r1) {
      return Block2d(sums, media.count(), r0, r1, 0, 1, mode.constant);
    };
    mode.of_one = sum_of(0, a);
    mode.side_of_one = sum_of(a, b);
    mode.left_over_of_one = sum_of(b, b + n_lines);
    mode.sensitivity = std::make_shared<const LazySensitivity2d>(
        std::move(entries), media.parameters, b + n_lines, d, mode.constant);
    std::vector<Index> line_freedom;
    for (const Index node : lines.node) {
      if (mode.freedom[node] < 0)
        throw Error("[Forward2d] a line that sensors stand on leads through air");
      line_freedom.push_back(mode.freedom[node]);
    }
    mode.line_freedom = tensor(line_freedom);
    mode.on_ground = line_freedom.front();
  }
};

}  // namespace

Mode2d mode_2d(bool te, const Mesh2d& mesh, const Space2d& space, const CellIntegrals& integrals,
               const Media2d& media, const SensorLines& lines, const Forward2dOptions& options) {
  return std::move(ModeMaker(te, mesh, space, integrals, media, lines, options).mode);
}

}  // namespace tessera::inversion
