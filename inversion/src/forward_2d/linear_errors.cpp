// SPDX-License-Identifier: Apache-2.0
//
// The error of a functional J of a Galerkin solution is a(u - u_h, z - z_h), z the dual solution,
// a(., z) = J (R. Becker, R. Rannacher 2001, doi:10.1017/S0962492901000010). With shapes of order 2
// at hand u - u_h of order 1 is about what they have beyond the linear ones, cell by cell.
#include "body.h"
#include "tessera/autodiff/error.h"

#include <cmath>

namespace tessera::inversion {
namespace {

/// Values at a cell's nodes less the linear field through its corners.
template <class At>
std::array<c128, 9> beyond_linear(const Space2d& s, const At& at) {
  std::array<c128, 9> out{};
  for (int k = 0; k < s.corners; ++k)
    out[s.corners + k] = at(s.corners + k) - 0.5 * (at(k) + at((k + 1) % s.corners));
  if (s.corners == 4) out[8] = at(8) - 0.25 * (at(0) + at(1) + at(2) + at(3));
  return out;
}

/// Adds the squares of one mode's data at one frequency.
struct Adder {
  const Space2d& space;
  const CellIntegrals& integrals;
  const Media2d& media;
  const SensorLines& lines;
  std::vector<double>& squares;

  void add(const Mode2d& mode, const Coefficients2d& c, double w_mu, const Solved& s,
           const Tensor& lambda, const std::vector<double>& scale) const {
    const auto u = (s.base + s.rise).to_vector<c128>(), l = lambda.to_vector<c128>();
    std::array<std::vector<double>, kinds_2d> of_media;
    for (int k = 0; k < kinds_2d; ++k)
      of_media[k] = c[k].defined()
                        ? c[k].to_vector<double>()
                        : std::vector<double>(static_cast<std::size_t>(media.count()), 1.0);
    const std::size_t sensors = scale.size();
    const int n = space.per_cell;
    // What the functionals themselves take at the lines' nodes, in the cells below them.
    std::vector<std::vector<std::pair<int, Index>>> below(static_cast<std::size_t>(space.cells()));
    for (const auto& [place, cell] : lines.under)
      for (int i = 0; i < n; ++i)
        if (space.node[cell * n + i] == lines.node[place]) below[cell].emplace_back(i, place);
    for (Index cell = 0; cell < space.cells(); ++cell) {
      const Index* node = &space.node[cell * n];
      bool active = true;
      for (int i = 0; i < n; ++i) active = active && mode.freedom[node[i]] >= 0;
      if (!active) continue;
      const auto field = beyond_linear(space, [&](int i) { return u[mode.freedom[node[i]]]; });
      const Index m = media.of_cell[cell];
      std::array<c128, 9> product{};
      for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j) {
          const Index at = (cell * n + i) * n + j;
          product[i] += c128(of_media[kind_yy][m] * integrals.yy[at] +
                                 of_media[kind_zz][m] * integrals.zz[at],
                             w_mu * of_media[kind_mass][m] * integrals.mass[at]) *
                        field[j];
        }
      for (std::size_t k = 0; k < sensors; ++k) {
        std::array<c128, 9> dual{};
        for (int i = 0; i < n; ++i)
          if (const Index f = mode.freedom[node[i]]; f < mode.inside) dual[i] = -l[f * sensors + k];
        for (const auto& [i, place] : below[cell])
          dual[i] -= l[(mode.inside + mode.side + place) * sensors + k];
        const auto weight = beyond_linear(space, [&](int i) { return dual[i]; });
        c128 sum = 0;
        for (int i = 0; i < n; ++i) sum += weight[i] * product[i];
        squares[cell] += std::norm(sum) * scale[k] * scale[k];
      }
    }
  }
};

std::vector<double> per_size(const Tensor& value) {
  std::vector<double> out;
  for (const c128& z : value.to_vector<c128>()) out.push_back(1 / std::abs(z));
  return out;
}

}  // namespace

std::vector<double> Forward2d::linear_errors(const Tensor& ln_rho) const {
  const Body& b = *body_;
  b.require_model(ln_rho);
  if (b.space.order != 2) throw Error("[Forward2d::linear_errors] takes shapes of order 2");
  const Axes a = axes_of(ln_rho, b.media);
  std::vector<double> squares(static_cast<std::size_t>(b.space.cells()), 0.0);
  const Adder adder{b.space, b.integrals, b.media, b.lines, squares};
  for (Index k = 0; k < b.w_mu.size(); ++k) {
    const Tensor w = select(b.w_mu, 0, k);
    const Frequency2d f(w);
    const auto add = [&](const Mode2d& mode, const Coefficients2d& c, const Solved& s,
                         const Datum& d, bool relative) {
      adder.add(mode, c, w.item(), s, b.multipliers(mode, s, d.change),
                relative ? per_size(d.value)
                         : std::vector<double>(static_cast<std::size_t>(b.sensors()), 1.0));
    };
    if (b.te) {
      const Coefficients2d c = coefficients(true, a);
      const Solved s = solved(*b.te, c, f, b.solver);
      const LineValues v = line_values(*b.te, b.lines, s);
      add(*b.te, c, s, b.te_impedance(v, f), true);
      if (b.tipper) add(*b.te, c, s, b.te_tipper(v), false);
    }
    if (b.tm) {
      const Coefficients2d c = coefficients(false, a);
      const Solved s = solved(*b.tm, c, f, b.solver);
      add(*b.tm, c, s, b.tm_impedance(line_values(*b.tm, b.lines, s), a), true);
    }
  }
  for (double& e : squares) e = std::sqrt(e);
  return squares;
}

}  // namespace tessera::inversion
