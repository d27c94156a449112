// SPDX-License-Identifier: Apache-2.0
#include "electromagnetics/fdtd/subtract.h"

#include "electromagnetics/fdtd/results.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace tessera::apps::fdtd {
namespace {

namespace em = electromagnetics;

/// Of a wave that never ends its ramp and some periods are kept.
std::vector<em::SourceRecord> sources_of(const Case& c) {
  std::vector<em::SourceRecord> out;
  for (const CaseSource& s : c.sources) {
    const SourceOptions& o = s.options;
    const double period = o.waveform.frequency ? 1 / *o.waveform.frequency : 0,
                 end = std::isfinite(s.waveform.end_s)
                           ? s.waveform.end_s
                           : o.waveform.ramp.value_or(5 * period) + 5 * period;
    out.push_back({.name = s.key,
                   .kind = static_cast<int>(o.kind),
                   .component = static_cast<int>(o.component),
                   .position = *o.position,
                   .extent = o.size.value_or(Point{}),
                   .direction = o.direction,
                   .polarization = o.polarization,
                   .waist = o.waist,
                   .focus = o.focus,
                   .amplitude = o.amplitude / std::sqrt(s.images),
                   .end_s = s.waveform.end_s,
                   .mode = o.kind == SourceKind::mode ? o.mode : 0,
                   .index = o.index.value_or(0),
                   .bloch_k = c.bloch_k,
                   .waveform = em::waveform_samples(s.waveform, end)});
  }
  return out;
}

double extent_of(const Case& c) {
  double longest = 0;
  for (const std::vector<double>& x : c.grid.lines)
    longest = std::max(longest, x.back() - x.front());
  return longest;
}

const std::vector<double>* reals(const std::map<std::string, data::H5Array>& found,
                                 const std::string& name) {
  for (const std::string& full : {name, "/" + name})
    if (const auto it = found.find(full); it != found.end())
      return std::get_if<std::vector<double>>(&it->second.data);
  return nullptr;
}

const char* way_out_of(em::RunDifference::In difference) {
  switch (difference) {
    case em::RunDifference::In::frequencies:
      return "ask for the same in both";
    case em::RunDifference::In::time_step:
      return "give both the smaller of the two as run.dt, and the same grid";
    case em::RunDifference::In::positions:
      return "take the same grid, position, size and components in both";
    case em::RunDifference::In::sources:
      return "drive both by the same sources";
  }
  return "";
}

}  // namespace

void write_sources(data::H5Writer& file, const Case& c) {
  if (c.sources.empty()) return;
  const std::vector<em::SourceRecord> sources = sources_of(c);
  const auto n = static_cast<std::uint64_t>(sources.size());
  file.write("tessera/sources", em::source_table(sources), {n, em::source_columns},
             {"",
              "kind, component, position, extent, direction, polarization, waist, focus, "
              "amplitude, end, mode, index and Bloch vector of each source, SI"});
  file.write("tessera/waveforms", em::waveform_table(sources), {n, em::waveform_points},
             {"", "values of each waveform at the times end * frac(0.618... n), n = 1, 2, ..."});
}

MonitorResult former_result(const Case& c, const MonitorOptions& o,
                            const em::TransformRecord& own) {
  const std::filesystem::path file = *o.subtract / "results.h5";
  const std::string run = o.subtract->string();
  const auto differs = [&](const std::string& how, std::string way_out) -> MonitorFault {
    return {"subtract", fmt::format("the run in {} cannot be subtracted: it {}", run, how),
            std::move(way_out)};
  };
  const auto agree = [&](const std::optional<em::RunDifference>& difference) {
    if (difference) throw differs(difference->what, way_out_of(difference->in));
  };
  if (!std::filesystem::exists(file))
    throw differs("has no results.h5", "give the folder of a run that has finished");
  const auto found = data::read_h5(file, {}, data::limits_of_results());
  Results former = read_results(file);
  for (MonitorResult& r : former) {
    if (r.name != o.name) continue;
    const auto *table = reals(found, "tessera/sources"), *waves = reals(found, "tessera/waveforms");
    if (!r.transform || (!c.sources.empty() && !(table && waves)))
      throw differs("does not say how its transforms were made", "run it again with this version");
    agree(em::difference(*r.transform, own, o.name, extent_of(c)));
    if (o.kind != MonitorKind::dft && !(r.transform->reference_length_m > 0))
      throw differs("does not say in units of which length its sums are",
                    "run it again with this version");
    std::vector<em::SourceRecord> sources;
    try {
      if (table && waves) sources = em::source_records(*table, *waves);
    } catch (const Error&) {
      throw differs("keeps its sources in another way", "run it again with this version");
    }
    agree(em::difference(sources, sources_of(c), extent_of(c)));
    return std::move(r);
  }
  for (const MonitorResult& r : former)
    if (r.transform && r.name.starts_with(o.name + "."))
      throw differs(fmt::format("has '{}' of each of several ports, as '{}'", o.name, r.name),
                    "drive one port in both (run.excite), or let a [reference] of this case run "
                    "each port without the body");
  throw differs(fmt::format("has no monitor '{}'", o.name),
                "give the monitor the same name in both");
}

}  // namespace tessera::apps::fdtd
