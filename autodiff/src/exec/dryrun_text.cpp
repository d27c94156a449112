// SPDX-License-Identifier: Apache-2.0
#include "tessera/autodiff/dryrun.h"

#include <algorithm>
#include <array>
#include <cstdio>

namespace tessera {
namespace {

/// Three digits with a unit: "1.44 GiB", "46.2 Gflop".
std::string amount(double v, double step, const char* const (&prefixes)[6], const char* unit) {
  int k = 0;
  for (; v >= 999.5 && k < 5; ++k) v /= step;
  char text[40];
  std::snprintf(text, sizeof text, "%.3g %s%s", v, prefixes[k], unit);
  return text;
}
std::string bytes_text(double v) {
  return amount(v, 1024, {"", "Ki", "Mi", "Gi", "Ti", "Pi"}, "B");
}
std::string flops_text(double v) { return amount(v, 1000, {"", "k", "M", "G", "T", "P"}, "flop"); }
std::string seconds_text(double v) {
  char text[40];
  const bool small = v < 1;
  std::snprintf(text, sizeof text, "%.3g %s", small ? 1e3 * v : v, small ? "ms" : "s");
  return text;
}

std::string padded(const std::string& text, std::size_t width) {
  return text + std::string(text.size() < width ? width - text.size() : 1, ' ');
}

}  // namespace

std::string to_string(const DryRun& d) {
  constexpr std::size_t kName = 24, kNumber = 14;
  std::string out = "memory\n";
  for (const DryRun::Item& i : d.memory)
    out += "  " + padded(i.what, kName) + bytes_text(i.bytes) + "\n";
  out += "  " + padded("in all", kName) + bytes_text(d.peak) + "\n";
  out += padded("arithmetic", kName + 2) + flops_text(d.flops) + ", " + flops_text(d.products) +
         " of it in products\n";
  out += padded("read and written", kName + 2) + bytes_text(d.bytes) + "\n";
  out += padded("time, by the roofline", kName + 2) + seconds_text(d.seconds) + " in " +
         std::to_string(d.steps) + " steps\n";
  out += padded("line", kName + 2) + padded("time", kNumber) + padded("backward", kNumber) +
         padded("arithmetic", kNumber) + padded("moved", kNumber) + padded("kept", kNumber) +
         "operations\n";
  for (std::size_t k = 0; k < std::min<std::size_t>(10, d.lines.size()); ++k) {
    const DryRun::Line& l = d.lines[k];
    out += padded(l.line.empty() ? "(no line)" : l.line, kName + 2) +
           padded(seconds_text(l.seconds), kNumber) + padded(seconds_text(l.backward), kNumber) +
           padded(flops_text(l.flops), kNumber) + padded(bytes_text(l.bytes), kNumber) +
           padded(bytes_text(l.kept), kNumber) + l.operations + "\n";
  }
  for (const std::string& note : d.notes) out += "note: " + note + "\n";
  return out;
}

}  // namespace tessera
