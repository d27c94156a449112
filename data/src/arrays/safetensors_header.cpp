// SPDX-License-Identifier: Apache-2.0
// The header of a safetensors file, from anyone: event by event, so that nothing is kept but the
// entries, and nothing is nested deeper than they are.
#include "arrays/safetensors_header.h"

#include "tessera/data/diagnostic.h"
#include "tessera/data/text_reader.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <limits>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

namespace tessera::data {
namespace {

using Json = nlohmann::json;

constexpr std::pair<const char*, Stored> kDtypes[] = {
    {"F64", Stored::f64},      {"F32", Stored::f32}, {"F16", Stored::f16}, {"BF16", Stored::bf16},
    {"I64", Stored::i64},      {"I32", Stored::i32}, {"I16", Stored::i16}, {"I8", Stored::i8},
    {"U64", Stored::u64},      {"U32", Stored::u32}, {"U16", Stored::u16}, {"U8", Stored::u8},
    {"BOOL", Stored::boolean}, {"C64", Stored::c64}};
constexpr std::size_t kPrefix = 8;  // the length of the header
constexpr std::size_t kMostAxes = 64;
constexpr std::uint64_t kMost = std::numeric_limits<std::int64_t>::max();

[[noreturn]] void refuse(const BinaryInput& file, std::uint64_t byte, std::string message) {
  throw InputError(Diagnostic{
      .number = 438, .place = {.file = file.name(), .byte = byte}, .message = std::move(message)});
}

/// The characters of a text, telling how far the parser has come.
struct Followed {
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;
  const char* at;
  const char** reached;
  reference operator*() const { return *at; }
  Followed& operator++() {
    *reached = ++at;
    return *this;
  }
  bool operator==(const Followed& o) const { return at == o.at; }
  bool operator!=(const Followed& o) const { return at != o.at; }
};

class HeaderReader : public nlohmann::json_sax<Json> {
 public:
  HeaderReader(const BinaryInput& file, std::string_view text)
      : file_(file), text_(text), reached_(text.data()) {}

  SafetensorsHeader read() {
    const char* end = text_.data() + text_.size();
    Json::sax_parse(Followed{text_.data(), &reached_}, Followed{end, &reached_}, this);
    return std::move(header_);
  }

  bool start_object(std::size_t) override {
    if (within_ == Within::nothing)
      within_ = Within::object;
    else if (within_ == Within::object)
      within_ = key_ == "__metadata__" ? Within::metadata : Within::tensor;
    else
      wrong("an object");
    return next();
  }
  bool key(std::string& name) override {
    begin_token();
    if (within_ == Within::object) {
      if (!names_.insert(name).second) fail("the name " + shown(name) + " stands twice");
      if (name != "__metadata__") header_.entries.push_back({.name = name, .byte = token_});
      has_dtype_ = has_shape_ = has_offsets_ = false;
    } else if (within_ == Within::metadata) {
      if (header_.metadata.contains(name))
        fail("the key " + shown(name) + " of __metadata__ stands twice");
    } else {
      bool* seen = name == "dtype"          ? &has_dtype_
                   : name == "shape"        ? &has_shape_
                   : name == "data_offsets" ? &has_offsets_
                                            : nullptr;
      if (!seen) fail("unknown key " + shown(name) + ", expected dtype, shape and data_offsets");
      if (std::exchange(*seen, true)) fail("the key " + shown(name) + " stands twice");
    }
    key_ = name;
    return next();
  }
  bool string(std::string& value) override {
    if (within_ == Within::metadata)
      header_.metadata.emplace(key_, value);
    else if (within_ == Within::tensor && key_ == "dtype")
      set_dtype(value);
    else
      wrong("a text");
    return next();
  }
  bool start_array(std::size_t) override {
    if (within_ != Within::tensor || key_ == "dtype") wrong("a list");
    within_ = Within::list;
    numbers_.clear();
    return next();
  }
  bool number_unsigned(std::uint64_t value) override {
    if (within_ != Within::list) wrong("a number");
    begin_token();
    if (value > kMost) fail("the number " + std::to_string(value) + " is too large for 63 bits");
    if (numbers_.size() == kMostAxes) fail("more than " + std::to_string(kMostAxes) + " numbers");
    numbers_.push_back(value);
    return next();
  }
  bool end_array() override {
    SafetensorsEntry& e = header_.entries.back();
    if (key_ == "shape") {
      e.shape = numbers_;
    } else {
      begin_token();
      if (numbers_.size() != 2)
        fail("expected two data_offsets, got " + std::to_string(numbers_.size()));
      e.begin = numbers_[0], e.end = numbers_[1];
    }
    within_ = Within::tensor;
    return next();
  }
  bool end_object() override {
    if (within_ == Within::tensor && !(has_dtype_ && has_shape_ && has_offsets_))
      refuse(file_, header_.entries.back().byte,
             of_tensor() + "the key " +
                 (!has_dtype_   ? "dtype"
                  : !has_shape_ ? "shape"
                                : "data_offsets") +
                 " is missing");
    within_ = within_ == Within::object ? Within::nothing : Within::object;
    return next();
  }
  bool number_integer(std::int64_t value) override { wrong("the number " + std::to_string(value)); }
  bool number_float(double, const std::string& text) override { wrong("the number " + text); }
  bool boolean(bool value) override { wrong(value ? "true" : "false"); }
  bool null() override { wrong("null"); }
  bool binary(Json::binary_t&) override { wrong("bytes"); }
  bool parse_error(std::size_t position, const std::string&,
                   const nlohmann::detail::exception& e) override {
    std::string_view what = e.what();  // "[json.exception.NAME] parse error at PLACE: why"
    what.remove_prefix(std::min(what.find(' ') + 1, what.size()));
    if (what.starts_with("parse error")) what.remove_prefix(what.find(": ") + 2);
    refuse(file_, kPrefix + position - (position > 0),
           "the header is not JSON: " + std::string(what));
  }

 private:
  enum class Within { nothing, object, metadata, tensor, list };

  void set_dtype(const std::string& name) {
    const auto* type =
        std::ranges::find_if(kDtypes, [&](const auto& d) { return name == d.first; });
    if (type == std::end(kDtypes)) {
      std::string known;
      for (const auto& [text, unused] : kDtypes) known += std::string(" ") + text;
      begin_token();
      fail("unknown dtype " + shown(name) + ", expected one of" + known);
    }
    header_.entries.back().dtype = name;
    header_.entries.back().type = type->second;
  }

  /// The byte where the token begins that the parser has just passed.
  void begin_token() {
    const std::size_t at = text_.find_first_not_of(" \t\r\n,:", last_);
    token_ = kPrefix + std::min(at, text_.size());
  }
  bool next() {
    last_ = static_cast<std::size_t>(reached_ - text_.data());
    return true;
  }
  std::string of_tensor() const {
    return within_ == Within::tensor || within_ == Within::list
               ? "tensor " + shown(header_.entries.back().name) + ": "
               : "";
  }
  [[noreturn]] void fail(const std::string& message) const {
    refuse(file_, token_, of_tensor() + message);
  }
  /// What belongs where the parser is.
  std::string due() const {
    switch (within_) {
      case Within::nothing:
        return "an object of tensors";
      case Within::object:
        return key_ == "__metadata__"
                   ? "an object of texts as __metadata__"
                   : "an object with dtype, shape and data_offsets as " + shown(key_);
      case Within::metadata:
        return "a text as " + shown(key_);
      case Within::tensor:
        return key_ == "dtype" ? "a text as dtype" : "a list of numbers as " + key_;
      default:
        return "a whole number of zero or more";
    }
  }
  [[noreturn]] void wrong(const std::string& found) {
    begin_token();
    fail("expected " + due() + ", got " + found);
  }

  const BinaryInput& file_;
  std::string_view text_;
  const char* reached_;
  std::size_t last_ = 0;     // how far the parser had come at the last event
  std::uint64_t token_ = 0;  // byte of the file
  Within within_ = Within::nothing;
  std::string key_;
  bool has_dtype_ = false, has_shape_ = false, has_offsets_ = false;
  std::set<std::string> names_;
  std::vector<std::uint64_t> numbers_;
  SafetensorsHeader header_;
};

/// shape x dtype in bytes; nothing where a partial product overflows. Zeros do not excuse the other
/// sizes.
std::optional<std::uint64_t> bytes_of_entry(const SafetensorsEntry& e) {
  std::uint64_t product = stored_bytes(e.type);
  bool none = false;
  for (const std::uint64_t n : e.shape) {
    none |= n == 0;
    if (n > 0 && __builtin_mul_overflow(product, n, &product)) return std::nullopt;
  }
  if (product > kMost) return std::nullopt;
  return none ? 0 : product;
}

void check_offsets(const BinaryInput& file, const SafetensorsHeader& h) {
  const auto fail = [&](const SafetensorsEntry& e, const std::string& what) {
    refuse(file, e.byte, "tensor " + shown(e.name) + ": " + what);
  };
  const std::uint64_t buffer = file.size() - h.buffer;
  std::vector<const SafetensorsEntry*> in_order;
  for (const SafetensorsEntry& e : h.entries) {
    const std::string offsets = std::to_string(e.begin) + " to " + std::to_string(e.end);
    if (e.end < e.begin) fail(e, "its bytes " + offsets + " end before they begin");
    if (e.end > buffer)
      fail(e, "its bytes " + offsets + " go beyond the buffer of " + std::to_string(buffer));
    const auto size = bytes_of_entry(e);
    if (!size) fail(e, "the product of its shape is too large for 63 bits");
    if (*size != e.end - e.begin)
      fail(e, "dtype and shape ask for " + std::to_string(*size) + " bytes, data_offsets for " +
                  std::to_string(e.end - e.begin));
    in_order.push_back(&e);
  }
  std::ranges::stable_sort(in_order, {},
                           [](const SafetensorsEntry* e) { return std::pair(e->begin, e->end); });
  std::uint64_t filled = 0;
  for (const SafetensorsEntry* e : in_order) {
    if (e->begin < filled)
      fail(*e, "its bytes overlap those of another tensor, which end at " + std::to_string(filled));
    if (e->begin > filled)
      fail(*e, "a hole of " + std::to_string(e->begin - filled) + " bytes lies before its own");
    filled = e->end;
  }
  if (filled < buffer)
    refuse(file, h.buffer + filled,
           std::to_string(buffer - filled) + " bytes stand after the last tensor");
}

}  // namespace

const char* safetensors_dtype(Stored type) {
  const auto* found = std::ranges::find(kDtypes, type, &std::pair<const char*, Stored>::second);
  return found == std::end(kDtypes) ? nullptr : found->first;
}

SafetensorsHeader read_safetensors_header(const BinaryInput& file) {
  std::uint64_t length = 0;
  if (!file.read(0, &length, kPrefix))
    refuse(file, file.size(),
           "expected 8 bytes with the length of the header, the file has " +
               std::to_string(file.size()));
  if (length > kMaxSafetensorsHeader)
    refuse(file, 0,
           "a header of " + std::to_string(length) + " bytes, expected at most " +
               std::to_string(kMaxSafetensorsHeader));
  if (length > file.size() - kPrefix)
    refuse(file, 0,
           "a header of " + std::to_string(length) + " bytes does not fit into a file of " +
               std::to_string(file.size()));
  std::string text(static_cast<std::size_t>(length), '\0');
  if (!file.read(kPrefix, text.data(), text.size()))
    refuse(file, kPrefix, "the file became shorter while it was read");
  if (!text.starts_with('{')) refuse(file, kPrefix, "expected a header that begins with '{'");
  if (const std::size_t nul = text.find('\0'); nul != std::string::npos)  // the parser's end
    refuse(file, kPrefix + nul, "the header is not JSON: a NUL character");
  SafetensorsHeader header = HeaderReader(file, text).read();
  header.buffer = kPrefix + length;
  check_offsets(file, header);
  return header;
}

}  // namespace tessera::data
