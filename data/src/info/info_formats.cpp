// SPDX-License-Identifier: Apache-2.0
#include "info/info_formats.h"

#include "files/regular_file.h"
#include "tessera/data/checkpoint_shards.h"
#include "tessera/data/config.h"
#include "tessera/data/diagnostic.h"
#include "tessera/data/file_io.h"
#include "tessera/data/hdf5.h"
#include "tessera/data/manifest.h"
#include "tessera/data/text_reader.h"

#include <algorithm>

namespace tessera::data {
namespace fs = std::filesystem;
namespace {

std::string_view after_blanks(std::string_view text) {
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  const std::size_t at = text.find_first_not_of(" \t\r\n");
  return at == std::string_view::npos ? std::string_view{} : text.substr(at);
}

// --- HDF5 ---

InfoNode hdf5_info(const fs::path& path) {
  InfoNode node = file_node(path);
  InfoNode& tree = node.add("objects");
  for (const H5Object& o : list_h5(path)) {
    const std::string shape = shape_text(o.shape);
    std::string what;
    switch (o.kind) {
      case H5Object::Kind::group:
        what = "group";
        break;
      case H5Object::Kind::dataset:
        what = o.type + ", " + shape + ", stored in " + std::to_string(o.stored_bytes) + " bytes";
        break;
      case H5Object::Kind::named_type:
        what = "type";
        break;
      case H5Object::Kind::soft_link:
        what = "link to " + o.type;
        break;
      case H5Object::Kind::repeated:
        what = "an object that stands above already";
        break;
    }
    InfoNode& child = tree.add(o.path, what);
    for (const auto& [name, value] : o.attributes) child.add(name, value);
  }
  return node;
}

// --- checkpoints, manifests, run folders ---

InfoNode checkpoint_info(const fs::path& path) {
  const Checkpoint c = read_checkpoint(path);
  InfoNode node = file_node(path);
  node.add("app", c.app);
  node.add("step", static_cast<std::int64_t>(c.step));
  node.add("config_sha256", c.config_sha256);
  InfoNode& inputs = node.add("inputs", static_cast<std::int64_t>(c.inputs.size()));
  for (std::size_t i = 0; i < std::min(c.inputs.size(), kMaxListed); ++i)
    inputs.add(c.inputs[i].path, c.inputs[i].sha256);
  if (!c.shards.empty()) {
    InfoNode& shards = node.add("shards", static_cast<std::int64_t>(c.shards.size()));
    for (std::size_t i = 0; i < std::min(c.shards.size(), kMaxListed); ++i)
      shards.add(shard_name(c.step, c.shards[i]), static_cast<std::int64_t>(c.shards[i].bytes));
  }
  static constexpr const char* kTypes[] = {"float64", "float32",    "int64", "uint64",
                                           "uint8",   "complex128", "text"};
  InfoNode& values = node.add("values", static_cast<std::int64_t>(c.values.size()));
  for (const auto& [name, value] : c.values) {
    if (values.children.size() == kMaxListed) break;
    const std::string type = kTypes[value.data.index()];
    const auto* text = std::get_if<std::string>(&value.data);
    values.add(
        name,
        type + ", " + (text ? std::to_string(text->size()) + " bytes" : shape_text(value.shape)));
  }
  return node;
}

void put_manifest(InfoNode& node, const Manifest& m) {
  node.add("app", m.app);
  node.add("tessera", m.tessera_version + (m.git_hash.empty() ? "" : " " + m.git_hash) +
                          (m.git_dirty ? " (changed)" : ""));
  node.add("host", m.host);
  node.add("cpu", m.cpu);
  node.add("threads", std::int64_t{m.threads});
  node.add("started", m.started);
  node.add("ended", m.ended);
  node.add("resumed", std::int64_t{m.resumed});
  node.add("wall_s", m.wall_s);
  node.add("cpu_s", m.cpu_s);
  node.add("peak_rss_bytes", static_cast<std::int64_t>(m.peak_rss_bytes));
  node.add("exit_code", std::int64_t{m.exit_code});
  node.add("exit_reason", m.exit_reason);
  InfoNode& metrics = node.add("metrics");
  for (const auto& [name, value] : m.metrics) metrics.add(name, value);
  InfoNode& inputs = node.add("inputs", static_cast<std::int64_t>(m.inputs.size()));
  for (std::size_t i = 0; i < std::min(m.inputs.size(), kMaxListed); ++i)
    inputs.add(m.inputs[i].path, m.inputs[i].sha256);
}

InfoNode manifest_info(const fs::path& path) {
  InfoNode node = file_node(path);
  put_manifest(node, manifest_from_json(read_file(path, 64 << 20), path.string()));
  return node;
}

InfoNode pointer_info(const fs::path& path) {
  InfoNode node = file_node(path);
  node.add("checkpoint", std::string(trim(read_file(path, 4096))));
  return node;
}

// --- configurations ---

void put_value(InfoNode& parent, const std::string& name, const Value& v) {
  InfoNode& node = parent.add(name);
  if (const auto* table = v.get<Table>()) {
    for (const Member& m : *table) put_value(node, m.key, m.value);
  } else if (const auto* list = v.get<Array>()) {
    node.value = "list of " + std::to_string(list->size());
  } else if (const auto* s = v.get<std::string>()) {
    node.value = *s;
  } else if (const auto* d = v.get<double>()) {
    node.value = *d;
  } else if (const auto* i = v.get<std::int64_t>()) {
    node.value = *i;
  } else if (const auto* b = v.get<bool>()) {
    node.value = *b;
  } else if (const auto* t = v.get<Date>()) {
    node.value = t->text;
  }
}

/// What `info` cannot take is a bad input file, even where `run` would call it a bad configuration.
InfoNode toml_info(const fs::path& path) {
  try {
    const Config c =
        path.extension() == ".toml"
            ? read_config(path)
            : parse_config(path.string(), read_text_file(path).text, ConfigFormat::toml);
    if (!c.findings.empty()) throw InputError(ExitCode::input_invalid, c.findings);
    InfoNode node = file_node(path);
    for (const Member& m : c.table()) put_value(node, m.key, m.value);
    return node;
  } catch (const InputError& e) {
    throw InputError(ExitCode::input_invalid, e.findings());
  }
}

}  // namespace

InfoNode file_node(const fs::path& path) {
  InfoNode node{path.filename().string(), {}, {}};
  node.add("bytes", static_cast<std::int64_t>(RegularFile(path).size()));
  return node;
}

std::string shape_text(const std::vector<std::uint64_t>& shape) {
  std::string out;
  for (std::uint64_t s : shape) out += (out.empty() ? "" : " x ") + std::to_string(s);
  return out.empty() ? "one value" : out;
}

InfoNode run_folder_info(const fs::path& run) {
  std::error_code ignored;
  if (!fs::is_regular_file(run / "manifest.json", ignored))
    throw InputError(
        Diagnostic{.number = 402,
                   .place = {run.string()},
                   .message = "a folder without manifest.json: neither a file nor a run folder"});
  InfoNode node{run.filename().empty() ? run.string() : run.filename().string(), {}, {}};
  node.add("format", std::string("run folder"));
  const fs::path file = run / "manifest.json";
  put_manifest(node, manifest_from_json(read_file(file, 64 << 20), file.string()));
  std::vector<std::pair<std::string, std::int64_t>> files;
  for (fs::recursive_directory_iterator it(run, ignored), end; !ignored && it != end;
       it.increment(ignored))
    if (it->is_regular_file(ignored))
      files.emplace_back(it->path().lexically_relative(run).string(),
                         static_cast<std::int64_t>(it->file_size(ignored)));
  std::sort(files.begin(), files.end());
  InfoNode& list = node.add("files", static_cast<std::int64_t>(files.size()));
  for (std::size_t i = 0; i < std::min(files.size(), kMaxListed); ++i)
    list.add(files[i].first, files[i].second);
  return node;
}

std::vector<FileFormat> own_formats() {
  return {
      {.name = "HDF5",
       .summary = "results.h5 and other HDF5 files",
       .extensions = {".h5", ".hdf5", ".hdf", ".vtkhdf"},
       .sniff = [](std::string_view head,
                   const fs::path&) { return head.starts_with("\x89HDF\r\n\x1a\n"); },
       .summarize = hdf5_info,
       .priority = 10},
      {.name = "checkpoint",
       .summary = "state of a run (RUN/ckpt)",
       .extensions = {".ckpt", ".shard"},
       .sniff = [](std::string_view head,
                   const fs::path&) { return head.starts_with("Tessera ckpt"); },
       .summarize = checkpoint_info,
       .priority = 10},
      {.name = "npy",
       .summary = "NumPy array",
       .extensions = {".npy"},
       .sniff = [](std::string_view head,
                   const fs::path&) { return head.starts_with("\x93NUMPY"); },
       .summarize = npy_info,
       .priority = 10},
      {.name = "npz",
       .summary = "NumPy arrays by name",
       .extensions = {".npz"},
       .sniff = is_npz,
       .summarize = npz_info,
       .priority = 10},
      {.name = "safetensors",
       .summary = "tensors by name, such as the weights of a network",
       .extensions = {".safetensors"},
       .sniff = is_safetensors,
       .summarize = safetensors_info,
       .priority = 10},
      {.name = "ONNX",
       .summary = "networks of other programs and for them",
       .extensions = {".onnx"},
       .sniff = is_onnx,
       .summarize = onnx_info,
       .priority = 10},
      {.name = "PNG",
       .summary = "plots and pictures",
       .extensions = {".png"},
       .sniff = [](std::string_view head,
                   const fs::path&) { return head.starts_with("\x89PNG\r\n\x1a\n"); },
       .summarize = png_info,
       .priority = 10},
      {.name = "SVG",
       .summary = "plots and drawings",
       .extensions = {".svg"},
       .sniff = [](std::string_view head,
                   const fs::path&) { return head.find("<svg") != std::string_view::npos; },
       .summarize = svg_info,
       .priority = 20},
      {.name = "log",
       .summary = "log.txt of a run",
       .extensions = {},
       .sniff = is_log,
       .summarize = log_info,
       .priority = 20},
      {.name = "VTK XML",
       .summary = "VTK XML grids",
       .extensions = {".vti", ".vtr", ".vtu", ".vtp", ".vts", ".pvd"},
       .sniff = [](std::string_view head,
                   const fs::path&) { return head.find("<VTKFile") != std::string_view::npos; },
       .summarize = vtk_xml_info,
       .priority = 20},
      {.name = "manifest",
       .summary = "manifest.json of a run",
       .extensions = {},
       .sniff = [](std::string_view,
                   const fs::path& path) { return path.filename() == "manifest.json"; },
       .summarize = manifest_info,
       .priority = 20},
      {.name = "pointer",
       .summary = "name of the newest checkpoint (RUN/ckpt/LATEST)",
       .extensions = {},
       .sniff =
           [](std::string_view head, const fs::path& path) {
             return path.filename() == "LATEST" && trim(head).ends_with(".ckpt");
           },
       .summarize = pointer_info,
       .priority = 20},
      {.name = "JSON",
       .summary = "configuration or other JSON",
       .extensions = {".json"},
       .sniff = [](std::string_view head,
                   const fs::path&) { return after_blanks(head).starts_with("{"); },
       .summarize = json_info,
       .priority = 90},
      {.name = "TOML",
       .summary = "configuration",
       .extensions = {".toml"},
       .summarize = toml_info,
       .priority = 90},
      {.name = "CSV",
       .summary = "comma-separated table",
       .extensions = {".csv"},
       .summarize = csv_info,
       .priority = 90},
      {.name = "columns",
       .summary = "numbers in columns",
       .extensions = {".txt"},
       .sniff = is_columns,
       .summarize = columns_info,
       .priority = 90},
  };
}

}  // namespace tessera::data
