// SPDX-License-Identifier: Apache-2.0
//
// One frequency is a function in engine operations; vmap makes it all frequencies.
#include "tessera/inversion/forward_2d.h"

#include "body.h"
#include "tessera/autodiff/error.h"
#include "tessera/autodiff/grad.h"
#include "tessera/inversion/constants.h"
#include "tessera/solvers/ldlt.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
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

/// On the rim of air that is shut in Hx is constant, but not 1.
void require_open_air(const Mesh2d& m, const Space2d& s) {
  const double top = *std::min_element(m.z.begin(), m.z.end());
  std::vector<bool> open(static_cast<std::size_t>(m.cells()), false);
  std::vector<Index> front;
  const auto take_in = [&](Index c) {
    if (c < 0 || open[c] || !m.medium[c].is_air()) return;
    open[c] = true;
    front.push_back(c);
  };
  for (const Edge2d& e : s.edges)
    if (e.cell[1] < 0 && s.z[e.node[0]] == top && s.z[e.node[1]] == top) take_in(e.cell[0]);
  while (!front.empty()) {
    const Index c = front.back();
    front.pop_back();
    for (int k = 0; k < s.corners; ++k)
      for (const Index other : s.edges[s.edge[c * s.corners + k]].cell) take_in(other);
  }
  for (Index c = 0; c < m.cells(); ++c)
    if (m.medium[c].is_air() && !open[c])
      throw Error(
          "[Forward2d] the air near y = " + std::to_string(m.middle(c).first) +
          ", z = " + std::to_string(m.middle(c).second) +
          " is shut in: TM takes only air that reaches the top; give it a high resistivity");
}

}  // namespace

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
  if (options.tm) require_open_air(mesh, b->space);
  b->frequency_hz = std::move(frequency_hz);
  b->w_mu = tensor(w_mu);
  b->tipper = options.tipper;
  b->media = media_of(mesh);
  b->lines = sensor_lines(mesh, b->space, sensors);
  b->cos_turn = tensor(b->lines.cos_turn);
  b->sin_turn = tensor(b->lines.sin_turn);
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
  b->integrals = cell_integrals(b->space);
  if (options.te) b->te = mode_2d(true, mesh, b->space, b->integrals, b->media, b->lines, options);
  if (options.tm) b->tm = mode_2d(false, mesh, b->space, b->integrals, b->media, b->lines, options);
  body_ = std::move(b);
}

Responses2d Forward2d::operator()(const Tensor& ln_rho) const {
  const Body& b = *body_;
  b.require_model(ln_rho);
  const Axes a = axes_of(ln_rho, b.media);
  return vmap([&](const Tensor& w) { return b.at_one_frequency(w, a); })(b.w_mu);
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
