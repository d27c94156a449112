// SPDX-License-Identifier: Apache-2.0
// What is measured during a run, and what becomes of it.
#pragma once
#include "electromagnetics/fdtd/subtract.h"
#include "electromagnetics/waves/case.h"
#include "tessera/autodiff/tensor.h"
#include "tessera/data/checkpoint.h"
#include "tessera/data/grid.h"
#include "tessera/electromagnetics/fading.h"

#include <complex>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace tessera::apps::fdtd {

/// One array of a result. The first of its dimensions is that of the result's axis; a single number
/// has none.
struct Quantity {
  std::string name, units, long_name;
  std::vector<std::uint64_t> shape;
  std::variant<std::vector<double>, std::vector<std::complex<double>>> values;
};
/// Coordinates of further dimensions, such as the angles of a pattern or the lines of a plane.
struct Coordinate {
  std::string name, units;
  std::vector<double> values;
  std::vector<std::string> names{};  ///< of ports: what each value stands for
};
struct MonitorResult {
  std::string name, kind;
  Coordinate axis;  ///< frequency, time or the number of a mode
  std::vector<Coordinate> coordinates;
  std::vector<Quantity> quantities;
  /// Of transforms: how far their fields had fallen when the run ended.
  std::optional<double> fallen_db{};
  std::optional<electromagnetics::TransformRecord> transform{};

  const Quantity* find(const std::string& quantity) const;
};

using Results = std::vector<MonitorResult>;

/// One monitor during a run.
class Monitor {
 public:
  Monitor(const Case& c, const MonitorOptions& o)
      : case_(c), options_(o), samples_(c.grid, c.faces, computed(c), c.open, bloch_phase(c)) {}
  virtual ~Monitor() = default;
  Monitor(const Monitor&) = delete;
  Monitor& operator=(const Monitor&) = delete;

  const MonitorOptions& options() const { return options_; }
  /// The edges it wants recorded.
  const std::vector<electromagnetics::Edge>& edges() const { return samples_.edges(); }
  /// Sees the records of its own edges.
  virtual void observe(const electromagnetics::Records& r) = 0;
  /// What takes further runs, after the last of `n_steps` steps, on all ranks of the cut at once.
  /// `go_on` is asked with the share that is done; false: it ended the work.
  virtual bool differentiate(std::int64_t, const electromagnetics::GridCut&,
                             const std::function<bool(double)>&) {
    return true;
  }
  /// Whether that has been done, for the run as it stands.
  virtual bool is_differentiated() const { return true; }
  virtual MonitorResult result() const = 0;
  /// Takes off the fields of the same monitor of a run that has ended.
  virtual void take_off(const Monitor&) {}
  /// Adds what it says in units of others, once `all` have their results.
  virtual void relate(MonitorResult&, const Results&) const {}
  /// What it says of a sum of fields of several runs, of whose monitors it is one: weights complex
  /// [frequency, run]. Nothing of monitors that have no such sums.
  virtual std::optional<MonitorResult> combined(const std::vector<const Monitor*>&,
                                                const Tensor&) const {
    return {};
  }
  virtual void save(data::Checkpoint& c, const std::string& prefix) const = 0;
  virtual void load(const data::Checkpoint& c, const std::string& prefix) = 0;
  /// A number that settles as the run goes on (the transforms' norm); nothing where there is none.
  virtual std::optional<double> settling() const { return {}; }
  /// How far what it transforms has fallen; nothing where it transforms nothing.
  virtual std::optional<electromagnetics::Fading::Report> fading() const { return {}; }
  virtual std::int64_t bytes(std::int64_t n_steps) const = 0;

  // What of it differentiates (derivatives.cpp): an expression of its samples at the steps that it
  // keeps, or of their transforms.
  const electromagnetics::SampleList& samples() const { return samples_; }
  /// Whether it keeps what step `n` (counted from 1) leaves; a monitor of transforms keeps none.
  virtual bool keeps(std::int64_t) const { return false; }
  struct Transform {
    std::vector<double> frequencies_hz;
    int every = 1;
    double folded = 0;  ///< what other frequencies add at most, over the peak of the sources
    std::vector<double> start;  ///< [frequency, 2, edge] sums to begin at; empty: zero
  };
  virtual std::optional<Transform> transform() const { return {}; }
  /// Which of its results `figure` is.
  virtual std::string figure_name() const = 0;
  /// From the samples, real [step, sample], or their transforms, complex [frequency, sample].
  /// Undefined: nothing differentiates.
  virtual Tensor figure(const Tensor& samples) const = 0;

  // What `derivatives` of a monitor of transforms gives (derivative_passes.cpp).
  /// One of its results.
  struct Figure {
    std::string name;
    Tensor value;  ///< [frequency, ..]
    int order =
        0;  ///< how it goes with the strength of the fields: not at all, 1 as they, 2 as power
  };
  /// From transforms, complex [frequency, sample]. `base`: the power that the monitor is related
  /// to, real [frequency]; undefined where it is to none.
  virtual std::vector<Figure> figures(const Tensor&, const Tensor& /*base*/) const { return {}; }
  /// What others are related to, real [frequency]; undefined of monitors that have no power.
  virtual Tensor power(const Tensor&) const { return {}; }

 protected:
  const Case& case_;
  const MonitorOptions& options_;
  electromagnetics::SampleList samples_;
};

/// All monitors of a case, in its order. Throws InputError at the place of one that does not fit.
std::vector<std::unique_ptr<Monitor>> make_monitors(const Case& c, const data::Config& config);

}  // namespace tessera::apps::fdtd
