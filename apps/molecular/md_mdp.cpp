// SPDX-License-Identifier: Apache-2.0
#include "molecular/md_mdp.h"

#include "molecular/md_mdp_keys.h"
#include "tessera/data/options.h"
#include "tessera/data/text_reader.h"
#include "tessera/molecular/gromacs.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <span>

namespace tessera::apps::md {
namespace {

namespace fs = std::filesystem;
namespace mol = tessera::molecular;
using data::shown;

std::string in_quotes(std::string_view s) {
  std::string out = "\"";
  for (const char c : s) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + "\"";
}

/// As GROMACS compares names: hyphens, underscores and case make no difference (cutoff is cut-off).
std::string letters(std::string_view s) {
  std::string out = plain(s);
  std::erase(out, '-');
  return out;
}
bool is_same(std::string_view a, std::string_view b) { return letters(a) == letters(b); }
/// The key as it is usually written.
std::string usual(std::string_view key) {
  const std::string k = plain(key), bare = letters(key);
  const auto among = [&](const auto& list, auto name) {
    const auto at =
        std::ranges::find_if(list, [&](const auto& x) { return letters(name(x)) == bare; });
    return at == std::end(list) ? std::string() : std::string(name(*at));
  };
  const auto self = [](std::string_view x) { return x; };
  const auto key_of = [](const auto& x) { return x.key; };
  for (std::string found :
       {among(mdp_read, self), among(mdp_switches, key_of), among(mdp_obsolete, key_of),
        among(mdp_of_lists, self), among(mdp_of_constraints, self), among(mdp_not_asked, self)})
    if (!found.empty()) return found;
  return k;
}

struct Entry {
  std::string value;  ///< as it is written
  std::size_t key_at = 0, at = 0;
};
/// A name of mdp's and ours; `way`: none of ours, and what to do.
struct Choice {
  std::string_view theirs, ours, way = {};
};

class Mdp {
 public:
  Mdp(const data::TextFile& text, MdpGroups groups)
      : text_(text), groups_(std::move(groups)), findings_(text) {
    read_lines();
  }

  Imported import(const std::string& stage, const std::string& topology,
                  const std::string& structure) {
    line("app", in_quotes("molecular.dynamics"));
    line("topology", in_quotes(topology));
    line("structure", in_quotes(structure));
    preprocessor();
    start_ps_ =
        number("tinit", 0) + static_cast<double>(whole("init-step", 0)) * number("dt", 0.001);
    if (start_ps_ != 0) line("start_time", fmt::format("\"{} ps\"", start_ps_));
    heading("The interactions.");
    coulomb();
    lennard_jones();
    choice("constraints", "constraints", "none",
           {{"none", "none"},
            {"h-bonds", "h-bonds"},
            {"all-bonds", "all-bonds"},
            {"h-angles", "h-angles"},
            {"all-angles", "", "all-angles makes no sense for large molecules; take h-angles"}});
    line("rigid_water", "false  # those that the topology makes rigid stay so");
    box();
    heading("What is written.");
    output();
    heading("The run.");
    out_ += "[[stage]]\n";
    line("name", in_quotes(stage));
    motion();
    findings_.throw_if_errors();
    told(of_lists_,
         "pair lists are exact here, made anew when two atoms together have crossed the buffer",
         "no pair within the cut-off is ever missed: docs/decisions/0102-pair-kernels.md");
    told(of_constraints_, "constraints are solved until they hold to 1e-10 here",
         "there is no order and no tolerance to choose: "
         "docs/decisions/0101-constraints-by-newton.md");
    told(not_asked_, "not asked for here", "the program decides these by itself");
    return {std::move(out_), findings_.take_remarks()};
  }

 private:
  void read_lines() {
    for (std::size_t n = 1; n <= text_.n_lines(); ++n) {
      const std::size_t begin = text_.line_starts[n - 1];
      std::string_view all = text_.line(n);
      all = all.substr(0, all.find(';'));
      const std::string_view body = data::trim(all);
      if (body.empty()) continue;
      const std::size_t at = begin + static_cast<std::size_t>(body.data() - text_.line(n).data()),
                        equals = body.find('=');
      if (equals == std::string_view::npos || equals == 0) {
        findings_.error(725, at, "expected KEY = VALUE, got " + shown(body));
        continue;
      }
      const std::string_view value = data::trim(body.substr(equals + 1));
      const Entry e{std::string(value), at,
                    value.empty()
                        ? at
                        : begin + static_cast<std::size_t>(value.data() - text_.line(n).data())};
      add(usual(data::trim(body.substr(0, equals))), e);
    }
  }

  void add(std::string key, const Entry& e) {
    for (const MdpObsolete& o : mdp_obsolete)
      if (key == o.key) {
        findings_.note(
            727, e.key_at,
            fmt::format("{} is obsolete: {}", key,
                        o.now.empty() ? std::string(o.why)
                                      : "it is called " + std::string(o.now) + " by now"));
        if (o.now.empty()) return;
        key = o.now;
      }
    for (const MdpSwitch& s : mdp_switches)
      if (key == s.key) {
        const std::string v = plain(e.value);
        const bool nothing = v.find_first_not_of("0. ") == std::string::npos,
                   no = s.off == "no" && (v == "false" || v.empty());
        if (!is_same(v, s.off) && !nothing && !no)
          findings_.error(
              726, e.at,
              fmt::format("{} = {}: there is no support for {}", key, shown(e.value), s.what),
              s.off.empty() ? "leave the key out" : fmt::format("write {} = {}", key, s.off));
        return;
      }
    for (const auto& [list, to] :
         {std::pair{std::span<const std::string_view>(mdp_of_lists), &of_lists_},
          {std::span<const std::string_view>(mdp_of_constraints), &of_constraints_}})
      if (std::ranges::find(list, key) != list.end()) return to->push_back(key);
    const auto family = [&](std::string_view f) {
      return key.starts_with(f) || (key.starts_with("pull") && key.size() > 4);
    };
    if (std::ranges::find(mdp_not_asked, key) != std::end(mdp_not_asked) ||
        std::ranges::any_of(mdp_families, family)) {
      not_asked_.push_back(key);
      return;
    }
    if (std::ranges::find(mdp_read, key) == std::end(mdp_read)) {
      std::vector<std::string> names(std::begin(mdp_read), std::end(mdp_read));
      for (const auto list : {std::span<const std::string_view>(mdp_not_asked),
                              std::span<const std::string_view>(mdp_of_lists),
                              std::span<const std::string_view>(mdp_of_constraints)})
        for (const std::string_view k : list) names.emplace_back(k);
      for (const MdpSwitch& s : mdp_switches) names.emplace_back(s.key);
      const auto near = data::nearest_names(key, names);
      findings_.error(725, e.key_at, "mdp has no key " + shown(key),
                      near.empty() ? "" : "did you mean '" + near.front() + "'?");
      return;
    }
    if (!entries_.try_emplace(key, e).second)
      findings_.error(725, e.key_at, key + " is given twice", "keep one of them");
  }

  const Entry* find(std::string_view key) const {
    const auto at = entries_.find(std::string(key));
    return at == entries_.end() || at->second.value.empty() ? nullptr : &at->second;
  }
  std::vector<data::Token> words(std::string_view key) const {
    const Entry* e = find(key);
    return e ? data::split_tokens(text_.text, e->at, e->at + e->value.size())
             : std::vector<data::Token>{};
  }
  double number(std::string_view key, double otherwise) {
    const Entry* e = find(key);
    return e ? data::parse_number({e->value, e->at}, data::Exponent::e_only, findings_)
                   .value_or(otherwise)
             : otherwise;
  }
  std::int64_t whole(std::string_view key, std::int64_t otherwise) {
    const Entry* e = find(key);
    if (!e) return otherwise;
    std::int64_t v = 0;
    const char* end = e->value.data() + e->value.size();
    if (const auto r = std::from_chars(e->value.data(), end, v);
        r.ec == std::errc{} && r.ptr == end)
      return v;
    findings_.error(303, e->at, fmt::format("{} is a whole number, got {}", key, shown(e->value)));
    return otherwise;
  }
  bool yes(std::string_view key, bool otherwise) {
    const Entry* e = find(key);
    if (!e) return otherwise;
    const std::string v = plain(e->value);
    if (v != "yes" && v != "no") refuse(*e, key, "it is yes or no");
    return v == "yes";
  }
  void refuse(const Entry& e, std::string_view key, std::string way) {
    findings_.error(726, e.at, fmt::format("{} = {} is not supported", key, shown(e.value)),
                    std::move(way));
  }

  void heading(const char* text) { out_ += fmt::format("\n# {}\n", text); }
  void line(std::string_view key, std::string_view value) {
    out_ += fmt::format("{} = {}\n", key, value);
  }
  /// A quantity in mdp's own unit; only where it is given.
  void quantity(std::string_view key, std::string_view ours, const char* unit) {
    if (find(key)) line(ours, fmt::format("\"{} {}\"", number(key, 0), unit));
  }
  std::string quantities(const std::vector<double>& v, const char* unit) {
    std::string s;
    for (const double x : v) s += fmt::format("{}\"{} {}\"", s.empty() ? "" : ", ", x, unit);
    return "[" + s + "]";
  }
  std::vector<double> numbers(std::string_view key) {
    std::vector<double> out;
    for (const data::Token& t : words(key))
      out.push_back(data::parse_number(t, data::Exponent::e_only, findings_).value_or(0));
    return out;
  }
  /// Our name of a key's value.
  std::string chosen(std::string_view key, std::string_view otherwise,
                     std::initializer_list<Choice> choices) {
    const Entry* e = find(key);
    const std::string_view v = e ? std::string_view(e->value) : otherwise;
    std::string names;
    for (const Choice& c : choices) {
      if (is_same(c.theirs, v) && c.way.empty()) return std::string(c.ours);
      if (is_same(c.theirs, v)) {
        if (e) refuse(*e, key, std::string(c.way));
        return {};
      }
      if (c.way.empty()) names += (names.empty() ? "" : ", ") + std::string(c.theirs);
    }
    if (e) refuse(*e, key, "one of " + names);
    return {};
  }
  std::string choice(std::string_view key, std::string_view ours, std::string_view otherwise,
                     std::initializer_list<Choice> choices) {
    const std::string v = chosen(key, otherwise, choices);
    line(ours, in_quotes(v));
    return v;
  }

  /// Keys that are given and have no effect, in one line.
  void told(const std::vector<std::string>& given, const char* why, const char* hint) {
    std::string keys;
    for (const std::string& k : given) keys += (keys.empty() ? "" : ", ") + k;
    if (!keys.empty()) findings_.note(727, std::string(why) + ": " + keys.substr(0, 400), hint);
  }

  void preprocessor() {
    std::string defines, folders;
    for (const data::Token& t : words("define")) {
      if (!t.text.starts_with("-D") || t.text.size() < 3)
        findings_.error(726, t.offset, "expected -DNAME, got " + shown(t.text));
      else
        defines += (defines.empty() ? "" : ", ") + in_quotes(t.text.substr(2));
    }
    for (const data::Token& t : words("include")) {
      if (!t.text.starts_with("-I") || t.text.size() < 3)
        findings_.error(726, t.offset, "expected -IFOLDER, got " + shown(t.text));
      else
        folders += (folders.empty() ? "" : ", ") + in_quotes(t.text.substr(2));
    }
    if (!defines.empty()) line("define", "[" + defines + "]");
    if (!folders.empty()) line("include_folders", "[" + folders + "]");
  }

  /// 0 is GROMACS's word for no cut-off at all.
  std::string cut_off(std::string_view key) {
    const double nm = number(key, 1);
    return nm == 0 ? "\"inf\"" : fmt::format("\"{} nm\"", nm);
  }

  void coulomb() {
    if (const Entry* e = find("cutoff-scheme"); e && plain(e->value) != "verlet")
      findings_.note(727, e->at, "cutoff-scheme = " + shown(e->value) + " is obsolete",
                     "pairs come from buffered lists, as with the Verlet scheme");
    const std::string type =
        chosen("coulombtype", "cut-off",
               {{"pme", "pme"},
                {"ewald", "ewald"},
                {"reaction-field", "reaction-field"},
                {"cut-off", "cut-off"},
                {"reaction-field-zero", "", "obsolete: take reaction-field with epsilon-rf = 0"},
                {"generalized-reaction-field", "", "obsolete: take reaction-field"},
                {"pme-switch", "", "take pme"},
                {"switch", "", "take pme"},
                {"shift", "", "take pme or reaction-field"},
                {"encad-shift", "", "take pme"},
                {"p3m-ad", "", "take pme"},
                {"user", "", "tables are not read: take pme"},
                {"pme-user", "", "tables are not read: take pme"}});
    const std::string modifier = chosen("coulomb-modifier", "potential-shift",
                                        {{"potential-shift", "potential-shift"},
                                         {"potential-shift-verlet", "potential-shift"},
                                         {"none", "none"}});
    // GROMACS's plain cut-off, shifted, is a reaction field of the same permittivity: excluded
    // pairs are shifted, too.
    const bool shifted = type == "cut-off" && modifier == "potential-shift";
    line("coulombtype", in_quotes(shifted ? "reaction-field" : type));
    line("rcoulomb", cut_off("rcoulomb"));
    line("coulomb_modifier", in_quotes(modifier));
    const double epsilon_r = number("epsilon-r", 1);
    line("epsilon_r", fmt::format("{}", epsilon_r));
    if (type == "reaction-field") line("epsilon_rf", fmt::format("{}", number("epsilon-rf", 0)));
    if (shifted) line("epsilon_rf", fmt::format("{}", epsilon_r));
    if (type != "pme" && type != "ewald") return;
    line("ewald_rtol", fmt::format("{}", number("ewald-rtol", 1e-5)));
    line("fourierspacing", fmt::format("\"{} nm\"", number("fourierspacing", 0.12)));
    const std::int64_t order = whole("pme-order", 4);
    if (order < 4 || order > 8) refuse(*find("pme-order"), "pme-order", "4 to 8");
    line("pme_order", fmt::format("{}", order));
    const std::int64_t k[3] = {whole("fourier-nx", 0), whole("fourier-ny", 0),
                               whole("fourier-nz", 0)};
    if (k[0] > 0 && k[1] > 0 && k[2] > 0)
      line("fourier_grid", fmt::format("[{}, {}, {}]", k[0], k[1], k[2]));
  }

  void lennard_jones() {
    const std::string type = chosen("vdwtype", "cut-off",
                                    {{"cut-off", "cut-off"},
                                     {"shift", "force-switch"},
                                     {"switch", "potential-switch"},
                                     {"pme", "", "take cut-off with DispCorr = EnerPres"},
                                     {"user", "", "tables are not read: take cut-off"},
                                     {"encad-shift", "", "take cut-off"}});
    const std::string modifier = chosen("vdw-modifier", "potential-shift",
                                        {{"potential-shift", "potential-shift"},
                                         {"potential-shift-verlet", "potential-shift"},
                                         {"none", "none"},
                                         {"force-switch", "force-switch"},
                                         {"potential-switch", "potential-switch"}});
    const std::string taken = type == "cut-off" ? modifier : type;
    line("vdw_modifier", in_quotes(taken));
    line("rvdw", cut_off("rvdw"));
    if (taken.ends_with("switch"))
      line("rvdw_switch", fmt::format("\"{} nm\"", number("rvdw-switch", 0)));
    choice("dispcorr", "DispCorr", "no",
           {{"no", "no"},
            {"EnerPres", "EnerPres"},
            {"AllEnerPres", "AllEnerPres"},
            {"Ener", "", "the correction is of energy and pressure: EnerPres"},
            {"AllEner", "", "the correction is of energy and pressure: AllEnerPres"}});
  }

  void box() {
    const std::string pbc = chosen("pbc", "xyz",
                                   {{"xyz", "xyz"},
                                    {"no", "no"},
                                    {"xy", "", "boxes are periodic in all directions or in none"},
                                    {"screw", "", "take xyz"}});
    if (pbc == "no") line("box", "\"none\"");
  }

  void output() {
    line("nstlog", fmt::format("{}", whole("nstlog", 1000)));
    line("nstenergy", fmt::format("{}", whole("nstenergy", 1000)));
    const std::int64_t compressed = whole("nstxout-compressed", 0), x = whole("nstxout", 0),
                       v = whole("nstvout", 0), f = whole("nstfout", 0);
    const bool full = x > 0 || v > 0 || f > 0;
    const std::int64_t every = compressed > 0 ? compressed : x > 0 ? x : std::max(v, f);
    line("nstxout", fmt::format("{}", every));
    if (full && compressed > 0 &&
        ((x > 0 && x != compressed) || (v > 0 && v != compressed) || (f > 0 && f != compressed)))
      findings_.note(727,
                     find(x > 0   ? "nstxout"
                          : v > 0 ? "nstvout"
                                  : "nstfout")
                         ->at,
                     fmt::format("all trajectories get a frame every {} steps", every),
                     "there is one nstxout");
    if (every > 0)
      line("output.trajectory", compressed > 0 && full ? "[\"xtc\", \"trr\"]"
                                : full                 ? "[\"trr\"]"
                                                       : "[\"xtc\"]");
    if (v > 0) line("output.velocities", "true");
    if (f > 0) line("output.forces", "true");
    if (const std::vector<data::Token> parts = words("compressed-x-grps"); !parts.empty()) {
      std::string selection;
      for (const data::Token& t : parts) join(selection, group(t));
      if (compressed > 0) line("output.select", in_quotes(selection));
      if (compressed > 0 && full)
        findings_.note(727, parts[0].offset,
                       "full trajectories hold the atoms of compressed-x-grps alone, too",
                       "there is one choice of atoms for all trajectories: output.select");
    }
    if (compressed > 0)
      line("output.xtc_precision",
           fmt::format("\"{} 1/nm\"", number("compressed-x-precision", 1000)));
    for (const char* key : {"ld-seed", "gen-seed"})
      if (const std::int64_t seed = whole(key, -1); seed >= 0)
        return line("seed", fmt::format("{}", seed));
  }

  void motion() {
    const std::string integrator = chosen("integrator", "md",
                                          {{"md", "md"},
                                           {"md-vv", "md-vv"},
                                           {"sd", "sd"},
                                           {"steep", "steep"},
                                           {"l-bfgs", "l-bfgs"},
                                           {"md-vv-avek", "", "take md-vv"},
                                           {"sd1", "", "obsolete: take sd"},
                                           {"sd2", "", "obsolete: take sd"},
                                           {"bd", "", "take sd with a short tau-t"},
                                           {"cg", "", "take l-bfgs"},
                                           {"nm", "",
                                            "second derivatives of the energy are an operation of "
                                            "the library; minimize by newton-cg"},
                                           {"tpi", "", "particle insertion is not supported"},
                                           {"tpic", "", "particle insertion is not supported"},
                                           {"mimic", "", "take md"}});
    const bool minimizes = integrator == "steep" || integrator == "l-bfgs";
    line("type", minimizes ? "\"minimize\"" : "\"dynamics\"");
    line("integrator", in_quotes(integrator));
    const std::int64_t steps = whole("nsteps", 0);
    if (steps < 0)
      refuse(*find("nsteps"), "nsteps",
             "say how many steps; a run is stopped by tessera stop at any time");
    line("nsteps", fmt::format("{}", steps));
    frozen();
    if (minimizes) {
      line("emtol", fmt::format("\"{} kJ/mol/nm\"", number("emtol", 10)));
      line("emstep", fmt::format("\"{} nm\"", number("emstep", 0.01)));
      return;
    }
    line("dt", fmt::format("\"{} ps\"", number("dt", 0.001)));
    const bool draws = yes("gen-vel", false);
    line("gen_vel", draws ? "true" : "false");
    if (draws) line("gen_temp", fmt::format("\"{} K\"", number("gen-temp", 300)));
    const std::vector<data::Token> held = words("comm-grps");
    if (held.size() > 1 || (held.size() == 1 && plain(held[0].text) != "system"))
      findings_.error(
          726, held[0].offset,
          fmt::format("the motion of {} cannot be removed by itself",
                      held.size() > 1 ? "each of several comm-grps" : shown(held[0].text)),
          "comm-grps = System: the motion of the whole is removed");
    const std::int64_t every = whole("nstcomm", 100);
    if (every == 0)
      line("comm_mode", "\"none\"");
    else
      choice("comm-mode", "comm_mode", "linear",
             {{"linear", "linear"},
              {"angular", "angular"},
              {"none", "none"},
              {"linear-acceleration-correction", "", "take linear"}});
    line("nstcomm", fmt::format("{}", every > 0 ? every : 100));
    slow_forces();
    thermostat(integrator == "sd");
    barostat();
  }

  /// The selection of a group.
  std::string group(const data::Token& t) {
    if (const auto found = groups_.find(t.text)) return *found;
    findings_.error(726, t.offset, "there is no group " + shown(t.text) + " here", groups_.known());
    return "none";
  }
  static void join(std::string& to, const std::string& selection) {
    to += (to.empty() ? "(" : " or (") + selection + ")";
  }

  /// freezegrps, and Y or N for each group and axis.
  void frozen() {
    const std::vector<data::Token> groups = words("freezegrps"), dim = words("freezedim");
    if (groups.empty()) return;
    if (dim.size() != 3 * groups.size()) {
      findings_.error(726, groups[0].offset,
                      fmt::format("{} of freezegrps want {} of freezedim, got {}", groups.size(),
                                  3 * groups.size(), dim.size()),
                      "Y or N for x, y and z of each group");
      return;
    }
    std::array<std::string, 4> chosen;  // x, y, z, all three
    for (std::size_t g = 0; g < groups.size(); ++g) {
      std::array<bool, 3> stays{};
      for (std::size_t a = 0; a < 3; ++a) {
        const std::string v = plain(dim[3 * g + a].text);
        if (v != "y" && v != "n" && v != "yes" && v != "no")
          findings_.error(726, dim[3 * g + a].offset,
                          "expected Y or N, got " + shown(dim[3 * g + a].text));
        stays[a] = v.starts_with('y');
      }
      const std::string selection = group(groups[g]);
      if (stays[0] && stays[1] && stays[2])
        join(chosen[3], selection);
      else
        for (std::size_t a = 0; a < 3; ++a)
          if (stays[a]) join(chosen[a], selection);
    }
    constexpr const char* keys[] = {"freeze_x", "freeze_y", "freeze_z", "freeze"};
    for (std::size_t k = 0; k < 4; ++k)
      if (!chosen[k].empty()) line(keys[k], in_quotes(chosen[k]));
  }

  /// Multiple time steps of two levels, the slow one the reciprocal sum.
  void slow_forces() {
    if (!yes("mts", false)) return;
    if (whole("mts-levels", 2) != 2) refuse(*find("mts-levels"), "mts-levels", "2");
    for (const data::Token& t : words("mts-level2-forces"))
      if (plain(t.text) != "longrange-nonbonded")
        findings_.error(726, t.offset, "slow forces " + shown(t.text) + " are not supported",
                        "mts-level2-forces = longrange-nonbonded");
    const std::int64_t every = whole("mts-level2-factor", 2);
    if (every < 2) refuse(*find("mts-level2-factor"), "mts-level2-factor", "2 or more");
    line("mts", "true");
    line("mts_level2_factor", fmt::format("{}", every));
  }

  void thermostat(bool langevin) {
    const std::string bath =
        chosen("tcoupl", "no",
               {{"no", "no"},
                {"v-rescale", "v-rescale"},
                {"nose-hoover", "nose-hoover"},
                {"andersen", "andersen"},
                {"berendsen", "berendsen"},
                {"andersen-massive", "", "take andersen or v-rescale"},
                {"yes", "", "obsolete: name the thermostat, such as v-rescale"}});
    if (!langevin) line("tcoupl", in_quotes(bath));
    if ((bath == "no" || bath.empty()) && !langevin) return;
    const std::vector<data::Token> groups = words("tc-grps");
    const std::vector<double> tau = numbers("tau-t"), ref = numbers("ref-t");
    const Entry* named = find("tc-grps");
    if (groups.empty() || tau.size() != groups.size() || ref.size() != groups.size()) {
      findings_.error(
          726, named ? named->at : text_.text.size() - 1,
          fmt::format(
              "a bath wants as many tau-t ({}) and ref-t ({}) as tc-grps ({}), one at the least",
              tau.size(), ref.size(), groups.size()));
      return;
    }
    const auto same = [](const std::vector<double>& v) {
      return std::ranges::all_of(v, [&](double x) { return x == v[0]; });
    };
    if (std::ranges::any_of(tau, [](double t) { return t <= 0; }))
      refuse(*find("tau-t"), "tau-t", "all atoms feel the bath: times above 0");
    // With equal values Langevin's baths are one; other thermostats treat each group's kinetic
    // energy by itself.
    if (groups.size() == 1 ? plain(groups[0].text) == "system"
                           : langevin && same(tau) && same(ref)) {
      line("tau_t", fmt::format("\"{} ps\"", tau[0]));
      line("ref_t", fmt::format("\"{} K\"", ref[0]));
    } else {
      std::string names;
      for (const data::Token& t : groups) {
        const std::string g = group(t);
        names += (names.empty() ? "" : ", ") + in_quotes(g == "all"            ? "system"
                                                         : g == "not protein"  ? "non-protein"
                                                         : g == "not water"    ? "non-water"
                                                         : g == "water or ion" ? "water_and_ions"
                                                                               : g);
      }
      line("tc_grps", "[" + names + "]");
      line("tc_tau_t", quantities(tau, "ps"));
      line("tc_ref_t", quantities(ref, "K"));
      line("ref_t", fmt::format("\"{} K\"", ref[0]));
    }
    annealing(groups.size());
  }

  void annealing(std::size_t groups) {
    const std::vector<data::Token> kinds = words("annealing");
    if (std::ranges::all_of(kinds, [](const data::Token& t) { return plain(t.text) == "no"; }))
      return;
    for (const data::Token& t : kinds)
      if (plain(t.text) != "single")
        findings_.error(726, t.offset, "annealing = " + shown(t.text) + " is not supported",
                        "single, for all groups");
    if (groups != 1)
      findings_.error(726, kinds[0].offset, "annealing goes with one bath", "tc-grps = System");
    std::vector<double> time = numbers("annealing-time"), temperature = numbers("annealing-temp");
    if (time.size() != temperature.size() || time.empty())
      findings_.error(726, kinds[0].offset,
                      fmt::format("{} annealing-time and {} annealing-temp are given", time.size(),
                                  temperature.size()));
    else
      since_start(time, temperature);
    line("annealing_time", quantities(time, "ps"));
    line("annealing_temp", quantities(temperature, "K"));
  }

  /// GROMACS's times are those of the run; ours begin with the stage.
  void since_start(std::vector<double>& time, std::vector<double>& temperature) const {
    for (double& t : time) t -= start_ps_;
    while (time.size() > 1 && time[0] < 0 && time[1] <= 0) {
      time.erase(time.begin());
      temperature.erase(temperature.begin());
    }
    if (time[0] >= 0) return;
    if (time.size() > 1)
      temperature[0] += (temperature[1] - temperature[0]) * -time[0] / (time[1] - time[0]);
    time[0] = 0;
  }

  void barostat() {
    const std::string bath =
        choice("pcoupl", "pcoupl", "no",
               {{"no", "no"},
                {"c-rescale", "c-rescale"},
                {"parrinello-rahman", "parrinello-rahman"},
                {"berendsen", "berendsen"},
                {"mttk", "", "take c-rescale"},
                {"yes", "", "obsolete: name the barostat, such as C-rescale"}});
    if (bath == "no" || bath.empty()) return;
    const std::string type = choice("pcoupltype", "pcoupltype", "isotropic",
                                    {{"isotropic", "isotropic"},
                                     {"semiisotropic", "semiisotropic"},
                                     {"anisotropic", "anisotropic"},
                                     {"surface-tension", "", "take semiisotropic"}});
    quantity("tau-p", "tau_p", "ps");
    const std::size_t n = type == "semiisotropic" ? 2 : type == "anisotropic" ? 6 : 1;
    for (const auto& [key, ours, unit] :
         {std::tuple{"ref-p", "ref_p", "bar"},
          std::tuple{"compressibility", "compressibility", "1/bar"}}) {
      std::vector<double> v = numbers(key);
      const Entry* e = find(key);
      if (v.size() != n) {
        findings_.error(
            726, e ? e->at : text_.text.size() - 1,
            fmt::format("{} has {} numbers, pcoupltype = {} wants {}", key, v.size(), type, n));
        continue;
      }
      if (n == 6 && std::string_view(key) == "compressibility" &&
          (v[3] != 0 || v[4] != 0 || v[5] != 0))
        refuse(*e, key, "angles of the box stay: write zeros for the last three");
      if (n == 2) v = {v[0], v[0], v[1]};
      if (n == 6) v.resize(3);
      line(ours, n == 1 ? fmt::format("\"{} {}\"", v[0], unit) : quantities(v, unit));
    }
    if (whole("nstpcouple", -1) > 0) line("nstpcouple", fmt::format("{}", whole("nstpcouple", -1)));
    choice("refcoord-scaling", "refcoord_scaling", "no",
           {{"no", "no"}, {"all", "all"}, {"com", "com"}});
  }

  const data::TextFile& text_;
  MdpGroups groups_;
  data::Findings findings_;
  std::map<std::string, Entry> entries_;
  double start_ps_ = 0;
  std::vector<std::string> of_lists_, of_constraints_, not_asked_;
  std::string out_;
};

/// The one file of this ending in a folder, else the usual name.
std::string beside(const fs::path& folder, const char* ending, const char* usual) {
  std::string found;
  std::error_code failed;
  if (fs::exists(folder / usual, failed)) return usual;
  for (const auto& entry : fs::directory_iterator(folder, failed))
    if (entry.path().extension() == ending) {
      if (!found.empty()) return usual;
      found = entry.path().filename().string();
    }
  return found.empty() ? usual : found;
}

}  // namespace

Imported import_mdp(const data::TextFile& text, const std::string& stage,
                    const std::string& topology, const std::string& structure, MdpGroups groups) {
  return Mdp(text, std::move(groups)).import(stage, topology, structure);
}

Imported import_mdp(const fs::path& path) {
  const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
  const std::string topology = beside(folder, ".top", "topol.top"),
                    structure = beside(folder, ".gro", "conf.gro"),
                    index = beside(folder, ".ndx", "index.ndx");
  MdpGroups groups;
  std::error_code failed;
  if (fs::exists(folder / index, failed)) {
    groups.file = index;
    groups.index = read_index(data::read_text_file(folder / index));
  } else if (fs::exists(folder / structure, failed)) {
    for (const mol::Residue& r : mol::read_gro(data::read_text_file(folder / structure)).residues)
      groups.residues.insert(r.name);
  }
  return import_mdp(data::read_text_file(path), path.stem().string(), topology, structure,
                    std::move(groups));
}

}  // namespace tessera::apps::md
