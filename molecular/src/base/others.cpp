// SPDX-License-Identifier: Apache-2.0
//
// All is one exchange, in one source line: a rank that gives up meets the others in whichever call
// they are. Its message begins with a byte that says so.
#include "base/others.h"

#include "tessera/parallel/communicator.h"

#include <algorithm>
#include <cstring>

namespace tessera::molecular {
namespace {

enum class Said : std::uint8_t { value, gave_up };

std::vector<parallel::Bytes> meet(parallel::Communicator& c, Said said,
                                  std::span<const std::byte> mine) {
  parallel::Bytes message(1 + mine.size());
  message[0] = static_cast<std::byte>(said);
  std::ranges::copy(mine, message.begin() + 1);
  return c.all_gather(message);
}

}  // namespace

template <class F>
void Others::each(std::span<const std::byte> mine, F&& f) const {
  const std::vector<parallel::Bytes> all = meet(*c_, Said::value, mine);
  for (const parallel::Bytes& of : all)
    if (of.at(0) == static_cast<std::byte>(Said::gave_up))
      throw OneGaveUp(std::string(reinterpret_cast<const char*>(of.data()) + 1, of.size() - 1));
  for (const parallel::Bytes& of : all) {
    if (of.size() != 1 + mine.size())
      throw Error("[molecular] ranks add up different numbers of values");
    f(of.data() + 1);
  }
}

bool Others::all(bool mine) const {
  if (none()) return mine;
  const std::byte byte{mine};
  bool so = true;
  each({&byte, 1}, [&](const std::byte* b) { so = so && *b != std::byte{0}; });
  return so;
}

double Others::largest(double mine) const {
  if (none()) return mine;
  double most = mine;
  each(std::as_bytes(std::span(&mine, 1)), [&](const std::byte* b) {
    double other;
    std::memcpy(&other, b, sizeof other);
    most = std::max(most, other);
  });
  return most;
}

void Others::add(std::span<Wide> values) const {
  if (none()) return;
  const std::vector<Wide> mine(values.begin(), values.end());
  std::ranges::fill(values, 0);
  each(std::as_bytes(std::span(mine)), [&](const std::byte* b) {
    for (std::size_t k = 0; k < values.size(); ++k) {
      Wide other;
      std::memcpy(&other, b + k * sizeof other, sizeof other);
      values[k] += other;
    }
  });
}

void Others::give_up(const std::string& why) const {
  if (!none()) meet(*c_, Said::gave_up, std::as_bytes(std::span(why)));
  throw OneGaveUp(why);
}

}  // namespace tessera::molecular
