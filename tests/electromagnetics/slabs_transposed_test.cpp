// SPDX-License-Identifier: Apache-2.0
//
// The transpose of a step over slabs has the bits of the whole grid's, whatever the cut.
#include "slab_cuts.h"
#include "tessera/electromagnetics/grid_cut.h"
#include "tessera/parallel/communicator.h"
#include "yee_everything.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>

namespace tessera::electromagnetics {
namespace {

/// Steps of a scheme, and transposed ones, from noise; what they leave.
template <class T>
struct BothWays {
  std::vector<T> state, currents, brackets;  ///< of the transposed steps; the state by slices
  bool operator==(const BothWays& o) const {
    const auto same = [](const std::vector<T>& a, const std::vector<T>& b) {
      return a.size() == b.size() &&
             (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0);
    };
    return same(state, o.state) && same(currents, o.currents) && same(brackets, o.brackets);
  }
};

template <class T>
class TransposedRun {
 public:
  TransposedRun(YeeModel m, int axis, std::int64_t steps)
      : model_(std::move(m)), axis_(axis), steps_(steps), whole_(model_) {
    const auto rows = static_cast<std::size_t>(whole_.parts() * steps);
    const auto some = [](std::size_t n, unsigned seed) {
      const std::vector<double> x = noise(n, seed);
      return std::vector<T>(x.begin(), x.end());
    };
    const std::vector<double> x = unknowns(whole_, 1);
    state_.assign(x.begin(), x.end());
    records_ = some(rows * model_.recorded.size(), 2);
    traces_ = some(rows * model_.traced.size(), 3);
    std::int64_t at = 0;
    for (int i = 0; i < slices(); ++i) begin_.push_back(at), at += whole_.slice_size(axis, i);
    begin_.push_back(at);
  }

  BothWays<T> alone() const {
    BothWays<T> out = room();
    std::vector<T> state = state_;
    whole_.advance_transposed(state.data(), steps_, records_.data(), traces_.data(),
                              out.currents.data(), out.brackets.data(), nullptr);
    for (int i = 0; i < slices(); ++i)
      whole_.copy_slice(state.data(), axis_, i, out.state.data() + begin_[std::size_t(i)]);
    return out;
  }

  BothWays<T> on(const std::vector<int>& begin, std::uint64_t delays = 0) const {
    BothWays<T> out = room();
    parallel::run_ranks(static_cast<int>(begin.size()) - 1,
                        [&](parallel::Communicator& c) {
                          slab({&c, axis_, begin}, out);
                        },
                        {.delays = delays});
    return out;
  }

 private:
  int slices() const { return model_.grid.cells(axis_) + 1; }
  BothWays<T> room() const {
    const auto rows = static_cast<std::size_t>(whole_.parts() * steps_);
    return {std::vector<T>(static_cast<std::size_t>(begin_.back())),
            std::vector<T>(rows * model_.injected.size()),
            std::vector<T>(rows * model_.traced.size())};
  }

  /// Of one rank, into its places.
  void slab(const GridCut& cut, BothWays<T>& out) const {
    const auto r = static_cast<std::size_t>(cut.ranks->rank());
    const int first = cut.begin[r], end = cut.begin[r + 1] + (r + 2 == cut.begin.size() ? 1 : 0);
    YeeModel m = model_;
    const auto keep = [&](std::vector<Edge>& edges) {
      std::vector<Edge> own;
      std::vector<std::size_t> columns;
      for (std::size_t q = 0; q < edges.size(); ++q) {
        const int at = axis_ == 1 ? edges[q].j : edges[q].k;
        if (at >= first && at < end) own.push_back(edges[q]), columns.push_back(q);
      }
      edges = own;
      return columns;
    };
    const auto injected = keep(m.injected), recorded = keep(m.recorded), traced = keep(m.traced);
    const YeeScheme scheme(m, slab_of(m.faces, cut));
    const auto rows = static_cast<std::size_t>(scheme.parts() * steps_);
    const auto pick = [&](const std::vector<T>& all, const std::vector<std::size_t>& columns,
                          std::size_t width) {
      std::vector<T> own;
      for (std::size_t row = 0; row < rows; ++row)
        for (const std::size_t c : columns) own.push_back(all[row * width + c]);
      return own;
    };
    const auto put = [&](const std::vector<T>& own, const std::vector<std::size_t>& columns,
                         std::size_t width, std::vector<T>& all) {
      for (std::size_t row = 0; row < rows; ++row)
        for (std::size_t q = 0; q < columns.size(); ++q)
          all[row * width + columns[q]] = own[row * columns.size() + q];
    };
    std::vector<T> state(static_cast<std::size_t>(scheme.state_size())), slice;
    for (int i = first; i < end; ++i) {
      slice.resize(static_cast<std::size_t>(whole_.slice_size(axis_, i)));
      whole_.copy_slice(state_.data(), axis_, i, slice.data());
      scheme.set_slice(state.data(), axis_, i, slice.data());
    }
    const std::vector<T> records = pick(records_, recorded, model_.recorded.size()),
                         traces = pick(traces_, traced, model_.traced.size());
    std::vector<T> currents(rows * injected.size()), brackets(rows * traced.size());
    scheme.advance_transposed(state.data(), steps_, records.data(), traces.data(), currents.data(),
                              brackets.data(), nullptr);
    put(currents, injected, model_.injected.size(), out.currents);
    put(brackets, traced, model_.traced.size(), out.brackets);
    for (int i = first; i < end; ++i)
      scheme.copy_slice(state.data(), axis_, i, out.state.data() + begin_[std::size_t(i)]);
  }

  YeeModel model_;
  int axis_;
  std::int64_t steps_;
  YeeScheme whole_;
  std::vector<T> state_, records_, traces_;
  std::vector<std::int64_t> begin_;  ///< [slices + 1] of each in the state
};

template <class T>
void expect_same_transposed(const YeeModel& model, int axis, std::int64_t steps,
                            std::mt19937& random, const std::vector<int>& ranks,
                            const std::string& what) {
  const TransposedRun<T> run(model, axis, steps);
  const BothWays<T> whole = run.alone();
  for (const int n : ranks)
    EXPECT_TRUE(run.on(random_cut(model.grid.cells(axis), n, random)) == whole)
        << what << ", axis " << axis << ", " << n << " ranks, faces "
        << static_cast<int>(model.faces[1].low) << static_cast<int>(model.faces[2].low);
}

TEST(TransposedSlabs, HaveTheBitsOfTheWholeWithEverything) {
  std::mt19937 random(15);
  for (const auto& faces : face_sets)
    for (const bool tensors : {false, true})
      for (const int axis : {1, 2}) {
        YeeModel model = model_with_everything(faces);
        if (!tensors) model.tensors.clear();
        const std::string what = tensors ? "with tensors" : "without tensors";
        expect_same_transposed<double>(model, axis, 21, random, {2, 3, 5, 8}, what);
        model.dtype = Dtype::f32;
        expect_same_transposed<float>(model, axis, 21, random, {3}, what);
      }
}

TEST(TransposedSlabs, HaveThemAcrossFacesJoinedWithAPhase) {
  std::mt19937 random(16);
  for (const auto& faces : {face_sets[2], face_sets[3]})
    for (const bool tensors : {false, true})
      for (const int axis : {1, 2}) {
        YeeModel model = model_with_everything(faces);
        model.bloch_phase = {0.7, 1.05, -0.7};
        if (!tensors) model.tensors.clear();
        expect_same_transposed<double>(model, axis, 21, random, {2, 3, 5},
                                       tensors ? "with tensors" : "without tensors");
      }
}

TEST(TransposedSlabs, HaveThemWhereWavesOfStepsGoFromOneToTheNext) {
  std::mt19937 random(18);
  for (const auto& faces : {face_sets[0], face_sets[1], face_sets[4],
                            std::array<Faces, 3>{joined, Faces{Boundary::pec, Boundary::pmc},
                                                 Faces{Boundary::pmc, Boundary::pmc}}}) {
    YeeModel model = model_with_everything(faces, Dtype::f64, {13, 41, 12});
    model.tensors.clear();
    for (const std::int64_t steps : {1, 90}) {
      expect_same_transposed<double>(model, 2, steps, random, {2, 3, 12}, "waves");
      YeeModel single = model;
      single.dtype = Dtype::f32;
      expect_same_transposed<float>(single, 2, steps, random, {3}, "waves");
    }
    const TransposedRun<double> run(model, 2, 50);
    EXPECT_TRUE(run.on(random_cut(12, 4, random), 3) == run.alone()) << "delayed";
  }
}

/// An edge whose neighbours by a tensor lie in other slabs, recorded and driven more than once.
TEST(TransposedSlabs, HaveThemWhereARecordedEdgeIsCoupledAcrossTheSeam) {
  for (const double phase : {0.0, 0.7})
    for (const auto& faces : {face_sets[0], face_sets[3]}) {
      YeeModel model = model_with_everything(faces);
      model.bloch_phase = {faces[0].low == Boundary::periodic ? phase : 0,
                           faces[1].low == Boundary::periodic ? phase : 0, 0};
      model.recorded.clear();
      for (int i = 3; i < 9; ++i)
        for (const Edge& e : {Edge{Ex, i, 4, 6}, Edge{Ez, i, 4, 5}, Edge{Ex, i, 4, 6},
                              Edge{Ez, i, 4, 6}, Edge{Ey, i, 3, 6}, Edge{Ey, i, 4, 6}})
          model.recorded.push_back(e);
      model.injected = model.recorded;
      model.traced.clear();
      for (int i = 3; i < 9; ++i) model.traced.push_back({Ex, i, 4, 6});
      for (const int axis : {1, 2})
        for (const int at : {4, 5, 6, 7}) {
          const TransposedRun<double> run(model, axis, 9);
          EXPECT_TRUE(run.on({0, at, model.grid.cells(axis)}) == run.alone())
              << "axis " << axis << " cut at " << at << ", phase " << phase;
        }
    }
}

TEST(TransposedSlabs, HaveThemWithOneCellEachAndInTwoDimensions) {
  for (const auto& n : {std::array{13, 11, 12}, std::array{13, 11, 1}, std::array{13, 1, 12},
                        std::array{1, 11, 12}})
    for (const bool periodic : {false, true}) {
      const Faces faces = periodic ? joined : pml;
      YeeModel model = model_with_everything({faces, faces, faces}, Dtype::f64, n);
      if (n[0] < 8) {
        const auto media = model.material;
        model.material = [media](int c, int j, int k, MaterialRow& row) {
          media(c, j, k, row);
          row.dispersive.clear();
        };
      }
      for (const int axis : {1, 2}) {
        const int cells = model.grid.cells(axis);
        if (cells == 1) continue;
        std::vector<int> each;
        for (int i = 0; i <= cells; ++i) each.push_back(i);
        for (const std::int64_t steps : {0, 1, 7}) {
          const TransposedRun<double> run(model, axis, steps);
          EXPECT_TRUE(run.on(each, 4) == run.alone())
              << n[0] << " x " << n[1] << " x " << n[2] << ", axis " << axis << ", " << steps
              << " steps" << (periodic ? ", joined" : "");
        }
      }
    }
}

}  // namespace
}  // namespace tessera::electromagnetics
