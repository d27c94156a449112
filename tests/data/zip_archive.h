// SPDX-License-Identifier: Apache-2.0
// ZIP archives made by hand, honest and not (PKWARE APPNOTE 6.3, sections 4.3 to 4.5).
#pragma once
#include <zlib.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

namespace tessera::testing {

/// A raw deflated stream.
inline std::string deflated(const std::string& bytes) {
  z_stream z{};
  ::deflateInit2(&z, 9, Z_DEFLATED, -MAX_WBITS, 9, Z_DEFAULT_STRATEGY);
  std::string out(::deflateBound(&z, bytes.size()), '\0');
  z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  z.avail_in = static_cast<uInt>(bytes.size());
  z.next_out = reinterpret_cast<Bytef*>(out.data());
  z.avail_out = static_cast<uInt>(out.size());
  ::deflate(&z, Z_FINISH);
  out.resize(z.total_out);
  ::deflateEnd(&z);
  return out;
}

class ZipArchive {
 public:
  struct Part {
    std::string name, data;
    std::uint16_t method = 0, flags = 0;
    bool packed = false;                            ///< `data` is a stream already
    bool wide = false;                              ///< sizes in the local ZIP64 field
    std::optional<std::uint64_t> declared = {};     ///< its size, said everywhere
    std::optional<std::uint64_t> packed_size = {};  ///< and that in the file
    bool central64 = false;  ///< all numbers of the directory in ZIP64 fields
    int fields64 = 3;        ///< so many of them are there
  };
  /// By how much the end record of 64 bits and its locator lie, and what they say.
  struct Wide64 {
    std::int64_t at = 0;
    std::uint32_t parts = 1;
    std::uint64_t length = 44, members = 1;
    std::int64_t size = 0, begin = 0;
    std::uint16_t short_members = 0xffff;
  };

  explicit ZipArchive(std::string before = "") : locals_(std::move(before)) {}

  void add(const Part& p) {
    const std::uint64_t at = locals_.size();
    const std::string stream = p.method == 8 && !p.packed ? deflated(p.data) : p.data;
    name_again(p, at);
    const bool later = p.flags & 8, wide = p.wide || p.central64;
    const auto [size, in_file] = sizes(p);
    put(locals_, "PK\3\4"), u16(locals_, 45), u16(locals_, p.flags), u16(locals_, p.method);
    u32(locals_, 0), u32(locals_, later ? 0 : crc(p));
    u32(locals_, wide ? ~0U : later ? 0 : in_file), u32(locals_, wide ? ~0U : later ? 0 : size);
    u16(locals_, p.name.size()), u16(locals_, wide ? 20 : 0), put(locals_, p.name);
    if (wide) u16(locals_, 1), u16(locals_, 16), u64(locals_, size), u64(locals_, in_file);
    put(locals_, stream);
    if (later) u32(locals_, crc(p)), u32(locals_, in_file), u32(locals_, size);
  }
  /// An entry of the directory for bytes that are there already.
  void name_again(const Part& p, std::uint64_t at) {
    const auto [size, in_file] = sizes(p);
    std::string& c = central_;
    const bool w = p.central64;
    ++members_, has64_ |= w;
    put(c, "PK\1\2"), u16(c, 45), u16(c, 45), u16(c, p.flags), u16(c, p.method), u32(c, 0);
    u32(c, crc(p)), u32(c, w ? ~0U : in_file), u32(c, w ? ~0U : size), u16(c, p.name.size());
    u16(c, w ? 4 + 8 * p.fields64 : 0), u16(c, 0), u16(c, 0), u16(c, 0), u32(c, 0);
    u32(c, w ? ~0U : at), put(c, p.name);
    if (!w) return;
    u16(c, 1), u16(c, 8 * p.fields64);
    const std::uint64_t fields[] = {size, in_file, at};
    for (int i = 0; i < p.fields64; ++i) u64(c, fields[i]);
  }

  const std::string& locals() const { return locals_; }
  /// Directory and end, where so many more bytes stand before them.
  std::string directory(std::uint64_t more = 0) const {
    const std::uint64_t begin = locals_.size() + more, end = begin + central_.size();
    std::string out = central_;
    if (has64_) {
      put(out, "PK\6\6"), u64(out, wide.length), u16(out, 45), u16(out, 45), u32(out, 0);
      u32(out, 0), u64(out, members_), u64(out, wide.members);
      u64(out, central_.size() + static_cast<std::uint64_t>(wide.size));
      u64(out, begin + static_cast<std::uint64_t>(wide.begin));
      put(out, "PK\6\7"), u32(out, 0),
          u64(out, wide.at > 0 ? ~std::uint64_t{0} : end - static_cast<std::uint64_t>(wide.at));
      u32(out, wide.parts);
    }
    put(out, "PK\5\6"), u32(out, 0);
    u16(out, has64_ ? wide.short_members : members_),
        u16(out, has64_ ? wide.short_members : members_);
    u32(out, has64_ ? ~0U : central_.size()), u32(out, has64_ ? ~0U : begin), u16(out, 0);
    return out;
  }
  std::string bytes() const { return locals_ + directory(); }

  Wide64 wide;

 private:
  static std::uint32_t crc(const Part& p) {
    return static_cast<std::uint32_t>(
        ::crc32_z(0, reinterpret_cast<const Bytef*>(p.data.data()), p.data.size()));
  }
  static std::pair<std::uint64_t, std::uint64_t> sizes(const Part& p) {
    const std::uint64_t stream =
        p.method == 8 && !p.packed ? deflated(p.data).size() : p.data.size();
    const std::uint64_t size = p.declared.value_or(p.data.size());
    return {size, p.packed_size.value_or(p.method == 0 ? size : stream)};
  }
  static void put(std::string& to, std::string_view bytes) { to += bytes; }
  template <class T>
  static void number(std::string& to, T v) {
    to.append(reinterpret_cast<const char*>(&v), sizeof v);
  }
  static void u16(std::string& to, std::uint64_t v) { number(to, static_cast<std::uint16_t>(v)); }
  static void u32(std::string& to, std::uint64_t v) { number(to, static_cast<std::uint32_t>(v)); }
  static void u64(std::string& to, std::uint64_t v) { number(to, v); }

  std::string locals_, central_;
  std::uint64_t members_ = 0;
  bool has64_ = false;
};

}  // namespace tessera::testing
