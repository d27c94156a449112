// SPDX-License-Identifier: Apache-2.0
#include "support/report.h"
#include "tessera/data/file_io.h"
#include "verbs/verbs.h"

#include <iostream>

namespace tessera::apps {
namespace fs = std::filesystem;

data::ExitCode verb_new(const CommandLine& line) {
  const App& app = app_called(line.word);
  if (!app.make_example) throw usage_error(app.name + " has no example");
  const fs::path dir =
      line.path.empty() ? fs::path(app.name.substr(app.name.find('.') + 1)) : line.path;
  std::error_code failed;  // what cannot be looked at cannot be made either, and is told then
  const bool existed = fs::exists(fs::symlink_status(dir, failed));
  if (existed && !fs::is_directory(dir, failed))
    throw usage_error("'" + dir.string() + "' exists and is no folder");
  const bool empty = !existed || fs::is_empty(dir, failed);
  if (existed && failed) data::throw_io_error(dir, "look into the folder", failed.value());
  if (!empty && !line.run.force)
    throw usage_error("the folder '" + dir.string() + "' is not empty",
                      "name another one, or give --force to write into it");
  data::make_folder(dir);
  try {
    const fs::path file = app.make_example(dir, line.seed);
    std::cout << file.string() << "\n";
    if (line.run.verbosity >= 0)
      std::cerr << "next: tessera run " << for_shell(file.string()) << "\n";
  } catch (...) {
    std::error_code ignored;
    if (!existed) fs::remove_all(dir, ignored);
    throw;
  }
  return data::ExitCode::ok;
}

}  // namespace tessera::apps
