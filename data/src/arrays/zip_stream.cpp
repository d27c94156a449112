// SPDX-License-Identifier: Apache-2.0
#include "arrays/zip.h"
#include "tessera/data/diagnostic.h"
#include "tessera/data/text_reader.h"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <limits>
#include <new>

namespace tessera::data {

struct ZipStream::Inflater {
  z_stream z{};
  std::array<unsigned char, 1 << 16> in;
  bool ended = false;

  Inflater() {
    if (::inflateInit2(&z, -MAX_WBITS) != Z_OK) throw std::bad_alloc();
  }
  ~Inflater() { ::inflateEnd(&z); }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;
};

ZipStream::ZipStream(const BinaryInput& file, const ZipMember& member)
    : file_(file),
      member_(member),
      crc_(::crc32(0, nullptr, 0)),
      inflater_(member.deflated ? std::make_unique<Inflater>() : nullptr) {}

ZipStream::~ZipStream() = default;

void ZipStream::refuse(const std::string& what) const {
  throw InputError(Diagnostic{.number = 437,
                              .place = {.file = file_.name(), .byte = member_.data + taken_},
                              .message = "member " + shown(member_.name) + ": " + what});
}

/// Inflates up to n bytes; fewer only where the stream ends.
std::size_t ZipStream::inflate_some(void* to, std::size_t n) {
  z_stream& z = inflater_->z;
  z.next_out = static_cast<Bytef*>(to);
  std::size_t left = n;
  while (left > 0 && !inflater_->ended) {
    if (z.avail_in == 0) {
      const auto more = static_cast<std::size_t>(
          std::min<std::uint64_t>(inflater_->in.size(), member_.packed - taken_));
      if (more == 0) refuse("its bytes end before their stream does");
      if (!file_.read(member_.data + taken_, inflater_->in.data(), more))
        refuse("the file became shorter while it was read");
      taken_ += more;
      z.next_in = inflater_->in.data();
      z.avail_in = static_cast<uInt>(more);
    }
    const uInt room = static_cast<uInt>(std::min<std::size_t>(left, 1 << 30));
    z.avail_out = room;
    const int state = ::inflate(&z, Z_NO_FLUSH);
    left -= room - z.avail_out;
    if (state == Z_STREAM_END)
      inflater_->ended = true;
    else if (state != Z_OK && state != Z_BUF_ERROR)
      refuse(std::string("its bytes are no deflated stream: ") + (z.msg ? z.msg : "damaged"));
  }
  return n - left;
}

void ZipStream::next(void* to, std::size_t n) {
  if (n > member_.size - passed_) refuse("its bytes end where more are due");
  if (n == 0) return;
  if (!inflater_) {
    if (!file_.read(member_.data + taken_, to, n))
      refuse("the file became shorter while it was read");
    taken_ += n;
  } else if (inflate_some(to, n) != n) {
    refuse("it unpacks to fewer bytes than the " + std::to_string(member_.size) + " declared");
  }
  crc_ = ::crc32_z(crc_, static_cast<const Bytef*>(to), n);
  passed_ += n;
}

void ZipStream::finish() {
  if (passed_ != member_.size)
    refuse(std::to_string(member_.size - passed_) + " of its bytes are left over");
  if (inflater_) {
    unsigned char beyond;
    if (!inflater_->ended && inflate_some(&beyond, 1) != 0)
      refuse("it unpacks to more bytes than the " + std::to_string(member_.size) + " declared");
    const std::uint64_t used = taken_ - inflater_->z.avail_in;
    if (used != member_.packed)
      refuse("its stream ends " + std::to_string(member_.packed - used) + " bytes early");
  }
  if (crc_ != member_.crc) refuse("damaged: its checksum is wrong");
}

}  // namespace tessera::data
