// SPDX-License-Identifier: Apache-2.0
//
// step,time [ps], then a column for each observable, its unit in brackets.
#include "formats.h"
#include "tessera/data/file_io.h"
#include "tessera/data/metrics.h"

#include <fmt/format.h>

#include <charconv>

namespace tessera::molecular {
namespace {

std::vector<std::string> columns(const TrajectoryOptions& options) {
  std::vector<std::string> out = {"step", "time [ps]"};
  for (const Observable& o : options.observables)
    out.push_back(o.unit.empty() ? o.name : fmt::format("{} [{}]", o.name, o.unit));
  return out;
}

/// Bytes of the header and the whole rows up to `last_step`.
std::uint64_t kept_csv(const WriterSetup& w) {
  const std::string text = data::read_file(w.path);
  std::size_t at = text.find('\n') + 1;  // 0 where there is no header: the file is refused then
  for (std::size_t end; at > 0 && (end = text.find('\n', at)) != std::string::npos; at = end + 1) {
    std::int64_t step = 0;
    const auto [rest, error] = std::from_chars(text.data() + at, text.data() + end, step);
    if (error != std::errc{} || *rest != ',')
      throw data::InputError(data::Diagnostic{.number = damaged,
                                              .place = {.file = w.path.string(), .byte = at},
                                              .message = "expected a row that begins with a step"});
    if (step > *w.last_step) break;
  }
  return at;
}

class CsvWriter final : public TrajectoryWriter {
 public:
  explicit CsvWriter(const WriterSetup& w)
      : n_(w.options.observables.size()),
        file_(w.last_step
                  ? std::make_unique<data::MetricsFile>(w.path, columns(w.options), kept_csv(w))
                  : std::make_unique<data::MetricsFile>(w.path, columns(w.options))) {}

  void write(const Snapshot& s) override {
    if (s.observables.size() != n_)
      throw Error(fmt::format("[csv] step {}: expected {} observables, got {}", s.frame.step, n_,
                              s.observables.size()));
    std::vector<std::string> row = {std::to_string(s.frame.step),
                                    data::number_text(s.frame.time_ps)};
    for (double v : s.observables) row.push_back(data::number_text(v));
    file_->row(row);
  }
  void sync() override { file_->sync(); }

 private:
  std::size_t n_;
  std::unique_ptr<data::MetricsFile> file_;
};

}  // namespace

std::unique_ptr<TrajectoryWriter> write_csv(const WriterSetup& setup) {
  return std::make_unique<CsvWriter>(setup);
}

}  // namespace tessera::molecular
