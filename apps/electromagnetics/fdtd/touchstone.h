// SPDX-License-Identifier: Apache-2.0
// S of a run as a Touchstone file, whose references are real numbers, the same at all frequencies.
#pragma once
#include "electromagnetics/fdtd/monitor.h"
#include "tessera/data/log.h"
#include "tessera/data/touchstone.h"

#include <filesystem>
#include <optional>

namespace tessera::apps::fdtd {

/// As a file has it, at the frequencies at which all is told; nothing where there is none, or
/// columns are missing. `s` is that result. S of a complex reference is taken to the real part of
/// it, that of a line to what its impedance is in the middle: comments say so. Modes without an
/// impedance keep their waves, beside 50 ohm.
std::optional<data::Touchstone> touchstone_of(const Case& c, const MonitorResult& s);

/// Writes s_parameters.sNp into the run's folder, as the case wants it; says what its comments say.
void write_touchstone_of(const std::filesystem::path& run, const Case& c, const Results& results,
                         data::Log& log);

}  // namespace tessera::apps::fdtd
