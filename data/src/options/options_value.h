// SPDX-License-Identifier: Apache-2.0
// One value of a configuration, checked against what its key takes. Private to data/.
#pragma once
#include "options/options_findings.h"
#include "tessera/data/options.h"
#include "tessera/data/parameters.h"

#include <optional>
#include <string>

namespace tessera::data::detail {

class ValueReader {
 public:
  /// `bare_si`: the file says that bare numbers are in SI units; angles need theirs all the same,
  /// for a bare 30 is meant in degrees as often as in radians. Values that are made of the
  /// parameters in `use` are added to it.
  ValueReader(const Config& config, bool bare_si, ParameterUse& use, Findings& findings)
      : config_(config), bare_si_(bare_si), use_(use), findings_(findings) {}

  /// The value of the key that the user knows as `name`; nothing where it is wrong, which has been
  /// told.
  std::optional<OptionValue> read(const OptionSpec& spec, const std::string& name, const Value& v);

 private:
  bool items(const OptionSpec& spec, const Value& v, OptionValue& out);
  OptionScalar scalar(const OptionSpec& spec, const Value& v);
  OptionScalar integer(const OptionSpec& spec, const Value& v);
  OptionScalar real(const OptionSpec& spec, const Value& v);
  OptionScalar text(const OptionSpec& spec, const Value& v);
  OptionScalar path(const OptionSpec& spec, const Value& v);
  std::optional<double> computed(const OptionSpec& spec, const std::string& text, const Origin& at);
  void wrong_quantity(const OptionSpec& spec, const std::string& text, const Origin& at,
                      const QuantityError& e);
  void wrong_type(const OptionSpec& spec, const Value& v, std::string hint = {});

  const Config& config_;
  bool bare_si_;
  ParameterUse& use_;
  Findings& findings_;
  std::string name_, subject_;  // 'depths', items of 'depths'
  std::size_t item_ = 0;        // of a list, row after row
};

}  // namespace tessera::data::detail
