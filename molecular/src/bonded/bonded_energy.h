// SPDX-License-Identifier: Apache-2.0
//
// One loop for all terms of an internal coordinate q(d) and a potential u(q, p):
//
//   dU/dx_a = sum over displacements d = x_a - x_b - k h of u_q dq/dd,  dU/dx_b = -,  dU/dh = -k
//   (x) dU/dd,  dU/dp = u_p
//
// u_q and u_p are the derivatives of u on dual numbers. The Hessian product is the same body on
// numbers that carry their derivative along that vector.
#pragma once
#include "base/four.h"
#include "bonded/bonded_term.h"
#include "bonded/displacement.h"
#include "bonded/geometry.h"
#include "energy/generic.h"
#include "tessera/autodiff/forall.h"
#include "tessera/autodiff/ops.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace tessera::molecular {

inline constexpr std::size_t terms_of_a_chunk = 1024;

/// A coordinate G (geometry.h) and a potential U of it: its number of `parameters`, and `of(q, p)`,
/// one formula for every number type: packs of four, dual numbers of them, tensors. A potential of
/// an angle may also be known on the circle (`of_circle`, see terms/dihedrals.cpp).
template <class G, class U, int P>
class BondedEnergy final : public BondedTerm {
 public:
  static constexpr std::size_t n_ends = G::ends.size();
  static constexpr bool turns = requires { U::most_turns; };
  static constexpr bool charged =
      P != U::parameters;  ///< the charges of both atoms come after the row
  using List = Terms<static_cast<int>(n_ends) + 1, P>;

  BondedEnergy(Term kind, List terms, const System& s, double epsilon_r)
      : kind_(kind),
        terms_(std::move(terms)),
        n_(static_cast<Index>(s.n_atoms())),
        ke_(s.coulomb_constant / epsilon_r),
        charge_(s.atoms.charge_e) {
    if constexpr (turns)
      for (const auto& row : terms_.rows) {
        phase_.push_back({std::cos(row[0]), std::sin(row[0])});
        few_turns_ =
            few_turns_ && row[2] == std::floor(row[2]) && row[2] >= 0 && row[2] <= U::most_turns;
        if (few_turns_) most_turns_ = std::max(most_turns_, static_cast<int>(row[2]));
      }
  }

  const char* name() const override { return name_of(kind_); }
  Term kind() const override { return kind_; }
  std::size_t size() const override { return terms_.size(); }
  std::vector<tessera::Shape> shapes() const override {
    std::vector<tessera::Shape> s = {{n_, 3}, {3, 3}, {static_cast<Index>(terms_.rows.size()), P}};
    if constexpr (charged) s.push_back({n_});
    return s;
  }

  double value(Arrays p) const override {
    std::vector<double> sums((terms_.size() + terms_of_a_chunk - 1) / terms_of_a_chunk, 0.0);
    each<Four>(p, {},
               [&](std::size_t begin, std::size_t many, const Four& q, const auto&, const auto& row,
                   const auto&) {
                 const Four u = U::of(q, row);
                 for (std::size_t k = 0; k < many; ++k) sums[begin / terms_of_a_chunk] += u[k];
               });
    return std::accumulate(sums.begin(), sums.end(), 0.0);
  }
  void gradient(Arrays p, Results g) const override { derivatives<Four>(p, {}, g); }
  double value_and_gradient(Arrays p, Results g) const override {
    return derivatives<Four>(p, {}, g);
  }
  void hessian_product(Arrays p, Arrays v, Results w) const override {
    derivatives<Dual<Four>>(p, v, w);
  }
  Tensor generic(std::span<const Tensor> p) const override;

  void add(const Vec3* x, const Box& box, std::size_t begin, std::size_t end,
           Sums& sums) const override {
    const Nearest nearest(box);
    for (; begin < end; begin += Four::size) {
      const std::size_t many = std::min(Four::size, end - begin);
      const auto of_terms = [&](auto&& f) { return four_of(begin, end, f); };
      std::array<Vec<Four>, n_ends> d, dq;
      for (std::size_t e = 0; e < n_ends; ++e) {
        for (std::size_t c = 0; c < 3; ++c)
          d[e][c] = of_terms([&](std::size_t t) {
            return x[atom(terms_.atoms[t], e, 0)][c] - x[atom(terms_.atoms[t], e, 1)][c];
          });
        d[e] = nearest(d[e]);
      }
      const auto [u, du] = value_and_derivative(of_terms, d, dq);
      for (std::size_t e = 0; e < n_ends; ++e) dq[e] = scaled(dq[e], -du);
      for (std::size_t k = 0; k < many; ++k) {
        std::array<std::array<std::int64_t, 3>, n_ends + 1> units{};  // of each atom
        for (std::size_t e = 0; e < n_ends; ++e)
          for (std::size_t c = 0; c < 3; ++c) {
            const std::int64_t f = sums.units(dq[e][c][k]);
            units[static_cast<std::size_t>(G::ends[e][0])][c] += f;
            units[static_cast<std::size_t>(G::ends[e][1])][c] -= f;
          }
        for (std::size_t a = 0; a <= n_ends; ++a)
          for (std::size_t c = 0; c < 3; ++c)
            sums.force[3 * static_cast<std::size_t>(terms_.atoms[begin + k][a]) + c] += units[a][c];
        if (!sums.wants_energies) continue;
        sums.add_energy(kind_, u[k]);
        for (std::size_t e = 0; e < n_ends; ++e)
          sums.add_virial({d[e][0][k], d[e][1][k], d[e][2][k]},
                          {dq[e][0][k], dq[e][1][k], dq[e][2][k]});
      }
    }
  }

 private:
  static std::size_t atom(const std::array<std::int32_t, n_ends + 1>& atoms, std::size_t e,
                          std::size_t side) {
    return static_cast<std::size_t>(atoms[static_cast<std::size_t>(G::ends[e][side])]);
  }
  /// Rows of four terms, with the charges of their atoms where the potential takes them.
  template <class T, class F>
  std::array<T, U::parameters> parameters(const F& of_terms, const double* table,
                                          const double* dtable, const double* charge,
                                          const double* dcharge) const {
    std::array<T, U::parameters> p;
    for (std::size_t k = 0; k < P; ++k)
      p[k] = numbers<T>(of_terms, table, dtable, [&](std::size_t t) {
        return static_cast<std::size_t>(terms_.row[t]) * P + k;
      });
    if constexpr (charged) {
      p[2] = ke_ * p[2];
      p[3] = ke_ * p[3];
      for (std::size_t k = 0; k < 2; ++k)
        p[P + k] = numbers<T>(of_terms, charge, dcharge, [&](std::size_t t) {
          return static_cast<std::size_t>(terms_.atoms[t][k]);
        });
    }
    return p;
  }
  /// u(q) and du/dq of four terms with the parameters of the system; angles of torsions need not be
  /// known for it.
  template <class F>
  std::array<Four, 2> value_and_derivative(const F& of_terms,
                                           const std::array<Vec<Four>, n_ends>& d,
                                           std::array<Vec<Four>, n_ends>& dq) const {
    const std::array<Four, U::parameters> p =
        parameters<Four>(of_terms, terms_.rows[0].data(), nullptr, charge_.data(), nullptr);
    if constexpr (turns)
      if (few_turns_) {
        const auto [x, y] = G::circle(d, dq);
        const Four over = 1.0 / sqrt(x * x + y * y);
        std::array<Four, 2> phase;
        for (std::size_t k = 0; k < 2; ++k)
          phase[k] = of_terms(
              [&](std::size_t t) { return phase_[static_cast<std::size_t>(terms_.row[t])][k]; });
        return U::of_circle(std::array<Four, 2>{x * over, y * over}, p, phase, most_turns_);
      }
    const auto u = U::of(Dual<Four>::variable(G::of(d, dq), 0), p);
    return {u.v, u.d[0]};
  }
  /// f(first term, how many, q, derivatives of q, parameters, images) for every four terms, T =
  /// Four or Dual<Four>; chunks of terms run at once.
  template <class T, class F>
  void each(Arrays p, Arrays v, F&& f) const {
    const auto tangent = [&](std::size_t k) { return v.empty() ? nullptr : v[k]; };
    const TermPositions<T> positions(p[0], tangent(0), p[1], tangent(1));
    parallel_chunks(
        static_cast<std::int64_t>((terms_.size() + terms_of_a_chunk - 1) / terms_of_a_chunk),
        [&](std::int64_t chunk) {
          const std::size_t first = static_cast<std::size_t>(chunk) * terms_of_a_chunk,
                            end = std::min(first + terms_of_a_chunk, terms_.size());
          for (std::size_t begin = first; begin < end; begin += Four::size) {
            const auto of_terms = [&](auto&& of) { return four_of(begin, end, of); };
            std::array<Vec<T>, n_ends> d, dq;
            std::array<Vec<Four>, n_ends> image;
            for (std::size_t e = 0; e < n_ends; ++e) {
              const auto end_of = [&](std::size_t side) {
                return [&, side](std::size_t t) { return atom(terms_.atoms[t], e, side); };
              };
              d[e] = positions.apart(of_terms, end_of(0), end_of(1), image[e]);
            }
            const T q = G::of(d, dq);
            f(begin, std::min(Four::size, end - begin), q, dq,
              parameters<T>(of_terms, p[2], tangent(2), charged ? p[3] : nullptr,
                            charged ? tangent(3) : nullptr),
              image);
          }
        });
  }
  /// What one term gives: derivatives along its displacements and in its parameters.
  struct Given {
    std::array<Vec3, n_ends> along_d, image;
    std::array<double, U::parameters> parameter;
    double value;
  };
  /// Returns U.
  template <class T>
  double derivatives(Arrays p, Arrays v, Results g) const {
    std::vector<Given> given(terms_.size());
    bool positions_alone = true;  // rows are constants
    for (std::size_t k = 2; k < p.size(); ++k)
      positions_alone = positions_alone && !g[k] && (v.empty() || !v[k]);
    each<T>(
        p, v,
        [&](std::size_t begin, std::size_t many, const T& q, const std::array<Vec<T>, n_ends>& dq,
            const std::array<T, U::parameters>& row, const std::array<Vec<Four>, n_ends>& image) {
          T u, by_q;
          std::array<T, U::parameters> by_row{};
          if (positions_alone) {
            const auto w = U::of(Dual<T>::variable(q, 0), row);
            u = w.v, by_q = w.d[0];
          } else {
            using D = Dual<T, U::parameters + 1>;
            std::array<D, U::parameters> parameter;
            for (int k = 0; k < U::parameters; ++k)
              parameter[static_cast<std::size_t>(k)] =
                  D::variable(row[static_cast<std::size_t>(k)], k + 1);
            const D w = U::of(D::variable(q, 0), parameter);
            u = w.v, by_q = w.d[0];
            std::copy(w.d.begin() + 1, w.d.end(), by_row.begin());
          }
          for (std::size_t k = 0; k < many; ++k) given[begin + k].value = plain(u)[k];
          for (std::size_t e = 0; e < n_ends; ++e)
            for (std::size_t c = 0; c < 3; ++c) {
              const Four f = along(by_q * dq[e][c]);
              for (std::size_t k = 0; k < many; ++k)
                given[begin + k].along_d[e][c] = f[k],
                              given[begin + k].image[e][c] = image[e][c][k];
            }
          for (std::size_t r = 0; r < U::parameters; ++r)
            for (std::size_t k = 0; k < many; ++k)
              given[begin + k].parameter[r] = along(by_row[r])[k];
        });
    double sum = 0;
    for (std::size_t t = 0; t < terms_.size(); ++t) {
      const Given& from = given[t];
      sum += from.value;
      for (std::size_t e = 0; e < n_ends; ++e)
        spread_gradient(g, atom(terms_.atoms[t], e, 0), atom(terms_.atoms[t], e, 1), from.image[e],
                        from.along_d[e]);
      const std::size_t first = static_cast<std::size_t>(terms_.row[t]) * P;
      if (g[2])
        for (std::size_t k = 0; k < P; ++k)
          g[2][first + k] += from.parameter[k] * (charged && k > 1 ? ke_ : 1.0);
      if constexpr (charged)
        if (g[3])
          for (std::size_t k = 0; k < 2; ++k) g[3][terms_.atoms[t][k]] += from.parameter[P + k];
    }
    return sum;
  }

  Term kind_;
  List terms_;
  Index n_;
  double ke_;
  std::vector<double> charge_;
  std::vector<std::array<double, 2>> phase_;  ///< of each row of a torsion: cos and sin
  bool few_turns_ = true;
  int most_turns_ = 0;  ///< of few
};

template <class G, class U, int P>
Tensor BondedEnergy<G, U, P>::generic(std::span<const Tensor> p) const {
  const auto column = [&](int k) {
    std::vector<std::int32_t> out;
    for (const auto& a : terms_.atoms) out.push_back(a[static_cast<std::size_t>(k)]);
    return generic::indices(out);
  };
  std::vector<Tensor> d;
  for (const Ends& e : G::ends)
    d.push_back(generic::displacement(p[0], p[1], column(e[0]), column(e[1])));
  const Tensor rows = take(p[2], generic::indices(terms_.row));
  std::array<Tensor, U::parameters> row;
  for (int k = 0; k < P; ++k) row[static_cast<std::size_t>(k)] = generic::part(rows, k);
  if constexpr (charged) {
    row[2] = ke_ * row[2];
    row[3] = ke_ * row[3];
    for (int k = 0; k < 2; ++k) row[static_cast<std::size_t>(P + k)] = take(p[3], column(k));
  }
  return sum(U::of(G::of(d), row));
}

/// The row of a kind of terms over the list `list` of a system.
template <class G, class U, auto list>
struct RegisterBondedTerms : RegisterBonded {
  explicit RegisterBondedTerms(Term kind) : RegisterBonded(kind, &made) {}
  static BondedTermPtr made(Term kind, const System& s, double epsilon_r) {
    const auto& terms = s.*list;
    constexpr int P = std::remove_cvref_t<decltype(terms)>::n_parameters;
    if (terms.size() == 0) return nullptr;
    return std::make_shared<BondedEnergy<G, U, P>>(kind, terms, s, epsilon_r);
  }
};

}  // namespace tessera::molecular
