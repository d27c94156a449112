// SPDX-License-Identifier: Apache-2.0
// The `tessera` command: the verb comes first, the app comes from the file.
#include "support/report.h"
#include "tessera/autodiff/error.h"
#include "tessera/autodiff/memory.h"
#include "tessera/autodiff/vectors.h"
#include "verbs/verbs.h"

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

}  // namespace

int main(int argc, char** argv) {
  const ParseResult parsed = parse_command_line(argc, argv);
  data::ExitCode code = parsed.command ? guarded(*parsed.command) : parsed.code;
  std::cout.flush();
  if (!std::cout) {
    std::cerr << "tessera: error: standard output could not be written\n";
    if (code == data::ExitCode::ok) code = data::ExitCode::internal_fault;
  }
  return static_cast<int>(code);
}
