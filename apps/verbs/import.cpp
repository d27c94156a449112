// SPDX-License-Identifier: Apache-2.0
#include "support/report.h"
#include "tessera/data/file_io.h"
#include "tessera/data/text_reader.h"
#include "verbs/verbs.h"

#include <iostream>

namespace tessera::apps {
namespace fs = std::filesystem;

data::ExitCode verb_import(const CommandLine& line) {
  const std::string ending = data::upper(line.path.extension().string());
  std::string known;
  for (const App& app : all_apps())
    for (const Importer& importer : app.importers) {
      if (data::upper(importer.ending) != ending) {
        known += (known.empty() ? "" : ", ") + importer.ending + " (" + importer.what + ")";
        continue;
      }
      std::error_code
          failed;  // what cannot be looked at cannot be written either, and is told then
      if (fs::equivalent(line.output, line.path, failed))
        throw usage_error("'" + line.output.string() + "' is the file that is imported",
                          "name another file for the configuration");
      const Imported made = importer.read(line.path, line.output.parent_path());
      report(made.remarks, false);
      if (line.output.empty()) {
        std::cout << made.toml;
        return data::ExitCode::ok;
      }
      if (fs::exists(fs::symlink_status(line.output, failed)) && !line.run.force)
        throw usage_error("'" + line.output.string() + "' exists",
                          "name another file, or give --force");
      data::write_file_atomically(line.output, made.toml);
      return data::ExitCode::ok;
    }
  throw usage_error(
      "'" + line.path.filename().string() + "' is no input of another program that is known here",
      "known: " + known);
}

}  // namespace tessera::apps
