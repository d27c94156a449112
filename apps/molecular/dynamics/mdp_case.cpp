// SPDX-License-Identifier: Apache-2.0
// The words of a case that its sections share, and those of its files.
#include "molecular/dynamics/mdp_case.h"

#include <fmt/format.h>

#include <algorithm>

namespace tessera::apps::dynamics {

using data::shown;

void MdpCase::heading(const char* text) { out_ += fmt::format("\n# {}\n", text); }
void MdpCase::line(std::string_view key, std::string_view value) {
  out_ += fmt::format("{} = {}\n", key, value);
}
void MdpCase::quantity(std::string_view key, std::string_view ours, const char* unit) {
  if (in_.find(key)) line(ours, fmt::format("\"{} {}\"", in_.number(key, 0), unit));
}
std::string MdpCase::quantities(const std::vector<double>& v, const char* unit) {
  std::string s;
  for (const double x : v) s += fmt::format("{}\"{} {}\"", s.empty() ? "" : ", ", x, unit);
  return "[" + s + "]";
}
std::string MdpCase::choice(const MdpChoice& c, std::string_view ours) {
  const std::string v = in_.chosen(c);
  line(ours, in_quotes(v));
  return v;
}
/// 0 is GROMACS's word for no cut-off at all.
std::string MdpCase::cut_off(std::string_view key) {
  const double nm = in_.number(key, 1);
  return nm == 0 ? "\"inf\"" : fmt::format("\"{} nm\"", nm);
}

std::string MdpCase::group(const data::Token& t) {
  if (const auto found = groups_.find(t.text)) return *found;
  in_.findings.error(726, t.offset, "there is no group " + shown(t.text) + " here",
                     groups_.known());
  return "none";
}
void MdpCase::join(std::string& to, const std::string& selection) {
  to += (to.empty() ? "(" : " or (") + selection + ")";
}

void MdpCase::files(const std::string& topology, const std::string& structure) {
  line("app", in_quotes("molecular.dynamics"));
  line("topology", in_quotes(topology));
  line("structure", in_quotes(structure));
  preprocessor();
  start_ps_ = in_.number("tinit", 0) +
              static_cast<double>(in_.whole("init-step", 0)) * in_.number("dt", 0.001);
  if (start_ps_ != 0) line("start_time", fmt::format("\"{} ps\"", start_ps_));
}

void MdpCase::preprocessor() {
  std::string defines, folders;
  for (const data::Token& t : in_.words("define")) {
    if (!t.text.starts_with("-D") || t.text.size() < 3)
      in_.findings.error(726, t.offset, "expected -DNAME, got " + shown(t.text));
    else
      defines += (defines.empty() ? "" : ", ") + in_quotes(t.text.substr(2));
  }
  for (const data::Token& t : in_.words("include")) {
    if (!t.text.starts_with("-I") || t.text.size() < 3)
      in_.findings.error(726, t.offset, "expected -IFOLDER, got " + shown(t.text));
    else
      folders += (folders.empty() ? "" : ", ") + in_quotes(t.text.substr(2));
  }
  if (!defines.empty()) line("define", "[" + defines + "]");
  if (!folders.empty()) line("include_folders", "[" + folders + "]");
}

std::string MdpCase::text() {
  in_.findings.throw_if_errors();
  in_.tell_idle();
  return std::move(out_);
}

}  // namespace tessera::apps::dynamics
