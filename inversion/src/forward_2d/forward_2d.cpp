// SPDX-License-Identifier: Apache-2.0
//
// One frequency is a function in engine operations; vmap makes it all frequencies.
#include "tessera/inversion/forward_2d.h"

#include "mode.h"
#include "tessera/autodiff/error.h"
#include "tessera/autodiff/grad.h"
#include "tessera/inversion/constants.h"
#include "tessera/solvers/ldlt.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <optional>
#include <string>

namespace tessera::inversion {
namespace {

Media2d media_of(const Mesh2d& m) {
  Media2d out;
  out.parameters = m.parameters();
  for (const Medium2d& medium : m.medium) {
    if (medium.parameter >= 0) {
      out.of_cell.push_back(medium.parameter);
      continue;
    }
    auto& given = out.given_ohm_m;
    const auto found = std::find(given.begin(), given.end(), medium.ohm_m);
    out.of_cell.push_back(out.parameters + static_cast<Index>(found - given.begin()));
    if (found == given.end()) given.push_back(medium.ohm_m);
  }
  return out;
}

/// What the media have, [media] each. Air conducts nothing; its resistivity is not used and stands
/// as 1.
struct Axes {
  Tensor rho_y, rho_z, root_rho_y, sigma_x, root_sigma_x;
};
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

/// The field of one mode at one frequency, and the systems that it solved. u = base + rise, base
/// near the field at the ground: close to it, where fluxes are read, the rise is as much smaller as
/// cells are than the skin depth, and keeps so many more digits.
struct Solved {
  Coefficients2d c;
  std::optional<LinearOperator> matrix, side_matrix;
  Tensor coupling, left_over, left_over_of_one;  // values
  Tensor base;                                   // scalar
  Tensor rise;                                   // [freedoms]
};

Tensor solution(const LinearOperator& a, const Tensor& b, const LinearSolverPtr& solver) {
  return linear_solve(a, b, {.solver = solver}).x;
}

Solved solved(const Mode2d& mode, const Coefficients2d& c, const Frequency2d& f,
              const LinearSolverPtr& solver) {
  Solved s{.c = c};
  const Tensor zero = complex(0.0 * f.w_mu, 0.0 * f.w_mu);
  s.base = zero + mode.given_value;
  const auto given = [&] {
    return broadcast_to(reshape(mode.given_value - s.base, {1}), {mode.given});
  };
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

/// What is measured is made of the field at the lines, what is left over below them, and its
/// derivative along them: [sensors] each.
struct LineValues {
  Tensor at, along, across;
};
LineValues line_values(const Mode2d& mode, const SensorLines& lines, const Solved& s) {
  const Tensor on_line = take(s.rise, mode.line_freedom);
  const Tensor rest =
      csr_matmul(s.left_over, mode.left_over.pattern(), s.rise) +
      csr_matmul(s.left_over_of_one, mode.left_over_of_one.pattern(), reshape(s.base, {1}));
  return {s.base + matmul(lines.at, on_line), matmul(lines.along, on_line),
          matmul(lines.across, rest)};
}

/// d(datum) of every sensor as a combination of the changes of the three, [sensors] each;
/// undefined: none.
struct DatumChange {
  Tensor at, along, across;
};

}  // namespace

struct Forward2d::Body {
  std::vector<double> frequency_hz;
  Media2d media;
  SensorLines lines;
  Space2d space;
  std::optional<Mode2d> te, tm;
  LinearSolverPtr solver;
  Tensor w_mu, cos_turn, sin_turn;
  bool turned = false;  ///< some sensor is not tilted as its line
  Tensor sensor_medium;
  std::vector<double> slope;

  Index sensors() const { return lines.at.shape()[0]; }

  void require_model(const Tensor& ln_rho) const {
    const Index n = media.parameters;
    if (ln_rho.shape() != Shape{n} && ln_rho.shape() != Shape{n, 3})
      throw Error("[Forward2d] ln_rho is " + to_string(ln_rho.shape()) + "; the mesh has " +
                  std::to_string(n) + " parameters: [" + std::to_string(n) + "], or [" +
                  std::to_string(n) + ", 3] along x, y, z");
  }

  // ---- TE: Hy' = (c across + s along) / (i w mu), Hz' = (c along - s across) / (i w mu) ----
  struct TeValues {
    Tensor e, h, hz;
  };
  TeValues te_values(const LineValues& v, const Frequency2d& f) const {
    return {v.at, (cos_turn * v.across + sin_turn * v.along) / f.i_w_mu,
            (cos_turn * v.along - sin_turn * v.across) / f.i_w_mu};
  }

  // ---- TM: E' = c E_t - s E_n = by_across across + by_along along ----
  /// E_t = -across and J_n = along; E = diag(r_y, r_z) J in the medium at the sensor.
  std::pair<Tensor, Tensor> tm_weights(const Axes& a) const {
    if (!turned) return {-cos_turn, 0.0 * cos_turn};
    return tm_weights_of(take(a.rho_y, sensor_medium), take(a.rho_z, sensor_medium));
  }
  std::pair<Tensor, Tensor> tm_weights_of(const Tensor& rho_y, const Tensor& rho_z) const {
    std::vector<double> c, s;
    for (const double a : slope) c.push_back(std::cos(a)), s.push_back(std::sin(a));
    const Tensor ty = tensor(c), tz = tensor(s), ny = tz, nz = -ty;
    const Tensor tt = ty * ty * rho_y + tz * tz * rho_z, tn = ty * ny * rho_y + tz * nz * rho_z,
                 nn = ny * ny * rho_y + nz * nz * rho_z;
    return {-(cos_turn - sin_turn * tn / tt), -sin_turn * (nn - tn * tn / tt)};
  }

  Responses2d at_one_frequency(const Tensor& w, const Axes& a) const {
    const Frequency2d f(w);
    const Tensor none = zeros({0}, Dtype::c128) * w;
    Responses2d r{none, none, none};
    if (te) {
      const TeValues v =
          te_values(line_values(*te, lines, solved(*te, coefficients(true, a), f, solver)), f);
      r.te = v.e / v.h;
      r.tipper = v.hz / v.h;
    }
    if (tm) {
      const LineValues v = line_values(*tm, lines, solved(*tm, coefficients(false, a), f, solver));
      const auto [by_across, by_along] = tm_weights(a);
      r.tm = (by_across * v.across + by_along * v.along) / v.at;
    }
    return r;
  }

  // ---- reciprocity: all derivatives of a datum from one solution with its functional ----
  /// lambda of [equations inside, of the columns, left over below the lines], [rows, sensors].
  Tensor multipliers(const Mode2d& mode, const Solved& s, const DatumChange& d) const {
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
      rows.push_back(-solution(*s.side_matrix,
                               slice(functional, 0, mode.inside, mode.inside + mode.side) -
                                   slice(known, 0, 0, mode.side),
                               solver));
    }
    rows.push_back(below);
    return concatenate(rows, 0);
  }
  /// [sensors, shape of ln_rho] from derivatives [parameters, sensors] along x, y, z, or their sum.
  Tensor along_axes(const Tensor& ln_rho, const Tensor& x, const Tensor& y, const Tensor& z) const {
    const auto plus = [](const Tensor& a, const Tensor& b) {
      return !a.defined() ? b : b.defined() ? a + b : a;
    };
    if (ln_rho.ndim() == 1) return transpose(plus(plus(x, y), z));
    const Tensor any = x.defined() ? x : y;
    const auto or_zero = [&](const Tensor& t) { return t.defined() ? t : 0.0 * any; };
    return stack({transpose(or_zero(x)), transpose(or_zero(y)), transpose(or_zero(z))}, 2);
  }
  Tensor own(const Tensor& of_media) const { return slice(of_media, 0, 0, media.parameters); }

  std::vector<Tensor> jacobian_at(const Tensor& w, const Axes& a, const Tensor& ln_rho) const {
    const Frequency2d f(w);
    const Tensor none = zeros({0}, Dtype::c128) * w;
    std::vector<Tensor> out(6, none);
    if (te) {
      const Solved s = solved(*te, coefficients(true, a), f, solver);
      const TeValues v = te_values(line_values(*te, lines, s), f);
      const Tensor z = v.e / v.h, t = v.hz / v.h, per_h = 1.0 / v.h, per_wh = per_h / f.i_w_mu;
      const Coefficients2d weight{Tensor(), Tensor(), -own(a.sigma_x), -0.5 * own(a.root_sigma_x)};
      const auto derivatives = [&](const DatumChange& d) {
        return along_axes(
            ln_rho, te->sensitivity(weight, f, s.base, s.rise, multipliers(*te, s, d)), {}, {});
      };
      out[0] = z;
      out[3] = derivatives({per_h, -z * sin_turn * per_wh, -z * cos_turn * per_wh});
      out[2] = t;
      out[5] = derivatives(
          {{}, (cos_turn - t * sin_turn) * per_wh, (-sin_turn - t * cos_turn) * per_wh});
    }
    if (tm) {
      const Solved s = solved(*tm, coefficients(false, a), f, solver);
      const LineValues v = line_values(*tm, lines, s);
      const auto [by_across, by_along] = tm_weights(a);
      const Tensor z = (by_across * v.across + by_along * v.along) / v.at, per_h = 1.0 / v.at;
      const Tensor lambda = multipliers(*tm, s, {-z * per_h, by_along * per_h, by_across * per_h});
      const Tensor rho_y = own(a.rho_y), rho_z = own(a.rho_z), root = 0.5 * own(a.root_rho_y);
      Tensor y, zz;
      if (ln_rho.ndim() == 1) {
        y = tm->sensitivity({rho_z, rho_y, Tensor(), root}, f, s.base, s.rise, lambda);
      } else {
        y = tm->sensitivity({Tensor(), rho_y, Tensor(), root}, f, s.base, s.rise, lambda);
        zz = tm->sensitivity({rho_z, Tensor(), Tensor(), Tensor()}, f, s.base, s.rise, lambda);
      }
      if (turned) {  // the medium at the sensor itself
        const auto local = [&](bool along_y) {
          const Tensor ry = take(a.rho_y, sensor_medium), rz = take(a.rho_z, sensor_medium);
          const auto at = [&](const Tensor& r) {
            const auto [p, q] = along_y ? tm_weights_of(r, rz) : tm_weights_of(ry, r);
            return std::vector<Tensor>{p, q};
          };
          const Tensor& r = along_y ? ry : rz;
          const auto change = jvp(at, r, r).second;
          const Tensor by_sensor = (change[0] * v.across + change[1] * v.along) * per_h;
          const Tensor chosen = transpose(one_hot(sensor_medium, media.parameters));
          return chosen * expand_dims(by_sensor, 0);
        };
        y = y + local(true);
        if (ln_rho.ndim() == 1)
          y = y + local(false);
        else
          zz = zz + local(false);
      }
      out[1] = z;
      out[4] = along_axes(ln_rho, {}, y, zz);
    }
    return out;
  }
};

Forward2d::Forward2d(const Mesh2d& mesh, const Sensors2d& sensors, std::vector<double> frequency_hz,
                     const Forward2dOptions& options) {
  auto b = std::make_shared<Body>();
  b->space = space_2d(mesh, options.order);
  if (frequency_hz.empty() || sensors.y.empty())
    throw Error("[Forward2d] needs a frequency and a sensor");
  std::vector<double> w_mu;
  for (const double f : frequency_hz) {
    if (!(f > 0) || !std::isfinite(f)) throw Error("[Forward2d] frequencies must be positive");
    w_mu.push_back(2 * std::numbers::pi * f * mu0);
  }
  const bool has_air = std::any_of(mesh.medium.begin(), mesh.medium.end(),
                                   [](const Medium2d& m) { return m.is_air(); });
  if (options.te && !has_air)
    throw Error("[Forward2d] TE needs the air above the ground in the mesh");
  b->frequency_hz = std::move(frequency_hz);
  b->w_mu = tensor(w_mu);
  b->media = media_of(mesh);
  b->lines = sensor_lines(mesh, b->space, sensors);
  b->cos_turn = tensor(b->lines.cos_turn);
  b->sin_turn = tensor(b->lines.sin_turn);
  b->slope = b->lines.slope;
  b->turned = std::any_of(b->lines.sin_turn.begin(), b->lines.sin_turn.end(),
                          [](double s) { return s != 0; });
  std::vector<Index> medium;
  for (std::size_t s = 0; s < b->lines.above.size(); ++s) {
    const Index up = b->lines.above[s];
    const bool in_air = up < 0 || mesh.medium[up].is_air();
    medium.push_back(b->media.of_cell[in_air ? b->lines.below[s] : up]);
  }
  b->sensor_medium = tensor(medium);
  b->solver = options.solver ? options.solver : solvers::ldlt();
  const CellIntegrals integrals = cell_integrals(b->space);
  if (options.te) b->te = mode_2d(true, mesh, b->space, integrals, b->media, b->lines, options);
  if (options.tm) b->tm = mode_2d(false, mesh, b->space, integrals, b->media, b->lines, options);
  body_ = std::move(b);
}

Responses2d Forward2d::operator()(const Tensor& ln_rho) const {
  const Body& b = *body_;
  b.require_model(ln_rho);
  const Axes a = axes_of(ln_rho, b.media);
  return vmap([&](const Tensor& w) { return b.at_one_frequency(w, a); })(b.w_mu);
}

Jacobian2d Forward2d::jacobian(const Tensor& ln_rho) const {
  const Body& b = *body_;
  b.require_model(ln_rho);
  const Axes a = axes_of(ln_rho, b.media);
  const auto r = vmap([&](const Tensor& w) { return b.jacobian_at(w, a, ln_rho); })(b.w_mu);
  return {.value = {r[0], r[1], r[2]}, .te = r[3], .tm = r[4], .tipper = r[5]};
}

Fields2d Forward2d::fields(const Tensor& ln_rho) const {
  const Body& b = *body_;
  b.require_model(ln_rho);
  const Axes a = axes_of(ln_rho, b.media);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const auto at_nodes = [&](const Mode2d& mode) {
    std::vector<Index> from;
    for (const Index k : mode.freedom) from.push_back(k < 0 ? mode.freedoms() : k);
    const Tensor places = tensor(from), beyond = full({1}, c128(nan, nan), Dtype::c128);
    return vmap([&](const Tensor& w) {
      const Solved s = solved(mode, coefficients(mode.te, a), Frequency2d(w), b.solver);
      return take(concatenate({s.base + s.rise, beyond}), places);
    })(b.w_mu);
  };
  const Tensor none = zeros({static_cast<Index>(b.frequency_hz.size()), 0}, Dtype::c128);
  return {b.te ? at_nodes(*b.te) : none, b.tm ? at_nodes(*b.tm) : none};
}

const std::vector<double>& Forward2d::frequency_hz() const { return body_->frequency_hz; }
Index Forward2d::parameters() const { return body_->media.parameters; }
Index Forward2d::unknowns() const {
  return (body_->te ? body_->te->inside : 0) + (body_->tm ? body_->tm->inside : 0);
}

Tensor ln_apparent_resistivity(const Tensor& impedance, const std::vector<double>& frequency_hz) {
  std::vector<double> ln_w_mu;
  for (const double f : frequency_hz) ln_w_mu.push_back(std::log(2 * std::numbers::pi * f * mu0));
  Tensor shift = tensor(ln_w_mu);
  for (int k = 1; k < impedance.ndim(); ++k) shift = expand_dims(shift, 1);
  return log(square(real(impedance)) + square(imag(impedance))) - shift;
}

Tensor phase_degrees(const Tensor& impedance) { return arg(impedance) * (180 / std::numbers::pi); }

}  // namespace tessera::inversion
