// SPDX-License-Identifier: Apache-2.0
//
// Messages as Protocol Buffers write them: fields one after the other, each a key 8 n + kind and a
// value. Numbers are 7 bits a byte, the lowest first, with the top bit set in all bytes but the
// last.
#pragma once
#include <bit>
#include <cstdint>
#include <cstring>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace tessera::data {

/// What reading has spent of the memory that a file of its size may take.
struct WireBudget {
  std::string file;
  std::uint64_t left = 0;
  void spend(std::uint64_t bytes, std::uint64_t at);
};
/// Throws InputError E0439 at that byte.
[[noreturn]] void refuse_onnx(const std::string& file, std::uint64_t byte, const std::string& what);

/// The fields of one message, one after the other. A view: the bytes outlive it.
class WireReader {
 public:
  enum class Kind : std::uint8_t { number = 0, eight_bytes = 1, bytes = 2, four_bytes = 5 };

  WireReader(std::string_view bytes, std::uint64_t begin, WireBudget& budget)
      : bytes_(bytes), begin_(begin), budget_(&budget) {}

  /// Goes to the next field; false at the end.
  bool next();
  std::uint32_t field() const { return field_; }
  Kind kind() const { return kind_; }
  std::uint64_t byte() const { return begin_ + key_; }  ///< of the file, where the field begins
  WireBudget& budget() const { return *budget_; }

  // Values of the field at hand; another kind than asked for is refused.
  std::int64_t integer() const;
  double real() const;  ///< a float of 4 bytes
  std::string_view bytes() const;
  std::string text() const { return std::string(bytes()); }
  WireReader message() const;
  /// Repeated numbers: this one, or all of a packed field.
  void each_integer(const std::function<void(std::int64_t)>& f) const;
  void each_real(const std::function<void(double)>& f) const;
  [[noreturn]] void refuse(const std::string& what) const;

 private:
  std::uint64_t varint(std::size_t& at) const;
  void expect(Kind kind, const char* what) const;

  std::string_view bytes_;
  std::uint64_t begin_;
  WireBudget* budget_;
  std::size_t at_ = 0, key_ = 0;
  std::uint32_t field_ = 0;
  Kind kind_ = Kind::number;
  std::uint64_t number_ = 0;
  std::size_t value_ = 0, size_ = 0;
};

/// Writes fields behind each other.
class WireWriter {
 public:
  void integer(std::uint32_t field, std::int64_t v);
  void real(std::uint32_t field, float v);
  void bytes(std::uint32_t field, std::string_view v);
  void integers(std::uint32_t field, const std::vector<std::int64_t>& v);  ///< one key each
  const std::string& content() const { return out_; }

 private:
  void varint(std::uint64_t v);
  std::string out_;
};

}  // namespace tessera::data
