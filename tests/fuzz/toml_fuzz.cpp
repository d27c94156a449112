// SPDX-License-Identifier: Apache-2.0
// Configuration text of any kind: TOML, JSON and overrides, read through an option table that has
// every type of key. What is accepted must be written back as text that reads to the same text
// again.
#include "processor_limit.h"
#include "tessera/data/config.h"
#include "tessera/data/options.h"
#include "tessera/data/quantity.h"

#include <array>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace tessera::data;

enum class Method { occam, gauss_newton };
struct Item {
  Method kind = Method::occam;
  std::optional<double> size_m;
  std::array<double, 3> eps{1, 1, 1};
  std::vector<std::array<double, 2>> points;
};
struct Sample {
  Item one;
  std::optional<Item> perhaps;
  std::vector<Item> items;
  double error_floor = 0.05;
  std::vector<double> depths_m = {10, 100};
  Method method = Method::occam;
  std::optional<int> layers;
  std::vector<std::string> names;
  std::filesystem::path folder = "/data";
  std::uint8_t small = 1;
  bool robust = false;
};

const Options<Sample>& table() {
  static const Options<Sample> t = [] {
    Options<Item> item("item", "Keys of two kinds");
    item.add_kind("kind", &Item::kind, {.doc = "d", .choices = {"occam", "gauss_newton"}})
        .add("size", &Item::size_m,
             {.doc = "d",
              .unit = "m",
              .alternatives = {{"Hz", "3e8 m/s/x"}},
              .infinite = true,
              .above = 0,
              .only_for = {"occam"}})
        .add("eps", &Item::eps, {.doc = "d", .min = 1, .one_for_all = true})
        .add("deep.points", &Item::points, {.doc = "d", .unit = "m"});
    Options<Sample> o("a.b", "Every type of key");
    o.add("data.error_floor", &Sample::error_floor,
          {.doc = "d", .unit = "%", .above = 0, .max = 100})
        .add("depths", &Sample::depths_m, {.doc = "d", .unit = "m", .min_items = 1})
        .add("method", &Sample::method, {.doc = "d", .choices = {"occam", "gauss_newton"}})
        .add("layers", &Sample::layers, {.doc = "d", .min = 1})
        .add("names", &Sample::names, {.doc = "d"})
        .add("folder", &Sample::folder, {.doc = "d"})
        .add("small", &Sample::small, {.doc = "d"})
        .add("data.robust", &Sample::robust, {.doc = "d"})
        .add_table("one", &Sample::one, item, {.doc = "d"})
        .add_table("perhaps", &Sample::perhaps, item, {.doc = "d"})
        .add_tables("item", &Sample::items, item, {.doc = "d"});
    return o;
  }();
  return t;
}

void require(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const tessera::testing::ProcessorLimit limit;
  // The first byte says what the rest is.
  if (size < 1) return 0;
  const std::string text(reinterpret_cast<const char*>(bytes) + 1, size - 1);
  try {
    if (bytes[0] % 4 == 3) {
      const Quantity q = parse_quantity(text);
      require(parse_quantity(print_quantity(q.value, si_unit(q.dimension)), q.dimension) ==
              q.value);
      return 0;
    }
    const Config config =
        bytes[0] % 4 == 2
            ? parse_config("mem", "app = 'a.b'", ConfigFormat::toml, {text})
            : parse_config("mem", text, bytes[0] % 4 ? ConfigFormat::json : ConfigFormat::toml);
    const std::vector<Diagnostic> findings = table().check(config);
    for (const Diagnostic& d : findings) require(!to_string(d).empty());
    if (findings.empty()) {
      const std::string resolved = table().resolved_toml(config);
      require(table().resolved_toml(parse_config("again", resolved)) == resolved);
    }
  } catch (const InputError& e) {
    require(!e.findings().empty() && e.findings()[0].number != 0);
  } catch (const QuantityError&) {
  }
  return 0;
}
