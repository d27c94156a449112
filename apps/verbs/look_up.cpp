// SPDX-License-Identifier: Apache-2.0
// list, explain, schema and info: what the registries know.
#include "support/report.h"
#include "tessera/data/info.h"
#include "tessera/data/nearest_names.h"
#include "tessera/data/quantity.h"
#include "verbs/verbs.h"

#include <algorithm>
#include <iomanip>
#include <iostream>
#include <set>

namespace tessera::apps {

data::ExitCode verb_list(const CommandLine& line) {
  const auto row = [](const std::string& name, const std::string& doc) {
    std::cout << std::left << std::setw(37) << name << " " << doc << "\n";
  };
  if (line.word.empty() || line.word == "apps")
    for (const App& a : all_apps()) row(a.name, a.summary);
  if (line.word == "examples")
    for (const App& a : all_apps())
      if (a.make_example) row(a.name, "tessera new " + a.name);
  if (line.word == "formats")
    for (const data::FileFormat& f : data::all_formats()) row(f.name, f.summary);
  if (line.word == "verbs")
    for (const VerbInfo& v : all_verbs()) row(v.name, v.doc);
  if (line.word == "units")
    for (const std::string& u : data::unit_symbols())
      row(u, data::dimension_name(data::parse_unit(u).dimension));
  return data::ExitCode::ok;
}

data::ExitCode verb_explain(const CommandLine& line) {
  const std::string& word = line.word;
  if (word.size() == 5 && (word[0] == 'E' || word[0] == 'e') &&
      word.find_first_not_of("0123456789", 1) == std::string::npos) {
    const std::string number = "E" + word.substr(1), text = explain_error(number);
    if (text.empty()) throw usage_error("there is no error number " + number);
    std::cout << text;
    return data::ExitCode::ok;
  }
  bool found = false;
  std::vector<std::string> common;
  for (const data::CommonKey& c : data::common_keys()) {
    common.push_back(c.key);
    if (c.key != word) continue;
    std::cout << c.key << "\n  " << c.doc << "\n  app: every one\n";
    found = true;
  }
  std::vector<std::string> near = data::nearest_names(word, common);
  for (const App& a : all_apps()) {
    const std::string text = a.options.get().explain(word);
    if (!text.empty()) std::cout << text;
    found = found || !text.empty();
    for (std::string& key : a.options.get().nearest(word)) near.push_back(std::move(key));
  }
  if (!found)
    throw usage_error("no app has the key '" + word + "'",
                      near.empty() ? "" : "did you mean '" + near.front() + "'?");
  return data::ExitCode::ok;
}

data::ExitCode verb_schema(const CommandLine& line) {
  const data::OptionTable& table = app_called(line.word).options.get();
  std::cout << (line.markdown ? table.reference_page() : table.json_schema());
  return data::ExitCode::ok;
}

data::ExitCode verb_info(const CommandLine& line) {
  const data::InfoNode facts = data::info(line.path);
  std::cout << (line.json ? data::to_json(facts) : data::to_text(facts));
  return data::ExitCode::ok;
}

}  // namespace tessera::apps
