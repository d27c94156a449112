// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "support/command_line.h"

#include <memory>
#include <optional>

namespace tessera::apps {

// One function per verb. Results go to stdout; bad input throws data::InputError.
data::ExitCode verb_new(const CommandLine& line);
data::ExitCode verb_check(const CommandLine& line);
data::ExitCode verb_mesh(const CommandLine& line);
data::ExitCode verb_estimate(const CommandLine& line);
data::ExitCode verb_gradcheck(const CommandLine& line);
data::ExitCode verb_run(const CommandLine& line);
data::ExitCode verb_rerun(const CommandLine& line);
data::ExitCode verb_resume(const CommandLine& line);
data::ExitCode verb_sweep(const CommandLine& line);
/// What the other ranks do while rank 0 does run, rerun, resume or gradcheck.
void help_first_rank(const CommandLine& line);
/// Of these, what they do in a gradcheck.
void help_with_gradcheck(const CommandLine& line, const PreparedCase& made, HelpContext& with);
data::ExitCode verb_launch(const CommandLine& line);
data::ExitCode verb_stop(const CommandLine& line);
data::ExitCode verb_plot(const CommandLine& line);
data::ExitCode verb_predict(const CommandLine& line);
data::ExitCode verb_info(const CommandLine& line);
data::ExitCode verb_import(const CommandLine& line);
data::ExitCode verb_list(const CommandLine& line);
data::ExitCode verb_explain(const CommandLine& line);
data::ExitCode verb_schema(const CommandLine& line);
data::ExitCode verb_doctor(const CommandLine& line);
data::ExitCode verb_completion(const CommandLine& line);

/// The app that is called `name`. Throws InputError (exit 2) with a suggestion.
const App& app_called(const std::string& name);

/// A configuration that has passed the option table of its app.
struct Case {
  data::Config config;
  const App& app;
  std::vector<data::Diagnostic> warnings = {};  ///< about the configuration itself
};
/// Reads the file, finds its app and checks every key. Throws InputError (exit 5) with all
/// findings.
Case read_case(const std::filesystem::path& path, const std::vector<std::string>& overrides);

/// Where `run` writes: --output, or the name of the case with .run in the current folder.
std::filesystem::path run_folder_of(const CommandLine& line);

/// Every key of the case with its value, and those that it has left to the program
/// (PreparedCase::chosen), as resolved.toml has them. Throws InputError (exit 5) where that is too
/// long to be read again.
std::string resolved_text(const Case& c, const std::vector<std::string>& chosen = {});
/// Throws so, E0103, where the text of a case `with` what it says is too long.
void check_length(const Case& c, const std::string& resolved, const std::string& with,
                  const std::string& hint);

/// A case made ready, and the files that it has read, which stay open while it lives.
struct Ready {
  std::unique_ptr<data::InputFiles> files;
  PreparedCase made;
};
/// `c` lives as long.
Ready prepare(const Case& c, const RunOptions& options, bool for_derivatives = false);

/// What the process says of a failure.
data::ExitCode code_of(const std::exception& e);

/// Runs a case in the new folder `path`; `input` is the configuration as it was given, in `format`.
data::ExitCode run_anew(const Case& c, const CommandLine& line, const std::filesystem::path& path,
                        const std::string& input, const std::string& format);
/// Goes on with the run in `line.path`.
data::ExitCode go_on(const CommandLine& line);
/// Whether `tessera sweep` has made the folder.
bool is_sweep(const std::filesystem::path& folder);
data::ExitCode go_on_with_sweep(const CommandLine& line);
/// Its table and pictures anew, from what its points have so far.
std::vector<std::filesystem::path> plot_sweep(const std::filesystem::path& folder);

/// What a run goes on with: made ready already where it was changed.
struct TakenUp {
  std::unique_ptr<const Case> c;
  std::optional<Ready> ready;
};
/// The case of a run folder as it goes on, with the changes of `resume --set` made: resolved.toml
/// and `now` name them. Empty where the run has finished and nothing is changed. Throws InputError
/// where resolved.toml is not what was run (E0417) and where a change cannot be made to a run
/// (E0435, E0436); nothing is written then.
std::optional<TakenUp> take_up(const data::RunFolder& folder, data::Manifest& now, bool finished,
                               const CommandLine& line);

}  // namespace tessera::apps
