// SPDX-License-Identifier: Apache-2.0
//
// 256-bit vectors: 8 floats of j for one atom i, or half of the eight as doubles.
#pragma once
#include "nonbonded/kernels/pair_kernels.h"

#include <immintrin.h>

#include <cstdint>

namespace tessera::molecular::pairs {
namespace {

#define TESSERA_LANE [[gnu::always_inline]] static inline

struct Narrow {
  using N = float;
  using V = __m256;
  using P = __m256i;
  using I = __m256i;
  using T = __m256i;
  using Sum = std::int32_t;
  static constexpr int rows = 1, halves = 1;
  static constexpr bool lean = false;

  TESSERA_LANE V set(N v) { return _mm256_set1_ps(v); }
  TESSERA_LANE I nothing() { return _mm256_setzero_si256(); }
  TESSERA_LANE V fma(V a, V b, V c) { return _mm256_fmadd_ps(a, b, c); }
  TESSERA_LANE V larger(V a, V b) { return _mm256_max_ps(a, b); }
  TESSERA_LANE P position_i(const std::int32_t* p, int v) { return _mm256_set1_epi32(p[v]); }
  TESSERA_LANE V number_i(const float* p, int v) { return set(p[v]); }
  TESSERA_LANE P position_j(const std::int32_t* p) {
    return _mm256_load_si256(reinterpret_cast<const __m256i*>(p));
  }
  TESSERA_LANE V number_j(const float* p) { return _mm256_load_ps(p); }
  TESSERA_LANE V apart(P a, P b) { return _mm256_cvtepi32_ps(_mm256_sub_epi32(a, b)); }
  TESSERA_LANE void inverses(V s, V& over, V& y) {
    y = set(1) / s;
    over = y * _mm256_sqrt_ps(s);
  }
  TESSERA_LANE V below(V a, V b) { return _mm256_cmp_ps(a, b, _CMP_LT_OQ); }
  TESSERA_LANE V below(V a, V b, std::uint32_t mask, int v, int) {
    const __m256i bit = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
    const __m256i on = _mm256_cmpeq_epi32(
        _mm256_and_si256(_mm256_set1_epi32(static_cast<int>(mask >> (8 * v))), bit), bit);
    return _mm256_and_ps(below(a, b), _mm256_castsi256_ps(on));
  }
  TESSERA_LANE V only(V m, V v) { return _mm256_and_ps(m, v); }
  TESSERA_LANE I worse(I w, V f) {
    return _mm256_max_epu32(w, _mm256_slli_epi32(_mm256_castps_si256(f), 1));
  }
  TESSERA_LANE bool any_beyond(I w, N limit) {
    const __m256i most = _mm256_slli_epi32(_mm256_castps_si256(set(limit)), 1);
    return _mm256_movemask_epi8(_mm256_cmpeq_epi32(_mm256_max_epu32(w, most), most)) != -1;
  }
  TESSERA_LANE I fixed(V v) { return _mm256_cvtps_epi32(v); }
  TESSERA_LANE I plus(I a, I b) { return _mm256_add_epi32(a, b); }
  TESSERA_LANE void take(std::int32_t* p, I f) {
    auto* at = reinterpret_cast<__m256i*>(p);
    _mm256_store_si256(at, _mm256_sub_epi32(_mm256_load_si256(at), f));
  }
  TESSERA_LANE void give(std::int32_t* p, I f) {
    __m128i h = _mm_add_epi32(_mm256_castsi256_si128(f), _mm256_extracti128_si256(f, 1));
    h = _mm_add_epi32(h, _mm_shuffle_epi32(h, 0x4e));
    h = _mm_add_epi32(h, _mm_shuffle_epi32(h, 0xb1));
    *p = wrapped(*p, _mm_cvtsi128_si32(h));
  }
  TESSERA_LANE T no_type() { return nothing(); }
  TESSERA_LANE T row_of(const std::int32_t* type, std::int32_t types, int v) {
    return _mm256_set1_epi32(types * type[v]);
  }
  TESSERA_LANE T type_j(const std::int32_t* type) { return position_j(type); }
  TESSERA_LANE T entry(T row, T type) { return _mm256_add_epi32(row, type); }
  TESSERA_LANE V pick(const float* table, T at) { return _mm256_i32gather_ps(table, at, 4); }

  TESSERA_LANE std::uint32_t bits(V m) { return static_cast<std::uint32_t>(_mm256_movemask_ps(m)); }
  /// Sums of floats, as doubles.
  struct Long {
    __m256d low, high;
  };
  TESSERA_LANE void lengthen(Long& to, V v) {
    to.low = to.low + _mm256_cvtps_pd(_mm256_castps256_ps128(v));
    to.high = to.high + _mm256_cvtps_pd(_mm256_extractf128_ps(v, 1));
  }
  TESSERA_LANE double total(const Long& s) {
    const __m256d v = s.low + s.high;
    const __m128d h = _mm_add_pd(_mm256_castpd256_pd128(v), _mm256_extractf128_pd(v, 1));
    return _mm_cvtsd_f64(_mm_add_pd(h, _mm_unpackhi_pd(h, h)));
  }
  /// Adds what all atoms i give to the eight of j.
  TESSERA_LANE void put(float* p, V v) { _mm256_store_ps(p, _mm256_load_ps(p) + v); }
  /// Sums over j of four vectors, of each atom i.
  TESSERA_LANE void sums(const V* v, float (*to)[4]) {
    const V a = _mm256_unpacklo_ps(v[0], v[1]) + _mm256_unpackhi_ps(v[0], v[1]),
            b = _mm256_unpacklo_ps(v[2], v[3]) + _mm256_unpackhi_ps(v[2], v[3]);
    const V c = _mm256_shuffle_ps(a, b, 0x44) + _mm256_shuffle_ps(a, b, 0xee);  // of each 128 bits
    _mm_storeu_ps(to[0], _mm_add_ps(_mm256_castps256_ps128(c), _mm256_extractf128_ps(c, 1)));
  }
};

struct NarrowTwice {
  using N = double;
  using V = __m256d;
  using P = __m256d;
  using I = __m256i;
  using T = __m128i;
  using Sum = std::int64_t;
  static constexpr int rows = 1, halves = 2;
  static constexpr bool lean = false;

  TESSERA_LANE V set(N v) { return _mm256_set1_pd(v); }
  TESSERA_LANE I nothing() { return _mm256_setzero_si256(); }
  TESSERA_LANE V fma(V a, V b, V c) { return _mm256_fmadd_pd(a, b, c); }
  TESSERA_LANE V larger(V a, V b) { return _mm256_max_pd(a, b); }
  TESSERA_LANE P position_i(const double* p, int v) { return set(p[v]); }
  TESSERA_LANE V number_i(const double* p, int v) { return set(p[v]); }
  TESSERA_LANE P position_j(const double* p) { return _mm256_load_pd(p); }
  TESSERA_LANE V number_j(const double* p) { return _mm256_load_pd(p); }
  TESSERA_LANE V apart(P a, P b) {
    const V d = a - b;
    return d - _mm256_round_pd(d, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
  }
  TESSERA_LANE void inverses(V s, V& over, V& y) {
    y = set(1) / s;
    over = y * _mm256_sqrt_pd(s);
  }
  TESSERA_LANE V below(V a, V b) { return _mm256_cmp_pd(a, b, _CMP_LT_OQ); }
  TESSERA_LANE V below(V a, V b, std::uint32_t mask, int v, int half) {
    const __m256i bit = _mm256_setr_epi64x(1, 2, 4, 8);
    const __m256i on = _mm256_cmpeq_epi64(
        _mm256_and_si256(_mm256_set1_epi64x(static_cast<long long>(mask >> (8 * v + 4 * half))),
                         bit),
        bit);
    return _mm256_and_pd(below(a, b), _mm256_castsi256_pd(on));
  }
  TESSERA_LANE V only(V m, V v) { return _mm256_and_pd(m, v); }
  /// There is no comparison of unsigned 64-bit numbers; without their sign bit they are signed
  /// ones.
  TESSERA_LANE I worse(I w, V f) {
    const __m256i m = _mm256_srli_epi64(_mm256_slli_epi64(_mm256_castpd_si256(f), 1), 1);
    return _mm256_blendv_epi8(w, m, _mm256_cmpgt_epi64(m, w));
  }
  TESSERA_LANE bool any_beyond(I w, N limit) {
    return _mm256_movemask_epi8(_mm256_cmpgt_epi64(w, _mm256_castpd_si256(set(limit)))) != 0;
  }
  TESSERA_LANE I fixed(V v) {
    const V big = set(6755399441055744.0);
    return _mm256_sub_epi64(_mm256_castpd_si256(v + big), _mm256_castpd_si256(big));
  }
  TESSERA_LANE I plus(I a, I b) { return _mm256_add_epi64(a, b); }
  TESSERA_LANE std::int64_t sum(I f) {
    const __m128i h = _mm_add_epi64(_mm256_castsi256_si128(f), _mm256_extracti128_si256(f, 1));
    return _mm_cvtsi128_si64(_mm_add_epi64(h, _mm_unpackhi_epi64(h, h)));
  }
  TESSERA_LANE void take(std::int64_t* p, I f) {
    auto* at = reinterpret_cast<__m256i*>(p);
    _mm256_store_si256(at, _mm256_sub_epi64(_mm256_load_si256(at), f));
  }
  TESSERA_LANE void give(std::int64_t* p, I f) { *p = wrapped<std::int64_t>(*p, sum(f)); }
  TESSERA_LANE T no_type() { return _mm_setzero_si128(); }
  TESSERA_LANE T row_of(const std::int32_t* type, std::int32_t types, int v) {
    return _mm_set1_epi32(types * type[v]);
  }
  TESSERA_LANE T type_j(const std::int32_t* type) {
    return _mm_load_si128(reinterpret_cast<const __m128i*>(type));
  }
  TESSERA_LANE T entry(T row, T type) { return _mm_add_epi32(row, type); }
  TESSERA_LANE V pick(const double* table, T at) { return _mm256_i32gather_pd(table, at, 8); }

  TESSERA_LANE std::uint32_t bits(V m) { return static_cast<std::uint32_t>(_mm256_movemask_pd(m)); }
  struct Long {
    V sum;
  };
  TESSERA_LANE void lengthen(Long& to, V v) { to.sum = to.sum + v; }
  TESSERA_LANE double total(const Long& s) {
    const __m128d h = _mm_add_pd(_mm256_castpd256_pd128(s.sum), _mm256_extractf128_pd(s.sum, 1));
    return _mm_cvtsd_f64(_mm_add_pd(h, _mm_unpackhi_pd(h, h)));
  }
  TESSERA_LANE void put(double* p, V v) { _mm256_store_pd(p, _mm256_load_pd(p) + v); }
  TESSERA_LANE void sums(const V* v, double (*to)[4]) {
    const V a = _mm256_hadd_pd(v[0], v[1]), b = _mm256_hadd_pd(v[2], v[3]);
    _mm256_storeu_pd(to[0],
                     _mm256_permute2f128_pd(a, b, 0x20) + _mm256_permute2f128_pd(a, b, 0x31));
  }
};

/// All 32 pairs of two clusters as 16-bit numbers, in the order of an entry's mask.
struct NarrowCoarse {
  struct V {
    __m256i low, high;
  };
  TESSERA_LANE V set(std::int16_t v) { return {_mm256_set1_epi16(v), _mm256_set1_epi16(v)}; }
  TESSERA_LANE V each_i(const std::int16_t* p) {
    return {_mm256_setr_m128i(_mm_set1_epi16(p[0]), _mm_set1_epi16(p[1])),
            _mm256_setr_m128i(_mm_set1_epi16(p[2]), _mm_set1_epi16(p[3]))};
  }
  TESSERA_LANE V each_j(const std::int16_t* p) {
    const __m256i all =
        _mm256_broadcastsi128_si256(_mm_load_si128(reinterpret_cast<const __m128i*>(p)));
    return {all, all};
  }
  TESSERA_LANE V plus(V a, V b) {
    return {_mm256_add_epi16(a.low, b.low), _mm256_add_epi16(a.high, b.high)};
  }
  TESSERA_LANE V minus(V a, V b) {
    return {_mm256_sub_epi16(a.low, b.low), _mm256_sub_epi16(a.high, b.high)};
  }
  TESSERA_LANE V scaled(V a, V scale) {
    return {_mm256_mulhrs_epi16(a.low, scale.low), _mm256_mulhrs_epi16(a.high, scale.high)};
  }
  TESSERA_LANE V square(V a) {
    return {_mm256_mulhi_epi16(a.low, a.low), _mm256_mulhi_epi16(a.high, a.high)};
  }
  TESSERA_LANE std::uint32_t within(V sum, std::uint16_t limit) {
    const __m256i most = _mm256_set1_epi16(static_cast<std::int16_t>(limit));
    const auto is = [&](__m256i v) { return _mm256_cmpeq_epi16(_mm256_min_epu16(v, most), v); };
    return static_cast<std::uint32_t>(_mm256_movemask_epi8(
        _mm256_permute4x64_epi64(_mm256_packs_epi16(is(sum.low), is(sum.high)), 0xd8)));
  }
};

}  // namespace
}  // namespace tessera::molecular::pairs
