// SPDX-License-Identifier: Apache-2.0
//
// 512-bit vectors: 8 floats of j for two atoms i, or 8 doubles for one.
#pragma once
#include "nonbonded/kernels/pair_kernels.h"

#include <immintrin.h>

#include <cstdint>

namespace tessera::molecular::pairs {
namespace {

#define TESSERA_LANE [[gnu::always_inline]] static inline

struct Wide {
  using N = float;
  using V = __m512;
  using P = __m512i;
  using I = __m512i;
  using T = __m512i;
  using Sum = std::int32_t;
  static constexpr int rows = 2, halves = 1;
  static constexpr bool lean = false;

  TESSERA_LANE V set(N v) { return _mm512_set1_ps(v); }
  TESSERA_LANE I nothing() { return _mm512_setzero_si512(); }
  TESSERA_LANE V fma(V a, V b, V c) { return _mm512_fmadd_ps(a, b, c); }
  TESSERA_LANE V larger(V a, V b) { return _mm512_max_ps(a, b); }
  TESSERA_LANE P position_i(const std::int32_t* p, int v) {
    return _mm512_inserti64x4(_mm512_set1_epi32(p[2 * v]), _mm256_set1_epi32(p[2 * v + 1]), 1);
  }
  TESSERA_LANE V number_i(const float* p, int v) {
    return _mm512_insertf32x8(_mm512_set1_ps(p[2 * v]), _mm256_set1_ps(p[2 * v + 1]), 1);
  }
  TESSERA_LANE P position_j(const std::int32_t* p) {
    return _mm512_broadcast_i32x8(_mm256_load_si256(reinterpret_cast<const __m256i*>(p)));
  }
  TESSERA_LANE V number_j(const float* p) { return _mm512_broadcast_f32x8(_mm256_load_ps(p)); }
  TESSERA_LANE V apart(P a, P b) { return _mm512_cvtepi32_ps(_mm512_sub_epi32(a, b)); }
  TESSERA_LANE void inverses(V s, V& over, V& y) {
    y = set(1) / s;
    over = y * _mm512_sqrt_ps(s);
  }
  TESSERA_LANE __mmask16 below(V a, V b) { return _mm512_cmp_ps_mask(a, b, _CMP_LT_OQ); }
  TESSERA_LANE __mmask16 below(V a, V b, std::uint32_t mask, int v, int) {
    return _mm512_mask_cmp_ps_mask(static_cast<__mmask16>(mask >> (16 * v)), a, b, _CMP_LT_OQ);
  }
  TESSERA_LANE V only(__mmask16 m, V v) { return _mm512_maskz_mov_ps(m, v); }
  TESSERA_LANE I worse(I w, V f) {
    return _mm512_max_epu32(w, _mm512_slli_epi32(_mm512_castps_si512(f), 1));
  }
  TESSERA_LANE bool any_beyond(I w, N limit) {
    return _mm512_cmpgt_epu32_mask(w, _mm512_slli_epi32(_mm512_castps_si512(set(limit)), 1)) != 0;
  }
  TESSERA_LANE I fixed(V v) { return _mm512_cvtps_epi32(v); }
  TESSERA_LANE I plus(I a, I b) { return _mm512_add_epi32(a, b); }
  TESSERA_LANE void take(std::int32_t* p, I f) {
    const __m256i both =
        _mm256_add_epi32(_mm512_castsi512_si256(f), _mm512_extracti64x4_epi64(f, 1));
    auto* at = reinterpret_cast<__m256i*>(p);
    _mm256_store_si256(at, _mm256_sub_epi32(_mm256_load_si256(at), both));
  }
  TESSERA_LANE void give(std::int32_t* p, I f) {
    const __m512i two = _mm512_add_epi32(f, _mm512_shuffle_i64x2(f, f, 0xb1)),
                  four = _mm512_add_epi32(two, _mm512_shuffle_epi32(two, _MM_PERM_BADC));
    const __m512i all = _mm512_add_epi32(four, _mm512_shuffle_epi32(four, _MM_PERM_CDAB));
    auto* at = reinterpret_cast<__m128i*>(p);
    _mm_storel_epi64(at, _mm_add_epi32(_mm_loadl_epi64(at),
                                       _mm_unpacklo_epi32(_mm512_castsi512_si128(all),
                                                          _mm512_extracti32x4_epi32(all, 2))));
  }
  TESSERA_LANE T no_type() { return _mm512_setzero_si512(); }
  TESSERA_LANE T row_of(const std::int32_t* type, std::int32_t types, int v) {
    return _mm512_inserti64x4(_mm512_set1_epi32(types * type[2 * v]),
                              _mm256_set1_epi32(types * type[2 * v + 1]), 1);
  }
  TESSERA_LANE T type_j(const std::int32_t* type) { return position_j(type); }
  TESSERA_LANE T entry(T row, T type) { return _mm512_add_epi32(row, type); }
  TESSERA_LANE V pick(const float* table, T at) { return _mm512_i32gather_ps(at, table, 4); }

  TESSERA_LANE std::uint32_t bits(__mmask16 m) { return m; }
  /// Sums of floats, as doubles.
  struct Long {
    __m512d low, high;
  };
  TESSERA_LANE void lengthen(Long& to, V v) {
    to.low = to.low + _mm512_cvtps_pd(_mm512_castps512_ps256(v));
    to.high = to.high + _mm512_cvtps_pd(_mm512_extractf32x8_ps(v, 1));
  }
  TESSERA_LANE double total(const Long& s) { return _mm512_reduce_add_pd(s.low + s.high); }
  /// Adds what all atoms i give to the eight of j.
  TESSERA_LANE void put(float* p, V v) {
    const __m256 both = _mm256_add_ps(_mm512_castps512_ps256(v), _mm512_extractf32x8_ps(v, 1));
    _mm256_store_ps(p, _mm256_add_ps(_mm256_load_ps(p), both));
  }
  /// Sums over j of four vectors, of each atom i.
  TESSERA_LANE void sums(const V* v, float (*to)[4]) {
    const V a = _mm512_unpacklo_ps(v[0], v[1]) + _mm512_unpackhi_ps(v[0], v[1]),
            b = _mm512_unpacklo_ps(v[2], v[3]) + _mm512_unpackhi_ps(v[2], v[3]);
    const V c = _mm512_shuffle_ps(a, b, 0x44) + _mm512_shuffle_ps(a, b, 0xee);  // of each 128 bits
    const __m256 low = _mm512_castps512_ps256(c), high = _mm512_extractf32x8_ps(c, 1);
    _mm_storeu_ps(to[0], _mm_add_ps(_mm256_castps256_ps128(low), _mm256_extractf128_ps(low, 1)));
    _mm_storeu_ps(to[1], _mm_add_ps(_mm256_castps256_ps128(high), _mm256_extractf128_ps(high, 1)));
  }
};

struct WideTwice {
  using N = double;
  using V = __m512d;
  using P = __m512d;
  using I = __m512i;
  using T = __m256i;
  using Sum = std::int64_t;
  static constexpr int rows = 1, halves = 1;
  static constexpr bool lean = false;

  TESSERA_LANE V set(N v) { return _mm512_set1_pd(v); }
  TESSERA_LANE I nothing() { return _mm512_setzero_si512(); }
  TESSERA_LANE V fma(V a, V b, V c) { return _mm512_fmadd_pd(a, b, c); }
  TESSERA_LANE V larger(V a, V b) { return _mm512_max_pd(a, b); }
  TESSERA_LANE P position_i(const double* p, int v) { return set(p[v]); }
  TESSERA_LANE V number_i(const double* p, int v) { return set(p[v]); }
  TESSERA_LANE P position_j(const double* p) { return _mm512_load_pd(p); }
  TESSERA_LANE V number_j(const double* p) { return _mm512_load_pd(p); }
  TESSERA_LANE V apart(P a, P b) {
    const V d = a - b;
    return d - _mm512_roundscale_pd(d, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
  }
  TESSERA_LANE void inverses(V s, V& over, V& y) {
    y = set(1) / s;
    over = y * _mm512_sqrt_pd(s);
  }
  TESSERA_LANE __mmask8 below(V a, V b) { return _mm512_cmp_pd_mask(a, b, _CMP_LT_OQ); }
  TESSERA_LANE __mmask8 below(V a, V b, std::uint32_t mask, int v, int) {
    return _mm512_mask_cmp_pd_mask(static_cast<__mmask8>(mask >> (8 * v)), a, b, _CMP_LT_OQ);
  }
  TESSERA_LANE V only(__mmask8 m, V v) { return _mm512_maskz_mov_pd(m, v); }
  TESSERA_LANE I worse(I w, V f) {
    return _mm512_max_epu64(w, _mm512_slli_epi64(_mm512_castpd_si512(f), 1));
  }
  TESSERA_LANE bool any_beyond(I w, N limit) {
    return _mm512_cmpgt_epu64_mask(w, _mm512_slli_epi64(_mm512_castpd_si512(set(limit)), 1)) != 0;
  }
  /// The mantissa of 1.5 2^52 + v holds v to the nearest integer.
  TESSERA_LANE I fixed(V v) {
    const V big = set(6755399441055744.0);
    return _mm512_sub_epi64(_mm512_castpd_si512(v + big), _mm512_castpd_si512(big));
  }
  TESSERA_LANE I plus(I a, I b) { return _mm512_add_epi64(a, b); }
  TESSERA_LANE std::int64_t sum(I f) {
    const __m256i four =
        _mm256_add_epi64(_mm512_castsi512_si256(f), _mm512_extracti64x4_epi64(f, 1));
    const __m128i two =
        _mm_add_epi64(_mm256_castsi256_si128(four), _mm256_extracti128_si256(four, 1));
    return _mm_cvtsi128_si64(_mm_add_epi64(two, _mm_unpackhi_epi64(two, two)));
  }
  TESSERA_LANE void take(std::int64_t* p, I f) {
    _mm512_store_si512(p, _mm512_sub_epi64(_mm512_load_si512(p), f));
  }
  TESSERA_LANE void give(std::int64_t* p, I f) { *p = wrapped<std::int64_t>(*p, sum(f)); }
  TESSERA_LANE T no_type() { return _mm256_setzero_si256(); }
  TESSERA_LANE T row_of(const std::int32_t* type, std::int32_t types, int v) {
    return _mm256_set1_epi32(types * type[v]);
  }
  TESSERA_LANE T type_j(const std::int32_t* type) {
    return _mm256_load_si256(reinterpret_cast<const __m256i*>(type));
  }
  TESSERA_LANE T entry(T row, T type) { return _mm256_add_epi32(row, type); }
  TESSERA_LANE V pick(const double* table, T at) { return _mm512_i32gather_pd(at, table, 8); }

  TESSERA_LANE std::uint32_t bits(__mmask8 m) { return m; }
  struct Long {
    V sum;
  };
  TESSERA_LANE void lengthen(Long& to, V v) { to.sum = to.sum + v; }
  TESSERA_LANE double total(const Long& s) { return _mm512_reduce_add_pd(s.sum); }
  TESSERA_LANE void put(double* p, V v) { _mm512_store_pd(p, _mm512_load_pd(p) + v); }
  TESSERA_LANE void sums(const V* v, double (*to)[4]) {
    const auto half = [](V x) {
      return _mm256_add_pd(_mm512_castpd512_pd256(x), _mm512_extractf64x4_pd(x, 1));
    };
    const __m256d a = _mm256_hadd_pd(half(v[0]), half(v[1])),
                  b = _mm256_hadd_pd(half(v[2]), half(v[3]));
    _mm256_storeu_pd(to[0], _mm256_add_pd(_mm256_permute2f128_pd(a, b, 0x20),
                                          _mm256_permute2f128_pd(a, b, 0x31)));
  }
};

/// All 32 pairs of two clusters as 16-bit numbers, in the order of an entry's mask.
struct WideCoarse {
  using V = __m512i;
  TESSERA_LANE V set(std::int16_t v) { return _mm512_set1_epi16(v); }
  TESSERA_LANE V each_i(const std::int16_t* p) {
    return _mm512_inserti64x4(
        _mm512_castsi256_si512(_mm256_setr_m128i(_mm_set1_epi16(p[0]), _mm_set1_epi16(p[1]))),
        _mm256_setr_m128i(_mm_set1_epi16(p[2]), _mm_set1_epi16(p[3])), 1);
  }
  TESSERA_LANE V each_j(const std::int16_t* p) {
    return _mm512_broadcast_i32x4(_mm_load_si128(reinterpret_cast<const __m128i*>(p)));
  }
  TESSERA_LANE V plus(V a, V b) { return _mm512_add_epi16(a, b); }
  TESSERA_LANE V minus(V a, V b) { return _mm512_sub_epi16(a, b); }
  TESSERA_LANE V scaled(V a, V scale) { return _mm512_mulhrs_epi16(a, scale); }
  TESSERA_LANE V square(V a) { return _mm512_mulhi_epi16(a, a); }
  TESSERA_LANE std::uint32_t within(V sum, std::uint16_t limit) {
    return _mm512_cmple_epu16_mask(sum, set(static_cast<std::int16_t>(limit)));
  }
};

}  // namespace
}  // namespace tessera::molecular::pairs
