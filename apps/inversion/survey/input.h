// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "inversion/survey/options.h"
#include "tessera/data/diagnostic.h"
#include "tessera/data/input_files.h"

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace tessera::apps::survey {

/// The survey of a case as it is inverted, and what its files gave to say.
struct Input {
  inversion::Survey survey;
  std::vector<data::Diagnostic> findings;  ///< warnings, and the errors of the files left out
};

/// The files of all stations, in their order, each once.
std::vector<data::InputFile> files_of(const Input& in);

/// What an app asks of the stations of its case.
struct InputRules {
  std::vector<inversion::DatumKind> kinds;
  /// Those of the module if not given; tables of data are held to them only where they are.
  std::optional<double> tipper_floor = {}, phase_tensor_floor = {};
  std::size_t fewest_periods = 1;  ///< that count: E0610 where a station has fewer
  /// A period counts where this response is whole; where it has a datum if not given.
  std::optional<inversion::Element> whole = {};
  /// The key, with its value, by which a case takes the rows of a table that it has not asked for;
  /// empty where none does.
  std::function<std::string(const std::vector<inversion::DatumKind>&)> asking = {};
  /// What becomes of the rows of a station before they are counted.
  std::function<void(inversion::StationData&)> prepare = {};
  /// Why a station that has enough is left out all the same; nothing: it is not.
  std::function<std::optional<data::Diagnostic>(const inversion::StationData&)> refuse;
  /// Stations in their order.
  std::function<inversion::Survey(std::vector<inversion::StationData>)> line_up;
};

/// Reads everything that `o` names and never stops at the first error: they are all among the
/// findings.
Input read_input(const DataOptions& o, const InputRules& rules);

/// An error about a file.
data::Diagnostic about(int number, const std::string& file, std::string message, std::string hint);

/// Warnings: E0607, a correction of azimuths has no effect, since nothing is turned to a strike;
/// E0618, keys of a static shift that is not enabled are given.
void doubt_options(const data::Config& config, const DataOptions& data,
                   std::vector<data::Diagnostic>& out);

/// A warning that a key has no effect.
void doubt_in_vain(const data::Config& config, int number, const std::string& key,
                   std::string_view why, std::vector<data::Diagnostic>& out);

/// "4 phase_tensor_xx, 2 tx_re"
std::string counts_text(const std::map<std::string, std::size_t>& by_name);

/// For `check`: format, periods, sign and units of a station.
std::string check_line(const Input& input, std::size_t station);

/// For `check`: the strike that the phase tensors of all stations share, over all periods and by
/// decades; none where no station has a whole tensor.
std::vector<std::string> strike_lines(const Input& input);

/// Throws the errors of the files, unless these may be left out and others remain.
void require_stations(const data::Config& config, bool keep_going, const Input& input);

}  // namespace tessera::apps::survey
