// SPDX-License-Identifier: Apache-2.0
// Reading HDF5 from anyone: what can be told from the first bytes is told here, the rest happens in
// a guarded child (hdf5_checked.cpp), whose answer comes back as bytes and is checked again.
#include "files/byte_stream.h"
#include "files/guarded_child.h"
#include "files/regular_file.h"
#include "hdf5/hdf5_checked.h"
#include "tessera/data/diagnostic.h"
#include "tessera/data/memory.h"

#include <array>

namespace tessera::data {
namespace {

using Sink = std::function<void(const void*, std::size_t)>;
constexpr std::string_view kHdf5Signature("\x89HDF\r\n\x1a\n", 8);

/// Finds the superblock (at 0, 512, 1024, ...; HDF5 file format, section II) and what it says of
/// writers.
void check_superblock(const std::filesystem::path& file, const RegularFile& opened,
                      bool being_written) {
  const auto refuse = [&](int number, std::uint64_t byte, std::string message, std::string hint) {
    throw InputError(Diagnostic{.number = number,
                                .place = {.file = file.string(), .byte = byte},
                                .message = std::move(message),
                                .hint = std::move(hint)});
  };
  std::string head(1 << 16, '\0');
  head.resize(opened.read(0, head.data(), head.size()));
  std::size_t at = 0;
  while (at < head.size() && !std::string_view(head).substr(at).starts_with(kHdf5Signature))
    at = at ? 2 * at : 512;
  if (at >= head.size())
    refuse(420, 0,
           head.empty() ? "is empty, expected an HDF5 file"
                        : "not an HDF5 file (its signature is not there)",
           "");
  constexpr std::size_t version_at = 8, flags_at = 11;
  constexpr int for_writing = 1, with_readers = 4;
  const int flags = at + flags_at < head.size() && head[at + version_at] == 3
                        ? head[at + flags_at] & (for_writing | with_readers)
                        : 0;
  if (flags != 0 && !(being_written && (flags & with_readers)))
    refuse(422, at + flags_at,
           flags & with_readers ? "marked as open for writing with readers (SWMR)"
                                : "marked as open for writing",
           "its writer is still at work or was killed; if it is gone, `h5clear -s FILE` removes "
           "the mark");
}

std::uint64_t budget_of(const RegularFile& file, const H5Limits& limits) {
  return limits.max_bytes ? limits.max_bytes : 4 * file.size_now() + (std::uint64_t{64} << 20);
}

ChildLimits child_limits(std::uint64_t budget) {
  return {.memory_bytes = 3 * budget + (std::uint64_t{256} << 20)};
}

void put_shape(ByteWriter w, const std::vector<std::uint64_t>& shape) {
  w.u64(shape.size());
  for (std::uint64_t s : shape) w.u64(s);
}

std::string pack(const std::vector<H5Object>& objects) {
  std::string out;
  const Sink sink = [&](const void* p, std::size_t n) {
    out.append(static_cast<const char*>(p), n);
  };
  ByteWriter w{sink};
  w.u64(objects.size());
  for (const H5Object& o : objects) {
    w.text(o.path);
    w.u8(static_cast<std::uint8_t>(o.kind));
    w.text(o.type);
    put_shape(w, o.shape);
    w.u64(o.stored_bytes);
    w.u64(o.attributes.size());
    for (const auto& [name, text] : o.attributes) w.text(name), w.text(text);
  }
  return out;
}

std::vector<H5Object> unpack_objects(ByteReader r) {
  std::vector<H5Object> out;
  for (std::uint64_t n = r.count(41); n > 0; --n) {
    H5Object o;
    o.path = r.text();
    o.kind = static_cast<H5Object::Kind>(r.u8());
    if (o.kind > H5Object::Kind::repeated) r.fail("unknown kind");
    o.type = r.text();
    o.shape = r.array<std::vector<std::uint64_t>>();
    o.stored_bytes = r.u64();
    for (std::uint64_t m = r.count(16); m > 0; --m) {
      std::string name = r.text(), text = r.text();
      o.attributes.emplace_back(std::move(name), std::move(text));
    }
    out.push_back(std::move(o));
  }
  return out;
}

std::string pack(const std::map<std::string, H5Array>& arrays) {
  std::string out;
  const Sink sink = [&](const void* p, std::size_t n) {
    out.append(static_cast<const char*>(p), n);
  };
  ByteWriter w{sink};
  w.u64(arrays.size());
  for (const auto& [name, a] : arrays) {
    w.text(name);
    put_shape(w, a.shape);
    w.text(a.attributes.units);
    w.text(a.attributes.long_name);
    w.u8(static_cast<std::uint8_t>(a.data.index()));
    std::visit(
        [&](const auto& v) {
          w.u64(v.size());
          using T = typename std::decay_t<decltype(v)>::value_type;
          if constexpr (std::is_same_v<T, std::string>)
            for (const std::string& t : v) w.text(t);
          else
            w.bytes(v.data(), v.size() * sizeof(T));
        },
        a.data);
  }
  return out;
}

template <std::size_t I = 0>
H5Array::Data unpack_data(ByteReader& r, std::uint8_t index) {
  if constexpr (I == std::variant_size_v<H5Array::Data>) {
    r.fail("unknown type");
  } else {
    using Vector = std::variant_alternative_t<I, H5Array::Data>;
    if (index != I) return unpack_data<I + 1>(r, index);
    if constexpr (std::is_same_v<Vector, std::vector<std::string>>) {
      Vector out;
      for (std::uint64_t n = r.count(8); n > 0; --n) out.push_back(r.text());
      return out;
    } else {
      return r.array<Vector>();
    }
  }
}

std::map<std::string, H5Array> unpack_arrays(ByteReader r) {
  std::map<std::string, H5Array> out;
  for (std::uint64_t n = r.count(41); n > 0; --n) {
    const std::string name = r.text();
    H5Array a;
    a.shape = r.array<std::vector<std::uint64_t>>();
    a.attributes.units = r.text();
    a.attributes.long_name = r.text();
    a.data = unpack_data(r, r.u8());
    std::uint64_t product = 1;
    for (std::uint64_t s : a.shape)
      if (__builtin_mul_overflow(product, s, &product)) r.fail("shape overflows");
    if (product != std::visit([](const auto& v) { return v.size(); }, a.data))
      r.fail("shape does not fit");
    out.emplace(name, std::move(a));
  }
  return out;
}

std::string pack(const H5Place& place) {
  std::string out;
  const Sink sink = [&](const void* p, std::size_t n) {
    out.append(static_cast<const char*>(p), n);
  };
  ByteWriter w{sink};
  put_shape(w, place.shape);
  w.u8(place.kind);
  w.u8(place.offset.has_value());
  w.u64(place.offset.value_or(0));
  return out;
}
H5Place unpack_place(ByteReader r) {
  H5Place place;
  place.shape = r.array<std::vector<std::uint64_t>>();
  place.kind = r.u8();
  const bool lies_there = r.u8() != 0;
  const std::uint64_t offset = r.u64();
  if (lies_there) place.offset = offset;
  return place;
}

template <class Work, class Unpack>
auto guarded(const std::filesystem::path& file, const H5Limits& limits, Work work, Unpack unpack) {
  const std::shared_ptr<const RegularFile> opened = open_regular(file);
  check_superblock(file, *opened, limits.being_written);
  const H5Source source{file.string(), "/proc/self/fd/" + std::to_string(opened->descriptor())};
  const H5Limits within{budget_of(*opened, limits), limits.being_written};
  const std::string answer =
      run_guarded(file, child_limits(within.max_bytes), [&] { return pack(work(source, within)); });
  try {
    return unpack(ByteReader(answer));
  } catch (const BadBytes& e) {
    throw InputError(Diagnostic{
        .number = 429,
        .place = {file.string()},
        .message = std::string("reader stopped (it sent a garbled answer: ") + e.what() + ")"});
  }
}

}  // namespace

H5Limits limits_of_results() { return {.max_bytes = memory_limit() / 2}; }

std::vector<H5Object> list_h5(const std::filesystem::path& file, const H5Limits& limits) {
  return guarded(
      file, limits,
      [](const H5Source& source, const H5Limits& within) { return list_h5_here(source, within); },
      unpack_objects);
}

H5Place locate_h5(const std::filesystem::path& file, const std::string& name) {
  return guarded(
      file, limits_of_results(),
      [&](const H5Source& source, const H5Limits& within) {
        return locate_h5_here(source, name, within);
      },
      unpack_place);
}
H5Array read_h5_part(const std::filesystem::path& file, const std::string& name,
                     const H5Part& part) {
  const auto arrays = guarded(
      file, limits_of_results(),
      [&](const H5Source& source, const H5Limits& within) {
        return std::map<std::string, H5Array>{
            {name, read_h5_part_here(source, name, part, within)}};
      },
      unpack_arrays);
  return arrays.at(name);
}

std::map<std::string, H5Array> read_h5(const std::filesystem::path& file,
                                       std::span<const std::string> names, const H5Limits& limits,
                                       const H5Rows& rows) {
  return guarded(
      file, limits,
      [&](const H5Source& source, const H5Limits& within) {
        return read_h5_here(source, names, within, rows);
      },
      unpack_arrays);
}

}  // namespace tessera::data
