// SPDX-License-Identifier: Apache-2.0
//
// A frame of a TRR file, numbers big-endian: 1993, the text "GMX_trn_file" with its lengths, the
// sizes in bytes of 13 blocks and counts (of which we write box, x, v, f), time and lambda, then
// the blocks. Sizes tell single from double precision.
#include "formats.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>

namespace tessera::molecular {
namespace {

constexpr std::int32_t trr_magic = 1993;
constexpr std::string_view trr_version = "GMX_trn_file";
constexpr auto trr_order = std::endian::big;

struct TrrHeader {
  std::uint64_t box = 0, virial = 0, pressure = 0, x = 0, v = 0, f = 0;  ///< bytes
  std::size_t n_atoms = 0;
  std::int32_t step = 0;
  bool is_double = false;
  double time_ps = 0;
};

TrrHeader read_trr_header(FrameBytes& in) {
  const std::uint64_t start = in.at();
  if (const std::int32_t kind = in.integer(); kind != trr_magic)
    in.fail(damaged, start, fmt::format("begins with {}, expected {}", kind, trr_magic));
  if (in.integer() != static_cast<std::int32_t>(trr_version.size()) + 1 ||
      in.integer() != static_cast<std::int32_t>(trr_version.size()) ||
      std::string_view(in.take(trr_version.size()), trr_version.size()) != trr_version)
    in.fail(damaged, start + 4, fmt::format("expected the text {}", trr_version));
  const auto size = [&] {
    const std::int32_t v = in.integer();
    if (v < 0) in.fail(damaged, in.at() - 4, fmt::format("has a block of {} bytes", v));
    return static_cast<std::uint64_t>(v);
  };
  TrrHeader h;
  const std::uint64_t input_record = size(), energies = size();
  h.box = size(), h.virial = size(), h.pressure = size();
  const std::uint64_t topology = size(), symbols = size();
  h.x = size(), h.v = size(), h.f = size();
  h.n_atoms = size();
  h.step = in.integer();
  in.skip(4);  // number of energies
  if (input_record || energies || topology || symbols)
    in.fail(not_read, start + 24, "holds blocks that no program writes any more");
  std::uint64_t real = h.box / 9;
  for (std::uint64_t block : {h.x, h.v, h.f})
    if (real == 0 && h.n_atoms > 0) real = block / (3 * h.n_atoms);
  const auto fits = [&](std::uint64_t block, std::uint64_t n) {
    return block == 0 || block == n * real;
  };
  if ((real != 4 && real != 8) || !fits(h.box, 9) || !fits(h.virial, 9) || !fits(h.pressure, 9) ||
      !fits(h.x, 3 * h.n_atoms) || !fits(h.v, 3 * h.n_atoms) || !fits(h.f, 3 * h.n_atoms))
    in.fail(damaged, start + 24,
            fmt::format("has blocks of sizes that do not fit {} atoms", h.n_atoms));
  h.is_double = real == 8;
  h.time_ps = h.is_double ? in.number<double>() : static_cast<double>(in.number<float>());
  in.skip(real);  // lambda
  return h;
}

class TrrReader final : public TrajectoryReader {
 public:
  explicit TrrReader(data::BinaryInput in) : in_(std::move(in)) {
    FrameBytes bytes(in_, 0, 0, trr_order);
    const TrrHeader h = read_trr_header(bytes);
    n_atoms_ = h.n_atoms;
    rounds_times_ = !h.is_double;
  }
  std::size_t n_atoms() const override { return n_atoms_; }
  bool rounds_times() const override { return rounds_times_; }

 protected:
  bool next(Snapshot& s) override {
    FrameBytes in(in_, frame_, at_, trr_order);
    if (in.at_end()) return false;
    const TrrHeader h = read_trr_header(in);
    if (h.n_atoms != n_atoms_)
      in.fail(damaged, at_, fmt::format("has {} atoms, the frames before {}", h.n_atoms, n_atoms_));
    Snapshot out;
    out.frame.step = h.step;
    out.frame.time_ps = h.time_ps;
    if (!std::isfinite(h.time_ps)) in.fail(damaged, at_, "has a time that is not a number");
    const auto fill = [&](std::span<Vec3> to) {
      const std::uint64_t at = in.at();
      for (Vec3& r : to)
        for (double& v : r)
          v = h.is_double ? in.number<double>() : static_cast<double>(in.number<float>());
      in.expect_finite(to, at, "vectors");
    };
    const auto list = [&](std::vector<Vec3>& to, std::uint64_t bytes) {
      in.require(bytes);  // before memory is taken for it
      if (bytes > 0) to.resize(h.n_atoms);
      fill(to);
    };
    const std::uint64_t box_at = in.at();
    if (h.box > 0) fill(out.frame.box.edge);
    in.expect_box(out.frame.box, box_at);
    in.skip(h.virial + h.pressure);
    list(out.frame.x_nm, h.x);
    list(out.frame.v_nm_ps, h.v);
    list(out.f, h.f);
    at_ = in.at();
    ++frame_;
    s = std::move(out);
    return true;
  }

 private:
  data::BinaryInput in_;
  bool rounds_times_ = false;
  std::size_t n_atoms_ = 0, frame_ = 0;
  std::uint64_t at_ = 0;
};

std::uint64_t kept_trr(const WriterSetup& w) {
  return kept_length(w.path, w.system.n_atoms(), *w.last_step, [](FrameBytes& in) {
    const TrrHeader h = read_trr_header(in);
    in.skip(h.box + h.virial + h.pressure + h.x + h.v + h.f);
    return FrameMark{h.step, h.n_atoms};
  });
}

class TrrWriter final : public TrajectoryWriter {
 public:
  explicit TrrWriter(const WriterSetup& w)
      : n_atoms_(w.system.n_atoms()), options_(w.options), file_(open_appended(w, kept_trr)) {
    options_.observables.clear();
    if (n_atoms_ > std::numeric_limits<std::int32_t>::max() / 24)
      throw Error(fmt::format("[trr] {} atoms do not fit; write .h5md", n_atoms_));
  }

  void write(const Snapshot& s) override {
    check_snapshot("trr", s, n_atoms_, options_);
    if (s.frame.step != static_cast<std::int32_t>(s.frame.step))
      throw Error(fmt::format("[trr] step {} is beyond 2^31; write .h5md", s.frame.step));
    std::string out;
    const auto integer = [&](std::size_t v) { put(out, static_cast<std::int32_t>(v), trr_order); };
    const std::size_t block = 24 * n_atoms_;
    integer(trr_magic);
    integer(trr_version.size() + 1);
    integer(trr_version.size());
    out += trr_version;
    for (std::size_t v : {std::size_t{0}, std::size_t{0}, std::size_t{72}, std::size_t{0},
                          std::size_t{0}, std::size_t{0}, std::size_t{0}, block,
                          options_.velocities ? block : 0, options_.forces ? block : 0, n_atoms_})
      integer(v);
    put(out, static_cast<std::int32_t>(s.frame.step), trr_order);
    integer(0);
    put(out, s.frame.time_ps, trr_order);
    put(out, 0.0, trr_order);
    const auto list = [&](std::span<const Vec3> list) {
      for (const Vec3& r : list)
        for (double v : r) put(out, v, trr_order);
    };
    list(s.frame.box.edge);
    list(s.frame.x_nm);
    if (options_.velocities) list(s.frame.v_nm_ps);
    if (options_.forces) list(s.f);
    file_->append(out);
  }
  void sync() override { file_->sync(); }

 private:
  std::size_t n_atoms_;
  TrajectoryOptions options_;
  std::unique_ptr<data::AppendFile> file_;
};

}  // namespace

std::unique_ptr<TrajectoryWriter> write_trr(const WriterSetup& setup) {
  return std::make_unique<TrrWriter>(setup);
}
std::unique_ptr<TrajectoryReader> read_trr(data::BinaryInput in) {
  return std::make_unique<TrrReader>(std::move(in));
}

}  // namespace tessera::molecular
