// SPDX-License-Identifier: Apache-2.0
// A stream is records: two bytes of length, one of what it is, one of the type of its data. Numbers
// are big-endian; reals have a sign, seven bits of an exponent of 16 less 64, and 56 of a mantissa
// below 1.
#include "tessera/data/binary_file.h"
#include "tessera/data/gds.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <string_view>

namespace tessera::data {
namespace {

enum Record : unsigned {
  BGNLIB = 0x01,
  LIBNAME = 0x02,
  UNITS = 0x03,
  ENDLIB = 0x04,
  BGNSTR = 0x05,
  STRNAME = 0x06,
  ENDSTR = 0x07,
  BOUNDARY = 0x08,
  PATH = 0x09,
  SREF = 0x0a,
  AREF = 0x0b,
  TEXT = 0x0c,
  LAYER = 0x0d,
  DATATYPE = 0x0e,
  WIDTH = 0x0f,
  XY = 0x10,
  ENDEL = 0x11,
  SNAME = 0x12,
  COLROW = 0x13,
  NODE = 0x15,
  STRANS = 0x1a,
  MAG = 0x1b,
  ANGLE = 0x1c,
  PATHTYPE = 0x21,
  BOX = 0x2d,
  BOXTYPE = 0x2e,
  BGNEXTN = 0x30,
  ENDEXTN = 0x31,
  LAST_RECORD = 0x3b
};
constexpr std::size_t kMostBytes = std::size_t{1} << 30;

class GdsReader {
 public:
  GdsReader(std::string name, const std::string& bytes) : bytes_(bytes) {
    out_.file = std::move(name);
  }

  GdsLibrary read() {
    next();
    if (what_ != 0 || bytes_.size() < 6) fail("a GDSII stream begins with a record HEADER");
    bool begun = false, units = false;
    for (;;) {
      next();
      if (what_ == ENDLIB) break;
      if (what_ == BGNLIB) begun = true;
      if (what_ == LIBNAME) out_.name = text();
      if (what_ == UNITS) {
        need(16, "UNITS");
        out_.user_unit = real(0);
        out_.unit_m = real(8);
        if (!(out_.unit_m > 0 && out_.unit_m < 1 && out_.unit_m > 1e-18))
          fail("a database unit of " + std::to_string(out_.unit_m) + " m",
               "a layout's unit is a part of a micrometre, mostly 1e-9 m");
        units = true;
      }
      if (what_ != BGNSTR) continue;
      if (!begun || !units) fail("a cell in front of BGNLIB and UNITS");
      cell();
    }
    if (!units) fail("the stream has no UNITS");
    resolve();
    return std::move(out_);
  }

 private:
  [[noreturn]] void fail(std::string message, std::string hint = {}, int number = 377) const {
    throw InputError(Diagnostic{.number = number,
                                .place = {.file = out_.file, .byte = at_},
                                .message = std::move(message),
                                .hint = std::move(hint)});
  }

  unsigned byte(std::size_t at) const { return static_cast<unsigned char>(bytes_[at]); }
  std::int32_t int16(std::size_t at) const {
    return static_cast<std::int16_t>(byte(data_ + at) << 8 | byte(data_ + at + 1));
  }
  std::int32_t int32(std::size_t at) const {
    std::uint32_t v = 0;
    for (std::size_t k = 0; k < 4; ++k) v = v << 8 | byte(data_ + at + k);
    return static_cast<std::int32_t>(v);
  }
  double real(std::size_t at) const {
    std::uint64_t mantissa = 0;
    for (std::size_t k = 1; k < 8; ++k) mantissa = mantissa << 8 | byte(data_ + at + k);
    const int exponent = static_cast<int>(byte(data_ + at) & 0x7f) - 64;
    const double x = std::ldexp(static_cast<double>(mantissa), 4 * exponent - 56);
    return byte(data_ + at) & 0x80 ? -x : x;
  }
  std::string text() const {
    std::string_view s(bytes_.data() + data_, size_);
    while (!s.empty() && s.back() == '\0') s.remove_suffix(1);
    std::string out;
    for (const char c : s) out += c >= ' ' && c <= '~' ? c : '?';
    return out;
  }
  void need(std::size_t n, const char* what) const {
    if (size_ < n)
      fail(std::string(what) + " has " + std::to_string(size_) + " bytes, " + std::to_string(n) +
           " are due");
  }
  std::int32_t one16(const char* what) const { return need(2, what), int16(0); }

  /// The next record, whole.
  void next() {
    at_ = end_;
    if (bytes_.size() - at_ < 4)
      fail(at_ == bytes_.size() ? "the stream ends without ENDLIB" : "the stream ends in a record",
           "it was cut off: write it anew");
    const std::size_t length = byte(at_) << 8 | byte(at_ + 1);
    what_ = byte(at_ + 2);
    if (length < 4 || length % 2 != 0)
      fail("a record of " + std::to_string(length) + " bytes: lengths are even, 4 at least");
    if (bytes_.size() - at_ < length)
      fail("a record of " + std::to_string(length) + " bytes, of which " +
               std::to_string(bytes_.size() - at_) + " are there",
           "it was cut off: write it anew");
    if (what_ > LAST_RECORD) fail("a record of the unknown kind " + std::to_string(what_));
    data_ = at_ + 4;
    size_ = length - 4;
    end_ = at_ + length;
  }

  void cell() {
    GdsCell cell;
    cell.byte = at_;
    next();
    if (what_ != STRNAME) fail("a cell begins with its name (STRNAME)");
    cell.name = text();
    if (cell.name.empty()) fail("a cell without a name");
    for (;;) {
      next();
      switch (what_) {
        case ENDSTR:
          out_.cells.push_back(std::move(cell));
          return;
        case BOUNDARY:
        case PATH:
        case BOX:
          element(cell);
          break;
        case SREF:
        case AREF:
          reference(cell);
          break;
        case TEXT:
        case NODE:
          while (what_ != ENDEL) {
            next();
            if (what_ == ENDSTR || what_ == ENDLIB) fail("an element without ENDEL");
          }
          break;
        case BGNSTR:
        case ENDLIB:
          fail("the cell '" + cell.name + "' has no ENDSTR");
        default:
          break;  // classes of cells, properties
      }
    }
  }

  void points(std::vector<GdsPoint>& to) const {
    if (size_ % 8 != 0) fail("XY has " + std::to_string(size_) + " bytes, 8 for each point");
    for (std::size_t k = 0; k < size_; k += 8) to.push_back({int32(k), int32(k + 4)});
  }

  void element(GdsCell& cell) {
    const unsigned kind = what_;
    GdsElement e{.is_path = kind == PATH};
    const std::uint64_t begun = at_;
    bool layer = false;
    for (next(); what_ != ENDEL; next()) {
      switch (what_) {
        case LAYER:
          e.layer = one16("LAYER") & 0xffff;
          layer = true;
          break;
        case DATATYPE:
        case BOXTYPE:
          e.type = one16("DATATYPE") & 0xffff;
          break;
        case WIDTH:
          need(4, "WIDTH");
          e.width = int32(0);
          break;
        case PATHTYPE:
          e.path_type = one16("PATHTYPE");
          if (e.path_type != 0 && e.path_type != 1 && e.path_type != 2 && e.path_type != 4)
            fail("a path of type " + std::to_string(e.path_type) + ": 0, 1, 2 and 4 are read");
          break;
        case BGNEXTN:
          need(4, "BGNEXTN");
          e.begin = int32(0);
          break;
        case ENDEXTN:
          need(4, "ENDEXTN");
          e.end = int32(0);
          break;
        case XY:
          points(e.points);
          break;
        case ENDSTR:
        case ENDLIB:
        case BGNSTR:
          fail("an element without ENDEL");
        default:
          break;
      }
    }
    at_ = begun;
    if (!layer) fail("an element without LAYER");
    if (kind == PATH ? e.points.size() < 2 : e.points.size() < 4)
      fail(kind == PATH ? "a path has two points at least"
                        : "an area has four points at least, the last is the first again");
    if (kind != PATH) {
      if (e.points.front() != e.points.back())
        fail("the last point of an area is not the first again");
      e.points.pop_back();
    }
    cell.elements.push_back(std::move(e));
  }

  void reference(GdsCell& cell) {
    const bool array = what_ == AREF;
    GdsReference r;
    r.byte = at_;
    std::vector<GdsPoint> xy;
    for (next(); what_ != ENDEL; next()) {
      switch (what_) {
        case SNAME:
          r.cell = text();
          break;
        case STRANS: {
          need(2, "STRANS");
          const unsigned bits = byte(data_) << 8 | byte(data_ + 1);
          r.mirrored = bits & 0x8000;
          r.absolute_magnification = bits & 0x0004;
          r.absolute_angle = bits & 0x0002;
          break;
        }
        case MAG:
          need(8, "MAG");
          r.magnification = real(0);
          if (!(r.magnification > 0 && r.magnification < 1e9))
            fail("a magnification of " + std::to_string(r.magnification));
          break;
        case ANGLE:
          need(8, "ANGLE");
          r.angle_deg = real(0);
          if (!(std::abs(r.angle_deg) < 1e6))
            fail("an angle of " + std::to_string(r.angle_deg) + " degrees");
          break;
        case COLROW:
          need(4, "COLROW");
          r.columns = int16(0);
          r.rows = int16(2);
          if (r.columns < 1 || r.rows < 1)
            fail(std::to_string(r.columns) + " columns and " + std::to_string(r.rows) + " rows");
          break;
        case XY:
          points(xy);
          break;
        case ENDSTR:
        case ENDLIB:
        case BGNSTR:
          fail("a reference without ENDEL");
        default:
          break;
      }
    }
    const std::uint64_t last = at_;
    at_ = r.byte;
    if (r.cell.empty()) fail("a reference without the name of a cell (SNAME)");
    if (xy.size() != (array ? 3u : 1u))
      fail(std::string("a reference to ") +
           (array ? "an array has three points" : "a cell has one point") + ", this has " +
           std::to_string(xy.size()));
    r.at = xy[0];
    for (std::size_t k = 0; array && k < 2; ++k) {
      r.column_step[k] = (double(xy[1][k]) - xy[0][k]) / r.columns;
      r.row_step[k] = (double(xy[2][k]) - xy[0][k]) / r.rows;
    }
    at_ = last;
    cell.references.push_back(std::move(r));
  }

  /// Names are there once, and references lead on and not back.
  void resolve() {
    std::map<std::string_view, std::size_t> number;
    for (std::size_t n = 0; n < out_.cells.size(); ++n) {
      at_ = out_.cells[n].byte;
      if (!number.emplace(out_.cells[n].name, n).second)
        fail("two cells have the name '" + out_.cells[n].name + "'", {}, 379);
    }
    for (const GdsCell& c : out_.cells)
      for (const GdsReference& r : c.references)
        if (!number.count(r.cell)) {
          at_ = r.byte;
          fail("'" + c.name + "' refers to the cell '" + r.cell + "', which is not there", {}, 378);
        }
    enum class State { fresh, open, done };
    std::vector<State> state(out_.cells.size(), State::fresh);
    struct Step {
      std::size_t cell, next;
    };
    for (std::size_t start = 0; start < state.size(); ++start) {
      if (state[start] != State::fresh) continue;
      std::vector<Step> path{{start, 0}};
      state[start] = State::open;
      while (!path.empty()) {
        const GdsCell& c = out_.cells[path.back().cell];
        if (path.back().next == c.references.size()) {
          state[path.back().cell] = State::done;
          path.pop_back();
          continue;
        }
        const GdsReference& r = c.references[path.back().next++];
        const std::size_t to = number.at(r.cell);
        if (state[to] == State::open) {
          at_ = r.byte;
          fail("the cell '" + r.cell + "' refers to itself, through '" + c.name + "'", {}, 378);
        }
        if (state[to] == State::done) continue;
        state[to] = State::open;
        path.push_back({to, 0});
      }
    }
  }

  const std::string& bytes_;
  GdsLibrary out_;
  std::size_t at_ = 0, end_ = 0, data_ = 0, size_ = 0;
  unsigned what_ = 0;
};

}  // namespace

GdsLibrary parse_gds(std::string name, const std::string& bytes) {
  return GdsReader(std::move(name), bytes).read();
}

GdsLibrary read_gds(const std::filesystem::path& path) {
  const BinaryInput file(path);
  if (file.size() > kMostBytes)
    throw InputError(Diagnostic{.number = 403,
                                .place = {.file = path.string(), .byte = 0},
                                .message = "larger than 2^30 bytes"});
  std::string bytes(static_cast<std::size_t>(file.size()), '\0');
  if (!file.read(0, bytes.data(), bytes.size()))
    throw InputError(Diagnostic{.number = 401,
                                .place = {.file = path.string(), .byte = 0},
                                .message = "the file became shorter while it was read"});
  return parse_gds(path.string(), bytes);
}

std::vector<std::string> top_cells(const GdsLibrary& library) {
  std::set<std::string_view> used;
  for (const GdsCell& c : library.cells)
    for (const GdsReference& r : c.references) used.insert(r.cell);
  std::vector<std::string> out;
  for (const GdsCell& c : library.cells)
    if (!used.count(c.name)) out.push_back(c.name);
  return out;
}

}  // namespace tessera::data
