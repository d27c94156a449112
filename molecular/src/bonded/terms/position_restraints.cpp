// SPDX-License-Identifier: Apache-2.0
//
// U = sum_d k_d/2 e_d^2 with e = x - x0 - n h, the nearest image of the position x0.
#include "base/vec.h"
#include "bonded/bonded_term.h"
#include "energy/generic.h"
#include "system/box_of.h"

#include <cmath>

namespace tessera::molecular {
namespace {

class PositionRestraint final : public BondedTerm {
 public:
  explicit PositionRestraint(const System& s)
      : terms_(s.position_restraints), n_(static_cast<Index>(s.n_atoms())) {}

  const char* name() const override { return name_of(kind()); }
  Term kind() const override { return Term::position_restraints; }
  std::size_t size() const override { return terms_.size(); }
  std::vector<tessera::Shape> shapes() const override {
    return {{n_, 3}, {3, 3}, {static_cast<Index>(terms_.rows.size()), 6}};
  }

  double value(Arrays p) const override {
    double sum = 0;
    each(p, [&](std::size_t, std::size_t row, const Vec3& e, const Vec3&) {
      for (std::size_t d = 0; d < 3; ++d) sum += 0.5 * p[2][row + d] * e[d] * e[d];
    });
    return sum;
  }
  void gradient(Arrays p, Results g) const override {
    each(p, [&](std::size_t x, std::size_t row, const Vec3& e, const Vec3& image) {
      for (std::size_t d = 0; d < 3; ++d)
        spread(g, x, row, d, image, p[2][row + d] * e[d], 0.5 * e[d] * e[d]);
    });
  }
  void hessian_product(Arrays p, Arrays v, Results w) const override {
    each(p, [&](std::size_t x, std::size_t row, const Vec3& e, const Vec3& image) {
      for (std::size_t d = 0; d < 3; ++d) {
        double de = (v[0] ? v[0][x + d] : 0) - (v[2] ? v[2][row + 3 + d] : 0);
        if (v[1])
          for (std::size_t k = 0; k < 3; ++k) de -= image[k] * v[1][3 * k + d];
        const double dk = v[2] ? v[2][row + d] : 0;
        spread(w, x, row, d, image, p[2][row + d] * de + dk * e[d], e[d] * de);
      }
    });
  }
  Tensor generic(std::span<const Tensor> p) const override {
    std::vector<std::int32_t> atom;
    for (const auto& a : terms_.atoms) atom.push_back(a[0]);
    const Tensor rows = take(p[2], generic::indices(terms_.row));
    const Tensor e =
        generic::wrapped(take(p[0], generic::indices(atom)) - slice(rows, 1, 3, 6), p[1]);
    return 0.5 * sum(slice(rows, 1, 0, 3) * e * e);
  }

  void add(const Vec3* x, const Box& box, std::size_t begin, std::size_t end,
           Sums& sums) const override {
    for (std::size_t t = begin; t < end; ++t) {
      const auto& row = terms_.rows[static_cast<std::size_t>(terms_.row[t])];
      const Vec3 &at = x[terms_.atoms[t][0]], stays = {row[3], row[4], row[5]};
      const Vec3 e = wrapped(box, difference(at, stays));
      Vec3 f;
      double u = 0;
      for (std::size_t d = 0; d < 3; ++d) {
        f[d] = -row[d] * e[d];
        u += 0.5 * row[d] * e[d] * e[d];
      }
      sums.add_energy(kind(), u);
      sums.add_force(terms_.atoms[t][0], f);
      sums.add_virial(sum(e, stays), f);  // x - n h: x0 stays where positions and box are strained
    }
  }

 private:
  template <class F>
  void each(Arrays p, F&& f) const {
    const Box box = box_of(p[1]);
    for (std::size_t t = 0; t < terms_.size(); ++t) {
      const auto x = 3 * static_cast<std::size_t>(terms_.atoms[t][0]),
                 row = 6 * static_cast<std::size_t>(terms_.row[t]);
      const double *at = p[0] + x, *position = p[2] + row + 3;
      const Vec3 away = {at[0] - position[0], at[1] - position[1], at[2] - position[2]};
      Vec3 image{};
      if (is_periodic(box))
        for (std::size_t k = 0; k < 3; ++k) image[k] = std::floor(fractions(box, away)[k] + 0.5);
      f(x, row, wrapped(box, away), image);
    }
  }
  /// Derivatives s along e_d and c along k_d, given to all that they depend on.
  static void spread(Results g, std::size_t x, std::size_t row, std::size_t d, const Vec3& image,
                     double s, double c) {
    if (g[0]) g[0][x + d] += s;
    if (g[1])
      for (std::size_t k = 0; k < 3; ++k) g[1][3 * k + d] -= image[k] * s;
    if (g[2]) {
      g[2][row + d] += c;
      g[2][row + 3 + d] -= s;
    }
  }

  PositionRestraints terms_;
  Index n_;
};

const RegisterBonded position_restraints(Term::position_restraints,
                                         [](Term, const System& s, double) -> BondedTermPtr {
                                           return s.position_restraints.size() == 0
                                                      ? nullptr
                                                      : std::make_shared<PositionRestraint>(s);
                                         });

}  // namespace

}  // namespace tessera::molecular
