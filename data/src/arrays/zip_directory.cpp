// SPDX-License-Identifier: Apache-2.0
#include "arrays/zip.h"
#include "files/utf8.h"
#include "tessera/data/diagnostic.h"
#include "tessera/data/text_reader.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <set>

namespace tessera::data {
namespace {

constexpr std::uint64_t kDeflateAtMost = 1032;  // 258 bytes by two codes of one bit
constexpr std::uint64_t kMostDirectory = std::uint64_t{1} << 28;
constexpr std::uint32_t kIn64 = 0xffffffff;  // the number stands in the ZIP64 field
constexpr std::uint16_t kEncrypted = 1 << 0, kDescriptor = 1 << 3, kPatch = 1 << 5,
                        kStrongly = 1 << 6, kMasked = 1 << 13;

template <class T>
T number_at(std::string_view bytes, std::size_t at) {
  T v;
  std::memcpy(&v, bytes.data() + at, sizeof v);
  return v;
}

/// What is read of an archive, and where it goes wrong.
struct Archive {
  const BinaryInput& file;
  [[noreturn]] void refuse(std::uint64_t byte, std::string what) const {
    throw InputError(Diagnostic{
        .number = 437, .place = {.file = file.name(), .byte = byte}, .message = std::move(what)});
  }
  std::string bytes(std::uint64_t at, std::uint64_t n, const std::string& what) const {
    if (at > file.size() || n > file.size() - at)
      refuse(std::min(at, file.size()), what + " goes beyond the end of the file");
    std::string out(static_cast<std::size_t>(n), '\0');
    if (!file.read(at, out.data(), out.size()))
      refuse(at, "the file became shorter while it was read");
    return out;
  }
};

struct Directory {
  std::uint64_t begin = 0, size = 0, members = 0;
};

/// Fields of 64 bits for those of the end record that are full.
Directory directory_of_64(const Archive& a, std::uint64_t locator_at, std::string_view locator,
                          const Directory& short_fields) {
  const auto at = number_at<std::uint64_t>(locator, 8);
  if (number_at<std::uint32_t>(locator, 4) != 0 || number_at<std::uint32_t>(locator, 16) > 1)
    a.refuse(locator_at, "an archive in several parts is not read");
  if (at > locator_at || locator_at - at < kZip64EndBytes)
    a.refuse(locator_at, "the ZIP64 end record cannot be at byte " + std::to_string(at));
  const std::string record = a.bytes(at, kZip64EndBytes, "the ZIP64 end record");
  if (number_at<std::uint32_t>(record, 0) != kZip64End ||
      number_at<std::uint64_t>(record, 4) != locator_at - at - 12)
    a.refuse(at, "expected a ZIP64 end record that reaches to its locator");
  const Directory d{number_at<std::uint64_t>(record, 48), number_at<std::uint64_t>(record, 40),
                    number_at<std::uint64_t>(record, 32)};
  if (number_at<std::uint32_t>(record, 16) != 0 || number_at<std::uint32_t>(record, 20) != 0 ||
      number_at<std::uint64_t>(record, 24) != d.members)
    a.refuse(at, "an archive in several parts is not read");
  if ((short_fields.begin != kIn64 && short_fields.begin != d.begin) ||
      (short_fields.size != kIn64 && short_fields.size != d.size) ||
      (short_fields.members != 0xffff && short_fields.members != d.members))
    a.refuse(at, "the end records of 32 and of 64 bits say different things");
  if (d.begin > at || d.size != at - d.begin)
    a.refuse(at, "the directory does not reach from where it begins to the end record");
  return d;
}

Directory find_directory(const Archive& a) {
  const std::uint64_t size = a.file.size(),
                      tail_at = size - std::min<std::uint64_t>(size, kZipEndBytes + 0xffff);
  const std::string tail = a.bytes(tail_at, size - tail_at, "the end");
  const std::size_t found = tail.size() < kZipEndBytes
                                ? std::string::npos
                                : tail.rfind("PK\x05\x06", tail.size() - kZipEndBytes);
  if (found == std::string::npos)
    a.refuse(size, "no end record of a ZIP archive: not an .npz file, or cut off");
  const std::uint64_t end_at = tail_at + found;
  const std::string_view end = std::string_view(tail).substr(found);
  const auto u16 = [&](std::size_t at) { return number_at<std::uint16_t>(end, at); };
  if (u16(20) != end.size() - kZipEndBytes)
    a.refuse(end_at, "a comment of " + std::to_string(u16(20)) + " bytes, but " +
                         std::to_string(end.size() - kZipEndBytes) + " follow the end record");
  if (u16(4) != 0 || u16(6) != 0 || u16(8) != u16(10))
    a.refuse(end_at, "an archive in several parts is not read");
  const Directory d{number_at<std::uint32_t>(end, 16), number_at<std::uint32_t>(end, 12), u16(10)};
  if (end_at >= kZip64LocatorBytes) {
    const std::uint64_t at = end_at - kZip64LocatorBytes;
    const std::string locator = a.bytes(at, kZip64LocatorBytes, "the end");
    if (number_at<std::uint32_t>(locator, 0) == kZip64Locator)
      return directory_of_64(a, at, locator, d);
  }
  if (d.begin > end_at || d.size != end_at - d.begin)
    a.refuse(end_at, "the directory, " + std::to_string(d.size) + " bytes from byte " +
                         std::to_string(d.begin) + " on, does not reach to the end record");
  return d;
}

/// The ZIP64 field among extra ones; nothing: there is none.
std::optional<std::string_view> find_extra_64(const Archive& a, std::uint64_t at,
                                              std::string_view extra) {
  std::optional<std::string_view> out;
  for (std::size_t i = 0; i < extra.size();) {
    const std::size_t left = extra.size() - i;
    if (left < 4 || number_at<std::uint16_t>(extra, i + 2) > left - 4)
      a.refuse(at, "an extra field goes beyond its place");
    const std::size_t length = number_at<std::uint16_t>(extra, i + 2);
    if (number_at<std::uint16_t>(extra, i) == kZip64Extra) {
      if (out) a.refuse(at, "two ZIP64 fields");
      out = extra.substr(i + 4, length);
    }
    i += 4 + length;
  }
  return out;
}

struct Entry {
  ZipMember member;
  std::uint16_t flags = 0;
  std::uint64_t at = 0;   // byte of the directory
  std::uint64_t end = 0;  // byte behind its data and descriptor
  std::uint16_t method = 0;
};

/// The entry of the directory at `i`, which moves behind it.
Entry read_central(const Archive& a, std::uint64_t begin, std::string_view all, std::size_t& i) {
  Entry e{.at = begin + i};
  const std::string_view bytes = all.substr(i);
  const auto u16 = [&](std::size_t at) { return number_at<std::uint16_t>(bytes, at); };
  const auto u32 = [&](std::size_t at) { return number_at<std::uint32_t>(bytes, at); };
  if (bytes.size() < kZipCentralBytes || u32(0) != kZipCentral)
    a.refuse(e.at, "expected an entry of the directory");
  const std::size_t n_name = u16(28), n_extra = u16(30), n_comment = u16(32);
  if (bytes.size() - kZipCentralBytes < n_name + n_extra + n_comment)
    a.refuse(e.at, "an entry goes beyond the directory");
  i += kZipCentralBytes + n_name + n_extra + n_comment;
  ZipMember& m = e.member;
  m.name = bytes.substr(kZipCentralBytes, n_name);
  m.crc = u32(16);
  m.packed = u32(20), m.size = u32(24), m.header = u32(42);
  e.flags = u16(8), e.method = u16(10);
  m.deflated = e.method == kZipDeflated;
  const auto refuse = [&](const std::string& what) {
    a.refuse(e.at, "member " + shown(m.name) + ": " + what);
  };
  if (const std::string fault = zip_name_fault(m.name); !fault.empty()) refuse(fault);
  if (!(e.flags & kZipUtf8) &&
      std::ranges::any_of(m.name, [](char c) { return static_cast<unsigned char>(c) > 0x7f; }))
    refuse("its name is not ASCII, and not marked as UTF-8");
  if (e.flags & (kEncrypted | kStrongly | kMasked)) refuse("encrypted members are not read");
  if (e.flags & kPatch) refuse("patches are not read");
  if (e.method != 0 && !m.deflated)
    refuse("packed by method " + std::to_string(e.method) +
           ", expected 0 (stored) or 8 (deflated)");
  if (u16(34) != 0) refuse("an archive in several parts is not read");
  std::string_view wide =
      find_extra_64(a, e.at, bytes.substr(kZipCentralBytes + n_name, n_extra)).value_or("");
  for (std::uint64_t* field : {&m.size, &m.packed, &m.header}) {
    if (*field != kIn64) continue;
    if (wide.size() < 8) refuse("a number of 64 bits is missing");
    *field = number_at<std::uint64_t>(wide, 0);
    wide.remove_prefix(8);
  }
  if (!m.deflated && m.packed != m.size)
    refuse("stored, but its sizes in and out of the file differ");
  if (m.deflated && m.size / kDeflateAtMost > m.packed)
    refuse(std::to_string(m.packed) + " bytes are to become " + std::to_string(m.size) +
           ", and deflate reaches at most 1032 times as many");
  return e;
}

/// Whether a data descriptor stands at `at` that says what the directory does; its bytes, or 0.
std::size_t descriptor_bytes(const Archive& a, std::uint64_t at, const ZipMember& m, bool wide) {
  const std::size_t sizes = wide ? 16 : 8;
  for (const std::size_t mark : {std::size_t{4}, std::size_t{0}}) {
    std::string bytes(mark + 4 + sizes, '\0');
    if (!a.file.read(at, bytes.data(), bytes.size())) continue;
    if (mark > 0 && number_at<std::uint32_t>(bytes, 0) != kZipDescriptor) continue;
    const std::size_t i = mark + 4;
    const std::uint64_t packed =
        wide ? number_at<std::uint64_t>(bytes, i) : number_at<std::uint32_t>(bytes, i);
    const std::uint64_t size =
        wide ? number_at<std::uint64_t>(bytes, i + 8) : number_at<std::uint32_t>(bytes, i + 4);
    if (number_at<std::uint32_t>(bytes, mark) == m.crc && packed == m.packed && size == m.size)
      return bytes.size();
  }
  return 0;
}

/// Finds the bytes of a member behind its local header, and compares that with the directory.
void read_local(const Archive& a, Entry& e) {
  ZipMember& m = e.member;
  const auto refuse = [&](const std::string& what) {
    a.refuse(std::min(m.header, a.file.size()), "member " + shown(m.name) + ": " + what);
  };
  const std::string head = a.bytes(m.header, kZipLocalBytes, "member " + shown(m.name));
  const auto u16 = [&](std::size_t at) { return number_at<std::uint16_t>(head, at); };
  if (number_at<std::uint32_t>(head, 0) != kZipLocal) refuse("expected its local header here");
  const std::size_t n_name = u16(26), n_extra = u16(28);
  const std::string rest =
      a.bytes(m.header + kZipLocalBytes, n_name + n_extra, "member " + shown(m.name));
  if (std::string_view(rest).substr(0, n_name) != m.name)
    refuse("its local header calls it " + shown(std::string_view(rest).substr(0, n_name)));
  if (u16(6) != e.flags || u16(8) != e.method)
    refuse("its local header has other flags or another method than the directory");
  std::uint64_t packed = number_at<std::uint32_t>(head, 18),
                size = number_at<std::uint32_t>(head, 22);
  const auto wide = find_extra_64(a, m.header, std::string_view(rest).substr(n_name));
  if (wide && size == kIn64 && packed == kIn64) {
    if (wide->size() < 16) refuse("a number of 64 bits is missing");
    size = number_at<std::uint64_t>(*wide, 0), packed = number_at<std::uint64_t>(*wide, 8);
  }
  const auto crc = number_at<std::uint32_t>(head, 14);
  const bool later = e.flags & kDescriptor;  // then the numbers here may be 0
  if (!(crc == m.crc || (later && crc == 0)) || !(size == m.size || (later && size == 0)) ||
      !(packed == m.packed || (later && packed == 0)))
    refuse("its local header has other sizes or another checksum than the directory");
  m.data = m.header + kZipLocalBytes + n_name + n_extra;
  if (m.packed > a.file.size() - m.data) refuse("its bytes go beyond the end of the file");
  e.end = m.data + m.packed;
  if (!later) return;
  const std::size_t descriptor = descriptor_bytes(a, e.end, m, wide.has_value());
  if (descriptor == 0) refuse("no data descriptor behind it says what the directory says");
  e.end += descriptor;
}

}  // namespace

std::string zip_name_fault(std::string_view name) {
  if (name.empty()) return "a member without a name";
  for (std::size_t i = 0; i < name.size();) {
    const std::size_t n = detail::utf8_length(name, i);
    if (n == 0) return "its name is not UTF-8";
    if (static_cast<unsigned char>(name[i]) < 0x20 || name[i] == 0x7f)
      return "a control character in its name";
    i += n;
  }
  if (name.front() == '/' || name.find('\\') != std::string_view::npos ||
      ("/" + std::string(name) + "/").find("/../") != std::string::npos)
    return "its name leads out of a folder (it begins with '/', or has '\\' or '..')";
  return "";
}

std::vector<ZipMember> read_zip_directory(const BinaryInput& file) {
  const Archive a{file};
  const Directory d = find_directory(a);
  if (d.members > d.size / kZipCentralBytes)
    a.refuse(d.begin, std::to_string(d.members) + " members do not fit into a directory of " +
                          std::to_string(d.size) + " bytes");
  if (d.size > kMostDirectory)
    a.refuse(d.begin, "a directory of " + std::to_string(d.size) + " bytes, expected at most " +
                          std::to_string(kMostDirectory));
  const std::string all = a.bytes(d.begin, d.size, "the directory");
  std::vector<Entry> entries;
  std::set<std::string_view> names;
  std::size_t i = 0;
  entries.reserve(static_cast<std::size_t>(d.members));
  for (std::uint64_t k = 0; k < d.members; ++k) {
    entries.push_back(read_central(a, d.begin, all, i));
    Entry& e = entries.back();
    if (!names.insert(e.member.name).second)
      a.refuse(e.at, "two members are called " + shown(e.member.name));
    read_local(a, e);
  }
  if (i != all.size())
    a.refuse(d.begin + i, std::to_string(all.size() - i) + " bytes stand behind the " +
                              std::to_string(d.members) + " entries of the directory");
  std::vector<const Entry*> in_order;
  for (const Entry& e : entries) in_order.push_back(&e);
  std::ranges::sort(in_order, {}, [](const Entry* e) { return e->member.header; });
  for (std::size_t k = 0; k < in_order.size(); ++k) {
    const Entry& e = *in_order[k];
    const bool last = k + 1 == in_order.size();
    if (e.end > (last ? d.begin : in_order[k + 1]->member.header))
      a.refuse(e.member.header,
               "member " + shown(e.member.name) + " overlaps " +
                   (last ? "the directory" : "member " + shown(in_order[k + 1]->member.name)));
  }
  std::vector<ZipMember> out;
  for (Entry& e : entries) out.push_back(std::move(e.member));
  return out;
}

}  // namespace tessera::data
