// SPDX-License-Identifier: Apache-2.0
#include "divided/divided_forces.h"

#include "divided/rows.h"
#include "domains/domain.h"
#include "nonbonded/pair_reach.h"

#include <array>
#include <limits>
#include <map>
#include <utility>

namespace tessera::molecular {

std::string why_forces_not_divided(const Nonbonded& o, const Box& box) {
  if (!is_periodic(box)) return "there is no periodic box";
  if (o.coulomb == Nonbonded::Coulomb::ewald) return "an Ewald sum without a grid is of all atoms";
  return {};
}

struct DividedForces::Impl {
  using Part = ForceOptions::Part;
  struct Asked {
    bool end = true, energies = false;
    Part part = Part::all;
    Box box;
  };

  System system;
  Nonbonded options;
  ForceOptions run;
  parallel::Communicator& ranks;
  std::vector<double> weights;
  std::shared_ptr<Domain> domain;
  std::map<Part, ForceFunction> of_part;  ///< on own atoms
  bool in_between = true;                 ///< the others wait to be asked
  bool others_stop = false;

  ~Impl() {
    // Where rank 0 has failed in the middle of something the others are ended otherwise.
    if (ranks.rank() == 0 && in_between) try {
        ranks.broadcast(parallel::to_bytes(std::vector{Asked{}}));
      } catch (const Error&) {
      }
  }

  /// Rank 0 hears of those that want to stop.
  void hear_of_stops(bool mine) {
    others_stop = false;
    for (const parallel::Bytes& b : ranks.gather({static_cast<std::byte>(mine)}))
      others_stop = others_stop || b.at(0) != std::byte{0};
  }
  /// This rank's share, at positions of all atoms; the forces on them at rank 0. What cannot be
  /// computed is thrown on all ranks.
  void take_part(const Asked& asked, const std::vector<Vec3>& x, Forces& out) {
    if (!domain)
      domain = std::make_shared<Domain>(
          system, ranks, [o = options, f = run](const Box& box) { return list_reach(o, f, box); },
          asked.box, x,
          weights.empty() ? std::vector<double>(static_cast<std::size_t>(ranks.size()), 1.0)
                          : weights);
    if (asked.part != Part::slow && domain->wants_dealing()) domain->deal({});
    const std::vector<Vec3> own = rows_of(x, domain->own());
    ForceFunction& forces = of_part[asked.part];
    if (!forces) {
      ForceOptions part = run;
      part.part = asked.part;
      forces = ForceEvaluator(system, options, part, domain);
    }
    out.wants_energies = asked.energies;
    forces(own, asked.box, out);
    out.f = gathered_rows(ranks, domain->own(), out.f, system.n_atoms());
  }
};

DividedForces::DividedForces(const System& system, const Nonbonded& options,
                             const ForceOptions& run, parallel::Communicator& ranks,
                             std::vector<double> weights)
    : impl_(new Impl{system, options, run, ranks, std::move(weights), {}, {}}) {}

ForceFunction DividedForces::of(ForceOptions::Part part) const {
  ForceOptions run = impl_->run;
  run.part = part;
  return [impl = impl_, part, alone = ForceEvaluator(impl_->system, impl_->options, run)](
             const std::vector<Vec3>& x, const Box& box, Forces& out) {
    const Impl::Asked asked = {false, out.wants_energies, part, box};
    impl->in_between = false;
    impl->ranks.broadcast(parallel::to_bytes(std::vector{asked}));
    impl->ranks.broadcast(parallel::to_bytes(x));
    impl->hear_of_stops(false);
    try {
      impl->take_part(asked, x, out);
    } catch (const OneGaveUp&) {
      throw;
    } catch (const parallel::CommunicationFailed&) {
      throw;
    } catch (const Error&) {  // on all ranks; alone this one names the atom
      impl->in_between = true;
      alone(x, box, out);
      throw;
    }
    impl->in_between = true;
  };
}

bool DividedForces::others_want_to_stop() const { return impl_->others_stop; }

void DividedForces::help(const std::function<bool()>& wants_to_stop) const {
  parallel::Communicator& ranks = impl_->ranks;
  const auto hear = [&] {
    // Rank 0 may write files, or have work of its own.
    const double tell = std::exchange(ranks.patience.tell, std::numeric_limits<double>::infinity());
    const auto asked = parallel::from_bytes<Impl::Asked>(ranks.broadcast({})).at(0);
    ranks.patience.tell = tell;
    return asked;
  };
  for (Impl::Asked asked = hear(); !asked.end; asked = hear()) {
    const auto x = parallel::from_bytes<Vec3>(ranks.broadcast({}));
    impl_->hear_of_stops(wants_to_stop && wants_to_stop());
    Forces out;
    try {
      impl_->take_part(asked, x, out);
    } catch (const parallel::CommunicationFailed&) {
      throw;
    } catch (const Error&) {  // rank 0 has thrown it, too, and tells
    }
  }
}

}  // namespace tessera::molecular
