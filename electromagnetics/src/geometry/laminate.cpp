// SPDX-License-Identifier: Apache-2.0
#include "tessera/electromagnetics/laminate.h"

#include "base/eigenvalues.h"
#include "tessera/autodiff/error.h"
#include "tessera/electromagnetics/constants.h"

#include <Eigen/Core>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace tessera::electromagnetics {
namespace {

using Complex = std::complex<double>;

constexpr double kSame = 1e-9;      // relative distance of poles that count as one
constexpr double kAccuracy = 1e-6;  // of the sum of poles that comes out

/// f(s) = limit + susceptibility(terms, s).
struct Rational {
  double limit = 0;
  std::vector<PoleResidue> terms;

  Complex at(Complex s) const { return limit + susceptibility(terms, s); }

  void add(double factor, const Rational& f) {
    limit += factor * f.limit;
    for (PoleResidue t : f.terms) {
      if (t.a.imag() < 0) t.a = std::conj(t.a), t.c = std::conj(t.c);
      const auto same = std::find_if(terms.begin(), terms.end(), [&](const PoleResidue& u) {
        return std::abs(u.a - t.a) <= kSame * std::abs(t.a);
      });
      if (same != terms.end())
        same->c += factor * t.c, same->second += factor * t.second;
      else
        terms.push_back({t.a, factor * t.c, factor * t.second});
    }
    std::erase_if(terms, [](const PoleResidue& t) { return t.c == 0.0 && t.second == 0; });
  }
};

/// A real term a, c is the response c (s - a)^-1 1; a pair that of c^T (s - P)^-1 b with P = {{Re
/// a, Im a}, {-Im a, Re a}}, b = (2, 0), c = (Re c, Im c); a double one that with P = {{a, 1}, {0,
/// a}}, b = (0, 1), c = (second, c).
Rational inverse(const Rational& f) {
  int n = 0;
  double rate = 0;
  for (const PoleResidue& t : f.terms)
    n += is_real(t) && t.second == 0 ? 1 : 2,
        rate = std::max({rate, std::abs(t.a), std::abs(t.c / f.limit),
                         std::sqrt(std::abs(t.second / f.limit))});
  Rational out{1 / f.limit, {}};
  if (n == 0) return out;
  Eigen::MatrixXd p = Eigen::MatrixXd::Zero(n, n);
  Eigen::VectorXd b = Eigen::VectorXd::Zero(n), c = Eigen::VectorXd::Zero(n);
  int i = 0;
  for (const PoleResidue& t : f.terms) {
    const Complex a = t.a / rate, r = t.c / rate;
    p(i, i) = a.real();
    b[i] = 1, c[i] = r.real();
    if (t.second != 0) {
      p(i, i + 1) = 1, p(i + 1, i + 1) = a.real();
      b[i] = 0, b[i + 1] = 1, c[i] = t.second / (rate * rate), c[i + 1] = r.real();
      ++i;
    } else if (!is_real(t)) {
      p(i, i + 1) = a.imag(), p(i + 1, i) = -a.imag(), p(i + 1, i + 1) = a.real();
      b[i] = 2, c[i + 1] = r.imag();
      ++i;
    }
    ++i;
  }
  for (const Complex z : eigenvalues_of(p - b * c.transpose() / f.limit)) {
    if (z.imag() < 0) continue;  // the other one of a pair
    Complex derivative = 0;      // of f
    for (const PoleResidue& t : f.terms) {
      derivative -= t.c / rate / std::pow(z - t.a / rate, 2) +
                    2 * t.second / (rate * rate) / std::pow(z - t.a / rate, 3);
      if (!is_real(t)) derivative -= std::conj(t.c) / rate / std::pow(z - std::conj(t.a) / rate, 2);
    }
    Complex residue = rate / derivative;
    if (z.imag() == 0) residue.imag(0);
    if (residue != 0.0) out.terms.push_back({z * rate, residue});
  }
  return out;
}

Rational of_medium(const Medium& m, int axis) {
  Rational f{m.eps[static_cast<std::size_t>(axis)], {}};
  f.add(1, {0, m.poles});
  if (const double sigma = m.sigma[static_cast<std::size_t>(axis)]; sigma != 0)
    f.add(1, {0, {{0, sigma / vacuum_permittivity}}});
  return f;
}

bool conducts(const Rational& f) {
  return std::any_of(f.terms.begin(), f.terms.end(),
                     [](const PoleResidue& t) { return t.a == 0.0; });
}

}  // namespace

Medium laminate(const std::vector<Medium>& media, const std::vector<MediumWeight>& parts, int axis,
                double across) {
  Rational mean, sum;  // sum w eps, then 1/eps
  bool all_conduct = true;
  double slowest = INFINITY, fastest = 0;
  for (const MediumWeight& part : parts) {
    const Medium& m = media[static_cast<std::size_t>(part.medium)];
    if (m.pec || m.chi2 != 0 || m.chi3 != 0)
      throw Error(fmt::format(
          "[laminate] '{}' is {}: expected linear media with a permittivity; leave it out", m.name,
          m.pec ? "a conductor" : "nonlinear"));
    const Rational f = of_medium(m, axis);
    all_conduct = all_conduct && conducts(f);
    for (const PoleResidue& t : f.terms) {
      const double rate = std::max({std::abs(t.a), std::abs(t.c), std::sqrt(std::abs(t.second))});
      fastest = std::max(fastest, rate), slowest = std::min(slowest, rate);
    }
    mean.add(part.weight, f);
    if (across > 0) sum.add(across * part.weight, inverse(f));
  }
  if (across < 1) sum.add(1 - across, inverse(mean));
  Rational eps = inverse(sum);
  // A direct current flows where all media conduct, or along the faces if some do: the slowest pole
  // is zero then, up to rounding.
  if (!eps.terms.empty() && (all_conduct || (across == 0 && conducts(mean)))) {
    PoleResidue& zero = *std::min_element(
        eps.terms.begin(), eps.terms.end(),
        [](const PoleResidue& a, const PoleResidue& b) { return std::abs(a.a) < std::abs(b.a); });
    zero = {0, zero.c.real()};
  }
  Medium out{.name = "laminate", .eps = {eps.limit, eps.limit, eps.limit}};
  for (PoleResidue& t : eps.terms) {
    if (t.a.real() > kSame * fastest)
      throw Error(fmt::format(
          "[laminate] between media with gain a wave grows on its own: expected decaying poles, "
          "got {} /s; take shares of the volume (averaging = \"volume\")",
          t.a.real()));
    t.a.real(std::min(t.a.real(), 0.0));
    if (is_real(t) && t.a == 0.0)
      out.sigma.fill(t.c.real() * vacuum_permittivity);
    else
      out.poles.push_back(t);
  }
  // Checked away from all poles, over all of their rates.
  for (int i = 0; i <= 8 && fastest > 0; ++i) {
    const Complex s = slowest * std::pow(fastest / slowest, i / 8.0) * Complex(0.3, 1);
    Complex across_sum = 0, mean_sum = 0;
    for (const MediumWeight& part : parts) {
      const Complex e = of_medium(media[static_cast<std::size_t>(part.medium)], axis).at(s);
      across_sum += part.weight / e, mean_sum += part.weight * e;
    }
    const Complex exact = 1.0 / (across * across_sum + (1 - across) / mean_sum);
    const Complex found =
        eps.limit + susceptibility(out.poles, s) + out.sigma[0] / (vacuum_permittivity * s);
    if (!(std::abs(found - exact) <= kAccuracy * std::abs(exact)))
      throw Error(
          fmt::format("[laminate] the average of '{}' and others has double poles: expected an "
                      "accuracy of {}, got {}; change a damping by a thousandth, or take shares of "
                      "the volume (averaging = \"volume\")",
                      media[static_cast<std::size_t>(parts[0].medium)].name, kAccuracy,
                      std::abs(found - exact) / std::abs(exact)));
  }
  return out;
}

}  // namespace tessera::electromagnetics
