// SPDX-License-Identifier: Apache-2.0
#include "arrays/zip.h"
#include "tessera/autodiff/error.h"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <new>

namespace tessera::data {
namespace {

constexpr std::uint16_t kVersion = 45;           // that has ZIP64
constexpr std::uint16_t kFirstDay = 1 << 5 | 1;  // 1 January 1980
constexpr std::uint16_t kUnix = 3 << 8;          // what the mode of the file means
constexpr std::uint32_t kMode = 0600u << 16;     // read and written by its owner
constexpr std::uint64_t kMost32 = 0xffffffff, kMost16 = 0xffff;

/// Little-endian numbers, one after the other.
struct Fields {
  std::string bytes;
  template <class T>
  void put(T v) {
    bytes.append(reinterpret_cast<const char*>(&v), sizeof v);
  }
  void u16(std::uint64_t v) { put(static_cast<std::uint16_t>(std::min(v, kMost16))); }
  void u32(std::uint64_t v) { put(static_cast<std::uint32_t>(std::min(v, kMost32))); }
  void u64(std::uint64_t v) { put(v); }
};

std::string deflate_all(std::span<const std::span<const std::byte>> pieces) {
  z_stream z{};
  if (::deflateInit2(&z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY) !=
      Z_OK)
    throw std::bad_alloc();
  std::string out;
  std::array<char, 1 << 16> room;
  const auto pump = [&](int flush) {
    do {
      z.next_out = reinterpret_cast<Bytef*>(room.data());
      z.avail_out = static_cast<uInt>(room.size());
      ::deflate(&z, flush);
      out.append(room.data(), room.size() - z.avail_out);
    } while (z.avail_out == 0);
  };
  for (std::span<const std::byte> piece : pieces)
    while (!piece.empty()) {
      const auto part = piece.first(std::min<std::size_t>(piece.size(), 1 << 30));
      z.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(part.data()));
      z.avail_in = static_cast<uInt>(part.size());
      pump(Z_NO_FLUSH);
      piece = piece.subspan(part.size());
    }
  pump(Z_FINISH);
  ::deflateEnd(&z);
  return out;
}

std::uint16_t flags_of(const std::string& name) {
  return std::ranges::any_of(name, [](char c) { return static_cast<unsigned char>(c) > 0x7f; })
             ? kZipUtf8
             : 0;
}

/// What local header and directory both say, up to the checksum.
void put_common(Fields& f, const ZipMember& m) {
  f.u16(kVersion), f.u16(flags_of(m.name)), f.u16(m.deflated ? kZipDeflated : 0);
  f.u16(0), f.u16(kFirstDay), f.u32(m.crc);
}

/// Those that 32 bits do not hold stand in the ZIP64 field.
std::string central_entry(const ZipMember& m) {
  Fields wide;
  for (const std::uint64_t v : {m.size, m.packed, m.header})
    if (v >= kMost32) wide.u64(v);
  Fields f;
  f.u32(kZipCentral), f.u16(kUnix | kVersion);
  put_common(f, m);
  f.u32(m.packed), f.u32(m.size), f.u16(m.name.size());
  f.u16(wide.bytes.empty() ? 0 : 4 + wide.bytes.size());
  f.u16(0), f.u16(0), f.u16(0), f.u32(kMode), f.u32(m.header);
  f.bytes += m.name;
  if (!wide.bytes.empty()) f.u16(kZip64Extra), f.u16(wide.bytes.size());
  return f.bytes + wide.bytes;
}

}  // namespace

void ZipWriter::write(std::string_view bytes) {
  file_.write(bytes.data(), bytes.size());
  at_ += bytes.size();
}

void ZipWriter::add(const std::string& name, std::span<const std::span<const std::byte>> pieces,
                    bool deflated) {
  ZipMember m{.name = name, .deflated = deflated, .header = at_};
  uLong crc = ::crc32(0, nullptr, 0);
  for (const auto piece : pieces) {
    if (piece.empty()) continue;
    crc = ::crc32_z(crc, reinterpret_cast<const Bytef*>(piece.data()), piece.size());
    m.size += piece.size();
  }
  m.crc = static_cast<std::uint32_t>(crc);
  const std::string packed = deflated ? deflate_all(pieces) : "";
  m.packed = deflated ? packed.size() : m.size;
  Fields f;  // its sizes in the ZIP64 field, whatever they are
  f.u32(kZipLocal);
  put_common(f, m);
  f.u32(kMost32), f.u32(kMost32), f.u16(name.size()), f.u16(20);
  f.bytes += name;
  f.u16(kZip64Extra), f.u16(16), f.u64(m.size), f.u64(m.packed);
  write(f.bytes);
  write(packed);
  if (!deflated)
    for (const auto piece : pieces)
      write({reinterpret_cast<const char*>(piece.data()), piece.size()});
  members_.push_back(std::move(m));
}

void ZipWriter::finish() {
  const std::uint64_t begin = at_;
  for (const ZipMember& m : members_) write(central_entry(m));
  const std::uint64_t size = at_ - begin, n = members_.size();
  Fields f;
  if (n >= kMost16 || begin >= kMost32 || size >= kMost32) {
    f.u32(kZip64End), f.u64(kZip64EndBytes - 12), f.u16(kVersion), f.u16(kVersion);
    f.u32(0), f.u32(0), f.u64(n), f.u64(n), f.u64(size), f.u64(begin);
    f.u32(kZip64Locator), f.u32(0), f.u64(at_), f.u32(1);
  }
  f.u32(kZipEnd), f.u16(0), f.u16(0), f.u16(n), f.u16(n), f.u32(size), f.u32(begin), f.u16(0);
  write(f.bytes);
}

}  // namespace tessera::data
