// SPDX-License-Identifier: Apache-2.0
#include "support/report.h"
#include "tessera/autodiff/forall.h"
#include "tessera/data/memory.h"
#include "tessera/data/sweep.h"
#include "verbs/verbs.h"

#include <nlohmann/json.hpp>

#include <iomanip>
#include <iostream>

namespace tessera::apps {
namespace {

std::uint64_t disk_available() {
  std::error_code ec;
  const auto space = std::filesystem::space(std::filesystem::current_path(ec), ec);
  return ec ? 0 : space.available;
}

nlohmann::ordered_json json_of(const std::vector<std::vector<std::string>>& table) {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (std::size_t r = 1; r < table.size(); ++r) {
    nlohmann::ordered_json row = nlohmann::ordered_json::object();
    for (std::size_t k = 0; k < table[r].size(); ++k) row[table[0][k]] = table[r][k];
    rows.push_back(row);
  }
  return rows;
}

}  // namespace

data::ExitCode verb_estimate(const CommandLine& line) {
  const Case c = read_case(line.path, line.overrides);
  set_num_threads(thread_count(line.run));
  const Ready ready = prepare(c, line.run);
  Estimate e = ready.made.estimate();
  if (const auto sweep = data::read_sweep(c.config))
    e.notes.push_back("a sweep of it has " + std::to_string(sweep->points.size()) +
                      " such runs, one after the other");
  if (line.run.estimated_ranks > 0 && !e.of_rank)
    throw usage_error("--ranks: what one of " + std::to_string(line.run.estimated_ranks) +
                          " ranks takes of this case of " + c.app.name + " is not estimated",
                      "waves with a cell for each rank along y or z, soundings, and molecules in "
                      "a periodic box are");
  std::uint64_t memory = 0;
  for (const auto& [what, bytes] : e.memory_bytes) memory += bytes;
  const std::uint64_t memory_free = data::memory_free(), disk_free = disk_available();
  const bool fits =
      (!memory_free || memory <= memory_free) && (!disk_free || e.disk_bytes <= disk_free);
  if (line.json) {
    nlohmann::ordered_json parts = nlohmann::ordered_json::object();
    for (const auto& [what, bytes] : e.memory_bytes) parts[what] = bytes;
    nlohmann::ordered_json j = {{"app", c.app.name},
                                {"memory_bytes", parts},
                                {"memory_total_bytes", memory},
                                {"memory_available_bytes", memory_free},
                                {"disk_bytes", e.disk_bytes},
                                {"disk_available_bytes", disk_free},
                                {"seconds", e.seconds},
                                {"fits", fits},
                                {"notes", e.notes}};
    if (!e.table.empty()) j["parts"] = json_of(e.table);
    if (e.of_rank)
      j["of_rank"] = {{"ranks", line.run.estimated_ranks},
                      {"memory_bytes", e.of_rank->memory_bytes},
                      {"sent_bytes", e.of_rank->sent_bytes},
                      {"messages", e.of_rank->messages}};
    std::cout << j.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) << "\n";
  } else {
    std::cout << "memory\n";
    for (const auto& [what, bytes] : e.memory_bytes)
      std::cout << "  " << std::left << std::setw(24) << what
                << bytes_text(static_cast<double>(bytes)) << "\n";
    std::cout << "  " << std::left << std::setw(24) << "total"
              << bytes_text(static_cast<double>(memory)) << " of "
              << bytes_text(static_cast<double>(memory_free)) << " available\n"
              << "disk                      " << bytes_text(static_cast<double>(e.disk_bytes))
              << " of " << bytes_text(static_cast<double>(disk_free)) << " available\n"
              << "time                      " << std::setprecision(3) << e.seconds << " s\n";
    if (!e.table.empty()) std::cout << text_of(e.table);
    if (e.of_rank)
      std::cout << "of " << line.run.estimated_ranks << " ranks, each at most\n"
                << "  memory                  "
                << bytes_text(static_cast<double>(e.of_rank->memory_bytes)) << "\n"
                << "  sends                   " << bytes_text(e.of_rank->sent_bytes) << " in "
                << std::setprecision(3) << e.of_rank->messages << " messages\n";
    for (const std::string& note : e.notes) std::cout << "note: " << note << "\n";
  }
  if (fits) return data::ExitCode::ok;
  std::cerr << "tessera: error: this case would not fit on this machine\n";
  return data::ExitCode::would_not_fit;
}

}  // namespace tessera::apps
