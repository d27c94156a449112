// SPDX-License-Identifier: Apache-2.0
#include "support/app.h"

#include "tessera/parallel/mpi.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <thread>

namespace tessera::apps {

int thread_count(const RunOptions& options) {
  if (options.threads > 0) return options.threads;
  const char* told = std::getenv("OMP_NUM_THREADS");
  if (const int n = told ? std::atoi(told) : 0; n > 0) return n;
  const auto mine = static_cast<int>(std::thread::hardware_concurrency());
  const bool all = mine == static_cast<int>(::sysconf(_SC_NPROCESSORS_ONLN));
  const int ranks = std::max(1, options.thread_ranks) * (all ? parallel::mpi_ranks_here() : 1);
  return std::max(1, mine / ranks);
}

const std::vector<App>& all_apps() {
  static const std::vector<App> apps = [] {
    std::vector<App> list;
    for (const AppEntry& entry : app_table()) {
      list.push_back(entry.make());
      list.back().name = entry.name;
    }
    std::sort(list.begin(), list.end(), [](const App& a, const App& b) { return a.name < b.name; });
    return list;
  }();
  return apps;
}

const App* find_app(const std::string& name) {
  for (const App& app : all_apps())
    if (app.name == name) return &app;
  return nullptr;
}

}  // namespace tessera::apps
