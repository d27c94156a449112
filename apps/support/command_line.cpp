// SPDX-License-Identifier: Apache-2.0
// The only file that sees CLI11.
#include "support/command_line.h"

#include "support/app.h"
#include "support/report.h"
#include "tessera/data/build_info.h"
#include "tessera/data/quantity.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <cstdint>
#include <iostream>
#include <limits>
#include <string_view>

namespace tessera::apps {
namespace {

/// `5min`, `23.5h`, `90 s`: a time longer than none.
CLI::Validator duration() {
  return CLI::Validator(
      [](std::string& text) {
        try {
          if (data::parse_quantity(text, data::dimension::time) > 0) return std::string();
          return "'" + text + "' is not a positive time";
        } catch (const data::QuantityError& e) {
          return "'" + text + "': " + e.what() + ", e.g. 5min";
        }
      },
      "TIME");
}

constexpr std::string_view kThreads = "threads:";

/// A whole number in decimal digits: CLI11 alone takes 010 for 8, -1 for 2^64 - 1 where there is no
/// sign, and what is too large for the largest.
CLI::Validator whole(std::int64_t least, std::int64_t most, const std::string& name) {
  return CLI::Validator(
      [least, most](std::string& text) {
        std::int64_t n = 0;
        const char *first = text.data(), *last = first + text.size();
        const auto [end, error] = std::from_chars(first, last, n);
        if (error != std::errc() || end != last || n < least || n > most)
          return fmt::format("'{}' is no whole number from {} to {}", text, least, most);
        text = std::to_string(n);
        return std::string();
      },
      name);
}
CLI::Validator whole(std::int64_t least, std::int64_t most) {
  return whole(least, most, fmt::format("INT in [{} - {}]", least, most));
}
constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();  // what TOML holds

/// Of a rank: above 0, and no nan, which CLI11's own check lets pass.
CLI::Validator weight() {
  return CLI::Validator(
      [](std::string& text) {
        double x = 0;
        const char *first = text.data(), *last = first + text.size();
        const auto [end, error] = std::from_chars(first, last, x);
        return error == std::errc() && end == last && std::isfinite(x) && x > 0
                   ? std::string()
                   : "'" + text + "' is no number above 0";
      },
      "POSITIVE");
}

/// N of `threads:N`; 0: something else.
int thread_ranks(const std::string& text) {
  if (!text.starts_with(kThreads)) return 0;
  int n = 0;
  const char *first = text.data() + kThreads.size(), *last = text.data() + text.size();
  const auto [end, error] = std::from_chars(first, last, n);
  return error == std::errc() && end == last && n >= 1 && n <= 4096 ? n : 0;
}

/// The declarations of all verbs, writing into one CommandLine.
struct Grammar {
  CommandLine line;
  std::string ranks, max_time, max_wait, checkpoint_every = "5min";
  bool quiet = false;
  int verbose = 0;
  CLI::App app{
      "Tessera: differentiable tensors, electromagnetics, molecular dynamics, inversion.\n"
      "A case names its app: app = \"inversion.mt1d\". Results go to stdout, progress and errors "
      "to stderr.",
      "tessera"};

  Grammar() {
    app.require_subcommand(1);
    app.fallthrough();
    app.set_version_flag("--version", "tessera " + std::string(data::build_info().version));
    app.add_flag("--json", line.json,
                 "errors, and what check, estimate, gradcheck, info and doctor tell, as JSON on "
                 "stdout");
    app.add_flag("-q,--quiet", quiet, "only warnings and errors");
    app.add_flag("-v,--verbose", verbose, "debug messages, too");
    app.footer(
        "`tessera VERB --help` says more. Environment: NO_COLOR, TESSERA_VECTOR_BITS "
        "(docs/reference/bits.md). Exit codes: docs/reference/exit-codes.md");

    auto* v = verb("new", "write a small runnable example of an app");
    v->add_option("APP", line.word, "e.g. inversion.mt1d; see `tessera list apps`")->required();
    v->add_option("DIR", line.path, "the folder to write into (default: the app's name)");
    v->add_option("--seed", line.seed, "seed of its synthetic data")
        ->transform(whole(0, kMost, ""))
        ->capture_default_str();
    v->add_flag("--force", line.run.force, "write into a folder that is not empty");

    v = verb("check", "read a case and its inputs, report what is wrong");
    add_case(v);

    v = verb("mesh", "write and draw the grid of a case, and tell what made it");
    add_case(v);
    v->add_option("-o,--output", line.output,
                  "the folder (default: the case's name with .mesh, in the current folder)");
    v->add_flag("--force", line.run.force, "write into a folder that is there");

    v = verb("estimate", "estimate memory, time and disk space of a case without running it");
    add_case(v);
    add_threads(v);
    v->add_option("--ranks", line.run.estimated_ranks,
                  "and what one of so many ranks takes, and sends")
        ->transform(whole(2, 1 << 20));

    v = verb("gradcheck", "check the derivatives of a case against differences, in float64");
    add_case(v);
    add_threads(v);
    add_thread_ranks(v);
    add_cut(v);
    v->add_option("--seed", line.seed, "seed of the random directions")
        ->transform(whole(0, kMost, ""))
        ->capture_default_str();

    v = verb("run", "run a case");
    add_case(v);
    v->add_option("-o,--output", line.output,
                  "the run folder (default: the case's name with .run, in the current folder)");
    v->add_flag("--force", line.run.force, "replace the results in an existing run folder");
    add_thread_ranks(v);
    add_running(v);

    v = verb("rerun",
             "compute energies and forces of the frames of a trajectory with the interactions of a "
             "case");
    add_case(v);
    v->add_option("TRAJECTORY", line.frames,
                  "the frames: .xtc, .trr, .dcd, .nc, .h5md, .gro or .pdb")
        ->required();
    v->add_option("--stage", line.stage,
                  "the stage whose interactions are taken (default: the last)");
    v->add_option(
        "-o,--output", line.output,
        "the run folder (default: the trajectory's name with .rerun, in the current folder)");
    v->add_flag("--force", line.run.force, "replace the results in an existing run folder");
    add_thread_ranks(v);
    add_running(v);

    v = verb("resume", "continue a stopped or killed run, to the same bits");
    v->add_option("RUN", line.path, "the run folder")->required();
    v->add_option("--set", line.overrides,
                  "change the end or the output of the run, of a finished one too: --set key=value")
        ->allow_extra_args(false)
        ->type_name("KEY=VALUE");
    add_thread_ranks(v);
    add_running(v);

    v = verb("sweep",
             "run a case at each point of its [sweep], in one folder that `resume` takes up");
    add_case(v);
    v->add_option("-o,--output", line.output,
                  "the folder (default: the case's name with .sweep, in the current folder)");
    v->add_flag("--force", line.run.force, "replace the results in an existing folder");
    add_running(v);

    v = verb("launch", "start mpirun with the ranks of a run, again when one of them dies");
    v->add_option("-n", line.processes, "how many ranks")->required()->transform(whole(1, 1 << 20));
    v->add_option("CASE", line.path, "the configuration, or the run folder to go on with")
        ->required();
    v->add_option("OPTIONS", line.mpirun_options, "options of mpirun, behind --");
    v->add_option("--max-restarts", line.max_restarts,
                  "how often to go on from the last checkpoint after a rank's death")
        ->transform(whole(0, std::numeric_limits<int>::max(), "NONNEGATIVE"))
        ->capture_default_str();
    v->add_option("--mpirun", line.mpirun, "the program that starts ranks")->capture_default_str();
    add_changes(v);
    v->add_option("-o,--output", line.output,
                  "the run folder (default: the case's name with .run, in the current folder)");
    v->add_flag("--force", line.run.force, "replace the results in an existing run folder");
    add_running(v);

    v = verb("stop", "ask a running run to stop with a checkpoint");
    v->add_option("RUN", line.path, "the run folder")->required();

    v = verb("plot", "draw the pictures of a finished run again, from its results");
    v->add_option("RUN", line.path, "the run folder")->required();

    v = verb("predict", "ask the model that a run has learnt");
    v->add_option("RUN", line.path, "the run folder")->required();
    v->add_option("FILE", line.frames, "inputs, in files of the kind that it has learnt from")
        ->required();
    v->add_option("-o,--output", line.output,
                  "the predictions, .csv or .npy (default: the file's name with .predicted, in the "
                  "current folder)");
    v->add_flag("--force", line.run.force, "replace an existing file");

    v = verb("info", "read a file of any known format and summarise it");
    v->add_option("FILE", line.path, "the file, or a run folder")->required();

    v = verb("import", "turn input of GROMACS, ModEM or MARE2DEM into a configuration");
    v->footer([] {
      std::string takes = "It takes:";
      for (const App& a : all_apps())
        for (const Importer& i : a.importers)
          takes += fmt::format("\n  {:<14} {}, for {}", i.ending, i.what, a.name);
      return takes;
    });
    v->add_option("FILE", line.path, "the file; its ending tells what it is")->required();
    v->add_option("-o,--output", line.output, "the configuration (default: stdout)");
    v->add_flag("--force", line.run.force, "replace an existing file");

    v = verb("list", "list apps, examples, formats, units or verbs");
    v->add_option("WHAT", line.word, "apps (the default), examples, formats, units or verbs")
        ->check(CLI::IsMember({"apps", "examples", "formats", "units", "verbs"}));

    v = verb("explain", "explain a key of a configuration or an error number");
    v->add_option("KEY", line.word, "e.g. data.error_floor, source.waveform or E0213")->required();

    v = verb("schema", "print the JSON schema (draft-07) of an app's configuration");
    v->add_option("APP", line.word, "e.g. inversion.mt1d")->required();

    v->add_flag("--markdown", line.markdown, "print the reference page of the options instead");

    verb("doctor", "print versions and parts of this build, test writing and arithmetic");

    v = verb("completion", "print a completion script for a shell");
    v->add_option("SHELL", line.word, "bash, zsh or fish")
        ->required()
        ->check(CLI::IsMember({"bash", "zsh", "fish"}));
  }

  CLI::App* verb(const std::string& name, const std::string& doc) {
    auto* v = app.add_subcommand(name, doc);
    v->fallthrough();
    return v;
  }
  void add_case(CLI::App* v) {
    v->add_option("CASE", line.path, "the configuration, TOML or JSON")->required();
    add_changes(v);
  }
  void add_changes(CLI::App* v) {
    v->add_option("--set", line.overrides, "override a key: --set section.key=value")
        ->allow_extra_args(false)
        ->type_name("KEY=VALUE");
    v->add_flag("--keep-going", line.run.keep_going,
                "leave out input files (soundings) that have errors instead of stopping");
  }
  void add_threads(CLI::App* v) {
    v->add_option("--threads", line.run.threads, "number of threads (default: all)")
        ->transform(whole(1, 4096));
  }
  void add_thread_ranks(CLI::App* v) {
    v->add_option("--ranks", ranks,
                  "threads:N: N ranks as threads of this process, as mpirun -n N starts processes")
        ->check(CLI::Validator(
            [](std::string& text) {
              return thread_ranks(text) ? std::string()
                                        : "'" + text +
                                              "' is not threads:N with N from 1 to 4096 "
                                              "(ranks that are processes: mpirun -n N tessera ...)";
            },
            "threads:N"));
  }
  void add_cut(CLI::App* v) {
    v->add_option("--weights", line.run.weights,
                  "how much of what is cut each rank takes, e.g. 2,1,1 (default: as much)")
        ->delimiter(',')
        ->allow_extra_args(false)
        ->check(weight());
    v->add_option("--max-wait", max_wait,
                  "end the run when a rank has waited so long for another one, e.g. 10min")
        ->check(duration());
  }
  void add_running(CLI::App* v) {
    add_threads(v);
    add_cut(v);
    v->add_option("--max-time", max_time, "stop with a checkpoint after this time, e.g. 23.5h")
        ->check(duration());
    v->add_option("--checkpoint-every", checkpoint_every, "time between checkpoints")
        ->check(duration())
        ->capture_default_str();
    v->add_option("--keep", line.run.keep_checkpoints, "checkpoints to keep")
        ->transform(whole(1, 1000))
        ->capture_default_str();
    v->add_option("--progress", line.run.progress, "auto, bar, plain, json or none")
        ->check(CLI::IsMember({"auto", "bar", "plain", "json", "none"}))
        ->capture_default_str();
  }
};

/// A word that is no verb or no option, and those that are.
struct Unknown {
  std::string text, message;
  std::vector<std::string> known;
};

/// The word for which parsing failed; none if it failed for another reason.
Unknown unknown_word(const Grammar& g, int argc, const char* const* argv) {
  const auto verbs = g.app.get_subcommands();
  Unknown u;
  if (verbs.empty()) {
    for (int i = 1; i < argc && u.text.empty(); ++i)
      if (argv[i][0] != '-') u.text = std::string(argv[i]).substr(0, 80);
    u.message = "there is no verb '" + u.text + "'";
    for (const VerbInfo& v : all_verbs()) u.known.push_back(v.name);
    return u;
  }
  for (const std::string& word : g.app.remaining(true))
    if (word.size() > 1 && word.starts_with("-")) {
      u.text = word.substr(0, std::min<std::size_t>(word.find('='), 80));
      u.message = "`tessera " + verbs.front()->get_name() + "` has no option '" + u.text + "'";
      for (const VerbInfo& v : all_verbs())
        if (v.name == verbs.front()->get_name())
          for (const FlagInfo& f : v.flags) u.known.push_back(f.name);
      return u;
    }
  return u;
}

/// The known word that begins with `text`, if it is one alone; else the one nearest in spelling.
/// One letter tells nothing.
std::string meant(const std::string& text, const std::vector<std::string>& known) {
  if (text.size() < 3) return {};
  std::vector<std::string> longer;
  for (const std::string& k : known)
    if (k.starts_with(text)) longer.push_back(k);
  if (longer.size() == 1) return longer.front();
  const auto near = data::nearest_names(text, known);
  return near.empty() ? std::string() : near.front();
}

/// Read before what is wrong may have ended the parsing.
bool wants_json(int argc, const char* const* argv) {
  for (int i = 1; i < argc && std::string_view(argv[i]) != "--"; ++i)
    if (std::string_view(argv[i]) == "--json") return true;
  return false;
}

/// What was given as an empty text, as an unset variable of a shell is: it is no default.
std::string empty_word(const CLI::App& verb) {
  for (const CLI::Option* o : verb.get_options())
    for (const std::string& given : o->results())
      if (given.empty() && o->get_name() != "OPTIONS")  // those are mpirun's
        return o->get_name() + " is empty";
  return {};
}

void tell_mistake(const Grammar& g, const Unknown& unknown, const std::string& what, bool json) {
  const auto verbs = g.app.get_subcommands();
  const std::string message = unknown.text.empty() ? what : unknown.message;
  const std::string near = unknown.text.empty() ? "" : meant(unknown.text, unknown.known);
  const std::string meant_word = near.empty() ? "" : "did you mean '" + near + "'?";
  const std::string see =
      "see: tessera " + (verbs.empty() ? "" : verbs.front()->get_name() + " ") + "--help";
  if (json) {
    report({data::Diagnostic{.place = {"tessera", 0, 0, {}},
                             .message = message,
                             .hint = meant_word.empty() ? see : meant_word}},
           true);
    return;
  }
  std::cerr << "tessera: error: " << message << "\n";
  if (!meant_word.empty()) std::cerr << "  hint: " << meant_word << "\n";
  std::cerr << "  " << see << "\n";
}

}  // namespace

ParseResult parse_command_line(int argc, const char* const* argv) {
  Grammar g;
  try {
    g.app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    if (e.get_exit_code() == 0) {
      g.app.exit(e, std::cout, std::cerr);
      return {{}, data::ExitCode::ok};
    }
    tell_mistake(g, unknown_word(g, argc, argv), e.what(), wants_json(argc, argv));
    return {{}, data::ExitCode::usage};
  }
  const std::string empty = empty_word(*g.app.get_subcommands().front());
  if (!empty.empty()) {
    tell_mistake(g, {}, empty, g.line.json);
    return {{}, data::ExitCode::usage};
  }
  CommandLine& line = g.line;
  line.verb = g.app.get_subcommands().front()->get_name();
  line.run.verbosity = g.quiet ? -1 : g.verbose;
  if (!g.ranks.empty()) line.run.thread_ranks = thread_ranks(g.ranks);
  if (!g.max_time.empty())
    line.run.max_time_s = data::parse_quantity(g.max_time, data::dimension::time);
  if (!g.max_wait.empty())
    line.run.max_wait_s = data::parse_quantity(g.max_wait, data::dimension::time);
  line.run.checkpoint_every_s = data::parse_quantity(g.checkpoint_every, data::dimension::time);
  line.arguments.assign(argv, argv + argc);
  return {std::move(line), data::ExitCode::ok};
}

std::vector<VerbInfo> all_verbs() {
  const Grammar g;
  std::vector<VerbInfo> out;
  const auto flags_of = [](const CLI::App& app) {
    std::vector<FlagInfo> flags;
    for (const CLI::Option* o : app.get_options()) {
      for (const std::string& s : o->get_snames())
        flags.push_back({"-" + s, o->get_description(), o->get_items_expected_max() > 0});
      for (const std::string& l : o->get_lnames())
        flags.push_back({"--" + l, o->get_description(), o->get_items_expected_max() > 0});
    }
    return flags;
  };
  for (const CLI::App* v : g.app.get_subcommands([](const CLI::App*) { return true; })) {
    VerbInfo info{v->get_name(), v->get_description(), flags_of(*v)};
    for (FlagInfo& f : flags_of(g.app))
      if (f.name != "--help" && f.name != "-h" && f.name != "--version")
        info.flags.push_back(std::move(f));
    out.push_back(std::move(info));
  }
  return out;
}

}  // namespace tessera::apps
