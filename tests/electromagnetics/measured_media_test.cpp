// SPDX-License-Identifier: Apache-2.0
// Measured tables, as users have them, from text to a medium that can be stepped in time. The
// numbers are facts of the papers, in the form in which refractiveindex.info has put them in the
// public domain.
#include "tessera/electromagnetics/index_fit.h"
#include "tessera/electromagnetics/medium_checks.h"
#include "tessera/electromagnetics/medium_stability.h"

#include <gtest/gtest.h>

#include <cmath>

namespace tessera::electromagnetics {
namespace {

// P. B. Johnson and R. W. Christy, Phys. Rev. B 6, 4370 (1972): gold.
constexpr const char* kGold = R"(wl,n,k
0.1879,1.28,1.188
0.1916,1.32,1.203
0.1953,1.34,1.226
0.1993,1.33,1.251
0.2033,1.33,1.277
0.2073,1.30,1.304
0.2119,1.30,1.350
0.2164,1.30,1.387
0.2214,1.30,1.427
0.2262,1.31,1.460
0.2313,1.30,1.497
0.2371,1.32,1.536
0.2426,1.32,1.577
0.2490,1.33,1.631
0.2551,1.33,1.688
0.2616,1.35,1.749
0.2689,1.38,1.803
0.2761,1.43,1.847
0.2844,1.47,1.869
0.2924,1.49,1.878
0.3009,1.53,1.889
0.3107,1.53,1.893
0.3204,1.54,1.898
0.3315,1.48,1.883
0.3425,1.48,1.871
0.3542,1.50,1.866
0.3679,1.48,1.895
0.3815,1.46,1.933
0.3974,1.47,1.952
0.4133,1.46,1.958
0.4305,1.45,1.948
0.4509,1.38,1.914
0.4714,1.31,1.849
0.4959,1.04,1.833
0.5209,0.62,2.081
0.5486,0.43,2.455
0.5821,0.29,2.863
0.6168,0.21,3.272
0.6595,0.14,3.697
0.7045,0.13,4.103
0.7560,0.14,4.542
0.8211,0.16,5.083
0.8920,0.17,5.663
0.9840,0.22,6.350
1.0880,0.27,7.150
1.2160,0.35,8.145
1.3930,0.43,9.519
1.6100,0.56,11.21
1.9370,0.92,13.78
)";

// D. E. Aspnes and A. A. Studna, Phys. Rev. B 27, 985 (1983): silicon, with its two interband
// peaks.
constexpr const char* kSilicon = R"(wl n k
0.2066 1.010 2.909
0.2101 1.083 2.982
0.2138 1.133 3.045
0.2175 1.186 3.120
0.2214 1.247 3.206
0.2254 1.340 3.302
0.2296 1.471 3.366
0.2339 1.579 3.353
0.2384 1.589 3.354
0.2431 1.571 3.429
0.2480 1.570 3.565
0.2530 1.597 3.749
0.2583 1.658 3.979
0.2638 1.764 4.278
0.2695 1.988 4.678
0.2755 2.452 5.082
0.2818 3.120 5.344
0.2883 4.087 5.395
0.2952 4.888 4.639
0.3024 5.020 3.979
0.3100 5.010 3.586
0.3179 5.016 3.346
0.3263 5.065 3.182
0.3351 5.156 3.058
0.3444 5.296 2.987
0.3542 5.610 3.014
0.3647 6.522 2.705
0.3757 6.709 1.320
0.3875 6.062 0.630
0.3999 5.570 0.387
0.4133 5.222 0.269
0.4275 4.961 0.203
0.4428 4.753 0.163
0.4592 4.583 0.130
0.4769 4.442 0.090
0.4959 4.320 0.073
0.5166 4.215 0.060
0.5391 4.123 0.048
0.5636 4.042 0.032
0.5904 3.969 0.030
0.6199 3.906 0.022
0.6525 3.847 0.016
0.6888 3.796 0.013
0.7293 3.752 0.010
0.7749 3.714 0.008
0.8266 3.673 0.005
)";

FittedMedium fit(const char* name, const char* text, const FitOptions& options) {
  return fit_medium(parse_index_table(data::make_text_file(name, text)), options);
}

void expect_ready_to_run(const FittedMedium& f) {
  EXPECT_TRUE(f.report.passive);
  for (const MediumFinding& finding : check_medium(f.medium)) ADD_FAILURE() << to_string(finding);
  const double cell = 2e-9;  // the time step of vacuum or a longer one
  EXPECT_GE(max_stable_dt(f.medium, 12 / (cell * cell)),
            cell / std::sqrt(3.0) / 299792458.0 * (1 - 2e-9));
}

// n has two digits where it is 0.14, and +-0.02 of error: no fit is much better than a few percent.
TEST(MeasuredMedia, Gold) {
  const FittedMedium f = fit("gold.csv", kGold, {.tolerance = 0.045, .conducting = true});
  EXPECT_TRUE(f.report.reached) << f.report.rms;
  EXPECT_LE(f.report.order, 8);
  EXPECT_LT(f.report.max_error, 0.12);
  expect_ready_to_run(f);
}

TEST(MeasuredMedia, Silicon) {
  const FittedMedium f = fit("silicon.csv", kSilicon, {.tolerance = 0.01});
  EXPECT_TRUE(f.report.reached) << f.report.rms;
  EXPECT_LE(f.report.order, 10);
  EXPECT_LT(f.report.max_error, 0.04);
  expect_ready_to_run(f);
}

}  // namespace
}  // namespace tessera::electromagnetics
