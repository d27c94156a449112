// SPDX-License-Identifier: Apache-2.0
#include "support/app.h"

#include <algorithm>
#include <thread>

namespace tessera::apps {
namespace {

std::vector<App (*)()>& makers() {
  static std::vector<App (*)()> list;
  return list;
}

}  // namespace

int thread_count(const RunOptions& options) {
  return options.threads > 0 ? options.threads
                             : std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

RegisterApp::RegisterApp(App (*make)()) { makers().push_back(make); }

const std::vector<App>& all_apps() {
  static const std::vector<App> apps = [] {
    std::vector<App> list;
    for (auto* make : makers()) list.push_back(make());
    // The order of registration is the linker's; the order that users see is not.
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
