// SPDX-License-Identifier: Apache-2.0
#include "tessera/electromagnetics/run_record.h"

#include "tessera/autodiff/error.h"
#include "tessera/electromagnetics/wire_network.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

namespace tessera::electromagnetics {
namespace {

using In = RunDifference::In;

constexpr double same_number = 1e-9;
constexpr const char* column_names[] = {"kind",
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
                                        "end of the waveform",
                                        "mode",
                                        "index about which its mode is sought",
                                        "Bloch vector along x",
                                        "Bloch vector along y",
                                        "Bloch vector along z"};
static_assert(std::size(column_names) == source_columns);
constexpr std::size_t first_length = 2, last_length = 7;  ///< columns that compare to the domain

std::array<double, source_columns> columns_of(const SourceRecord& s) {
  std::array<double, source_columns> out{static_cast<double>(s.kind),
                                         static_cast<double>(s.component)};
  std::size_t at = 2;
  for (const Point* p : {&s.position, &s.extent, &s.direction, &s.polarization})
    for (const double x : *p) out[at++] = x;
  for (const double x :
       {s.waist, s.focus, s.amplitude, s.end_s, static_cast<double>(s.mode), s.index})
    out[at++] = x;
  for (const double x : s.bloch_k) out[at++] = x;
  return out;
}

bool same(double a, double b, double scale) {
  return a == b || std::abs(a - b) <= same_number * scale;
}
bool same(double a, double b) { return same(a, b, std::max(std::abs(a), std::abs(b))); }

}  // namespace

std::vector<double> sampled_positions(const SampleList& samples) {
  std::array<std::array<std::set<double>, 3>, 6> along;
  std::array<double, 6> count{};
  for (const Edge& e : samples.edges()) {
    if (is_of_wire(e)) continue;
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

std::vector<double> waveform_samples(const Waveform& w, double end_s) {
  std::vector<double> out(waveform_points);
  for (std::size_t n = 0; n < waveform_points; ++n)
    out[n] = w.at(end_s * std::fmod(static_cast<double>(n + 1) * 0.6180339887498949, 1.0));
  return out;
}

std::vector<double> source_table(std::span<const SourceRecord> sources) {
  std::vector<double> out;
  for (const SourceRecord& s : sources) {
    const auto columns = columns_of(s);
    out.insert(out.end(), columns.begin(), columns.end());
  }
  return out;
}

std::vector<double> waveform_table(std::span<const SourceRecord> sources) {
  std::vector<double> out;
  for (const SourceRecord& s : sources) out.insert(out.end(), s.waveform.begin(), s.waveform.end());
  return out;
}

std::vector<SourceRecord> source_records(std::span<const double> sources,
                                         std::span<const double> waveforms) {
  const std::size_t n = sources.size() / source_columns;
  if (sources.size() != n * source_columns || waveforms.size() != n * waveform_points)
    throw Error(fmt::format(
        "[source_records] expected {} numbers of each source and {} of its waveform, got {} and {}",
        source_columns, waveform_points, sources.size(), waveforms.size()));
  std::vector<SourceRecord> out(n);
  for (std::size_t k = 0; k < n; ++k) {
    SourceRecord& s = out[k];
    const double* x = sources.data() + k * source_columns;
    if (!(x[0] >= 0 && x[0] < 1000 && x[1] >= 0 && x[1] < 6 && x[18] >= 0 && x[18] < 1e6))
      throw Error(fmt::format("[source_records] source {} is of kind {}, component {} and mode {}",
                              k, x[0], x[1], x[18]));
    s.kind = static_cast<int>(x[0]), s.component = static_cast<int>(x[1]);
    x += 2;
    for (Point* p : {&s.position, &s.extent, &s.direction, &s.polarization})
      for (double& v : *p) v = *x++;
    for (double* v : {&s.waist, &s.focus, &s.amplitude, &s.end_s}) *v = *x++;
    s.mode = static_cast<int>(*x++);
    s.index = *x++;
    for (double& v : s.bloch_k) v = *x++;
    const std::span<const double> wave = waveforms.subspan(k * waveform_points, waveform_points);
    s.waveform.assign(wave.begin(), wave.end());
  }
  return out;
}

std::optional<RunDifference> difference(const TransformRecord& former, const TransformRecord& own,
                                        const std::string& name, double extent_m) {
  const std::vector<double>&there = former.frequencies_hz, &here = own.frequencies_hz;
  if (there.size() != here.size())
    return RunDifference{In::frequencies, fmt::format("has {} frequencies at '{}', this one {}",
                                                      there.size(), name, here.size())};
  for (std::size_t k = 0; k < here.size(); ++k)
    if (!same(there[k], here[k]))
      return RunDifference{
          In::frequencies,
          fmt::format("has other frequencies at '{}': {:.9g} Hz there, {:.9g} Hz here", name,
                      there[k], here[k])};
  if (!same(former.dt_s, own.dt_s))
    return RunDifference{In::time_step,
                         fmt::format("has another time step: {:.12g} s there, {:.12g} s here",
                                     former.dt_s, own.dt_s)};
  if (!std::equal(former.positions.begin(), former.positions.end(), own.positions.begin(),
                  own.positions.end(), [&](double a, double b) { return same(a, b, extent_m); }))
    return RunDifference{In::positions,
                         fmt::format("measures '{}' at other positions of the grid", name)};
  return {};
}

std::optional<RunDifference> difference(std::span<const SourceRecord> former,
                                        std::span<const SourceRecord> own, double extent_m) {
  if (former.size() != own.size())
    return RunDifference{In::sources, own.empty() ? "has sources, this one none"
                                                  : fmt::format("has {} sources, this one {}",
                                                                former.size(), own.size())};
  for (std::size_t s = 0; s < own.size(); ++s) {
    const auto there = columns_of(former[s]), here = columns_of(own[s]);
    for (std::size_t k = 0; k < source_columns; ++k) {
      const double a = there[k], b = here[k];
      if (k >= first_length && k <= last_length ? same(a, b, extent_m) : same(a, b)) continue;
      std::string what = fmt::format("has another {} of {}", column_names[k], own[s].name);
      if (k >= first_length) what += fmt::format(": {:.9g} there, {:.9g} here", a, b);
      return RunDifference{In::sources, std::move(what)};
    }
    const std::vector<double>&former_wave = former[s].waveform, &own_wave = own[s].waveform;
    double peak = 0, off = 0;
    const std::size_t points = std::min(own_wave.size(), former_wave.size());
    for (std::size_t n = 0; n < points; ++n) {
      peak = std::max(peak, std::abs(own_wave[n]));
      off = std::max(off, std::abs(former_wave[n] - own_wave[n]));
    }
    if (own_wave.size() != former_wave.size() || !(off <= same_number * peak))
      return RunDifference{In::sources, fmt::format("has another waveform of {}", own[s].name)};
  }
  return {};
}

}  // namespace tessera::electromagnetics
