// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "tessera/inversion/mt_transform.h"
#include "tessera/inversion/phase_tensor.h"
#include "tessera/inversion/sounding_read.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

namespace tessera::testing {

/// What is read is in order and goes through the transforms.
inline void fuzz_transforms(inversion::Sounding& s) {
  using namespace tessera::inversion;
  if (s.size() == 0) std::abort();
  for (std::size_t i = 0; i < s.size(); ++i)
    if (!(s.frequency_hz[i] > 0) || (i > 0 && !(s.frequency_hz[i] < s.frequency_hz[i - 1])))
      std::abort();
  if (s.azimuth_deg.size() != s.size() || (!s.has_impedance() && !s.has_tipper())) std::abort();
  if (s.has_impedance() && (s.impedance.size() != s.size() || s.impedance_error.size() != s.size()))
    std::abort();
  if (s.has_tipper() && (s.tipper.size() != s.size() || s.tipper_error.size() != s.size()))
    std::abort();
  for (const auto& t : s.impedance_error)
    for (const auto& row : t)
      for (const double e : row)
        if (e <= 0) std::abort();
  rotate_to(s, 30);
  (void)mode_curve("determinant", response_of(s, Element::determinant));
  (void)phase_tensors(s);
}

/// Reads the bytes; what is read must be in order and go through the transforms. Inputs that are
/// taken for another format are left to that format's harness.
inline int fuzz_sounding(const std::uint8_t* data, std::size_t size, const char* format) {
  using namespace tessera::inversion;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const std::string found = sniff_sounding_format(bytes);
  if (!found.empty() && std::string_view(format).find(found) == std::string_view::npos) return 0;
  try {
    for (Sounding& s : parse_stations(bytes, "fuzz")) fuzz_transforms(s);
  } catch (const data::InputError& e) {
    if (e.findings().empty() || e.code() != data::ExitCode::input_invalid) std::abort();
  }
  return 0;
}

}  // namespace tessera::testing
