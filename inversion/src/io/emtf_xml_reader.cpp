// SPDX-License-Identifier: Apache-2.0
// EMTF XML (Kelbert 2020, Geophysics 85, F1-F17): Site (id, location, orientation),
// ProcessingInfo/SignConvention, SiteLayout (channel directions) and one Period after the other
// with Z, T, their variances and, from EMTF, the inverse signal power and residual covariances.
#include "sounding_finish.h"
#include "tessera/data/xml_guard.h"

#include <fmt/format.h>
#include <pugixml.hpp>

#include <cmath>

namespace tessera::inversion {
namespace {

int axis_of(std::string_view channel, char field) {
  if (channel.size() < 2 || upper(channel.substr(0, 1))[0] != field) return -1;
  const char c = upper(channel.substr(1, 1))[0];
  return c == 'X' ? 0 : c == 'Y' ? 1 : c == 'Z' ? 2 : -1;
}

class XmlReader {
 public:
  XmlReader(const data::TextFile& text, const ReadOptions& options)
      : text_(text), options_(options), findings_(text) {}

  Sounding read() {
    data::guard_xml(findings_);
    pugi::xml_document document;
    const auto result =
        document.load_buffer(text_.text.data(), text_.text.size(),
                             pugi::parse_default & ~pugi::parse_eol, pugi::encoding_utf8);
    if (!result) {
      findings_.error(312, static_cast<std::size_t>(std::max<std::ptrdiff_t>(result.offset, 0)),
                      std::string("not well-formed XML: ") + result.description());
      findings_.throw_if_errors();
    }
    const pugi::xml_node root = document.document_element();
    if (std::string_view(root.name()) != "EM_TF") {
      findings_.error(315, place(root), "expected the element EM_TF, got " + shown(root.name()));
      findings_.throw_if_errors();
    }
    s_.format = "EMTF XML";
    site(root.child("Site"));
    sign(root.child("ProcessingInfo").child("SignConvention"));
    const pugi::xml_node data = root.child("Data");
    if (!data) {
      findings_.error(315, place(root), "EM_TF has no element Data");
      findings_.throw_if_errors();
    }
    for (const pugi::xml_node p : data.children("Period")) period(p);
    if (const auto count = data.attribute("count")) {
      const auto n = parse_count({count.value(), place(data)}, text_.text.size(),
                                 "the attribute count of Data", findings_);
      if (n && *n != s_.size())
        findings_.error(304, place(data),
                        fmt::format("Data declares {} periods and has {}", *n, s_.size()),
                        "is the file complete?");
    }
    if (s_.size() == 0) findings_.error(307, place(data), "Data has no periods");
    findings_.throw_if_errors();
    drop_what_is_absent();
    directions(root);
    if (not_a_number_)
      findings_.warn(
          358, first_not_a_number_,
          fmt::format("{} values are NaN, the first one here: taken as missing", not_a_number_));
    FileConventions conventions{.stated_sign = sign_, .stated_units = units_};
    finish_sounding(s_, conventions, options_, offsets_, findings_);
    return std::move(s_);
  }

 private:
  static std::size_t place(const pugi::xml_node& n) {
    const std::ptrdiff_t o = n.offset_debug();
    return o > 0 ? static_cast<std::size_t>(o) : 0;
  }
  /// The text of an element with its place.
  static Token content(const pugi::xml_node& n) {
    const pugi::xml_node text = n.first_child();
    const std::string_view all = text.value(), t = trim(all);
    const std::size_t skipped = t.empty() ? 0 : static_cast<std::size_t>(t.data() - all.data());
    return {t, text ? place(text) + skipped : place(n)};
  }
  /// `NaN`, as programs in Java and Matlab write what they do not have; it is counted.
  bool is_nan(const Token& t) {
    const std::string word = upper(t.text);
    if (word != "NAN" && word != "-NAN") return false;
    if (not_a_number_++ == 0) first_not_a_number_ = t.offset;
    return true;
  }
  std::optional<double> number(const pugi::xml_node& n) {
    if (!n || content(n).text.empty() || is_nan(content(n))) return std::nullopt;
    return parse_number(content(n), Exponent::e_only, findings_);
  }

  void site(const pugi::xml_node& site) {
    if (!site) {
      findings_.warn(333, "the file has no element Site");
      return;
    }
    const std::string_view id = trim(site.child_value("Id"));
    s_.station = std::string(id.empty() ? trim(site.child_value("Name")) : id);
    const pugi::xml_node location = site.child("Location");
    if (const auto n = location.child("Latitude"); n && !is_nan(content(n)))
      s_.latitude_deg = parse_angle(content(n), 90, "latitude", findings_);
    if (const auto n = location.child("Longitude"); n && !is_nan(content(n)))
      if (const auto v = parse_angle(content(n), 360, "longitude", findings_))
        s_.longitude_deg = wrap_degrees(*v);
    const pugi::xml_node elevation = location.child("Elevation");
    s_.elevation_m = number(elevation);
    const std::string unit = upper(elevation.attribute("units").value());
    if (s_.elevation_m && (unit == "FEET" || unit == "FT")) *s_.elevation_m *= 0.3048;
    s_.declination_deg = number(location.child("Declination"));
    orientation_ = site.child("Orientation");
  }

  /// `exp(+ i\omega t)`: the sign before the i.
  void sign(const pugi::xml_node& node) {
    if (!node) return;
    std::string u;
    for (const char c : upper(content(node).text))
      if (c != ' ' && c != '\\') u += c;
    const bool plus =
        u.find("+I") != std::string::npos || u.find("(I") != std::string::npos || u == "+";
    const bool minus = u.find("-I") != std::string::npos || u == "-";
    if (plus != minus)
      sign_ = plus ? TimeSign::plus : TimeSign::minus;
    else
      findings_.warn(317, place(node),
                     "unknown time sign " + shown(content(node).text) +
                         "; the format's default e^{+i omega t} holds");
  }

  void units(const pugi::xml_node& z) {
    const auto attribute = z.attribute("units");
    if (!attribute) return;
    const std::string u = upper(attribute.value());
    double factor = 1;
    std::optional<ImpedanceUnits> found;
    if (u == "[MV/KM]/[NT]")
      found = ImpedanceUnits::field;
    else if (u == "[V/M]/[T]")
      found = ImpedanceUnits::field, factor = 1e-3;
    else if (u == "OHM" || u == "[OHM]" || u == "OHMS" || u == "[V/M]/[A/M]")
      found = ImpedanceUnits::ohm;
    if (!found) {
      findings_.error(316, place(z), "unknown impedance units " + shown(attribute.value()),
                      "known are [mV/km]/[nT], [V/m]/[T] and Ohm");
      return;
    }
    if (units_ && (*units_ != *found || factor_ != factor))
      findings_.error(316, place(z), "periods in different impedance units in one file");
    units_ = found;
    factor_ = factor;
  }

  /// Calls put(output axis, input axis, value) for each <value output= input= name=>.
  template <class Put>
  void values(const pugi::xml_node& list, char out_field, char in_field, bool is_complex, Put put) {
    for (const pugi::xml_node v : list.children("value")) {
      int out = axis_of(v.attribute("output").value(), out_field),
          in = axis_of(v.attribute("input").value(), in_field);
      const std::string_view name = v.attribute("name").value();
      if (out < 0 && in < 0 && name.size() == 3) {  // "Zxy"
        out = axis_of(name.substr(0, 2), name[0] == 'Z' ? 'Z' : 'T');
        in = name[2] == 'x' || name[2] == 'X' ? 0 : name[2] == 'y' || name[2] == 'Y' ? 1 : -1;
      }
      if (out < 0 || in < 0) {
        findings_.error(315, place(v),
                        fmt::format("<value> of {} names no known pair of channels", list.name()));
        continue;
      }
      const Token text = content(v);
      std::vector<Token> words = split_tokens(text.text, 0, text.text.size());
      const std::size_t wanted = is_complex ? 2 : 1;
      if (words.size() != wanted) {
        findings_.error(315, text.offset,
                        fmt::format("<value> of {} has {} numbers, expected {}", list.name(),
                                    words.size(), wanted));
        continue;
      }
      double parts[2] = {0, 0};
      bool good = true;
      for (std::size_t i = 0; i < wanted; ++i) {
        words[i].offset += text.offset;
        if (is_nan(words[i])) {
          parts[i] = kNaN;
          continue;
        }
        const auto x = parse_number(words[i], Exponent::e_only, findings_);
        good = good && x;
        parts[i] = x.value_or(0);
      }
      const auto here = [](double v) { return std::abs(v) < 1e30; };
      if (good)
        put(out, in, here(parts[0]) && here(parts[1]) ? Complex(parts[0], parts[1]) : kMissing);
    }
  }

  void period(const pugi::xml_node& p) {
    const auto attribute = p.attribute("value");
    const auto value =
        parse_number({trim(attribute.value()), place(p)}, Exponent::e_only, findings_);
    if (!value) return;
    if (!(*value > 0)) {
      findings_.error(305, place(p), fmt::format("period {:g}; it must be positive", *value));
      return;
    }
    const std::string unit = upper(p.attribute("units").value());
    const bool hertz = unit == "HZ";
    if (!hertz && !unit.empty() && !unit.starts_with("SEC") && unit != "S")
      findings_.error(316, place(p), "unknown units of the period " + shown(unit));
    s_.frequency_hz.push_back(hertz ? *value : 1 / *value);
    offsets_.push_back(place(p));

    const Tensor2<Complex> nothing{{{kMissing, kMissing}, {kMissing, kMissing}}};
    const auto limited = [](int out, int in) { return out < 2 && in < 2; };
    Tensor2<Complex> z = nothing, zs = nothing, zn = nothing, ts = nothing, tn = nothing;
    Tensor2<double> ze{{{kNaN, kNaN}, {kNaN, kNaN}}};
    std::array<Complex, 2> t{kMissing, kMissing};
    std::array<double, 2> te{kNaN, kNaN};
    // Standard deviation of one part from the variance of the complex number; a negative one is
    // kept for the report.
    const auto part = [](Complex variance) {
      return variance.real() < 0 ? -1.0 : std::sqrt(variance.real() / 2);
    };
    if (const auto node = p.child("Z")) {
      units(node);
      has_z_ = true;
      values(node, 'E', 'H', true, [&](int o, int i, Complex v) {
        if (limited(o, i)) z[o][i] = factor_ * v;
      });
    }
    values(p.child("Z.VAR"), 'E', 'H', false, [&](int o, int i, Complex v) {
      if (limited(o, i)) ze[o][i] = factor_ * part(v), has_ze_ = true;
    });
    values(p.child("Z.INVSIGCOV"), 'H', 'H', true, [&](int o, int i, Complex v) {
      if (limited(o, i)) zs[o][i] = v, has_zs_ = true;
    });
    values(p.child("Z.RESIDCOV"), 'E', 'E', true, [&](int o, int i, Complex v) {
      if (limited(o, i)) zn[o][i] = factor_ * factor_ * v, has_zn_ = true;
    });
    if (const auto node = p.child("T")) {
      has_t_ = true;
      values(node, 'H', 'H', true, [&](int o, int i, Complex v) {
        if (o == 2 && i < 2) t[i] = v;
      });
    }
    values(p.child("T.VAR"), 'H', 'H', false, [&](int o, int i, Complex v) {
      if (o == 2 && i < 2) te[i] = part(v), has_te_ = true;
    });
    values(p.child("T.INVSIGCOV"), 'H', 'H', true, [&](int o, int i, Complex v) {
      if (limited(o, i)) ts[o][i] = v, has_ts_ = true;
    });
    values(p.child("T.RESIDCOV"), 'H', 'H', true, [&](int o, int i, Complex v) {
      if (o == 2 && i == 2) tn[0][0] = v, has_tn_ = true;
    });
    s_.impedance.push_back(z);
    s_.impedance_error.push_back(ze);
    s_.impedance_covariance.signal_inverse.push_back(zs);
    s_.impedance_covariance.residual.push_back(zn);
    s_.tipper.push_back(t);
    s_.tipper_error.push_back(te);
    s_.tipper_covariance.signal_inverse.push_back(ts);
    s_.tipper_covariance.residual.push_back(tn);
  }

  void drop_what_is_absent() {
    has_zc_ = has_zs_ && has_zn_;
    has_tc_ = has_ts_ && has_tn_;
    if (!has_z_) s_.impedance.clear();
    if (!has_z_ || !(has_ze_ || has_zc_)) s_.impedance_error.clear();
    if (!has_z_ || !has_zc_) s_.impedance_covariance = {};
    if (!has_t_) s_.tipper.clear();
    if (!has_t_ || !(has_te_ || has_tc_)) s_.tipper_error.clear();
    if (!has_t_ || !has_tc_) s_.tipper_covariance = {};
    if (!has_z_ && !has_t_) findings_.error(307, offsets_.front(), "the file has neither Z nor T");
    if ((has_zc_ && !has_ze_) || (has_tc_ && !has_te_)) errors_from_covariance(s_);
    findings_.throw_if_errors();
  }

  /// Which way the axes point: `orthogonal` data were turned to the stated angle; otherwise the
  /// channels' own directions hold.
  void directions(const pugi::xml_node& root) {
    ChannelAzimuths a;
    bool all = true;
    const pugi::xml_node layout = root.child("SiteLayout");
    for (const char* side : {"InputChannels", "OutputChannels"})
      for (const pugi::xml_node c : layout.child(side).children()) {
        const std::string name = upper(c.attribute("name").value());
        const std::string_view text = c.attribute("orientation").value();
        const Token token{trim(text), place(c)};
        if (text.empty() || is_nan(token)) continue;
        const auto v = parse_number(token, Exponent::e_only, findings_);
        if (!v) continue;
        if (name == "HX")
          a.hx = *v, seen_ |= 1;
        else if (name == "HY")
          a.hy = *v, seen_ |= 2;
        else if (name == "EX")
          a.ex = *v, seen_ |= 4;
        else if (name == "EY")
          a.ey = *v, seen_ |= 8;
      }
    const int needed = s_.has_impedance() ? 15 : 3;
    all = (seen_ & needed) == needed;
    if (!s_.has_impedance()) a.ex = a.hx, a.ey = a.hx + 90;
    const std::string kind = orientation_ ? upper(content(orientation_).text) : "";
    if (kind == "ORTHOGONAL") {
      const auto angle = orientation_.attribute("angle_to_geographic_north");
      double azimuth = 0;
      const Token token{trim(angle.value()), place(orientation_)};
      if (angle && is_nan(token))
        findings_.note(344, place(orientation_),
                       "the angle of the orthogonal data is not given: x is taken to the north");
      else if (angle)
        azimuth = parse_number(token, Exponent::e_only, findings_).value_or(azimuth);
      s_.azimuth_deg.assign(s_.size(), azimuth);
      if (all && std::abs(wrap_degrees(a.hx - azimuth)) > 0.01)
        findings_.note(340, place(orientation_),
                       fmt::format("the channels were laid out with Hx at {:g} degrees; the data "
                                   "are stated to be turned to "
                                   "{:g} degrees",
                                   a.hx, azimuth));
    } else if (all) {
      use_channel_azimuths(s_, a, place(layout), findings_);
    } else {
      findings_.note(344,
                     "neither an orthogonal orientation nor all channel directions are given: x is "
                     "taken to the north");
    }
    findings_.throw_if_errors();
  }

  const data::TextFile& text_;
  const ReadOptions& options_;
  Findings findings_;
  Sounding s_;
  pugi::xml_node orientation_;
  std::optional<TimeSign> sign_;
  std::optional<ImpedanceUnits> units_;
  double factor_ = 1;  ///< from the file's unit to the field or SI unit
  bool has_z_ = false, has_ze_ = false, has_zs_ = false, has_zn_ = false, has_zc_ = false;
  bool has_t_ = false, has_te_ = false, has_ts_ = false, has_tn_ = false, has_tc_ = false;
  int seen_ = 0;
  std::size_t not_a_number_ = 0, first_not_a_number_ = 0;
  std::vector<std::size_t> offsets_;
};

}  // namespace

Sounding read_emtf_xml(const data::TextFile& text, const ReadOptions& options) {
  return XmlReader(text, options).read();
}

}  // namespace tessera::inversion
