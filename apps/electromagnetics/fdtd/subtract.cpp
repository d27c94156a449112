// SPDX-License-Identifier: Apache-2.0
#include "electromagnetics/fdtd/subtract.h"

#include "electromagnetics/fdtd/results.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

namespace tessera::apps::fdtd {
namespace {

namespace em = electromagnetics;

constexpr double kAgree = 1e-9;
constexpr std::size_t kWavePoints = 97;
const char* const kSourceColumns[] = {"kind",
                                      "component",
                                      "position along x",
                                      "position along y",
                                      "position along z",
                                      "extent along x",
                                      "extent along y",
                                      "extent along z",
                                      "direction in x",
                                      "direction in y",
                                      "direction in z",
                                      "polarization in x",
                                      "polarization in y",
                                      "polarization in z",
                                      "waist",
                                      "focus",
                                      "amplitude",
                                      "end of the waveform"};
constexpr std::size_t kColumns = std::size(kSourceColumns), kFirstLength = 2, kLastLength = 7;

/// [source, column].
std::vector<double> source_table_of(const Case& c) {
  std::vector<double> out;
  for (const CaseSource& s : c.sources) {
    const SourceOptions& o = s.options;
    const auto put = [&](const Point& p) { out.insert(out.end(), p.begin(), p.end()); };
    out.push_back(static_cast<double>(o.kind));
    out.push_back(static_cast<double>(o.component));
    put(*o.position);
    put(o.size.value_or(Point{}));
    put(o.direction);
    put(o.polarization);
    out.insert(out.end(), {o.waist, o.focus, o.amplitude, s.waveform.end_s});
  }
  return out;
}

/// Values of each waveform, [source, point], at times that no period divides; of a wave that never
/// ends over its ramp and some periods.
std::vector<double> waveforms_of(const Case& c) {
  std::vector<double> out;
  for (const CaseSource& s : c.sources) {
    const WaveformOptions& w = s.options.waveform;
    const double period = w.frequency ? 1 / *w.frequency : 0,
                 end = std::isfinite(s.waveform.end_s) ? s.waveform.end_s
                                                       : w.ramp.value_or(5 * period) + 5 * period;
    for (std::size_t n = 0; n < kWavePoints; ++n)
      out.push_back(
          s.waveform.at(end * std::fmod(static_cast<double>(n + 1) * 0.6180339887498949, 1.0)));
  }
  return out;
}

bool agree(double a, double b, double scale) { return a == b || std::abs(a - b) <= kAgree * scale; }
bool agree(double a, double b) { return agree(a, b, std::max(std::abs(a), std::abs(b))); }

double extent_of(const Case& c) {
  double longest = 0;
  for (const std::vector<double>& x : c.grid.lines)
    longest = std::max(longest, x.back() - x.front());
  return longest;
}

/// How the sources of a former run differ; empty where they do not.
std::string other_sources(const Case& c, const std::vector<double>& table,
                          const std::vector<double>& waves) {
  const std::vector<double> ours = source_table_of(c), our_waves = waveforms_of(c);
  if (table.size() != ours.size())
    return fmt::format("has {} sources, this case {}", table.size() / kColumns, c.sources.size());
  if (waves.size() != our_waves.size()) return "keeps its sources in another way";
  for (std::size_t s = 0; s < c.sources.size(); ++s) {
    for (std::size_t k = 0; k < kColumns; ++k) {
      const double a = table[s * kColumns + k], b = ours[s * kColumns + k];
      if (k >= kFirstLength && k <= kLastLength ? agree(a, b, extent_of(c)) : agree(a, b)) continue;
      if (k < kFirstLength)
        return fmt::format("has another {} of {}", kSourceColumns[k], c.sources[s].key);
      return fmt::format("has another {} of {}: {:.9g} there, {:.9g} here", kSourceColumns[k],
                         c.sources[s].key, a, b);
    }
    double peak = 0, off = 0;
    for (std::size_t n = s * kWavePoints; n < (s + 1) * kWavePoints; ++n) {
      peak = std::max(peak, std::abs(our_waves[n]));
      off = std::max(off, std::abs(waves[n] - our_waves[n]));
    }
    if (!(off <= kAgree * peak)) return fmt::format("has another waveform of {}", c.sources[s].key);
  }
  return {};
}

const std::vector<double>* reals(const std::map<std::string, data::H5Array>& found,
                                 const std::string& name) {
  for (const std::string& full : {name, "/" + name})
    if (const auto it = found.find(full); it != found.end())
      return std::get_if<std::vector<double>>(&it->second.data);
  return nullptr;
}

}  // namespace

std::vector<double> positions_of(const em::SampleList& samples) {
  std::array<std::array<std::set<double>, 3>, 6> along;
  std::array<double, 6> count{};
  for (const em::Edge& e : samples.edges()) {
    const auto q = static_cast<std::size_t>(e.component);
    const auto at = samples.grid().position(e);
    for (std::size_t d = 0; d < 3; ++d) along[q][d].insert(at[d]);
    ++count[q];
  }
  std::vector<double> out;
  for (std::size_t q = 0; q < 6; ++q) {
    out.push_back(count[q]);
    for (const std::set<double>& x : along[q]) {
      out.push_back(static_cast<double>(x.size()));
      out.insert(out.end(), x.begin(), x.end());
    }
  }
  return out;
}

void write_sources(data::H5Writer& file, const Case& c) {
  if (c.sources.empty()) return;
  const auto n = static_cast<std::uint64_t>(c.sources.size());
  file.write("tessera/sources", source_table_of(c), {n, kColumns},
             {"",
              "kind, component, position, extent, direction, polarization, waist, focus, "
              "amplitude, end of each source, SI"});
  file.write("tessera/waveforms", waveforms_of(c), {n, kWavePoints},
             {"", "values of each waveform at the times end * frac(0.618... n), n = 1, 2, ..."});
}

MonitorResult former_result(const Case& c, const MonitorOptions& o,
                            const std::vector<double>& frequencies, const em::SampleList& samples) {
  const std::filesystem::path file = *o.subtract / "results.h5";
  const std::string run = o.subtract->string();
  const auto differs = [&](const std::string& how, std::string way_out) -> MonitorFault {
    return {"subtract", fmt::format("the run in {} cannot be subtracted: it {}", run, how),
            std::move(way_out)};
  };
  if (!std::filesystem::exists(file))
    throw differs("has no results.h5", "give the folder of a run that has finished");
  const auto found = data::read_h5(file);
  for (MonitorResult& r : read_results(file)) {
    if (r.name != o.name) continue;
    const auto *table = reals(found, "tessera/sources"), *waves = reals(found, "tessera/waveforms");
    if (!r.transform || (!c.sources.empty() && !(table && waves)))
      throw differs("does not say how its transforms were made", "run it again with this version");
    if (r.axis.values.size() != frequencies.size())
      throw differs(fmt::format("has {} frequencies at '{}', this one {}", r.axis.values.size(),
                                o.name, frequencies.size()),
                    "ask for the same in both");
    for (std::size_t k = 0; k < frequencies.size(); ++k)
      if (!agree(r.axis.values[k], frequencies[k]))
        throw differs(fmt::format("has other frequencies at '{}': {:.9g} Hz there, {:.9g} Hz here",
                                  o.name, r.axis.values[k], frequencies[k]),
                      "ask for the same in both");
    if (!agree(r.transform->dt_s, c.dt_s))
      throw differs(fmt::format("has another time step: {:.12g} s there, {:.12g} s here",
                                r.transform->dt_s, c.dt_s),
                    "give both the smaller of the two as run.dt, and the same grid");
    const std::vector<double> positions = positions_of(samples);
    bool same = positions.size() == r.transform->positions.size();
    for (std::size_t n = 0; same && n < positions.size(); ++n)
      same = agree(positions[n], r.transform->positions[n], extent_of(c));
    if (!same)
      throw differs(fmt::format("measures '{}' at other positions of the grid", o.name),
                    "take the same grid, position, size and components in both");
    if (c.sources.empty() ? table != nullptr : false)
      throw differs("has sources, this case none", "drive both by the same sources");
    if (!c.sources.empty())
      if (const std::string how = other_sources(c, *table, *waves); !how.empty())
        throw differs(how, "drive both by the same sources");
    return std::move(r);
  }
  throw differs(fmt::format("has no monitor '{}'", o.name),
                "give the monitor the same name in both");
}

}  // namespace tessera::apps::fdtd
