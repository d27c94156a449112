// SPDX-License-Identifier: Apache-2.0
//
// Random programs under stacks of transforms: the engine beside truncated Taylor arithmetic
// (README.md).
//
//   nesting [--programs N] [--first SEED] [--stacks N | --stack K] [--shown N] [--most N]
//   nesting --print SEED --stack K      the program as C++
//   nesting --list                      the stacks
//
// Prints a line for each failure, the first N of them with their shrunk programs as C++, and
// figures as lines `name value unit`. With --most it stops after so many failures. The exit code is
// 0 only where nothing failed.
#include "judge.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>

namespace {

using namespace nesting;

struct Options {
  Trial trial;
  int shown = 5;  ///< failures that are shrunk and printed
  long most = 0;  ///< stops after so many failures, if not 0
  bool print = false;
};

[[noreturn]] void usage() {
  std::printf(
      "usage: nesting [--programs N] [--first SEED] [--stacks N | --stack K] [--shown N] [--most "
      "N]\n       nesting --print SEED --stack K\n       nesting --list\n");
  std::exit(2);
}

Options read(int argc, char** argv) {
  Options o;
  for (int k = 1; k < argc; ++k) {
    const std::string name = argv[k];
    if (name == "--list") {
      for (int s = 0; s < n_stacks(); ++s)
        std::printf("%2d  order %d  %s\n", s, stack_order(s), stack_name(s).c_str());
      std::exit(0);
    }
    if (k + 1 == argc) usage();
    const std::uint64_t value = std::strtoull(argv[++k], nullptr, 10);
    if (name == "--programs")
      o.trial.programs = value;
    else if (name == "--first")
      o.trial.first = value;
    else if (name == "--stacks")
      o.trial.stacks = static_cast<int>(value);
    else if (name == "--shown")
      o.shown = static_cast<int>(value);
    else if (name == "--stack")
      o.trial.only_stack = static_cast<int>(value);
    else if (name == "--most")
      o.most = static_cast<long>(value);
    else if (name == "--print")
      o.trial.first = value, o.print = true;
    else
      usage();
  }
  return o;
}

}  // namespace

int main(int argc, char** argv) {
  setenv("OMP_NUM_THREADS", "1", 1);  // tensors are small, and the process forks
  const Options o = read(argc, argv);
  if (o.print) {
    const Program p = program_of({o.trial.first, std::max(o.trial.only_stack, 0)});
    Outputs expected;
    try {
      expected = run_taylor(p);
    } catch (const Refused&) {
    }
    std::printf("%s", print_cpp(p, expected, tolerance(order(p.main)),
                                "Program " + std::to_string(o.trial.first) + " under " +
                                    stack_name(std::max(o.trial.only_stack, 0)))
                          .c_str());
    return 0;
  }
  std::map<int, double> worst;  // by order
  std::map<std::string, int> kinds;
  long cases = 0, overflows = 0, ill_conditioned = 0, failures = 0;
  int shown = 0;
  const auto begin = std::chrono::steady_clock::now();
  judge_all(o.trial, [&](const Case& c, const Verdict& v) {
    ++cases;
    if (v.kind == Verdict::Kind::overflow) {
      ++overflows;
      std::printf("OVERFLOW program %llu under %s (stack %d)\n",
                  static_cast<unsigned long long>(c.seed), stack_name(c.stack).c_str(), c.stack);
    } else if (v.kind == Verdict::Kind::ill_conditioned) {
      ++ill_conditioned;
      std::printf("ILL-CONDITIONED program %llu under %s (stack %d, order %d): %s\n",
                  static_cast<unsigned long long>(c.seed), stack_name(c.stack).c_str(), c.stack,
                  v.order, v.text.c_str());
    } else if (v.kind == Verdict::Kind::right) {
      double& w = worst[v.order];
      w = std::max(w, v.error);
    } else {
      ++failures;
      ++kinds[name_of(v.kind)];
      std::printf("FAILED program %llu under %s (stack %d, order %d): %s\n",
                  static_cast<unsigned long long>(c.seed), stack_name(c.stack).c_str(), c.stack,
                  v.order, v.text.c_str());
      std::fflush(stdout);
      if (shown++ < o.shown) std::printf("%s\n", shrunk(c).c_str());
    }
    return o.most == 0 || failures < o.most;
  });
  for (const auto& [kind, n] : kinds) std::printf("  %d x %s\n", n, kind.c_str());
  for (const auto& [order, error] : worst)
    std::printf("nesting_error_order_%d %.2e relative\n", order, error);
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  std::printf(
      "nesting_stacks %d stacks\nnesting_programs %llu programs\nnesting_cases %ld "
      "cases\nnesting_overflows %ld cases\nnesting_ill_conditioned %ld cases\nnesting_failures %ld "
      "cases\nnesting_seconds %.1f s\n",
      n_stacks(), static_cast<unsigned long long>(o.trial.programs), cases, overflows,
      ill_conditioned, failures, seconds);
  return failures ? 1 : 0;
}
