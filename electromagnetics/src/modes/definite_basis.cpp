// SPDX-License-Identifier: Apache-2.0
#include "modes/definite_basis.h"

#include <Eigen/Eigenvalues>
#include <Eigen/LU>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>

namespace tessera::electromagnetics::modes {
namespace {

using Dense = Eigen::MatrixXcd;

class Forms {
 public:
  Forms(const CrossSection& s, const YeeGrid& grid, int axis, const Vector& unreturned)
      : s_(s), unreturned_(unreturned) {
    sign_.resize(static_cast<Eigen::Index>(s.e.size())), weight_ = sign_;
    const int u = (axis + 1) % 3, v = (axis + 2) % 3;
    const auto share = [&](const Edge& e, int d) {
      const std::vector<double>& lines = grid.lines[static_cast<std::size_t>(d)];
      return (grid.position(e)[static_cast<std::size_t>(d)] - lines.front()) /
             (lines.back() - lines.front());
    };
    for (std::size_t k = 0; k < s.e.size(); ++k) {
      const int next = (axis_of(s.e[k].component) + 1) % 3;
      const auto at = static_cast<Eigen::Index>(k);
      sign_[at] = axis_of(s.h[k].component) == next ? 1 : -1;
      weight_[at] =
          sign_[at] * (std::pow(share(s.e[k], u), 2) + 0.618 * std::pow(share(s.e[k], v), 2));
    }
  }

  Dense power(const Dense& x) const {
    return symmetric(x.transpose() * (sign_.asDiagonal() * (s_.b * x)));
  }
  /// 0: of e_n, 1: of the current that bodies do not return, 2: of the place.
  static constexpr int count = 3;
  Dense form(int which, const Dense& x) const {
    if (which == 1) {
      const Dense current = unreturned_.transpose() * (s_.b * x);
      return symmetric(current.transpose() * current);
    }
    if (which == 2) return symmetric(x.transpose() * (weight_.asDiagonal() * (s_.b * x)));
    const Dense e_n = s_.e_n_of_h * (s_.b * x);
    return symmetric(e_n.transpose() * e_n);
  }

 private:
  static Dense symmetric(const Dense& m) { return 0.5 * (m + m.transpose()); }

  const CrossSection& s_;
  const Vector& unreturned_;
  Eigen::VectorXd sign_, weight_;
};

void split(const Forms& forms, int which, std::span<ModePair> group) {
  if (group.size() < 2 || which == Forms::count) return;
  const auto m = static_cast<Eigen::Index>(group.size());
  Dense x(group[0].vector.size(), m);
  for (Eigen::Index k = 0; k < m; ++k)
    x.col(k) = group[static_cast<std::size_t>(k)].vector.normalized();
  const Dense p = forms.power(x), f = forms.form(which, x);
  const Eigen::FullPivLU<Dense> lu(p);
  if (lu.rcond() < 1e-9) return;  // forward and backward in one, as at a cut-off
  const Eigen::ComplexEigenSolver<Dense> e(Dense(lu.solve(f)));
  std::vector<Eigen::Index> order(group.size());
  std::iota(order.begin(), order.end(), 0);
  const auto mu = [&](Eigen::Index k) { return e.eigenvalues()[k]; };
  const auto key = [&](Eigen::Index k) { return which < 2 ? std::abs(mu(k)) : mu(k).real(); };
  std::sort(order.begin(), order.end(),
            [&](Eigen::Index a, Eigen::Index b) { return key(a) < key(b); });
  const Dense y = x * e.eigenvectors();
  for (std::size_t k = 0; k < group.size(); ++k) group[k].vector = y.col(order[k]);
  // What this form does not tell apart the next one may.
  const double same =
      1e-6 * std::max(e.eigenvalues().cwiseAbs().maxCoeff(), 1 / p.cwiseAbs().maxCoeff());
  for (std::size_t first = 0, last; first < group.size(); first = last) {
    for (last = first + 1; last < group.size(); ++last)
      if (std::abs(mu(order[last]) - mu(order[first])) > same) break;
    split(forms, which + 1, group.subspan(first, last - first));
  }
}

}  // namespace

bool alike(const ModePair& a, const ModePair& b) {
  return std::abs(a.value - b.value) <= 1e-9 * std::max(std::abs(a.value), std::abs(b.value));
}

void make_definite(const CrossSection& s, const YeeGrid& grid, int axis,
                   const std::function<Vector()>& unreturned, std::vector<ModePair>& modes) {
  for (std::size_t first = 0, last; first < modes.size(); first = last) {
    Complex sum = modes[first].value;
    for (last = first + 1; last < modes.size() && alike(modes[first], modes[last]); ++last)
      sum += modes[last].value;
    if (last - first == 1) continue;
    for (std::size_t k = first; k < last; ++k)
      modes[k].value = sum / static_cast<double>(last - first);
    const Vector current = unreturned();
    split(Forms(s, grid, axis, current), 0, std::span(modes).subspan(first, last - first));
  }
}

}  // namespace tessera::electromagnetics::modes
