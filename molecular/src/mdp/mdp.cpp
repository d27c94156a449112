// SPDX-License-Identifier: Apache-2.0
// What the sections of an mdp file share, and its files.
#include "tessera/molecular/mdp.h"

#include "mdp/mdp_reader.h"

#include <limits>

namespace tessera::molecular {

using data::shown;

/// 0 is GROMACS's word for no cut-off at all.
double MdpReader::cut_off(std::string_view key) {
  const double nm = in_.number(key, 1);
  return nm == 0 ? std::numeric_limits<double>::infinity() : nm;
}

std::string MdpReader::group(const data::Token& t) {
  if (const auto found = groups_.find(t.text)) return *found;
  in_.findings.error(726, t.offset, "there is no group " + shown(t.text) + " here",
                     groups_.known());
  return "none";
}
void MdpReader::join(std::string& to, const std::string& selection) {
  to += (to.empty() ? "(" : " or (") + selection + ")";
}

std::vector<std::string> MdpReader::behind(std::string_view key, const char* flag,
                                           const char* what) {
  std::vector<std::string> out;
  for (const data::Token& t : in_.words(key)) {
    if (!t.text.starts_with(flag) || t.text.size() < 3)
      in_.findings.error(726, t.offset,
                         "expected " + std::string(flag) + what + ", got " + shown(t.text));
    else
      out.emplace_back(t.text.substr(2));
  }
  return out;
}

void MdpReader::files() {
  out_.defines = behind("define", "-D", "NAME");
  out_.include_folders = behind("include", "-I", "FOLDER");
  out_.start_ps = in_.number("tinit", 0) +
                  static_cast<double>(in_.whole("init-step", 0)) * in_.number("dt", 0.001);
}

Mdp MdpReader::read() {
  files();
  interactions();
  output();
  run();
  seeds();
  in_.findings.throw_if_errors();
  in_.tell_idle();
  out_.remarks = in_.findings.take_remarks();
  return std::move(out_);
}

Mdp read_mdp(const data::TextFile& text, const MdpGroups& groups) {
  return MdpReader(text, groups).read();
}

TopologyOptions Mdp::topology(const Frame& structure) const {
  TopologyOptions options{.reference = &structure};
  options.include_folders.assign(include_folders.begin(), include_folders.end());
  options.defines = defines;
  return options;
}

}  // namespace tessera::molecular
