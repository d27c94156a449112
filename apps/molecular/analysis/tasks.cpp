// SPDX-License-Identifier: Apache-2.0
#include "molecular/analysis/tasks.h"

#include "tessera/autodiff/error.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <set>

namespace tessera::apps::analysis {
namespace {

constexpr double nm = 1e-9, ps = 1e-12, cm2_s = 0.01;  // nm^2/ps in cm^2/s

std::vector<double> masses_of(const mol::System& s, const mol::Group& g) {
  std::vector<double> m;
  for (std::int32_t i : g) m.push_back(s.atoms.mass_amu[static_cast<std::size_t>(i)]);
  return m;
}

/// Of what is the same at every frame but its value.
class Series {
 public:
  explicit Series(const Input& in) : by_number_(in.by_number) {}
  void add(double time_ps, double v) {
    curve_.x.push_back(time_ps);
    curve_.y.push_back(v);
    mean_.add(v);
  }
  void tell(Findings& out, const std::string& task, const std::string& name,
            const std::string& label, const std::string& unit) const {
    out.charts.push_back(
        {task, name, by_number_ ? "frame" : "time", by_number_ ? "" : "ps", label, unit, curve_});
    out.averages.push_back({task + "." + name, unit, mean_.result()});
  }

 private:
  bool by_number_;
  mol::Curve curve_;
  data::Blocking mean_;
};

class Rdf final : public Task {
 public:
  Rdf(const TaskOptions& o, const Input& in)
      : name_(o.name),
        pairs_(in.groups.at(o.group), in.groups.at(o.with),
               {.r_max_nm = o.r_max.value_or(0) / nm,
                .bin_nm = o.bin / nm,
                .molecule =
                    o.same_molecule ? std::vector<std::int32_t>{} : mol::molecules(in.system)}) {}
  void add(const mol::Snapshot& s) override { pairs_.add(s.frame); }
  void tell(Findings& out) const override {
    out.charts.push_back({name_, "g", "r", "nm", "g(r)", "", pairs_.g()});
    out.charts.push_back(
        {name_, "coordination", "r", "nm", "neighbours within r", "", pairs_.coordination()});
  }

 private:
  std::string name_;
  mol::PairDistribution pairs_;
};

class Msd final : public Task {
 public:
  Msd(const TaskOptions& o, const Input& in)
      : name_(o.name),
        msd_(in.system, groups(o, in),
             {.fit_from_ps = o.fit_from / ps,
              .fit_to_ps = o.fit_to / ps,
              .lag_ps = o.lag.value_or(0) / ps,
              .remove_drift = o.remove_drift}) {}
  void add(const mol::Snapshot& s) override { msd_.add(s.frame); }
  void tell(Findings& out) const override {
    out.charts.push_back(
        {name_, "msd", "time", "ps", "mean squared displacement", "nm^2", msd_.curve()});
    data::BlockedMean d = msd_.diffusion();
    d.mean *= cm2_s, d.error *= cm2_s, d.error_of_error *= cm2_s;
    out.averages.push_back({name_ + ".diffusion", "cm^2/s", d});
  }

 private:
  static std::vector<mol::Group> groups(const TaskOptions& o, const Input& in) {
    const mol::Group& atoms = in.groups.at(o.group);
    std::vector<mol::Group> out;
    if (!o.molecules) {
      for (std::int32_t i : atoms) out.push_back({i});
      return out;
    }
    const mol::MoleculeMap map(in.system);
    const std::vector<std::int32_t> molecule = mol::molecules(in.system);
    std::set<std::int32_t> wanted;
    for (std::int32_t i : atoms) wanted.insert(molecule[static_cast<std::size_t>(i)]);
    for (std::int32_t m : wanted) out.push_back(map.atoms()[static_cast<std::size_t>(m)]);
    return out;
  }
  std::string name_;
  mol::MeanSquaredDisplacement msd_;
};

class Vacf final : public Task {
 public:
  Vacf(const TaskOptions& o, const Input& in, double frame_ps)
      : name_(o.name),
        lag_(lag_frames(*o.lag / ps, frame_ps)),
        c_(in.system, in.groups.at(o.group), lag_) {
    if (lag_ == 0)
      throw Error(fmt::format("[vacf] the lag of {} ps is shorter than the {} ps between frames",
                              *o.lag / ps, frame_ps));
  }
  void add(const mol::Snapshot& s) override {
    c_.add(s.frame);
    ++frames_;
  }
  void tell(Findings& out) const override {
    if (frames_ <= lag_)
      throw Error(
          fmt::format("[vacf] expected more frames than the lag spans, {}, got {}", lag_, frames_));
    out.charts.push_back(
        {name_, "vacf", "time", "ps", "velocity autocorrelation", "nm^2/ps^2", c_.curve()});
    // An integral over a curve whose points depend on each other: its error is not known.
    out.averages.push_back({name_ + ".diffusion",
                            "cm^2/s",
                            {.n = 1,
                             .mean = c_.diffusion() * cm2_s,
                             .error = NAN,
                             .error_of_error = NAN,
                             .levels = {}}});
  }

 private:
  std::string name_;
  std::size_t lag_, frames_ = 0;
  mol::VelocityAutocorrelation c_;
};

class MassDensity final : public Task {
 public:
  MassDensity(const TaskOptions& o, const Input& in)
      : name_(o.name),
        slices_(o.slices > 0),
        density_(in.system, in.groups.at(o.group), static_cast<int>(o.axis),
                 static_cast<std::size_t>(o.slices)) {}
  void add(const mol::Snapshot& s) override { density_.add(s.frame); }
  void tell(Findings& out) const override {
    if (slices_)
      out.charts.push_back(
          {name_, "profile", "position", "nm", "density", "kg/m^3", density_.profile()});
    out.averages.push_back({name_ + ".density", "kg/m^3", density_.mean()});
  }

 private:
  std::string name_;
  bool slices_;
  mol::Density density_;
};

class Rmsd final : public Task {
 public:
  Rmsd(const TaskOptions& o, const Input& in)
      : name_(o.name),
        group_(in.groups.at(o.group)),
        map_(in.system),
        complex_(in.system, group_),
        rmsd_(in) {
    if (o.mass_weighted) weights_ = masses_of(in.system, group_);
  }
  void add(const mol::Snapshot& s) override {
    std::vector<mol::Vec3> x = s.frame.x_nm;
    map_.make_whole(x, s.frame.box);
    complex_.gather(x, s.frame.box);
    if (!fluctuations_) fluctuations_ = std::make_unique<mol::Fluctuations>(x, group_, weights_);
    rmsd_.add(s.frame.time_ps, fluctuations_->add(x));
  }
  void tell(Findings& out) const override {
    rmsd_.tell(out, name_, "rmsd", "RMSD from the first frame", "nm");
    Chart rmsf{name_, "rmsf", "atom", "", "RMSF", "nm", {}};
    rmsf.curve.y = fluctuations_->rmsf_nm();
    for (std::int32_t i : group_) rmsf.curve.x.push_back(i + 1);
    out.charts.push_back(std::move(rmsf));
  }

 private:
  std::string name_;
  mol::Group group_;
  mol::MoleculeMap map_;
  mol::Complex complex_;
  std::vector<double> weights_;
  std::unique_ptr<mol::Fluctuations> fluctuations_;
  Series rmsd_;
};

class Gyration final : public Task {
 public:
  Gyration(const TaskOptions& o, const Input& in)
      : name_(o.name),
        group_(in.groups.at(o.group)),
        map_(in.system),
        complex_(in.system, group_),
        radius_(in) {
    if (o.mass_weighted) masses_ = masses_of(in.system, group_);
  }
  void add(const mol::Snapshot& s) override {
    std::vector<mol::Vec3> x = s.frame.x_nm;
    map_.make_whole(x, s.frame.box);
    complex_.gather(x, s.frame.box);
    radius_.add(s.frame.time_ps, mol::radius_of_gyration(x, group_, masses_));
  }
  void tell(Findings& out) const override {
    radius_.tell(out, name_, "radius", "radius of gyration", "nm");
  }

 private:
  std::string name_;
  mol::Group group_;
  mol::MoleculeMap map_;
  mol::Complex complex_;
  std::vector<double> masses_;
  Series radius_;
};

class HydrogenBonds final : public Task {
 public:
  HydrogenBonds(const TaskOptions& o, const Input& in)
      : name_(o.name),
        system_(in.system),
        distance_nm_(o.distance / nm),
        angle_deg_(o.angle * 180 / std::numbers::pi),
        number_(in) {
    constexpr std::uint8_t hydrogen = 1;
    if (in.system.connectivity.empty() &&
        std::ranges::find(in.system.atoms.element, hydrogen) != in.system.atoms.element.end())
      throw Error(
          "[hydrogen_bonds] expected bonds, which say what atom bears a hydrogen; the topology has "
          "none");
  }
  void add(const mol::Snapshot& s) override {
    number_.add(s.frame.time_ps,
                static_cast<double>(
                    mol::hydrogen_bonds(system_, s.frame, distance_nm_, angle_deg_).size()));
  }
  void tell(Findings& out) const override {
    number_.tell(out, name_, "number", "hydrogen bonds", "");
  }

 private:
  std::string name_;
  const mol::System& system_;
  double distance_nm_, angle_deg_;
  Series number_;
};

}  // namespace

std::size_t lag_frames(double lag_ps, double frame_ps) {
  constexpr double most = 1e15;  // more than any trajectory has
  return static_cast<std::size_t>(std::llround(std::min(most, lag_ps / frame_ps)));
}

std::unique_ptr<Task> make_task(const TaskOptions& o, const Input& in, double frame_ps) {
  switch (o.kind) {
    case Kind::rdf:
      return std::make_unique<Rdf>(o, in);
    case Kind::msd:
      return std::make_unique<Msd>(o, in);
    case Kind::vacf:
      return std::make_unique<Vacf>(o, in, frame_ps);
    case Kind::density:
      return std::make_unique<MassDensity>(o, in);
    case Kind::rmsd:
      return std::make_unique<Rmsd>(o, in);
    case Kind::gyration:
      return std::make_unique<Gyration>(o, in);
    case Kind::hydrogen_bonds:
      return std::make_unique<HydrogenBonds>(o, in);
  }
  throw Error("[analysis] no such kind");
}

}  // namespace tessera::apps::analysis
