// SPDX-License-Identifier: Apache-2.0
#include "layers.h"

#include "includes.h"

#include <algorithm>
#include <functional>
#include <sstream>
#include <stdexcept>
#include <string_view>

namespace layers {
namespace fs = std::filesystem;
namespace {

constexpr std::string_view kSpdx = "// SPDX-License-Identifier: Apache-2.0";

// Beginnings of the include paths of third parties that must stay in .cpp files.
constexpr std::string_view kPrivate[] = {
    "petsc",  "slepc", "hdf5",     "H5",         "vtk",        "mpi.h",     "nccl",     "cuda",
    "cublas", "cufft", "cusolver", "toml++",     "CLI/",       "nlohmann/", "spdlog/",  "fmt/",
    "cairo",  "pugi",  "hwy/",     "Random123/", "cblas",      "lapack",    "openblas", "zlib",
    "fftw",   "omp.h", "gtest/",   "rapidcheck", "benchmark/", "torch/",    "ATen/"};

bool starts(std::string_view text, std::string_view with) {
  return text.substr(0, with.size()) == with;
}

}  // namespace

Order read_order(const fs::path& file) {
  Order order;
  std::istringstream lines(slurp(file));
  std::string line;
  for (int n = 1; std::getline(lines, line); ++n) {
    if (line.empty() || line[0] == '#') continue;
    const auto fail = [&](const std::string& why) {
      throw std::runtime_error(file.string() + ":" + std::to_string(n) + ": " + why);
    };
    const std::size_t colon = line.find(':');
    if (colon == std::string::npos) fail("expected 'module: module module ...'");
    const std::string name = line.substr(0, colon);
    if (order.allowed.count(name)) fail("'" + name + "' is listed twice");
    std::istringstream rest(line.substr(colon + 1));
    std::set<std::string> allowed;
    for (std::string word; rest >> word;) {
      if (!order.allowed.count(word))
        fail("'" + name + "' may not use '" + word + "', which is not listed above it");
      allowed.insert(word);
    }
    order.modules.push_back(name);
    order.allowed[name] = allowed;
  }
  return order;
}

std::vector<Violation> check(const fs::path& root, const Order& order) {
  std::vector<Violation> found;
  std::map<std::string, std::vector<std::string>> edges;  // our file -> our files it includes

  for (const std::string& module : order.modules) {
    if (!fs::is_directory(root / module)) continue;
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(root / module)) {
      if (!entry.is_regular_file() || !is_source(entry.path())) continue;
      const std::string file = fs::relative(entry.path(), root).generic_string();
      const std::string text = slurp(entry.path());
      const bool is_header = starts(entry.path().extension().string(), ".h");
      const bool is_public = starts(file, module + "/include/");
      const auto report = [&](int line, const std::string& why) {
        found.push_back({file, line, why});
      };

      if (!starts(text, kSpdx)) report(1, "the first line must be '" + std::string(kSpdx) + "'");
      if (is_header && text.find("#pragma once") == std::string::npos)
        report(0, "a header needs #pragma once");
      if (is_public && !starts(file, module + "/include/tessera/" + module + "/"))
        report(0, "public headers of " + module + " lie in include/tessera/" + module + "/");

      for (const Include& include : includes_of(text)) {
        if (starts(include.path, "tessera/")) {
          const std::string rest = include.path.substr(8);
          const std::string target = rest.substr(0, rest.find('/'));
          if (!order.allowed.count(target)) {
            report(include.line, "'" + include.path + "' belongs to no module of cmake/layers.txt");
          } else if (target != module && !order.allowed.at(module).count(target)) {
            report(include.line,
                   module + " may not include " + target + " ('" + include.path + "')");
          }
          const std::string header = target + "/include/" + include.path;
          if (!fs::exists(root / header))
            report(include.line, "'" + include.path + "' does not exist");
          edges[file].push_back(header);
          continue;
        }
        if (include.quoted) {  // private headers: beside the file, or under the module's src
          const fs::path beside =
              (fs::relative(entry.path().parent_path(), root / module) / include.path)
                  .lexically_normal();
          if (starts(beside.generic_string(), ".."))
            report(include.line, "'" + include.path + "' leads out of " + module);
          for (const fs::path& base :
               {entry.path().parent_path(), root / module / "src", root / module}) {
            if (!fs::exists(base / include.path)) continue;
            edges[file].push_back(
                fs::relative((base / include.path).lexically_normal(), root).generic_string());
            break;
          }
        }
        if (!is_public) continue;
        const bool eigen =
            starts(include.path, "Eigen/") || starts(include.path, "unsupported/Eigen/");
        if (eigen && file != "autodiff/include/tessera/autodiff/eigen.h")
          report(include.line,
                 "<" + include.path + "> in a public header: only autodiff's eigen.h may");
        for (std::string_view prefix : kPrivate)
          if (starts(include.path, prefix)) {
            report(include.line,
                   "<" + include.path + "> is a third party's: it stays in .cpp files");
            break;
          }
        if (include.quoted)
          report(include.line, "'" + include.path + "': a public header includes only tessera/...");
      }
    }
  }

  // Cycles among files: depth-first, an edge to a file that is still open closes a cycle.
  std::map<std::string, int> state;  // 0 unseen, 1 open, 2 done
  std::function<void(const std::string&)> visit = [&](const std::string& file) {
    state[file] = 1;
    for (const std::string& next : edges[file]) {
      if (state[next] == 1)
        found.push_back({file, 0, "includes " + next + ", which includes it in turn (a cycle)"});
      if (state[next] == 0) visit(next);
    }
    state[file] = 2;
  };
  std::vector<std::string> files;
  for (const auto& [file, unused] : edges) files.push_back(file);
  for (const std::string& file : files)
    if (state[file] == 0) visit(file);

  std::sort(found.begin(), found.end(), [](const Violation& a, const Violation& b) {
    return std::tie(a.file, a.line, a.why) < std::tie(b.file, b.line, b.why);
  });
  return found;
}

}  // namespace layers
