// SPDX-License-Identifier: Apache-2.0
//
// What trajectories tell. Each analysis takes frames one by one and keeps no more of them than it
// needs; errors are those of blocking.h. Results do not depend on the number of threads. Times are
// in ps, lengths in nm; atoms are named by index.
#pragma once
#include "tessera/data/blocking.h"
#include "tessera/molecular/transform.h"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace tessera::molecular {

using Group = std::vector<std::int32_t>;

/// y(x) with errors.
struct Curve {
  std::vector<double> x, y, error;
};

// ---- pair distances

/// g(r) = V n(r)/(N 4 pi r^2 dr): ordered pairs (one of A, another one of B) n(r) at distances in a
/// bin, over all N of them, frame by frame with the volume V of that frame.
class PairDistribution {
 public:
  struct Options {
    double r_max_nm =
        0;  ///< 0: 0.95 of half of the smallest width of the first box (boxes breathe)
    double bin_nm = 0.005;
    std::vector<std::int32_t>
        molecule;  ///< of each atom: pairs of the same molecule do not count; empty: all count
  };
  PairDistribution(Group a, Group b, const Options& options);
  /// Throws Error without a box, where r_max is above half of its smallest width, or where there
  /// are more than 100,000 bins.
  void add(const Frame& frame);
  /// x: the middles of bins.
  Curve g() const;
  /// Members of B within r of one of A: x are the upper ends of bins.
  Curve coordination() const;

 private:
  Group a_, b_;
  Options options_;
  double pairs_ = 0;
  std::vector<data::Blocking> g_;
  std::vector<double> counts_;
  std::uint64_t frames_ = 0;
};

// ---- motion

/// A time this near to one of a frame, in frames and in parts of itself, is that frame's, rounded.
inline constexpr double rounded_frames = 1e-2, rounded_times = 1e-6;
/// The first and the last of the frames 0, dt, 2 dt, ... that lie between two times, or where these
/// are rounded; `time_ps`, when the frames are, tells how well dt is known (files keep times in
/// single precision).
std::array<std::size_t, 2> frames_between(double from_ps, double to_ps, double dt_ps,
                                          double time_ps);

/// Averages over all frames t of a pair of frames `lag` apart; frames follow each other at one
/// distance in time. Memory grows with the frames, up to `lags` of them.
class LagAverage {
 public:
  enum class Of : std::uint8_t { squared_displacement, product };
  LagAverage(Of what, std::size_t lags);
  /// Throws Error where the time is not the last one and the common distance (times may be rounded
  /// to single precision).
  void add(double time_ps, std::vector<Vec3> v);
  /// x: 0, dt, 2 dt, ... ps; only lags that were seen.
  Curve curve() const;
  double dt_ps() const { return dt_ps_; }
  /// Averages of the frame that came last with the one `lag` before, by lag; shorter in the
  /// beginning.
  const std::vector<double>& last() const { return last_; }

 private:
  Of what_;
  std::size_t lags_;
  std::vector<std::vector<Vec3>> ring_;
  std::size_t frames_ = 0;
  double first_time_ps_ = 0, time_ps_ = 0, dt_ps_ = 0;
  std::vector<double> last_;
  std::vector<data::Blocking> mean_;
};

/// Mean squared displacement of the centres of groups (an atom each, or molecules), and D of its
/// slope, <|dx|^2> = 6 D t + c between two times (Einstein). Every frame begins a window; the
/// slopes of the windows are the series whose mean and error D has.
class MeanSquaredDisplacement {
 public:
  struct Options {
    double fit_from_ps = 0, fit_to_ps = 0;
    double lag_ps = 0;          ///< longest lag of the curve; 0: fit_to_ps
    bool remove_drift = false;  ///< of the centre of mass of all atoms
  };
  MeanSquaredDisplacement(const System& system, std::vector<Group> groups, const Options& options);
  /// Molecules are made whole here, and the paths of their centres unwrapped (`Unwrap`), of those
  /// atoms that are in the group: no image of an atom matters.
  void add(const Frame& frame);
  Curve curve() const;
  /// nm^2/ps = 0.01 cm^2/s. Throws Error where no window is complete.
  data::BlockedMean diffusion() const;

 private:
  /// The atoms of a group, or of all, that are of one molecule.
  struct Body {
    Group atoms;
    std::vector<double> weight;
  };
  /// A centre: the mean of those of bodies.
  struct Centre {
    std::size_t first = 0, last = 0;  ///< of the bodies
    double weight = 0;
  };
  Centre centre_of_group(const Group& atoms, const std::vector<std::int32_t>& molecule,
                         const std::vector<double>& mass_amu);
  Vec3 at(const Centre& centre, const std::vector<Vec3>& x) const;

  Options options_;
  std::size_t n_atoms_;
  MoleculeMap map_;
  std::vector<Body> bodies_;
  std::vector<double> weight_;  ///< of each body
  std::vector<Centre> centres_;
  std::optional<Centre> drift_;
  Unwrap unwrap_;
  std::optional<LagAverage> average_;
  std::array<std::size_t, 2> fit_{};          ///< frames of a window between which the line lies
  std::vector<std::vector<double>> windows_;  ///< by frame they begin at, as far as they are open
  std::size_t frames_ = 0;
  double first_time_ps_ = 0;
  std::vector<Vec3> first_;
  data::Blocking slopes_;
};

/// D of an infinite box from that of a cubic one (Yeh & Hummer, J. Phys. Chem. B 108 (2004) 15873):
/// D + 2.837297 k_B T/(6 pi eta L). nm^2/ps, K, Pa s, nm.
double unbounded_diffusion(double d, double temperature_k, double viscosity_pa_s, double box_nm);

/// <v(0).v(t)> of atoms [nm^2/ps^2] and D = 1/3 integral of it (Green-Kubo). Virtual sites are left
/// out: without mass they have no velocity, or one that other atoms give them.
class VelocityAutocorrelation {
 public:
  /// Throws Error where no atom of the group has mass.
  VelocityAutocorrelation(const System& system, const Group& atoms, std::size_t lags);
  /// Throws Error where the frame has no velocities.
  void add(const Frame& frame);
  Curve curve() const { return average_.curve(); }
  /// nm^2/ps, by the trapezoidal rule over all lags.
  double diffusion() const;

 private:
  Group atoms_;
  LagAverage average_;
};

// ---- mass

inline constexpr double kg_m3_per_amu_nm3 = 1.66053906660;

/// Mass density [kg/m^3] of the box, and of slices across one of its edges.
class Density {
 public:
  Density(const System& system, Group atoms, int axis = 2, std::size_t slices = 100);
  void add(const Frame& frame);
  data::BlockedMean mean() const { return mean_.result(); }
  /// x: middles of the slices in the mean box [nm].
  Curve profile() const;

 private:
  std::vector<double> masses_;
  Group atoms_;
  std::size_t axis_;
  data::Blocking mean_, width_;
  std::vector<data::Blocking> slices_;
};

// ---- shape

/// sqrt(sum m |x - centre|^2/sum m) of a group in one piece [nm].
double radius_of_gyration(const std::vector<Vec3>& x, std::span<const std::int32_t> group,
                          std::span<const double> masses);

/// Root mean square fluctuation of each atom of a group about its mean position, after the group
/// was laid onto a reference [nm].
class Fluctuations {
 public:
  Fluctuations(std::vector<Vec3> reference, Group group, std::vector<double> weights);
  /// Returns the RMSD from the reference [nm]. Molecules are in one piece.
  double add(const std::vector<Vec3>& x);
  std::vector<double> rmsf_nm() const;

 private:
  std::vector<Vec3> reference_;
  Group group_;
  std::vector<double> weights_;
  std::uint64_t n_ = 0;
  std::vector<Vec3> mean_;
  std::vector<double> squares_;
};

struct HydrogenBond {
  std::int32_t donor, hydrogen, acceptor;
  bool operator==(const HydrogenBond&) const = default;
};
/// Pairs of nitrogens and oxygens, of which one has a hydrogen, at most `distance_nm` apart and
/// with an angle hydrogen - donor - acceptor of at most `angle_deg`, sorted. The usual measure of
/// GROMACS. Throws Error where `distance_nm` is above half of the smallest width of the box.
std::vector<HydrogenBond> hydrogen_bonds(const System& system, const Frame& frame,
                                         double distance_nm = 0.35, double angle_deg = 30);

}  // namespace tessera::molecular
