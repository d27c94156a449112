// SPDX-License-Identifier: Apache-2.0
// The `tessera` command: the verb comes first, the app comes from the file.
#include "support/ranks.h"
#include "support/report.h"
#include "tessera/autodiff/error.h"
#include "tessera/autodiff/forall.h"
#include "tessera/autodiff/memory.h"
#include "tessera/autodiff/vectors.h"
#include "tessera/parallel/mpi.h"
#include "verbs/verbs.h"

#include <signal.h>

#include <cstdio>
#include <exception>
#include <functional>
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
               {"mesh", verb_mesh},
               {"estimate", verb_estimate},
               {"gradcheck", verb_gradcheck},
               {"run", verb_run},
               {"rerun", verb_rerun},
               {"resume", verb_resume},
               {"sweep", verb_sweep},
               {"launch", verb_launch},
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

/// `checked` may throw what is wrong with the command line.
data::ExitCode guarded(
    const CommandLine& line, const std::function<void()>& checked = [] {}) {
  const auto fail = [&](std::string message, data::ExitCode code) {
    report({data::Diagnostic{.place = {"tessera", 0, 0, {}}, .message = std::move(message)}},
           line.json);
    return code;
  };
  try {
    check_environment();
    checked();
    return dispatch(line);
  } catch (const data::InputError& e) {
    report(e.findings(), line.json);
    return e.code();
  } catch (const parallel::OtherRankFailed& e) {
    return fail(e.what(), static_cast<data::ExitCode>(e.code));
  } catch (const parallel::WaitedInVain& e) {
    return fail(e.what(), data::ExitCode::rank_lost);
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
  return verb == "run" || verb == "rerun" || verb == "resume" || verb == "sweep" ||
         verb == "gradcheck";
}

/// What the ranks beside the first do; rank 0 hears of their errors, and reports them.
void help(const CommandLine& line) {
  try {
    help_first_rank(line);
  } catch (const parallel::OtherRankFailed&) {
    line.ranks->wait_for_the_end();
  } catch (const parallel::WaitedInVain& e) {
    line.ranks->lost(e);
  } catch (const data::InputError& e) {
    line.ranks->fail(e.what(), e.code());
  } catch (const OutOfMemory& e) {
    line.ranks->fail(std::string("out of memory: ") + e.what(), data::ExitCode::would_not_fit);
  } catch (const std::bad_alloc&) {
    line.ranks->fail("out of memory", data::ExitCode::would_not_fit);
  } catch (const std::exception& e) {
    line.ranks->fail(e.what(), data::ExitCode::internal_fault);
  }
}

data::ExitCode on_rank(CommandLine line, parallel::Communicator& all, bool processes) {
  Ranks ranks(all, processes);
  line.ranks = &ranks;
  if (line.run.max_wait_s) all.patience.end = *line.run.max_wait_s;
  if (all.rank() != 0) {
    help(line);
    return data::ExitCode::ok;
  }
  const auto checked = [&] {
    const std::size_t weights = line.run.weights.size();
    if (weights != 0 && weights != static_cast<std::size_t>(all.size()))
      throw usage_error("--weights: " + std::to_string(weights) + " for " +
                        std::to_string(all.size()) + " ranks");
  };
  const data::ExitCode code = guarded(line, checked);
  ranks.end(code);
  return code;
}

data::ExitCode on_threads(const CommandLine& line) {
  const int n = line.run.thread_ranks;
  set_num_threads(n * thread_count(line.run));
  data::ExitCode code = data::ExitCode::internal_fault;
  parallel::run_ranks(n, [&](parallel::Communicator& c) {
    const data::ExitCode own = on_rank(line, c, false);
    if (c.rank() == 0) code = own;
  });
  return code;
}

/// A verb of the first rank alone. A solver of that may need MPI (PETSc), which starts and ends on
/// all ranks together: the others start it, too, and wait for the first at its end.
data::ExitCode on_first_rank(const CommandLine& line) {
  try {
    if (parallel::is_mpi_rank()) static_cast<void>(parallel::mpi_communicator());
  } catch (const Error&) {  // there is no MPI, or the ranks are not its own: nobody is waited for
  }
  return is_first_rank() ? guarded(line) : data::ExitCode::ok;
}

data::ExitCode on_ranks(const CommandLine& line) {
  if (!is_for_all_ranks(line.verb)) return on_first_rank(line);
  const auto refuse = [&](const std::string& why) {
    report({data::Diagnostic{.place = {"tessera", 0, 0, {}}, .message = why}}, line.json);
    return data::ExitCode::usage;
  };
  try {
    const bool processes = parallel::is_mpi_rank();
    if (processes && line.run.thread_ranks > 0)
      return refuse("--ranks threads:N has all ranks in one process: leave it out under mpirun");
    if (line.run.thread_ranks > 0) return on_threads(line);
    parallel::Communicator all = processes ? parallel::mpi_communicator() : parallel::alone();
    return on_rank(line, all, processes);
  } catch (const Error& e) {
    return refuse(e.what());
  }
}

}  // namespace

int main(int argc, char** argv) {
  // A file at its limit is a write error, also of a rank's thread that outlives the run.
  ::signal(SIGXFSZ, SIG_IGN);
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
