// SPDX-License-Identifier: Apache-2.0
#include "tessera/molecular/joined_frames.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace tessera::molecular {
namespace {

namespace fs = std::filesystem;

constexpr double time_slack_ps = 1e-6;  ///< of sums of steps
/// How far a frame's time may be off a bound: some formats keep it in single precision.
double slack_at(double bound_ps) { return std::max(time_slack_ps, 0x1p-23 * std::abs(bound_ps)); }

std::unique_ptr<TrajectoryReader> open_part(const fs::path& file, const JoinOptions& o,
                                            bool pass_over) {
  return open_trajectory(file, {.n_atoms = o.n_atoms,
                                .accept_cut_end = o.accept_cut_end,
                                .positions = pass_over,
                                .velocities = o.velocities && !o.positions});
}

FileBeginning beginning_of(const fs::path& file, TrajectoryReader& reader, bool both) {
  FileBeginning out;
  Snapshot s;
  const auto next = [&] {
    while (reader.read(s)) {
      if (!both || !s.frame.x_nm.empty()) return true;
      if (!s.frame.v_nm_ps.empty())
        throw JoinError(JoinFault::lone_velocities,
                        fmt::format("{} has velocities at {:.6g} ps, but no positions",
                                    file.filename().string(), s.frame.time_ps));
    }
    return false;
  };
  if (!next()) return out;
  out.first_ps = s.frame.time_ps;
  while (next()) {
    out.one_time = s.frame.time_ps == *out.first_ps;
    if (out.one_time) continue;
    out.step_ps = s.frame.time_ps - *out.first_ps;
    break;
  }
  return out;
}

}  // namespace

JoinedFiles join_files(std::vector<fs::path> files, const JoinOptions& options) {
  if (files.empty()) throw Error("[join] expected a file");
  if (options.every < 1)
    throw Error(fmt::format("[join] expected every >= 1, got {}", options.every));
  JoinedFiles out{.files = std::move(files), .options = options, .beginnings = {}};
  JoinOptions& o = out.options;
  const bool both = o.positions && o.velocities;
  std::size_t with = 0, without = 0;
  bool one_time = true;
  for (std::size_t k = 0; k < out.files.size(); ++k) {
    const auto reader = open_part(out.files[k], o, o.positions && !both);
    if (o.n_atoms == 0) o.n_atoms = reader->n_atoms();
    out.beginnings.push_back(beginning_of(out.files[k], *reader, both));
    const FileBeginning& b = out.beginnings.back();
    if (b.one_time)
      without = k + 1;
    else if (b.step_ps)
      with = k + 1;
    one_time = one_time && !b.step_ps && b.first_ps == out.beginnings[0].first_ps;
  }
  const auto name = [&](std::size_t k) { return out.files[k - 1].filename().string(); };
  if (with > 0 && without > 0)
    throw JoinError(JoinFault::mixed_times,
                    fmt::format("the frames of {} have times, those of {} have none", name(with),
                                name(without)));
  out.by_number = without > 0 || (one_time && out.files.size() > 1);
  if (o.spacing_ps && !out.by_number && !o.append)
    throw JoinError(JoinFault::spacing, "the frames have times of their own");
  if (out.by_number && !o.spacing_ps && (o.from_ps || o.to_ps))
    throw JoinError(JoinFault::bounds, "the frames have no times");
  return out;
}

void expect_one_run(const JoinedFiles& files) {
  const auto& b = files.beginnings;
  if (files.by_number || files.options.append || files.options.to_ps || !b.at(0).first_ps) return;
  bool several = false;  // a single structure before its trajectory is no beginning
  for (std::size_t k = 0; k < b.size(); ++k) {
    const double after_ps = *b[0].first_ps + (several ? time_slack_ps : -time_slack_ps);
    if (b[k].first_ps && (several ? *b[k].first_ps <= after_ps : *b[k].first_ps < after_ps))
      throw JoinError(JoinFault::starts_again,
                      fmt::format("{} starts again, at {:.6g} ps",
                                  files.files[k].filename().string(), *b[k].first_ps));
    several = several || b[k].step_ps;
  }
}

/// The time of a frame among all frames; none: it is left out.
std::optional<double> JoinedFrames::time_of(double file_ps) {
  const JoinOptions& o = files_.options;
  const auto name = [&] { return files_.files[file_].filename().string(); };
  if (files_.by_number) return static_cast<double>(number_++) * o.spacing_ps.value_or(1);
  const bool first_of_file = !file_ps_;
  double t = file_ps + shift_ps_;
  const bool begins =
      first_of_file || (t <= *file_ps_ + time_slack_ps && *last_ps_ > *file_ps_ + time_slack_ps);
  if (last_ps_ && begins && o.append) {
    const std::optional<double> step =
        o.spacing_ps ? o.spacing_ps : files_.beginnings[file_].step_ps;
    if (step && *step > 0) {
      const double next = *last_ps_ + *step;
      if (std::abs(next - t) > slack_at(next)) shift_ps_ += next - t;
      t = file_ps + shift_ps_;
    } else if (t <= *last_ps_ + time_slack_ps) {  // files of one frame each may say when it is
      throw JoinError(
          JoinFault::no_spacing,
          fmt::format("{} does not say how long after the frames before it begins", name()));
    }
    file_ps_ = t;
  } else if (last_ps_ && t <= *last_ps_ + time_slack_ps) {
    const bool falls = read_ps_ && file_ps < *read_ps_ - time_slack_ps;
    falling_ = falls ? falling_ + 1 : 0;
    if (falls && (t < *first_ps_ - time_slack_ps || falling_ > 1))
      throw JoinError(
          JoinFault::backwards,
          fmt::format("{} runs backwards, from {:.6g} to {:.6g} ps", name(), *read_ps_, file_ps));
    read_ps_ = file_ps;
    if (t < *first_ps_ - time_slack_ps ||
        (t <= *first_ps_ + time_slack_ps && *last_ps_ > *first_ps_ + time_slack_ps)) {
      throw JoinError(JoinFault::starts_again,
                      fmt::format("{} starts again, at {:.6g} ps; the first frame was at {:.6g} ps",
                                  name(), file_ps, *first_ps_));
    } else {
      ++left_out_;
      return {};
    }
  }
  read_ps_ = file_ps;
  falling_ = 0;
  if (!file_ps_) file_ps_ = t;
  if (!first_ps_) first_ps_ = t;
  last_ps_ = t;
  return t;
}

bool JoinedFrames::read(Snapshot& s) {
  const JoinOptions& o = files_.options;
  for (; file_ < files_.files.size(); ++file_, reader_.reset()) {
    if (!reader_) {
      reader_ = open_part(files_.files[file_], o, o.positions);
      shift_ps_ = 0;
      file_ps_.reset();
      read_ps_.reset();
      falling_ = 0;
    }
    while (reader_->read(s)) {
      const std::optional<double> t = time_of(s.frame.time_ps);
      if (!t || (o.from_ps && *t < *o.from_ps - slack_at(*o.from_ps))) continue;
      if (o.to_ps && *t > *o.to_ps + slack_at(*o.to_ps)) return false;
      s.frame.time_ps = *t;
      if (seen_++ % o.every == 0) return true;
    }
    if (reader_->cut_end()) remarks_.push_back(*reader_->cut_end());
  }
  return false;
}

}  // namespace tessera::molecular
