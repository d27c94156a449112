// SPDX-License-Identifier: Apache-2.0
//
// What is measured during a run: where (a region, a surface), and what is kept of the records there
// (values in time, running transforms); what they tell is in flux.h, near_to_far.h, diffraction.h,
// harmonic_inversion.h, and below for energies.
//
//   SampleList samples(grid, faces);
//   const SampledSurface behind = sampled_plane(samples, 0, 1, x, low, high);
//   SpectralRecord record(frequencies_hz, dt, samples.edges());
//   TimeDomain run(std::move(model), sources, samples.edges());
//   run.advance(n_steps, [&](const Records& r) { record.add(r); });
//   const Tensor power = flux(behind.patches, behind.fields(record.values(samples)));
#pragma once
#include "tessera/electromagnetics/fading.h"
#include "tessera/electromagnetics/flux.h"
#include "tessera/electromagnetics/harmonic_inversion.h"
#include "tessera/electromagnetics/medium.h"
#include "tessera/electromagnetics/near_to_far.h"
#include "tessera/electromagnetics/samples.h"
#include "tessera/electromagnetics/scene.h"
#include "tessera/electromagnetics/surface.h"

#include <optional>
#include <span>
#include <vector>

namespace tessera::electromagnetics {

// ---- where

/// Points of a plane, box or line: all combinations of the coordinates.
struct Region {
  std::vector<double> x, y, z;
  std::size_t size() const { return x.size() * y.size() * z.size(); }
};
/// The middles of the cells of a box; along an axis where it holds none (it may be without extent)
/// or that is not resolved, its position (of the latter the middle of the grid).
Region region_of(const YeeGrid& grid, const Point& position, const Point& size);
/// Adds the samples of each component in turn, x fastest.
void add_region(SampleList& samples, const Region& region, const std::vector<int>& components);

/// Patches of tangential fields, and where their samples begin.
struct SampledSurface {
  std::vector<Patch> patches;
  std::vector<std::int64_t> first;
  /// From the values of all samples, complex [frequency, sample].
  std::vector<SurfaceFields> fields(const Tensor& values) const;
};
SampledSurface sampled_surface(SampleList& samples, std::vector<Patch> patches);
/// A plane across `axis`; `low` and `high` along the other two.
SampledSurface sampled_plane(SampleList& samples, int axis, int outward, double position,
                             const std::array<double, 2>& low, const std::array<double, 2>& high);
/// The faces of a box, with normals outwards (`outward` -1: inwards). Those that lie on a face of
/// the domain are left out: what lies beyond a mirror is not in the grid, and of joined faces,
/// where the box reaches both, each is the other's inner side. Throws Error where none is left.
SampledSurface sampled_box(SampleList& samples, const Point& low, const Point& high,
                           int outward = 1);
/// The patches of these.
std::vector<Patch> box_sides(const YeeGrid& grid, const std::array<Faces, 3>& faces,
                             const Point& low, const Point& high, int outward = 1);
/// Whether the box has a side at its upper or lower end along an axis, by that rule.
bool has_side(const YeeGrid& grid, const std::array<Faces, 3>& faces, const Bounds& box, int axis,
              bool upper);

/// Samples of a product E_u H_v through a surface: `weight` real [n], and where the n samples of E
/// and those of H begin, u fastest.
struct FluxLink {
  Index e = 0, h = 0;
  Tensor weight;
  double step = 1;  ///< the part of the flow that goes by this link
  Patch at;         ///< places in the plane, of both; along the normal they are at:
  double e_at = 0, h_at = 0;
  bool u_is_lo = true;
  std::vector<double> per_e, per_h;  ///< V/m along u, A/m along v, of unknowns of 1
};
/// Currents on a surface that radiate what sources within it do, in the grid exactly: J from H, at
/// the place of the E that a link has, and M from E, at that of H.
class SampledCurrents {
 public:
  explicit SampledCurrents(const std::vector<FluxLink>& links);
  /// From the values of all samples, complex [frequency, sample].
  std::vector<PatchComponent> components(const Tensor& values) const;

 private:
  struct Sheet {
    Patch at;
    int component;
    Index first;  ///< of its values
    bool u_is_lo;
    Tensor per;  ///< V/m or A/m, for each lo or each hi
    std::vector<PatchComponent::Place> places;
  };
  std::vector<Sheet> sheets_;
};
/// Power through patches by the products that the scheme's own law of energy is made of. E and H of
/// a product are next to each other along the normal, and at the same place in the plane: both at
/// middles of u and lines of v. Each edge has what lies within of the length that it stands for;
/// what flows between two that differ counts by that difference. So through all planes of a medium
/// without losses goes the same, to rounding, and out of a box, wherever its faces lie, what is put
/// into it (docs/decisions/0248-flux-by-the-scheme.md).
struct SampledFlux {
  std::vector<FluxLink> links;
  /// From the values of all samples, complex [frequency, sample]: real [frequency]. W, in two
  /// dimensions W/m.
  Tensor power(const Tensor& values) const;
};
SampledFlux sampled_flux(SampleList& samples, const std::vector<Patch>& patches);

/// A body on the surface of a box.
struct BodyOnBox {
  int medium = 0;  ///< of the scene
  int axis = 0;    ///< across the face on which it stands
};
/// The first medium other than the background that is found on a face of the box: surfaces from
/// which waves are let in, or carried on outside, want none. Only faces that are sides of it count
/// (has_side), and of a box without extent along one or more axes those across these. At most some
/// 2500 points of a face are asked, the middles of its cells.
std::optional<BodyOnBox> body_on_box(const SceneOrder& scene, const YeeGrid& grid,
                                     const std::array<Faces, 3>& faces, const Bounds& box);

// ---- what is kept

/// Which steps are kept: each `every`-th, from `start_s` to `end_s`.
struct KeptSteps {
  double dt_s = 0;
  std::int64_t every = 1;
  std::optional<double> start_s{}, end_s{};
  bool operator()(std::int64_t n) const {
    const double t = static_cast<double>(n) * dt_s;
    return n % every == 0 && !(start_s && t < *start_s) && !(end_s && t > *end_s);
  }
};

/// Values of samples at the steps that are kept. T: double or float.
template <class T>
class TimeRecord {
 public:
  explicit TimeRecord(KeptSteps kept) : kept_(kept) {}
  /// Of the edges of `samples` alone.
  void add(const Records& r, const SampleList& samples) {
    for (std::int64_t n = 0; n < r.n_steps; ++n) {
      if (!kept_(r.first + n + 1)) continue;
      time_.push_back(static_cast<double>(r.first + n + 1) * kept_.dt_s);
      for (std::int64_t q = 0; q < samples.size(); ++q)
        values_.push_back(static_cast<T>(samples.value(q, r.step(n).data(), r.imaginary_step(n))));
    }
  }
  const KeptSteps& kept() const { return kept_; }
  const std::vector<double>& time_s() const { return time_; }  ///< of E; H is half a step earlier
  const std::vector<T>& values() const { return values_; }     ///< [time, sample]
  /// For checkpoints.
  void restore(std::vector<double> time_s, std::vector<T> values) {
    time_ = std::move(time_s), values_ = std::move(values);
  }

 private:
  KeptSteps kept_;
  std::vector<double> time_;
  std::vector<T> values_;
};

/// Running transforms of recorded edges, and how far these have faded. Transforms are linear: the
/// sums of another run can be taken off, and what is left is the transform of the difference.
class SpectralRecord {
 public:
  /// Each `every`-th step is taken (sampled_spectrum.h).
  SpectralRecord(const std::vector<double>& frequencies_hz, double dt_s,
                 const std::vector<Edge>& edges, int every = 1);
  void add(const Records& r) {
    dft_.add(r);
    fading_.add(r);
  }
  /// Takes off the sums of a run that took each `every`-th step. Throws Error where their number is
  /// another.
  void subtract(std::vector<double> sums, int every);

  /// Of samples over these edges, complex [frequency, sample].
  Tensor values(const SampleList& samples) const;
  /// [frequency, 2, edge], less what is taken off.
  std::vector<double> sums() const;
  /// sqrt of their squares: settles as the run goes on.
  double norm() const;
  /// What is added to the run's own sums: those taken off, negative; empty where nothing is.
  const std::vector<double>& start() const { return start_; }
  const Fading& fading() const { return fading_; }
  int every() const { return every_; }

  /// For checkpoints. Sums go on with the stride that they began with.
  const std::vector<double>& own_sums() const { return dft_.sums(); }
  void restore(std::vector<double> own_sums, std::vector<double> fading, int every);

 private:
  double dt_s_;
  int every_;
  RunningDft dft_;
  Fading fading_;
  std::vector<double> start_;
};

// ---- what it tells

/// The mean energy that transformed fields have in a box: sum over points of V eps0 s |E|^2 / 4 +
/// V mu0 mu |H|^2 / 4, s as medium_energy.h says, V the part of each cell that lies in the box:
/// energies of boxes that share a cell add up.
class BoxEnergy {
 public:
  /// Adds its samples. `images`: how often the box is there in the whole (symmetries). Along an
  /// axis that is not resolved V is a length of 1. Throws Error where the box has no extent.
  BoxEnergy(SampleList& samples, const Scene& scene, std::vector<Medium> media, const Point& low,
            const Point& high, std::vector<int> components, double images = 1);
  /// From the values of the samples, real [frequency], J s^2 of transforms (in two dimensions per
  /// m, in one per m^2).
  Tensor electric(const Tensor& values, std::span<const double> frequencies_hz) const;
  Tensor magnetic(const Tensor& values, std::span<const double> frequencies_hz) const;

 private:
  Tensor part(const Tensor& values, std::span<const double> frequencies_hz, bool electric) const;
  std::vector<Medium> media_;
  std::vector<int> components_;
  std::vector<double> volume_;
  std::vector<std::size_t> medium_;
};

/// The kind of a current along `component` at a point of a grid of one to three dimensions.
PointSource point_source(const YeeGrid& grid, int component);
/// A current on a mirror and its image are one, twice as strong: an electric one across an electric
/// mirror or along a magnetic one, a magnetic one the other way round. How strong it is with all of
/// its images on mirrors.
double images_of_current(const YeeGrid& grid, const std::array<Faces, 3>& faces, int component,
                         const Point& position);

/// The modes of a resonator as several components tell them: those of different components that
/// lie within their errors, or a hundredth of their width, of each other are one, told by the
/// component that has it most exactly. Errors are estimates, good to a factor of some units.
/// Numbers of the modes that are left, by rising error.
std::vector<std::size_t> distinct_modes(std::span<const Mode> modes,
                                        std::span<const int> components);

}  // namespace tessera::electromagnetics
