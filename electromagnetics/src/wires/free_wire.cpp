// SPDX-License-Identifier: Apache-2.0
#include "tessera/electromagnetics/free_wire.h"

#include "tessera/electromagnetics/constants.h"
#include "wires/layout.h"
#include "wires/spread.h"

#include <Eigen/Cholesky>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

namespace tessera::electromagnetics {
namespace {

constexpr std::size_t most_segments = 3000;  ///< matrices of 70 MB

bool is_definite(const Eigen::MatrixXd& m) {
  return m.rows() == 0 || Eigen::LLT<Eigen::MatrixXd>(m).info() == Eigen::Success;
}
std::vector<double> row_major(const Eigen::MatrixXd& symmetric) {
  return {symmetric.data(), symmetric.data() + symmetric.size()};
}

class MakingNetwork {
 public:
  MakingNetwork(const YeeModel& model, std::span<const ThinWire> wires,
                std::span<const WireElement> elements,
                const std::array<std::array<int, 2>, 3>& layers)
      : model_(model), wires_(wires), given_(elements) {
    for (const double phase : model.bloch_phase)
      if (phase != 0)
        throw WireFault(0, false,
                        "it runs between lines of the grid, which no faces that are joined with a "
                        "phase go with");
    laid_ = wires::lay_out(model, wires, elements, layers);
    if (laid_.layout.segments.size() > most_segments)
      throw WireFault(0, false,
                      fmt::format("wires between lines of the grid have {} segments of a cell, and "
                                  "{} are the most",
                                  laid_.layout.segments.size(), most_segments));
  }

  WireNetwork make() {
    share_edges();
    const wires::Matrices m = wires::wire_matrices(laid_.layout);
    number_nodes();
    keep(m);
    return std::move(out_);
  }

 private:
  using Cells = std::array<double, 3>;

  /// What lies behind a mirror is what lies in front of it.
  std::optional<wires::EdgeShare> folded(wires::EdgeShare s) const {
    for (const wires::Mirror& m : laid_.layout.mirrors) {
      const bool along = s.at[0] == m.axis;
      int& i = s.at[static_cast<std::size_t>(1 + m.axis)];
      if (!along && i == m.line && m.sign < 0) return {};
      const bool behind = m.line == 0 ? i < 0 : (along ? i >= m.line : i > m.line);
      if (!behind) continue;
      i = 2 * m.line - i - (along ? 1 : 0);
      s.weight *= along ? -m.sign : m.sign;
    }
    return s;
  }
  void share_edges() {
    std::map<std::array<int, 4>, std::int32_t> known;
    for (const wires::Segment& s : laid_.layout.segments) {
      std::map<std::int32_t, double> shares;
      for (const wires::EdgeShare& of_space : wires::current_shares(node(s.from), node(s.to))) {
        const auto x = folded(of_space);
        if (!x) continue;
        const auto [at, fresh] =
            known.try_emplace(x->at, static_cast<std::int32_t>(out_.edges.size()));
        if (fresh) {
          const Edge e{static_cast<std::uint8_t>(x->at[0]), x->at[1], x->at[2], x->at[3]};
          check_edge(e, s.wire);
          out_.edges.push_back(e);
        }
        shares[at->second] += x->weight;
      }
      out_.shares.emplace_back();
      for (const auto& [edge, weight] : shares) out_.shares.back().push_back({edge, weight});
    }
    laid_.layout.eps = 1 / *inverse_;
  }
  /// All edges are in one medium, without loss, poles or conductors.
  void check_edge(const Edge& e, std::size_t wire) {
    const auto fail = [&](const char* what) {
      const Point p = model_.grid.position(e);
      throw WireFault(
          wire, false,
          fmt::format("between lines of the grid, a wire keeps two cells away from what is not the "
                      "medium around it, and at ({:.6g}, {:.6g}, {:.6g}) m there is {}",
                      p[0], p[1], p[2], what));
    };
    if (model_.open.fraction(e) != 1) fail("a conductor");
    if (model_.open.share(e) != 1) fail("the rim of a conductor, or a wire on lines of the grid");
    const MaterialRow& row = row_of(e.component, e.j, e.k);
    const auto i = static_cast<std::size_t>(e.i);
    if (row.inverse[i] == 0) fail("a conductor");
    if (!inverse_) inverse_ = row.inverse[i];
    if (std::abs(row.inverse[i] - *inverse_) > 1e-9 * *inverse_) fail("another medium");
    if (row.loss[i] != 0) fail("a medium with loss, or an element");
    const auto within = [&](int first, std::size_t length) {
      return e.i >= first && e.i < first + static_cast<int>(length);
    };
    for (const DispersiveRun& run : row.dispersive)
      if (within(run.first, run.weight.size())) fail("a dispersive medium, or an element");
    for (const NonlinearRun& run : row.nonlinear)
      if (within(run.first, run.chi3.size())) fail("a nonlinear medium");
    const MaterialRow& magnetic = row_of(3 + e.component, e.j, e.k);
    if (std::abs(magnetic.inverse[i] - 1) > 1e-9 || magnetic.loss[i] != 0)
      fail("a magnetic medium");
  }
  const MaterialRow& row_of(int component, int j, int k) {
    const auto [at, fresh] = rows_.try_emplace({component, j, k});
    if (fresh) {
      const auto size = static_cast<std::size_t>(model_.grid.cells(0)) + 1;
      at->second.inverse.assign(size, 1.0), at->second.loss.assign(size, 0.0);
      if (model_.material) model_.material(component, j, k, at->second);
    }
    return at->second;
  }

  /// Charges of ends on an electric wall are the wall's.
  void number_nodes() {
    for (const Cells& x : laid_.layout.nodes) {
      const bool held = std::any_of(
          laid_.layout.mirrors.begin(), laid_.layout.mirrors.end(), [&](const wires::Mirror& m) {
            return m.sign < 0 && x[static_cast<std::size_t>(m.axis)] == m.line;
          });
      numbers_.push_back(held ? -1 : out_.n_nodes++);
    }
    for (const wires::Segment& s : laid_.layout.segments)
      out_.ends.push_back(
          {numbers_[static_cast<std::size_t>(s.from)], numbers_[static_cast<std::size_t>(s.to)]});
  }
  void keep(const wires::Matrices& m) {
    Eigen::MatrixXd elastance(out_.n_nodes, out_.n_nodes);
    for (std::size_t a = 0; a < numbers_.size(); ++a)
      for (std::size_t b = 0; b < numbers_.size(); ++b)
        if (numbers_[a] >= 0 && numbers_[b] >= 0)
          elastance(numbers_[a], numbers_[b]) =
              m.elastance(static_cast<Eigen::Index>(a), static_cast<Eigen::Index>(b));
    Eigen::MatrixXd inductance = m.inductance;
    for (std::size_t e = 0; e < given_.size(); ++e) {
      WireNetwork::Element& element = out_.elements.emplace_back();
      element.values = given_[e];
      for (const auto& [segment, share] : laid_.elements[e])
        element.shares.push_back({segment, share});
      for (const WireNetwork::Share& a : element.shares)
        for (const WireNetwork::Share& b : element.shares)
          inductance(a.of, b.of) += given_[e].inductance_h * a.weight * b.weight;
    }
    const auto n = inductance.rows();
    Eigen::MatrixXd divergence = Eigen::MatrixXd::Zero(out_.n_nodes, n);
    for (Eigen::Index s = 0; s < n; ++s) {
      const auto [from, to] = out_.ends[static_cast<std::size_t>(s)];
      if (from >= 0) divergence(from, s) -= 1;
      if (to >= 0) divergence(to, s) += 1;
    }
    // Of a capacitor, what it stores in a step acts back at once, as charges do.
    Eigen::MatrixXd back =
        m.reaction + model_.dt_s * divergence.transpose() * elastance * divergence;
    for (const WireNetwork::Element& e : out_.elements)
      if (e.values.capacitance_f)
        for (const WireNetwork::Share& a : e.shares)
          for (const WireNetwork::Share& b : e.shares)
            back(a.of, b.of) += model_.dt_s / *e.values.capacitance_f * a.weight * b.weight;
    if (!is_definite(elastance) || !is_definite(inductance))
      throw WireFault(0, false,
                      "wires between lines of the grid are nearer to each other than their radii");
    if (!is_definite(inductance / model_.dt_s - back / 4))
      throw WireFault(0, false,
                      "between lines of the grid, it grows with this time step: take a smaller one "
                      "(run.courant), longer pieces, or larger capacitances");
    out_.inductance = row_major(inductance);
    out_.elastance = row_major(elastance);
  }
  const Cells& node(std::int32_t n) const {
    return laid_.layout.nodes[static_cast<std::size_t>(n)];
  }

  const YeeModel& model_;
  std::span<const ThinWire> wires_;
  std::span<const WireElement> given_;
  wires::Laid laid_;
  std::vector<std::int32_t> numbers_;  ///< [nodes]
  std::map<std::array<int, 3>, MaterialRow> rows_;
  std::optional<double> inverse_;  ///< 1/eps
  WireNetwork out_;
};

}  // namespace

std::shared_ptr<const WireNetwork> wire_network(const YeeModel& model,
                                                std::span<const ThinWire> wires,
                                                std::span<const WireElement> elements,
                                                const std::array<std::array<int, 2>, 3>& layers) {
  return std::make_shared<WireNetwork>(MakingNetwork(model, wires, elements, layers).make());
}

}  // namespace tessera::electromagnetics
