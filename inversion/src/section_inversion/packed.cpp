// SPDX-License-Identifier: Apache-2.0
//
// A state as numbers: one walk over its fields, which writes or reads.
#include "tessera/autodiff/error.h"
#include "tessera/inversion/section_inversion.h"

#include <cmath>
#include <string>
#include <type_traits>

namespace tessera::inversion {
namespace {

constexpr double kVersion = 2;

struct Packer {
  std::vector<double> numbers;
  void number(double& x) { numbers.push_back(x); }
};
struct Unpacker {
  std::span<const double> numbers;
  std::size_t next = 0;
  void number(double& x) {
    if (next >= numbers.size()) throw Error("[unpacked] the numbers end within a state");
    x = numbers[next++];
  }
};

/// Whole numbers, truth and words of an enumeration, as the double that they are.
template <class Archive, class T>
void visit(Archive& a, T& x) requires std::is_arithmetic_v<T> || std::is_enum_v<T> {
  double number = static_cast<double>(x);
  a.number(number);
  if (!std::is_same_v<T, double> && !(std::abs(number) < 1e9))
    throw Error("[unpacked] the numbers are no state: " + std::to_string(number) +
                " where a whole number stands");
  x = static_cast<T>(number);
}
template <class Archive>
void visit(Archive& a, Iteration& i) {
  visit(a, i.number);
  for (double* x : {&i.mu, &i.rms, &i.roughness, &i.objective, &i.step, &i.change}) visit(a, *x);
  visit(a, i.forwards);
}
template <class Archive, class T>
void visit(Archive& a, std::vector<T>& v) {
  auto n = static_cast<double>(v.size());
  a.number(n);
  if constexpr (std::is_same_v<Archive, Unpacker>) {
    if (!(n >= 0 && n <= static_cast<double>(a.numbers.size() - a.next)))
      throw Error("[unpacked] the numbers are no state: a list longer than all of them");
    v.resize(static_cast<std::size_t>(n));
  }
  for (T& x : v) visit(a, x);
}
template <class Archive>
void visit(Archive& a, std::optional<OccamState::Found>& f) {
  bool there = f.has_value();
  visit(a, there);
  if (!there) return f.reset();
  if (!f) f = OccamState::Found{};
  visit(a, f->m);
  visit(a, f->predicted);
  visit(a, f->mu);
  visit(a, f->rms);
}
template <class Archive>
void visit(Archive& a, StepState& s) {
  visit(a, s.m);
  visit(a, s.predicted);
  visit(a, s.iterations);
  visit(a, s.ended);
  visit(a, s.reason);
}
template <class Archive>
void visit(Archive& a, SectionState& s) {
  visit(a, s.by_occam);
  if (!s.by_occam) {
    visit(a, static_cast<StepState&>(s.descent));
    visit(a, s.descent.gradient);
    visit(a, s.descent.moves);
    visit(a, s.descent.bends);
    return;
  }
  OccamState& o = s.occam;
  visit(a, static_cast<StepState&>(o));
  visit(a, o.closing_in);
  visit(a, o.cooling);
  visit(a, o.mu);
  visit(a, o.idle);
  visit(a, o.aim);
  visit(a, o.steps_here);
  visit(a, o.choose_mu);
  visit(a, o.reached);
  visit(a, o.above);
  visit(a, o.below);
}

}  // namespace

std::vector<double> packed(const SectionState& state) {
  Packer a;
  double version = kVersion;
  a.number(version);
  SectionState copy = state;
  visit(a, copy);
  return a.numbers;
}

SectionState unpacked(std::span<const double> numbers) {
  Unpacker a{numbers};
  double version = 0;
  a.number(version);
  if (version != kVersion) throw Error("[unpacked] the numbers are of another version of states");
  SectionState out;
  visit(a, out);
  if (a.next != numbers.size()) throw Error("[unpacked] there are more numbers than a state has");
  return out;
}

}  // namespace tessera::inversion
