// SPDX-License-Identifier: Apache-2.0
// What no single key shows: contradictions between keys, and names that nothing has. Private to
// options*.cpp and checks*.cpp.
#pragma once
#include "electromagnetics/waves/options.h"

#include <set>
#include <string_view>

namespace tessera::apps::waves {

class Checks {
 public:
  explicit Checks(const data::Config& config) : config_(config) {}

  /// A finding at the place of `key`, or of the table or item around it.
  void say(int number, const std::string& key, std::string message, std::string hint = {}) {
    findings.push_back(config_.error(number, key, std::move(message), std::move(hint)));
  }
  /// E0625 unless `name` is one of `known`.
  void known(const std::string& key, const std::string& name, const std::vector<std::string>& known,
             const std::string& what);
  /// E0625 if a name is there twice.
  void unique(const std::string& key, const std::string& name, std::set<std::string>& seen);

  std::vector<data::Diagnostic> findings;

 private:
  const data::Config& config_;
};

inline std::string item(const char* list, std::size_t i) {
  return std::string(list) + "[" + std::to_string(i) + "]";
}

// Each for its sections; those that ask for it see the whole case.
void check_grid(const GridOptions& grid, Checks& checks);
void check_run(const CaseOptions& o, Checks& checks);
void check_boundary(const CaseOptions& o, Checks& checks);
void check_materials(const CaseOptions& o, Checks& checks);
void check_structures(const CaseOptions& o, Checks& checks);
void check_sources(const CaseOptions& o, Checks& checks);
void check_ports(const CaseOptions& o, Checks& checks);
void check_loads(const CaseOptions& o, Checks& checks);
void check_sheets(const CaseOptions& o, Checks& checks);
void check_monitors(const CaseOptions& o, Checks& checks);
void check_reference(const CaseOptions& o, Checks& checks);

/// That no two results have one name, of keys of which none is found to be wrong.
void check_result_names(const CaseOptions& o, Checks& checks);
/// That results are there, at the frequencies at which numbers of them are expected.
void check_expected(const CaseOptions& o, Checks& checks);
/// Media that structures may name.
std::vector<std::string> media_names(const CaseOptions& o);
/// Whether the polarization leaves the component in.
bool is_computed(const GridOptions& grid, Component c);
/// Says so at `key` where it is not.
void check_computed(const GridOptions& grid, Component c, const std::string& key, int number,
                    Checks& checks);
/// A lumped element: its circuit, and the extent of its box of `size` along `axis`, which that key
/// gives.
void check_lumped(const GridOptions& grid, const CircuitOptions& circuit, const Point& size,
                  std::size_t axis, const std::string& at, const std::string& axis_key,
                  Checks& checks);
/// Number of resolved axes along which the extent is zero.
int flat_axes(const GridOptions& grid, const Point& size);
/// Says so at `key` if the box about `position` (a point without `size`) leaves the domain.
void check_inside(const GridOptions& grid, const Point& position, const Point& size,
                  const std::string& key, int number, Checks& checks);

}  // namespace tessera::apps::waves
