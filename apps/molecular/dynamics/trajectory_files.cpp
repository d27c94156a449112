// SPDX-License-Identifier: Apache-2.0
#include "molecular/dynamics/trajectory_files.h"

#include "tessera/data/log.h"

#include <fmt/format.h>

#include <cmath>

namespace tessera::apps::dynamics {

template <class Write>
void TrajectoryFiles::to_files(Write&& write) const {
  try {
    write();
  } catch (const data::InputError&) {
    throw;
  } catch (const Error& e) {
    throw data::InputError(
        context_.config.error(751, "output.trajectory", e.what(),
                              "another format, which `tessera resume` takes with "
                              "--set output.trajectory=..., too"),
        data::ExitCode::config_invalid);
  }
}

void TrajectoryFiles::open(const mol::StageRun& running, bool fresh) {
  const OutputOptions& out = c_.options.output;
  const bool rerun = stage_.type == StageType::rerun;  // of every frame there is
  if (rerun ? !out.forces : stage_.settings.nstxout == 0) return;
  mol::TrajectoryOptions o{.velocities = out.velocities && !running.frame().v_nm_ps.empty(),
                           .forces = out.forces,
                           .observables = {},
                           .xtc_precision = in_unit(out.xtc_precision, "1/nm")};
  for (std::size_t k = 2; k < running.columns().size(); ++k)
    o.observables.push_back({running.columns()[k], mol::unit_of(running.columns()[k])});
  const mol::System part = c_.written.empty() ? system_ : mol::part_of(system_, c_.written);
  const std::string name = rerun ? "forces." : "trajectory.";
  for (const std::string& format : out.trajectory) {
    const std::filesystem::path path = folder_ / (name + format);
    to_files([&] {
      files_.push_back(fresh ? mol::create_trajectory(path, part, o)
                             : mol::append_trajectory(path, part, running.step(), o));
    });
    if (const double begin_ps = running.frame().time_ps;
        fresh && format == "dcd" && !rerun && std::abs(begin_ps) > 0x1p31 * stage_.dynamics.dt_ps)
      context_.log.warning(fmt::format(
          "{} begins at {:g} ps, more time steps than its header holds: its title has this time, "
          "and programs that do not read it count from the step",
          path.filename().string(), begin_ps));
  }
  if (!c_.written.empty() && fresh)
    write_structure(folder_ / (name + "pdb"), part, running.frame());
}

void TrajectoryFiles::write_structure(const std::filesystem::path& path, const mol::System& part,
                                      const mol::Frame& frame) const {
  try {
    mol::create_trajectory(path, part)->write({.frame = shown(frame), .f = {}, .observables = {}});
  } catch (const data::InputError&) {
    throw;
  } catch (const Error& e) {
    context_.log.warning(e.what());
  }
}

std::vector<mol::Vec3> TrajectoryFiles::shown(const std::vector<mol::Vec3>& all) const {
  if (c_.written.empty() || all.empty()) return all;
  std::vector<mol::Vec3> out;
  for (const std::int32_t i : c_.written) out.push_back(all[static_cast<std::size_t>(i)]);
  return out;
}

mol::Frame TrajectoryFiles::shown(const mol::Frame& f) const {
  return {.x_nm = shown(f.x_nm),
          .v_nm_ps = shown(f.v_nm_ps),
          .box = f.box,
          .time_ps = f.time_ps,
          .step = f.step};
}

void TrajectoryFiles::write(const mol::StageRun& running) {
  mol::Snapshot s{.frame = shown(running.frame()), .f = {}, .observables = {}};
  if (c_.options.output.forces) s.f = shown(running.forces().f);
  const std::vector<double> values = running.row();
  s.observables.assign(values.begin() + 2, values.end());
  to_files([&] {
    for (const auto& file : files_) file->write(s);
  });
}

void TrajectoryFiles::sync() {
  for (const auto& file : files_) file->sync();
}

void TrajectoryFiles::close() {
  sync();
  files_.clear();
}

}  // namespace tessera::apps::dynamics
