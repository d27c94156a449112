// SPDX-License-Identifier: Apache-2.0
#include "tessera/data/manifest.h"

#include "tessera/data/build_info.h"
#include "tessera/data/diagnostic.h"

#include <nlohmann/json.hpp>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <concepts>
#include <ctime>
#include <fstream>
#include <limits>
#include <utility>

extern char** environ;

namespace tessera::data {
namespace {

using Json = nlohmann::ordered_json;
const std::chrono::steady_clock::time_point g_process_start = std::chrono::steady_clock::now();

std::string host_name() {
  char name[256] = "";
  ::gethostname(name, sizeof name - 1);
  return name;
}

std::string cpu_name() {
  std::ifstream in("/proc/cpuinfo");
  for (std::string line; std::getline(in, line);)
    if (line.starts_with("model name")) {
      const std::size_t colon = line.find(": ");
      if (colon != std::string::npos) return line.substr(colon + 2);
    }
  return "unknown";
}

std::vector<std::pair<std::string, std::string>> tessera_environment() {
  std::vector<std::pair<std::string, std::string>> out;
  for (char** e = environ; *e; ++e) {
    const std::string_view entry = *e;
    const std::size_t equals = entry.find('=');
    if (entry.starts_with("TESSERA_") && equals != std::string_view::npos)
      out.emplace_back(entry.substr(0, equals), entry.substr(equals + 1));
  }
  std::sort(out.begin(), out.end());
  return out;
}

/// Visits every member with its JSON key, in the order of the file: one list for writing and
/// reading.
template <class M, class Visit>
void visit_members(M& m, Visit visit) {
  visit("schema", m.schema);
  visit("app", m.app);
  visit("tessera_version", m.tessera_version);
  visit("git_hash", m.git_hash);
  visit("git_dirty", m.git_dirty);
  visit("compiler", m.compiler);
  visit("compiler_flags", m.compiler_flags);
  visit("libraries", m.libraries);
  visit("host", m.host);
  visit("cpu", m.cpu);
  visit("threads", m.threads);
  visit("ranks", m.ranks);
  visit("precision", m.precision);
  visit("determinism", m.determinism);
  visit("seeds", m.seeds);
  visit("command_line", m.command_line);
  visit("environment", m.environment);
  visit("config_sha256", m.config_sha256);
  visit("changes", m.changes);
  visit("keep_going", m.keep_going);
  visit("inputs", m.inputs);
  visit("resumed", m.resumed);
  visit("started", m.started);
  visit("ended", m.ended);
  visit("wall_s", m.wall_s);
  visit("cpu_s", m.cpu_s);
  visit("peak_rss_bytes", m.peak_rss_bytes);
  visit("metrics", m.metrics);
  visit("speeds", m.speeds);
  visit("exit_code", m.exit_code);
  visit("exit_reason", m.exit_reason);
}

template <class T>
Json to_value(const T& v) {
  return v;
}
template <class V>
Json to_value(const std::vector<std::pair<std::string, V>>& pairs) {
  Json out = Json::object();
  for (const auto& [key, value] : pairs) out[key] = value;  // a NaN is written as null
  return out;
}
Json to_value(const std::vector<InputFile>& files) {
  Json out = Json::array();
  for (const InputFile& f : files)
    out.push_back({{"path", f.path}, {"bytes", f.bytes}, {"sha256", f.sha256}});
  return out;
}

Json to_value(const std::vector<ConfigChange>& changes) {
  Json out = Json::array();
  for (const ConfigChange& c : changes)
    out.push_back({{"at", c.at}, {"set", c.set}, {"config_sha256", c.config_sha256}});
  return out;
}

template <class T>
void from_value(const Json& j, T& v) {
  v = j.get<T>();
}
void from_value(const Json& j, double& v) {
  v = j.is_null() ? std::numeric_limits<double>::quiet_NaN() : j.get<double>();
}
template <std::integral I>
requires(!std::same_as<I, bool>) void from_value(const Json& j, I& v) {
  if (!j.is_number_integer()) throw Error("expected an integer, found " + j.dump());
  const auto wide = j.get<std::int64_t>();
  if (!(j.is_number_unsigned() ? std::in_range<I>(j.get<std::uint64_t>()) : std::in_range<I>(wide)))
    throw Error("the integer " + j.dump() + " is out of range");
  v = j.get<I>();
}
template <class V>
void from_value(const Json& j, std::vector<std::pair<std::string, V>>& pairs) {
  for (const auto& [key, value] : j.get_ref<const Json::object_t&>()) {
    pairs.emplace_back(key, V{});
    from_value(value, pairs.back().second);
  }
}
void from_value(const Json& j, std::vector<InputFile>& files) {
  for (const Json& f : j.get_ref<const Json::array_t&>())
    files.push_back({f.at("path"), f.at("bytes").get<std::uint64_t>(), f.at("sha256")});
}

void from_value(const Json& j, std::vector<ConfigChange>& changes) {
  for (const Json& c : j.get_ref<const Json::array_t&>())
    changes.push_back(
        {c.at("at"), c.at("set").get<std::vector<std::string>>(), c.at("config_sha256")});
}

double cpu_seconds(const rusage& u) {
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return seconds(u.ru_utime) + seconds(u.ru_stime);
}

double wall_of_process() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - g_process_start).count();
}
double cpu_of_process() {
  rusage own{}, children{};
  ::getrusage(RUSAGE_SELF, &own);
  ::getrusage(RUSAGE_CHILDREN, &children);
  return cpu_seconds(own) + cpu_seconds(children);
}

/// Of the first run that a process begins all its time is, of another what follows.
void begin_times(Manifest& m) {
  static bool first = true;
  if (!std::exchange(first, false))
    m.wall_before_s = wall_of_process(), m.cpu_before_s = cpu_of_process();
}

void fill_in_program(Manifest& m, std::vector<std::string> command_line, int threads) {
  const BuildInfo& b = build_info();
  m.tessera_version = b.version, m.git_hash = b.git_hash, m.git_dirty = b.dirty;
  m.compiler = b.compiler, m.compiler_flags = b.flags;
  m.libraries.clear();
  for (const Part& part : b.parts)
    if (part.found) m.libraries.emplace_back(part.name, part.version);
  m.host = host_name(), m.cpu = cpu_name(), m.threads = threads;
  m.command_line = std::move(command_line), m.environment = tessera_environment();
  m.exit_code = -1, m.exit_reason = "running", m.ended.clear();
  begin_times(m);
}

}  // namespace

std::string utc_now() {
  const std::time_t now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  std::tm t{};
  ::gmtime_r(&now, &t);
  char text[32];
  return {text, std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &t)};
}

Manifest begin_manifest(std::string app, std::vector<std::string> command_line, int threads) {
  Manifest m{.app = std::move(app), .started = utc_now()};
  fill_in_program(m, std::move(command_line), threads);
  return m;
}

Manifest resume_manifest(const Manifest& previous, std::vector<std::string> command_line,
                         int threads) {
  Manifest m = previous;
  m.metrics.clear();  // those of its end, which is another one now
  fill_in_program(m, std::move(command_line), threads);
  ++m.resumed;
  return m;
}

void finish_manifest(Manifest& m, ExitCode code, std::string reason) {
  rusage own{};
  ::getrusage(RUSAGE_SELF, &own);
  m.wall_s += wall_of_process() - m.wall_before_s;
  m.cpu_s += cpu_of_process() - m.cpu_before_s;
  m.peak_rss_bytes = std::max(m.peak_rss_bytes, static_cast<std::uint64_t>(own.ru_maxrss) * 1024);
  m.ended = utc_now();
  m.exit_code = static_cast<int>(code);
  m.exit_reason = std::move(reason);
}

std::string to_json(const Manifest& m) {
  Json out = Json::object();
  visit_members(m, [&](const char* key, const auto& value) { out[key] = to_value(value); });
  return out.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

Manifest manifest_from_json(std::string_view text, const std::string& file) {
  const auto refuse = [&](std::string message) {
    return InputError(Diagnostic{
        .number = 404, .place = {file}, .message = "not a usable manifest: " + std::move(message)});
  };
  Manifest m;
  const char* at = "";
  try {
    const Json in = Json::parse(text, [](int depth, Json::parse_event_t, Json&) {
      if (depth > 8) throw Error("nested deeper than any manifest");
      return true;
    });
    if (!in.is_object() || !in.contains("schema")) throw Error("expected an object with 'schema'");
    if (in["schema"] != m.schema)
      throw Error("schema " + in["schema"].dump() + ", this program reads 1");
    visit_members(m, [&](const char* key, auto& value) {
      at = key;
      const std::string_view name = key;
      const bool later = name == "changes" || name == "keep_going" || name == "speeds";
      if (later && !in.contains(key)) return;  // written by a version that did not have it
      from_value(in.at(key), value);
    });
  } catch (const nlohmann::json::exception& e) {
    throw refuse(std::string(at) + (*at ? ": " : "") + e.what());
  } catch (const Error& e) {
    throw refuse(e.what());
  }
  return m;
}

}  // namespace tessera::data
