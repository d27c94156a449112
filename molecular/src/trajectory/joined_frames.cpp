// SPDX-License-Identifier: Apache-2.0
#include "tessera/molecular/joined_frames.h"

#include "base/vec.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace tessera::molecular {
namespace {

namespace fs = std::filesystem;

constexpr double time_slack_ps = 1e-6;  ///< of sums of steps
/// How far a frame's time may be off a bound: some formats keep it in single precision.
double slack_at(double bound_ps) { return std::max(time_slack_ps, 0x1p-23 * std::abs(bound_ps)); }
/// Between two numbers of single precision.
double rounding_at(double time_ps) { return 0x1p-23 * std::abs(time_ps); }

/// Least-squares line through times t_k of single precision, at x_k: with a spread s = ulp/sqrt(12)
/// of their rounding its slope has one of s/sqrt(sum (x - <x>)^2).
class TimeLine {
 public:
  /// False where a time is on no line with those before.
  bool add(double x, double t) {
    if (n_ > 1 &&
        std::abs(t - at(x)) > 4 * rounding_at(t) + unknown_slope() * std::abs(x - mean_x_))
      return false;
    ++n_;
    const double dx = x - mean_x_;
    mean_x_ += dx / n_;
    mean_t_ += (t - mean_t_) / n_;
    xx_ += dx * (x - mean_x_);
    xt_ += dx * (t - mean_t_);
    return true;
  }
  double slope() const { return xt_ / xx_; }
  double at(double x) const { return mean_t_ + slope() * (x - mean_x_); }
  /// Four standard deviations.
  double unknown_slope() const { return 4 * rounding_at(mean_t_) / std::sqrt(12 * xx_); }

 private:
  double n_ = 0, mean_x_ = 0, mean_t_ = 0, xx_ = 0, xt_ = 0;
};

std::unique_ptr<TrajectoryReader> open_part(const fs::path& file, const JoinOptions& o,
                                            bool pass_over) {
  return open_trajectory(file, {.n_atoms = o.n_atoms,
                                .accept_cut_end = o.accept_cut_end,
                                .positions = pass_over,
                                .velocities = o.velocities && !o.positions});
}

/// The farthest that an atom lies from where it was, by nearest images.
double farthest_move(const std::vector<Vec3>& from, const Frame& to) {
  double most = 0;
  for (std::size_t i = 0; i < from.size(); ++i) {
    const Vec3 d = shortest(to.box, difference(to.x_nm[i], from[i]));
    most = std::max(most, dot(d, d));
  }
  return std::sqrt(most);
}

/// On from the first frame of a file with times in single precision: until its line is known.
template <class Next>
void look_at_rounded(FileBeginning& out, const Snapshot& s, Next&& next) {
  constexpr double known = 1e-5;  // of the slope
  RoundedTimes r{.first_step = s.frame.step};
  TimeLine line;
  line.add(0, *out.first_ps);
  double x = 0, second = 0, last_ps = *out.first_ps;
  bool more = true;
  for (std::int64_t number = 1; (more = next()); ++number) {
    const std::int64_t step = s.frame.step - r.first_step;
    if (number == 1) r.by_step = step > 0;
    const auto to = static_cast<double>(r.by_step ? step : number);
    if (number == 1) second = to;
    if (to <= x || s.frame.time_ps < last_ps || !line.add(to, s.frame.time_ps)) break;
    x = to;
    last_ps = s.frame.time_ps;
    if (line.unknown_slope() < known * line.slope()) break;
  }
  if (last_ps == *out.first_ps) {
    while (more && s.frame.time_ps == last_ps) more = next();
    if (more) out.step_ps = s.frame.time_ps - last_ps;
    out.one_time = !more && x > 0;
    return;
  }
  r.first_ps = line.at(0);
  r.rate_ps = line.slope();
  out.step_ps = r.rate_ps * second;
  out.unknown_ps = line.unknown_slope() * second;
  out.rounded = r;
}

FileBeginning beginning_of(const fs::path& file, TrajectoryReader& reader, bool both) {
  FileBeginning out;
  Snapshot s;
  std::vector<Vec3> first;
  const auto next = [&] {
    while (reader.read(s)) {
      if (first.empty())
        first = s.frame.x_nm;
      else if (out.move_nm == 0 && s.frame.x_nm.size() == first.size())
        out.move_nm = farthest_move(first, s.frame);
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
  out.rounds_step = reader.rounds_step();
  if (reader.rounds_times()) {
    look_at_rounded(out, s, next);
    return out;
  }
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

/// Where the time between frames is rounded, times stay as they are: how far they may be off is
/// known.
///
/// The line of rounded times goes on from frame to frame, and stays within what a time may have
/// been before it was rounded. A time that is not where it leads to counts as it is.
double JoinedFrames::exact_of(const Frame& f) {
  const FileBeginning& b = files_.beginnings[file_];
  off_ps_ = b.rounds_step ? rounding_at(f.time_ps - *b.first_ps) : 0;
  slack_ps_ =
      std::max(time_slack_ps, std::min(off_ps_ + last_off_ps_, 0.5 * b.step_ps.value_or(INFINITY)));
  if (!b.rounded) return f.time_ps;
  const RoundedTimes& r = *b.rounded;
  const double rounding = rounding_at(f.time_ps),
               passed_ps = !exact_ps_
                               ? *b.step_ps
                               : r.rate_ps * (r.by_step ? static_cast<double>(f.step - step_) : 1),
               expected = exact_ps_ ? *exact_ps_ + passed_ps : r.first_ps;
  slack_ps_ = std::max(slack_ps_, std::min(2 * rounding, 0.5 * std::abs(passed_ps)));
  exact_ps_ = std::abs(expected - f.time_ps) > 2 * rounding
                  ? f.time_ps
                  : std::clamp(expected, f.time_ps - rounding, f.time_ps + rounding);
  step_ = f.step;
  return *exact_ps_;
}

/// The time of a frame among all frames; none: it is left out.
std::optional<double> JoinedFrames::time_of(const Frame& f) {
  const JoinOptions& o = files_.options;
  const double file_ps = exact_of(f);
  const auto name = [&] { return files_.files[file_].filename().string(); };
  if (files_.by_number) return static_cast<double>(number_++) * o.spacing_ps.value_or(1);
  const bool first_of_file = !file_ps_;
  double t = file_ps + shift_ps_;
  const bool begins =
      first_of_file || (t <= *file_ps_ + slack_ps_ && *last_ps_ > *file_ps_ + slack_ps_);
  if (last_ps_ && begins && o.append && repeats(f)) {
    if (std::abs(*last_ps_ - t) > slack_at(*last_ps_)) shift_ps_ += *last_ps_ - t;
    file_ps_ = file_ps + shift_ps_;
    read_ps_ = file_ps;
    ++left_out_;
    return {};
  }
  if (last_ps_ && begins && o.append) {
    const std::optional<double> step =
        o.spacing_ps ? o.spacing_ps : files_.beginnings[file_].step_ps;
    if (step && *step > 0) {
      const double next = *last_ps_ + *step;
      if (std::abs(next - t) > slack_at(next)) shift_ps_ += next - t;
      t = file_ps + shift_ps_;
    } else if (t <= *last_ps_ + slack_ps_) {  // files of one frame each may say when it is
      throw JoinError(
          JoinFault::no_spacing,
          fmt::format("{} does not say how long after the frames before it begins", name()));
    }
    file_ps_ = t;
  } else if (last_ps_ && t <= *last_ps_ + slack_ps_) {
    const bool falls = read_ps_ && file_ps < *read_ps_ - slack_ps_;
    falling_ = falls ? falling_ + 1 : 0;
    if (falls && (t < *first_ps_ - slack_ps_ || falling_ > 1))
      throw JoinError(
          JoinFault::backwards,
          fmt::format("{} runs backwards, from {:.6g} to {:.6g} ps", name(), *read_ps_, file_ps));
    read_ps_ = file_ps;
    if (t < *first_ps_ - slack_ps_ ||
        (t <= *first_ps_ + slack_ps_ && *last_ps_ > *first_ps_ + slack_ps_)) {
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
  last_off_ps_ = off_ps_;
  if (o.append) last_x_ = f.x_nm;
  return t;
}

/// What writes a frame once more may have met constraints again, or read it from fewer digits.
bool JoinedFrames::repeats(const Frame& f) const {
  constexpr double same = 0.1;  // of the way to the next positions
  const double move_nm = files_.beginnings[file_].move_nm;
  return move_nm > 0 && f.x_nm.size() == last_x_.size() &&
         farthest_move(last_x_, f) <= same * move_nm;
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
      exact_ps_.reset();
    }
    while (reader_->read(s)) {
      const std::optional<double> t = time_of(s.frame);
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
