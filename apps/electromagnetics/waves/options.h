// SPDX-License-Identifier: Apache-2.0
// What a case of waves in time may say: all of it one of electromagnetics.fdtd, which measures
// fields, and the sections of what is known in one of electromagnetics.inverse_scattering. SI
// units, angles in radians; e^{+i w t}. The keys and their documentation are in options*.cpp.
#pragma once
#include "electromagnetics/waves/load_options.h"
#include "electromagnetics/waves/port_options.h"
#include "electromagnetics/waves/sheet_options.h"
#include "electromagnetics/waves/wire_options.h"
#include "tessera/data/options.h"
#include "tessera/data/parameters.h"
#include "tessera/electromagnetics/absorber.h"
#include "tessera/electromagnetics/averaging.h"
#include "tessera/electromagnetics/boundary.h"
#include "tessera/electromagnetics/dispersion_models.h"
#include "tessera/electromagnetics/graded_lines.h"
#include "tessera/electromagnetics/surface_mesh.h"
#include "tessera/electromagnetics/yee_grid.h"

#include <array>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tessera::apps::waves {

using electromagnetics::Averaging;
using electromagnetics::Component;
enum class Axis { x, y, z };

// [grid]

enum class Polarization { both, Ez, Hz };  ///< Ez: Ez, Hx, Hy; Hz: Hz, Ex, Ey
enum class ConductorChoice { conformal, staircase };

using RefineOptions = electromagnetics::RefinedStretch;
struct AxisOptions {
  std::vector<double> lines;  ///< all of them; empty: made from the size and the cell
  std::vector<RefineOptions> refine;
};
/// Lines by the program (demanded_lines.h, scene_demands.h).
struct AutoGridOptions {
  double cells_per_wavelength = 20;  ///< of the highest frequency, in each medium
  int gap_cells = 4;                 ///< across gaps between conductors, slots and strips
  int layer_cells = 2;               ///< across layers
  std::optional<double> min_cell;    ///< a floor
  double padding = 0.25;  ///< of the longest wavelength, from bodies to layers, without a size
};
struct GridOptions {
  Point size{};  ///< layers included; 0: not resolved
  Point centre{};
  std::optional<Point> cell;
  std::optional<double> cells_per_wavelength;  ///< in the medium of the highest index
  std::optional<double> frequency_max;         ///< at which these count
  double max_ratio = 1.3;                      ///< of neighbouring cells where the grid is graded
  AxisOptions x, y, z;
  std::optional<AutoGridOptions> automatic;
  std::string background = "vacuum";
  Polarization polarization = Polarization::both;
  Averaging averaging = Averaging::kottke;
  ConductorChoice conductors = ConductorChoice::conformal;
  std::optional<double> exact_speed_at;  ///< frequency

  const AxisOptions& axis(int a) const { return a == 0 ? x : a == 1 ? y : z; }
  AxisOptions& axis(int a) { return a == 0 ? x : a == 1 ? y : z; }
  /// Where the domain begins and ends along an axis; equal where that is not resolved.
  double low(int a) const;
  double high(int a) const;
  double middle(int a) const;
  bool resolved(int a) const { return high(a) > low(a); }
  /// Along it nothing changes. While the size of the domain is still sought there is no such axis.
  bool endless(int a) const { return resolved(0) && !resolved(a); }
};

// [run]

/// The first that comes true ends the run.
struct StopOptions {
  std::optional<double> time;           ///< since the beginning
  std::optional<std::int64_t> steps;    ///< the same, counted
  std::optional<double> after_sources;  ///< since the last source has ended
  std::optional<double> decay_db;       ///< of the energy below its peak, after the sources
  std::optional<double> dft_tolerance;  ///< relative change of all transforms between two checks
  std::optional<double> check_every;    ///< time between checks of the last two
  bool any() const { return time || steps || after_sources || decay_db || dft_tolerance; }
};
enum class Precision { f32, f64 };
struct SteppingOptions {
  Precision precision = Precision::f32;
  double courant = 0.95;     ///< share of the stability limit
  std::optional<double> dt;  ///< instead
  StopOptions stop;
  std::vector<std::string> excite;  ///< ports, a run for each; "all" of them
};

// [boundary]

enum class Face { pml, pec, pmc, periodic, bloch, absorber };
enum class FaceName { x_low, x_high, y_low, y_high, z_low, z_high };
/// Pml::index is not read: it follows from this.
struct PmlOptions : electromagnetics::Pml {
  std::optional<double> medium_index;  ///< not given: that of the background in the band
};
/// Absorber::index is not read: it is that of the background.
using AbsorberOptions = electromagnetics::Absorber;
struct BoundaryOptions {
  Face x = Face::pml, y = Face::pml, z = Face::pml;
  std::optional<Face> x_low, x_high, y_low, y_high, z_low, z_high;
  std::optional<std::string> wall_material;  ///< of the pec faces that are no symmetry
  std::vector<FaceName> symmetry;            ///< faces in which the structure goes on as its image
  PmlOptions pml;
  AbsorberOptions absorber;
  std::optional<Point> bloch_k;      ///< rad/m: E(r + a) = E(r) e^{-i k.a}
  std::optional<Point> bloch_phase;  ///< rad: the same as k.a of each axis

  Face low(int a) const;
  Face high(int a) const;
  bool is_symmetry(int a, bool high) const;
  /// Cells of the absorbing layer in front of a face; 0: there is none.
  int layer_cells(int a, bool high) const;
};

// [[material]]

/// A term of the permittivity: a form and its parameters (dispersion_models.h).
struct PoleOptions {
  std::string kind = electromagnetics::dispersion_models().front().name;
  electromagnetics::DispersionValues values;
  bool operator==(const PoleOptions&) const = default;
};
struct IndexFitOptions {
  double tolerance = 1e-3;
  int most_poles = 12;
  bool conducting = false;
  double least_eps = 1;
  bool operator==(const IndexFitOptions&) const = default;
};
struct MaterialOptions {
  std::string name;
  bool pec = false;
  bool surface_impedance = false;
  double roughness = 0;  ///< of its surface, root mean square, m
  std::optional<std::string> library;
  std::optional<std::filesystem::path> index_file;
  IndexFitOptions fit;
  std::optional<double> index;
  std::optional<Point> eps;
  std::optional<Point> sigma;
  std::optional<double> loss_tangent;
  std::optional<double> loss_frequency;
  std::optional<std::array<double, 2>> loss_band;  ///< Hz: the loss tangent holds in it
  Point mu{1, 1, 1};
  Point sigma_m{};
  double chi2 = 0, chi3 = 0;
  std::vector<PoleOptions> poles;
  bool operator==(const MaterialOptions&) const = default;
};

// [[structure]]

enum class ShapeKind {
  box,
  half_space,
  sphere,
  ellipsoid,
  cylinder,
  cone,
  torus,
  prism,
  unite,
  intersection,
  difference,
  pixels,
  mesh,
  gds,
  step
};
enum class Interpolation { pixels, linear };
/// Numbers of a file, as many axes as it has, the last one fastest.
struct NumberTable {
  std::vector<std::size_t> shape;
  std::vector<double> values;
};
struct RotateOptions {
  Point axis{0, 0, 1};
  double angle = 0;
  std::optional<Point> about;  ///< not given: the centre
};
struct RepeatOptions {
  std::array<int, 3> count{1, 1, 1};
  Point step{};
};
/// A body as its file has it.
struct Drawing {
  electromagnetics::SurfaceSolid solid;       ///< of a mesh or STEP
  double unit = 1;                            ///< in which it was read, m
  std::shared_ptr<const data::SideTree> rim;  ///< of a layer of a layout, m
};
struct StructureOptions {
  ShapeKind shape = ShapeKind::box;
  std::string name;
  std::optional<std::string> material;  ///< not given: only a part of others
  int priority = 0;
  Point centre{};
  std::optional<Point> size, low, high;
  Point point{}, outward{};
  double radius = 0;
  std::optional<double> inner_radius;
  Point semi_axes{};
  double radius_low = 0, radius_high = 0;
  double tube_radius = 0;
  double height = 0;
  Axis axis = Axis::z;
  std::vector<std::array<double, 2>> corners;
  double base = 0;
  double sidewall = 0;
  std::vector<std::string> parts;
  std::filesystem::path file;       ///< of densities, or of a drawing
  double unit = 0;                  ///< of a drawing, m
  std::optional<double> chord;      ///< of STEP, m
  std::optional<std::string> cell;  ///< of a layout; not given: the only top cell
  int layer = 0;
  std::optional<int> datatype;             ///< not given: all of them
  Point origin{};                          ///< where that of a drawing lies
  std::shared_ptr<const Drawing> drawing;  ///< of the file; no key: read_drawings
  std::vector<std::string> axes;           ///< "x" .. "-z", one for each index
  std::optional<std::string> empty;        ///< medium of density 0; not given: the background
  Interpolation interpolation = Interpolation::pixels;
  std::shared_ptr<const NumberTable> densities;  ///< of the file; no key: read_densities
  std::optional<RotateOptions> rotate;
  std::optional<RepeatOptions> repeat;
};

// [[source]]

enum class WaveformKind {
  gaussian,
  baseband,
  derivative,
  ricker,
  ricker_derivative,
  continuous,
  file
};
struct WaveformOptions {
  WaveformKind kind = WaveformKind::gaussian;
  std::optional<double> frequency, bandwidth;
  std::optional<double> frequency_min, frequency_max;  ///< instead, for gaussian
  double width = 0;                                    ///< tau of exp(-((t - t0)/tau)^2)
  int order = 1;
  std::optional<double> delay;  ///< t0, the middle of the pulse
  double phase = -1.5707963267948966;
  std::optional<double> ramp;
  std::filesystem::path file;

  bool operator==(const WaveformOptions&) const = default;
};
enum class SourceKind { point, line, plane, plane_wave, beam, mode };
struct SourceOptions {
  SourceKind kind = SourceKind::point;
  std::string name;
  Component component = Component::Ez;
  std::optional<Point> position;  ///< set by complete_options
  std::optional<Point> size;
  Point direction{}, polarization{};
  double waist = 0;
  double focus = 0;
  int mode = 1;                 ///< from 1
  std::optional<double> index;  ///< about which modes are sought; not given: of the slowest wave
  double amplitude = 1;
  WaveformOptions waveform;
};

// [[monitor]]

enum class MonitorKind {
  probe,
  dft,
  flux,
  energy,
  far_field,
  rcs,
  ldos,
  orders,
  resonances,
  snapshot,
  mode,
  beam
};
struct MirrorOptions {
  Axis axis = Axis::z;
  double position = 0;
  bool magnetic = false;
};
struct MonitorOptions {
  MonitorKind kind = MonitorKind::probe;
  std::string name;
  std::optional<Point> position;  ///< set by complete_options
  std::optional<Point> size;
  std::vector<Component> components;  ///< empty: all that are computed
  std::vector<double> frequencies;
  std::optional<double> frequency_min, frequency_max;
  int frequency_points = 51;
  bool reverse = false;
  std::optional<std::string> relative_to;
  std::optional<std::filesystem::path> subtract;
  bool subtract_reference = false;  ///< `subtract` says "reference", and there is one
  std::vector<double> theta, phi;
  std::array<int, 2> angle_points{37, 72};  ///< theta, phi, where these are not given
  std::vector<MirrorOptions> mirrors;
  bool beam = false;
  std::optional<double> co_polar;  ///< rad
  std::optional<std::string> source;
  std::vector<std::array<int, 2>> orders;
  int modes = 1;
  std::optional<double> index;  ///< about which modes are sought; not given: of the slowest wave
  Point direction{}, polarization{};  ///< of a beam
  std::optional<Point> through;       ///< a point of its axis; set by complete_options
  double waist = 0, focus = 0;
  double min_quality = 0;
  int max_modes = 50;
  std::vector<std::string> derivatives;  ///< names of parameters
  std::optional<double> every, start, end;

  /// Those given one by one, or points evenly spaced in frequency over the band.
  std::vector<double> all_frequencies() const;
};

// [output], [[expect]]

struct OutputOptions {
  bool vtk = true;
  bool pictures = true;
  bool scene = true;
  std::optional<Point> scene_at;  ///< not given: the first source
};
/// A number that a run has to find; one that does not ends with exit 6.
struct ExpectOptions {
  std::string monitor;
  std::optional<std::string> quantity;
  std::optional<double> frequency;
  int index = 0;
  double value = 0;
  double tolerance = 0;
  bool relative = false;
};

/// A run of the same case without some of its bodies.
struct ReferenceOptions {
  std::vector<std::string> without;
};
/// What its results are called: "through.reference".
inline constexpr const char* reference_name = "reference";

struct CaseOptions {
  int schema = 1;
  std::string title;
  GridOptions grid;
  SteppingOptions run;
  BoundaryOptions boundary;
  std::vector<MaterialOptions> materials;
  std::vector<StructureOptions> structures;
  std::vector<SourceOptions> sources;
  std::vector<PortOptions> ports;
  ScatteringOptions scattering;
  std::vector<LoadOptions> loads;
  std::vector<SheetOptions> sheets;
  std::vector<WireOptions> wires;
  std::vector<MonitorOptions> monitors;
  std::optional<ReferenceOptions> reference;
  OutputOptions output;
  std::vector<ExpectOptions> expectations;
  /// Media that the grid and the time step hold for although no body needs to be of them; no key.
  std::vector<std::string> further_media;
  /// Structures from this one on stand under [[truth]] in the file; no key.
  std::size_t first_truth = SIZE_MAX;
  /// What of all this follows from [parameters], and how to read it again with other ones; no keys.
  /// Null where results are not differentiated in parameters.
  data::ParameterUse use;
  CaseOptions (*read_again)(const data::Config&) = nullptr;
};
/// "structure[2]", or "truth[0]".
std::string structure_key(const CaseOptions& o, std::size_t structure);

/// Whether the monitor is measured against one of the reference.
bool refers_to_reference(const CaseOptions& o, const MonitorOptions& m);
/// Whether the reference has this monitor: one takes its own off, or is measured against it.
bool is_in_reference(const CaseOptions& o, const MonitorOptions& m);
/// The ports, by channels, that have a run of their own; none: one run, of all sources.
std::vector<std::string> driven_names(const CaseOptions& o);

/// Whether a structure that has no length along this axis of its own goes through all of the domain
/// there: turned as it may be, it points where nothing is resolved.
bool goes_through(const CaseOptions& o, const StructureOptions& s, int axis);

/// The medium of a structure of pixels where its density is 0.
inline const std::string& empty_medium(const StructureOptions& s, const CaseOptions& o) {
  return s.empty ? *s.empty : o.grid.background;
}

/// A length of a structure in which results can be differentiated: "ring.radius", "bar.size[1]",
/// "taper.corners[0][1]". All finite ones of structures that have a name without slashes, commas
/// and quotes.
struct Parameter {
  std::string name;
  double* value;  ///< m
};
std::vector<Parameter> parameters_of(CaseOptions& o);
std::vector<std::string> parameter_names(CaseOptions o);

/// Of options that a table has read: sets positions that were not given. Throws data::InputError
/// (exit 5) with every contradiction at the place of its key.
void complete_options(CaseOptions& o, const data::Config& config);

}  // namespace tessera::apps::waves
