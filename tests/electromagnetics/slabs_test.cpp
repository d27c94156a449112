// SPDX-License-Identifier: Apache-2.0
//
// A grid that is cut into slabs for several ranks gives the bits of the whole one: fields, records,
// energies, peak; and goes on elsewhere.
#include "slab_cuts.h"
#include "tessera/electromagnetics/time_domain.h"
#include "tessera/parallel/communicator.h"
#include "yee_everything.h"

#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <random>
#include <span>

namespace tessera::electromagnetics {
namespace {

/// All that a run shows.
struct Seen {
  std::vector<TimeDomain::Slice> slices;
  std::vector<double> records, energies, peak;
};

template <class T>
bool same_bits_of(const std::vector<T>& a, const std::vector<T>& b) {
  return a.size() == b.size() &&
         (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0);
}
void expect_same_run(const Seen& a, const Seen& b, const std::string& what) {
  ASSERT_EQ(a.slices.size(), b.slices.size()) << what;
  for (std::size_t i = 0; i < a.slices.size(); ++i)
    std::visit(
        [&]<class T>(const std::vector<T>& x) {
          EXPECT_TRUE(same_bits_of(x, std::get<std::vector<T>>(b.slices[i])))
              << what << ", slice " << i;
        },
        a.slices[i]);
  EXPECT_TRUE(same_bits_of(a.records, b.records)) << what;
  EXPECT_TRUE(same_bits_of(a.energies, b.energies)) << what;
  EXPECT_TRUE(same_bits_of(a.peak, b.peak)) << what;
}

/// The slices of all ranks at rank 0, and back: each tells its own, or takes them out of what it is
/// told.
TimeDomain::Bytes bytes_of_slices(const std::vector<TimeDomain::Slice>& slices,
                                  TimeDomain::Bytes all = {}) {
  for (const TimeDomain::Slice& s : slices)
    std::visit(
        [&](const auto& v) {
          const TimeDomain::Bytes size = parallel::to_bytes(std::vector<std::size_t>{v.size()}),
                                  b = parallel::to_bytes(v);
          all.insert(all.end(), size.begin(), size.end());
          all.insert(all.end(), b.begin(), b.end());
        },
        s);
  return all;
}
template <class T>
std::vector<TimeDomain::Slice> slices_of_bytes(std::span<const std::byte> bytes) {
  std::vector<TimeDomain::Slice> all;
  while (!bytes.empty()) {
    const std::size_t n = parallel::from_bytes<std::size_t>(bytes.first(sizeof(std::size_t)))[0];
    bytes = bytes.subspan(sizeof(std::size_t));
    all.emplace_back(parallel::from_bytes<T>(bytes.first(n * sizeof(T))));
    bytes = bytes.subspan(n * sizeof(T));
  }
  return all;
}
std::vector<TimeDomain::Slice> slices_of(const TimeDomain& run, std::span<const std::byte> bytes) {
  return run.scheme().dtype() == Dtype::f32 ? slices_of_bytes<float>(bytes)
                                            : slices_of_bytes<double>(bytes);
}
TimeDomain::Bytes give_or_take_slices(TimeDomain& run, const TimeDomain::Bytes& told) {
  const int first = run.held_slices().first, end = run.held_slices().second;
  std::vector<TimeDomain::Slice> own;
  if (told.empty()) {
    for (int at = first; at < end; ++at) run.copy_slice(at, own.emplace_back());
  } else {
    run.set_step(parallel::from_bytes<std::int64_t>(std::span(told).first(8))[0]);
    const std::vector<TimeDomain::Slice> all = slices_of(run, std::span(told).subspan(8));
    for (int at = first; at < end; ++at) run.set_slice(at, all.at(static_cast<std::size_t>(at)));
  }
  return bytes_of_slices(own);
}

/// Currents at the injected edges, some with a phase where fields have two parts.
Injection currents_of(const YeeModel& m, bool phases) {
  Injection s;
  s.edges = m.injected;
  s.end_s = 15.5 * m.dt_s;
  const std::size_t n = m.injected.size();
  s.fill = [n](std::int64_t first, std::int64_t steps, double* to) {
    for (std::int64_t q = 0; q < steps; ++q)
      for (std::size_t i = 0; i < n; ++i)
        *to++ = std::sin(0.3 * static_cast<double>(first + q) + static_cast<double>(i));
  };
  if (phases)
    for (std::size_t i = 0; i < n; ++i) s.phase.push_back(0.4 * static_cast<double>(i));
  return s;
}

struct CutRun {
  YeeModel model;
  bool phases = false;
  std::vector<TimeDomain::Slice> from{};
  std::int64_t from_step = 0;
  std::int64_t steps = 21;
  std::function<YeeModel(const Slab&)> of_slab{};  ///< its model, if not `model`

  TimeDomain make(const GridCut& cut) const {
    YeeModel m = model;
    if (of_slab) {
      m = of_slab(slab_of(model.faces, cut));
      m.injected = model.injected, m.recorded = model.recorded;
    }
    m.traced.clear();  // a run in time has no use for them
    return {m, {currents_of(model, phases)}, model.recorded, cut};
  }
  Seen look(TimeDomain run) const {
    Seen seen;
    if (!from.empty())
      run.on_each_rank(
          bytes_of_slices(from, parallel::to_bytes(std::vector<std::int64_t>{from_step})),
          give_or_take_slices);
    run.advance(steps, [&](const Records& r) {
      for (std::int64_t n = 0; n < r.n_steps; ++n) {
        seen.records.insert(seen.records.end(), r.step(n).begin(), r.step(n).end());
        if (const double* im = r.imaginary_step(n))
          seen.records.insert(seen.records.end(), im, im + r.n_columns);
      }
    });
    seen.energies = {run.energy_j(), run.stored_energy_j()};
    const TimeDomain::Peak p = run.peak();
    seen.peak = {p.value, double(p.edge.component), double(p.edge.i), double(p.edge.j),
                 double(p.edge.k)};
    for (const auto& bytes : run.on_each_rank({}, give_or_take_slices))
      for (TimeDomain::Slice& s : slices_of(run, bytes)) seen.slices.push_back(std::move(s));
    EXPECT_EQ(std::ssize(seen.slices), run.slice_count());
    return seen;
  }
  Seen alone(int axis) const { return look(make({nullptr, axis, {}})); }
  Seen on(int axis, const std::vector<int>& begin, std::uint64_t delays = 0) const {
    Seen seen;
    parallel::run_ranks(static_cast<int>(begin.size()) - 1,
                        [&](parallel::Communicator& c) {
                          TimeDomain run = make({&c, axis, begin});
                          if (c.rank() == 0)
                            seen = look(std::move(run));
                          else
                            run.help({}, give_or_take_slices);
                        },
                        {.delays = delays});
    return seen;
  }
};

TEST(Slabs, HaveTheBitsOfTheWholeWithEverything) {
  std::mt19937 random(5);
  for (const Dtype dtype : {Dtype::f64, Dtype::f32})
    for (const auto& faces : face_sets) {
      const CutRun run{model_with_everything(faces, dtype)};
      for (const int axis : {1, 2}) {
        const Seen whole = run.alone(axis);
        EXPECT_GT(whole.energies[0], 0);
        for (const int ranks : {2, 3, 5, 8}) {
          const std::vector<int> cut = random_cut(run.model.grid.cells(axis), ranks, random);
          expect_same_run(run.on(axis, cut), whole,
                          "axis " + std::to_string(axis) + ", " + std::to_string(ranks) +
                              " ranks, faces " + std::to_string(static_cast<int>(faces[1].low)) +
                              std::to_string(static_cast<int>(faces[2].low)));
        }
      }
    }
}

TEST(Slabs, HaveThemWhereWavesOfStepsGoFromOneToTheNext) {
  std::mt19937 random(8);
  for (const Dtype dtype : {Dtype::f64, Dtype::f32})
    for (const auto& faces : {face_sets[0], face_sets[1], face_sets[4],
                              std::array<Faces, 3>{joined, Faces{Boundary::pec, Boundary::pmc},
                                                   Faces{Boundary::pmc, Boundary::pmc}}}) {
      CutRun run{model_with_everything(faces, dtype, {13, 41, 12})};
      run.model.tensors.clear();
      for (const std::int64_t steps : {1, 90}) {
        run.steps = steps;
        const Seen whole = run.alone(2);
        for (const int ranks : {2, 3, 12})
          expect_same_run(run.on(2, random_cut(12, ranks, random), ranks == 3 ? 1 : 0), whole,
                          std::to_string(ranks) + " ranks, " + std::to_string(steps) + " steps");
      }
    }
}

TEST(Slabs, HaveThemAcrossFacesJoinedWithAPhase) {
  std::mt19937 random(6);
  for (const Dtype dtype : {Dtype::f64, Dtype::f32})
    for (const auto& faces : {face_sets[2], face_sets[3]})
      for (const bool tensors : {false, true}) {
        CutRun run{model_with_everything(faces, dtype), true};
        run.model.bloch_phase = {0.7, 1.05, -0.7};
        if (!tensors) run.model.tensors.clear();
        for (const int axis : {1, 2}) {
          const Seen whole = run.alone(axis);
          for (const int ranks : {2, 3, 5})
            expect_same_run(
                run.on(axis, random_cut(run.model.grid.cells(axis), ranks, random)), whole,
                "axis " + std::to_string(axis) + ", " + std::to_string(ranks) + " ranks");
        }
      }
}

TEST(Slabs, HaveThemInNonlinearMedia) {
  std::mt19937 random(7);
  for (const auto& faces : face_sets) {
    CutRun run{model_with_everything(faces)};
    run.model.tensors.clear();
    const auto linear = run.model.material;
    run.model.material = [linear](int c, int j, int k, MaterialRow& row) {
      linear(c, j, k, row);
      if (is_electric(c) && j < 9 && k > 1)
        row.nonlinear.push_back(
            {.first = 3, .chi2 = {0.1, 0.2, 0, 0, 0.1}, .chi3 = {0.05, 0, 0.1, 0.1, 0.2}});
    };
    for (const int axis : {1, 2}) {
      const Seen whole = run.alone(axis);
      for (const int ranks : {2, 3, 5})
        expect_same_run(run.on(axis, random_cut(run.model.grid.cells(axis), ranks, random)), whole,
                        "axis " + std::to_string(axis) + ", " + std::to_string(ranks) + " ranks");
    }
  }
}

TEST(Slabs, HaveThemInTwoDimensionsAndWithOneCellEach) {
  for (const auto& n : {std::array{13, 11, 1}, std::array{13, 1, 12}, std::array{1, 11, 12}})
    for (const bool periodic : {false, true}) {
      const Faces faces = periodic ? joined : pml;
      CutRun run{model_with_everything({faces, faces, faces}, Dtype::f64, n)};
      const auto media = run.model.material;
      run.model.material = [media, has_poles = n[0] > 8](int c, int j, int k, MaterialRow& row) {
        media(c, j, k, row);
        if (!has_poles) row.dispersive.clear();
      };
      const int axis = cut_axis(run.model.grid), cells = run.model.grid.cells(axis);
      EXPECT_EQ(axis, n[1] > n[2] ? 1 : 2);
      std::vector<int> each(static_cast<std::size_t>(cells) + 1);
      for (int i = 0; i <= cells; ++i) each[static_cast<std::size_t>(i)] = i;
      expect_same_run(run.on(axis, each), run.alone(axis), "a cell a rank");
    }
}

/// Media by a scene: each slab looks at its own part of it.
TEST(Slabs, OfASceneLookAtTheirPartOfIt) {
  const Medium glass{.eps = {2.25, 2.25, 2.25}}, crystal{.eps = {3, 4, 6}, .mu = {1, 1.2, 1}},
      metal{.pec = true},
      ink{.eps = {2, 2, 2}, .sigma = {3, 3, 3}, .poles = lorentz(30e9, 4e9, 1.5)};
  const std::vector<Medium> media{Medium{}, glass, crystal, metal, ink};
  std::mt19937 random(9);
  for (const auto& faces : face_sets)
    for (const Averaging averaging : {Averaging::kottke, Averaging::corners, Averaging::volume}) {
      const Scene scene{{{sphere({5e-3, 3e-3, 9e-3}, 4.2e-3), 1},
                         {box({-1, 6e-3, 2.3e-3}, {1, 8.4e-3, 5.2e-3}), 2},
                         {sphere({9e-3, 0, 12e-3}, 2.6e-3), 4},
                         {box({7e-3, 7.5e-3, 8e-3}, {9.2e-3, 1, 10e-3}), 3}},
                        0};
      CutRun run{model_with_everything(faces)};
      const YeeGrid grid = run.model.grid;
      const double dt = 0.5 * run.model.dt_s;
      const Pml pml = run.model.pml;
      const CutCellFractions open = cut_cell_fractions(SceneOrder(scene), media, grid, faces, dt);
      run.of_slab = [&](const Slab& slab) {
        return yee_model(grid, faces, pml, dt, Dtype::f64, scene, media, averaging, open, slab);
      };
      EXPECT_EQ(run.of_slab({}).tensors.empty(), averaging == Averaging::volume);
      for (const int axis : {1, 2}) {
        const Seen whole = run.alone(axis);
        EXPECT_GT(whole.energies[0], 0);
        for (const int ranks : {2, 3, 6})
          expect_same_run(run.on(axis, random_cut(grid.cells(axis), ranks, random)), whole,
                          "axis " + std::to_string(axis) + ", " + std::to_string(ranks) +
                              " ranks, averaging " + std::to_string(static_cast<int>(averaging)) +
                              ", faces " + std::to_string(static_cast<int>(faces[1].low)) +
                              std::to_string(static_cast<int>(faces[2].low)));
      }
    }
}

TEST(Slabs, HaveThemWhateverMessagesComeFirst) {
  const CutRun run{model_with_everything({pml, joined, joined})};
  const Seen whole = run.alone(2);
  for (const std::uint64_t delays : {1, 2, 3})
    expect_same_run(run.on(2, {0, 3, 4, 12}, delays), whole, "delayed");
}

TEST(Slabs, GoOnFromAnyOtherCut) {
  for (const auto& faces : face_sets) {
    CutRun run{model_with_everything(faces)};
    run.steps = 40;
    const Seen whole = run.alone(2);
    run.steps = 17;
    const Seen half = run.on(2, {0, 3, 7, 12});
    run.from = half.slices, run.from_step = 17, run.steps = 23;
    for (const Seen& rest : {run.on(2, {0, 8, 12}), run.alone(2)}) {
      Seen all = rest;
      all.records.insert(all.records.begin(), half.records.begin(), half.records.end());
      expect_same_run(all, whole, "gone on");
    }
  }
}

TEST(Slabs, OfAnotherModelAreRefused) {
  CutRun run{model_with_everything({pml, pml, pml})};
  run.from = run.alone(2).slices;
  {
    TimeDomain whole = run.make({nullptr, 2, {}});
    EXPECT_THROW(whole.set_slice(whole.slice_count(), run.from.back()), Error);
    EXPECT_THROW(whole.set_slice(-1, run.from.front()), Error);
    EXPECT_THROW(whole.set_slice(1, std::vector<float>(std::get<1>(run.from[1]).size())), Error);
  }
  std::get<std::vector<double>>(run.from[7]).pop_back();
  EXPECT_THROW(run.alone(2), Error);
  EXPECT_THROW(run.on(2, {0, 6, 12}), Error);
  run.from.clear();
  EXPECT_THROW(run.on(2, {0, 12, 12}), Error);  // a slab of no cells
  EXPECT_THROW(run.on(0, {0, 6, 13}), Error);   // rows stay whole
}

TEST(Slabs, EdgesOutsideAreRefused) {
  for (const int k : {-1, 40}) {
    CutRun run{model_with_everything({pml, pml, pml})};
    run.model.recorded.push_back({Ex, 3, 3, k});
    EXPECT_THROW(run.on(2, {0, 6, 12}), Error);
  }
}

TEST(Slabs, GridsAreCutWhereTheyAreLongest) {
  const auto axis_of_grid = [](std::array<double, 3> size) {
    YeeModel m;
    m.grid = uniform_grid(size, 1);
    return cut_axis(m.grid);
  };
  EXPECT_EQ(axis_of_grid({9, 5, 5}), 2);
  EXPECT_EQ(axis_of_grid({9, 6, 5}), 1);
  EXPECT_EQ(axis_of_grid({9, 6, 0}), 1);
  EXPECT_EQ(axis_of_grid({9, 0, 6}), 2);
  EXPECT_EQ(axis_of_grid({9, 0, 0}), -1);
  YeeModel m;
  m.grid = uniform_grid({9, 3, 7}, 1);
  parallel::run_ranks(3, [&](parallel::Communicator& c) {
    EXPECT_EQ(cut_grid(m.grid, c).begin, (std::vector<int>{0, 3, 5, 7}));
    EXPECT_EQ(cut_grid(m.grid, c, {1, 1, 5}).begin, (std::vector<int>{0, 1, 2, 7}));
    EXPECT_EQ(cut_grid(m.grid, c, {1e-9, 1e-9, 1}).begin, (std::vector<int>{0, 1, 2, 7}));
    EXPECT_EQ(cut_grid(m.grid, c, {1, 1e-9, 1e-9}).begin, (std::vector<int>{0, 5, 6, 7}));
    EXPECT_THROW(cut_grid(m.grid, c, {1, 1}), Error);
    EXPECT_THROW(cut_grid(m.grid, c, {1, 0, 1}), Error);
    EXPECT_THROW(cut_grid(m.grid, c, {1, NAN, 1}), Error);
  });
  parallel::run_ranks(
      8, [&](parallel::Communicator& c) { EXPECT_EQ(cut_grid(m.grid, c).ranks, nullptr); });
}

}  // namespace
}  // namespace tessera::electromagnetics
