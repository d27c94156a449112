// SPDX-License-Identifier: Apache-2.0
#include "support/report.h"

#include "support/error_catalogue.h"

#include <nlohmann/json.hpp>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <set>
#include <string_view>

namespace tessera::apps {
namespace {

bool colour_on_stderr() {
  const char* off = std::getenv("NO_COLOR");
  return !(off && *off) && ::isatty(STDERR_FILENO);
}

std::string coloured(const std::string& text, data::Severity severity) {
  const char* word = severity == data::Severity::error     ? "error"
                     : severity == data::Severity::warning ? "warning"
                                                           : "note";
  const std::size_t at = text.find(word);
  if (at == std::string::npos) return text;
  const char* colour = severity == data::Severity::error     ? "\033[1;31m"
                       : severity == data::Severity::warning ? "\033[1;35m"
                                                             : "\033[1;36m";
  std::string out = text;
  out.insert(at + std::string_view(word).size(), "\033[0m");
  out.insert(at, colour);
  return out;
}

nlohmann::ordered_json to_json(const data::Diagnostic& d) {
  static constexpr const char* words[] = {"error", "warning", "note"};
  std::array<char, 16> number{};
  std::snprintf(number.data(), number.size(), "E%04d", d.number);
  nlohmann::ordered_json j = {{"severity", words[static_cast<int>(d.severity)]}};
  if (d.number) j["number"] = number.data();
  if (!d.place.file.empty()) j["file"] = d.place.file;
  if (d.place.line) j["line"] = d.place.line;
  if (d.place.column) j["column"] = d.place.column;
  if (d.place.byte) j["byte"] = *d.place.byte;
  j["message"] = d.message;
  if (!d.hint.empty()) j["hint"] = d.hint;
  if (!d.source_line.empty()) j["source_line"] = d.source_line.substr(0, 1000);
  return j;
}

}  // namespace

std::vector<data::Diagnostic> once(std::vector<data::Diagnostic> findings) {
  std::set<std::string> told;
  std::erase_if(findings,
                [&](const data::Diagnostic& d) { return !told.insert(data::to_string(d)).second; });
  return findings;
}

void report(const std::vector<data::Diagnostic>& all, bool json) {
  const std::vector<data::Diagnostic> findings = once(all);
  if (json) {
    nlohmann::ordered_json list = nlohmann::ordered_json::array();
    for (const data::Diagnostic& d : findings) list.push_back(to_json(d));
    // File names may be in any encoding: what is no UTF-8 is replaced, never refused.
    std::cout << list.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) << "\n";
    return;
  }
  const bool colour = colour_on_stderr();
  for (const data::Diagnostic& d : findings) {
    const std::string text = data::to_string(d);
    std::cerr << (colour ? coloured(text, d.severity) : text) << "\n";
  }
}

bool has_errors(const std::vector<data::Diagnostic>& findings) {
  for (const data::Diagnostic& d : findings)
    if (d.severity == data::Severity::error) return true;
  return false;
}

bool stops(const CheckReport& inputs, const RunOptions& options) {
  return has_errors(inputs.findings) && !(options.keep_going && inputs.can_go_on);
}

data::InputError usage_error(std::string message, std::string hint) {
  return data::InputError(
      data::Diagnostic{
          .place = {"tessera", 0, 0, {}}, .message = std::move(message), .hint = std::move(hint)},
      data::ExitCode::usage);
}

std::string shell_quoted(std::string text) {
  for (std::size_t at = 0; (at = text.find('\'', at)) != std::string::npos; at += 4)
    text.replace(at, 1, "'\\''");
  return "'" + text + "'";
}

std::string for_shell(const std::string& path) {
  const auto plain = [](char c) {
    return static_cast<unsigned char>(c) >= 0x80 || (c >= 'a' && c <= 'z') ||
           (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("/._-+,:@%=").find(c) != std::string_view::npos;
  };
  if (!path.empty() && std::all_of(path.begin(), path.end(), plain)) return path;
  return shell_quoted(path);
}

std::string text_of(const std::vector<std::vector<std::string>>& table) {
  std::vector<std::size_t> width(table.empty() ? 0 : table[0].size(), 0);
  for (const auto& row : table)
    for (std::size_t k = 0; k < row.size(); ++k) width[k] = std::max(width[k], row[k].size());
  std::string text;
  for (const auto& row : table) {
    std::string line;
    for (std::size_t k = 0; k < row.size(); ++k)
      line += row[k] + std::string(width[k] - row[k].size() + 2, ' ');
    text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }
  return text;
}

std::string bytes_text(double bytes) {
  static constexpr const char* units[] = {"bytes", "KiB", "MiB", "GiB", "TiB", "PiB"};
  int i = 0;
  while (bytes >= 1024 && i < 5) bytes /= 1024, ++i;
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), i ? "%.1f" : "%.0f", bytes);
  return std::string(text.data()) + " " + units[i];
}

std::string explain_error(const std::string& number) {
  // Rows of the table: | E0213 | meaning | cure |
  const std::string_view page = error_catalogue;
  const std::size_t at = page.find("\n| " + number + " | ");
  if (number.size() != 5 || at == std::string_view::npos) return {};
  const std::string_view row = page.substr(at + 1, page.find('\n', at + 1) - at - 1);
  const std::size_t meaning = number.size() + 5, cut = row.find(" | ", meaning);
  if (cut == std::string_view::npos || row.size() < cut + 5) return {};
  return number + ": " + std::string(row.substr(meaning, cut - meaning)) +
         "\n  cure: " + std::string(row.substr(cut + 3, row.size() - cut - 5)) + "\n";
}

}  // namespace tessera::apps
