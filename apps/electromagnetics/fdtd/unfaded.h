// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "tessera/electromagnetics/fading.h"

#include <string>

namespace tessera::apps::fdtd {

/// Transforms of fields that are still above this are told: their amplitude is a hundredth of the
/// largest.
constexpr double kFadedDb = 40;

/// The warning about a monitor whose fields had not fallen by kFadedDb, with how long the run would
/// have to be; empty if they had. `by_decay`: run.stop.decay_db is given.
std::string unfaded(const std::string& monitor, const electromagnetics::Fading::Report& r,
                    double time_s, double dt_s, bool by_decay);

}  // namespace tessera::apps::fdtd
