// SPDX-License-Identifier: Apache-2.0
//
// An ONNX file as plain data: the messages of onnx.proto (github.com/onnx/onnx) as far as networks
// use them.
#pragma once
#include "onnx/wire.h"
#include "tessera/autodiff/tensor.h"

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tessera::data {

/// Versions of the standard operators that are read, and the one that is written.
inline constexpr std::int64_t kOldestOpset = 7, kNewestOpset = 20, kWrittenOpset = 17;
/// What networks may be nested in: branches of branches.
inline constexpr int kMaxOnnxDepth = 16;

struct OnnxGraph;

/// Elements of a tensor; where the type is none of a Tensor's, its name alone.
struct OnnxTensor {
  std::string name;
  std::int64_t type = 0;  ///< number of TensorProto.DataType
  std::vector<std::int64_t> dims;
  Tensor values;
  std::uint64_t byte = 0;
};

struct OnnxAttribute {
  enum Kind : std::int64_t {
    none = 0,
    real = 1,
    integer = 2,
    text = 3,
    tensor = 4,
    graph = 5,
    reals = 6,
    integers = 7,
    texts = 8
  };
  std::string name;
  std::int64_t kind = none;  ///< others than these are not read
  double f = 0;
  std::int64_t i = 0;
  std::string s;
  OnnxTensor t;
  std::shared_ptr<OnnxGraph> g;
  std::vector<double> floats;
  std::vector<std::int64_t> ints;
  std::vector<std::string> strings;
};

struct OnnxNode {
  std::string op, domain, name;
  std::vector<std::string> in, out;  ///< "" of an operand that is left out
  std::vector<OnnxAttribute> attributes;
  std::uint64_t byte = 0;
};

/// An axis: a length, or a name of one that may differ.
struct OnnxAxis {
  std::int64_t length = -1;
  std::string name;
};
struct OnnxValueInfo {
  std::string name;
  std::int64_t type = 0;  ///< 0: not a tensor
  std::optional<std::vector<OnnxAxis>> shape;
};

struct OnnxGraph {
  std::string name;
  std::vector<OnnxNode> nodes;
  std::vector<OnnxTensor> initializers;
  std::vector<OnnxValueInfo> inputs, outputs;
};

struct OnnxModel {
  std::int64_t ir_version = 8;
  std::map<std::string, std::int64_t> opsets;  ///< version of each domain; "": the standard one
  std::string producer, producer_version;
  OnnxGraph graph;
  std::map<std::string, std::string> metadata;
  std::size_t functions = 0;  ///< local ones, which are not read
};

/// `_12`: a value that our exporter has made.
bool is_made_by_export(std::string_view name);

/// "FLOAT16"; "" of a number that names no type.
std::string onnx_type_name(std::int64_t type);
/// The number of a Tensor's type.
std::int64_t onnx_type_of(Dtype dtype);
std::optional<Dtype> dtype_of_onnx(std::int64_t type);

enum class OnnxValues { read, skip };  ///< elements of tensors
/// Messages, their nesting and sizes are checked, and tensors have the elements that their types
/// and axes say; what operators mean is not looked at. Weights in a second file are read from the
/// folder of `path`, and from nowhere else. Throws InputError: E0401, E0402, E0403, E0439.
OnnxModel read_onnx_model(const std::filesystem::path& path, OnnxValues values = OnnxValues::read);
/// One tensor by itself.
OnnxTensor read_onnx_tensor_file(const std::filesystem::path& path);
void write_onnx_model(const std::filesystem::path& path, const OnnxModel& m);

}  // namespace tessera::data
