// SPDX-License-Identifier: Apache-2.0
// The bytes of a checkpoint (docs/reference/checkpoint-format.md), all integers little-endian:
//   16 bytes magic, u32 version, u32 zero, u64 length of the file,
//   text app, u64 step, text config_sha256,
//   u64 n, n x {text path, u64 bytes, text sha256},
//   u64 n, n x {text name, u8 type, u8 rank, rank x u64 extent, u64 count, count elements},
//   32 bytes SHA-256 of everything before.      text = u64 length, bytes
// The digest covers every byte, so a single flipped bit anywhere is found before anything is
// believed.
#include "run/checkpoint_format.h"

#include "files/byte_stream.h"
#include "tessera/data/checkpoint.h"
#include "tessera/data/sha256.h"

#include <cstring>
#include <functional>

namespace tessera::data {
namespace {

constexpr std::string_view kMagic("Tessera ckpt\r\n\x1a\n", 16);
constexpr std::uint32_t kVersion = 1;
constexpr std::size_t kDigest = 32, kSmallest = 32 + kDigest;
constexpr std::uint8_t kMaxRank = 16;

void encode_body(ByteWriter e, const Checkpoint& c) {
  e.text(c.app);
  e.u64(c.step);
  e.text(c.config_sha256);
  e.u64(c.inputs.size());
  for (const InputFile& f : c.inputs) {
    e.text(f.path);
    e.u64(f.bytes);
    e.text(f.sha256);
  }
  e.u64(c.values.size());
  for (const auto& [name, value] : c.values) {
    e.text(name);
    const std::uint8_t kind[2] = {static_cast<std::uint8_t>(value.data.index()),
                                  static_cast<std::uint8_t>(value.shape.size())};
    e.bytes(kind, 2);
    for (std::uint64_t extent : value.shape) e.u64(extent);
    std::visit(
        [&](const auto& a) {
          e.u64(a.size());
          e.bytes(a.data(), a.size() * sizeof(*a.data()));
        },
        value.data);
  }
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

CheckpointValue decode_value(ByteReader& d) {
  const std::uint8_t type = d.u8(), rank = d.u8();
  if (rank > kMaxRank)
    d.fail("rank " + std::to_string(rank) + " is above " + std::to_string(kMaxRank));
  CheckpointValue value;
  for (int i = 0; i < rank; ++i) value.shape.push_back(d.u64());
  value.data = data_of_type(d, type);
  if (!shape_fits(value)) d.fail("the shape does not multiply to the number of elements");
  return value;
}

Checkpoint decode_body(ByteReader d) {
  Checkpoint c;
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
  for (std::uint64_t n = d.count(18); n > 0; --n) {
    const std::string name = d.text();
    if (!c.values.emplace(name, decode_value(d)).second) d.fail("the name appears twice");
  }
  if (!d.at_end()) d.fail("bytes are left over before the digest");
  return c;
}

[[noreturn]] void damaged(const std::string& file, int number, std::uint64_t byte,
                          std::string message) {
  throw InputError(
      {.number = number, .place = {.file = file, .byte = byte}, .message = std::move(message)},
      ExitCode::checkpoint_damaged);
}

}  // namespace

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

void encode_checkpoint_to(const Checkpoint& c,
                          const std::function<void(const void*, std::size_t)>& sink) {
  std::uint64_t length = kSmallest;
  encode_body(ByteWriter{[&](const void*, std::size_t n) { length += n; }}, c);
  Sha256 hash;
  const std::function<void(const void*, std::size_t)> hashed = [&](const void* p, std::size_t n) {
    hash.update(p, n);
    sink(p, n);
  };
  const std::uint32_t version[2] = {kVersion, 0};
  hashed(kMagic.data(), kMagic.size());
  hashed(version, sizeof version);
  hashed(&length, sizeof length);
  encode_body(ByteWriter{hashed}, c);
  const Sha256::Digest digest = hash.finish();
  sink(digest.data(), digest.size());
}

std::string encode_checkpoint(const Checkpoint& c) {
  std::string out;
  encode_checkpoint_to(
      c, [&](const void* p, std::size_t n) { out.append(static_cast<const char*>(p), n); });
  return out;
}

Checkpoint decode_checkpoint(std::string_view bytes, const std::string& file) {
  if (!bytes.starts_with(kMagic))
    damaged(file, 411, 0, "not a Tessera checkpoint (expected it to begin with \"Tessera ckpt\")");
  if (bytes.size() < kSmallest)
    damaged(file, 413, bytes.size(),
            "truncated: " + std::to_string(bytes.size()) + " bytes, expected at least " +
                std::to_string(kSmallest));
  std::uint32_t version;
  std::uint64_t length;
  std::memcpy(&version, bytes.data() + 16, sizeof version);
  std::memcpy(&length, bytes.data() + 24, sizeof length);
  if (length != bytes.size())
    damaged(file, 413, 24,
            "truncated or lengthened: has " + std::to_string(bytes.size()) +
                " bytes and was written with " + std::to_string(length));
  const std::string_view body = bytes.substr(0, bytes.size() - kDigest);
  Sha256 hash;
  hash.update(body.data(), body.size());
  if (std::memcmp(hash.finish().data(), bytes.data() + body.size(), kDigest) != 0)
    damaged(file, 414, body.size(),
            "damaged: the SHA-256 of its content is not the one it was written with");
  if (version != kVersion)
    damaged(file, 412, 16,
            "format version " + std::to_string(version) + ", this program reads version " +
                std::to_string(kVersion));
  try {
    return decode_body(ByteReader(body.substr(32)));
  } catch (const BadBytes& e) {
    damaged(file, 415, 32 + e.at, std::string("malformed: ") + e.what());
  }
}

}  // namespace tessera::data
