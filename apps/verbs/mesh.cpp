// SPDX-License-Identifier: Apache-2.0
#include "support/report.h"
#include "tessera/data/file_io.h"
#include "verbs/verbs.h"

#include <nlohmann/json.hpp>

#include <iostream>

namespace tessera::apps {
namespace fs = std::filesystem;

data::ExitCode verb_mesh(const CommandLine& line) {
  const Case c = read_case(line.path, line.overrides);
  const Ready ready = prepare(c, line.run);
  if (!ready.made.mesh)
    throw usage_error(c.app.name + " has no grid to show", "electromagnetics.fdtd has");
  const CheckReport inputs = ready.made.check();
  if (stops(inputs, line.run))
    throw data::InputError(data::ExitCode::input_invalid, inputs.findings);
  if (!line.json) report(inputs.findings, false);
  const fs::path folder = line.output.empty() ? line.path.stem().concat(".mesh") : line.output;
  std::error_code failed;
  if (fs::exists(fs::symlink_status(folder, failed)) && !line.run.force)
    throw usage_error("'" + folder.string() + "' exists", "name another folder, or give --force");
  data::make_folder(folder);
  const MeshReport made = ready.made.mesh(folder);
  if (line.json) {
    nlohmann::ordered_json axes = nlohmann::ordered_json::array(),
                           files = nlohmann::ordered_json::array();
    for (std::size_t r = 1; r < made.table.size(); ++r)
      for (std::size_t k = 0; k < made.table[r].size(); ++k)
        axes[r - 1][made.table[0][k]] = made.table[r][k];
    for (const fs::path& f : made.files) files.push_back(f.string());
    std::cout << nlohmann::ordered_json{{"axes", axes}, {"lines", made.lines}, {"files", files}}
                     .dump(2, ' ', false, nlohmann::json::error_handler_t::replace)
              << "\n";
    return data::ExitCode::ok;
  }
  std::cout << text_of(made.table);
  for (const std::string& text : made.lines) std::cout << text << "\n";
  for (const fs::path& f : made.files) std::cout << f.string() << "\n";
  return data::ExitCode::ok;
}

}  // namespace tessera::apps
