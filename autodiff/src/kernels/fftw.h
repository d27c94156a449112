// SPDX-License-Identifier: Apache-2.0
//
// FFTW3 for both precisions behind one name. FFTW's planner is not re-entrant and is guarded by a
// mutex; executing a plan on new arrays is. Plans are made by FFTW_ESTIMATE: no timing, so that a
// shape has one plan, hence one result. They expect arrays aligned as FFTW's own; rows that are not
// go through an aligned copy, lest alignment choose the instructions and thereby the bits.
#pragma once
#include "tessera/autodiff/forall.h"
#include "tessera/autodiff/kernel.h"

#include <fftw3.h>

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <vector>

namespace tessera::kernels {

template <class R>
struct Fftw;
#define TESSERA_FFTW(R, P)                                                                        \
  template <>                                                                                     \
  struct Fftw<R> {                                                                                \
    using Plan = P##_plan;                                                                        \
    static P##_complex* z(const std::complex<R>* p) {                                             \
      return reinterpret_cast<P##_complex*>(const_cast<std::complex<R>*>(p));                     \
    }                                                                                             \
    static bool aligned(const void* p) {                                                          \
      return P##_alignment_of(static_cast<R*>(const_cast<void*>(p))) == 0;                        \
    }                                                                                             \
    static void destroy(Plan p) { P##_destroy_plan(p); }                                          \
    static Plan plan(const std::vector<int>& n, int sign, std::complex<R>* x,                     \
                     std::complex<R>* y) {                                                        \
      return P##_plan_dft(static_cast<int>(n.size()), n.data(), z(x), z(y), sign, FFTW_ESTIMATE); \
    }                                                                                             \
    static Plan plan(const std::vector<int>& n, int, R* x, std::complex<R>* y) {                  \
      return P##_plan_dft_r2c_1d(n[0], x, z(y), FFTW_ESTIMATE);                                   \
    }                                                                                             \
    static Plan plan(const std::vector<int>& n, int, std::complex<R>* x, R* y) {                  \
      return P##_plan_dft_c2r_1d(n[0], z(x), y, FFTW_ESTIMATE);                                   \
    }                                                                                             \
    static Plan plan(const std::vector<int>& n, int kind, R* x, R* y) {                           \
      return P##_plan_r2r_1d(n[0], x, y, static_cast<fftw_r2r_kind>(kind), FFTW_ESTIMATE);        \
    }                                                                                             \
    static void run(Plan p, const std::complex<R>* x, std::complex<R>* y) {                       \
      P##_execute_dft(p, z(x), z(y));                                                             \
    }                                                                                             \
    static void run(Plan p, const R* x, std::complex<R>* y) {                                     \
      P##_execute_dft_r2c(p, const_cast<R*>(x), z(y));                                            \
    }                                                                                             \
    static void run(Plan p, const std::complex<R>* x, R* y) { P##_execute_dft_c2r(p, z(x), y); }  \
    static void run(Plan p, const R* x, R* y) { P##_execute_r2r(p, const_cast<R*>(x), y); }       \
  };
TESSERA_FFTW(double, fftw)
TESSERA_FFTW(float, fftwf)
#undef TESSERA_FFTW

inline std::recursive_mutex& fftw_planner() {
  static auto& m = *new std::recursive_mutex;  // outlives all plans
  return m;
}

/// The plan of a transform from X to Y of these sizes; `what` is FFTW's sign or kind. Kept for the
/// next call.
template <class R, class X, class Y>
auto fftw_plan(const std::vector<int>& sizes, int what) {
  using Body = std::remove_pointer_t<typename Fftw<R>::Plan>;
  static auto& plans = *new std::map<std::pair<std::vector<int>, int>, std::shared_ptr<Body>>;
  constexpr std::size_t kKept = 512;
  const std::lock_guard lock(fftw_planner());
  const auto key = std::pair(sizes, what);
  if (const auto found = plans.find(key); found != plans.end()) return found->second;
  if (plans.size() == kKept) plans.clear();  // those in use live on in their callers
  alignas(64) static std::byte place[256];   // FFTW_ESTIMATE looks at the addresses alone
  const auto made =
      Fftw<R>::plan(sizes, what, reinterpret_cast<X*>(place), reinterpret_cast<Y*>(place + 128));
  if (!made) fail("fft", "FFTW has no plan for these sizes");
  return plans[key] = std::shared_ptr<Body>(made, [](Body* p) {
           const std::lock_guard lock(fftw_planner());
           Fftw<R>::destroy(p);
         });
}

/// Memory for `n` elements, aligned as FFTW's own; taken when first asked for.
template <class T>
class AlignedRow {
 public:
  explicit AlignedRow(Index n) : n_(n) {}
  ~AlignedRow() { ::operator delete (p_, std::align_val_t{64}); }
  AlignedRow(const AlignedRow&) = delete;
  T* get() {
    if (!p_)
      p_ = static_cast<T*>(
          ::operator new (static_cast<std::size_t>(n_) * sizeof(T), std::align_val_t{64}));
    return p_;
  }

 private:
  Index n_;
  T* p_ = nullptr;
};

/// y = scale transform(x) for each of `rows` rows. `prepare(row)`, if not null, changes a copy of
/// the row first.
template <class R, class X, class Y>
void for_transforms(const std::vector<int>& sizes, int what, Index rows, Index nx, const X* x,
                    Index ny, Y* y, double scale, void (*prepare)(X*, Index n) = nullptr) {
  const auto plan = fftw_plan<R, X, Y>(sizes, what);
  const Index per_chunk = std::max<Index>(1, (Index{1} << 12) / std::max(nx, ny));
  parallel_chunks((rows + per_chunk - 1) / per_chunk, [&](Index c) {
    AlignedRow<X> held_x(nx);
    AlignedRow<Y> held_y(ny);
    for (Index r = c * per_chunk; r < std::min(rows, (c + 1) * per_chunk); ++r) {
      const X* from = x + r * nx;
      Y* const to = y + r * ny;
      if (prepare || !Fftw<R>::aligned(from)) {
        std::copy(from, from + nx, held_x.get());
        from = held_x.get();
        if (prepare) prepare(held_x.get(), sizes[0]);
      }
      Y* const at = Fftw<R>::aligned(to) ? to : held_y.get();
      Fftw<R>::run(plan.get(), from, at);
      const R s = static_cast<R>(scale);
      if (at != to || scale != 1)
        for (Index k = 0; k < ny; ++k) to[k] = scale == 1 ? at[k] : at[k] * s;
    }
  });
}

}  // namespace tessera::kernels
