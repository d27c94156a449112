// SPDX-License-Identifier: Apache-2.0
#include "inversion/mt2d/run.h"
#include "tessera/autodiff/forall.h"
#include "tessera/autodiff/ops.h"
#include "tessera/data/checkpoint.h"
#include "tessera/data/file_io.h"
#include "tessera/data/log.h"
#include "tessera/data/manifest.h"
#include "tessera/data/progress.h"
#include "tessera/data/run.h"
#include "tessera/data/stop.h"
#include "tessera/inversion/sounding_write.h"

#include <fmt/format.h>

#include <filesystem>
#include <optional>

namespace tessera::apps::mt2d {
namespace {

namespace fs = std::filesystem;
using inversion::Responses2d;

/// [frequencies, sensors] of each response, one list behind the other.
void put(data::Checkpoint& c, const std::string& at, const std::vector<Responses2d>& all) {
  std::vector<c128> values;
  std::vector<std::int64_t> shapes;
  for (const Responses2d& r : all)
    for (const Tensor* t : {&r.te, &r.tm, &r.tipper}) {
      const auto more = t->to_vector<c128>();
      values.insert(values.end(), more.begin(), more.end());
      for (const Index n : t->shape()) shapes.push_back(n);
    }
  c.put(at + "/values", std::move(values));
  c.put(at + "/shapes", std::move(shapes));
}
std::vector<Responses2d> responses(const data::Checkpoint& c, const std::string& at) {
  auto value = c.array<c128>(at + "/values").begin();
  const std::vector<std::int64_t>& shapes = c.array<std::int64_t>(at + "/shapes");
  std::vector<Responses2d> out;
  auto shape = shapes.begin();
  const auto next = [&] {
    const Index n = shape[0], m = shape[1];
    const std::vector<c128> values(value, value + n * m);
    shape += 2, value += n * m;
    return tensor(values, {n, m});
  };
  while (shape != shapes.end()) {
    Responses2d& r = out.emplace_back();
    r.te = next(), r.tm = next(), r.tipper = next();
  }
  return out;
}

void put(data::Checkpoint& c, const inversion::Mesh2d& m) {
  std::vector<std::int64_t> parameter, lines;
  std::vector<double> ohm_m;
  for (const inversion::Medium2d& medium : m.medium)
    parameter.push_back(medium.parameter), ohm_m.push_back(medium.ohm_m);
  for (const std::vector<Index>& line : m.lines) {
    lines.push_back(std::ssize(line));
    lines.insert(lines.end(), line.begin(), line.end());
  }
  c.put("mesh/y", m.y), c.put("mesh/z", m.z);
  c.put("mesh/cell", std::vector<std::int64_t>(m.cell.begin(), m.cell.end()));
  c.put("mesh/parameter", std::move(parameter)), c.put("mesh/ohm_m", std::move(ohm_m));
  c.put("mesh/lines", std::move(lines));
}
inversion::Mesh2d triangles(const data::Checkpoint& c) {
  inversion::Mesh2d m{.corners = 3, .y = c.array<double>("mesh/y"), .z = c.array<double>("mesh/z")};
  const auto& cell = c.array<std::int64_t>("mesh/cell");
  m.cell.assign(cell.begin(), cell.end());
  const auto& parameter = c.array<std::int64_t>("mesh/parameter");
  const auto& ohm_m = c.array<double>("mesh/ohm_m");
  for (std::size_t k = 0; k < parameter.size(); ++k) m.medium.push_back({parameter[k], ohm_m[k]});
  const auto& lines = c.array<std::int64_t>("mesh/lines");
  for (auto at = lines.begin(); at != lines.end(); at += 1 + *at)
    m.lines.emplace_back(at + 1, at + 1 + *at);
  return m;
}

/// What a checkpoint of a forward run holds: the search for its mesh, and the frequencies that are
/// solved on it.
struct ForwardState {
  MeshSearch search;
  Solved solved;

  void put_into(data::Checkpoint& c) const {
    std::vector<Responses2d> looks;
    std::vector<std::int64_t> parts;
    for (const Look& look : search.looks) {
      looks.push_back(look.responses);
      parts.push_back(look.parts.columns), parts.push_back(look.parts.rows);
    }
    c.put("looks/parts", std::move(parts));
    put(c, "looks", looks);
    if (search.outline) {
      const inversion::GoalMesh& g = search.outline->so_far;
      put(c, g.mesh);
      put(c, "before",
          search.outline->before ? std::vector{*search.outline->before}
                                 : std::vector<Responses2d>{});
      std::vector<double> steps{
          double(search.outline->ended), double(g.reached),    g.left.size, double(g.left.of),
          double(g.left.frequency),      double(g.left.sensor)};
      for (const auto& step : g.steps)
        steps.push_back(double(step.cells)), steps.push_back(step.error);
      c.put("outline", std::move(steps));
    }
    c.put("solved/frequencies", static_cast<std::uint64_t>(solved.frequencies));
    c.put("solved/te", solved.te), c.put("solved/tm", solved.tm);
    c.put("solved/tipper", solved.tipper);
  }
  void get_from(const data::Checkpoint& c) {
    const auto& parts = c.array<std::int64_t>("looks/parts");
    std::vector<Responses2d> looks = responses(c, "looks");
    for (std::size_t k = 0; k < looks.size(); ++k)
      search.looks.push_back({{static_cast<int>(parts[2 * k]), static_cast<int>(parts[2 * k + 1])},
                              std::move(looks[k])});
    if (c.has("outline")) {
      inversion::GoalMeshSearch& s = search.outline.emplace();
      s.so_far.mesh = triangles(c);
      for (Responses2d& r : responses(c, "before")) s.before = std::move(r);
      const std::vector<double>& v = c.array<double>("outline");
      s.ended = v.at(0) != 0, s.so_far.reached = v.at(1) != 0;
      s.so_far.left = {.size = v.at(2),
                       .of = static_cast<inversion::ResponseChange::Of>(v.at(3)),
                       .frequency = static_cast<Index>(v.at(4)),
                       .sensor = static_cast<Index>(v.at(5))};
      for (std::size_t k = 6; k + 1 < v.size(); k += 2)
        s.so_far.steps.push_back({static_cast<Index>(v[k]), v[k + 1]});
    }
    solved.frequencies = c.scalar<std::uint64_t>("solved/frequencies");
    solved.te = c.array<c128>("solved/te"), solved.tm = c.array<c128>("solved/tm");
    solved.tipper = c.array<c128>("solved/tipper");
  }
  std::size_t meshes() const {
    return search.looks.size() + (search.outline ? search.outline->so_far.steps.size() : 0);
  }
};

/// Checkpoints of a run's state, and its stops.
class Keeping {
 public:
  Keeping(RunContext& to, ForwardState& state)
      : to_(to), state_(state), periodic_(to.options.checkpoint_every_s) {
    auto loaded = data::load_newest_checkpoint(to.folder.checkpoints());
    if (!loaded) return;
    for (const auto& w : loaded->warnings) to.log.warning(data::to_string(w));
    data::check_resumable(loaded->checkpoint, to.manifest, to.manifest.inputs);
    state.get_from(loaded->checkpoint);
    to.log.info(fmt::format("going on from {}: {} of the frequencies are solved",
                            loaded->path.filename().string(), state.solved.frequencies));
  }
  /// After a solve: false where the run is to stop.
  bool go_on() {
    const bool stop = to_.stop.poll() != data::StopReason::none;
    if (periodic_.due() || stop) write();
    return !stop;
  }
  void write() {
    data::Checkpoint c{.app = "inversion.mt2d",
                       .step = state_.meshes() + state_.solved.frequencies,
                       .config_sha256 = to_.manifest.config_sha256,
                       .inputs = to_.manifest.inputs};
    state_.put_into(c);
    data::write_checkpoint(to_.folder.checkpoints(), c, to_.options.keep_checkpoints);
  }

 private:
  RunContext& to_;
  ForwardState& state_;
  data::Periodic periodic_;
};

/// The mesh, and all frequencies on it; false where the run was stopped.
bool compute(RunContext& to, const data::Config& config, ForwardProblem& p, ForwardState& state) {
  Keeping keeping(to, state);
  const auto progress_of = [&](const char* phase, const char* unit, std::size_t total,
                               std::size_t done) {
    return data::ProgressOptions{.style = to.progress_style,
                                 .phase = phase,
                                 .unit = unit,
                                 .total = total,
                                 .already_done = done,
                                 .heartbeat = to.folder.heartbeat_json()};
  };
  {
    std::optional<data::Progress> progress;
    const auto show = [&] { progress.emplace(progress_of("mesh", "meshes", 0, state.meshes())); };
    if (p.options.goal.value_or(0) < 1) show();  // else the mesh may be taken as it comes
    const bool found = refine(config, p, state.search, [&](Index cells) {
      if (!progress) show();
      progress->update(state.meshes(), {{"cells", static_cast<double>(cells)}});
      return keeping.go_on();
    });
    if (progress) progress->finish(found ? "finished" : "stopped");
    if (!found) return false;
  }
  to.log.info(describe(p));
  for (const auto* remarks : {&p.ground.remarks, &p.mesh.remarks})
    for (const std::string& remark : *remarks) to.log.info(remark);
  if (!p.doubt.empty()) to.log.warning(p.doubt);
  const std::size_t all = p.frequency_hz.size();
  data::Progress progress(progress_of("forward", "frequencies", all, state.solved.frequencies));
  while (state.solved.frequencies < all) {
    solve_some(p, state.solved);
    progress.update(state.solved.frequencies);
    if (state.solved.frequencies < all && !keeping.go_on()) {
      progress.finish("stopped");
      return false;
    }
  }
  progress.finish();
  keeping.write();
  return true;
}

}  // namespace

data::ExitCode run_forward(RunContext& to, const data::Config& config, ForwardProblem p) {
  set_num_threads(to.manifest.threads);
  to.manifest.seeds = {p.options.seed};
  to.log.info(describe_noise(p.options));
  ForwardState state;
  if (!compute(to, config, p, state)) return data::ExitCode::stopped_resumable;
  const auto exact = soundings_of(p, state.solved);
  const auto noisy = with_noise(p, exact);
  const Result r = forward_result(p, exact, noisy);
  const fs::path& run = to.folder.path();
  leave(to, p.options, r);
  if (p.options.latitude) {
    data::make_folder(run / "soundings");
    for (const inversion::Sounding& s : on_the_globe(p, noisy))
      inversion::write_edi(run / "soundings" / (s.station + ".edi"), s);
  }
  const double rms = inversion::rms_of(r.survey.data);
  to.manifest.metrics = {{"stations", static_cast<double>(r.y.size())},
                         {"data", static_cast<double>(r.survey.data.size())},
                         {"rms", rms}};
  to.log.info(fmt::format("{} data of {} stations", r.survey.data.size(), r.y.size()) +
              (has_noise(p.options) ? fmt::format(", RMS of their noise {:.3f}", rms) : ""));
  return meets_expectations(to.log, p.options, r) ? data::ExitCode::ok
                                                  : data::ExitCode::not_converged;
}

}  // namespace tessera::apps::mt2d
