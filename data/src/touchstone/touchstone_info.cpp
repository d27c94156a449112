// SPDX-License-Identifier: Apache-2.0
// What `tessera info` says of a Touchstone file.
#include "tessera/data/info.h"
#include "tessera/data/quantity.h"
#include "tessera/data/text_reader.h"
#include "tessera/data/touchstone.h"

#include <algorithm>
#include <cmath>

namespace tessera::data {
namespace {

bool begins_as_touchstone(std::string_view head, const std::filesystem::path&) {
  while (!head.empty()) {
    const std::size_t end = std::min(head.find('\n'), head.size());
    const std::string_view line = trim(head.substr(0, end));
    if (!line.empty() && line[0] != '!') return upper(line).starts_with("[VERSION] 2");
    head.remove_prefix(std::min(end + 1, head.size()));
  }
  return false;
}

InfoNode touchstone_info(const std::filesystem::path& path) {
  const auto [t, remarks] = read_touchstone(path);
  InfoNode node;
  node.name = path.filename().string();
  node.add("parameters", std::string(kNetworkKinds[static_cast<std::size_t>(t.kind)]));
  node.add("ports", static_cast<std::int64_t>(t.ports));
  node.add("frequencies", static_cast<std::int64_t>(t.frequency_hz.size()));
  node.add("first", print_readably({t.frequency_hz.front(), dimension::frequency}));
  node.add("last", print_readably({t.frequency_hz.back(), dimension::frequency}));
  std::string references;
  for (std::size_t p = 0; p < std::min<std::size_t>(t.ports, 16); ++p)
    references += (p ? ", " : "") + print_readably({t.reference_ohm[p], dimension::resistance});
  node.add("references", references + (t.ports > 16 ? ", ..." : ""));
  if (!t.modes.empty()) node.add("mixed modes", true);
  if (!t.noise.empty()) node.add("noise frequencies", static_cast<std::int64_t>(t.noise.size()));
  if (t.kind == NetworkKind::S) {
    double largest = 0;
    for (const auto& x : t.values) largest = std::max(largest, std::abs(x));
    node.add("largest size", largest);
  }
  for (const Diagnostic& d : remarks) node.add("remark", d.message);
  return node;
}

const RegisterFormat registered({.name = "Touchstone",
                                 .summary = "parameters of n-ports over frequency",
                                 .extensions = {".ts", ".s1p", ".s2p", ".s3p", ".s4p", ".s5p",
                                                ".s6p", ".s7p", ".s8p", ".s9p", ".s10p", ".s12p",
                                                ".s16p"},
                                 .sniff = begins_as_touchstone,
                                 .summarize = touchstone_info});

}  // namespace
}  // namespace tessera::data
