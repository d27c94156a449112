// SPDX-License-Identifier: Apache-2.0
//
// A simulation in time: the Yee scheme of a scene, its sources, and what is recorded of it.
//
//   TimeDomain run(yee_model(grid, faces, pml, dt, Dtype::f64, scene, media),
//                  {current_source(...)}, samples.edges());
//   RunningDft dft(frequencies, run.dt_s(), samples.edges());
//   run.advance(4000, [&](const Records& r) { dft.add(r); });
#pragma once
#include "tessera/electromagnetics/averaging.h"
#include "tessera/electromagnetics/grid_cut.h"
#include "tessera/electromagnetics/medium.h"
#include "tessera/electromagnetics/samples.h"
#include "tessera/electromagnetics/scene.h"
#include "tessera/electromagnetics/surface.h"
#include "tessera/electromagnetics/waveform.h"
#include "tessera/electromagnetics/yee_scheme.h"

#include <complex>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace tessera::electromagnetics {

/// The Yee model of a scene: coefficients by `averaging`, off-diagonals at nodes or
/// (Averaging::corners, outside of absorbing layers) tensors of corners as large as the time step
/// allows, poles of dispersive media. `media` by the indices that the scene uses. Conductors are
/// staircases, or, with the cut_cell_fractions of this scene and time step, conformal; samples then
/// want the cut-cell fractions, too. Of a slab only the media there are looked at, and the model is
/// for that slab.
YeeModel yee_model(const YeeGrid& grid, const std::array<Faces, 3>& faces, const Pml& pml,
                   double dt_s, Dtype dtype, const Scene& scene, const std::vector<Medium>& media,
                   Averaging averaging = Averaging::kottke, CutCellFractions open = {},
                   const Slab& slab = {}, LaminateShares laminates = LaminateShares::rounded);

// ---- sources

/// Currents at edges, in the units of the brackets (yee_scheme.h): s = -Z0 I / l at electric edges,
/// I in A through the dual face, at time (n + 1/2) dt; s = -V / l at magnetic ones, V in V, at time
/// n dt.
struct Injection {
  std::vector<Edge> edges;
  /// Fills [n_steps, edges] for the steps from `first` on.
  std::function<void(std::int64_t first, std::int64_t n_steps, double* currents)> fill;
  double end_s = 0;  ///< nothing is injected in steps that begin at this time or later
  /// [edges] rad: the current is that of `fill` times e^{i phase}. Empty: none. Needs fields of two
  /// parts.
  std::vector<double> phase{};

  /// What `fill` gives, and zeros from the end on, however steps are divided into calls; empty
  /// where all are.
  std::vector<double> currents(std::int64_t first, std::int64_t n_steps, double dt_s) const;
};

/// An electric (or, for H components, magnetic) current along `component` over the box from `low`
/// to `high`: extended along the axes where these differ, a delta function where they are equal.
/// `amplitude` times w(t) is the current density integrated over the delta axes: A/m^2 for a
/// volume, A/m for a sheet, A for a line, A m for a point (V/m^2 ... V m for magnetic currents); an
/// axis that is not resolved is extended. Between edges a delta is shared linearly. With `bloch_k`
/// (rad/m) the current carries e^{-i k.(r - middle of the box)}, as the fields between faces that
/// are joined with a phase; the shares of a delta are real there, too. A delta along the current
/// fills the open part of its edge.
Injection current_source(const YeeGrid& grid, const std::array<Faces, 3>& faces, double dt_s,
                         int component, const Point& low, const Point& high, double amplitude,
                         const Waveform& waveform, const Point& bloch_k = {},
                         const CutCellFractions& open = {});

// ---- running

/// What a block of steps left at the recorded edges: unknowns e (time (first + n + 1) dt) and h
/// (half a step earlier).
struct Records {
  std::int64_t first, n_steps, n_columns;
  const double* values;  ///< [n_steps, stride], of which n_columns are meant
  std::int64_t stride;
  const double* imaginary = nullptr;  ///< the same of the imaginary part, where fields have one
  std::span<const double> step(std::int64_t n) const {
    return {values + n * stride, static_cast<std::size_t>(n_columns)};
  }
  const double* imaginary_step(std::int64_t n) const {
    return imaginary ? imaginary + n * stride : nullptr;
  }  ///< null: there is none
  /// Some of the columns.
  Records columns(std::int64_t begin, std::int64_t count) const {
    return {first, n_steps, count, values + begin, stride, imaginary ? imaginary + begin : nullptr};
  }
};

/// On several ranks (`cut`) each makes the same TimeDomain and holds its slab. Rank 0 then calls
/// what it would call alone, and gets the same bits; the others are in `help()` meanwhile, until
/// rank 0's TimeDomain ends.
class TimeDomain {
 public:
  /// `model.injected` and `model.recorded` are set from the sources and `recorded`, among which may
  /// be what is of `model.wires` (wire_network.h). Throws Error where these were to be cut.
  TimeDomain(YeeModel model, std::vector<Injection> sources, std::vector<Edge> recorded,
             GridCut cut = {});
  ~TimeDomain();
  using Bytes = std::vector<std::byte>;
  using Work = std::function<Bytes(TimeDomain&, const Bytes& told)>;
  /// Returns at once where the run is not cut. What `wants_to_stop` says after some steps, rank 0
  /// hears as others_want_to_stop; `work` is this rank's part of on_each_rank.
  void help(const std::function<bool()>& wants_to_stop = {}, const Work& work = {});
  bool is_cut() const;
  const GridCut& cut() const;
  int rank() const;
  int rank_count() const;
  /// Does `work` on rank 0, and on the others what they gave `help`, with what is `told`; gives
  /// what each has to say.
  std::vector<Bytes> on_each_rank(const Bytes& told, const Work& work);
  bool others_want_to_stop() const;
  TimeDomain(TimeDomain&&) noexcept;

  const YeeScheme& scheme() const;
  std::int64_t step() const;
  double dt_s() const;
  /// Time of the fields e.
  double time_s() const { return static_cast<double>(step()) * dt_s(); }
  double sources_end_s() const;

  /// Takes n steps; `observe` sees the records of each block in turn. Blocks begin at fixed steps,
  /// so that a run that was interrupted and one that was not see the same ones.
  void advance(std::int64_t n_steps, const std::function<void(const Records&)>& observe = {});

  /// What a run goes on from, whatever it is cut into: of elements of the scheme's dtype, by line
  /// and middle of the axis that it is or would be cut along.
  using Slice = std::variant<std::vector<float>, std::vector<double>>;
  int slice_count() const;
  /// First and end of those that this rank holds.
  std::pair<int, int> held_slices() const;
  std::int64_t slice_size(int at) const;
  void copy_slice(int at, Slice& to) const;
  /// Throws Error where it is not one of this model.
  void set_slice(int at, const Slice& slice);
  void set_step(std::int64_t step);  ///< at which these are all slices
  /// And what wires go on from (YeeModel::wires); empty without.
  std::vector<double> wire_state() const;
  void set_wire_state(const std::vector<double>& state);
  double unknown(const Edge& e) const;  ///< of an edge that this rank holds

  /// Electromagnetic energy of the fields in J (J/m in two dimensions...): sum of e^2 / (2 cb) and
  /// h^2 / (2 ch), which for media without poles is what the scheme conserves up to a term of order
  /// dt.
  double energy_j() const;
  /// With what the poles of dispersive media store (YeeScheme::row_pole_energy), in J: falls in a
  /// passive run without sources.
  double stored_energy_j() const;
  /// The work of the sources since this was made, in J, up to the order in which ranks are summed:
  /// no passive run comes to store more. Infinite where it is not known, with wires.
  double given_j() const;
  /// The largest |e| and where it is; a NaN counts as infinite.
  struct Peak {
    double value;
    Edge edge;
  };
  Peak peak() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// ---- what becomes of the records

/// Transforms of recorded unknowns, X(f) = dt sum_n x_n e^{-i 2 pi f t_n}, in f64 whatever the
/// fields are. With `every` > 1 only each such step is taken (and counts `every` times): right as
/// long as nothing oscillates faster than 1/(every dt) - f (sampled_spectrum.h chooses it).
class RunningDft {
 public:
  RunningDft(std::vector<double> frequencies_hz, double dt_s, const std::vector<Edge>& edges,
             int every = 1);
  void add(const Records& r);
  const std::vector<double>& frequencies_hz() const { return f_; }
  /// [edges] at one frequency, in units of the unknowns times s.
  std::vector<std::complex<double>> at(std::size_t frequency) const;
  /// Values of samples: complex [frequency, size] in V/m s, A/m s.
  Tensor values(const SampleList& samples) const;
  /// For checkpoints.
  const std::vector<double>& sums() const { return sums_; }
  void restore(std::vector<double> sums) { sums_ = std::move(sums); }
  /// The stride of the sums, those restored included.
  void take_each(int every) { every_ = every; }

 private:
  std::vector<double> f_;
  double dt_;
  int every_;
  std::vector<std::uint8_t> magnetic_;
  std::vector<double> sums_;  ///< [frequency, 2, edge]
};

/// Points in the middles of the grid's cells on a rectangle (surface.h), its ends cut to `low` and
/// `high`.
Patch grid_patch(const YeeGrid& grid, int axis, int outward, double position,
                 const std::array<double, 2>& low, const std::array<double, 2>& high);
/// The faces of a box; axes that are not resolved have none.
std::vector<Patch> grid_box(const YeeGrid& grid, const Point& low, const Point& high);
/// Adds the samples of a patch's tangential fields: e lo, e hi, h lo, h hi, each [n_hi, n_lo];
/// returns the first.
std::int64_t add_patch(SampleList& samples, const Patch& patch);
/// The fields of a patch from the values of all samples (RunningDft::values).
SurfaceFields patch_fields(const Tensor& values, const Patch& patch, std::int64_t first);

}  // namespace tessera::electromagnetics
