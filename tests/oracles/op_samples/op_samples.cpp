// SPDX-License-Identifier: Apache-2.0
//
//   op_samples --list                names of the operations in the table
//   op_samples FOLDER FIRST LAST     cases FIRST ... LAST - 1 of FOLDER/cases.jsonl, one line of
//   JSON each to standard output
//
// A line is written before a case ({"begin": number}) and one after it, so that whoever reads knows
// which case ended the program.
#include "judge.h"

#include <nlohmann/json.hpp>

#include <cmath>
#include <fstream>
#include <iostream>

namespace {

using nlohmann::json;
using namespace tessera;
using namespace tessera::oracle;

Dtype dtype_named(const std::string& name) {
  for (int k = 0; k < kDtypes; ++k)
    if (name == name_of(static_cast<Dtype>(k))) return static_cast<Dtype>(k);
  throw std::invalid_argument("no element type " + name);
}
Value value_of(const json& j) {
  Value v;
  using K = Value::Kind;
  if (j.is_null()) return v;
  if (j.is_boolean()) {
    v.kind = K::boolean;
    v.integer = j.get<bool>();
    v.number = static_cast<double>(v.integer);
  } else if (j.is_number_integer()) {
    v.kind = K::integer;
    v.integer = j.get<std::int64_t>();
    v.number = static_cast<double>(v.integer);
  } else if (j.is_number_float()) {
    v.kind = K::real;
    v.number = j.get<double>();
    v.integer = static_cast<std::int64_t>(v.number.real());
  } else if (j.is_string()) {
    v.kind = K::text;
    v.text = j.get<std::string>();
  } else if (j.is_array()) {
    v.kind = K::list;
    for (const json& e : j) v.items.push_back(value_of(e));
  } else if (j.contains("tuple")) {
    v = value_of(j["tuple"]);
    v.text = "tuple";
  } else if (j.contains("tensor")) {
    v.kind = K::tensor;
    v.integer = j["tensor"].get<std::int64_t>();
  } else if (j.contains("real")) {
    v.kind = K::real;
    v.number = std::stod(j["real"].get<std::string>());
  } else if (j.contains("complex")) {
    v.kind = K::complex;
    v.number = c128(std::stod(j["complex"][0].get<std::string>()),
                    std::stod(j["complex"][1].get<std::string>()));
  } else if (j.contains("dtype")) {
    v.kind = K::dtype;
    v.dtype = dtype_named(j["dtype"].get<std::string>());
  } else if (j.contains("slice")) {
    v.kind = K::slice;
    for (const json& e : j["slice"]) v.items.push_back(value_of(e));
  } else if (j.contains("ellipsis"))
    v.kind = K::ellipsis;
  return v;
}

bool finite(const std::vector<Tensor>& x) {
  for (const Tensor& t : x)
    if (!all(is_finite(floating(t))).item<bool>()) return false;
  return true;
}

class Reader {
 public:
  explicit Reader(const std::string& folder) : data_(folder + "/data.bin", std::ios::binary) {}
  Tensor array(const json& j) {
    Shape s;
    for (const json& d : j["shape"]) s.push_back(d.get<Index>());
    const Tensor t = empty({dtype_named(j["type"].get<std::string>()), s});
    data_.seekg(j["at"].get<std::int64_t>());
    data_.read(
        static_cast<char*>(t.view().data),
        static_cast<std::streamsize>(static_cast<std::size_t>(s.count()) * size_of(t.dtype())));
    return t;
  }
  std::vector<Tensor> arrays(const json& j) {
    std::vector<Tensor> r;
    for (const json& a : j) r.push_back(array(a));
    return r;
  }
  Case read(const json& j) {
    Case c;
    c.id = j["id"].get<std::string>();
    c.op = j["op"].get<std::string>();
    c.seed = j["number"].get<std::uint64_t>();
    c.narrow = j["narrow"].get<bool>();
    c.rough = j.value("rough", false);
    const json& a = j["arguments"];
    c.places.push_back(value_of(a[0]));
    for (const json& v : a[1]) c.places.push_back(value_of(v));
    for (const auto& [name, v] : a[2]["named"].items()) c.names.emplace_back(name, value_of(v));
    c.tensors = arrays(j["tensors"]);
    c.value = arrays(j["value"]);
    c.tangents = arrays(j["tangents"]);
    c.weights = arrays(j["weights"]);
    const auto maybe = [&](const char* name, std::optional<std::vector<Tensor>>& to,
                           std::vector<double>& moved) {
      if (j.contains(name)) to = arrays(j[name]);
      moved = j.value(std::string(name) + "_moved", std::vector<double>{});
    };
    maybe("vjp", c.vjp, c.vjp_moved);
    maybe("jvp", c.jvp, c.jvp_moved);
    maybe("second", c.second, c.second_moved);
    c.value_moved = j.value("value_moved", std::vector<double>{});
    c.live = j.value("live", std::vector<int>{});
    return c;
  }

 private:
  std::ifstream data_;
};

}  // namespace

int main(int argc, char** argv) {
  const Table table = all_rows();
  if (argc == 2 && std::string(argv[1]) == "--list") {
    for (const auto& [name, op] : table) std::cout << name << "\n";
    return 0;
  }
  if (argc != 4) {
    std::cerr << "op_samples --list | op_samples FOLDER FIRST LAST\n";
    return 2;
  }
  Reader reader(argv[1]);
  std::ifstream cases(std::string(argv[1]) + "/cases.jsonl");
  std::string line;
  for (std::int64_t number = 0; number < std::stoll(argv[3]) && std::getline(cases, line);
       ++number) {
    if (number < std::stoll(argv[2])) continue;
    std::cout << json{{"begin", number}}.dump() << std::endl;
    const Case c = reader.read(json::parse(line));
    const Verdict v = judge(c, table.at(c.op));
    json failed = json::array();
    for (const Finding& f : v.failed)
      failed.push_back({f.check, f.what, std::isfinite(f.times) ? f.times : 1e300});
    json done = json::object();
    for (const auto& [check, d] : v.done) done[check] = std::isfinite(d) ? d : 1e300;
    std::cout << json{{"number", number},
                      {"id", c.id},
                      {"finite", finite(c.tensors)},
                      {"done", done},
                      {"failed", failed}}
                     .dump(-1, ' ', false, json::error_handler_t::replace)
              << std::endl;
  }
  return 0;
}
