// SPDX-License-Identifier: Apache-2.0
#include "tessera/data/progress.h"

#include "run/json_text.h"
#include "run/terminal.h"
#include "tessera/autodiff/error.h"
#include "tessera/data/diagnostic.h"
#include "tessera/data/file_io.h"
#include "tessera/data/manifest.h"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <mutex>

namespace tessera::data {
namespace {

constexpr double kRateWindow = 30;     // s, time constant of the rate's average
constexpr double kBarEvery = 0.1;      // s between two drawings
constexpr double kHeartbeatEvery = 1;  // s
constexpr double kPlainEvery = 60;     // s, at the latest

double steady_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// A few significant digits for people, whatever the locale.
std::string short_number(double v) {
  if (!std::isfinite(v)) return "-";
  char text[48];
  return {text, std::to_chars(text, text + sizeof text, v, std::chars_format::general, 4).ptr};
}

/// Work per second: an average over all of the work so far in the first `kRateWindow`, an
/// exponential one after.
class Rate {
 public:
  explicit Rate(double now) : start_(now), at_(now) {}
  void add(double work, double now) {
    const double dt = now - at_;
    if (dt <= 0) {
      pending_ += work;
      return;
    }
    const double share = dt / std::min(std::max(now - start_, dt), kRateWindow + dt);
    rate_ += share * ((work + pending_) / dt - rate_);
    pending_ = 0;
    at_ = now;
  }
  double per_second() const { return rate_; }

 private:
  double start_, at_, rate_ = 0, pending_ = 0;
};

}  // namespace

ProgressStyle progress_style(std::string_view name) {
  if (name == "auto") return ProgressStyle::automatic;
  if (name == "bar") return ProgressStyle::bar;
  if (name == "plain") return ProgressStyle::plain;
  if (name == "json") return ProgressStyle::json;
  if (name == "none") return ProgressStyle::none;
  throw Error("[progress] expected auto, bar, plain, json or none, got '" + std::string(name) +
              "'");
}

std::string duration_text(double seconds) {
  if (!std::isfinite(seconds) || seconds < 0) return "-";
  if (seconds >= 1e9) return "> 30 years";
  const auto s = static_cast<long long>(std::llround(seconds));
  const auto two = [](long long v) { return (v < 10 ? "0" : "") + std::to_string(v); };
  if (s >= 86400) return std::to_string(s / 86400) + " d " + two(s % 86400 / 3600) + " h";
  if (s >= 3600) return std::to_string(s / 3600) + " h " + two(s % 3600 / 60) + " min";
  if (s >= 60) return std::to_string(s / 60) + " min " + two(s % 60) + " s";
  return std::to_string(s) + " s";
}

struct Progress::Impl {
  using Values = std::vector<std::pair<std::string, double>>;

  explicit Impl(ProgressOptions o) : options(std::move(o)) {
    if (!options.clock) options.clock = steady_seconds;
    if (options.style == ProgressStyle::automatic)
      options.style = terminal::can_redraw(options.fd) ? ProgressStyle::bar : ProgressStyle::plain;
    start = last_shown = last_beat = options.clock();
    rate = Rate(start);
    done = options.already_done;
  }

  double fraction() const {
    return options.total ? std::min(1.0, double(done) / double(options.total)) : 0;
  }
  double eta() const {
    if (!options.total || rate.per_second() <= 0) return std::nan("");
    return double(options.total - std::min(done, options.total)) / rate.per_second();
  }

  std::string counts() const {
    std::string out = std::to_string(done);
    if (options.total) out += "/" + std::to_string(options.total);
    return out + " " + options.unit;
  }
  /// Slow work reads better as time per piece.
  std::string speed() const {
    const double r = rate.per_second();
    if (r <= 0) return "";
    if (r < 0.1) return short_number(1 / r) + " s each";
    return short_number(r) + " " + options.unit + "/s";
  }
  std::string tail() const {
    std::string out = counts();
    if (const std::string s = speed(); !s.empty()) out += "  " + s;
    for (const auto& [name, value] : values) out += "  " + name + " " + short_number(value);
    if (const double left = eta(); std::isfinite(left) && state.empty())
      out += "  ETA " + duration_text(left);
    return out;
  }

  std::string plain_line() const {
    const std::string percent = options.total ? std::to_string(int(100 * fraction())) + " %  " : "";
    return options.phase + "  " + percent + tail() +
           (state.empty() ? "" : "  " + state + " in " + duration_text(options.clock() - start));
  }
  std::string bar_line() const {
    std::string out = options.phase + " ";
    if (options.total) {
      constexpr int cells = 24;
      const int full = int(cells * fraction());
      out += "[" + std::string(full, '#') + std::string(cells - full, ' ') + "] " +
             std::to_string(int(100 * fraction())) + " %  ";
    }
    out += tail();
    const std::size_t room =
        static_cast<std::size_t>(std::max(20, terminal::width(options.fd) - 1));
    return out.size() > room ? out.substr(0, room) : out;
  }
  std::string json_line() const {
    std::string out =
        "{\"phase\":" + json_quote(options.phase) + ",\"done\":" + std::to_string(done);
    if (options.total) out += ",\"total\":" + std::to_string(options.total);
    out += ",\"unit\":" + json_quote(options.unit) + ",\"rate\":" + json_number(rate.per_second()) +
           ",\"eta_s\":" + json_number(eta()) +
           ",\"elapsed_s\":" + json_number(options.clock() - start) +
           ",\"state\":" + json_quote(state.empty() ? "running" : state);
    for (const auto& [name, value] : values)
      out += "," + json_quote(name) + ":" + json_number(value);
    return out + "}";
  }

  void show(bool last) {
    const double now = options.clock();
    switch (options.style) {
      case ProgressStyle::bar:
        if (!last && now - last_shown < kBarEvery) return;
        terminal::draw_bar(options.fd, bar_line());
        if (last) terminal::end_bar(options.fd);
        break;
      case ProgressStyle::plain: {
        const int tenth = options.total ? int(10 * fraction()) : 0;
        if (!last && tenth == last_tenth && now - last_shown < kPlainEvery) return;
        last_tenth = tenth;
        terminal::write_line(options.fd, plain_line());
        break;
      }
      case ProgressStyle::json:
        if (!last && now - last_shown < kBarEvery) return;
        terminal::write_line(options.fd, json_line());
        break;
      default:
        return;
    }
    last_shown = now;
  }

  /// A heartbeat that cannot be written must not end a run: the run's own files will tell of a full
  /// disk.
  void beat(bool now_please) {
    const double now = options.clock();
    if (options.heartbeat.empty() || (!now_please && now - last_beat < kHeartbeatEvery)) return;
    last_beat = now;
    std::string line = json_line();
    line.insert(
        1, "\"pid\":" + std::to_string(::getpid()) + ",\"updated\":" + json_quote(utc_now()) + ",");
    try {
      replace_file(options.heartbeat, line + "\n");
    } catch (const Error&) {
    }
  }

  ProgressOptions options;
  std::mutex mutex;
  Values values;
  std::string state;  // empty while running
  double start = 0, last_shown = 0, last_beat = 0;
  int last_tenth = 0;
  std::uint64_t done = 0;
  Rate rate{0};
};

Progress::Progress(ProgressOptions options) : impl_(std::make_unique<Impl>(std::move(options))) {
  impl_->beat(true);
}

Progress::~Progress() {
  if (impl_->state.empty()) finish("stopped");
}

void Progress::update(std::uint64_t done,
                      const std::vector<std::pair<std::string, double>>& values) {
  const std::lock_guard lock(impl_->mutex);
  if (done > impl_->done) impl_->rate.add(double(done - impl_->done), impl_->options.clock());
  impl_->done = std::max(done, impl_->done);
  impl_->values = values;
  impl_->show(false);
  impl_->beat(false);
}

void Progress::finish(std::string_view state) {
  const std::lock_guard lock(impl_->mutex);
  if (!impl_->state.empty()) return;
  impl_->state = state.empty() ? "finished" : std::string(state);
  impl_->show(true);
  impl_->beat(true);
}

}  // namespace tessera::data
