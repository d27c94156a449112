// SPDX-License-Identifier: Apache-2.0
#include "edi_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace tessera::inversion {
namespace {

constexpr const char* kComponent[2][2] = {{"XX", "XY"}, {"YX", "YY"}};

/// Numbers of one block, EMPTY turned into NaN; checked against the declared count and against `n`
/// if that is not 0.
std::vector<double> block_values(EdiContext& c, const EdiBlock& block, std::size_t n,
                                 std::vector<std::size_t>* offsets = nullptr) {
  const std::vector<Token> tokens = edi_tokens(c.text(), block.body_begin, block.body_end);
  if (tokens.size() > kMostItems) {
    c.findings.error(309, block.offset,
                     fmt::format(">{} has more than {} values", block.name, kMostItems));
    c.findings.throw_if_errors();
  }
  std::size_t declared = tokens.size();
  if (block.count) {
    const auto count = parse_count(*block.count, c.text().size() / 2,
                                   "the count after '//' of >" + block.name, c.findings);
    if (!count) return std::vector<double>(n, kNaN);
    declared = *count;
  }
  std::vector<double> out;
  out.reserve(tokens.size());
  for (const Token& t : tokens) {
    const auto v = parse_number(t, Exponent::fortran, c.findings);
    out.push_back(v && !c.is_empty(*v) ? *v : kNaN);
    if (offsets) offsets->push_back(t.offset);
  }
  const std::size_t wanted = n ? n : declared;
  if (tokens.size() != declared || tokens.size() != wanted) {
    std::string message = fmt::format(">{} has {} values", block.name, tokens.size());
    if (tokens.size() != declared) message += fmt::format(", its header declares {}", declared);
    if (n && n != tokens.size()) message += fmt::format(", there are {} frequencies", n);
    c.findings.error(304, block.offset, message, "is the file complete?");
    out.resize(n ? n : out.size(), kNaN);
  }
  return out;
}

/// Metres in the unit of lengths that a block states (SEG EDI: M, which is also the default, or
/// FT).
double metres_per_unit(const EdiBlock& block) {
  const EdiOption* units = block.find({"UNITS"});
  const std::string u = units ? upper(units->value.text) : "";
  return u == "FT" || u == "FEET" || u == "FOOT" ? 0.3048 : 1;
}

void read_position(EdiContext& c, const EdiBlock* head, const EdiBlock* measurements, Sounding& s) {
  struct Position {
    std::optional<double> lat, lon, elevation;
    std::size_t offset = 0;
  };
  const auto is_empty = [&](std::string_view text) {
    const std::optional<double> v = number_if_any(text);
    return v && c.is_empty(*v);
  };
  const auto angle = [&](const EdiOption* o, double limit,
                         const char* what) -> std::optional<double> {
    if (!o || is_empty(o->value.text)) return std::nullopt;
    return parse_angle(o->value, limit, what, c.findings);
  };
  const auto elevation = [&](const EdiBlock& block, const EdiOption* o) {
    auto value = option_number(c, o);
    if (value) *value *= metres_per_unit(block);
    return value;
  };
  Position in_head, in_reference;
  if (head) {
    const EdiOption* lat = head->find({"LAT", "LATITUDE"});
    in_head = {angle(lat, 90, "latitude"),
               angle(head->find({"LONG", "LON", "LONGITUDE"}), 360, "longitude"),
               elevation(*head, head->find({"ELEV", "ELEVATION"})),
               lat ? lat->value.offset : head->offset};
  }
  if (measurements) {
    const EdiOption* lat = measurements->find({"REFLAT"});
    in_reference = {angle(lat, 90, "latitude"),
                    angle(measurements->find({"REFLONG", "REFLON"}), 360, "longitude"),
                    elevation(*measurements, measurements->find({"REFELEV"})),
                    lat ? lat->value.offset : measurements->offset};
  }
  const bool from_head = in_head.lat && in_head.lon;
  const Position& chosen = from_head ? in_head : in_reference;
  s.latitude_deg = chosen.lat;
  if (chosen.lon) s.longitude_deg = wrap_degrees(*chosen.lon);
  s.elevation_m = in_head.elevation ? in_head.elevation : in_reference.elevation;
  if (!from_head && chosen.lat && chosen.lon)
    c.findings.note(332, chosen.offset, "no LAT/LONG in >HEAD; position taken from REFLAT/REFLONG");
  constexpr double kSame = 1e-3;  // degrees, some 100 m
  if (from_head && in_reference.lat && in_reference.lon &&
      (std::abs(*in_head.lat - *in_reference.lat) > kSame ||
       std::abs(wrap_degrees(*in_head.lon - *in_reference.lon)) > kSame))
    c.findings.warn(332, in_reference.offset,
                    fmt::format("positions disagree: >HEAD has {:.5f}, {:.5f}, REFLAT/REFLONG "
                                "{:.5f}, {:.5f}; the first "
                                "is used",
                                *in_head.lat, *in_head.lon, *in_reference.lat, *in_reference.lon));
}

/// `key = value` lines of >INFO that state conventions, as several processing packages write them.
void read_statements(EdiContext& c, const EdiBlock* head, FileConventions& conventions) {
  const auto units = [&](const EdiOption& o) {
    const std::string u = upper(o.value.text);
    if (u.find("MILLIVOLT") != std::string::npos || u.find("MV/KM/NT") != std::string::npos)
      conventions.stated_units = ImpedanceUnits::field;
    else if (u == "OHM" || u == "OHMS" || u == "V/A")
      conventions.stated_units = ImpedanceUnits::ohm;
    else
      return false;
    return true;
  };
  if (head)
    if (const EdiOption* o = head->find({"UNITS"})) units(*o);
  const EdiBlock* info = c.first("INFO");
  if (!info) return;
  for (const EdiOption& o : edi_options(c.text(), info->body_begin, info->body_end)) {
    const auto ends_with = [&](std::string_view tail) {
      return o.key.size() >= tail.size() &&
             o.key.compare(o.key.size() - tail.size(), tail.size(), tail) == 0;
    };
    if (ends_with("TRANSFER_FUNCTION.UNITS")) {
      if (!units(o))
        c.findings.warn(316, o.value.offset,
                        "unknown impedance units " + shown(o.value.text) +
                            "; the format's default mV/km/nT holds");
    } else if (ends_with("SIGN_CONVENTION") || ends_with("SIGNCONVENTION")) {
      const bool plus = o.value.text.find('+') != std::string_view::npos;
      const bool minus = o.value.text.find('-') != std::string_view::npos;
      if (plus != minus)
        conventions.stated_sign = plus ? TimeSign::plus : TimeSign::minus;
      else
        c.findings.warn(317, o.value.offset,
                        "unknown time sign " + shown(o.value.text) +
                            "; the format's default e^{+i omega t} holds");
    }
  }
}

class DataSection {
 public:
  DataSection(EdiContext& c, Sounding& s) : c_(c), s_(s) {
    for (const EdiBlock& b : c.blocks) {
      const auto [at, is_new] = blocks_.try_emplace(b.name, &b);
      if (!is_new && is_data(b.name))
        c.findings.error(311, b.offset,
                         ">" + b.name + " is given twice; one station per file is read");
    }
  }

  void read() {
    const EdiBlock* freq = find("FREQ");
    if (!freq) {
      c_.findings.error(307, c_.blocks.front().offset, "neither >FREQ nor >SPECTRA is given");
      return;
    }
    s_.frequency_hz = block_values(c_, *freq, 0, &c_.frequency_offsets);
    n_ = s_.size();
    for (const EdiBlock& b : c_.blocks)
      if (b.name == "=MTSECT" || b.name == "=EMAPSECT")
        if (const EdiOption* o = b.find({"NFREQ"}))
          if (const auto count = parse_count(o->value, c_.text().size() / 2, "NFREQ", c_.findings);
              count && *count != n_)
            c_.findings.error(304, o->value.offset,
                              fmt::format("NFREQ is {}, but >FREQ has {} values", *count, n_),
                              "is the file complete?");
    if (n_ == 0) {
      c_.findings.error(304, freq->offset, ">FREQ has no values");
      return;
    }
    read_impedance();
    read_resistivity();
    read_tipper();
    if (!s_.has_impedance() && !s_.has_tipper() && s_.resistivity.empty())
      c_.findings.error(
          307, freq->offset,
          "the file has frequencies but neither impedance, tipper nor apparent resistivity");
  }

 private:
  static bool is_data(const std::string& name) {
    return name == "FREQ" || name == "ZROT" || name == "TROT" || name == "RHOROT" ||
           name.starts_with("ZX") || name.starts_with("ZY") || name.starts_with("TX") ||
           name.starts_with("TY") || name.starts_with("RHO") || name.starts_with("PHS");
  }

  const EdiBlock* find(const std::string& name) const {
    const auto at = blocks_.find(name);
    return at == blocks_.end() ? nullptr : at->second;
  }
  const EdiBlock* find(std::initializer_list<std::string> names) const {
    for (const std::string& name : names)
      if (const EdiBlock* b = find(name)) return b;
    return nullptr;
  }

  /// Real and imaginary blocks of one element; either both or none.
  bool read_complex(const EdiBlock* re, const EdiBlock* im, const std::string& what,
                    std::vector<Complex>& out) {
    if (!re && !im) return false;
    if (!re || !im) {
      c_.findings.error(307, (re ? re : im)->offset,
                        what + " has its " + (re ? "real" : "imaginary") + " part only");
      return false;
    }
    const auto x = block_values(c_, *re, n_), y = block_values(c_, *im, n_);
    out.resize(n_);
    for (std::size_t i = 0; i < n_; ++i)
      out[i] = c_.is_filler(x[i], y[i]) ? kMissing : Complex(x[i], y[i]);
    return true;
  }

  /// Of channels that are not along two axes nobody knows what the file has made of them.
  void doubt_channels(const ChannelAzimuths& a, const EdiBlock& at, const std::string& what) {
    const auto skew = [](double from, double to) {  // a channel may point either way
      constexpr double laid_out_by_hand = 5;        // degrees
      const double d = std::abs(wrap_degrees(from - to));
      return std::min(d, 180 - d) > laid_out_by_hand;
    };
    const bool electric = what != "tipper",
               told = a.hy != a.hx;  // programs that do not know write AZM=0 of both
    if (!(told && skew(a.hy, a.hx + 90)) &&
        !(electric && (skew(a.ex, a.hx) || skew(a.ey, a.hx + 90))))
      return;
    c_.findings.warn(
        340, at.offset,
        fmt::format("HX, HY, EX, EY point to {:g}, {:g}, {:g}, {:g} degrees, and no rotation angle "
                    "says how the {} was turned: x is taken along HX, y at right angles to it",
                    a.hx, a.hy, a.ex, a.ey, what),
        "add >ZROT with the direction of x");
  }

  void rotation(const EdiBlock* first_block, std::initializer_list<std::string> rotation_names,
                const char* what) {
    const EdiOption* rot = first_block ? first_block->find({"ROT"}) : nullptr;
    const bool none = rot && upper(rot->value.text) == "NONE";
    const EdiBlock* b = none ? nullptr : find(rotation_names);
    std::vector<double> angles = b ? block_values(c_, *b, n_) : std::vector<double>(n_, kNaN);
    const auto missing = [](double a) { return std::isnan(a); };
    bool known = !std::all_of(angles.begin(), angles.end(), missing);
    if (std::any_of(angles.begin(), angles.end(), missing)) {
      const std::optional<ChannelAzimuths> channels = channel_azimuths(c_);
      known = known || channels;
      std::replace_if(angles.begin(), angles.end(), missing, channels ? channels->hx : 0);
      if (channels && first_block) doubt_channels(*channels, *first_block, what);
    }
    if (!known && s_.azimuth_deg.empty())
      c_.findings.note(344, std::string("no rotation angles and no channel azimuths: the ") + what +
                                " is taken to have x to the north");
    if (s_.azimuth_deg.empty()) {
      s_.azimuth_deg = angles;
      return;
    }
    // The tipper may have been turned otherwise than the impedance: bring it to the impedance's
    // axes.
    std::size_t turned = 0;
    for (std::size_t i = 0; i < n_; ++i) {
      const double d = wrap_degrees(s_.azimuth_deg[i] - angles[i]) * std::numbers::pi / 180;
      if (std::abs(d) < 1e-6) continue;
      ++turned;
      const double cd = std::cos(d), sd = std::sin(d);
      auto& t = s_.tipper[i];
      t = {cd * t[0] + sd * t[1], -sd * t[0] + cd * t[1]};
      if (!s_.tipper_error.empty()) {
        auto& e = s_.tipper_error[i];
        const double x = given_error(e[0]), y = given_error(e[1]);
        e = {std::hypot(cd * x, sd * y), std::hypot(sd * x, cd * y)};
      }
    }
    if (turned && first_block)
      c_.findings.warn(345, first_block->offset,
                       fmt::format("the tipper's axes differ from those of the impedance at {} of "
                                   "{} frequencies; it was "
                                   "turned to them",
                                   turned, n_));
  }

  void read_impedance() {
    std::string absent;
    const EdiBlock* some = nullptr;
    for (int r = 0; r < 2; ++r)
      for (int col = 0; col < 2; ++col) {
        const std::string name = std::string("Z") + kComponent[r][col];
        std::vector<Complex> z;
        const EdiBlock* re = find(name + "R");
        if (!read_complex(re, find(name + "I"), name, z)) {
          absent += " " + name;
          continue;
        }
        some = some ? some : re;
        if (s_.impedance.empty())
          s_.impedance.assign(n_, {{{kMissing, kMissing}, {kMissing, kMissing}}});
        for (std::size_t i = 0; i < n_; ++i) s_.impedance[i][r][col] = z[i];
        if (const EdiBlock* b = find({name + ".VAR", name + "VAR", name + "R.VAR"})) {
          if (s_.impedance_error.empty())
            s_.impedance_error.assign(n_, {{{kNaN, kNaN}, {kNaN, kNaN}}});
          set_errors(block_values(c_, *b, n_),
                     [&](std::size_t i) -> double& { return s_.impedance_error[i][r][col]; });
        }
      }
    if (!s_.has_impedance()) return;
    if (!absent.empty()) c_.findings.warn(346, "not all elements are given; absent:" + absent);
    rotation(some, {"ZROT"}, "impedance");
  }

  /// Standard deviations from variances; the sign of a negative variance is kept for the report.
  template <class At>
  void set_errors(const std::vector<double>& variance, At at) {
    for (std::size_t i = 0; i < n_; ++i) {
      const double v = variance[i];
      at(i) = std::isnan(v) ? kNaN : v < 0 ? -1.0 : std::sqrt(v);
    }
  }

  void read_tipper() {
    std::string absent;
    const EdiBlock* some = nullptr;
    for (int col = 0; col < 2; ++col) {
      const std::string name = col == 0 ? "TX" : "TY";
      std::vector<Complex> t;
      const EdiBlock* re = find({name + "R.EXP", name + "R"});
      if (!read_complex(re, find({name + "I.EXP", name + "I"}), name, t)) {
        absent += " " + name;
        continue;
      }
      some = some ? some : re;
      if (s_.tipper.empty()) s_.tipper.assign(n_, {kMissing, kMissing});
      for (std::size_t i = 0; i < n_; ++i) s_.tipper[i][col] = t[i];
      if (const EdiBlock* b = find({name + "VAR.EXP", name + ".VAR", name + "VAR"})) {
        if (s_.tipper_error.empty()) s_.tipper_error.assign(n_, {kNaN, kNaN});
        set_errors(block_values(c_, *b, n_),
                   [&](std::size_t i) -> double& { return s_.tipper_error[i][col]; });
      }
    }
    if (!s_.has_tipper()) return;
    if (!absent.empty()) c_.findings.warn(346, "the tipper is not whole; absent:" + absent);
    rotation(some, {"TROT", "TROT.EXP", "ZROT"}, "tipper");
  }

  void read_resistivity() {
    const EdiBlock* some = nullptr;
    const auto fill = [&](const std::string& name, int r, int col,
                          std::vector<Tensor2<double>>& out) {
      const EdiBlock* b = find(name);
      if (!b) return;
      some = some ? some : b;
      if (out.empty()) out.assign(n_, {{{kNaN, kNaN}, {kNaN, kNaN}}});
      const auto values = block_values(c_, *b, n_);
      for (std::size_t i = 0; i < n_; ++i) out[i][r][col] = values[i];
    };
    ResistivityPhase& rp = s_.resistivity;
    for (int r = 0; r < 2; ++r)
      for (int col = 0; col < 2; ++col) {
        const std::string xy = kComponent[r][col];
        fill("RHO" + xy, r, col, rp.rho);
        fill("RHO" + xy + ".ERR", r, col, rp.rho_error);
        fill("PHS" + xy, r, col, rp.phase);
        fill("PHS" + xy + ".ERR", r, col, rp.phase_error);
      }
    if (rp.rho.empty() || rp.phase.empty()) {
      rp = {};
      return;
    }
    for (auto* list : {&rp.rho_error, &rp.phase_error})
      if (list->empty()) list->assign(n_, {{{kNaN, kNaN}, {kNaN, kNaN}}});
    if (!s_.has_impedance()) from_resistivity(some);
  }

  void from_resistivity(const EdiBlock* some) {
    const YxPhases yx = yx_phases_by_median(s_);
    impedance_from_resistivity(s_, yx);
    if (yx == YxPhases::of_minus_zyx)
      c_.findings.note(348, some->offset,
                       "yx phases lie within 90 degrees of zero: taken as those of -Zyx");
    s_.format = "EDI rho/phase";
    c_.findings.note(
        349, some->offset,
        "the file has apparent resistivities and phases only; impedances computed from them");
    rotation(some, {"RHOROT", "ZROT"}, "apparent resistivity");
  }

  EdiContext& c_;
  Sounding& s_;
  std::size_t n_ = 0;
  std::map<std::string, const EdiBlock*> blocks_;
};

void check_end(EdiContext& c) {
  if (const EdiBlock* end = c.first("END")) {
    if (!edi_tokens(c.text(), end->body_begin, end->body_end).empty())
      c.findings.warn(357, end->body_begin, "text after >END is not read");
    return;
  }
  c.findings.error(308, c.text().size() - 1, "the file breaks off: it has no >END",
                   "copy the file again; if it is whole, add a line >END");
}

}  // namespace

const EdiBlock* EdiContext::first(std::string_view name) const {
  for (const EdiBlock& b : blocks)
    if (b.name == name) return &b;
  return nullptr;
}

bool EdiContext::is_empty(double v) const {
  return std::abs(v) >= 1e30 || (empty != 0 && std::abs(v - empty) <= 1e-6 * std::abs(empty));
}

bool EdiContext::is_filler(double re, double im) const { return empty == 0 && re == 0 && im == 0; }

std::optional<double> option_number(EdiContext& c, const EdiOption* o) {
  if (!o || o->value.text.empty()) return std::nullopt;
  const auto v = parse_number(o->value, Exponent::fortran, c.findings);
  if (!v || c.is_empty(*v)) return std::nullopt;
  return v;
}

std::vector<EdiChannel> edi_channels(EdiContext& c) {
  std::vector<EdiChannel> out;
  for (const EdiBlock& b : c.blocks) {
    if (b.name != "HMEAS" && b.name != "EMEAS") continue;
    auto options = b.options;
    for (EdiOption& o : edi_options(c.text(), b.body_begin, b.body_end))
      options.push_back(std::move(o));
    EdiBlock all{.name = b.name, .options = std::move(options)};
    const EdiOption *id = all.find({"ID"}), *type = all.find({"CHTYPE"});
    EdiChannel channel{
        id ? std::string(id->value.text) : "", type ? upper(type->value.text) : "", {}};
    const auto number = [&](const char* key) { return option_number(c, all.find({key})); };
    if (const auto azimuth = number("AZM"))
      channel.azimuth_deg = azimuth;
    else if (b.name == "EMEAS") {
      const auto x = number("X"), y = number("Y"), x2 = number("X2"), y2 = number("Y2");
      if (x && y && x2 && y2 && std::hypot(*x2 - *x, *y2 - *y) > 0)
        channel.azimuth_deg = std::atan2(*y2 - *y, *x2 - *x) * 180 / std::numbers::pi;
    }
    out.push_back(std::move(channel));
  }
  return out;
}

Sounding read_edi(const data::TextFile& text, const ReadOptions& options) {
  Findings findings(text);
  EdiContext c{findings, split_edi(findings)};
  findings.throw_if_errors();
  Sounding s{.format = "EDI"};
  // Options of a block may stand behind its name or on the lines below it.
  for (EdiBlock& b : c.blocks)
    if (b.name == "HEAD" || b.name == "=DEFINEMEAS" || b.name == "=MTSECT" ||
        b.name == "=SPECTRASECT" || b.name == "=EMAPSECT")
      for (EdiOption& o : edi_options(c.text(), b.body_begin, b.body_end))
        b.options.push_back(std::move(o));

  const EdiBlock* head = c.first("HEAD");
  const EdiBlock* measurements = c.first("=DEFINEMEAS");
  if (head)
    if (const EdiOption* o = head->find({"EMPTY"}); o && !o->value.text.empty())
      if (const auto v = parse_number(o->value, Exponent::fortran, findings)) c.empty = *v;
  const bool spectra = c.first("SPECTRA") != nullptr;
  const EdiBlock* section = c.first(spectra ? "=SPECTRASECT" : "=MTSECT");
  const EdiOption* id = head ? head->find({"DATAID"}) : nullptr;
  if ((!id || id->value.text.empty()) && section) id = section->find({"SECTID"});
  if (id) s.station = std::string(id->value.text);
  read_position(c, head, measurements, s);
  if (head)
    if (const EdiOption* o = head->find({"DECLINATION"}); o && !o->value.text.empty())
      s.declination_deg = option_number(c, o);
  FileConventions conventions;
  read_statements(c, head, conventions);
  if (spectra)
    read_edi_spectra(c, s);
  else
    DataSection(c, s).read();
  check_end(c);
  finish_sounding(s, conventions, options, c.frequency_offsets, findings);
  return s;
}

}  // namespace tessera::inversion
