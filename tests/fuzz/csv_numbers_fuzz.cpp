// SPDX-License-Identifier: Apache-2.0
// Tables of numbers: any bytes either give columns of one length, or an InputError.
#include "processor_limit.h"
#include "tessera/data/csv_numbers.h"
#include "tessera/data/text_reader.h"

#include <cstdint>
#include <cstdlib>
#include <string>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const tessera::testing::ProcessorLimit limit;
  using namespace tessera::data;
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  for (const std::size_t columns : {std::size_t{0}, std::size_t{3}}) {
    try {
      const CsvNumbers t =
          read_csv_numbers(make_text_file("fuzz", bytes), {.columns = columns, .finite = true});
      if (columns > 0 ? t.columns.size() != columns : t.columns.size() != t.names.size())
        std::abort();
      for (const auto& column : t.columns)
        if (column.size() != t.rows()) std::abort();
    } catch (const InputError& e) {
      if (e.findings().empty() || e.findings()[0].number == 0) std::abort();
    }
  }
  try {
    const TextFile text = make_text_file("fuzz", bytes);
    std::size_t at = 0;
    const CsvColumns t = read_csv_columns(text, {std::string(trim(csv_record(text, at).back()))});
    for (const CsvColumn& c : t.columns)
      if ((c.is_number ? c.numbers.size() : c.texts.size()) != t.rows()) std::abort();
  } catch (const InputError& e) {
    if (e.findings().empty() || e.findings()[0].number == 0) std::abort();
  }
  return 0;
}
