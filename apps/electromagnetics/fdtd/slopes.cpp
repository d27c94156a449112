// SPDX-License-Identifier: Apache-2.0
#include "electromagnetics/fdtd/slopes.h"

#include "tessera/data/log.h"
#include "tessera/data/progress.h"
#include "tessera/data/stop.h"

#include <charconv>
#include <csignal>
#include <string>
#include <string_view>

namespace tessera::apps::fdtd {
namespace {

namespace em = electromagnetics;
using Bytes = std::vector<std::byte>;

/// What rank 0 says to the others, with the number of the monitor.
constexpr std::string_view kOrder = "derivatives of monitor ";

Bytes order_of(std::size_t monitor) {
  const std::string text = std::string(kOrder) + std::to_string(monitor);
  const auto* first = reinterpret_cast<const std::byte*>(text.data());
  return {first, first + text.size()};
}
std::optional<std::size_t> monitor_of(const Bytes& told) {
  const std::string_view text(reinterpret_cast<const char*>(told.data()), told.size());
  if (!text.starts_with(kOrder)) return {};
  std::size_t monitor = 0;
  std::from_chars(text.data() + kOrder.size(), text.data() + text.size(), monitor);
  return monitor;
}

}  // namespace

data::ExitCode differentiate(RunContext& context, const MonitoredCase& made, em::TimeDomain& run,
                             const std::function<void()>& save) {
  if (made.c.shape_derivatives.empty()) return data::ExitCode::ok;
  const double count = static_cast<double>(made.c.shape_derivatives.size());
  data::Progress progress({.style = context.progress_style,
                           .phase = "derivatives",
                           .unit = "per mille",
                           .total = 1000,
                           .heartbeat = context.folder.heartbeat_json()});
  double finished = 0;
  for (std::size_t m = 0; m < made.monitors.size(); ++m) {
    Monitor& monitor = *made.monitors[m];
    const std::string& name = monitor.options().name;
    if (!made.c.shape_derivatives.count(name)) continue;
    if (monitor.is_differentiated()) {
      finished += 1;
      continue;
    }
    const auto go_on = [&](double share) {
      progress.update(static_cast<std::uint64_t>(1000 * (finished + share) / count));
      return context.stop.poll() == data::StopReason::none;
    };
    bool whole = false;
    run.on_each_rank(order_of(m), [&](em::TimeDomain& own, const Bytes&) {
      whole = monitor.differentiate(own.step(), own.cut(), go_on);
      return Bytes();
    });
    if (!whole) {
      // Where it was another rank: as if it had come to this one.
      if (context.stop.poll() == data::StopReason::none) std::raise(SIGTERM);
      progress.finish("stopped");
      return data::ExitCode::stopped_resumable;
    }
    save();
    finished += 1;
    context.log.info("derivatives of monitor '" + name + "' are there");
  }
  progress.finish();
  return data::ExitCode::ok;
}

std::optional<Bytes> work_on_slopes(const MonitoredCase& made, em::TimeDomain& run,
                                    const Bytes& told, const std::function<bool()>& go_on) {
  const std::optional<std::size_t> monitor = monitor_of(told);
  if (!monitor) return {};
  made.monitors.at(*monitor)->differentiate(run.step(), run.cut(), [&](double) { return go_on(); });
  return Bytes();
}

}  // namespace tessera::apps::fdtd
