// SPDX-License-Identifier: Apache-2.0
#include "xtc_codec.h"

#include "tessera/autodiff/error.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <limits>

namespace tessera::molecular::xtc {
namespace {

/// How many values a short step has along each axis: floor(2^(i/3)), so that three take i bits, but
/// for the entries 38, 57 and 69, which are as the first writer had them and so as all files have
/// them. Notches below the first are not used.
constexpr int first_notch = 9, last_notch = 72;
constexpr std::array<std::int32_t, last_notch + 1> notches = {
    0,        0,        0,       0,       0,       0,       0,       0,       0,       8,
    10,       12,       16,      20,      25,      32,      40,      50,      64,      80,
    101,      128,      161,     203,     256,     322,     406,     512,     645,     812,
    1024,     1290,     1625,    2048,    2580,    3250,    4096,    5060,    6501,    8192,
    10321,    13003,    16384,   20642,   26007,   32768,   41285,   52015,   65536,   82570,
    104031,   131072,   165140,  208063,  262144,  330280,  416127,  524287,  660561,  832255,
    1048576,  1321122,  1664510, 2097152, 2642245, 3329021, 4194304, 5284491, 6658042, 8388607,
    10568983, 13316085, 16777216};
constexpr int longest_run = 8;  // atoms
constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max() - 2;
constexpr std::uint32_t largest_joined = 0xffffff;  // extents above it are written axis by axis

__extension__ using Wide = unsigned __int128;
using Triple = std::array<std::int64_t, 3>;
using Sizes = std::array<std::uint32_t, 3>;

int bit_width(Wide v) {
  const auto high = static_cast<std::uint64_t>(v >> 64), low = static_cast<std::uint64_t>(v);
  return high ? 64 + std::bit_width(high) : std::bit_width(low);
}
bool joined(const Sizes& s) { return (s[0] | s[1] | s[2]) <= largest_joined; }
Sizes cube(int notch) {
  const auto s = static_cast<std::uint32_t>(notches[static_cast<std::size_t>(notch)]);
  return {s, s, s};
}
std::int64_t half(int notch) { return notches[static_cast<std::size_t>(notch)] / 2; }

/// Bits from the highest down.
class BitWriter {
 public:
  void put(std::uint32_t value, int n) {
    window_ = (window_ << n) | value;
    held_ += n;
    for (; held_ >= 8; held_ -= 8) bytes_ += static_cast<char>(window_ >> (held_ - 8));
  }
  /// Three numbers below `sizes` as one, its lowest byte first.
  void put(const Triple& v, const Sizes& sizes, int n) {
    Wide all = (static_cast<Wide>(v[0]) * sizes[1] + static_cast<Wide>(v[1])) * sizes[2] +
               static_cast<Wide>(v[2]);
    for (; n >= 8; n -= 8, all >>= 8) put(static_cast<std::uint32_t>(all & 255), 8);
    if (n > 0) put(static_cast<std::uint32_t>(all), n);
  }
  std::string finish() {
    if (held_ > 0) put(0, 8 - held_);
    return std::move(bytes_);
  }

 private:
  std::string bytes_;
  std::uint64_t window_ = 0;
  int held_ = 0;
};

class BitReader {
 public:
  explicit BitReader(std::string_view bytes) : bytes_(bytes) {}
  std::size_t at() const { return at_; }
  std::uint32_t get(int n) {
    for (; held_ < n; held_ += 8) {
      if (at_ == bytes_.size())
        throw Unpackable("the packed positions end before the last atom", at_);
      window_ = (window_ << 8) | static_cast<unsigned char>(bytes_[at_++]);
    }
    held_ -= n;
    return static_cast<std::uint32_t>(window_ >> held_) &
           static_cast<std::uint32_t>((std::uint64_t{1} << n) - 1);
  }
  Triple get(const Sizes& sizes, int n) {
    Wide all = 0;
    int shift = 0;
    for (; n - shift >= 8; shift += 8) all |= static_cast<Wide>(get(8)) << shift;
    if (n > shift) all |= static_cast<Wide>(get(n - shift)) << shift;
    if (const auto low = static_cast<std::uint64_t>(all); low == all) return split(low, sizes);
    return split(all, sizes);
  }

 private:
  template <class U>
  static Triple split(U all, const Sizes& sizes) {
    Triple v;
    for (std::size_t k : {2, 1}) v[k] = static_cast<std::int64_t>(all % sizes[k]), all /= sizes[k];
    v[0] = static_cast<std::int64_t>(all);
    return v;
  }
  std::string_view bytes_;
  std::size_t at_ = 0;
  std::uint64_t window_ = 0;
  int held_ = 0;
};

std::vector<Triple> rounded(std::span<const Vec3> x_nm, float precision) {
  std::vector<Triple> k(x_nm.size());
  for (std::size_t i = 0; i < x_nm.size(); ++i)
    for (std::size_t d = 0; d < 3; ++d) {
      // In single precision, as the format is defined: the same positions give the same bytes.
      const auto x = static_cast<float>(x_nm[i][d]);
      const float scaled = x * precision;
      const auto v = static_cast<float>(static_cast<double>(scaled) + (x >= 0 ? 0.5 : -0.5));
      if (!(std::abs(v) <= static_cast<float>(most)) || static_cast<std::int64_t>(v) > most ||
          static_cast<std::int64_t>(v) < -most)
        throw Error(
            fmt::format("[xtc] atom {}: expected positions within +-{:.4g} nm, got {} nm; a lower "
                        "precision reaches farther",
                        i, static_cast<double>(most) / static_cast<double>(precision), x_nm[i][d]));
      k[i][d] = static_cast<std::int64_t>(v);
    }
  return k;
}

bool near(const Triple& a, const Triple& b, std::int64_t within) {
  return std::abs(a[0] - b[0]) < within && std::abs(a[1] - b[1]) < within &&
         std::abs(a[2] - b[2]) < within;
}
Triple difference(const Triple& a, const Triple& b, std::int64_t shift) {
  return {a[0] - b[0] + shift, a[1] - b[1] + shift, a[2] - b[2] + shift};
}

}  // namespace

Packed pack(std::span<const Vec3> x_nm, float precision) {
  std::vector<Triple> k = rounded(x_nm, precision);
  const std::size_t n = k.size();
  Packed out;
  out.precision = precision;
  Triple least = k[0], greatest = k[0];
  std::int64_t closest =
      std::numeric_limits<std::int32_t>::max();  // of neighbours in the list, |dx| + |dy| + |dz|
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t d = 0; d < 3; ++d)
      least[d] = std::min(least[d], k[i][d]), greatest[d] = std::max(greatest[d], k[i][d]);
    if (i > 0)
      closest =
          std::min(closest, std::abs(k[i][0] - k[i - 1][0]) + std::abs(k[i][1] - k[i - 1][1]) +
                                std::abs(k[i][2] - k[i - 1][2]));
  }
  Sizes sizes;
  for (std::size_t d = 0; d < 3; ++d) {
    if (greatest[d] - least[d] >= most)
      throw Error(
          fmt::format("[xtc] expected positions no farther than {:.4g} nm from each other; a lower "
                      "precision reaches farther",
                      static_cast<double>(most) / static_cast<double>(precision)));
    out.least[d] = static_cast<std::int32_t>(least[d]),
    out.greatest[d] = static_cast<std::int32_t>(greatest[d]);
    sizes[d] = static_cast<std::uint32_t>(greatest[d] - least[d] + 1);
  }
  const int full_bits = joined(sizes) ? bit_width(Wide{sizes[0]} * sizes[1] * sizes[2]) : 0;

  int notch = first_notch;
  while (notch < last_notch && notches[static_cast<std::size_t>(notch)] < closest) ++notch;
  out.notch = notch;
  const int highest = std::min(last_notch, notch + 8), lowest = highest - 8;
  std::int64_t smaller = half(std::max(first_notch, notch - 1)), step = half(notch);
  const std::int64_t larger = half(highest);

  BitWriter bits;
  std::vector<Triple> steps;
  std::size_t last_run = std::numeric_limits<std::size_t>::max();
  Triple previous{};
  for (std::size_t i = 0; i < n;) {
    int change = 0;  // of the notch, after this run
    if (notch < highest && i >= 1 && near(k[i], previous, larger))
      change = 1;
    else if (notch > lowest)
      change = -1;
    bool follows = i + 1 < n && near(k[i], k[i + 1], step);
    if (follows) std::swap(k[i], k[i + 1]);
    const Triple position = {k[i][0] - least[0], k[i][1] - least[1], k[i][2] - least[2]};
    if (full_bits > 0)
      bits.put(position, sizes, full_bits);
    else
      for (std::size_t d = 0; d < 3; ++d)
        bits.put(static_cast<std::uint32_t>(position[d]), std::bit_width(sizes[d]));
    previous = k[i++];

    steps.clear();
    if (!follows && change == -1) change = 0;
    while (follows && steps.size() < longest_run) {
      const Triple d = difference(k[i], previous, 0);
      if (change == -1 && d[0] * d[0] + d[1] * d[1] + d[2] * d[2] >= smaller * smaller) change = 0;
      steps.push_back(difference(k[i], previous, step));
      previous = k[i++];
      follows = i < n && near(k[i], previous, step);
    }
    const bool told = steps.size() != last_run || change != 0;
    bits.put(told ? 1 : 0, 1);
    if (told) {
      last_run = steps.size();
      bits.put(static_cast<std::uint32_t>(3 * static_cast<int>(steps.size()) + change + 1), 5);
    }
    for (const Triple& s : steps) bits.put(s, cube(notch), notch);
    if (change != 0) {
      notch += change;
      if (change < 0)
        step = smaller, smaller = half(notch - 1);
      else
        smaller = step, step = half(notch);
    }
  }
  out.bits = bits.finish();
  return out;
}

std::vector<Vec3> unpack(const Packed& packed, std::size_t n_atoms) {
  Sizes sizes;
  for (std::size_t d = 0; d < 3; ++d) {
    const std::int64_t extent = std::int64_t{packed.greatest[d]} - packed.least[d];
    if (extent < 0 || extent >= most) throw Unpackable("the bounds of positions are no bounds", 0);
    sizes[d] = static_cast<std::uint32_t>(extent + 1);
  }
  if (!(packed.precision > 0) || !std::isfinite(packed.precision))
    throw Unpackable(fmt::format("a precision of {}", packed.precision), 0);
  // A full position takes at least one bit and the one after it, a short step nine.
  if (n_atoms / 4 > packed.bits.size())
    throw Unpackable(fmt::format("{} atoms in {} bytes", n_atoms, packed.bits.size()), 0);
  const int full_bits = joined(sizes) ? bit_width(Wide{sizes[0]} * sizes[1] * sizes[2]) : 0;

  std::vector<Vec3> x(n_atoms);
  BitReader bits(packed.bits);
  std::size_t i = 0;
  const auto emit = [&](const Triple& k) {
    for (std::size_t d = 0; d < 3; ++d)
      x[i][d] = static_cast<double>(k[d]) / static_cast<double>(packed.precision);
    ++i;
  };
  int notch = packed.notch;
  std::size_t run = 0;
  while (i < n_atoms) {
    if (notch < first_notch || notch > last_notch)
      throw Unpackable(fmt::format("a short step of size {}, sizes are {} to {}", notch,
                                   first_notch, last_notch),
                       bits.at());
    Triple previous;
    if (full_bits > 0)
      previous = bits.get(sizes, full_bits);
    else
      for (std::size_t d = 0; d < 3; ++d) previous[d] = bits.get(std::bit_width(sizes[d]));
    for (std::size_t d = 0; d < 3; ++d) previous[d] += packed.least[d];
    int change = 0;
    if (bits.get(1)) {
      const std::uint32_t told = bits.get(5);
      run = told / 3;
      change = static_cast<int>(told % 3) - 1;
    }
    if (run > n_atoms - i - 1)
      throw Unpackable("a run of short steps goes beyond the last atom", bits.at());
    if (run == 0) emit(previous);
    for (std::size_t r = 0; r < run; ++r) {
      const Triple s = bits.get(cube(notch), notch);
      const Triple k = difference(s, {-previous[0], -previous[1], -previous[2]}, -half(notch));
      emit(k);
      if (r == 0) emit(previous);  // the first two had changed places
      previous = k;
    }
    notch += change;
  }
  return x;
}

}  // namespace tessera::molecular::xtc
