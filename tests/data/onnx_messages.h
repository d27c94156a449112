// SPDX-License-Identifier: Apache-2.0
// Files of ONNX by hand, beside our own writer.
#pragma once
#include "input_error.h"
#include "temp_folder.h"
#include "tessera/data/onnx.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

namespace tessera::testing {

inline std::string varint(std::uint64_t v) {
  std::string out;
  for (; v >= 128; v >>= 7) out += static_cast<char>((v & 127) | 128);
  return out + static_cast<char>(v);
}
inline std::string number_field(int field, std::uint64_t v) {
  return varint(static_cast<std::uint64_t>(field) << 3) + varint(v);
}
inline std::string bytes_field(int field, const std::string& v) {
  return varint(static_cast<std::uint64_t>(field) << 3 | 2) + varint(v.size()) + v;
}
inline std::string onnx_node(const std::string& op, const std::vector<std::string>& in,
                             const std::vector<std::string>& out,
                             const std::string& attributes = "", const std::string& domain = "") {
  std::string m;
  for (const std::string& v : in) m += bytes_field(1, v);
  for (const std::string& v : out) m += bytes_field(2, v);
  m += bytes_field(4, op) + attributes;
  if (!domain.empty()) m += bytes_field(7, domain);
  return bytes_field(1, m);
}
inline std::string onnx_text(const std::string& name, const std::string& v) {
  return bytes_field(5, bytes_field(1, name) + bytes_field(4, v) + number_field(20, 3));
}
inline std::string onnx_number(const std::string& name, std::uint64_t v) {
  return bytes_field(5, bytes_field(1, name) + number_field(3, v) + number_field(20, 2));
}
inline std::string onnx_numbers(const std::string& name, const std::vector<std::uint64_t>& v) {
  std::string m = bytes_field(1, name);
  for (const std::uint64_t n : v) m += number_field(8, n);
  return bytes_field(5, m + number_field(20, 7));
}
inline std::string onnx_graph(const std::string& name, const std::string& graph) {
  return bytes_field(5, bytes_field(1, name) + bytes_field(6, graph) + number_field(20, 5));
}
/// f32 with these axes (-1: any).
inline std::string onnx_value(int field, const std::string& name, const std::vector<int>& axes,
                              int type = 1) {
  std::string shape;
  for (const int n : axes)
    shape +=
        bytes_field(1, n < 0 ? bytes_field(2, "n") : number_field(1, static_cast<unsigned>(n)));
  const std::string tensor = number_field(1, static_cast<unsigned>(type)) + bytes_field(2, shape);
  return bytes_field(field, bytes_field(1, name) + bytes_field(2, bytes_field(1, tensor)));
}
inline std::string onnx_tensor(const std::string& name, const std::vector<std::uint64_t>& dims,
                               int type, const std::string& data) {
  std::string m;
  for (const std::uint64_t d : dims) m += number_field(1, d);
  return bytes_field(
      5, m + number_field(2, static_cast<unsigned>(type)) + bytes_field(8, name) + data);
}
inline std::string raw_floats(const std::vector<float>& v) {
  return bytes_field(9, {reinterpret_cast<const char*>(v.data()), 4 * v.size()});
}
inline std::string onnx_model(const std::string& graph, int opset = 17) {
  return number_field(1, 8) + bytes_field(7, graph) +
         bytes_field(8, number_field(2, static_cast<unsigned>(opset)));
}
inline const std::string kX = onnx_value(11, "x", {-1, 2});
inline const std::string kY = onnx_value(12, "y", {-1, 2});

inline data::OnnxNetwork read_model(const std::string& bytes) {
  const TempFolder folder;
  return data::read_onnx(folder.write("m.onnx", bytes));
}
inline void expect_onnx_refused(int number, const std::string& bytes, const char* part) {
  const data::Diagnostic d = fault([&] { read_model(bytes); });
  EXPECT_EQ(d.number, number) << to_string(d) << " expected: " << part;
  EXPECT_NE(d.message.find(part), std::string::npos) << to_string(d) << " expected: " << part;
  ASSERT_TRUE(d.place.byte) << to_string(d);
  EXPECT_LE(*d.place.byte, bytes.size());
}

}  // namespace tessera::testing
