// SPDX-License-Identifier: Apache-2.0
#pragma once

// A kernel body is written once and compiled for host and device.
#ifndef TESSERA_HD
#ifdef __CUDACC__
#define TESSERA_HD __host__ __device__
#else
#define TESSERA_HD
#endif
#endif

/// On a lambda: inlined however large.
#define TESSERA_INLINE __attribute__((always_inline))

// The same, inlined however large: a loop over a kernel body only becomes vector code when nothing
// is called.
#ifdef __CUDACC__
#define TESSERA_HD_INLINE TESSERA_HD __forceinline__
#else
#define TESSERA_HD_INLINE inline __attribute__((always_inline))
#endif

/// A long body with branches, whose loop is not vector code, that several places call.
#define TESSERA_HD_CALLED TESSERA_HD __attribute__((noinline)) inline
