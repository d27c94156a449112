// SPDX-License-Identifier: Apache-2.0
// What results.h5 keeps of how its transforms were made, so that a later run can be sure that it
// may subtract them.
#pragma once
#include "electromagnetics/fdtd/case.h"
#include "tessera/data/hdf5.h"
#include "tessera/electromagnetics/samples.h"

#include <map>
#include <string>
#include <vector>

namespace tessera::apps::fdtd {

struct MonitorResult;

/// Of one monitor.
struct TransformRecord {
  double dt_s = 0;
  int every = 1;
  /// Of each of the six components: how many unknowns, then how many x and these, the same for y
  /// and z.
  std::vector<double> positions;
};
std::vector<double> positions_of(const electromagnetics::SampleList& samples);

/// A monitor that does not fit, with where and why; make_monitors gives it its place in the case.
struct MonitorFault : Error {
  MonitorFault(std::string of, const std::string& message, std::string way_out)
      : Error(message), key(std::move(of)), hint(std::move(way_out)) {}
  std::string key, hint;  ///< key "subtract" within the monitor
};

void write_sources(data::H5Writer& file, const Case& c);

/// The monitor of this name in the run that `o.subtract` names, once the two agree in sources, time
/// step, positions and frequencies; throws MonitorFault where they do not. How often each looked
/// may differ.
MonitorResult former_result(const Case& c, const MonitorOptions& o,
                            const std::vector<double>& frequencies_hz,
                            const electromagnetics::SampleList& samples);

}  // namespace tessera::apps::fdtd
