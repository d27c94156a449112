// SPDX-License-Identifier: Apache-2.0
#pragma once

/// All scalar function bodies; vmath_basic.h says what they promise.
#include "vmath_complex.h"
#include "vmath_erf.h"
#include "vmath_exp.h"
#include "vmath_gamma.h"
#include "vmath_inverse.h"
#include "vmath_log.h"
#include "vmath_power.h"
#include "vmath_trig.h"
