// SPDX-License-Identifier: Apache-2.0
//
// Steps of the scheme and of its transpose give the same bits in vectors of 256 and of 512 bits.
#include "../support/both_widths.h"
#include "yee_everything.h"

namespace tessera::electromagnetics {
namespace {

template <class T>
void print_steps(const YeeScheme& s, bool transposed, const std::string& name) {
  const std::int64_t steps = 13;
  std::vector<T> state(s.state_size()), in(std::max(s.n_injected(), s.n_recorded()) * steps),
      in_b(s.n_traced() * steps), out(in.size()), out_b(in_b.size());
  const std::vector<double> x = noise(state.size(), 1), w = noise(in.size() + in_b.size(), 2);
  std::copy(x.begin(), x.end(), state.begin());
  std::copy_n(w.begin(), in.size(), in.begin());
  std::copy_n(w.begin(), in_b.size(), in_b.begin());
  if (transposed)
    s.advance_transposed(state.data(), steps, in.data(), in_b.data(), out.data(), out_b.data(),
                         nullptr);
  else
    s.advance(state.data(), steps, in.data(), out.data(), out_b.data(), nullptr);
  std::uint64_t h = tessera::testing::hash_of(state.data(), state.size() * sizeof(T));
  h = tessera::testing::hash_of(out.data(), out.size() * sizeof(T), h);
  tessera::testing::print_hash(
      name, tessera::testing::hash_of(out_b.data(), out_b.size() * sizeof(T), h));
}

}  // namespace

TEST(YeeWidths, DISABLED_PrintHashesOfSteps) {
  for (const bool transposed : {false, true}) {
    const std::string way = transposed ? "back" : "forward";
    print_steps<double>(YeeScheme(model_with_everything({pml, pml, pml})), transposed,
                        way + "/f64");
    print_steps<float>(YeeScheme(model_with_everything({pml, pml, pml}, Dtype::f32)), transposed,
                       way + "/f32");
    print_steps<double>(
        YeeScheme(model_with_everything({joined, pmc, pec}, Dtype::f64, {37, 6, 9})), transposed,
        way + "/long_rows");
  }
}
TEST(YeeWidths, StepsGiveTheSameBitsAtBothWidths) {
  tessera::testing::expect_same_at_both_widths("YeeWidths.DISABLED_PrintHashesOfSteps");
}

}  // namespace tessera::electromagnetics
