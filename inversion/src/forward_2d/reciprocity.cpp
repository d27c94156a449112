// SPDX-License-Identifier: Apache-2.0
//
// All derivatives of a datum from one solution with its functional.
#include "body.h"
#include "tessera/autodiff/forall.h"
#include "tessera/autodiff/grad.h"

#include <algorithm>

namespace tessera::inversion {

Tensor Forward2d::Body::multipliers(const Mode2d& mode, const Solved& s,
                                    const DatumChange& d) const {
  const auto weighted = [](const Tensor& rows, const Tensor& by) {  // [line nodes, sensors]
    return transpose(rows * expand_dims(by, 1));
  };
  const Tensor below = weighted(lines.across, d.across);
  Tensor on_line = weighted(lines.along, d.along);
  if (d.at.defined()) on_line = on_line + weighted(lines.at, d.at);
  const Index n = mode.freedoms();
  Tensor functional = csr_matmul(s.left_over, mode.left_over.pattern(), below, true);
  functional =
      functional + scatter_add(zeros({n, sensors()}, Dtype::c128), mode.line_freedom, on_line);
  const Tensor inside = solution(*s.matrix, slice(functional, 0, 0, mode.inside), solver);
  std::vector<Tensor> rows{-inside};
  if (mode.side > 0) {
    const Tensor known = csr_matmul(s.coupling, mode.coupling.pattern(), inside, true);
    rows.push_back(-solution(
        *s.side_matrix,
        slice(functional, 0, mode.inside, mode.inside + mode.side) - slice(known, 0, 0, mode.side),
        solver));
  }
  rows.push_back(below);
  return concatenate(rows, 0);
}
namespace {

/// [sensors, shape of ln_rho] from derivatives [parameters, sensors] along x, y, z, or their sum.
Tensor along_axes(const Tensor& ln_rho, const Tensor& x, const Tensor& y, const Tensor& z) {
  const auto plus = [](const Tensor& a, const Tensor& b) {
    return !a.defined() ? b : b.defined() ? a + b : a;
  };
  if (ln_rho.ndim() == 1) return transpose(plus(plus(x, y), z));
  const Tensor any = x.defined() ? x : y;
  const auto or_zero = [&](const Tensor& t) { return t.defined() ? t : 0.0 * any; };
  return stack({transpose(or_zero(x)), transpose(or_zero(y)), transpose(or_zero(z))}, 2);
}
}  // namespace

std::vector<Tensor> Forward2d::Body::jacobian_at(const Tensor& w, const Axes& a,
                                                 const Tensor& ln_rho) const {
  const Frequency2d f(w);
  const auto own = [&](const Tensor& of_media) { return slice(of_media, 0, 0, media.parameters); };
  const Tensor none = zeros({0}, Dtype::c128) * w;
  std::vector<Tensor> out(6, none);
  if (te) {
    const Solved s = solved(*te, coefficients(true, a), f, solver);
    const LineValues v = line_values(*te, lines, s);
    const Coefficients2d weight{Tensor(), Tensor(), -own(a.sigma_x), -0.5 * own(a.root_sigma_x)};
    const auto take_datum = [&](int k, const Datum& d) {
      out[k] = d.value;
      out[3 + k] = along_axes(
          ln_rho, te->sensitivity->get()(weight, f, s.base, s.rise, multipliers(*te, s, d.change)),
          {}, {});
    };
    take_datum(0, te_impedance(v, f));
    if (tipper) take_datum(2, te_tipper(v));
  }
  if (tm) {
    const Solved s = solved(*tm, coefficients(false, a), f, solver);
    const LineValues v = line_values(*tm, lines, s);
    const Datum d = tm_impedance(v, a);
    const Tensor lambda = multipliers(*tm, s, d.change);
    const Tensor rho_y = own(a.rho_y), rho_z = own(a.rho_z), root = 0.5 * own(a.root_rho_y);
    Tensor y, z;
    if (ln_rho.ndim() == 1) {
      y = tm->sensitivity->get()({rho_z, rho_y, Tensor(), root}, f, s.base, s.rise, lambda);
    } else {
      y = tm->sensitivity->get()({Tensor(), rho_y, Tensor(), root}, f, s.base, s.rise, lambda);
      z = tm->sensitivity->get()({rho_z, Tensor(), Tensor(), Tensor()}, f, s.base, s.rise, lambda);
    }
    if (turned) {  // the medium at the sensor itself
      const Tensor ry = take(a.rho_y, sensor_medium), rz = take(a.rho_z, sensor_medium),
                   chosen = transpose(one_hot(sensor_medium, media.parameters));
      const auto local = [&](bool along_y) {
        const auto weights = [&](const Tensor& r) {
          const auto [p, q] = along_y ? tm_weights(r, rz) : tm_weights(ry, r);
          return std::vector<Tensor>{p, q};
        };
        const Tensor& r = along_y ? ry : rz;
        const auto change = jvp(weights, r, r).second;
        return chosen * expand_dims((change[0] * v.across + change[1] * v.along) / v.at, 0);
      };
      y = y + local(true);
      (ln_rho.ndim() == 1 ? y : z) = (ln_rho.ndim() == 1 ? y : z) + local(false);
    }
    out[1] = d.value;
    out[4] = along_axes(ln_rho, {}, y, z);
  }
  return out;
}

void Forward2d::jacobian(const Tensor& ln_rho, const JacobianPart& visit) const {
  const Body& b = *body_;
  b.require_model(ln_rho);
  const Axes a = axes_of(ln_rho, b.media);
  // As many frequencies at a time as their functionals and solutions fit 32 MiB; one for each
  // thread, whose factors are its own, where those fit 256.
  const Index n = b.w_mu.size(), one = 32 * b.sensors() * std::max<Index>(1, unknowns()),
              side_by_side = std::min<Index>(num_threads(), (Index{256} << 20) / one),
              many = std::clamp<Index>(std::max((Index{32} << 20) / one, side_by_side), 1, n);
  for (Index first = 0; first < n; first += many) {
    const auto r = vmap([&](const Tensor& w) { return b.jacobian_at(w, a, ln_rho); })(
        slice(b.w_mu, 0, first, std::min(n, first + many)));
    visit(first, {.value = {r[0], r[1], r[2]}, .te = r[3], .tm = r[4], .tipper = r[5]});
  }
}

Jacobian2d Forward2d::jacobian(const Tensor& ln_rho) const {
  std::vector<std::vector<Tensor>> parts(6);
  jacobian(ln_rho, [&](Index, const Jacobian2d& p) {
    const Tensor of_part[] = {p.value.te, p.value.tm, p.value.tipper, p.te, p.tm, p.tipper};
    for (std::size_t k = 0; k < 6; ++k) parts[k].push_back(of_part[k]);
  });
  std::vector<Tensor> r;
  for (std::vector<Tensor>& p : parts) {
    r.push_back(p.size() == 1 ? p[0] : concatenate(p));
    p.clear();
  }
  return {.value = {r[0], r[1], r[2]}, .te = r[3], .tm = r[4], .tipper = r[5]};
}

}  // namespace tessera::inversion
