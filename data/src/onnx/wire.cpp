// SPDX-License-Identifier: Apache-2.0
#include "onnx/wire.h"

#include "tessera/data/diagnostic.h"

namespace tessera::data {

static_assert(std::endian::native == std::endian::little);

void refuse_onnx(const std::string& file, std::uint64_t byte, const std::string& what) {
  throw InputError(
      Diagnostic{.number = 439, .place = {.file = file, .byte = byte}, .message = what});
}

void WireBudget::spend(std::uint64_t bytes, std::uint64_t at) {
  if (bytes > left) refuse_onnx(file, at, "so many parts are not in files of this size");
  left -= bytes;
}

void WireReader::refuse(const std::string& what) const { refuse_onnx(budget_->file, byte(), what); }

std::uint64_t WireReader::varint(std::size_t& at) const {
  std::uint64_t v = 0;
  for (int shift = 0; shift < 70; shift += 7) {
    if (at == bytes_.size()) refuse("a number ends behind the message that it is in");
    const std::uint64_t b = static_cast<unsigned char>(bytes_[at++]);
    if (shift == 63 && b > 1) break;
    v |= (b & 127) << shift;
    if (b < 128) return v;
  }
  refuse("a number has more than 64 bits");
}

bool WireReader::next() {
  key_ = at_;
  if (at_ == bytes_.size()) return false;
  const std::uint64_t key = varint(at_);
  if (key >> 3 == 0 || key >> 3 > 0x1fffffff)
    refuse("expected the number of a field, found " + std::to_string(key >> 3));
  field_ = static_cast<std::uint32_t>(key >> 3);
  kind_ = static_cast<Kind>(key & 7);
  switch (kind_) {
    case Kind::number:
      number_ = varint(at_);
      return true;
    case Kind::bytes:
      number_ = varint(at_);
      break;
    case Kind::four_bytes:
      number_ = 4;
      break;
    case Kind::eight_bytes:
      number_ = 8;
      break;
    default:
      refuse("field " + std::to_string(field_) + " is of kind " + std::to_string(key & 7) +
             ", which these messages do not have");
  }
  if (number_ > bytes_.size() - at_)
    refuse("field " + std::to_string(field_) + " has " + std::to_string(number_) +
           " bytes, its message " + std::to_string(bytes_.size() - at_) + " more");
  value_ = at_, size_ = static_cast<std::size_t>(number_);
  at_ += size_;
  return true;
}

void WireReader::expect(Kind kind, const char* what) const {
  if (kind_ != kind)
    refuse("expected field " + std::to_string(field_) + " to be " + what + ", found kind " +
           std::to_string(static_cast<int>(kind_)));
}

std::int64_t WireReader::integer() const {
  expect(Kind::number, "a number");
  return static_cast<std::int64_t>(number_);
}
double WireReader::real() const {
  expect(Kind::four_bytes, "a float");
  float v = 0;
  std::memcpy(&v, bytes_.data() + value_, 4);
  return static_cast<double>(v);
}
std::string_view WireReader::bytes() const {
  expect(Kind::bytes, "bytes");
  return bytes_.substr(value_, size_);
}
WireReader WireReader::message() const { return {bytes(), begin_ + value_, *budget_}; }

void WireReader::each_integer(const std::function<void(std::int64_t)>& f) const {
  if (kind_ != Kind::bytes) return f(integer());
  const WireReader packed = message();
  for (std::size_t at = 0; at < size_;) f(static_cast<std::int64_t>(packed.varint(at)));
}
void WireReader::each_real(const std::function<void(double)>& f) const {
  if (kind_ != Kind::bytes) return f(real());
  if (size_ % 4 != 0) refuse("floats of " + std::to_string(size_) + " bytes");
  for (std::size_t k = 0; k < size_; k += 4) {
    float v = 0;
    std::memcpy(&v, bytes_.data() + value_ + k, 4);
    f(static_cast<double>(v));
  }
}

void WireWriter::varint(std::uint64_t v) {
  for (; v >= 128; v >>= 7) out_ += static_cast<char>((v & 127) | 128);
  out_ += static_cast<char>(v);
}
void WireWriter::integer(std::uint32_t field, std::int64_t v) {
  varint(field << 3);
  varint(static_cast<std::uint64_t>(v));
}
void WireWriter::real(std::uint32_t field, float v) {
  varint(field << 3 | 5);
  char b[4];
  std::memcpy(b, &v, 4);
  out_.append(b, 4);
}
void WireWriter::bytes(std::uint32_t field, std::string_view v) {
  varint(field << 3 | 2);
  varint(v.size());
  out_ += v;
}
void WireWriter::integers(std::uint32_t field, const std::vector<std::int64_t>& v) {
  for (const std::int64_t i : v) integer(field, i);
}

}  // namespace tessera::data
