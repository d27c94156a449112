// SPDX-License-Identifier: Apache-2.0
//
// Whether the engine is right about a program. It runs in processes of its own, so that one that
// crashes or never ends is a finding like any other.
#pragma once
#include "program.h"

#include <functional>
#include <string>

namespace nesting {

struct Case {
  std::uint64_t seed;
  int stack;
};

struct Verdict {
  /// right; as far away as rounding alone carries this program; not finite in Taylor arithmetic;
  /// not finite in the engine alone; another shape; too far away; the engine threw, died, or did
  /// not end.
  enum class Kind : std::uint8_t {
    right,
    ill_conditioned,
    overflow,
    not_finite,
    shape,
    wrong,
    thrown,
    died,
    endless,
    invalid
  } kind = Kind::right;
  int order = 0;     ///< of the highest derivative
  double error = 0;  ///< relative to the largest element of its result, at least 1
  std::string text;
};
const char* name_of(Verdict::Kind k);
inline bool failed(Verdict::Kind k) {
  return k > Verdict::Kind::overflow && k != Verdict::Kind::invalid;
}

/// First derivatives (and values) to 1e-10, higher ones to 1e-8.
inline double tolerance(int order) { return order <= 1 ? 1e-10 : 1e-8; }

/// A program may be farther away where its own rounding is: so many times what Taylor arithmetic in
/// double differs from itself in long double. The engine rounds as double does, in another order.
constexpr double kRoundings = 100;

Program program_of(const Case& c);
/// In this process; `understood` is called between Taylor arithmetic and the engine.
Verdict judge(const Program& p, const std::function<void()>& understood = {});
/// In another one. A program on which Taylor arithmetic dies is none.
Verdict judge_apart(const Program& p);
/// What is tried: programs of these seeds, each under so many stacks drawn by its seed, or under
/// one.
struct Trial {
  std::uint64_t first = 1, programs = 2000;
  int stacks = 26;
  int only_stack = -1;
};
/// In other processes; `tell` is called in order, until it gives false.
void judge_all(const Trial& t, const std::function<bool(const Case&, const Verdict&)>& tell);
/// The smallest program found that fails like this one does, as C++.
std::string shrunk(const Case& c);

}  // namespace nesting
