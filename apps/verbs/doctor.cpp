// SPDX-License-Identifier: Apache-2.0
// Tells what this program is made of and whether the machine can write and compute.
#include "support/report.h"
#include "support/self_test.h"
#include "tessera/autodiff/vectors.h"
#include "tessera/data/build_info.h"
#include "verbs/verbs.h"

#include <nlohmann/json.hpp>
#include <sched.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iomanip>
#include <iostream>
#include <thread>

namespace tessera::apps {
namespace {

namespace fs = std::filesystem;

/// Of kernels in use; `TESSERA_VECTOR_BITS` may hold them below what the processor has.
std::string vectors() {
  const int bits = vector_bits();
  const char* const set = std::getenv("TESSERA_VECTOR_BITS");
  return std::to_string(bits) + " bits" +
         (bits == 512   ? ", AVX-512"
          : bits == 256 ? ", AVX2 with FMA"
                        : "") +
         (set && *set ? ", TESSERA_VECTOR_BITS=" + std::string(set) : "");
}

std::string processor() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string text; std::getline(file, text);)
    if (text.compare(0, 10, "model name") == 0 && text.find(": ") != std::string::npos)
      return text.substr(text.find(": ") + 2);
  return "unknown";
}

int usable_cores() {
  cpu_set_t set;
  if (::sched_getaffinity(0, sizeof set, &set) == 0) return CPU_COUNT(&set);
  return static_cast<int>(std::thread::hardware_concurrency());
}

/// Writes, syncs, reads back and removes a file in `dir`; empty if all went well, else what did
/// not.
std::string write_test(const fs::path& dir) {
  std::string name = (dir / "tessera-doctor-XXXXXX").string();
  const int fd = ::mkstemp(name.data());
  if (fd < 0) return "cannot make a file in '" + dir.string() + "'";
  const std::string sent(1 << 16, 't');
  std::string back(sent.size(), '\0');
  const bool good = ::write(fd, sent.data(), sent.size()) == static_cast<ssize_t>(sent.size()) &&
                    ::fsync(fd) == 0 &&
                    ::pread(fd, back.data(), back.size(), 0) == static_cast<ssize_t>(back.size()) &&
                    back == sent;
  ::close(fd);
  ::unlink(name.c_str());
  return good ? "" : "cannot write to '" + dir.string() + "'";
}

}  // namespace

data::ExitCode verb_doctor(const CommandLine& line) {
  const data::BuildInfo& build = data::build_info();
  bool healthy = true;
  nlohmann::ordered_json j;
  const auto tell = [&](const std::string& name, const std::string& value) {
    j[name] = value;
    if (!line.json) std::cout << std::left << std::setw(16) << name << value << "\n";
  };
  tell("tessera", std::string(build.version) +
                      (build.git_hash.empty() ? "" : ", " + std::string(build.git_hash)) +
                      (build.dirty ? ", changed" : ""));
  tell("compiler", std::string(build.compiler) + ", " + std::string(build.build_type) +
                       ", -march=" + std::string(build.arch));
  tell("processor", processor());
  tell("vectors", vectors());
  tell("cores", std::to_string(usable_cores()));
  for (const data::Part& p : build.parts)
    tell(std::string(p.name), p.found ? std::string(p.version) + " (" + std::string(p.purpose) + ")"
                                      : "missing; package: " + std::string(p.package) + " (" +
                                            std::string(p.purpose) + ")");
  std::error_code ec;
  for (const auto& [name, dir] :
       {std::pair<std::string, fs::path>{"write here", fs::current_path(ec)},
        {"write temporary", fs::temp_directory_path(ec)}}) {
    const std::string fault = write_test(dir);
    healthy = healthy && fault.empty();
    tell(name, fault.empty() ? "ok" : fault);
  }
  for (const SelfTest& t : run_self_tests()) {
    healthy = healthy && t.passed();
    char text[96];
    std::snprintf(text, sizeof text, "%s, relative error %.1e (at most %.0e)",
                  t.passed() ? "ok" : "WRONG", t.error, t.tolerance);
    tell(t.name, text);
  }
  if (line.json) {
    j["healthy"] = healthy;
    std::cout << j.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) << "\n";
  }
  if (!healthy) std::cerr << "tessera: error: this installation is not healthy\n";
  return healthy ? data::ExitCode::ok : data::ExitCode::internal_fault;
}

}  // namespace tessera::apps
