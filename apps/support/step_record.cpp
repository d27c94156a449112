// SPDX-License-Identifier: Apache-2.0
#include "support/step_record.h"

#include "tessera/autodiff/error.h"
#include "tessera/data/checkpoint.h"
#include "tessera/data/log.h"
#include "tessera/data/manifest.h"
#include "tessera/data/metrics.h"
#include "tessera/data/progress.h"
#include "tessera/data/run.h"
#include "tessera/data/stop.h"

#include <optional>

namespace tessera::apps {

struct StepRecord::Impl {
  Impl(RunContext& run, StepOptions o)
      : context(run), options(std::move(o)), periodic(run.options.checkpoint_every_s) {}

  void write() {
    data::Checkpoint c;
    c.app = options.app;
    c.step = step;
    c.config_sha256 = context.manifest.config_sha256;
    c.inputs = options.inputs;
    options.save(c);
    c.put("metrics_bytes", metrics->sync());
    std::vector<double> all;
    for (const std::vector<double>& row : history) all.insert(all.end(), row.begin(), row.end());
    c.put("history", std::move(all));
    data::write_checkpoint(context.folder.checkpoints(), c, context.options.keep_checkpoints);
  }

  RunContext& context;
  StepOptions options;
  data::Periodic periodic;
  std::vector<std::vector<double>> history;
  std::optional<data::MetricsFile> metrics;
  std::optional<data::Progress> progress;
  std::uint64_t step = 0;
  bool resumed = false;
};

StepRecord::StepRecord(RunContext& context, StepOptions options)
    : impl_(std::make_unique<Impl>(context, std::move(options))) {
  Impl& i = *impl_;
  const std::size_t width = i.options.columns.size();
  if (auto loaded = data::load_newest_checkpoint(context.folder.checkpoints())) {
    for (const auto& w : loaded->warnings) context.log.warning(data::to_string(w));
    const data::Checkpoint& c = loaded->checkpoint;
    data::check_resumable(c, context.manifest, i.options.inputs);
    i.options.load(c);
    const std::vector<double>& all = c.array<double>("history");
    for (std::size_t k = 0; k + width <= all.size(); k += width)
      i.history.emplace_back(all.begin() + static_cast<std::ptrdiff_t>(k),
                             all.begin() + static_cast<std::ptrdiff_t>(k + width));
    i.metrics.emplace(context.folder.metrics_csv(), i.options.columns,
                      c.scalar<std::uint64_t>("metrics_bytes"));
    i.step = c.step;
    i.resumed = true;
    context.log.info("going on from " + loaded->path.filename().string() + " at step " +
                     std::to_string(i.step));
  } else {
    i.metrics.emplace(context.folder.metrics_csv(), i.options.columns);
  }
  i.progress.emplace(data::ProgressOptions{.style = context.progress_style,
                                           .phase = i.options.phase,
                                           .unit = i.options.unit,
                                           .total = i.options.total,
                                           .already_done = i.step,
                                           .heartbeat = context.folder.heartbeat_json()});
}

StepRecord::~StepRecord() = default;

bool StepRecord::resumed() const { return impl_->resumed; }

const std::vector<std::vector<double>>& StepRecord::history() const { return impl_->history; }

void StepRecord::note(std::vector<double> row,
                      const std::vector<std::pair<std::string, double>>& shown) {
  if (row.size() != impl_->options.columns.size())
    throw Error("[StepRecord] a row has " + std::to_string(row.size()) + " numbers, expected " +
                std::to_string(impl_->options.columns.size()));
  impl_->metrics->row(row);
  impl_->step = static_cast<std::uint64_t>(row[0]);
  impl_->progress->update(impl_->step, shown);
  impl_->history.push_back(std::move(row));
}

bool StepRecord::go_on() {
  if (impl_->context.stop.poll() != data::StopReason::none) {
    impl_->write();
    impl_->progress->finish("stopped");
    return false;
  }
  if (impl_->periodic.due()) impl_->write();
  return true;
}

void StepRecord::finish() {
  impl_->progress->finish();
  impl_->write();
}

void StepRecord::fail() { impl_->progress->finish("failed"); }

}  // namespace tessera::apps
