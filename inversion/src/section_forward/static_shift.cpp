// SPDX-License-Identifier: Apache-2.0
#include "tessera/inversion/static_shift.h"

#include "tessera/autodiff/error.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <numbers>
#include <utility>

namespace tessera::inversion {

StaticShifts static_shifts_of(const DataTable& data, const std::vector<bool>& stations) {
  StaticShifts out;
  std::map<std::pair<std::int64_t, Element>, std::size_t> place;
  std::vector<Entry> entries;
  for (std::size_t i = 0; i < data.size(); ++i) {
    const auto [element, part] = data.kind[i];
    const bool impedance = part == Part::real || part == Part::imag;
    out.factor.push_back(false);
    if (element == Element::tx || element == Element::ty || !(impedance || part == Part::log10_rho))
      continue;
    const auto station = static_cast<std::size_t>(data.station[i]);
    if (!stations.empty() && (station >= stations.size() || !stations[station])) continue;
    if (element == Element::average)
      throw Error("[static_shifts_of] the average of two modes is not shifted by a factor: " +
                  name_of(data.kind[i]) + " cannot have free shifts");
    out.factor.back() = impedance;
    const auto add = [&](Element mode, double share) {
      const auto [at, fresh] = place.try_emplace({data.station[i], mode}, out.unknown.size());
      if (fresh) out.unknown.push_back({data.station[i], mode});
      entries.push_back({i, at->second, share});
    };
    if (element == Element::determinant) {
      add(Element::xy, 0.5);
      add(Element::yx, 0.5);
    } else {
      add(element == Element::yx ? Element::yx : Element::xy, 1.0);
    }
  }
  out.decades = sparse(data.size(), out.unknown.size(), std::move(entries));
  return out;
}

namespace {

using Vector = std::vector<double>;
constexpr double kHalfDecade = std::numbers::ln10 / 2;

}  // namespace

Vector StaticShifts::factors(const Vector& of_unknown) const {
  Vector out = decades.times(of_unknown);
  for (std::size_t i = 0; i < out.size(); ++i)
    out[i] = factor[i] ? std::exp(kHalfDecade * out[i]) : 1.0;
  return out;
}

namespace {

/// What shifts g make of the data at one model.
struct Shifted {
  Vector m, data, factor;  ///< model without shifts; shifted data; their factor, 1 where added
  Vector slope;            ///< d(data)/d(decades of the row)
};

class WithShifts {
 public:
  WithShifts(ForwardMap forward, StaticShifts shifts)
      : forward_(std::move(forward)), shifts_(std::move(shifts)), n_(forward_.n_parameters) {
    if (shifts_.decades.rows != forward_.n_data || shifts_.factor.size() != forward_.n_data)
      throw Error("[with_shifts] the shifts are those of another table of data");
  }
  std::size_t parameters() const { return n_ + shifts_.decades.cols; }
  const ForwardMap& forward() const { return forward_; }

  Shifted at(const Vector& x) const {
    if (x.size() != parameters()) throw Error("[with_shifts] the model has another length");
    return at(x, forward_.predict(model_of(x)));
  }
  /// Without data where their derivatives need none: shifts of logarithms are added.
  Shifted tangent_at(const Vector& x) const {
    if (x.size() != parameters()) throw Error("[with_shifts] the model has another length");
    const bool factors =
        std::find(shifts_.factor.begin(), shifts_.factor.end(), true) != shifts_.factor.end();
    return factors ? at(x) : at(x, Vector(forward_.n_data, 0.0));
  }
  /// `data` are those without shifts.
  Shifted at(const Vector& x, Vector data) const {
    Shifted s{.m = model_of(x), .data = std::move(data), .factor = {}, .slope = {}};
    const Vector decades = shifts_.decades.times(shifts_of(x));
    s.factor.assign(s.data.size(), 1.0);
    s.slope.assign(s.data.size(), 1.0);
    for (std::size_t i = 0; i < s.data.size(); ++i) {
      if (!shifts_.factor[i]) {
        s.data[i] += decades[i];
        continue;
      }
      s.factor[i] = std::exp(kHalfDecade * decades[i]);
      s.data[i] *= s.factor[i];
      s.slope[i] = kHalfDecade * s.data[i];
    }
    return s;
  }
  Matrix jacobian(const Vector& x) const {
    const Shifted s = tangent_at(x);
    Matrix out = forward_.jacobian(s.m);
    const std::size_t rows = out.rows;
    for (std::size_t j = 0; j < out.cols; ++j)
      for (std::size_t i = 0; i < rows; ++i) out(i, j) *= s.factor[i];
    out.values.resize(rows * parameters(), 0.0);
    out.cols = parameters();
    const SparseMatrix& d = shifts_.decades;
    for (std::size_t i = 0; i < rows; ++i)
      for (auto e = static_cast<std::size_t>(d.offsets[i]);
           e < static_cast<std::size_t>(d.offsets[i + 1]); ++e)
        out(i, n_ + static_cast<std::size_t>(d.columns[e])) = d.values[e] * s.slope[i];
    return out;
  }
  LinearMap linearize(const Vector& x) const {
    const Shifted s = tangent_at(x);
    const LinearMap j = linearized(forward_, s.m);
    LinearMap out{.rows = s.data.size(), .cols = parameters()};
    out.times = [=, *this](const Vector& v) {
      Vector d = j.times(model_of(v));
      const Vector decades = shifts_.decades.times(shifts_of(v));
      for (std::size_t i = 0; i < d.size(); ++i)
        d[i] = s.factor[i] * d[i] + s.slope[i] * decades[i];
      return d;
    };
    out.transposed_times = [=, *this](const Vector& y) {
      return joined(j.transposed_times(product(y, s.factor)),
                    shifts_.decades.transposed_times(product(y, s.slope)));
    };
    return out;
  }
  PulledBack pullback(const Vector& x) const {
    if (x.size() != parameters()) throw Error("[with_shifts] the model has another length");
    PulledBack f = pulled_back(forward_, model_of(x));
    const Shifted s = at(x, std::move(f.value));
    return {s.data, [s, pull = f.pull, *this](const Vector& y) {
              return joined(pull(product(y, s.factor)),
                            shifts_.decades.transposed_times(product(y, s.slope)));
            }};
  }
  /// With A the rows of `decades` that are factors, times ln 10 / 2, and f the factors:
  ///   y . (f F)'' = [C(y f) v + J^T (y f A w);  A^T (y f J v + y f F A w)].
  LinearMap curvature_of(const Vector& x, const Vector& y) const {
    const Shifted s = tangent_at(x);
    const Vector yf = product(y, s.factor);
    const LinearMap j = linearized(forward_, s.m), c = curvature(forward_, s.m, yf);
    LinearMap out{.rows = parameters(), .cols = parameters()};
    out.times = [=, *this](const Vector& v) {
      const Vector model = model_of(v);
      Vector aw = shifts_.decades.times(shifts_of(v)), jv = j.times(model), left(aw.size());
      for (std::size_t i = 0; i < aw.size(); ++i) {
        const double a = shifts_.factor[i] ? kHalfDecade : 0.0;
        aw[i] *= a;
        left[i] = a * (yf[i] * jv[i] + y[i] * s.data[i] * aw[i]);
      }
      Vector top = c.times(model);
      const Vector cross = j.transposed_times(product(yf, aw));
      for (std::size_t k = 0; k < top.size(); ++k) top[k] += cross[k];
      return joined(std::move(top), shifts_.decades.transposed_times(left));
    };
    out.transposed_times = out.times;
    return out;
  }

 private:
  Vector model_of(const Vector& x) const {
    return {x.begin(), x.begin() + static_cast<std::ptrdiff_t>(n_)};
  }
  Vector shifts_of(const Vector& x) const {
    return {x.begin() + static_cast<std::ptrdiff_t>(n_), x.end()};
  }
  static Vector product(Vector a, const Vector& b) {
    for (std::size_t i = 0; i < a.size(); ++i) a[i] *= b[i];
    return a;
  }
  static Vector joined(Vector a, const Vector& b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
  }

  ForwardMap forward_;
  StaticShifts shifts_;
  std::size_t n_;
};

}  // namespace

ForwardMap with_shifts(ForwardMap forward, StaticShifts shifts) {
  const auto s = std::make_shared<const WithShifts>(std::move(forward), std::move(shifts));
  ForwardMap f{.n_parameters = s->parameters(), .n_data = s->forward().n_data};
  f.predict = [s](const Vector& x) { return s->at(x).data; };
  if (s->forward().jacobian) f.jacobian = [s](const Vector& x) { return s->jacobian(x); };
  f.linearize = [s](const Vector& x) { return s->linearize(x); };
  f.pullback = [s](const Vector& x) { return s->pullback(x); };
  if (s->forward().hessian || s->forward().curvature)
    f.curvature = [s](const Vector& x, const Vector& y) { return s->curvature_of(x, y); };
  return f;
}

Smoothing with_shifts(Smoothing smoothing, std::size_t shifts, double std_decades) {
  if (shifts == 0) return smoothing;
  Smoothing out;
  out.prior = [prior = std::move(smoothing.prior), shifts, std_decades](double mu) {
    GaussianPrior p = prior(mu);
    for (std::size_t k = 0; k < shifts; ++k) p = append(std::move(p), 0, std_decades);
    return p;
  };
  out.roughness = std::move(smoothing.roughness);
  out.proportional = smoothing.proportional;
  out.free = smoothing.free + shifts;
  return out;
}

}  // namespace tessera::inversion
