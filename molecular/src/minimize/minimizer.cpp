// SPDX-License-Identifier: Apache-2.0
#include "minimize/minimizer.h"

#include "tessera/autodiff/error.h"
#include "tessera/molecular/virtual_sites.h"
#include "tessera/parallel/communicator.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace tessera::molecular {
namespace {

System of_equal_masses(System s) {
  for (double& m : s.atoms.mass_amu) m = m > 0 ? 1 : 0;
  return s;
}

}  // namespace

double dot(const Positions& a, const Positions& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    sum += a[i][0] * b[i][0] + a[i][1] * b[i][1] + a[i][2] * b[i][2];
  return sum;
}

double longest(const Positions& a) {
  double most = 0;
  for (const Vec3& v : a) most = std::max(most, v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
  return std::sqrt(most);
}

void add(Positions& y, double factor, const Positions& a) {
  for (std::size_t i = 0; i < y.size(); ++i)
    for (std::size_t c = 0; c < 3; ++c) y[i][c] += factor * a[i][c];
}

Minimizer::Impl::Impl(const System& s, ForceFunction f, const Minimization& options,
                      HessianProduct h)
    : system(s),
      force(std::move(f)),
      o(options),
      hessian(std::move(h)),
      constraints(of_equal_masses(s), {.tolerance = 1e-12}) {
  const auto fault = [](const std::string& what) { throw Error("[minimize] " + what); };
  if (!(o.force_tolerance > 0))
    fault(fmt::format("the tolerance of forces must be positive, got {} kJ/mol/nm",
                      o.force_tolerance));
  if (!(o.first_move_nm > 0 && o.most_move_nm > 0))
    fault(fmt::format("moves must be positive, got {} and {} nm", o.first_move_nm, o.most_move_nm));
  if (o.memory < 1) fault(fmt::format("lbfgs keeps at least one pair, got {}", o.memory));
  if (o.method == Minimization::Method::newton_cg) {
    if (!hessian) fault("newton_cg needs Hessian products");
    if (constraints.size() > 0 || !s.virtual_sites.empty())
      fault("Newton-CG takes no constraints and no virtual sites: take L-BFGS");
  }
  held = o.frozen;
  if (held.empty()) held.assign(s.n_atoms(), {});
  if (held.size() != s.n_atoms())
    fault(fmt::format("frozen directions are given for {} of {} atoms", held.size(), s.n_atoms()));
  const std::vector<std::int32_t> rigid = constraints.groups();
  for (std::size_t i = 0; i < s.n_atoms(); ++i) {
    if (s.atoms.mass_amu[i] == 0)
      held[i] = {true, true, true};
    else if (rigid[i] >= 0 && (held[i][0] || held[i][1] || held[i][2]))
      fault(fmt::format("atom {} is frozen and part of a constraint: leave its bonds flexible",
                        i + 1));
  }
}

void Minimizer::Impl::project(const Descent& d, Positions& v) const {
  for (std::size_t i = 0; i < v.size(); ++i)
    for (std::size_t c = 0; c < 3; ++c)
      if (held[i][c]) v[i][c] = 0;
  if (constraints.size() > 0) constraints.apply_to_velocities(d.frame.x_nm, v, d.frame.box);
}

void Minimizer::Impl::evaluate(Descent& d) const {
  place_virtual_sites(system, d.frame.x_nm, d.frame.box);
  force(d.frame.x_nm, d.frame.box, d.forces);
  spread_virtual_forces(system, d.frame.x_nm, d.frame.box, d.forces.f, d.forces.virial);
  d.projected = d.forces.f;
  project(d, d.projected);
  ++d.evaluations;
  double most = -1;
  for (std::size_t i = 0; i < d.projected.size(); ++i) {
    const Vec3& f = d.projected[i];
    const double square = f[0] * f[0] + f[1] * f[1] + f[2] * f[2];
    if (square > most) {
      most = square;
      d.largest_at = i;
    }
  }
  d.largest_force = std::sqrt(std::max(most, 0.0));
}

Descent Minimizer::Impl::moved(const Descent& d, const Positions& move) const {
  Descent out;
  out.frame = d.frame;
  add(out.frame.x_nm, 1, move);
  out.evaluations = d.evaluations;
  try {
    if (constraints.size() > 0)
      constraints.apply_to_positions(d.frame.x_nm, out.frame.x_nm, d.frame.box);
    evaluate(out);
  } catch (const parallel::CommunicationFailed&) {
    throw;
  } catch (const Error&) {  // too far: atoms overlap, or rigid bonds are torn
    out.forces.energy[0] = std::numeric_limits<double>::infinity();
    ++out.evaluations;
  }
  if (!std::isfinite(energy(out))) out.forces.energy[0] = std::numeric_limits<double>::infinity();
  return out;
}

/// Energies are sums of doubles and of contributions rounded to 2^-32 kJ/mol, some hundred of them
/// an atom.
double Minimizer::Impl::noise(const Descent& d) const {
  double sum = 0;
  for (const double e : d.forces.energy) sum += std::abs(e);
  return 1e-14 * sum + 0x1p-28 * std::sqrt(static_cast<double>(system.n_atoms()));
}

Minimizer::Minimizer(const System& system, ForceFunction forces, const Minimization& options,
                     HessianProduct hessian)
    : impl_(std::make_unique<Impl>(system, std::move(forces), options, std::move(hessian))) {}
Minimizer::~Minimizer() = default;
Minimizer::Minimizer(Minimizer&&) noexcept = default;
Minimizer& Minimizer::operator=(Minimizer&&) noexcept = default;

Descent Minimizer::begin(Frame frame) const {
  if (frame.x_nm.size() != impl_->system.n_atoms())
    throw Error(fmt::format("[minimize] {} positions for {} atoms", frame.x_nm.size(),
                            impl_->system.n_atoms()));
  Descent d;
  d.frame = std::move(frame);
  d.frame.v_nm_ps.clear();
  if (impl_->constraints.size() > 0) {
    const Positions before = d.frame.x_nm;
    impl_->constraints.apply_to_positions(before, d.frame.x_nm, d.frame.box);
  }
  impl_->evaluate(d);
  if (d.largest_force <= impl_->o.force_tolerance) d.status = Descent::Status::converged;
  return d;
}

void Minimizer::project(Descent& d) const {
  d.projected = d.forces.f;
  impl_->project(d, d.projected);
}

void Minimizer::step(Descent& d, std::int64_t n) const {
  using Method = Minimization::Method;
  const Impl& m = *impl_;
  for (std::int64_t k = 0; k < n && d.status == Descent::Status::running; ++k) {
    const Method method = m.o.method;
    const bool went = method == Method::steepest_descent ? m.steepest_descent(d)
                      : method == Method::lbfgs          ? m.lbfgs(d)
                      : method == Method::fire           ? m.fire(d)
                                                         : m.newton_cg(d);
    if (!went) {
      d.status = Descent::Status::stuck;
      break;
    }
    ++d.frame.step;
    if (d.largest_force <= m.o.force_tolerance) d.status = Descent::Status::converged;
  }
}

}  // namespace tessera::molecular
