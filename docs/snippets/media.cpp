// SPDX-License-Identifier: Apache-2.0
#include <tessera/electromagnetics/index_fit.h>
#include <tessera/electromagnetics/media_library.h>
#include <tessera/electromagnetics/medium_checks.h>
#include <tessera/electromagnetics/medium_stability.h>

#include <iostream>

using namespace tessera::electromagnetics;

int main() {
  const Medium& gold = find_medium("Au");  // Rakic et al. 1998
  std::cout << "n - i k at 633 nm: " << refractive_index(gold, 0, 4.736e14) << "\n";

  IndexTable table{.name = "measured"};  // or read_index_table("gold.csv")
  for (double f = 3e14; f < 6e14; f += 5e12) {
    table.f_hz.push_back(f);
    table.eps.push_back(permittivity(gold, 0, f));
  }
  const FittedMedium fit = fit_medium(table, {.tolerance = 1e-3, .conducting = true});
  std::cout << fit.report.order << " poles, error " << fit.report.rms << "\n";

  const double cell = 5e-9, curl_curl = 12 / (cell * cell);  // cubes
  std::cout << "time step up to " << max_stable_dt(fit.medium, curl_curl) << " s\n";
  for (const MediumFinding& f : check_medium(fit.medium)) std::cout << to_string(f) << "\n";
}
