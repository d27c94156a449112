// SPDX-License-Identifier: Apache-2.0
// The `tessera` command: the verb comes first, the app comes from the file.
#include "support/ranks.h"
#include "support/report.h"
#include "tessera/autodiff/error.h"
#include "tessera/autodiff/memory.h"
#include "tessera/autodiff/vectors.h"
#include "tessera/parallel/mpi.h"
#include "verbs/verbs.h"

#include <cstdio>
#include <exception>
#include <iostream>
#include <new>

namespace {

using namespace tessera;
using namespace tessera::apps;

data::ExitCode dispatch(const CommandLine& line) {
  static const struct {
    const char* name;
    data::ExitCode (*function)(const CommandLine&);
  } verbs[] = {{"new", verb_new},
               {"check", verb_check},
               {"estimate", verb_estimate},
               {"gradcheck", verb_gradcheck},
               {"run", verb_run},
               {"rerun", verb_rerun},
               {"resume", verb_resume},
               {"stop", verb_stop},
               {"plot", verb_plot},
               {"info", verb_info},
               {"import", verb_import},
               {"predict", verb_predict},
               {"list", verb_list},
               {"explain", verb_explain},
               {"schema", verb_schema},
               {"doctor", verb_doctor},
               {"completion", verb_completion}};
  for (const auto& v : verbs)
    if (line.verb == v.name) return v.function(line);
  throw std::logic_error("verb without a function: " + line.verb);
}

/// A wrong value in the environment is told before any work.
void check_environment() {
  try {
    vector_bits();
  } catch (const Error& e) {
    throw usage_error(e.what());
  }
}

data::ExitCode guarded(const CommandLine& line) {
  const auto fail = [&](std::string message, data::ExitCode code) {
    report({data::Diagnostic{.place = {"tessera", 0, 0, {}}, .message = std::move(message)}},
           line.json);
    return code;
  };
  try {
    check_environment();
    return dispatch(line);
  } catch (const data::InputError& e) {
    report(e.findings(), line.json);
    return e.code();
  } catch (const OutOfMemory& e) {
    return fail(std::string("out of memory: ") + e.what(), data::ExitCode::would_not_fit);
  } catch (const std::bad_alloc&) {
    return fail("out of memory", data::ExitCode::would_not_fit);
  } catch (const std::filesystem::filesystem_error& e) {
    return fail(e.what(), data::ExitCode::internal_fault);
  } catch (const std::exception& e) {
    return fail(std::string("internal fault: ") + e.what(), data::ExitCode::internal_fault);
  }
}

bool is_for_all_ranks(const std::string& verb) {
  return verb == "run" || verb == "rerun" || verb == "resume";
}

/// Ranks beside the first: what they help with; their errors end all.
void help(const CommandLine& line) {
  const auto fail = [](const char* what, data::ExitCode code) {
    std::fprintf(stderr, "tessera: error: rank %d: %s\n", parallel::mpi_rank(), what);
    parallel::end_all_ranks(static_cast<int>(code));
  };
  try {
    help_first_rank(line);
  } catch (const data::InputError& e) {
    fail(e.what(), e.code());
  } catch (const OutOfMemory& e) {
    fail(e.what(), data::ExitCode::would_not_fit);
  } catch (const std::exception& e) {
    fail(e.what(), data::ExitCode::internal_fault);
  }
}

data::ExitCode on_ranks(CommandLine line) {
  std::optional<Ranks> ranks;
  if (is_for_all_ranks(line.verb)) {
    try {
      ranks.emplace(parallel::is_mpi_rank());
    } catch (const Error& e) {
      report({data::Diagnostic{.place = {"tessera", 0, 0, {}}, .message = e.what()}}, line.json);
      return data::ExitCode::usage;
    }
    line.ranks = &*ranks;
  }
  if (!is_first_rank()) {
    if (ranks) help(line);
    return data::ExitCode::ok;
  }
  const data::ExitCode code = guarded(line);
  if (ranks) ranks->end(code);
  return code;
}

}  // namespace

int main(int argc, char** argv) {
  if (!is_first_rank()) std::cout.rdbuf(nullptr), std::cerr.rdbuf(nullptr);
  const ParseResult parsed = parse_command_line(argc, argv);
  data::ExitCode code = parsed.command ? on_ranks(*parsed.command) : parsed.code;
  if (!is_first_rank()) return 0;
  std::cout.flush();
  if (!std::cout) {
    std::cerr << "tessera: error: standard output could not be written\n";
    if (code == data::ExitCode::ok) code = data::ExitCode::internal_fault;
  }
  return static_cast<int>(code);
}
