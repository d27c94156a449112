// SPDX-License-Identifier: Apache-2.0
// GROMACS has a seed for the velocities that it draws, gen-seed, and one for all other noise,
// ld-seed; -1, the default of both, stands for another one in every run that grompp prepares (user
// guide, "Run control", "Velocity generation"). Here a run has one seed.
#include "mdp/mdp_reader.h"
#include "tessera/data/random.h"

#include <fmt/format.h>

#include <algorithm>
#include <random>
#include <utility>

namespace tessera::molecular {

void MdpReader::seeds() {
  Dynamics& o = stage_.dynamics;
  const bool velocities = stage_.draws_velocities.value_or(false),
             noise = o.scheme == Dynamics::Scheme::langevin ||
                     o.thermostat == Dynamics::Thermostat::v_rescale ||
                     o.thermostat == Dynamics::Thermostat::andersen ||
                     o.barostat == Dynamics::Barostat::c_rescale;
  const std::int64_t gen = in_.whole("gen-seed", -1), ld = in_.whole("ld-seed", -1);
  const auto note = [&](const char* key, std::string what) {
    const MdpEntries::Entry* e = in_.find(key);
    in_.findings.note(727, e ? e->at : in_.end(),
                      fmt::format("{}: seed = {}", std::move(what), *out_.seed),
                      "all runs of a case have its seed; give copies of it others");
  };
  const bool any_gen = velocities && gen == -1, any_ld = noise && ld == -1;
  if (any_gen || any_ld) {
    out_.seed = std::random_device()();
    note(any_gen ? "gen-seed" : "ld-seed",
         fmt::format("{} -1, as where nothing is given: another seed in every run of GROMACS, "
                     "drawn here by the import",
                     any_gen && any_ld ? "gen-seed and ld-seed are"
                     : any_gen         ? "gen-seed is"
                                       : "ld-seed is"));
  } else if (velocities || noise) {
    const std::int64_t first = velocities ? gen : ld, second = noise ? ld : gen;
    if (first == second && first >= 0) {
      out_.seed = static_cast<std::uint64_t>(first);
    } else {
      out_.seed = data::philox(
          {static_cast<std::uint64_t>(first), static_cast<std::uint64_t>(second)}, 0)[0];
      note("ld-seed",
           "there is one seed here, made of gen-seed and ld-seed where a run needs both");
    }
  } else if (const std::int64_t given = std::max(gen, ld); given >= 0) {
    out_.seed = static_cast<std::uint64_t>(given);
  }
  if (out_.seed) o.seed = *out_.seed;
}

}  // namespace tessera::molecular
