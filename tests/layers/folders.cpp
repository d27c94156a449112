// SPDX-License-Identifier: Apache-2.0
#include "folders.h"

#include "includes.h"

#include <algorithm>
#include <optional>
#include <queue>
#include <sstream>
#include <stdexcept>
#include <tuple>

namespace layers {
namespace fs = std::filesystem;
namespace {

const std::string kRules = "cmake/folders.txt";

std::string folder_of(const std::string& file) {
  return fs::path(file).parent_path().generic_string();
}
std::string header_named(const std::string& module, const std::string& name) {
  return module + "/include/tessera/" + module + "/" + name;
}

/// One include, and of which folder.
struct Use {
  std::string file, path, folder;
  int line;
};
/// from -> to -> the first include of it.
using Graph = std::map<std::string, std::map<std::string, Use>>;

/// The sources of one module, and to which folder each belongs.
class Module {
 public:
  Module(const fs::path& root, const std::string& name, const FolderRules& rules)
      : root_(root), name_(name), rules_(rules) {
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(root / name)) {
      if (!entry.is_regular_file() || !is_source(entry.path())) continue;
      const std::string file = fs::relative(entry.path(), root).generic_string();
      includes_[file] = includes_of(slurp(entry.path()));
      if (file.starts_with(name + "/src/")) folders_.insert(folder_of(file));
      if (file.starts_with(name + "/src/") && entry.path().extension() == ".cpp")
        sources_[entry.path().stem().string()].insert(folder_of(file));
    }
  }

  bool has_folder(const std::string& folder) const { return folders_.contains(folder); }
  bool has(const std::string& file) const { return includes_.contains(file); }

  /// By its name alone, where that tells it.
  std::optional<std::string> named_folder(const std::string& header) const {
    const fs::path in = fs::path(header).lexically_relative(header_named(name_, ""));
    const std::string of =
        name_ + "/src/" + (in.has_parent_path() ? in.parent_path() : in.stem()).generic_string();
    if (folders_.contains(of)) return of;
    const auto found = sources_.find(in.stem().string());
    if (found != sources_.end() && found->second.size() == 1) return *found->second.begin();
    return {};
  }

  /// Empty: nobody's.
  std::optional<std::string> folder(const std::string& file) const {
    if (!file.starts_with(name_ + "/include/")) return folder_of(file);
    if (const auto said = rules_.headers.find(file); said != rules_.headers.end())
      return said->second.first;
    return named_folder(file);
  }

  void find_untold(std::vector<Violation>& found) const {
    for (const auto& [file, unused] : includes_)
      if (!folder(file))
        found.push_back(
            {file, 0,
             "neither a folder nor one source of " + name_ + "/src has its name: say in " + kRules +
                 " which implements it ('headers FOLDER: " + fs::path(file).filename().string() +
                 "') or that none does ('values " + name_ + ": ...')"});
  }

  Graph uses() const {
    Graph graph;
    for (const auto& [file, unused] : includes_) {
      const std::string from = folder(file).value_or("");
      if (!from.empty()) follow(file, from, {}, graph);
    }
    return graph;
  }

 private:
  /// Our file that an include of `file` means; empty where it is none of this module's.
  std::string target(const std::string& file, const Include& include) const {
    std::vector<std::string> places = {name_ + "/include/" + include.path};
    if (include.quoted)
      for (const std::string& base : {folder_of(file), name_ + "/src", name_})
        places.push_back((fs::path(base) / include.path).lexically_normal().generic_string());
    for (const std::string& place : places)
      if (has(place)) return place;
    return {};
  }

  /// `through`: the include of the folder's own by which a header of values was reached.
  void follow(const std::string& file, const std::string& from, const std::optional<Use>& through,
              Graph& graph) const {
    for (const Include& include : includes_.at(file)) {
      const std::string to = target(file, include);
      if (to.empty()) continue;
      const Use use = through.value_or(Use{file, include.path, {}, include.line});
      const std::string of = folder(to).value_or("");
      if (of.empty()) {
        if (followed_.insert({from, to}).second) follow(to, from, use, graph);
      } else if (of != from) {
        graph[from].try_emplace(of, Use{use.file, use.path, of, use.line});
      }
    }
  }

  fs::path root_;
  std::string name_;
  const FolderRules& rules_;
  std::map<std::string, std::vector<Include>> includes_;
  std::set<std::string> folders_;
  std::map<std::string, std::set<std::string>>
      sources_;  ///< name of a .cpp -> the folders with one
  mutable std::set<std::pair<std::string, std::string>> followed_;
};

/// The fewest steps from one folder to another; empty where there is no way.
std::vector<std::string> way(const Graph& graph, const std::string& from, const std::string& to) {
  std::map<std::string, std::string> before;
  std::queue<std::string> open;
  open.push(from);
  while (!open.empty() && !before.contains(to)) {
    const std::string at = open.front();
    open.pop();
    if (const auto next = graph.find(at); next != graph.end())
      for (const auto& [folder, unused] : next->second)
        if (before.try_emplace(folder, at).second) open.push(folder);
  }
  if (!before.contains(to)) return {};
  std::vector<std::string> steps = {to};
  do steps.push_back(before.at(steps.back()));
  while (steps.back() != from);
  std::reverse(steps.begin(), steps.end());
  return steps;
}

/// Each circle of folders once, by its first folder.
void find_circles(const Graph& graph, std::vector<Violation>& found) {
  std::set<std::set<std::string>> told;
  for (const auto& [from, uses] : graph)
    for (const auto& [to, first] : uses) {
      const std::vector<std::string> back = way(graph, to, from);
      if (back.empty() || !told.insert({back.begin(), back.end()}).second) continue;
      std::string why =
          from + " and " + to +
          (back.size() == 2 ? " use each other: " : " use each other by way of others: ");
      const auto step = [&](const std::string& user, const std::string& used) {
        const Use& u = graph.at(user).at(used);
        return u.file + ":" + std::to_string(u.line) + " includes '" + u.path + "' of " + used;
      };
      why += step(from, to);
      for (std::size_t k = 0; k + 1 < back.size(); ++k) why += ", " + step(back[k], back[k + 1]);
      found.push_back({first.file, first.line, why});
    }
}

}  // namespace

FolderRules read_folder_rules(const fs::path& file) {
  FolderRules rules;
  std::istringstream lines(slurp(file));
  std::string line;
  for (int n = 1; std::getline(lines, line); ++n) {
    if (line.empty() || line[0] == '#') continue;
    const auto fail = [&](const std::string& why) {
      throw std::runtime_error(file.string() + ":" + std::to_string(n) + ": " + why);
    };
    const std::size_t colon = line.find(':');
    std::istringstream head(line.substr(0, colon)),
        rest(colon == std::string::npos ? "" : line.substr(colon + 1));
    std::string kind, from, arrow, to, more;
    head >> kind >> from;
    if (kind == "except") {
      head >> arrow >> to;
      const std::string why = colon == std::string::npos ? "" : line.substr(colon + 1);
      if (to.empty() || arrow != "->" || head >> more)
        fail("expected 'except FOLDER -> FOLDER: why'");
      if (why.find_first_not_of(" \t") == std::string::npos)
        fail("an exception needs its reason: 'except FOLDER -> FOLDER: why'");
      rules.exceptions.push_back({from, to, why.substr(why.find_first_not_of(" \t")), n});
      continue;
    }
    if ((kind != "headers" && kind != "values") || from.empty() || head >> more ||
        colon == std::string::npos)
      fail(
          "expected 'headers FOLDER: x.h ...', 'values MODULE: x.h ...' or 'except FOLDER -> "
          "FOLDER: why'");
    for (std::string name; rest >> name;) {
      const std::string header = header_named(from.substr(0, from.find('/')), name);
      if (!rules.headers.try_emplace(header, kind == "values" ? "" : from, n).second)
        fail("'" + name + "' is listed twice");
    }
  }
  return rules;
}

std::vector<Violation> check_folders(const fs::path& root, const Order& order,
                                     const FolderRules& rules) {
  std::vector<Violation> found;
  std::set<std::string> seen;  // headers and exceptions that are some module's
  for (const std::string& name : order.modules) {
    if (!fs::is_directory(root / name)) continue;
    const Module module(root, name, rules);
    module.find_untold(found);
    for (const auto& [header, said] : rules.headers) {
      const auto& [folder, line] = said;
      if (!header.starts_with(name + "/")) continue;
      seen.insert(header);
      if (!module.has(header))
        found.push_back({kRules, line, "there is no " + header});
      else if (!folder.empty() && !module.has_folder(folder))
        found.push_back({kRules, line, "there is no " + folder + " with sources"});
      else if (module.named_folder(header) == folder)
        found.push_back({kRules, line, "the name of " + header + " tells that it is of " + folder});
    }
    const Graph all = module.uses();
    Graph graph = all;
    for (const FolderRules::Exception& e : rules.exceptions)
      if (graph.contains(e.from)) graph[e.from].erase(e.to);
    for (const FolderRules::Exception& e : rules.exceptions) {
      if (!e.from.starts_with(name + "/")) continue;
      seen.insert(e.from);
      const auto uses = all.find(e.from);
      if (uses == all.end() || !uses->second.contains(e.to))
        found.push_back({kRules, e.line, e.from + " does not use " + e.to});
      else if (way(all, e.to, e.from).empty())
        found.push_back(
            {kRules, e.line, e.to + " does not use " + e.from + ": this is no exception"});
    }
    find_circles(graph, found);
  }
  for (const auto& [header, said] : rules.headers)
    if (!seen.contains(header))
      found.push_back({kRules, said.second, header + " belongs to no module of cmake/layers.txt"});
  for (const FolderRules::Exception& e : rules.exceptions)
    if (!seen.contains(e.from))
      found.push_back({kRules, e.line, e.from + " belongs to no module of cmake/layers.txt"});
  std::sort(found.begin(), found.end(), [](const Violation& a, const Violation& b) {
    return std::tie(a.file, a.line, a.why) < std::tie(b.file, b.line, b.why);
  });
  return found;
}

}  // namespace layers
