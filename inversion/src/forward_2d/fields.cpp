// SPDX-License-Identifier: Apache-2.0
#include "body.h"
#include "tessera/autodiff/error.h"
#include "tessera/autodiff/grad.h"

#include <cmath>
#include <string>

namespace tessera::inversion {

Axes axes_of(const Tensor& ln_rho, const Media2d& media) {
  const auto axis = [&](int k) { return ln_rho.ndim() == 2 ? select(ln_rho, 1, k) : ln_rho; };
  const auto with = [&](const Tensor& model, double power) {
    std::vector<double> given;
    for (const double r : media.given_ohm_m)
      given.push_back(std::isfinite(r) ? std::pow(r, power) : power > 0 ? 1 : 0);
    const Tensor own = exp(power * model);
    return given.empty() ? own : concatenate({own, tensor(given)});
  };
  return {with(axis(1), 1), with(axis(2), 1), with(axis(1), 0.5), with(axis(0), -1),
          with(axis(0), -0.5)};
}
Coefficients2d coefficients(bool te, const Axes& a) {
  if (te) return {Tensor(), Tensor(), a.sigma_x, a.root_sigma_x};
  return {a.rho_z, a.rho_y, Tensor(), a.root_rho_y};
}

Tensor solution(const LinearOperator& a, const Tensor& b, const LinearSolverPtr& solver) {
  return linear_solve(a, b, {.solver = solver}).x;
}

Solved solved(const Mode2d& mode, const Coefficients2d& c, const Frequency2d& f,
              const LinearSolverPtr& solver) {
  Solved s{.c = c};
  const Tensor zero = complex(0.0 * f.w_mu, 0.0 * f.w_mu);
  s.base = zero + mode.base;
  const auto given = [&] { return mode.given_rise + (mode.base - s.base); };
  // load less what the base and the known rise take of it
  const auto source = [&](const Tensor& load, const Block2d& of_one, Index size) {
    const Tensor b = csr_matmul(of_one.values(c, f), of_one.pattern(), reshape(-s.base, {1}));
    return load.defined() ? f.i_w_mu * load + b : b + zeros({size});
  };
  const auto less = [&](const Tensor& b, const Block2d& block, const Tensor& values,
                        const Tensor& known) {
    return block.empty() ? b : b - csr_matmul(values, block.pattern(), known);
  };
  const Tensor side_coupling = mode.side_coupling.values(c, f);
  const auto side_rise = [&] {
    return solution(*s.side_matrix,
                    less(source(mode.side_load, mode.side_of_one, mode.side), mode.side_coupling,
                         side_coupling, given()),
                    solver);
  };
  s.matrix = LinearOperator::csr(mode.matrix.values(c, f), mode.matrix.pattern());
  s.coupling = mode.coupling.values(c, f);
  const auto all_rise = [&](const Tensor& known) {
    const Tensor b =
        less(source(mode.load, mode.of_one, mode.inside), mode.coupling, s.coupling, known);
    return concatenate({solution(*s.matrix, b, solver), known});
  };
  if (mode.side > 0) {
    s.side_matrix = LinearOperator::csr(mode.side_matrix.values(c, f), mode.side_matrix.pattern());
    if (mode.te) s.base = stop_gradient(select(side_rise(), 0, mode.on_ground - mode.inside));
    s.rise = all_rise(concatenate({side_rise(), given()}));
  } else {
    if (mode.te) s.base = stop_gradient(select(all_rise(given()), 0, mode.on_ground));
    s.rise = all_rise(given());
  }
  s.left_over = mode.left_over.values(c, f);
  s.left_over_of_one = mode.left_over_of_one.values(c, f);
  return s;
}

LineValues line_values(const Mode2d& mode, const SensorLines& lines, const Solved& s) {
  const Tensor on_line = take(s.rise, mode.line_freedom);
  const Tensor rest =
      csr_matmul(s.left_over, mode.left_over.pattern(), s.rise) +
      csr_matmul(s.left_over_of_one, mode.left_over_of_one.pattern(), reshape(s.base, {1}));
  return {s.base + matmul(lines.at, on_line), matmul(lines.along, on_line),
          matmul(lines.across, rest)};
}

void Forward2d::Body::require_model(const Tensor& ln_rho) const {
  const Index n = media.parameters;
  if (ln_rho.shape() != Shape{n} && ln_rho.shape() != Shape{n, 3})
    throw Error("[Forward2d] ln_rho is " + to_string(ln_rho.shape()) + "; the mesh has " +
                std::to_string(n) + " parameters: [" + std::to_string(n) + "], or [" +
                std::to_string(n) + ", 3] along x, y, z");
}

// TE: Hy' = (c across + s along) / (i w mu), Hz' = (c along - s across) / (i w mu), with c and s of
// the sensor's turn from its line.
Datum Forward2d::Body::te_impedance(const LineValues& v, const Frequency2d& f) const {
  const Tensor h = (cos_turn * v.across + sin_turn * v.along) / f.i_w_mu;
  const Tensor z = v.at / h, per_h = 1.0 / h, per_wh = per_h / f.i_w_mu;
  return {z, {per_h, -z * sin_turn * per_wh, -z * cos_turn * per_wh}};
}
Datum Forward2d::Body::te_tipper(const LineValues& v) const {
  const Tensor h = cos_turn * v.across + sin_turn * v.along,
               t = (cos_turn * v.along - sin_turn * v.across) / h, per_h = 1.0 / h;
  return {t, {{}, (cos_turn - t * sin_turn) * per_h, (-sin_turn - t * cos_turn) * per_h}};
}

std::pair<Tensor, Tensor> Forward2d::Body::tm_weights(const Tensor& rho_y,
                                                      const Tensor& rho_z) const {
  std::vector<double> c, s;
  for (const double a : lines.slope) c.push_back(std::cos(a)), s.push_back(std::sin(a));
  const Tensor ty = tensor(c), tz = tensor(s), ny = tz, nz = -ty;
  const Tensor tt = ty * ty * rho_y + tz * tz * rho_z, tn = ty * ny * rho_y + tz * nz * rho_z,
               nn = ny * ny * rho_y + nz * nz * rho_z;
  return {-(cos_turn - sin_turn * tn / tt), -sin_turn * (nn - tn * tn / tt)};
}
Datum Forward2d::Body::tm_impedance(const LineValues& v, const Axes& a) const {
  Tensor by_across = -cos_turn, by_along = 0.0 * cos_turn;
  if (turned) {
    const auto w = tm_weights(take(a.rho_y, sensor_medium), take(a.rho_z, sensor_medium));
    by_across = w.first, by_along = w.second;
  }
  const Tensor per_h = 1.0 / v.at, z = (by_across * v.across + by_along * v.along) * per_h;
  return {z, {-z * per_h, by_along * per_h, by_across * per_h}};
}

Responses2d Forward2d::Body::at_one_frequency(const Tensor& w, const Axes& a) const {
  const Frequency2d f(w);
  const Tensor none = zeros({0}, Dtype::c128) * w;
  Responses2d r{none, none, none};
  if (te) {
    const LineValues v = line_values(*te, lines, solved(*te, coefficients(true, a), f, solver));
    r.te = te_impedance(v, f).value;
    if (tipper) r.tipper = te_tipper(v).value;
  }
  if (tm) {
    const LineValues v = line_values(*tm, lines, solved(*tm, coefficients(false, a), f, solver));
    r.tm = tm_impedance(v, a).value;
  }
  return r;
}

}  // namespace tessera::inversion
