// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "tessera/autodiff/tensor.h"
#include "tessera/data/config.h"
#include "tessera/data/diagnostic.h"
#include "tessera/data/exit_code.h"
#include "tessera/data/input_files.h"
#include "tessera/data/options.h"

#include <complex>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace tessera::data {
class RunFolder;
class Log;
class StopGuard;
struct Checkpoint;
struct Manifest;
enum class ProgressStyle;
}  // namespace tessera::data

namespace tessera::parallel {
class Communicator;
}

namespace tessera::apps {

/// What the command line says about any run, whatever the app.
struct RunOptions {
  bool force = false;                ///< --force: replace the results in an existing run folder
  bool keep_going = false;           ///< --keep-going: leave bad inputs out instead of stopping
  std::optional<double> max_time_s;  ///< --max-time
  double checkpoint_every_s = 300;   ///< --checkpoint-every
  int keep_checkpoints = 3;          ///< --keep
  std::string progress = "auto";     ///< --progress=auto|bar|plain|json|none
  int threads = 0;                   ///< --threads of each rank; 0: as many as the machine has
  std::optional<double> max_wait_s;  ///< --max-wait: of a rank for another one
  int thread_ranks = 0;              ///< --ranks threads:N; 0: ranks are processes
  int estimated_ranks = 0;           ///< --ranks of estimate
  std::vector<double> weights;       ///< --weights: shares of the ranks of what is cut; or none
  int verbosity = 0;                 ///< -q: -1, -v: 1
};

/// Threads of a rank: where none are asked for, by OMP_NUM_THREADS neither, the cores that this
/// process may use; ranks that may use all cores of a machine share them.
int thread_count(const RunOptions& options);

/// What a case is made from: the configuration, already free of errors, and the command line.
struct AppContext {
  const data::Config& config;
  RunOptions options;
  bool for_derivatives = false;  ///< it will be differentiated: float64 whatever it says
};

/// What a run sees besides. The verb has made the folder, written input.toml and resolved.toml,
/// begun the manifest with precision and inputs, opened the log and installed the signal handling;
/// it also ends them. The case goes on from the newest checkpoint if there is one (a resumed run
/// and a fresh one are the same call), writes results, metrics, checkpoints and plots, and returns
/// `stopped_resumable` when `stop.poll()` asks it to.
struct RunContext : AppContext {
  data::RunFolder& folder;
  data::Log& log;
  data::StopGuard& stop;
  data::Manifest& manifest;  ///< add seeds and final metrics
  data::ProgressStyle progress_style;
  parallel::Communicator& ranks;  ///< this is rank 0; more than one where the case has `help`
};

/// What a rank other than the first helps with.
struct HelpContext {
  parallel::Communicator& ranks;
  int threads;
  const std::vector<double>& weights;
  data::StopGuard* stop;  ///< of this process; null where rank 0 is in it
};

/// What `check` has to say after reading the inputs: findings about files, and lines for the user
/// (stdout).
struct CheckReport {
  std::vector<data::Diagnostic> findings;
  std::vector<std::string> lines;
  bool can_go_on =
      false;  ///< something is left when --keep-going leaves out the inputs that have errors
};

/// What one of several ranks takes and sends, at most.
struct RankShare {
  std::uint64_t memory_bytes = 0;
  double sent_bytes = 0, messages = 0;
};

/// What a run will take, found without running it (a short calibration is allowed).
struct Estimate {
  std::vector<std::pair<std::string, std::uint64_t>> memory_bytes;  ///< by category
  std::uint64_t disk_bytes = 0;  ///< results, plots and kept checkpoints
  double seconds = 0;
  std::vector<std::string> notes;
  std::optional<RankShare> of_rank;  ///< where `estimate --ranks` asks, and the case can be cut
  /// What goes where, a row for each part behind the row of the columns' names; empty: none.
  std::vector<std::vector<std::string>> table;
};
/// What `mesh` has to say about the grid that it has written.
struct MeshReport {
  /// A row for each axis behind the row of the columns' names.
  std::vector<std::vector<std::string>> table;
  std::vector<std::string> lines;
  std::vector<std::filesystem::path> files;
};

/// Real results of real parameters, both float64: what `gradcheck` differentiates.
struct Derivatives {
  struct Parameters {
    std::string name;
    Tensor at;
    Tensor reach;  ///< how far each is moved at most: a small change, but one that rounding does
                   ///< not drown
  };
  std::vector<Parameters> parameters;
  std::vector<std::string> results;  ///< names of what `values` gives
  std::function<std::vector<Tensor>(const std::vector<Tensor>& parameters)> values;
  std::vector<std::string> lines;     ///< what is differentiated, for the user
  std::vector<std::string> left_out;  ///< what is not, and why
};

/// Numbers that a run has found over a common axis.
struct Curve {
  std::string group, name;       ///< "S", "S_out_in"
  std::string axis, axis_units;  ///< "frequency", "Hz"
  std::vector<double> at;
  std::string units;
  std::variant<std::vector<double>, std::vector<std::complex<double>>> values;
  bool decibels = false;  ///< drawn as 20 log10 of its modulus
};

/// A case made ready: its options are read, its input files parsed, what they describe is built.
/// All that the verbs want to know is asked of it; what only some of them need, such as a
/// calibration, is made when it is asked for. Each function throws data::InputError for bad input.
/// It refers to the configuration of its context.
struct PreparedCase {
  std::string precision =
      "float64";  ///< what the numbers of a run are kept in, said first in every run
  std::vector<data::InputFile> inputs;  ///< as they were parsed
  /// Keys that the case leaves to the program, with what it has chosen, as `--set` gives them: they
  /// stand in resolved.toml.
  std::vector<std::string> chosen = {};
  std::function<CheckReport()> check;
  std::function<Estimate()> estimate;
  std::function<data::ExitCode(RunContext&)> run;  ///< once, on rank 0
  /// What the other ranks do meanwhile, once; null: the case runs on rank 0 alone. They write
  /// nothing.
  std::function<void(HelpContext&)> help = {};
  /// Writes and draws the grid of the case into a folder that is there; null: it has none.
  std::function<MeshReport(const std::filesystem::path& folder)> mesh = {};
  /// What the case computes as a differentiable function; of apps with `App::derivatives`, once.
  std::function<Derivatives()> derivatives = {};
  /// The same on all ranks, each of which then asks for the same; null: on rank 0 alone.
  std::function<Derivatives(HelpContext&)> derivatives_on_ranks = {};
  /// What speaks against going on from a checkpoint with this case, which `resume --set` has
  /// changed, such as an end that the run has passed.
  std::function<std::vector<data::Diagnostic>(const data::Checkpoint&)> against = {};
};

/// Another program's input as a configuration of ours.
struct Imported {
  std::string toml;
  std::vector<data::Diagnostic> remarks;
};
struct Importer {
  std::string ending;  ///< ".mdp"
  std::string what;    ///< "GROMACS's run parameters"
  /// The text names files as seen from `folder`, where the configuration will lie.
  std::function<Imported(const std::filesystem::path& file, const std::filesystem::path& folder)>
      read;
};

/// One app. Everything the verbs need; each function throws data::InputError for bad input.
struct App {
  std::string name;     ///< that of the table: an app does not say it
  std::string summary;  ///< one line for `tessera list apps`
  std::reference_wrapper<const data::OptionTable> options;
  /// Called once by a verb, which then asks the case. Files are read by `data`, so that each is
  /// opened once (data::InputFiles).
  std::function<PreparedCase(const AppContext&)> prepare;
  /// `tessera new NAME DIR`: writes a small runnable case into the empty folder `dir`; returns its
  /// configuration file.
  std::function<std::filesystem::path(const std::filesystem::path& dir, std::uint64_t seed)>
      make_example;
  /// What a run has found over frequency, time and the like, for the table and pictures of a sweep;
  /// null: a sweep keeps the final metrics alone.
  std::function<std::vector<Curve>(const std::filesystem::path& run_dir)> curves = {};
  /// `tessera plot RUN`: draws the pictures anew from the results; returns the files.
  std::function<std::vector<std::filesystem::path>(const std::filesystem::path& run_dir)> plot;
  bool derivatives = false;  ///< `tessera gradcheck`: whether its cases have them
  /// `tessera rerun`: the configuration, as TOML, that looks at the frames of a trajectory with the
  /// forces of a stage (empty: the last).
  std::function<std::string(const data::Config&, const std::filesystem::path& trajectory,
                            const std::string& stage)>
      rerun = {};
  /// `tessera predict`: writes what the model of a run says of the inputs in a file.
  std::function<void(const std::filesystem::path& run, const std::filesystem::path& file,
                     const std::filesystem::path& output)>
      predict = {};
  /// Keys that `resume --set` may change, without the numbers of items, a table for all below it:
  /// an end further off, and what is written.
  std::vector<std::string> may_change = {};
  /// What `tessera import` makes cases of this app from.
  std::vector<Importer> importers = {};
};

/// The table of applications. That of `tessera` is made of the folders apps/DOMAIN/APP, whose
/// app.cpp defines `App tessera::apps::APP::app()`; another program around these verbs defines its
/// own.
struct AppEntry {
  const char* name;  ///< "inversion.mt1d": folder, dot, name
  App (*make)();     ///< called on first use of `all_apps`
};
const std::vector<AppEntry>& app_table();

/// The applications of the table, sorted by name.
const std::vector<App>& all_apps();
const App* find_app(const std::string& name);

}  // namespace tessera::apps
