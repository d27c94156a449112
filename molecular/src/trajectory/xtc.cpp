// SPDX-License-Identifier: Apache-2.0
//
// A frame of an XTC file, numbers big-endian: 1995 (or 2023, with a count of bytes of 64 bits),
// atoms, step, time [ps], box [3, 3] in nm, atoms again; up to nine atoms as floats, others packed
// (kernels/xtc_codec.h): precision, least and greatest integers, notch, count of bytes, bytes,
// zeros up to a multiple of four.
#include "formats.h"
#include "trajectory/kernels/xtc_codec.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>

namespace tessera::molecular {
namespace {

constexpr std::int32_t xtc_magic = 1995, xtc_magic_large = 2023;
constexpr std::size_t most_atoms_unpacked = 9, most_atoms_of_1995 = 298261617;
constexpr auto xtc_order = std::endian::big;

struct XtcHeader {
  std::size_t n_atoms = 0;
  std::int32_t step = 0;
  float time_ps = 0;
  std::array<Vec3, 3> edge{};
  xtc::Packed packed;         ///< without its bits
  std::uint64_t n_bytes = 0;  ///< of the bits, or of the floats
  bool is_packed = false;
};

XtcHeader read_xtc_header(FrameBytes& in) {
  XtcHeader h;
  const std::uint64_t start = in.at();
  const std::int32_t kind = in.integer();
  if (kind != xtc_magic && kind != xtc_magic_large)
    in.fail(damaged, start,
            fmt::format("begins with {}, expected {} or {}", kind, xtc_magic, xtc_magic_large));
  const std::int32_t n = in.integer();
  if (n < 0) in.fail(damaged, start + 4, fmt::format("has {} atoms", n));
  h.n_atoms = static_cast<std::size_t>(n);
  h.step = in.integer();
  h.time_ps = in.number<float>();
  for (Vec3& e : h.edge)
    for (double& v : e) v = static_cast<double>(in.number<float>());
  if (const std::int32_t again = in.integer(); again != n)
    in.fail(damaged, in.at() - 4,
            fmt::format("has {} atoms, and {} of them have positions", n, again));
  h.is_packed = h.n_atoms > most_atoms_unpacked;
  if (!h.is_packed) {
    h.n_bytes = 12 * h.n_atoms;
    return h;
  }
  h.packed.precision = in.number<float>();
  for (auto* bound : {&h.packed.least, &h.packed.greatest})
    for (std::int32_t& v : *bound) v = in.integer();
  h.packed.notch = in.integer();
  const std::int64_t bytes = kind == xtc_magic ? in.integer() : in.number<std::int64_t>();
  if (bytes < 0) in.fail(damaged, in.at() - 4, fmt::format("has {} bytes of positions", bytes));
  h.n_bytes = static_cast<std::uint64_t>(bytes);
  return h;
}

class XtcReader final : public TrajectoryReader {
 public:
  explicit XtcReader(data::BinaryInput in) : in_(std::move(in)) {
    FrameBytes bytes(in_, 0, 0, xtc_order);
    n_atoms_ = read_xtc_header(bytes).n_atoms;
  }
  std::size_t n_atoms() const override { return n_atoms_; }
  bool rounds_times() const override { return true; }

 protected:
  bool next(Snapshot& s) override {
    FrameBytes bytes(in_, frame_, at_, xtc_order);
    if (bytes.at_end()) return false;
    const std::uint64_t start = at_;
    XtcHeader h = read_xtc_header(bytes);
    if (h.n_atoms != n_atoms_)
      bytes.fail(damaged, start + 4,
                 fmt::format("has {} atoms, the frames before {}", h.n_atoms, n_atoms_));
    Snapshot out;
    out.frame.step = h.step;
    out.frame.time_ps = static_cast<double>(h.time_ps);
    if (!std::isfinite(h.time_ps))
      bytes.fail(damaged, start + 12, "has a time that is not a number");
    out.frame.box.edge = h.edge;
    bytes.expect_box(out.frame.box, start + 16);
    if (h.is_packed) {
      const std::uint64_t bits_at = bytes.at();
      h.packed.bits.assign(bytes.take(padded(h.n_bytes)), h.n_bytes);
      try {
        out.frame.x_nm = xtc::unpack(h.packed, h.n_atoms);
      } catch (const xtc::Unpackable& e) {
        bytes.fail(damaged, bits_at + e.at, e.what());
      }
    } else {
      const std::uint64_t at = bytes.at();
      out.frame.x_nm.resize(h.n_atoms);
      for (Vec3& x : out.frame.x_nm)
        for (double& v : x) v = static_cast<double>(bytes.number<float>());
      bytes.expect_finite(out.frame.x_nm, at, "positions");
    }
    at_ = bytes.at();
    ++frame_;
    s = std::move(out);
    return true;
  }

 private:
  data::BinaryInput in_;
  std::size_t n_atoms_ = 0, frame_ = 0;
  std::uint64_t at_ = 0;
};

std::uint64_t kept_xtc(const WriterSetup& w) {
  return kept_length(w.path, w.system.n_atoms(), *w.last_step, [](FrameBytes& in) {
    const XtcHeader h = read_xtc_header(in);
    in.skip(padded(h.n_bytes));
    return FrameMark{h.step, h.n_atoms};
  });
}

class XtcWriter final : public TrajectoryWriter {
 public:
  explicit XtcWriter(const WriterSetup& w)
      : n_atoms_(w.system.n_atoms()),
        precision_(static_cast<float>(w.options.xtc_precision)),
        file_(open_appended(w, kept_xtc)) {
    if (!(w.options.xtc_precision > 0))
      throw Error(
          fmt::format("[xtc] expected a positive precision, got {}", w.options.xtc_precision));
    if (n_atoms_ > most_atoms_of_1995)
      throw Error(fmt::format("[xtc] expected at most {} atoms, got {}; write .h5md",
                              most_atoms_of_1995, n_atoms_));
  }

  void write(const Snapshot& s) override {
    check_snapshot("xtc", s, n_atoms_, {});
    if (s.frame.step != static_cast<std::int32_t>(s.frame.step))
      throw Error(fmt::format("[xtc] step {} is beyond 2^31; write .h5md", s.frame.step));
    std::string out;
    const auto integer = [&](std::int64_t v) { put(out, static_cast<std::int32_t>(v), xtc_order); };
    integer(xtc_magic);
    integer(static_cast<std::int64_t>(n_atoms_));
    integer(s.frame.step);
    put(out, static_cast<float>(s.frame.time_ps), xtc_order);
    for (const Vec3& e : s.frame.box.edge)
      for (double v : e) put(out, static_cast<float>(v), xtc_order);
    integer(static_cast<std::int64_t>(n_atoms_));
    if (n_atoms_ > most_atoms_unpacked) {
      const xtc::Packed p = xtc::pack(s.frame.x_nm, precision_);
      put(out, p.precision, xtc_order);
      for (const auto* bound : {&p.least, &p.greatest})
        for (std::int32_t v : *bound) integer(v);
      integer(p.notch);
      integer(static_cast<std::int64_t>(p.bits.size()));
      out += p.bits;
      out.append(padded(p.bits.size()) - p.bits.size(), '\0');
    } else {
      for (const Vec3& x : s.frame.x_nm)
        for (double v : x) put(out, static_cast<float>(v), xtc_order);
    }
    file_->append(out);
  }
  void sync() override { file_->sync(); }

 private:
  std::size_t n_atoms_;
  float precision_;
  std::unique_ptr<data::AppendFile> file_;
};

}  // namespace

std::unique_ptr<TrajectoryWriter> write_xtc(const WriterSetup& setup) {
  return std::make_unique<XtcWriter>(setup);
}
std::unique_ptr<TrajectoryReader> read_xtc(data::BinaryInput in) {
  return std::make_unique<XtcReader>(std::move(in));
}

}  // namespace tessera::molecular
