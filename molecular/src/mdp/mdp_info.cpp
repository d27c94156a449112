// SPDX-License-Identifier: Apache-2.0
// What `tessera info FILE` says of GROMACS's parameters (.mdp) and groups of atoms (.ndx).
#include "tessera/data/info.h"
#include "tessera/data/text_reader.h"
#include "tessera/molecular/mdp.h"

namespace tessera::molecular {
namespace {

data::InfoNode summarize_mdp(const std::filesystem::path& path) {
  const data::TextFile text = data::read_text_file(path);
  data::Findings findings(text);
  data::InfoNode node{path.filename().string(), {}, {}};
  for (std::size_t n = 1; n <= text.n_lines(); ++n) {
    const std::string_view all = text.line(n), line = data::trim(all.substr(0, all.find(';')));
    if (line.empty()) continue;
    const std::size_t equals = line.find('=');
    if (equals == std::string_view::npos || equals == 0)
      findings.error(725, text.line_starts[n - 1],
                     "expected KEY = VALUE, got " + data::shown(line));
    else
      node.add(std::string(data::trim(line.substr(0, equals))),
               std::string(data::trim(line.substr(equals + 1))));
  }
  findings.throw_if_errors();
  return node;
}

data::InfoNode summarize_index(const std::filesystem::path& path) {
  const data::TextFile text = data::read_text_file(path);
  read_index(text);
  data::InfoNode node{path.filename().string(), {}, {}};
  for (std::size_t n = 1; n <= text.n_lines(); ++n) {
    const std::string_view all = text.line(n), line = data::trim(all.substr(0, all.find(';')));
    if (line.starts_with('['))
      node.add(std::string(data::trim(line.substr(1, line.find(']') - 1))), std::int64_t{0});
    else if (!node.children.empty())
      std::get<std::int64_t>(node.children.back().value) +=
          static_cast<std::int64_t>(data::split_tokens(line, 0, line.size()).size());
  }
  return node;
}

const data::RegisterFormat mdp({.name = "GROMACS parameters",
                                .summary = "parameters of a GROMACS run",
                                .extensions = {".mdp"},
                                .summarize = summarize_mdp});
const data::RegisterFormat index_file({.name = "GROMACS index",
                                       .summary = "groups of atoms",
                                       .extensions = {".ndx"},
                                       .summarize = summarize_index});

}  // namespace
}  // namespace tessera::molecular
