// SPDX-License-Identifier: Apache-2.0
// Transfer functions from the averaged auto- and cross-powers of an EDI file. With <a b*> the
// averaged product, H = (Hx, Hy), R the reference (the remote magnetic channels, or H itself), E
// the outputs:
//   T = <E R+> <H R+>^-1
//   S = transpose of <R H+>^-1 <R R+> <H R+>^-1         inverse coherent signal power
//   N = (<E E+> - T <H E+> - <E H+> T+ + T <H H+> T+) / (number of averages)
//   Cov(T_ij, T_kl*) = N_ik S_jl
// (Gamble, Goubau and Clarke 1979, Geophysics 44, 53-68; Eisel and Egbert 2001, Geophys. J. Int.
// 144, 65-82). The file's real matrix holds auto-powers on the diagonal, for a row i below a column
// j<i the real part of <c_j c_i*> and, mirrored above, minus its imaginary part (SEG EDI, section
// SPECTRASECT).
#include "edi_reader.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <optional>
#include <string_view>
#include <utility>

namespace tessera::inversion {
namespace {

using Matrix2 = Tensor2<Complex>;
enum Role { kHx, kHy, kHz, kEx, kEy, kRx, kRy, kRoles };
constexpr const char* kRoleName[kRoles] = {"HX", "HY", "HZ", "EX", "EY", "remote HX", "remote HY"};

struct Layout {
  std::size_t n_channels = 0;
  std::array<int, kRoles> index{-1, -1, -1, -1, -1, -1, -1};
  bool has(Role r) const { return index[r] >= 0; }
};

Layout read_layout(EdiContext& c, const EdiBlock& section) {
  Layout out;
  const EdiOption* nchan = section.find({"NCHAN"});
  if (!nchan) {
    c.findings.error(311, section.offset, ">=SPECTRASECT does not give NCHAN");
    return out;
  }
  // 64 channels would be a strange station; their spectra already need 4096 numbers a frequency.
  const auto count = parse_count(nchan->value, 64, "NCHAN", c.findings);
  if (!count) return out;
  out.n_channels = *count;

  // The list of channel identifiers follows the line "// n".
  std::vector<std::string> ids;
  const std::vector<Token> words = edi_tokens(c.text(), section.body_begin, section.body_end);
  bool in_list = false;
  for (std::size_t i = 0; i < words.size(); ++i) {
    std::string_view w = words[i].text;
    if (!in_list && w.substr(0, 2) == "//") {
      in_list = true;
      if (w == "//") ++i;
    } else if (in_list) {
      ids.emplace_back(w);
    }
  }
  const std::vector<EdiChannel> channels = edi_channels(c);
  std::vector<std::string> types;
  for (std::size_t k = 0; k < ids.size(); ++k)
    for (const EdiChannel& ch : channels)
      if (ch.id == ids[k]) {
        types.push_back(ch.type);
        break;
      }
  if (types.size() != out.n_channels) {
    switch (out.n_channels) {
      case 4:
        types = {"HX", "HY", "EX", "EY"};
        break;
      case 5:
        types = {"HX", "HY", "HZ", "EX", "EY"};
        break;
      case 6:
        types = {"HX", "HY", "EX", "EY", "RX", "RY"};
        break;
      case 7:
        types = {"HX", "HY", "HZ", "EX", "EY", "RX", "RY"};
        break;
      default:
        c.findings.error(
            311, section.offset,
            fmt::format(
                "the {} channels of the spectra cannot be told: {} identifiers match >HMEAS or "
                ">EMEAS",
                out.n_channels, types.size()));
        return out;
    }
    c.findings.warn(311, section.offset,
                    fmt::format("{} of {} channel identifiers match; the usual order HX HY (HZ) EX "
                                "EY (remote HX HY) is "
                                "taken",
                                ids.size() ? types.size() : 0, out.n_channels));
  }
  // The second HX and HY of a list are the remote ones, also where they carry the identifiers of
  // the first.
  for (std::size_t k = 0; k < types.size(); ++k) {
    const std::string& t = types[k];
    int role = -1;
    if (t == "HX")
      role = out.has(kHx) ? kRx : kHx;
    else if (t == "HY")
      role = out.has(kHy) ? kRy : kHy;
    else if (t == "HZ")
      role = kHz;
    else if (t == "EX")
      role = kEx;
    else if (t == "EY")
      role = kEy;
    else if (t == "RX" || t == "RRHX" || t == "RHX")
      role = kRx;
    else if (t == "RY" || t == "RRHY" || t == "RHY")
      role = kRy;
    if (role < 0) continue;
    if (out.index[role] >= 0)
      c.findings.error(311, section.offset,
                       fmt::format("channel {} occurs twice", kRoleName[role]));
    out.index[role] = static_cast<int>(k);
  }
  if (!out.has(kHx) || !out.has(kHy))
    c.findings.error(311, section.offset, "the spectra have no HX and HY");
  if (out.has(kEx) != out.has(kEy))
    c.findings.error(311, section.offset, "the spectra have one of EX and EY only");
  if (!out.has(kEx) && !out.has(kHz))
    c.findings.error(311, section.offset, "the spectra have neither EX, EY nor HZ");
  if (out.has(kRx) != out.has(kRy))
    c.findings.error(311, section.offset, "the spectra have one remote magnetic channel only");
  return out;
}

Matrix2 inverse(const Matrix2& m) {
  const Complex det = m[0][0] * m[1][1] - m[0][1] * m[1][0];
  return {{{m[1][1] / det, -m[0][1] / det}, {-m[1][0] / det, m[0][0] / det}}};
}

Matrix2 product(const Matrix2& a, const Matrix2& b) {
  Matrix2 out{};
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 2; ++j) out[i][j] = a[i][0] * b[0][j] + a[i][1] * b[1][j];
  return out;
}

Matrix2 adjoint(const Matrix2& m) {
  return {{{std::conj(m[0][0]), std::conj(m[1][0])}, {std::conj(m[0][1]), std::conj(m[1][1])}}};
}

struct Estimate {
  Matrix2 t, signal_inverse, residual;
};

/// `outputs` are two channels, or the same one twice for the tipper (then row 0 counts).
template <class Power>
Estimate estimate(const Layout& layout, Role out0, Role out1, double averages, Power power) {
  const bool remote = layout.has(kRx);
  const std::array<Role, 2> h{kHx, kHy}, r{remote ? kRx : kHx, remote ? kRy : kHy}, e{out0, out1};
  const auto block = [&](const std::array<Role, 2>& a, const std::array<Role, 2>& b) {
    Matrix2 m;
    for (int i = 0; i < 2; ++i)
      for (int j = 0; j < 2; ++j) m[i][j] = power(a[i], b[j]);
    return m;
  };
  const Matrix2 hr_inverse = inverse(block(h, r));
  Estimate out;
  out.t = product(block(e, r), hr_inverse);
  out.signal_inverse = product(adjoint(hr_inverse), product(block(r, r), hr_inverse));
  std::swap(out.signal_inverse[0][1], out.signal_inverse[1][0]);
  const Matrix2 te = product(out.t, block(h, e)), et = adjoint(te), ee = block(e, e);
  const Matrix2 tht = product(out.t, product(block(h, h), adjoint(out.t)));
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 2; ++j)
      out.residual[i][j] = (ee[i][j] - te[i][j] - et[i][j] + tht[i][j]) / averages;
  return out;
}

/// The numbers of one block, [n][n]: powers on the diagonal, real parts of the cross spectra below
/// it, imaginary parts above.
struct Powers {
  std::vector<double> values;
  bool missing = false;  ///< one or more of them
};

/// Nothing, and an error, where there are not n^2.
std::optional<Powers> read_powers(EdiContext& c, const EdiBlock& b, std::size_t n) {
  const std::vector<Token> tokens = edi_tokens(c.text(), b.body_begin, b.body_end);
  std::optional<std::size_t> declared = n * n;
  if (b.count)
    declared =
        parse_count(*b.count, c.text().size() / 2, "the count after '//' of >SPECTRA", c.findings);
  if (!declared || *declared != n * n || tokens.size() != n * n) {
    if (declared)
      c.findings.error(304, b.offset,
                       fmt::format(">SPECTRA has {} values and declares {}; {} channels need {}",
                                   tokens.size(), *declared, n, n * n));
    return {};
  }
  Powers out{.values = std::vector<double>(n * n)};
  for (std::size_t i = 0; i < n * n; ++i) {
    const auto v = parse_number(tokens[i], Exponent::fortran, c.findings);
    out.values[i] = v.value_or(0);
    out.missing |= !v || c.is_empty(*v);
  }
  return out;
}

}  // namespace

std::optional<ChannelAzimuths> channel_azimuths(EdiContext& c) {
  const std::vector<EdiChannel> channels = edi_channels(c);
  const auto of = [&](std::string_view type) -> std::optional<double> {
    for (const EdiChannel& ch : channels)
      if (ch.type == type) return ch.azimuth_deg;
    return std::nullopt;
  };
  const std::optional<double> hx = of("HX");
  if (!hx) return std::nullopt;
  return ChannelAzimuths{.hx = *hx,
                         .hy = of("HY").value_or(*hx + 90),
                         .ex = of("EX").value_or(*hx),
                         .ey = of("EY").value_or(*hx + 90)};
}

void read_edi_spectra(EdiContext& c, Sounding& s) {
  s.format = "EDI SPECTRA";
  const EdiBlock* section = c.first("=SPECTRASECT");
  if (!section) {
    c.findings.error(307, c.first("SPECTRA")->offset, ">SPECTRA without >=SPECTRASECT");
    return;
  }
  const Layout layout = read_layout(c, *section);
  c.findings.throw_if_errors();
  const std::size_t n = layout.n_channels;
  const std::optional<ChannelAzimuths> channels = channel_azimuths(c);
  std::size_t without_averages = 0, singular = 0, along_channels = 0;
  for (const EdiBlock& b : c.blocks) {
    if (b.name != "SPECTRA") continue;
    const auto number = [&](const char* key) { return option_number(c, b.find({key})); };
    const EdiOption* f = b.find({"FREQ"});
    if (!f) {
      c.findings.error(311, b.offset, ">SPECTRA without FREQ=");
      continue;
    }
    const auto frequency = parse_number(f->value, Exponent::fortran, c.findings);
    const double averages = number("AVGT").value_or(0);
    const std::optional<double> rotation = number("ROTSPEC");
    const std::optional<Powers> read = read_powers(c, b, n);
    if (!read) continue;
    const std::vector<double>& power = read->values;
    const bool missing = read->missing;
    if (!frequency) continue;
    const auto cross = [&](Role a, Role d) -> Complex {
      const auto i = static_cast<std::size_t>(layout.index[a]),
                 j = static_cast<std::size_t>(layout.index[d]);
      if (i == j) return power[i * n + i];
      return i < j ? Complex(power[j * n + i], -power[i * n + j])
                   : Complex(power[i * n + j], power[j * n + i]);
    };
    const bool counted = averages > 0;
    without_averages += !counted;
    const double divisor = counted ? averages : std::nan("");
    bool bad = missing;
    const auto usable = [&](Estimate e) {
      for (const auto& row : e.t)
        for (const Complex z : row) bad |= !std::isfinite(z.real()) || !std::isfinite(z.imag());
      if (!bad) return e;
      const Matrix2 nan{{{kMissing, kMissing}, {kMissing, kMissing}}};
      return Estimate{nan, nan, nan};
    };
    s.frequency_hz.push_back(*frequency);
    c.frequency_offsets.push_back(f->value.offset);
    s.azimuth_deg.push_back(rotation.value_or(channels ? channels->hx : 0));
    along_channels += !rotation;
    if (layout.has(kEx)) {
      const Estimate e = usable(estimate(layout, kEx, kEy, divisor, cross));
      s.impedance.push_back(e.t);
      s.impedance_covariance.signal_inverse.push_back(e.signal_inverse);
      s.impedance_covariance.residual.push_back(e.residual);
    }
    if (layout.has(kHz)) {
      const Estimate e = usable(estimate(layout, kHz, kHz, divisor, cross));
      s.tipper.push_back(e.t[0]);
      s.tipper_covariance.signal_inverse.push_back(e.signal_inverse);
      s.tipper_covariance.residual.push_back(e.residual);
    }
    singular += bad && !missing;
  }
  if (const EdiOption* o = section->find({"NFREQ"}))
    if (const auto count = parse_count(o->value, c.text().size() / 2, "NFREQ", c.findings);
        count && *count != s.size())
      c.findings.error(
          304, o->value.offset,
          fmt::format("NFREQ is {}, but there are {} usable >SPECTRA blocks", *count, s.size()),
          "is the file complete?");
  if (without_averages)
    c.findings.warn(350, section->offset,
                    fmt::format("{} spectra give no number of averages (AVGT): no errors for them",
                                without_averages));
  if (singular)
    c.findings.warn(351, section->offset,
                    fmt::format("{} spectra matrices are singular: left out as missing", singular));
  errors_from_covariance(s);
  // Spectra that were not turned are those of the channels, however these lie.
  if (channels && along_channels == s.size())
    use_channel_azimuths(s, *channels, section->offset, c.findings);
  else if (channels && along_channels)
    c.findings.warn(340, section->offset,
                    fmt::format("{} of {} spectra give no ROTSPEC: they are taken along HX and "
                                "across it, wherever other channels point",
                                along_channels, s.size()));
  c.findings.note(
      352, section->offset,
      layout.has(kRx)
          ? "impedance computed from spectra with remote reference"
          : "impedance computed from spectra with the local magnetic field as reference");
}

}  // namespace tessera::inversion
