// SPDX-License-Identifier: Apache-2.0
//
// With R = r - r', R^ = R/|R| and g' = dg/dR the integrands of near_to_far.h are, for each pair of
// points,
//
//   E += A J - g' R^ x M,   H += A M / eta^2 + g' R^ x J,
//   A J = -i k eta [ (g + g'/(k^2 R)) J + (g'' - g'/R)/k^2 R^ (R^.J) ],
//
// where in two dimensions, R having no z, J_z takes g alone. The adjoint of this map of currents to
// fields is
//
//   J += conj(A) E - conj(g') R^ x H,   M += conj(A) H / eta^2 + conj(g') R^ x E.
#include "current_sheets.h"
#include "tessera/autodiff/forall.h"
#include "tessera/autodiff/host_call.h"
#include "tessera/autodiff/ops.h"
#include "tessera/autodiff/ops/bessel.h"

#include <algorithm>
#include <memory>

namespace tessera::electromagnetics {
namespace {

using Complex = std::complex<double>;
using Vector = std::array<Complex, 3>;
using Point = std::array<double, 3>;
using Tensors = std::vector<Tensor>;
using std::numbers::pi;
constexpr Complex i{0, 1};

void cross_add(Vector& out, Complex factor, const Point& a, const Vector& b) {
  for (int c = 0; c < 3; ++c) {
    const int d = (c + 1) % 3, e = (c + 2) % 3;
    out[c] += factor * (a[d] * b[e] - a[e] * b[d]);
  }
}

/// The coefficients of one pair: A = diag(across, across, axial) + along R^ R^T, and g'.
struct Pair {
  Complex across, axial, along, dg;
};

class Map {
 public:
  Map(std::vector<CurrentSheet> sheets, std::vector<double> k, std::vector<Point> points,
      Exterior exterior)
      : sheets_(std::move(sheets)),
        k_(std::move(k)),
        points_(std::move(points)),
        exterior_(std::move(exterior)),
        eta_(impedance(exterior_)) {
    for (const CurrentSheet& s : sheets_) surface_.push_back(points_of(s.at));
    require_distance();
  }

  /// Fields e, h of each patch in turn, [frequency, 2, n_hi, n_lo] -> E, H [frequency, point, 3].
  Tensors forward(const Tensors& fields) const {
    const Types types = result_types();
    Tensors out{empty(types[0]), empty(types[1])};
    auto* e = static_cast<Vector*>(out[0].view().data);
    auto* h = static_cast<Vector*>(out[1].view().data);
    std::fill_n(e, k_.size() * points_.size(), Vector{});
    std::fill_n(h, k_.size() * points_.size(), Vector{});
    for (std::size_t f = 0; f < k_.size(); ++f)
      for (std::size_t s = 0; s < sheets_.size(); ++s) {
        const Index n = static_cast<Index>(surface_[s].size());
        const std::vector<Vector> j = currents(fields, f, s, true),
                                  m = currents(fields, f, s, false);
        in_blocks(f, s, [&](Index first, Index last, const std::vector<Pair>& pairs) {
          parallel_chunks(last - first, [&](Index o) {
            Vector &e_o = e[f * points_.size() + first + o],
                   &h_o = h[f * points_.size() + first + o];
            for (Index p = 0; p < n; ++p) {
              const Pair& q = pairs[o * n + p];
              const Point r = unit(points_[first + o], surface_[s][p]);
              add_a(e_o, q, r, j[p], 1);
              add_a(h_o, q, r, m[p], 1 / (eta_ * eta_));
              cross_add(e_o, -q.dg, r, m[p]);
              cross_add(h_o, q.dg, r, j[p]);
            }
          });
        });
      }
    return out;
  }

  /// The adjoint: cotangents of E and H to those of the fields.
  Tensors backward(const Tensors& ct, const Types& field_types) const {
    Tensors out;
    for (const Type& t : field_types) {
      out.push_back(empty(t));
      std::fill_n(static_cast<Complex*>(out.back().view().data), t.shape.count(), Complex());
    }
    const auto* e = static_cast<const Vector*>(ct[0].view().data);
    const auto* h = static_cast<const Vector*>(ct[1].view().data);
    for (std::size_t f = 0; f < k_.size(); ++f)
      for (std::size_t s = 0; s < sheets_.size(); ++s) {
        const Index n = static_cast<Index>(surface_[s].size());
        std::vector<Vector> j(n), m(n);
        in_blocks(f, s, [&](Index first, Index last, const std::vector<Pair>& pairs) {
          constexpr Index grain = 256;
          parallel_chunks((n + grain - 1) / grain, [&](Index chunk) {
            for (Index o = 0; o < last - first; ++o) {
              const Vector &e_o = e[f * points_.size() + first + o],
                           &h_o = h[f * points_.size() + first + o];
              for (Index p = chunk * grain; p < std::min(n, (chunk + 1) * grain); ++p) {
                const Pair& a = pairs[o * n + p];
                const Pair q{std::conj(a.across), std::conj(a.axial), std::conj(a.along),
                             std::conj(a.dg)};
                const Point r = unit(points_[first + o], surface_[s][p]);
                add_a(j[p], q, r, e_o, 1);
                add_a(m[p], q, r, h_o, 1 / (eta_ * eta_));
                cross_add(j[p], -q.dg, r, h_o);
                cross_add(m[p], q.dg, r, e_o);
              }
            }
          });
        });
        add_to_fields(out, f, s, j, m);
      }
    return out;
  }

  Types result_types() const {
    const Type t{Dtype::c128,
                 {static_cast<Index>(k_.size()), static_cast<Index>(points_.size()), 3}};
    return {t, t};
  }

 private:
  Point unit(const Point& r, const Point& source) const {
    Point d{r[0] - source[0], r[1] - source[1], exterior_.dimensions == 3 ? r[2] - source[2] : 0};
    const double length = std::sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
    for (double& x : d) x /= length;
    return d;
  }
  double distance(const Point& r, const Point& source) const {
    return std::hypot(r[0] - source[0], r[1] - source[1],
                      exterior_.dimensions == 3 ? r[2] - source[2] : 0);
  }
  void require_distance() const {
    for (const auto& surface : surface_)
      for (std::size_t o = 0; o < points_.size(); ++o)
        for (const Point& p : surface)
          if (distance(points_[o], p) == 0)
            throw Error(fmt::format("[near_field] point {} lies on the surface", o));
  }

  void add_a(Vector& out, const Pair& q, const Point& r, const Vector& v, double factor) const {
    const Complex dot = q.along * (r[0] * v[0] + r[1] * v[1] + r[2] * v[2]);
    out[0] += factor * (q.across * v[0] + dot * r[0]);
    out[1] += factor * (q.across * v[1] + dot * r[1]);
    out[2] += factor * (q.axial * v[2] + dot * r[2]);
  }

  /// Calls work(first, last, pairs) for blocks of observation points, pairs [last - first, points
  /// of the sheet].
  template <class Work>
  void in_blocks(std::size_t f, std::size_t s, const Work& work) const {
    const std::vector<Point>& surface = surface_[s];
    const auto n = static_cast<Index>(surface.size()),
               n_points = static_cast<Index>(points_.size());
    const Index block = std::max<Index>(1, (Index{1} << 17) / n);  // 8 MiB of pairs
    for (Index first = 0; first < n_points; first += block) {
      const Index last = std::min(n_points, first + block);
      std::vector<double> r((last - first) * n);
      for (Index o = first; o < last; ++o)
        for (Index p = 0; p < n; ++p) r[(o - first) * n + p] = distance(points_[o], surface[p]);
      work(first, last, pairs(k_[f], r));
    }
  }

  std::vector<Pair> pairs(double k, const std::vector<double>& r) const {
    std::vector<Pair> out(r.size());
    const auto set = [&](Index at, Complex g, Complex dg, Complex ddg) {  // g, g', g''
      const Complex scale = -i * k * eta_, by_r = dg / r[at];
      const Complex across = scale * (g + by_r / (k * k));
      out[at] = {across, exterior_.dimensions == 3 ? across : scale * g,
                 scale * (ddg - by_r) / (k * k), dg};
    };
    const auto n = static_cast<Index>(r.size());
    if (exterior_.dimensions == 3) {
      forall(n, [&](Index at) {
        const double x = r[at];
        const Complex g = std::polar(1 / (4 * pi * x), -k * x), dg = -(i * k + 1 / x) * g;
        set(at, g, dg, (-k * k + 2.0 * i * k / x + 2 / (x * x)) * g);
      });
      return out;
    }
    const Tensor kr =
        tensor(r) * k;  // g = H0/(4i), g' = -k H1/(4i), g'' = -k^2 (H0 - H1/(k r))/(4i)
    const auto h0 = hankel2(0, kr).to_vector<Complex>(), h1 = hankel2(1, kr).to_vector<Complex>();
    forall(n, [&](Index at) {
      set(at, h0[at] / (4.0 * i), -k * h1[at] / (4.0 * i),
          -k * k * (h0[at] - h1[at] / (k * r[at])) / (4.0 * i));
    });
    return out;
  }

  /// J or M times the weights of the points, as in current_sheets.h.
  std::vector<Vector> currents(const Tensors& fields, std::size_t f, std::size_t s,
                               bool electric) const {
    const CurrentSheet& sheet = sheets_[s];
    const Tensor& t = fields[2 * sheet.patch + (electric ? 1 : 0)];  // J from H, M from E
    const auto n = static_cast<Index>(surface_[s].size());
    const Complex* v = static_cast<const Complex*>(t.view().data) + static_cast<Index>(f) * 2 * n;
    std::vector<Vector> out(n);
    for (Index p = 0; p < n; ++p) {
      const double w = weight(sheet.at, p);
      out[p][sheet.at.lo_axis()] =
          electric ? -sheet.electric[0] * w * v[n + p] : sheet.magnetic[0] * w * v[n + p];
      out[p][sheet.at.hi_axis()] =
          electric ? sheet.electric[1] * w * v[p] : -sheet.magnetic[1] * w * v[p];
    }
    return out;
  }
  void add_to_fields(Tensors& fields, std::size_t f, std::size_t s, const std::vector<Vector>& j,
                     const std::vector<Vector>& m) const {
    const CurrentSheet& sheet = sheets_[s];
    const auto n = static_cast<Index>(surface_[s].size());
    const int lo = sheet.at.lo_axis(), hi = sheet.at.hi_axis();
    Complex* e =
        static_cast<Complex*>(fields[2 * sheet.patch].view().data) + static_cast<Index>(f) * 2 * n;
    Complex* h = static_cast<Complex*>(fields[2 * sheet.patch + 1].view().data) +
                 static_cast<Index>(f) * 2 * n;
    for (Index p = 0; p < n; ++p) {
      const double w = weight(sheet.at, p);
      h[n + p] -= sheet.electric[0] * w * j[p][lo];
      h[p] += sheet.electric[1] * w * j[p][hi];
      e[n + p] += sheet.magnetic[0] * w * m[p][lo];
      e[p] -= sheet.magnetic[1] * w * m[p][hi];
    }
  }
  static double weight(const Patch& p, Index point) {
    return p.weight_lo[point % p.n_lo()] * p.weight_hi[point / p.n_lo()];
  }

  std::vector<CurrentSheet> sheets_;
  std::vector<double> k_;
  std::vector<Point> points_;
  Exterior exterior_;
  double eta_;
  std::vector<std::vector<Point>> surface_;
};

/// The map (or its adjoint) as an operation; each is the other's transpose, so derivatives of any
/// order exist.
FlatFunction operation(std::shared_ptr<const Map> map, Types field_types, bool adjoint) {
  HostFunction f{.name = adjoint ? "near_field_adjoint" : "near_field"};
  f.run = [=](const Tensors& x) {
    return adjoint ? map->backward(x, field_types) : map->forward(x);
  };
  f.jvp = [=](const Tensors&, const Tensors&, const Tensors& t) {
    return operation(map, field_types, adjoint)(t);
  };
  f.vjp = [=](const Tensors&, const Tensors&, const Tensors& ct) {
    return operation(map, field_types, !adjoint)(ct);
  };
  f.types = [=](const Types&) { return adjoint ? field_types : map->result_types(); };
  return host_call(std::move(f));
}

}  // namespace

PointFields near_field(const std::vector<Patch>& patches, const std::vector<SurfaceFields>& fields,
                       std::span<const double> frequencies_hz, std::span<const Point> points,
                       const Exterior& exterior) {
  require_exterior("near_field", exterior, frequencies_hz);
  require_fields("near_field", patches, fields, static_cast<Index>(frequencies_hz.size()));
  require_dimensions("near_field", patches, exterior.dimensions);
  if (points.empty()) throw Error("[near_field] needs a point");
  std::vector<double> k;
  for (double f : frequencies_hz) k.push_back(wavenumber(exterior, f));
  Tensors operands;
  Types types;
  for (const SurfaceFields& f : fields)
    for (const Tensor& t : {f.e, f.h}) {
      operands.push_back(cast(t, Dtype::c128));
      types.push_back(operands.back().type());
    }
  const auto map =
      std::make_shared<const Map>(sheets_of(patches, exterior.mirrors), k,
                                  std::vector<Point>(points.begin(), points.end()), exterior);
  const Tensors out = operation(map, types, false)(operands);
  return {out[0], out[1]};
}

}  // namespace tessera::electromagnetics
