// SPDX-License-Identifier: Apache-2.0
#include "tessera/electromagnetics/time_domain.h"

#include "tessera/autodiff/error.h"
#include "tessera/autodiff/forall.h"
#include "tessera/electromagnetics/constants.h"
#include "tessera/parallel/communicator.h"
#include "time_domain/pages.h"
#include "time_domain/source_work.h"
#include "time_domain/wire_run.h"

#include <algorithm>
#include <cmath>
#include <exception>
#include <tuple>
#include <utility>

namespace tessera::electromagnetics {
namespace {

/// Steps that are taken at once: a whole number of waves, unless the records would take more than
/// 64 MiB.
std::int64_t block_length(std::int64_t columns) {
  return std::clamp<std::int64_t>((std::int64_t{8} << 20) / std::max<std::int64_t>(columns, 1), 1,
                                  16);
}

/// What rank 0 asks the others to do.
enum class Ask : std::int64_t { advance, energies, pole_energies, given, peak, work, end };
struct Asked {
  Ask what;
  std::int64_t number;  ///< of steps
};

/// While others may write or read what takes long.
template <class F>
auto patiently(parallel::Communicator& ranks, F&& f) {
  const double tell = std::exchange(ranks.patience.tell, INFINITY);
  auto came = f();
  ranks.patience.tell = tell;
  return came;
}

template <class T>
using Fields = time_domain::PagedVector<T>;

/// Along a binary tree: ranks and their cuts have no part in the rounding.
double tree_sum(std::span<const double> x) {
  if (x.size() < 3) return x.empty() ? 0 : x.size() == 1 ? x[0] : x[0] + x[1];
  const std::size_t half = x.size() / 2;
  return tree_sum(x.first(half)) + tree_sum(x.subspan(half));
}

}  // namespace

std::vector<double> Injection::currents(std::int64_t first, std::int64_t n_steps,
                                        double dt_s) const {
  std::int64_t n = 0;
  while (n < n_steps && static_cast<double>(first + n) * dt_s < end_s) ++n;
  if (n == 0) return {};
  std::vector<double> out(static_cast<std::size_t>(n_steps) * edges.size(), 0.0);
  fill(first, n, out.data());
  return out;
}

struct TimeDomain::Impl {
  YeeGrid grid;
  double dt;
  std::vector<Injection> sources;
  GridCut cut;
  int axis;                                         ///< of slices
  std::vector<std::int64_t> injected;               ///< columns of all sources that this rank holds
  std::vector<std::vector<std::int64_t>> recorded;  ///< [ranks] columns
  std::int64_t n_recorded;                          ///< of all ranks
  std::int64_t block;                               ///< of steps that are taken at once
  static constexpr int blocks_of_slabs = 4;         ///< or so many
  bool knows_work;                                  ///< of sources: records their edges as well
  YeeScheme scheme;
  std::variant<Fields<float>, Fields<double>> state;
  std::int64_t step = 0;
  time_domain::SourceWork given;  ///< by the sources that this rank holds
  bool others_want_to_stop = false;
  std::optional<time_domain::WireRun> wires;
  const int exceptions = std::uncaught_exceptions();

  Impl(YeeModel& model, std::vector<Injection> list, const GridCut& cut_, bool with_wires)
      : grid(model.grid),
        dt(model.dt_s),
        sources(std::move(list)),
        cut(cut_),
        axis(cut.axis >= 0 ? cut.axis : std::max(cut_axis(model.grid), 1)),
        recorded(edges_by_rank(model.recorded, cut)),
        n_recorded(static_cast<std::int64_t>(model.recorded.size())),
        block(
            block_length(static_cast<std::int64_t>(model.injected.size() + model.recorded.size()))),
        knows_work(!with_wires),
        scheme(keep_own(model), slab_of(model.faces, cut)) {
    if (knows_work) given = {scheme, model.injected, dt};
    model.material = nullptr, model.tensors = {};  // of the size of the grid; they have served
    if (scheme.dtype() == Dtype::f32)
      state = Fields<float>(static_cast<std::size_t>(scheme.state_size()), 0.0F);
    else
      state = Fields<double>(static_cast<std::size_t>(scheme.state_size()), 0.0);
  }

  int me() const { return cut.ranks ? cut.ranks->rank() : 0; }
  bool is_first_of_many() const { return cut.ranks && me() == 0; }

  /// The model with the lists of this rank; behind what it records, the edges of its sources.
  const YeeModel& keep_own(YeeModel& model) {
    const auto u = static_cast<std::size_t>(me());
    injected = edges_by_rank(model.injected, cut)[u];
    const auto keep = [](std::vector<Edge>& edges, const std::vector<std::int64_t>& columns) {
      std::vector<Edge> own;
      for (const std::int64_t c : columns) own.push_back(edges[static_cast<std::size_t>(c)]);
      edges = std::move(own);
    };
    if (cut.ranks) keep(model.injected, injected), keep(model.recorded, recorded[u]);
    if (knows_work)
      model.recorded.insert(model.recorded.end(), model.injected.begin(), model.injected.end());
    return model;
  }

  /// Rank 0 hears what all say.
  void hear_of_stops(bool mine) {
    for (const parallel::Bytes& told : cut.ranks->gather({static_cast<std::byte>(mine)}))
      others_want_to_stop |= told.at(0) != std::byte{0};
  }

  void ask(Ask what, std::int64_t number = 0) const {
    if (is_first_of_many())
      cut.ranks->broadcast(parallel::to_bytes(std::vector<Asked>{{what, number}}));
  }

  /// [parts, n, injected] of this rank for the steps from `step` on; empty after the last source
  /// has ended.
  std::vector<double> currents(std::int64_t n) const {
    const auto columns = static_cast<std::int64_t>(injected.size());
    std::vector<double> all(static_cast<std::size_t>(scheme.parts() * n * columns), 0.0);
    bool any = false;
    std::int64_t column = 0;  // of the source's first edge among all
    auto own = injected.begin();
    for (const Injection& s : sources) {
      const auto m = static_cast<std::int64_t>(s.edges.size());
      const auto begin = own;
      while (own != injected.end() && *own < column + m) ++own;
      for (std::int64_t at = 0; at < n && own != begin; at += block) {
        const std::int64_t steps = std::min(block, n - at);
        const std::vector<double> given = s.currents(step + at, steps, dt);  // of all its edges
        if (given.empty()) break;
        any = true;
        for (auto edge = begin; edge != own; ++edge) {
          const std::int64_t i = *edge - column, to = edge - injected.begin();
          const double phase = s.phase.empty() ? 0 : s.phase[static_cast<std::size_t>(i)];
          for (int part = 0; part < scheme.parts(); ++part)
            for (std::int64_t q = 0; q < steps; ++q)
              all[static_cast<std::size_t>((part * n + at + q) * columns + to)] =
                  given[static_cast<std::size_t>(q * m + i)] *
                  (part == 0 ? std::cos(phase) : std::sin(phase));
        }
      }
      column += m;
    }
    if (!any) all.clear();
    return all;
  }

  double all_given_j() const {
    if (!knows_work) return INFINITY;
    if (!cut.ranks) return given.joules();
    double sum = 0;
    for (const parallel::Bytes& b :
         cut.ranks->gather(parallel::to_bytes(std::vector<double>{given.joules()})))
      for (const double j : parallel::from_bytes<double>(b)) sum += j;
    return sum;
  }

  /// What all ranks recorded, in the order of all edges, at rank 0.
  template <class T>
  std::vector<double> together(std::vector<T> own, std::int64_t rows) const {
    if (!cut.ranks) return {own.begin(), own.end()};
    if (n_recorded == 0) return {};
    const std::vector<parallel::Bytes> all = cut.ranks->gather(parallel::to_bytes(own));
    if (me() != 0) return {};
    std::vector<double> values(static_cast<std::size_t>(rows * n_recorded));
    for (std::size_t r = 0; r < all.size(); ++r) {
      const std::vector<T> of_rank = parallel::from_bytes<T>(all[r]);
      auto next = of_rank.begin();
      for (std::int64_t row = 0; row < rows; ++row)
        for (const std::int64_t c : recorded[r])
          values[static_cast<std::size_t>(row * n_recorded + c)] = static_cast<double>(*next++);
    }
    return values;
  }

  /// What was recorded in n steps, in the blocks in which a run alone sees them.
  void show(const std::vector<double>& values, std::int64_t n,
            const std::function<void(const Records&)>& observe) const {
    for (std::int64_t at = 0; at < n;) {
      const std::int64_t steps = std::min(n - at, block - (step + at) % block);
      const double* first = values.data() + at * n_recorded;
      observe({step + at, steps, n_recorded, first, n_recorded,
               scheme.parts() == 2 ? first + n * n_recorded : nullptr});
      at += steps;
    }
  }

  template <class T>
  void take(Fields<T>& fields, std::int64_t n, const std::function<void(const Records&)>& observe) {
    const std::vector<double> s = currents(n);
    if (wires) {
      std::vector<double> values(static_cast<std::size_t>(n * n_recorded));
      wires->advance(scheme, fields.data(), step, n, s, values.data());
      if (observe) show(values, n, observe);
      step += n;
      return;
    }
    const std::vector<T> in(s.begin(), s.end());
    std::vector<T> out(static_cast<std::size_t>(scheme.parts() * n * scheme.n_recorded()));
    given.begin(in, fields.data());
    scheme.advance(fields.data(), n, in.empty() ? nullptr : in.data(), out.data(), nullptr,
                   nullptr);
    given.end(in, out, n);
    if (observe || cut.ranks) {
      const std::vector<double> values = together(std::move(out), scheme.parts() * n);
      if (observe) show(values, n, observe);
    }
    step += n;
  }
  void advance(std::int64_t n_steps, const std::function<void(const Records&)>& observe) {
    const std::int64_t end = step + n_steps;
    // Slabs wait for each other at the ends of calls.
    const std::int64_t most = cut.ranks ? blocks_of_slabs * block : block;
    while (step < end) {
      const std::int64_t n = std::min(end - step, most - step % most);
      std::visit([&](auto& fields) { take(fields, n, observe); }, state);
    }
  }

  // ---- what is summed or looked for in the whole grid

  /// Lines and middles of `d` that a rank holds.
  std::pair<int, int> range(int d, std::size_t rank) const {
    if (!cut.ranks || d != cut.axis) return {0, grid.cells(d) + 1};
    const int end = cut.begin[rank + 1];
    return {cut.begin[rank], end == grid.cells(d) ? end + 1 : end};
  }
  /// [k, j] of the rows of this rank.
  std::vector<double> row_energies(bool of_poles) const {
    const auto [j0, j1] = range(1, static_cast<std::size_t>(me()));
    const auto [k0, k1] = range(2, static_cast<std::size_t>(me()));
    const std::int64_t ny = j1 - j0;
    std::vector<double> rows(static_cast<std::size_t>(ny * (k1 - k0)));
    parallel_chunks(k1 - k0, [&, first = j0, low = k0](std::int64_t k) {
      for (std::int64_t j = 0; j < ny; ++j) {
        const int at_j = first + static_cast<int>(j), at_k = low + static_cast<int>(k);
        rows[static_cast<std::size_t>(k * ny + j)] = std::visit(
            [&](const auto& s) {
              return of_poles ? scheme.row_pole_energy(s.data(), at_j, at_k)
                              : scheme.row_energy(s.data(), at_j, at_k);
            },
            state);
      }
    });
    return rows;
  }
  /// The sum over all rows, in J. With everything in units of l: eps V/ds^2 = (c dt / l) / cb, so
  /// eps0 eps E^2 V / 2 = (eps0 l^3 / 2) (c dt / l) e^2 / cb; the same for h, which holds Z0.
  double sum_of_energies(bool of_poles) const {
    std::vector<double> rows = row_energies(of_poles);
    if (cut.ranks) {
      const std::vector<parallel::Bytes> all = cut.ranks->gather(parallel::to_bytes(rows));
      if (me() != 0) return 0;
      const std::int64_t ny = grid.cells(1) + 1, nz = grid.cells(2) + 1;
      rows.assign(static_cast<std::size_t>(ny * nz), 0.0);
      for (std::size_t r = 0; r < all.size(); ++r) {
        const std::vector<double> of_rank = parallel::from_bytes<double>(all[r]);
        auto next = of_rank.begin();
        for (int k = range(2, r).first; k < range(2, r).second; ++k)
          for (int j = range(1, r).first; j < range(1, r).second; ++j)
            rows[static_cast<std::size_t>(k * ny + j)] = *next++;
      }
    }
    const double l = scheme.reference_length(),
                 fields = 0.5 * vacuum_permittivity * l * l * l * tree_sum(rows);
    return fields + (wires && !of_poles ? wires->currents().energy_j() : 0);
  }

  Peak peak() const {
    const std::pair<int, int> rows = range(1, static_cast<std::size_t>(me())),
                              planes = range(2, static_cast<std::size_t>(me()));
    Peak best{-1, {}};
    std::visit(
        [&](const auto& s) {
          for (int c = 0; c < 3; ++c)
            for (int k = planes.first; k < planes.second; ++k)
              for (int j = rows.first; j < rows.second; ++j)
                for (int i = 0; i <= grid.cells(0); ++i) {
                  const Edge e{static_cast<std::uint8_t>(c), i, j, k};
                  if (std::array{i, j, k}[static_cast<std::size_t>(c)] == grid.cells(c))
                    continue;  // behind the last cell
                  double v = std::abs(double(s[static_cast<std::size_t>(scheme.offset(e))]));
                  if (std::isnan(v)) v = INFINITY;
                  if (v > best.value) best = {v, e};
                }
        },
        state);
    if (!cut.ranks) return best;
    const auto place = [](const Peak& p) {
      return std::tuple(-p.value, p.edge.component, p.edge.k, p.edge.j, p.edge.i);
    };
    for (const parallel::Bytes& b : cut.ranks->gather(parallel::to_bytes(std::vector<Peak>{best})))
      if (const Peak other = parallel::from_bytes<Peak>(b)[0]; place(other) < place(best))
        best = other;
    return best;
  }
};

TimeDomain::TimeDomain(YeeModel model, std::vector<Injection> sources, std::vector<Edge> recorded,
                       GridCut cut) {
  std::optional<time_domain::WireRun> wires;
  std::vector<Edge> of_wires;
  if (model.wires) {
    if (cut.ranks) throw Error("[TimeDomain] wires between lines of the grid go by one process");
    of_wires = model.wires->edges;
    wires.emplace(model, sources, recorded);
  }
  model.injected.clear();
  for (const Injection& s : sources)
    model.injected.insert(model.injected.end(), s.edges.begin(), s.edges.end());
  model.injected.insert(model.injected.end(), of_wires.begin(), of_wires.end());
  model.recorded = std::move(recorded);
  impl_ = std::make_unique<Impl>(model, std::move(sources), cut, wires.has_value());
  if (wires) impl_->n_recorded = wires->columns();
  impl_->wires = std::move(wires);
}
TimeDomain::~TimeDomain() {
  // After a failure the others are ended otherwise.
  if (impl_ && impl_->is_first_of_many() && std::uncaught_exceptions() == impl_->exceptions) try {
      impl_->ask(Ask::end);
    } catch (const Error&) {
    }
}
TimeDomain::TimeDomain(TimeDomain&&) noexcept = default;

bool TimeDomain::is_cut() const { return impl_->cut.ranks != nullptr; }

const GridCut& TimeDomain::cut() const { return impl_->cut; }

bool TimeDomain::others_want_to_stop() const { return impl_->others_want_to_stop; }

void TimeDomain::help(const std::function<bool()>& wants_to_stop, const Work& work) {
  if (!is_cut()) return;
  parallel::Communicator& ranks = *impl_->cut.ranks;
  const auto next = [&] {  // rank 0 may have work of its own
    return parallel::from_bytes<Asked>(patiently(ranks, [&] { return ranks.broadcast({}); })).at(0);
  };
  for (Asked asked = next(); asked.what != Ask::end; asked = next()) switch (asked.what) {
      case Ask::advance:
        impl_->advance(asked.number, {});
        impl_->hear_of_stops(wants_to_stop && wants_to_stop());
        break;
      case Ask::energies:
        impl_->sum_of_energies(false);
        break;
      case Ask::pole_energies:
        impl_->sum_of_energies(true);
        break;
      case Ask::given:
        impl_->all_given_j();
        break;
      case Ask::peak:
        impl_->peak();
        break;
      case Ask::work: {
        Bytes mine = work(*this, ranks.broadcast({}));
        patiently(ranks, [&] { return ranks.gather(std::move(mine)); });
        break;
      }
      case Ask::end:
        break;
    }
}

int TimeDomain::rank() const { return impl_->me(); }
int TimeDomain::rank_count() const { return is_cut() ? impl_->cut.ranks->size() : 1; }

std::vector<TimeDomain::Bytes> TimeDomain::on_each_rank(const Bytes& told, const Work& work) {
  if (!is_cut()) return {work(*this, told)};
  parallel::Communicator& ranks = *impl_->cut.ranks;
  impl_->ask(Ask::work);
  ranks.broadcast(told);
  Bytes mine = work(*this, told);
  return patiently(ranks, [&] { return ranks.gather(std::move(mine)); });
}

const YeeScheme& TimeDomain::scheme() const { return impl_->scheme; }
std::int64_t TimeDomain::step() const { return impl_->step; }
double TimeDomain::dt_s() const { return impl_->dt; }
double TimeDomain::sources_end_s() const {
  double end = impl_->wires ? impl_->wires->sources_end_s() : 0;
  for (const Injection& s : impl_->sources) end = std::max(end, s.end_s);
  return end;
}

void TimeDomain::advance(std::int64_t n_steps, const std::function<void(const Records&)>& observe) {
  impl_->ask(Ask::advance, n_steps);
  impl_->advance(n_steps, observe);
  if (is_cut()) impl_->hear_of_stops(false);
}

int TimeDomain::slice_count() const { return impl_->grid.cells(impl_->axis) + 1; }

std::pair<int, int> TimeDomain::held_slices() const {
  return impl_->range(impl_->axis, static_cast<std::size_t>(impl_->me()));
}

std::int64_t TimeDomain::slice_size(int at) const {
  return impl_->scheme.slice_size(impl_->axis, at);
}

void TimeDomain::copy_slice(int at, Slice& to) const {
  std::visit(
      [&]<class T>(const Fields<T>& fields) {
        if (!std::holds_alternative<std::vector<T>>(to)) to = std::vector<T>();
        auto& numbers = std::get<std::vector<T>>(to);
        numbers.resize(static_cast<std::size_t>(slice_size(at)));
        impl_->scheme.copy_slice(fields.data(), impl_->axis, at, numbers.data());
      },
      impl_->state);
}

void TimeDomain::set_slice(int at, const Slice& slice) {
  const auto [begin, end] = held_slices();
  const auto size = std::visit([](const auto& s) { return std::ssize(s); }, slice);
  if (slice.index() != impl_->state.index() || at < begin || at >= end ||
      size != impl_->scheme.slice_size(impl_->axis, at))
    throw Error("[TimeDomain] the state to go on from is not that of this model");
  std::visit(
      [&]<class T>(Fields<T>& fields) {
        impl_->scheme.set_slice(fields.data(), impl_->axis, at,
                                std::get<std::vector<T>>(slice).data());
      },
      impl_->state);
}

void TimeDomain::set_step(std::int64_t step) { impl_->step = step; }

std::vector<double> TimeDomain::wire_state() const {
  return impl_->wires ? impl_->wires->currents().state() : std::vector<double>{};
}
void TimeDomain::set_wire_state(const std::vector<double>& state) {
  if (impl_->wires) impl_->wires->currents().restore(state);
}

double TimeDomain::unknown(const Edge& e) const {
  return std::visit(
      [&](const auto& s) { return double(s[static_cast<std::size_t>(impl_->scheme.offset(e))]); },
      impl_->state);
}

double TimeDomain::energy_j() const {
  impl_->ask(Ask::energies);
  return impl_->sum_of_energies(false);
}

double TimeDomain::stored_energy_j() const {
  const double fields = energy_j();
  impl_->ask(Ask::pole_energies);
  return fields + impl_->sum_of_energies(true);
}

double TimeDomain::given_j() const {
  impl_->ask(Ask::given);
  return impl_->all_given_j();
}

TimeDomain::Peak TimeDomain::peak() const {
  impl_->ask(Ask::peak);
  return impl_->peak();
}

}  // namespace tessera::electromagnetics
