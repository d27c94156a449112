// SPDX-License-Identifier: Apache-2.0
// A case made ready to run: the options as grid, media, scene and sources.
#pragma once
#include "electromagnetics/waves/case_derivatives.h"
#include "electromagnetics/waves/likeness.h"
#include "electromagnetics/waves/options.h"
#include "electromagnetics/waves/ports.h"
#include "tessera/autodiff/error.h"
#include "tessera/data/diagnostic.h"
#include "tessera/data/input_files.h"
#include "tessera/electromagnetics/demanded_lines.h"
#include "tessera/electromagnetics/lumped_element.h"
#include "tessera/electromagnetics/plane_wave.h"
#include "tessera/electromagnetics/run_length.h"
#include "tessera/electromagnetics/sampled_spectrum.h"
#include "tessera/electromagnetics/shape_derivatives.h"
#include "tessera/electromagnetics/sheet.h"
#include "tessera/electromagnetics/surface_impedance.h"
#include "tessera/electromagnetics/wire_network.h"

#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace tessera::apps::waves {

/// A source, and what monitors that refer to it want to know.
struct CaseSource {
  SourceOptions options;
  std::string key;  ///< "source[2]"
  electromagnetics::Waveform waveform;
  /// Of its samples until it or the run ends, the same of equal waveforms; nothing of one that
  /// never ends.
  std::shared_ptr<const electromagnetics::SampledSpectrum> spectrum = {};
  electromagnetics::Injection wave = {};  ///< of a plane wave, beam or mode
  double images = 1;                      ///< how often the plane of a mode is there in the whole
};

/// What grid.auto has made.
struct AutoGrid {
  struct Axis {
    bool made = false;
    double smallest_m = 0, smallest_at = 0;  ///< the smallest cell, and its middle
    double ratio = 1;                        ///< largest of neighbouring cells
    electromagnetics::Culprit culprit;       ///< of the smallest cell
    std::vector<electromagnetics::LineDemand> dropped;
  };
  std::array<Axis, 3> axes;
  std::size_t one_of = 1;  ///< faces at which gaps and edges were looked for
  int smallest_axis = -1;
  /// The grid without what made the smallest cell, where that could be left out: its own smallest
  /// cell along that axis, and how many times the time step and the cells.
  struct Cost {
    double smallest_m, time_step, cells;
  };
  std::optional<Cost> cost;
};

struct Case {
  CaseOptions options;
  AutoGrid auto_grid;
  electromagnetics::YeeGrid grid;
  std::array<electromagnetics::Faces, 3> faces;
  Point bloch_k{};  ///< rad/m; zero where no faces are joined with a phase
  double dt_s = 0, stable_dt_s = 0;
  /// The background first; mixtures of the scene last (pixels.h).
  std::vector<electromagnetics::Medium> media;
  /// Lowest and highest frequency of the tables that media are fitted to, Hz, by their names.
  std::map<std::string, std::array<double, 2>> table_bands;
  /// The same as the grid takes them (grid.exact_speed_at).
  std::vector<electromagnetics::Medium> stepped;
  electromagnetics::Scene scene;
  std::shared_ptr<const electromagnetics::CutCellFractions> open;  ///< of conformal conductors
  std::vector<electromagnetics::Medium> sheet_media;  ///< [sheets] of films; vacuum otherwise
  electromagnetics::AddedMedia sheets;
  electromagnetics::AddedMedia surface_losses;                 ///< of conductors
  std::vector<electromagnetics::PlacedElement> elements;       ///< of loads, then of lumped ports
  std::shared_ptr<const electromagnetics::WireNetwork> wires;  ///< that run between lines
  std::vector<CaseSource> sources;                             ///< those of ports, too
  std::vector<CasePort> ports;
  std::vector<PortChannel> channels;
  std::vector<Likeness> likenesses;     ///< of ports that have same_as
  std::vector<Excitation> excitations;  ///< a run for each; none: one run, of all sources
  /// Of resonances that want derivatives, by the names of their monitors.
  std::map<std::string, electromagnetics::ShapeDerivatives> shape_derivatives;
  std::optional<CaseDerivatives> derivatives;  ///< of S and transforms
  /// Of models whose media move: averages move with them.
  electromagnetics::LaminateShares laminates = electromagnetics::LaminateShares::rounded;
  std::vector<data::Diagnostic> warnings;
  std::vector<data::InputFile> inputs;          ///< once all of them are read
  double frequency_min = 0, frequency_max = 0;  ///< of all sources and monitors

  /// Media without the mixtures.
  std::span<const electromagnetics::Medium> named_media() const {
    return std::span(media).first(scene.n_unmixed(media.size()));
  }
};

/// Hz; 0 where nothing has a frequency.
double middle_of_band(const Case& c);

/// Everything that can be wrong is found before memory is taken for the fields. Of options that are
/// complete; `config` is for the places of messages. Throws InputError.
Case make_case(CaseOptions options, const data::Config& config);

/// The case without the bodies that its reference leaves out: the same grid, time step and sources,
/// and of its monitors those that others refer to. Throws InputError where a wire between lines
/// cannot be without them.
Case reference_of(const Case& c, const data::Config& config);

/// Adds warnings about what a case may say, but hardly means: sources in layers, runs of a year.
void find_doubts(Case& c, const data::Config& config);

/// The box of a plane wave; where no size is given, four cells of scattered field are left in front
/// of layers.
electromagnetics::Bounds wave_box(const Case& c, const SourceOptions& o);
/// The wave of a source that is one.
electromagnetics::PlaneWave plane_wave_of(const Case& c, const CaseSource& s);
/// The same about what boxes are cut by, and frequencies that no source has.
void find_cuts(Case& c, const data::Config& config);

/// The lines between cells of one axis.
std::vector<double> axis_lines(const GridOptions& grid, int axis, double cell);
/// Media by the names that structures use; the background's is the first. Without mixtures.
std::vector<electromagnetics::Medium> make_media(const CaseOptions& o, const data::Config& config,
                                                 Case& out);
/// [sheets] of films; vacuum of others.
std::vector<electromagnetics::Medium> make_sheet_media(const CaseOptions& o,
                                                       const data::Config& config, Case& out);
/// The files of structures of pixels, of those that have none yet. Throws InputError (exit 4) where
/// one is no table of densities, or has other axes than its structure names.
void read_densities(CaseOptions& o, const data::Config& config);
/// The files of structures that are drawn elsewhere, of those that have none yet. Throws InputError
/// (exit 4) where one is no such drawing or encloses nothing.
void read_drawings(CaseOptions& o, const data::Config& config);
/// Throws StructureFault where options make no body. Pixels of which no densities were read are
/// full, drawings that were not read are nowhere.
electromagnetics::Scene make_scene(const CaseOptions& o,
                                   const std::vector<electromagnetics::Medium>& media);
struct StructureFault : Error {
  StructureFault(std::size_t of, const std::string& message) : Error(message), structure(of) {}
  std::size_t structure;  ///< its number among the options
};
/// The structures of the scene, by their numbers among the options: those without a medium are only
/// parts of others.
std::vector<std::size_t> structures_seen(const CaseOptions& o);
electromagnetics::Waveform make_waveform(const WaveformOptions& o);

/// The sources of a case, or of one of its excitations, as currents.
std::vector<electromagnetics::Injection> make_injections(const Case& c, std::size_t excitation = 0);
/// One that no port has.
electromagnetics::Injection injection_of(const Case& c, const CaseSource& source);
/// How many runs it is: one for each excitation.
std::size_t run_count(const Case& c);
/// The model of a slab, or of the whole grid.
electromagnetics::YeeModel make_model(const Case& c, const electromagnetics::Slab& slab = {});
/// What its conductors leave open, as its options want it.
std::shared_ptr<const electromagnetics::CutCellFractions> make_open(const Case& c);
/// How the model moves with the lengths that a monitor of resonances names. Throws InputError at
/// `key` where it cannot be differentiated in them.
electromagnetics::ShapeDerivatives shape_derivatives_of(const Case& c,
                                                        const MonitorOptions& monitor,
                                                        const std::string& key,
                                                        const data::Config& config);
/// How the case moves with what `s_parameters.derivatives` and monitors of transforms name, if they
/// do. Throws InputError.
std::optional<CaseDerivatives> case_derivatives_of(const Case& c, const data::Config& config);
/// Faces with a layer of conductivity.
std::array<electromagnetics::AbsorbingFaces, 3> absorbers_of(const Case& c);
/// Cells of the absorbing layer of either kind in front of a face, of axes that are resolved.
int layer_cells(const Case& c, int axis, bool high);
/// k.a of each axis, rad: the phase between its joined faces.
std::array<double, 3> bloch_phase(const Case& c);
/// Which components are stepped: in 2-D those of the polarization.
std::array<bool, 6> computed(const Case& c);

/// The box about a monitor's position; of an energy or snapshot without a size one that holds the
/// whole domain.
struct MonitorBox {
  Point middle{}, size{};
};
MonitorBox box_of(const Case& c, const MonitorOptions& o);
/// The components that the monitor names, or all that are computed.
std::vector<int> computed_components(const Case& c, const MonitorOptions& o);

/// Bytes of the fields and layers, found without allocating them.
std::int64_t field_bytes(const Case& c);
/// What of the stop rule does not look at the fields.
electromagnetics::RunEnd run_end(const StopOptions& stop);
/// Steps that the stop rule fixes, or a guess: 20 passages of the domain.
std::int64_t expected_steps(const Case& c);
/// Throws InputError (exit 3) where fields, tables and monitors take more memory than there is;
/// warns where it is nearly all.
void check_memory(Case& c, const data::Config& config);
/// The cells alone, before anything is laid out on them.
void check_cells_fit(const Case& c, const data::Config& config);

}  // namespace tessera::apps::waves
