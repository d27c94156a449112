// SPDX-License-Identifier: Apache-2.0
#include "electromagnetics/fdtd/port_monitor.h"

namespace tessera::apps::fdtd {

std::vector<std::unique_ptr<PortMonitor>> make_port_monitors(const Case& c,
                                                             const data::Config& config) {
  std::vector<std::unique_ptr<PortMonitor>> out;
  for (std::size_t p = 0; p < c.ports.size(); ++p) try {
      switch (c.options.ports[p].kind) {
        case PortKind::mode:
          out.push_back(make_mode_port_monitor(c, p));
          break;
        case PortKind::lumped:
          out.push_back(make_lumped_port_monitor(c, p));
      }
    } catch (const data::InputError&) {
      throw;
    } catch (const Error& e) {
      throw data::InputError(data::ExitCode::config_invalid,
                             {config.error(667, c.ports[p].key, e.what(), "see the port's keys")});
    }
  return out;
}

const PortMonitor& port_monitor(const std::vector<std::unique_ptr<Monitor>>& all, std::size_t port,
                                std::size_t count) {
  return dynamic_cast<const PortMonitor&>(*all[all.size() - count + port]);
}

}  // namespace tessera::apps::fdtd
