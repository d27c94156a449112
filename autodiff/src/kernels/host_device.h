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
