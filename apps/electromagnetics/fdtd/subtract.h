// SPDX-License-Identifier: Apache-2.0
// Former runs that monitors subtract: what results.h5 keeps of sources and transforms
// (electromagnetics/run_record.h), and how it is read again.
#pragma once
#include "electromagnetics/fdtd/options.h"
#include "electromagnetics/waves/case.h"
#include "tessera/data/hdf5.h"
#include "tessera/electromagnetics/run_record.h"

#include <string>
#include <vector>

namespace tessera::apps::fdtd {

struct MonitorResult;

/// A monitor that does not fit, with where and why; make_monitors gives it its place in the case.
struct MonitorFault : Error {
  MonitorFault(std::string of, const std::string& message, std::string way_out, int as = 660)
      : Error(message), key(std::move(of)), hint(std::move(way_out)), number(as) {}
  std::string key, hint;  ///< key "subtract" within the monitor
  int number;             ///< of the error
};

void write_sources(data::H5Writer& file, const Case& c);

/// The monitor of this name in the run that `o.subtract` names, once the two agree in sources, time
/// step, positions and frequencies; throws MonitorFault where they do not.
MonitorResult former_result(const Case& c, const MonitorOptions& o,
                            const electromagnetics::TransformRecord& own);

}  // namespace tessera::apps::fdtd
