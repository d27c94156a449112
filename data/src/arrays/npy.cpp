// SPDX-License-Identifier: Apache-2.0
#include "arrays/npy.h"

#include "tessera/data/diagnostic.h"
#include "tessera/data/text_reader.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <memory>
#include <utility>

namespace tessera::data {
namespace {

constexpr std::pair<const char*, Stored> kNpyTypes[] = {
    {"b1", Stored::boolean}, {"i1", Stored::i8},   {"i2", Stored::i16}, {"i4", Stored::i32},
    {"i8", Stored::i64},     {"u1", Stored::u8},   {"u2", Stored::u16}, {"u4", Stored::u32},
    {"u8", Stored::u64},     {"f2", Stored::f16},  {"f4", Stored::f32}, {"f8", Stored::f64},
    {"c8", Stored::c64},     {"c16", Stored::c128}};

Stored stored_type(const NpyHeader& h) {
  const std::string code = h.dtype.substr(1);
  return std::ranges::find_if(kNpyTypes, [&](const auto& t) { return code == t.first; })->second;
}

[[noreturn]] void refuse_npy(const BinaryInput& file, std::uint64_t byte, std::string why) {
  throw InputError(Diagnostic{
      .number = 431, .place = {.file = file.name(), .byte = byte}, .message = std::move(why)});
}

}  // namespace

NpyInput::NpyInput(std::string file, std::uint64_t size,
                   std::function<void(void* to, std::size_t n)> next,
                   std::function<void(std::uint64_t byte, const std::string& why)> refuse,
                   NpyTypes types)
    : next_(std::move(next)),
      refuse_(std::move(refuse)),
      head_(static_cast<std::size_t>(std::min<std::uint64_t>(size, kNpyMaxHeader + 12)), '\0') {
  next_(head_.data(), head_.size());
  try {
    header_ = parse_npy_header(std::as_bytes(std::span(head_)), size, file, types);
  } catch (const NpyError& e) {
    refuse_(e.byte, e.why);
  }
}

Stored NpyInput::stored() const { return stored_type(header_); }
std::uint64_t NpyInput::bytes() const { return widened_bytes(stored_type(header_), shape()); }

Tensor NpyInput::values() {
  std::size_t at = header_.data_offset;
  const auto next = [&](void* to, std::size_t n) {
    const std::size_t known = std::min(n, head_.size() - at);
    std::memcpy(to, head_.data() + at, known);
    at += known;
    if (n > known) next_(static_cast<char*>(to) + known, n - known);
  };
  const auto refuse = [&](const std::string& why) { refuse_(header_.data_offset, why); };
  return read_elements(stored_type(header_), shape(), {next, refuse},
                       {header_.big_endian(), header_.fortran_order});
}

NpyInput npy_input(const BinaryInput& file, NpyTypes types) {
  const auto next = [&file, at = std::uint64_t{0}](void* to, std::size_t n) mutable {
    if (!file.read(at, to, n)) refuse_npy(file, at, "the file became shorter while it was read");
    at += n;
  };
  const auto refuse = [&file](std::uint64_t byte, const std::string& why) {
    refuse_npy(file, byte, why);
  };
  return {file.name(), file.size(), next, refuse, types};
}

NpyInput npy_input(const BinaryInput& file, const ZipMember& member, ZipStream& stream,
                   NpyTypes types) {
  const auto next = [&stream](void* to, std::size_t n) { stream.next(to, n); };
  const auto refuse = [&file, &member](std::uint64_t byte, const std::string& why) {
    const std::string of_member = "member " + shown(member.name);
    if (member.deflated)
      refuse_npy(file, member.data,
                 of_member + ", byte " + std::to_string(byte) + " of what it unpacks to: " + why);
    refuse_npy(file, member.data + byte, of_member + ": " + why);
  };
  return {member.name, member.size, next, refuse, types};
}

std::string npy_head(const Type& type) {
  const auto* code =
      std::ranges::find(kNpyTypes, stored_as(type.dtype), &std::pair<const char*, Stored>::second);
  NpyHeader h;
  h.dtype = (size_of(type.dtype) == 1 ? "|" : "<") + std::string(code->first);
  for (const Index n : type.shape) h.shape.push_back(static_cast<std::size_t>(n));
  return npy_header_bytes(h);
}

}  // namespace tessera::data
