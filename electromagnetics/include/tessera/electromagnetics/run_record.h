// SPDX-License-Identifier: Apache-2.0
//
// What a run keeps of how its transforms came about, so that a later one can be sure that it may
// take them off its own (SpectralRecord::subtract, monitors.h): what is left is the field that a
// body adds only where both have the same frequencies, time step, positions and sources. How often
// each looked at the fields may differ, and the smallest cell of its grid, in units of which
// unknowns are.
#pragma once
#include "tessera/electromagnetics/geometry.h"
#include "tessera/electromagnetics/samples.h"
#include "tessera/electromagnetics/waveform.h"

#include <complex>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tessera::electromagnetics {

/// The transforms of one list of samples.
struct TransformRecord {
  std::vector<double> frequencies_hz;
  double dt_s = 0;
  int every = 1;
  std::vector<double> positions;  ///< sampled_positions
  /// What e = E ds / l and h are taken over (reference_length), m; 0: not known.
  double reference_length_m = 0;
  /// [frequency] What results were multiplied by to be of 1 W at a port; empty: they were not. Sums
  /// never are.
  std::vector<std::complex<double>> of_a_watt = {};
};
/// Of each of the six components: how many unknowns, then how many x and these, the same for y and
/// z, m.
std::vector<double> sampled_positions(const SampleList& samples);

/// One source in numbers, SI units. `kind` counts the kinds that the caller has; what a kind does
/// not use is zero.
struct SourceRecord {
  std::string name;  ///< for messages; not compared
  int kind = 0, component = 0;
  Point position{}, extent{}, direction{}, polarization{};
  double waist = 0, focus = 0, amplitude = 0;
  double end_s = 0;              ///< of the waveform
  int mode = 0;                  ///< of a guide, from 1
  double index = 0;              ///< about which that is sought
  Point bloch_k{};               ///< rad/m, with which it goes on behind joined faces
  std::vector<double> waveform;  ///< waveform_samples
};
inline constexpr std::size_t source_columns = 23, waveform_points = 97;
/// [waveform_points] values at the times end frac(0.618... n), n = 1, 2, ..., which no period
/// divides.
std::vector<double> waveform_samples(const Waveform& w, double end_s);

/// For files: [source, source_columns] in the order of SourceRecord.
std::vector<double> source_table(std::span<const SourceRecord> sources);
/// [source, waveform_points].
std::vector<double> waveform_table(std::span<const SourceRecord> sources);
/// From both tables, without names. Throws Error where their sizes do not fit.
std::vector<SourceRecord> source_records(std::span<const double> sources,
                                         std::span<const double> waveforms);

/// In what a former run differs, to 1e-9.
struct RunDifference {
  enum class In { frequencies, time_step, positions, sources } in;
  std::string what;  ///< "has another time step: 1e-17 s there, 2e-17 s here"
};
/// The first difference in the transforms of the samples `name`; positions to 1e-9 of `extent_m`,
/// the size of the domain. Nothing: they may be subtracted, as far as the sources are the same.
std::optional<RunDifference> difference(const TransformRecord& former, const TransformRecord& own,
                                        const std::string& name, double extent_m);
/// The first difference in the sources; waveforms to 1e-9 of their peak.
std::optional<RunDifference> difference(std::span<const SourceRecord> former,
                                        std::span<const SourceRecord> own, double extent_m);

}  // namespace tessera::electromagnetics
