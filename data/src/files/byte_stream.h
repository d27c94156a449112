// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <bit>
#include <cstdint>
#include <cstring>
#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>

namespace tessera::data {

static_assert(std::endian::native == std::endian::little, "our binary formats are little-endian");

/// Numbers and counted texts, one after the other, into a sink.
struct ByteWriter {
  const std::function<void(const void*, std::size_t)>& sink;
  void bytes(const void* p, std::size_t n) { sink(p, n); }
  void u64(std::uint64_t v) { bytes(&v, sizeof v); }
  void u8(std::uint8_t v) { bytes(&v, 1); }
  void text(std::string_view t) {
    u64(t.size());
    bytes(t.data(), t.size());
  }
};

/// What a ByteReader throws; the one who called it knows the file.
struct BadBytes : std::runtime_error {
  BadBytes(const std::string& message, std::size_t byte) : std::runtime_error(message), at(byte) {}
  std::size_t at;
};

/// Reads what ByteWriter wrote. Every length is compared with what is left before anything is
/// allocated.
class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes) : bytes_(bytes) {}
  std::size_t at() const { return at_; }
  bool at_end() const { return at_ == bytes_.size(); }
  [[noreturn]] void fail(const std::string& message) const { throw BadBytes(message, at_); }
  std::string_view take(std::uint64_t n) {
    if (n > bytes_.size() - at_)
      fail("a length of " + std::to_string(n) + " bytes goes beyond the end");
    const std::string_view out = bytes_.substr(at_, static_cast<std::size_t>(n));
    at_ += out.size();
    return out;
  }
  template <class T>
  T number() {
    T v;
    std::memcpy(&v, take(sizeof v).data(), sizeof v);
    return v;
  }
  std::uint64_t u64() { return number<std::uint64_t>(); }
  std::uint8_t u8() { return number<std::uint8_t>(); }
  std::string text() { return std::string(take(u64())); }
  /// A count of things that take at least `smallest` bytes each.
  std::uint64_t count(std::uint64_t smallest) {
    const std::uint64_t n = u64();
    if (n > (bytes_.size() - at_) / smallest)
      fail("a count of " + std::to_string(n) + " goes beyond the end");
    return n;
  }
  /// A counted array of plain numbers, or a text.
  template <class Sequence>
  Sequence array() {
    using T = typename Sequence::value_type;
    const std::uint64_t n = count(sizeof(T));
    const std::string_view raw = take(n * sizeof(T));
    Sequence out(static_cast<std::size_t>(n), T{});
    if (n) std::memcpy(out.data(), raw.data(), raw.size());
    return out;
  }

 private:
  std::string_view bytes_;
  std::size_t at_ = 0;
};

}  // namespace tessera::data
