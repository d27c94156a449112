// SPDX-License-Identifier: Apache-2.0
#include "modes/cross_section.h"

#include "modes/plane_tensors.h"
#include "tessera/autodiff/error.h"
#include "tessera/electromagnetics/constants.h"
#include "time_domain/row_answer.h"

#include <Eigen/LU>
#include <Eigen/SparseCholesky>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <string>

namespace tessera::electromagnetics::modes {
namespace {

/// What falls off from edge to edge by a constant factor is nothing from here on.
constexpr double kFaint = 1e-17;

/// One component of the plane: its open edges, numbered, and what they answer with.
struct Part {
  int component = 0;
  std::vector<int> number;  ///< [places], -1: no unknown
  std::vector<Edge> edges;
  std::vector<Complex> immittance;  ///< Y or Z
};

class Plane {
 public:
  Plane(const YeeModel& model, const ModePlane& plane, double frequency_hz)
      : m_(model),
        n_(plane.axis),
        u_((n_ + 1) % 3),
        v_((n_ + 2) % 3),
        line_(plane.line),
        z_(std::polar(1.0, 2 * std::numbers::pi * frequency_hz * model.dt_s)) {
    for (int d = 0; d < 3; ++d)
      if (m_.grid.resolved(d)) unit_ = std::min(unit_, m_.grid.smallest_length(d));
    require_window(plane);
    require_even_cells();
  }

  CrossSection made() {
    Part eu = part(u_), ev = part(v_), en = part(n_), hu = part(3 + u_), hv = part(3 + v_),
         hn = part(3 + n_);
    const Part held_v = pair(eu, hv), held_u = pair(ev, hu);
    CrossSection out;
    out.cell = m_.grid.length(n_, line_);
    out.reference = unit_;
    out.steps_per_cell = out.cell / (speed_of_light * m_.dt_s);
    out.densest = eps_ * mu_;
    for (const int d : {u_, v_})
      if (!m_.grid.resolved(d)) out.depth *= m_.grid.length(d, 0);
    const auto append_edges = [](std::vector<Edge>& to, const Part& p) {
      to.insert(to.end(), p.edges.begin(), p.edges.end());
    };
    append_edges(out.e, eu), append_edges(out.e, ev);
    append_edges(out.h, hv), append_edges(out.h, hu);
    append_edges(out.held, held_v), append_edges(out.held, held_u);
    append_edges(out.e_n, en), append_edges(out.h_n, hn);
    for (const auto& [edges, scales] :
         {std::pair(&out.e, &out.e_scale), std::pair(&out.h, &out.h_scale),
          std::pair(&out.held, &out.held_scale)})
      for (const Edge& e : *edges) scales->push_back(scale(e));
    if (out.e.empty()) throw Error("[grid_modes] the plane has no edge that is not metal: no mode");

    // Differences go to the edge that takes them, whose layer stretches them.
    const Matrix slope_of_e = stacked(difference(hv, u_, en, 1, eu), difference(hu, v_, en, 1, ev)),
                 slope_of_h = stacked(difference(eu, v_, hn, 1), difference(ev, u_, hn, 1)),
                 around_held =
                     beside(difference(en, u_, held_v, 1), difference(en, v_, held_u, -1));
    out.held_of_e_n = inverse(held_v, held_u) *
                      stacked(difference(held_v, u_, en, 1), difference(held_u, v_, en, -1));
    out.e_n_of_h = solved(en, around_held * out.held_of_e_n) *
                   beside(difference(en, u_, hv, 1), difference(en, v_, hu, -1));
    out.h_n_of_e = inverse(hn, {}) * beside(difference(hn, v_, eu, 1), difference(hn, u_, ev, -1));
    out.a = slope_of_e * out.e_n_of_h;
    out.a += diagonal(hv, -1.0, hu, 1.0);
    out.b = slope_of_h * out.h_n_of_e;
    out.b += admittance(out.e, eu, ev);
    return out;
  }

 private:
  using Triplets = std::vector<Eigen::Triplet<Complex>>;

  static void append(Triplets& t, const Matrix& m, Eigen::Index row, Eigen::Index col) {
    for (Eigen::Index r = 0; r < m.outerSize(); ++r)
      for (Matrix::InnerIterator i(m, r); i; ++i)
        t.emplace_back(static_cast<int>(i.row() + row), static_cast<int>(i.col() + col), i.value());
  }
  static Matrix made_of(const Triplets& t, Eigen::Index rows, Eigen::Index cols) {
    Matrix out(rows, cols);
    out.setFromTriplets(t.begin(), t.end());
    return out;
  }
  static Matrix stacked(const Matrix& top, const Matrix& bottom) {
    Triplets t;
    append(t, top, 0, 0), append(t, bottom, top.rows(), 0);
    return made_of(t, top.rows() + bottom.rows(), top.cols());
  }
  static Matrix beside(const Matrix& left, const Matrix& right) {
    Triplets t;
    append(t, left, 0, 0), append(t, right, 0, left.cols());
    return made_of(t, left.rows(), left.cols() + right.cols());
  }
  static Matrix diagonal(const Part& first, double sign_first, const Part& second,
                         double sign_second) {
    Triplets t;
    const auto add = [&](const Complex& y) {
      t.emplace_back(static_cast<int>(t.size()), static_cast<int>(t.size()), y);
    };
    for (const Complex& y : first.immittance) add(sign_first * y);
    for (const Complex& y : second.immittance) add(sign_second * y);
    const auto n = static_cast<Eigen::Index>(t.size());
    return made_of(t, n, n);
  }
  static Matrix inverse(const Part& first, const Part& second) {
    Matrix out = diagonal(first, 1.0, second, 1.0);
    for (Eigen::Index r = 0; r < out.outerSize(); ++r)
      for (Matrix::InnerIterator i(out, r); i; ++i) i.valueRef() = 1.0 / i.value();
    return out;
  }
  /// -Y of e_u, Y of e_v. Where tensors couple edges, Y is the inverse of a matrix: of an edge
  /// without loss or poles (z - 1) e = z^{1/2} (inverse G u + what steps add of other brackets).
  Matrix admittance(const std::vector<Edge>& edges, const Part& eu, const Part& ev) const {
    const std::vector<PlaneCoupling> couplings = plane_couplings(m_, n_, line_, edges);
    if (couplings.empty()) return diagonal(eu, -1.0, ev, 1.0);
    const Complex step = (z_ - 1.0) / std::sqrt(z_);
    std::vector<int> place_of(edges.size(), -1);
    std::vector<std::size_t> coupled;
    std::vector<Eigen::Triplet<double>> entries;
    for (const PlaneCoupling& c : couplings) {
      for (const std::size_t k : {c.to, c.from})
        if (place_of[k] < 0) place_of[k] = static_cast<int>(coupled.size()), coupled.push_back(k);
      entries.emplace_back(place_of[c.to], place_of[c.from], c.weight);
    }
    std::vector<double> own(coupled.size());
    for (const PlaneCoupling& c : couplings) own[static_cast<std::size_t>(place_of[c.to])] = c.own;
    for (std::size_t q = 0; q < own.size(); ++q)
      entries.emplace_back(static_cast<int>(q), static_cast<int>(q), own[q]);
    const auto n = static_cast<Eigen::Index>(coupled.size());
    Eigen::SparseMatrix<double> m(n, n);
    m.setFromTriplets(entries.begin(), entries.end());
    const Eigen::SimplicialLDLT<Eigen::SparseMatrix<double>> factors(m);
    Triplets t;
    const std::size_t of_u = eu.edges.size();
    const auto add = [&](std::size_t row, std::size_t col, const Complex& y) {
      t.emplace_back(static_cast<int>(row), static_cast<int>(col), row < of_u ? -y : y);
    };
    for (std::size_t k = 0; k < edges.size(); ++k)
      if (place_of[k] < 0) add(k, k, k < of_u ? eu.immittance[k] : ev.immittance[k - of_u]);
    for (Eigen::Index col = 0; col < n; ++col) {
      const Eigen::VectorXd x = factors.solve(Eigen::VectorXd::Unit(n, col));
      const double least = kFaint * x.cwiseAbs().maxCoeff();
      for (Eigen::Index row = 0; row < n; ++row)
        if (std::abs(x[row]) > least)
          add(coupled[static_cast<std::size_t>(row)], coupled[static_cast<std::size_t>(col)],
              step * x[row]);
    }
    const auto all = static_cast<Eigen::Index>(edges.size());
    return made_of(t, all, all);
  }
  /// (Y - m)^-1, where m joins few edges to each other: by groups of those that it joins.
  static Matrix solved(const Part& p, const Matrix& m) {
    const auto n = static_cast<int>(p.edges.size());
    std::vector<int> group(static_cast<std::size_t>(n));
    std::iota(group.begin(), group.end(), 0);
    const auto root = [&](int k) {
      while (group[static_cast<std::size_t>(k)] != k) k = group[static_cast<std::size_t>(k)];
      return k;
    };
    for (Eigen::Index r = 0; r < m.outerSize(); ++r)
      for (Matrix::InnerIterator i(m, r); i; ++i) {
        const int a = root(static_cast<int>(i.row())), b = root(static_cast<int>(i.col()));
        group[static_cast<std::size_t>(std::max(a, b))] = std::min(a, b);
      }
    std::vector<std::vector<int>> members(static_cast<std::size_t>(n));
    for (int k = 0; k < n; ++k) members[static_cast<std::size_t>(root(k))].push_back(k);
    Triplets t;
    for (const std::vector<int>& of : members) {
      const auto size = static_cast<Eigen::Index>(of.size());
      Eigen::MatrixXcd block(size, size);
      for (Eigen::Index i = 0; i < size; ++i)
        for (Eigen::Index j = 0; j < size; ++j)
          block(i, j) = (i == j ? p.immittance[static_cast<std::size_t>(of[i])] : Complex(0)) -
                        m.coeff(of[static_cast<std::size_t>(i)], of[static_cast<std::size_t>(j)]);
      const Eigen::MatrixXcd back = block.inverse();
      for (Eigen::Index i = 0; i < size; ++i)
        for (Eigen::Index j = 0; j < size; ++j)
          t.emplace_back(of[static_cast<std::size_t>(i)], of[static_cast<std::size_t>(j)],
                         back(i, j));
    }
    return made_of(t, n, n);
  }

  void require_even_cells() const {
    const int cells = m_.grid.cells(n_);
    const bool joined = m_.faces[n_].low == Boundary::periodic;
    const std::string where =
        "the plane at line " + std::to_string(line_) + " of axis " + "xyz"[n_];
    if (!m_.grid.resolved(n_))
      throw Error("[grid_modes] axis " + std::string(1, "xyz"[n_]) +
                  " is not resolved: nothing travels along it");
    if (line_ < (joined ? 0 : 1) || line_ >= cells)
      throw Error("[grid_modes] " + where +
                  " has no cells at both sides: the lines inside are 1 to " +
                  std::to_string(cells - 1));
    if (line_ == 0 && m_.bloch_phase[n_] != 0)
      throw Error("[grid_modes] " + where +
                  " is the seam of faces that are joined with a phase: move it by a cell");
    const double before = m_.grid.length(n_, (line_ + cells - 1) % cells),
                 behind = m_.grid.length(n_, line_);
    if (std::abs(before - behind) > 1e-9 * behind)
      throw Error(
          fmt::format("[grid_modes] the cells at both sides of {} are {:.6g} and {:.6g} m long; a "
                      "mode of the grid needs equal ones",
                      where, before, behind));
    for (const bool middles : {false, true}) {
      const PmlProfile p = pml_profile(m_.grid.lines[n_], m_.faces[n_], m_.pml, m_.dt_s, middles);
      for (int i = line_ - 1; i <= line_ + 1 && p.any(); ++i)
        if (i >= 0 && i <= cells && p.b[static_cast<std::size_t>(i)] != 0)
          throw Error("[grid_modes] " + where + " lies in an absorbing layer");
    }
    for (const int d : {u_, v_})
      if (m_.grid.resolved(d) && !cut(d) && m_.faces[d].low == Boundary::periodic &&
          m_.bloch_phase[d] != 0)
        throw Error("[grid_modes] " + where + " crosses faces that are joined with a phase");
    for (const int at : {line_, line_ + 1})
      if (couples_along(m_, n_, at, low_, high_))
        throw Error("[grid_modes] " + where +
                    " has tensors that couple fields across the guide to those along it, of faces "
                    "that do not run along it: average without them");
  }

  void require_window(const ModePlane& plane) {
    for (const int q : {0, 1}) {
      const int d = q == 0 ? u_ : v_, cells = m_.grid.cells(d);
      const int low = plane.low[static_cast<std::size_t>(q)],
                high = plane.high[static_cast<std::size_t>(q)];
      low_[d] = low < 0 ? 0 : low, high_[d] = high < 0 ? cells : high;
      if (low_[d] >= high_[d] || high_[d] > cells)
        throw Error("[grid_modes] the plane goes from line " + std::to_string(low_[d]) + " to " +
                    std::to_string(high_[d]) + " of axis " + "xyz"[d] + ", which has " +
                    std::to_string(cells) + " cells");
    }
  }
  /// Whether walls bound the plane along an axis, inside of the domain.
  bool cut(int d) const { return d != n_ && high_[d] - low_[d] < m_.grid.cells(d); }
  /// Length of an edge, or of the dual one, over the reference length.
  double scale(const Edge& e) const {
    const int d = axis_of(e.component), at[3] = {e.i, e.j, e.k};
    return is_electric(e.component) ? m_.grid.length(d, at[d]) / unit_ * m_.open.length_fraction(e)
                                    : m_.grid.dual_length(d, at[d], wraps(d)) / unit_;
  }

  int places() const { return (m_.grid.cells(u_) + 1) * (m_.grid.cells(v_) + 1); }
  int place(int at_u, int at_v) const { return at_v * (m_.grid.cells(u_) + 1) + at_u; }
  bool wraps(int d) const { return !m_.grid.resolved(d) || m_.faces[d].low == Boundary::periodic; }
  /// Indices that the step moves.
  std::pair<int, int> range(int c, int d) const {
    const int cells = m_.grid.cells(d);
    if (!m_.active[c]) return {0, 0};
    if (at_middle(c, d)) return {low_[d], high_[d]};
    if (!cut(d) && wraps(d)) return {0, cells};
    return {low_[d] == 0 && m_.faces[d].low == Boundary::pmc ? 0 : low_[d] + 1,
            high_[d] == cells && m_.faces[d].high == Boundary::pmc ? cells + 1 : high_[d]};
  }
  double metric(int c, int d, int i) const {
    const double length =
        (at_middle(c, d) ? m_.grid.length(d, i) : m_.grid.dual_length(d, i, wraps(d))) / unit_;
    return d == axis_of(c) ? length : 1 / length;
  }

  Part part(int c) {
    Part out{c, std::vector<int>(static_cast<std::size_t>(places()), -1), {}, {}};
    std::pair<int, int> of[3];
    for (int d = 0; d < 3; ++d) of[d] = d == n_ ? std::pair(line_, line_ + 1) : range(c, d);
    if (!m_.active[c]) return out;
    const auto length = static_cast<std::size_t>(m_.grid.cells(0)) + 1;
    MaterialRow row{std::vector<double>(length), std::vector<double>(length), {}, {}};
    for (int k = of[2].first; k < of[2].second; ++k)
      for (int j = of[1].first; j < of[1].second; ++j) {
        std::fill(row.inverse.begin(), row.inverse.end(), 1.0);
        std::fill(row.loss.begin(), row.loss.end(), 0.0);
        row.dispersive.clear();
        row.nonlinear.clear();
        if (m_.material) m_.material(c, j, k, row);
        for (int i = of[0].first; i < of[0].second; ++i) {
          const Edge edge{static_cast<std::uint8_t>(c), i, j, k};
          const double open = m_.open.share(edge);
          if (row.inverse[static_cast<std::size_t>(i)] == 0 || m_.open.fraction(edge) == 0)
            continue;
          const int at[3] = {i, j, k};
          double gain = speed_of_light * m_.dt_s / unit_ * (is_electric(c) ? open : 1 / open);
          for (int d = 0; d < 3; ++d) gain *= metric(c, d, at[d]);
          const Complex y = answer(row, edge);
          (is_electric(c) ? eps_ : mu_) =
              std::max(is_electric(c) ? eps_ : mu_, (y / (z_ - 1.0)).real());
          out.number[static_cast<std::size_t>(place(at[u_], at[v_]))] =
              static_cast<int>(out.edges.size());
          out.edges.push_back(edge);
          out.immittance.push_back(y / (std::sqrt(z_) * gain));
        }
      }
    return out;
  }
  Complex answer(const MaterialRow& row, const Edge& edge) const {
    for (const NonlinearRun& run : row.nonlinear)
      if (edge.i >= run.first && edge.i < run.first + static_cast<int>(run.chi2.size()))
        throw Error("[grid_modes] a medium in the plane is nonlinear: it has no modes");
    return row_answer(row, edge.i, z_);
  }

  /// Keeps the edges where e and the face half a cell further on are both unknowns; gives the faces
  /// whose edge is metal, where h follows from e_n alone.
  Part pair(Part& e, Part& h) const {
    const Part was_e = std::move(e), was_h = std::move(h);
    const auto among = [&](const Part& part, auto&& wanted) {
      Part kept{part.component, std::vector<int>(part.number.size(), -1), {}, {}};
      for (std::size_t p = 0; p < part.number.size(); ++p) {
        if (part.number[p] < 0 || !wanted(p)) continue;
        kept.number[p] = static_cast<int>(kept.edges.size());
        kept.edges.push_back(part.edges[static_cast<std::size_t>(part.number[p])]);
        kept.immittance.push_back(part.immittance[static_cast<std::size_t>(part.number[p])]);
      }
      return kept;
    };
    e = among(was_e, [&](std::size_t p) { return was_h.number[p] >= 0; });
    h = among(was_h, [&](std::size_t p) { return was_e.number[p] >= 0; });
    return among(was_h, [&](std::size_t p) { return was_e.number[p] < 0; });
  }

  /// The factor by which a layer stretches what edges of component c take along d.
  std::vector<Complex> stretch(int c, int d) const {
    std::vector<Complex> out(static_cast<std::size_t>(m_.grid.cells(d)) + 1, 1.0);
    if (!m_.grid.resolved(d)) return out;
    const PmlProfile p =
        pml_profile(m_.grid.lines[d], m_.faces[d], m_.pml, m_.dt_s, at_middle(c, d));
    for (std::size_t i = 0; i < out.size() && p.any(); ++i)
      out[i] += p.m[i] + p.c[i] / (1.0 - p.b[i] / z_);
    return out;
  }
  Matrix difference(const Part& to, int d, const Part& from, double sign) const {
    return difference(to, d, from, sign, to);
  }
  /// Times `sign`, what the edges `to` take along d of `from`; to the rows of `rows`, whose places
  /// across n are those of `to`.
  Matrix difference(const Part& to, int d, const Part& from, double sign, const Part& rows) const {
    Triplets t;
    const std::vector<Complex> s = stretch(to.component, d);
    const int cells = m_.grid.cells(d), other = d == u_ ? v_ : u_;
    const bool forward = !is_electric(to.component);
    const auto add = [&](int row, int i, int across, const Complex& by) {
      if (wraps(d) && !cut(d)) i = (i + cells) % cells;
      if (i < 0 || i > cells) return;
      const int p = d == u_ ? place(i, across) : place(across, i);
      if (const int col = from.number[static_cast<std::size_t>(p)]; col >= 0)
        t.emplace_back(row, col, by);
    };
    if (m_.grid.resolved(d))
      for (const Edge& e : to.edges) {
        const int at[3] = {e.i, e.j, e.k};
        const int row = rows.number[static_cast<std::size_t>(place(at[u_], at[v_]))];
        if (row < 0) continue;
        const Complex by = sign * s[static_cast<std::size_t>(at[d])];
        add(row, at[d] + (forward ? 1 : 0), at[other], by);
        add(row, at[d] - (forward ? 0 : 1), at[other], -by);
      }
    return made_of(t, static_cast<Eigen::Index>(rows.edges.size()),
                   static_cast<Eigen::Index>(from.edges.size()));
  }

  const YeeModel& m_;
  int n_, u_, v_, line_;
  int low_[3] = {}, high_[3] = {};
  Complex z_;
  double unit_ = INFINITY, eps_ = 0, mu_ = 0;
};

}  // namespace

CrossSection cross_section(const YeeModel& model, const ModePlane& plane, double frequency_hz) {
  return Plane(model, plane, frequency_hz).made();
}

}  // namespace tessera::electromagnetics::modes
