// SPDX-License-Identifier: Apache-2.0
#include "tessera/data/info.h"

#include "files/regular_file.h"
#include "info/info_formats.h"
#include "run/json_text.h"
#include "tessera/data/csv.h"
#include "tessera/data/diagnostic.h"

#include <zlib.h>

#include <algorithm>
#include <mutex>

namespace tessera::data {
namespace {

struct Registry {
  std::mutex mutex;
  std::vector<FileFormat> formats = own_formats();
};
Registry&
registry() {  // a function's static: namespace-scope objects in other files register before main
  static Registry r;
  return r;
}

bool is_packed(std::string_view head) { return head.starts_with("\x1f\x8b"); }

/// The beginning of what gzip packed, as far as its own beginning tells.
std::string unpacked_head(const std::string& packed) {
  z_stream z{};
  if (::inflateInit2(&z, 16 + MAX_WBITS) != Z_OK) return packed;
  std::string out(4096, '\0');
  z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
  z.avail_in = static_cast<uInt>(packed.size());
  z.next_out = reinterpret_cast<Bytef*>(out.data());
  z.avail_out = static_cast<uInt>(out.size());
  ::inflate(&z, Z_SYNC_FLUSH);
  ::inflateEnd(&z);
  return out.substr(0, z.total_out);
}

std::string head_of(const std::filesystem::path& path) {
  const RegularFile file(path);
  std::string head(4096, '\0');
  head.resize(file.read(0, head.data(), head.size()));
  return is_packed(head) ? unpacked_head(head) : head;
}

std::string lower(std::string text) {
  for (char& c : text)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return text;
}

std::string value_text(const InfoNode::Value& v) {
  if (const auto* s = std::get_if<std::string>(&v)) return *s;
  if (const auto* d = std::get_if<double>(&v)) return number_text(*d);
  if (const auto* i = std::get_if<std::int64_t>(&v)) return std::to_string(*i);
  if (const auto* b = std::get_if<bool>(&v)) return *b ? "yes" : "no";
  return "";
}

/// One line that cannot steer a terminal: no control characters, ASCII or C1 (U+0080 to U+009F).
std::string safe(const std::string& text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]),
               next = static_cast<unsigned char>(i + 1 < text.size() ? text[i + 1] : 0);
    if (c == 0xc2 && next >= 0x80 && next < 0xa0)
      out += '?', ++i;
    else if (c < 0x20 || c == 0x7f)
      out += c == '\n' || c == '\t' ? ' ' : '?';
    else
      out += text[i];
  }
  return out;
}

void put_text(const InfoNode& node, std::size_t depth, std::string& out) {
  const std::string value = safe(value_text(node.value));
  out += std::string(2 * depth, ' ') + safe(node.name) + (value.empty() ? "" : ": " + value) + "\n";
  for (const InfoNode& child : node.children) put_text(child, depth + 1, out);
}

void put_json(const InfoNode& node, std::string& out) {
  out += "{\"name\":" + json_quote(node.name);
  if (const auto* s = std::get_if<std::string>(&node.value))
    out += ",\"value\":" + json_quote(*s);
  else if (const auto* d = std::get_if<double>(&node.value))
    out += ",\"value\":" + json_number(*d);
  else if (const auto* b = std::get_if<bool>(&node.value))
    out += std::string(",\"value\":") + (*b ? "true" : "false");
  else if (const auto* i = std::get_if<std::int64_t>(&node.value))
    out += ",\"value\":" + std::to_string(*i);
  if (!node.children.empty()) {
    out += ",\"children\":[";
    for (std::size_t i = 0; i < node.children.size(); ++i) {
      if (i) out += ",";
      put_json(node.children[i], out);
    }
    out += "]";
  }
  out += "}";
}

}  // namespace

void register_format(FileFormat format) {
  Registry& r = registry();
  const std::lock_guard lock(r.mutex);
  r.formats.push_back(std::move(format));
}

std::vector<FileFormat> all_formats() {
  Registry& r = registry();
  const std::lock_guard lock(r.mutex);
  std::vector<FileFormat> out = r.formats;
  std::sort(out.begin(), out.end(),
            [](const FileFormat& a, const FileFormat& b) { return a.name < b.name; });
  return out;
}

std::optional<FileFormat> format_of(const std::filesystem::path& path) {
  const std::string head = head_of(path);
  if (head.empty())
    throw InputError(Diagnostic{.number = 430,
                                .place = {.file = path.string(), .byte = 0},
                                .message = "the file is empty"});
  std::vector<FileFormat> formats = all_formats();
  std::stable_sort(formats.begin(), formats.end(), [](const FileFormat& a, const FileFormat& b) {
    return a.priority < b.priority;
  });
  for (FileFormat& f : formats)
    if (f.sniff && f.sniff(head, path)) return std::move(f);
  const std::string extension = lower(path.extension() == ".gz" ? path.stem().extension().string()
                                                                : path.extension().string());
  for (FileFormat& f : formats)
    if (!extension.empty() && std::count(f.extensions.begin(), f.extensions.end(), extension))
      return std::move(f);
  return std::nullopt;
}

InfoNode info(const std::filesystem::path& path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) return run_folder_info(path);
  const std::optional<FileFormat> format = format_of(path);
  if (!format)
    throw InputError(Diagnostic{.number = 430,
                                .place = {.file = path.string(), .byte = 0},
                                .message = "of no known format, neither by content nor by name",
                                .hint = "`tessera list formats` shows what is read"});
  InfoNode node = format->summarize(path);
  node.children.insert(node.children.begin(), InfoNode{"format", format->name, {}});
  return node;
}

std::string to_text(const InfoNode& node) {
  std::string out;
  put_text(node, 0, out);
  return out;
}

std::string to_json(const InfoNode& node) {
  std::string out;
  put_json(node, out);
  return out;
}

}  // namespace tessera::data
