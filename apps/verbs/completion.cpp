// SPDX-License-Identifier: Apache-2.0
// Completion scripts, generated from the verbs, the apps and their keys.
#include "support/report.h"
#include "verbs/verbs.h"

#include <iostream>

namespace tessera::apps {
namespace {

std::string joined(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& w : words) out += (out.empty() ? "" : " ") + w;
  return out;
}

std::vector<std::string> app_names() {
  std::vector<std::string> out;
  for (const App& a : all_apps()) out.push_back(a.name);
  return out;
}

std::vector<std::string> all_keys() {
  std::vector<std::string> out;
  for (const data::CommonKey& c : data::common_keys()) out.push_back(c.key);
  for (const App& a : all_apps())
    for (const data::NamedOption& o : a.options.get().all()) out.push_back(o.key);
  return out;
}

/// What `--set` takes without the number of an item, which completion cannot know.
std::vector<std::string> settable_keys() {
  std::vector<std::string> out;
  for (const App& a : all_apps())
    for (const data::NamedOption& o : a.options.get().all())
      if (!o.in_list && !o.spec->table) out.push_back(o.key);
  return out;
}

/// What may stand behind a verb besides file names and flags.
std::vector<std::string> words_for(const std::string& verb) {
  if (verb == "new" || verb == "schema") return app_names();
  if (verb == "explain") return all_keys();
  if (verb == "list") return {"apps", "examples", "formats", "units", "verbs"};
  if (verb == "completion") return {"bash", "zsh", "fish"};
  return {};
}

std::string flags_of(const VerbInfo& v) {
  std::vector<std::string> flags;
  for (const FlagInfo& f : v.flags) flags.push_back(f.name);
  return joined(flags);
}

void bash() {
  std::cout << "# bash completion of tessera: source <(tessera completion bash)\n"
               "_tessera() {\n"
               "  local word=${COMP_WORDS[COMP_CWORD]} verb= i flags= words=\n"
               "  for ((i = 1; i < COMP_CWORD; i++)); do\n"
               "    if [[ ${COMP_WORDS[i]} != -* ]]; then verb=${COMP_WORDS[i]}; break; fi\n"
               "  done\n"
               "  case $verb in\n";
  std::vector<std::string> names;
  for (const VerbInfo& v : all_verbs()) {
    names.push_back(v.name);
    std::cout << "    " << v.name << ") flags=" << shell_quoted(flags_of(v))
              << "; words=" << shell_quoted(joined(words_for(v.name))) << " ;;\n";
  }
  std::cout << "    *) words=" << shell_quoted(joined(names))
            << "; flags='--help --version' ;;\n"
               "  esac\n"
               "  if [[ ${COMP_WORDS[COMP_CWORD-1]} == --set ]]; then\n"
               "    compopt -o nospace\n"
               "    COMPREPLY=($(compgen -S = -W "
            << shell_quoted(joined(settable_keys()))
            << " -- \"$word\"))\n"
               "  elif [[ $word == -* ]]; then\n"
               "    COMPREPLY=($(compgen -W \"$flags\" -- \"$word\"))\n"
               "  elif [[ -n $words ]]; then\n"
               "    COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n"
               "  else\n"
               "    compopt -o default; COMPREPLY=()\n"
               "  fi\n"
               "}\n"
               "complete -F _tessera tessera\n";
}

void zsh() {
  std::cout << "#compdef tessera\n# zsh completion of tessera: source <(tessera completion "
               "zsh)\n_tessera() {\n"
               "  local -a verbs; verbs=(\n";
  for (const VerbInfo& v : all_verbs())
    std::cout << "    " << shell_quoted(v.name + ":" + v.doc) << "\n";
  std::cout << "  )\n  if (( CURRENT == 2 )); then _describe verb verbs; return; fi\n  case "
               "$words[2] in\n";
  for (const VerbInfo& v : all_verbs()) {
    std::cout << "    " << v.name << ") if [[ $PREFIX == -* ]]; then compadd -- " << flags_of(v)
              << "; else ";
    const std::string extra = joined(words_for(v.name));
    std::cout << (extra.empty() ? "_files" : "compadd -- " + extra) << "; fi ;;\n";
  }
  std::cout << "  esac\n}\nif [[ $funcstack[1] == _tessera ]]; then _tessera \"$@\"; else compdef "
               "_tessera tessera; fi\n";
}

void fish() {
  std::cout << "# fish completion of tessera: tessera completion fish | source\n";
  for (const VerbInfo& v : all_verbs()) {
    std::cout << "complete -c tessera -n __fish_use_subcommand -f -a " << v.name << " -d "
              << shell_quoted(v.doc) << "\n";
    const std::string seen = " -n " + shell_quoted("__fish_seen_subcommand_from " + v.name);
    for (const FlagInfo& f : v.flags) {
      const bool is_long = f.name.size() > 2;
      std::cout << "complete -c tessera" << seen
                << (is_long ? " -l " + f.name.substr(2) : " -s " + f.name.substr(1))
                << (f.takes_value ? " -r" : "") << " -d " << shell_quoted(f.doc) << "\n";
    }
    const std::string extra = joined(words_for(v.name));
    if (!extra.empty())
      std::cout << "complete -c tessera" << seen << " -f -a " << shell_quoted(extra) << "\n";
  }
}

}  // namespace

data::ExitCode verb_completion(const CommandLine& line) {
  if (line.word == "bash") bash();
  if (line.word == "zsh") zsh();
  if (line.word == "fish") fish();
  return data::ExitCode::ok;
}

}  // namespace tessera::apps
