// SPDX-License-Identifier: Apache-2.0
#include "tessera/molecular/divided_dynamics.h"

#include "divided/divided_forces.h"
#include "divided/rows.h"
#include "domains/domain.h"
#include "dynamics/integrator_impl.h"
#include "nonbonded/pair_reach.h"
#include "tessera/molecular/forces.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

namespace tessera::molecular {
namespace {

double now_s() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

std::string why_not_divided(const Nonbonded& o, const Dynamics& dynamics, const Box& box) {
  if (std::string why = why_forces_not_divided(o, box); !why.empty()) return why;
  if (dynamics.barostat == Dynamics::Barostat::monte_carlo)
    return "trial moves of monte_carlo are of all molecules";
  return {};
}

struct DividedDynamics::Impl {
  using Steps = Integrator::Impl;
  System system;
  Nonbonded options;
  ForceOptions forces;
  parallel::Communicator& c;
  Others others;
  std::vector<double> weights;
  Steps all;  ///< of all atoms, which computes no forces

  std::shared_ptr<Domain> domain;
  ForceFunction force, slow;
  std::unique_ptr<const Steps> steps;  ///< of own atoms
  State m;
  State before;  ///< and its atoms
  std::vector<std::int32_t> own_before;
  double seconds = 0;

  Impl(const System& s, const Nonbonded& o, const ForceOptions& f, const Dynamics& dynamics,
       parallel::Communicator& ranks, std::vector<double> w)
      : system(s),
        options(o),
        forces(f),
        c(ranks),
        others(ranks),
        weights(w.empty() ? std::vector<double>(static_cast<std::size_t>(ranks.size()), 1.0)
                          : std::move(w)),
        all(s, {}, dynamics, dynamics.slow_every > 1 ? ForceFunction(nothing) : ForceFunction()) {
    if (weights.size() != static_cast<std::size_t>(ranks.size()) ||
        std::ranges::any_of(weights, [](double v) { return !(v > 0) || !std::isfinite(v); }))
      dynamics_fault(fmt::format("{} ranks need a positive weight each, got {}", ranks.size(),
                                 weights.size()));
  }
  static void nothing(const std::vector<Vec3>&, const Box&, Forces&) {}

  /// This rank's part of a state of all atoms.
  void divide(const State& whole) {
    if (const std::string why = why_not_divided(options, all.o, whole.frame.box); !why.empty())
      dynamics_fault("steps cannot be divided: " + why);
    const auto reach = [o = options, f = forces](const Box& box) { return list_reach(o, f, box); };
    domain = std::make_shared<Domain>(system, c, reach, whole.frame.box, whole.frame.x_nm, weights);
    const auto part = [&](ForceOptions::Part which) -> ForceFunction {
      ForceOptions run = forces;
      run.part = which;
      return [this, f = ForceEvaluator(system, options, run, domain)](const std::vector<Vec3>& x,
                                                                      const Box& box, Forces& out) {
        const double begin = now_s();
        f(x, box, out);
        seconds += now_s() - begin;
      };
    };
    using Part = ForceOptions::Part;
    force = part(all.slow ? Part::fast : Part::all);
    slow = all.slow ? part(Part::slow) : ForceFunction();
    m = whole;
    for (std::vector<Vec3>* rows : {&m.frame.x_nm, &m.frame.v_nm_ps, &m.forces.f, &m.slow.f})
      *rows = rows_of(*rows, domain->own());
    take_own();
  }
  void take_own() {
    steps = std::make_unique<const Steps>(all, domain->own(), others, force, slow);
  }
  void deal() {
    std::vector<std::vector<Vec3>*> rows = {&m.frame.x_nm, &m.frame.v_nm_ps, &m.forces.f};
    if (slow) rows.push_back(&m.slow.f);
    domain->deal(rows);
    take_own();
  }
  /// f(), and where a rank fails in it all throw.
  template <class F>
  void together(F&& f) const {
    try {
      f();
    } catch (const OneGaveUp&) {
      throw;
    } catch (const parallel::CommunicationFailed&) {
      throw;
    } catch (const Error& e) {
      others.give_up(e.what());
    }
  }
  State gathered(State of, const std::vector<std::int32_t>& own) const {
    for (std::vector<Vec3>* rows : {&of.frame.x_nm, &of.frame.v_nm_ps, &of.forces.f, &of.slow.f})
      if (rows != &of.slow.f || slow) *rows = gathered_rows(c, own, *rows, system.n_atoms());
    return of;
  }
};

DividedDynamics::DividedDynamics(const System& system, const Nonbonded& options,
                                 const ForceOptions& forces, const Dynamics& dynamics,
                                 parallel::Communicator& ranks, std::vector<double> weights)
    : impl_(std::make_unique<Impl>(system, options, forces, dynamics, ranks, std::move(weights))) {}
DividedDynamics::~DividedDynamics() = default;
DividedDynamics::DividedDynamics(DividedDynamics&&) noexcept = default;

void DividedDynamics::begin(Frame frame) {
  Impl& s = *impl_;
  s.together([&] {
    s.divide(s.all.start(std::move(frame)));
    s.steps->evaluate(s.m, s.m.frame.step, true);
    s.steps->set_going(s.m);
  });
  s.before = s.m;
  s.own_before = s.domain->own();
}

void DividedDynamics::go_on(const State& whole) {
  Impl& s = *impl_;
  s.together([&] { s.divide(whole); });
  s.before = s.m;
  s.own_before = s.domain->own();
}

void DividedDynamics::step(std::int64_t n, bool reported) {
  Impl& s = *impl_;
  s.before = s.m;
  s.own_before = s.domain->own();
  s.together([&] {
    for (std::int64_t k = 0; k < n; ++k) {
      if (s.domain->wants_dealing()) s.deal();
      s.steps->step(s.m, reported && k + 1 == n);
    }
  });
}

Energies DividedDynamics::energies() const {
  Energies e;
  impl_->together([&] { e = impl_->steps->energies(impl_->m); });
  return e;
}

bool DividedDynamics::slower_than(double speed) const {
  const auto& v = impl_->m.frame.v_nm_ps;
  return impl_->others.all(std::ranges::all_of(
      v, [&](const Vec3& u) { return u[0] * u[0] + u[1] * u[1] + u[2] * u[2] <= speed * speed; }));
}

const State& DividedDynamics::state() const { return impl_->m; }
const std::vector<std::int32_t>& DividedDynamics::own() const { return impl_->domain->own(); }
std::size_t DividedDynamics::atoms_with_copies() const { return impl_->domain->numbers().size(); }
State DividedDynamics::whole() const { return impl_->gathered(impl_->m, impl_->domain->own()); }
State DividedDynamics::whole_before() const {
  return impl_->gathered(impl_->before, impl_->own_before);
}
double DividedDynamics::seconds_of_forces() const { return impl_->seconds; }

}  // namespace tessera::molecular
