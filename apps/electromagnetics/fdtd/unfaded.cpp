// SPDX-License-Identifier: Apache-2.0
#include "electromagnetics/fdtd/unfaded.h"

#include <fmt/format.h>

namespace tessera::apps::fdtd {

std::string unfaded(const std::string& monitor, const electromagnetics::Fading::Report& r,
                    double time_s, double dt_s, bool by_decay) {
  if (!r.seen)
    return fmt::format(
        "monitor '{}' has seen no field in {:.4g} s: the run ended before a wave came there, or it "
        "lies in a conductor or behind a symmetry",
        monitor, time_s);
  if (r.fallen_db >= kFadedDb) return {};
  const std::string what = fmt::format(
      "monitor '{}': when the run ended, at {:.4g} s, its fields were {:.1f} dB below their "
      "largest; its spectra are cut off",
      monitor, time_s, r.fallen_db);
  const double rate = r.db_a_step / dt_s;
  const std::string how =
      by_decay ? "a higher run.stop.decay_db" : "run.stop.decay_db = 60 instead of a time";
  if (!(rate > 0))
    return what + "; they do not fall yet: let the run go on, by " + how +
           " (a source that never ends lets no spectrum settle)";
  return what + fmt::format(
                    "; they fall by about {:.3g} dB a ps, so that 60 dB take until about {:.3g} s "
                    "(run.stop.time), or set {}",
                    rate * 1e-12, time_s + (60 - r.fallen_db) / rate, how);
}

}  // namespace tessera::apps::fdtd
