// SPDX-License-Identifier: Apache-2.0
#include "netcdf_classic.h"

#include "formats.h"

#include <fmt/format.h>

namespace tessera::molecular {
namespace {

constexpr std::int32_t dimensions_follow = 10, variables_follow = 11, attributes_follow = 12;
constexpr std::uint64_t most_entries = 8192;  // NC_MAX_VARS
constexpr std::uint64_t most_bytes =
    std::uint64_t{1}
    << 60;  // of a variable, of what lies before it, of all records: sums of them fit

std::uint64_t size_of(NetcdfType t) {
  constexpr std::array<std::uint64_t, 12> sizes = {0, 1, 1, 2, 4, 4, 8, 1, 2, 4, 8, 8};
  return sizes[static_cast<std::size_t>(t)];
}

double next(FrameBytes& in, NetcdfType t) {
  switch (t) {
    case NetcdfType::i8:
      return in.number<std::int8_t>();
    case NetcdfType::text:
    case NetcdfType::u8:
      return in.number<std::uint8_t>();
    case NetcdfType::i16:
      return in.number<std::int16_t>();
    case NetcdfType::i32:
      return in.number<std::int32_t>();
    case NetcdfType::f32:
      return static_cast<double>(in.number<float>());
    case NetcdfType::f64:
      return in.number<double>();
    case NetcdfType::u16:
      return in.number<std::uint16_t>();
    case NetcdfType::u32:
      return in.number<std::uint32_t>();
    case NetcdfType::i64:
      return static_cast<double>(in.number<std::int64_t>());
    case NetcdfType::u64:
      return static_cast<double>(in.number<std::uint64_t>());
  }
  return 0;
}

class NetcdfHeader {
 public:
  explicit NetcdfHeader(const data::BinaryInput& file)
      : in_(file, 0, 0, netcdf_order), size_(file.size()) {}

  NetcdfLayout read() {
    const std::string magic(in_.take(3), 3);
    if (magic == "\x89HD")
      in_.fail(not_read, 0,
               "is NetCDF-4, which is HDF5; `nccopy -k cdf5` writes it as it is read here");
    const auto version = in_.number<std::uint8_t>();
    if (magic != "CDF") in_.fail(damaged, 0, "holds no NetCDF: it does not begin with 'CDF'");
    if (version != 1 && version != 2 && version != 5)
      in_.fail(not_read, 3,
               fmt::format("is of version {} of the classic format; 1, 2 and 5 are read", version));
    wide_counts_ = version == 5, wide_offsets_ = version != 1;
    const std::uint64_t records = count();
    const bool as_many_as_there_are = records == (wide_counts_ ? UINT64_MAX : UINT32_MAX);
    entries(dimensions_follow, "dimensions", [&] {
      std::string of = name();
      out_.dimensions.push_back({std::move(of), count()});
    });
    std::map<std::string, double> numbers;
    attributes(out_.texts, numbers);
    entries(variables_follow, "variables", [&] { variable(); });
    lay_records();
    std::uint64_t first = size_;
    for (const NetcdfVariable& v : out_.variables)
      if (v.has_records) first = std::min(first, v.begin);
    out_.n_records = !as_many_as_there_are    ? records
                     : out_.record_bytes == 0 ? 0
                                              : (size_ - first) / out_.record_bytes;
    if (out_.record_bytes > 0 && out_.n_records > most_bytes / out_.record_bytes)
      in_.fail(damaged, netcdf_records_at,
               fmt::format("is one of {} records of {} bytes", out_.n_records, out_.record_bytes));
    return std::move(out_);
  }

 private:
  std::uint64_t count() {
    return wide_counts_ ? in_.number<std::uint64_t>() : in_.number<std::uint32_t>();
  }
  std::string name() {
    const std::uint64_t n = count();
    in_.require(n);
    std::string out(in_.take(n), n);
    in_.skip(padded(n) - n);
    return out;
  }
  NetcdfType type() {
    const std::uint64_t at = in_.at();
    const std::int32_t t = in_.integer();
    if (t < 1 || t > (wide_counts_ ? 11 : 6))
      in_.fail(damaged, at, fmt::format("has numbers of type {}, which is none", t));
    return static_cast<NetcdfType>(t);
  }
  template <class F>
  void entries(std::int32_t tag, const char* what, F&& one) {
    const std::uint64_t at = in_.at();
    const std::int32_t found = in_.integer();
    const std::uint64_t n = count();
    if (found == 0 && n == 0) return;
    if (found != tag)
      in_.fail(damaged, at, fmt::format("has {} where the list of its {} is due", found, what));
    if (n > most_entries) in_.fail(damaged, at, fmt::format("has {} {}", n, what));
    for (std::uint64_t k = 0; k < n; ++k) one();
  }
  void attributes(std::map<std::string, std::string>& texts,
                  std::map<std::string, double>& numbers) {
    entries(attributes_follow, "attributes", [&] {
      const std::string of = name();
      const NetcdfType t = type();
      const std::uint64_t n = count(), at = in_.at();
      if (n > size_)
        in_.fail(cut_off, at,
                 fmt::format("needs {} more values of an attribute: it was cut off", n));
      const std::uint64_t bytes = padded(n * size_of(t));
      in_.require(bytes);
      if (t == NetcdfType::text) {
        std::string& text = texts[of] = std::string(in_.take(n), n);
        text.resize(std::min(text.size(), text.find('\0')));
      } else if (n == 1) {
        numbers[of] = next(in_, t);
      }
      in_.skip(at + bytes - in_.at());
    });
  }
  void variable() {
    NetcdfVariable v{.name = {}, .dimensions = {}, .type = NetcdfType::i8};
    v.defined_at = in_.at();
    v.name = name();
    const std::uint64_t n = count();
    if (n > most_entries)
      in_.fail(damaged, v.defined_at, fmt::format("has a variable of {} dimensions", n));
    for (std::uint64_t k = 0; k < n; ++k) {
      const std::uint64_t d = count();
      if (d >= out_.dimensions.size())
        in_.fail(damaged, v.defined_at,
                 fmt::format("has a variable of dimension {} of {}", d, out_.dimensions.size()));
      const std::uint64_t extent = out_.dimensions[d].extent;
      if (extent == 0 && k > 0)
        in_.fail(damaged, v.defined_at, "has a variable whose records are not its first dimension");
      if (extent == 0)
        v.has_records = true;
      else if (__builtin_mul_overflow(v.count, extent, &v.count))
        in_.fail(damaged, v.defined_at, "has a variable of more than 2^64 numbers");
      v.dimensions.push_back(d);
    }
    attributes(v.texts, v.numbers);
    v.type = type();
    count();  // its bytes, which do not fit in where there are many; they follow from the shape
    v.begin = wide_offsets_ ? in_.number<std::uint64_t>() : in_.number<std::uint32_t>();
    if (v.count > most_bytes / size_of(v.type) || v.begin > most_bytes)
      in_.fail(damaged, v.defined_at,
               fmt::format("has a variable of {} numbers at byte {}", v.count, v.begin));
    v.bytes = padded(v.count * size_of(v.type));
    out_.variables.push_back(std::move(v));
  }
  void lay_records() {
    std::uint64_t n = 0;
    NetcdfVariable* last = nullptr;
    for (NetcdfVariable& v : out_.variables)
      if (v.has_records) {
        ++n, last = &v;
        if (out_.record_bytes += v.bytes; out_.record_bytes > most_bytes)
          in_.fail(damaged, v.defined_at, "has records of more than 2^60 bytes");
      }
    if (n == 1)
      out_.record_bytes = last->bytes =
          last->count * size_of(last->type);  // one alone is not padded
  }

  FrameBytes in_;
  std::uint64_t size_;
  bool wide_counts_ = false, wide_offsets_ = false;
  NetcdfLayout out_;
};

std::string header_of(const NetcdfLayout& layout) {
  std::string out("CDF\2", 4);
  const auto integer = [&](std::uint64_t v) {
    put(out, static_cast<std::uint32_t>(v), netcdf_order);
  };
  const auto text = [&](const std::string& s) {
    integer(s.size());
    out += s;
    out.append(padded(s.size()) - s.size(), '\0');
  };
  const auto list = [&](std::int32_t tag, std::size_t n) {
    integer(n ? static_cast<std::uint64_t>(tag) : 0), integer(n);
  };
  const auto attributes = [&](const std::map<std::string, std::string>& texts,
                              const std::map<std::string, double>& numbers) {
    list(attributes_follow, texts.size() + numbers.size());
    for (const auto& [name, value] : texts)
      text(name), integer(static_cast<std::uint64_t>(NetcdfType::text)), text(value);
    for (const auto& [name, value] : numbers)
      text(name), integer(static_cast<std::uint64_t>(NetcdfType::f64)), integer(1),
          put(out, value, netcdf_order);
  };
  integer(0);
  list(dimensions_follow, layout.dimensions.size());
  for (const NetcdfDimension& d : layout.dimensions) text(d.name), integer(d.extent);
  attributes(layout.texts, {});
  list(variables_follow, layout.variables.size());
  for (const NetcdfVariable& v : layout.variables) {
    text(v.name);
    integer(v.dimensions.size());
    for (std::size_t d : v.dimensions) integer(d);
    attributes(v.texts, v.numbers);
    integer(static_cast<std::uint64_t>(v.type));
    integer(std::min<std::uint64_t>(v.bytes, UINT32_MAX));
    put(out, v.begin, netcdf_order);
  }
  return out;
}

}  // namespace

const NetcdfVariable* NetcdfLayout::find(std::string_view name) const {
  for (const NetcdfVariable& v : variables)
    if (v.name == name) return &v;
  return nullptr;
}
std::uint64_t NetcdfLayout::extent(std::string_view name) const {
  for (const NetcdfDimension& d : dimensions)
    if (d.name == name) return d.extent;
  return 0;
}

NetcdfLayout read_netcdf_layout(const data::BinaryInput& in) { return NetcdfHeader(in).read(); }

std::vector<double> read_netcdf(const data::BinaryInput& file, const NetcdfLayout& layout,
                                const NetcdfVariable& v, std::uint64_t record) {
  const std::uint64_t at = layout.offset(v, record);
  FrameBytes in(file, record, std::min(at, file.size()), std::endian::big);
  in.require(at - in.at() + v.count * size_of(v.type));
  std::vector<double> out(v.count);
  for (double& x : out) x = next(in, v.type);
  return out;
}

std::string netcdf_header(NetcdfLayout& layout) {
  for (NetcdfVariable& v : layout.variables) {
    v.count = 1;
    for (std::size_t d : v.dimensions) {
      if (layout.dimensions[d].extent == 0)
        v.has_records = true;
      else
        v.count *= layout.dimensions[d].extent;
    }
    v.bytes = padded(v.count * size_of(v.type));
  }
  std::uint64_t at = header_of(layout).size();
  layout.record_bytes = 0;
  for (const bool records : {false, true})
    for (NetcdfVariable& v : layout.variables)
      if (v.has_records == records) {
        v.begin = at;
        at += v.bytes;
        if (records) layout.record_bytes += v.bytes;
      }
  return header_of(layout);
}

}  // namespace tessera::molecular
