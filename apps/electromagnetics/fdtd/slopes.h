// SPDX-License-Identifier: Apache-2.0
// The runs that derivatives in lengths take, once the fields have come to their end. All ranks take
// their slabs' steps.
#pragma once
#include "electromagnetics/fdtd/run.h"
#include "tessera/electromagnetics/time_domain.h"

#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

namespace tessera::apps::fdtd {

/// Those of all monitors that have none yet; calls `save` after each. Those of one that is stopped
/// begin anew when the run is resumed.
data::ExitCode differentiate(RunContext& context, const MonitoredCase& made,
                             electromagnetics::TimeDomain& run, const std::function<void()>& save);

/// What the other ranks do for that (TimeDomain::help); nothing where they are told to do something
/// else. Their monitors are those whose lengths have derivatives; the others are null.
std::optional<std::vector<std::byte>> work_on_slopes(const MonitoredCase& made,
                                                     electromagnetics::TimeDomain& run,
                                                     const std::vector<std::byte>& told,
                                                     const std::function<bool()>& go_on);

}  // namespace tessera::apps::fdtd
