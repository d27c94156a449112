// SPDX-License-Identifier: Apache-2.0
// The bytes of a checkpoint (docs/reference/checkpoint-format.md), all integers little-endian:
//   16 bytes magic, u32 version, u32 1 for a shard or 0, u64 length of the file,
//   text app, u64 step, text config_sha256,
//   u64 n, n x {text path, u64 bytes, text sha256},      input files
//   u64 n, n x {text sha256, u64 bytes},                 shards (not in version 1)
//   u64 n, n x {text name, u8 type, u8 rank, rank x u64 extent, u64 count, count elements},
//   32 bytes SHA-256 of everything before.      text = u64 length, bytes
// The digest covers every byte, so a single flipped bit anywhere is found before anything is
// believed.
#include "run/checkpoint_format.h"

#include "files/byte_stream.h"
#include "tessera/data/checkpoint.h"
#include "tessera/data/sha256.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <span>

namespace tessera::data {
namespace {

constexpr std::string_view kMagic("Tessera ckpt\r\n\x1a\n", 16);
constexpr std::uint32_t kVersion = 2;
constexpr std::size_t kBegin = 32, kDigest = 32, kSmallest = kBegin + kDigest;
constexpr std::uint8_t kMaxRank = 16;

void encode_header(ByteWriter e, const Checkpoint& c, std::uint64_t n_values) {
  e.text(c.app);
  e.u64(c.step);
  e.text(c.config_sha256);
  e.u64(c.inputs.size());
  for (const InputFile& f : c.inputs) {
    e.text(f.path);
    e.u64(f.bytes);
    e.text(f.sha256);
  }
  e.u64(c.shards.size());
  for (const Shard& s : c.shards) {
    e.text(s.sha256);
    e.u64(s.bytes);
  }
  e.u64(n_values);
}

/// All but the elements.
void encode_value_head(ByteWriter e, const std::string& name, std::size_t type,
                       std::span<const std::uint64_t> shape, std::uint64_t count) {
  e.text(name);
  const std::uint8_t kind[2] = {static_cast<std::uint8_t>(type),
                                static_cast<std::uint8_t>(shape.size())};
  e.bytes(kind, 2);
  for (const std::uint64_t extent : shape) e.u64(extent);
  e.u64(count);
}

void encode_value(ByteWriter e, const std::string& name, const CheckpointValue& value) {
  std::visit(
      [&](const auto& a) {
        encode_value_head(e, name, value.data.index(), value.shape, a.size());
        e.bytes(a.data(), a.size() * sizeof(*a.data()));
      },
      value.data);
}

/// A whole checkpoint with n values, those that `values` gives to a sink: first to one that counts
/// bytes, which it may be given without elements.
Sha256::Digest encode_to(const Checkpoint& about, std::uint64_t n,
                         const std::function<void(const ByteSink&, bool counted)>& values,
                         const ByteSink& sink) {
  std::uint64_t length = kSmallest;
  const ByteSink count = [&](const void*, std::size_t bytes) { length += bytes; };
  encode_header({count}, about, n);
  values(count, true);
  Sha256 hash;
  const ByteSink hashed = [&](const void* p, std::size_t bytes) {
    hash.update(p, bytes);
    sink(p, bytes);
  };
  const std::uint32_t version[2] = {kVersion, about.is_shard};
  hashed(kMagic.data(), kMagic.size());
  hashed(version, sizeof version);
  hashed(&length, sizeof length);
  encode_header({hashed}, about, n);
  values(hashed, false);
  const Sha256::Digest digest = hash.finish();
  sink(digest.data(), digest.size());
  return digest;
}

template <std::size_t I = 0>
CheckpointValue::Data data_of_type(ByteReader& d, std::uint8_t type) {
  if constexpr (I < std::variant_size_v<CheckpointValue::Data>) {
    if (type == I) return d.array<std::variant_alternative_t<I, CheckpointValue::Data>>();
    return data_of_type<I + 1>(d, type);
  } else {
    d.fail("type " + std::to_string(type) + " is unknown");
  }
}

/// Of a value all but its elements.
struct ValueHead {
  std::string name;
  std::uint8_t type = 0;
  std::vector<std::uint64_t> shape;
};
ValueHead decode_value_head(ByteReader& d) {
  ValueHead h{.name = d.text(), .type = d.u8(), .shape = {}};
  const std::uint8_t rank = d.u8();
  if (rank > kMaxRank)
    d.fail("rank " + std::to_string(rank) + " is above " + std::to_string(kMaxRank));
  for (int i = 0; i < rank; ++i) h.shape.push_back(d.u64());
  return h;
}

CheckpointValue decode_value(ByteReader& d, ValueHead h) {
  CheckpointValue value{std::move(h.shape), data_of_type(d, h.type)};
  if (!shape_fits(value)) d.fail("the shape does not multiply to the number of elements");
  return value;
}

/// All before the values; gives their number.
std::uint64_t decode_header(ByteReader& d, std::uint32_t version, Checkpoint& c) {
  c.app = d.text();
  c.step = d.u64();
  c.config_sha256 = d.text();
  for (std::uint64_t n = d.count(24); n > 0; --n) {
    InputFile f;
    f.path = d.text();
    f.bytes = d.u64();
    f.sha256 = d.text();
    c.inputs.push_back(std::move(f));
  }
  for (std::uint64_t n = version > 1 ? d.count(16) : 0; n > 0; --n) {
    Shard s;
    s.sha256 = d.text();
    s.bytes = d.u64();
    c.shards.push_back(std::move(s));
  }
  return d.u64();
}

Checkpoint decode_body(ByteReader d, std::uint32_t version) {
  Checkpoint c;
  for (std::uint64_t n = decode_header(d, version, c); n > 0; --n) {
    ValueHead head = decode_value_head(d);
    const std::string name = head.name;
    if (!c.values.emplace(name, decode_value(d, std::move(head))).second)
      d.fail("the name appears twice");
  }
  if (!d.at_end()) d.fail("bytes are left over before the digest");
  return c;
}

std::uint32_t version_of(std::string_view begin, const std::string& file) {
  std::uint32_t version;
  std::memcpy(&version, begin.data() + 16, sizeof version);
  if (version < 1 || version > kVersion)
    damaged_checkpoint(file, 412, 16,
                       "format version " + std::to_string(version) + ", this program reads 1 to " +
                           std::to_string(kVersion));
  return version;
}

template <std::size_t I = 0>
std::size_t element_bytes(std::uint8_t type) {
  if constexpr (I < std::variant_size_v<CheckpointValue::Data>) {
    using T = typename std::variant_alternative_t<I, CheckpointValue::Data>::value_type;
    return type == I ? sizeof(T) : element_bytes<I + 1>(type);
  } else {
    return 1;  // data_of_type refuses it
  }
}

}  // namespace

void damaged_checkpoint(const std::string& file, int number, std::uint64_t byte,
                        std::string message) {
  throw InputError(
      {.number = number, .place = {.file = file, .byte = byte}, .message = std::move(message)},
      ExitCode::checkpoint_damaged);
}

bool shape_fits(const CheckpointValue& value) {
  const std::size_t n = std::visit([](const auto& a) { return a.size(); }, value.data);
  if (std::holds_alternative<std::string>(value.data)) return value.shape.empty();
  if (value.shape.size() > kMaxRank) return false;
  std::uint64_t product = 1;
  bool overflow = false, zero = false;
  for (std::uint64_t extent : value.shape) {
    zero |= extent == 0;
    overflow |= __builtin_mul_overflow(product, extent ? extent : 1, &product);
  }
  return !overflow && (zero ? 0 : product) == n;
}

Sha256::Digest encode_checkpoint_to(const Checkpoint& c, const ByteSink& sink) {
  const auto values = [&](const ByteSink& to, bool) {
    for (const auto& [name, value] : c.values) encode_value({to}, name, value);
  };
  return encode_to(c, c.values.size(), values, sink);
}

template <class T>
Sha256::Digest encode_rows_to(const Checkpoint& about, const std::vector<ShardRow>& rows,
                              const std::function<const T*(std::size_t)>& numbers,
                              const ByteSink& sink) {
  static const std::size_t type = CheckpointValue::Data(std::vector<T>()).index();
  const auto values = [&](const ByteSink& to, bool counted) {
    for (std::size_t k = 0; k < rows.size(); ++k) {
      const std::uint64_t n = rows[k].count;
      encode_value_head({to}, rows[k].name, type, {&n, 1}, n);
      to(counted ? nullptr : numbers(k), static_cast<std::size_t>(n) * sizeof(T));
    }
  };
  return encode_to(about, rows.size(), values, sink);
}
template Sha256::Digest encode_rows_to(const Checkpoint&, const std::vector<ShardRow>&,
                                       const std::function<const float*(std::size_t)>&,
                                       const ByteSink&);
template Sha256::Digest encode_rows_to(const Checkpoint&, const std::vector<ShardRow>&,
                                       const std::function<const double*(std::size_t)>&,
                                       const ByteSink&);

std::string encode_checkpoint(const Checkpoint& c) {
  std::string out;
  encode_checkpoint_to(
      c, [&](const void* p, std::size_t n) { out.append(static_cast<const char*>(p), n); });
  return out;
}

Checkpoint decode_checkpoint(std::string_view bytes, const std::string& file) {
  if (!bytes.starts_with(kMagic))
    damaged_checkpoint(file, 411, 0,
                       "not a Tessera checkpoint (expected it to begin with \"Tessera ckpt\")");
  if (bytes.size() < kSmallest)
    damaged_checkpoint(file, 413, bytes.size(),
                       "truncated: " + std::to_string(bytes.size()) + " bytes, expected at least " +
                           std::to_string(kSmallest));
  std::uint64_t length;
  std::memcpy(&length, bytes.data() + 24, sizeof length);
  if (length != bytes.size())
    damaged_checkpoint(file, 413, 24,
                       "truncated or lengthened: has " + std::to_string(bytes.size()) +
                           " bytes and was written with " + std::to_string(length));
  const std::string_view body = bytes.substr(0, bytes.size() - kDigest);
  Sha256 hash;
  hash.update(body.data(), body.size());
  if (std::memcmp(hash.finish().data(), bytes.data() + body.size(), kDigest) != 0)
    damaged_checkpoint(file, 414, body.size(),
                       "damaged: the SHA-256 of its content is not the one it was written with");
  const std::uint32_t version = version_of(bytes, file);
  try {
    Checkpoint c = decode_body(ByteReader(body.substr(kBegin)), version);
    std::uint32_t is_shard;
    std::memcpy(&is_shard, bytes.data() + 20, sizeof is_shard);
    if (is_shard > 1)
      damaged_checkpoint(file, 415, 20, "malformed: it is neither a checkpoint nor a shard");
    c.is_shard = is_shard;
    return c;
  } catch (const BadBytes& e) {
    damaged_checkpoint(file, 415, kBegin + e.at, std::string("malformed: ") + e.what());
  }
}

void read_values(const RegularFile& file, const std::string& name,
                 const std::function<bool(const std::string& name)>& wanted,
                 const std::function<void(std::string name, CheckpointValue)>& take) {
  constexpr std::uint64_t kHeads = 1 << 12;  // the head of a value is not longer
  const std::uint64_t end = file.size() - std::min<std::uint64_t>(kDigest, file.size());
  std::uint64_t at = kBegin;
  const auto piece = [&](std::uint64_t from, std::uint64_t bytes) {
    std::string s(static_cast<std::size_t>(std::min(bytes, end - std::min(from, end))), '\0');
    s.resize(file.read(from, s.data(), s.size()));
    return s;
  };
  try {
    const std::string begin = piece(0, kBegin);
    if (begin.size() < kBegin) throw BadBytes("it is too short", 0);
    Checkpoint about;
    std::string head = piece(at, kHeads);
    ByteReader first(head);
    std::uint64_t n = decode_header(first, version_of(begin, name), about);
    for (at += first.at(); n > 0; --n) {
      head = piece(at, kHeads);
      ByteReader d(head);
      ValueHead h = decode_value_head(d);
      const std::uint64_t from = at + d.at(), count = d.u64(), size = element_bytes(h.type);
      if (count > (end - from) / size) d.fail("a count goes beyond the end");
      at += d.at() + count * size;
      if (!wanted(h.name)) continue;
      const std::string elements = piece(from, sizeof count + count * size);
      ByteReader e(elements);
      std::string of = h.name;
      take(std::move(of), decode_value(e, std::move(h)));
    }
  } catch (const BadBytes& e) {
    damaged_checkpoint(name, 415, at + e.at, std::string("malformed: ") + e.what());
  }
}

}  // namespace tessera::data
