// SPDX-License-Identifier: Apache-2.0
//
// A frame of a .gro file: title, number of atoms, a line an atom, the box. Columns of an atom:
// residue number (5), residue name (5), atom name (5), atom number (5), then positions and
// velocities in fields as wide as two decimal points stand apart. The box: the diagonal v1(x) v2(y)
// v3(z), or also v1(y) v1(z) v2(x) v2(z) v3(x) v3(y).
#include "system/reach.h"
#include "tessera/autodiff/error.h"
#include "tessera/data/text_reader.h"
#include "tessera/molecular/gromacs.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

namespace tessera::molecular {
namespace {

using data::shown;

constexpr std::size_t first_field = 20;

/// The number behind "t=" or "step=" of a title; nothing where it does not stand there.
template <class T>
std::optional<T> behind(std::string_view title, std::string_view mark) {
  const std::size_t at = title.rfind(mark);
  if (at == std::string_view::npos || (at > 0 && title[at - 1] != ' ')) return std::nullopt;
  const std::string_view rest = data::trim(title.substr(at + mark.size()));
  T v{};
  const auto [end, code] = std::from_chars(rest.data(), rest.data() + rest.size(), v);
  if (code != std::errc{}) return std::nullopt;
  return v;
}

bool is_whole_number(std::string_view s) {
  std::int64_t v = 0;
  const auto [end, code] = std::from_chars(s.data(), s.data() + s.size(), v);
  return !s.empty() && code == std::errc{} && end == s.data() + s.size();
}

class GroReader {
 public:
  explicit GroReader(const data::TextFile& text)
      : text_(text), findings_(text), last_(text.n_lines()) {
    while (last_ > 0 && data::trim(text.line(last_)).empty()) --last_;
  }

  GroFile read() {
    do read_frame();
    while (line_ <= last_);
    out_.remarks = findings_.take_remarks();
    return std::move(out_);
  }

 private:
  std::size_t start() const { return text_.line_starts[line_ - 1]; }
  [[noreturn]] void stop(int number, std::size_t offset, std::string what, std::string hint = {}) {
    findings_.error(number, offset, std::move(what), std::move(hint));
    findings_.throw_if_errors();
    throw Error("[read_gro] a finding was lost");
  }
  void must_go_on(const char* what) {
    if (line_ > last_)
      stop(701, text_.text.size() - 1, fmt::format("the file ends where {} is due", what),
           count_ > 0 ? fmt::format("the file says {} atoms", count_) : "");
  }

  void read_frame() {
    const bool first = out_.frames.empty();
    must_go_on("the title");
    const std::string_view title = text_.line(line_++);
    must_go_on("the number of atoms");
    const std::string_view line = text_.line(line_), word = data::trim(line);
    const std::size_t at =
        start() + (word.empty() ? 0 : static_cast<std::size_t>(word.data() - line.data()));
    // An atom takes a line of its own: what the file cannot hold is not allocated.
    const auto n = data::parse_count({word, at}, last_ - line_ + (last_ == line_),
                                     "the number of atoms", findings_);
    findings_.throw_if_errors();
    if (!first && *n != count_)
      stop(704, at, fmt::format("this frame has {} atoms, the first one {}", *n, count_));
    count_ = *n;
    ++line_;
    Frame f;
    if (const auto t = behind<double>(title, "t=")) f.time_ps = std::isfinite(*t) ? *t : 0;
    if (const auto s = behind<std::int64_t>(title, "step=")) f.step = *s;
    if (first) {
      std::string_view own = title;
      if (behind<double>(own, "t=")) own = own.substr(0, own.rfind("t="));
      out_.title = data::trim(own);
      if (out_.title.ends_with(',')) out_.title.pop_back();
    }
    width_ = 0;
    f.x_nm.reserve(count_);
    for (std::size_t i = 0; i < count_; ++i, ++line_) read_atom(first, i, f);
    findings_.throw_if_errors();
    read_box(f.box);
    out_.frames.push_back(std::move(f));
  }

  /// From the decimal points of the first atom's positions.
  void find_width(std::string_view line) {
    const std::size_t a = line.find('.', first_field),
                      b = a == std::string_view::npos ? a : line.find('.', a + 1),
                      c = b == std::string_view::npos ? b : line.find('.', b + 1);
    if (c == std::string_view::npos || c - b != b - a || b - a < 3 || b - a > 64)
      stop(701, start(),
           "expected an atom: 20 columns of names and numbers, then three positions whose decimal "
           "points stand equally far apart",
           line.find(',', first_field) != std::string_view::npos
               ? "write decimal points"
               : fmt::format("the file says {} atoms", count_));
    width_ = b - a;
  }

  void read_atom(bool first, std::size_t i, Frame& f) {
    must_go_on("an atom");
    const std::string_view line = text_.line(line_);
    if (width_ == 0) find_width(line);
    if (line.size() <= first_field + 2 * width_)
      stop(701, start(),
           fmt::format("expected atom {} of {}, which takes {} columns; the line has {}", i + 1,
                       count_, first_field + 3 * width_, line.size()),
           "is the number of atoms right?");
    const auto field = [&](std::size_t column) {
      const std::string_view all = column < line.size() ? line.substr(column, width_)
                                                        : std::string_view{},
                             word = data::trim(all);
      const std::size_t at =
          start() + std::min(column, line.size()) +
          (word.empty() ? 0 : static_cast<std::size_t>(word.data() - all.data()));
      return data::parse_number({word, at}, data::Exponent::e_only, findings_).value_or(0);
    };
    Vec3 x, v;
    for (std::size_t k = 0; k < 3; ++k) x[k] = field(first_field + k * width_);
    if (!within_reach(x))
      findings_.error(702, start() + first_field, fmt::format("atom {} {}", i + 1, out_of_reach),
                      "positions are in nm");
    f.x_nm.push_back(x);
    const bool moves = line.size() > first_field + 3 * width_ &&
                       !data::trim(line.substr(first_field + 3 * width_)).empty();
    if (i > 0 && moves != !f.v_nm_ps.empty())
      stop(701, start(),
           moves ? "this atom has a velocity, the ones before have none"
                 : "this atom has no velocity, the ones before have one");
    if (moves) {
      for (std::size_t k = 0; k < 3; ++k) v[k] = field(first_field + (3 + k) * width_);
      f.v_nm_ps.push_back(v);
    }
    if (!first) return;
    if (!is_whole_number(data::trim(line.substr(0, 5))))
      stop(701, start(),
           "expected a residue number in the first five columns, got " + shown(line.substr(0, 5)),
           "columns of a .gro file are fixed");
    const auto name = [&](std::size_t column) {
      return std::string(data::trim(line.substr(column, 5)));
    };
    Residue r{name(5), name(0), "", ""};
    if (out_.residues.empty() || out_.residues.back() != r) out_.residues.push_back(std::move(r));
    out_.residue.push_back(static_cast<std::int32_t>(out_.residues.size() - 1));
    out_.atom_name.push_back(name(10));
  }

  void read_box(Box& box) {
    must_go_on("the box");
    const std::vector<data::Token> words =
        data::split_tokens(text_.text, start(), start() + text_.line(line_).size());
    if ((words.size() != 3 && words.size() != 9) ||
        words[0].text.find_first_not_of("+-.0123456789eE") != std::string_view::npos)
      stop(701, start(),
           "expected the 3 or 9 numbers of the box, got " + shown(data::trim(text_.line(line_))),
           fmt::format("is the number of atoms ({}) right?", count_));
    double v[9] = {};
    for (std::size_t k = 0; k < words.size(); ++k)
      v[k] = data::parse_number(words[k], data::Exponent::e_only, findings_).value_or(0);
    findings_.throw_if_errors();
    const std::size_t at = start();
    ++line_;
    if (std::all_of(v, v + 9, [](double e) { return e == 0; })) return;  // no periodicity
    for (std::size_t k = 0; k < 3; ++k)
      if (!(v[k] > 0))
        stop(702, words[k].offset,
             fmt::format("an edge of the box is {} nm; expected positive edges, or zeros "
                         "throughout (no periodicity)",
                         v[k]));
    for (std::size_t k = 0; k < words.size(); ++k)
      if (!(std::abs(v[k]) <= farthest_nm))
        stop(702, words[k].offset,
             fmt::format("an edge of the box of {} nm; at most 1e6 nm are read", v[k]));
    for (const std::size_t k : {3U, 4U, 6U})
      if (v[k] != 0)
        stop(702, words[k].offset,
             "expected the first vector of the box along x and the second in the xy plane",
             "turn the system, as gmx editconf does");
    box.edge = {{{v[0], 0, 0}, {v[5], v[1], 0}, {v[7], v[8], v[2]}}};
    const Box short_form = reduced(box);
    if (!(short_form == box))
      findings_.note(702, at,
                     "the edges of the box were replaced by shorter ones of the same lattice");
    box = short_form;
  }

  const data::TextFile& text_;
  data::Findings findings_;
  std::size_t last_, line_ = 1, count_ = 0, width_ = 0;
  GroFile out_;
};

/// Five columns of one byte each: what is not ASCII would move all that follow.
std::string five(std::string_view name, bool left) {
  std::string out(5, ' ');
  const std::size_t n = std::min<std::size_t>(5, name.size()), from = left ? 0 : 5 - n;
  for (std::size_t k = 0; k < n; ++k)
    out[from + k] = name[k] < 0x20 || name[k] > 0x7e ? '?' : name[k];
  return out;
}

}  // namespace

GroFile read_gro(const data::TextFile& text) { return GroReader(text).read(); }

std::string write_gro(const GroFile& file, int decimals) {
  if (decimals < 3 || decimals > 12)
    throw Error(fmt::format("[write_gro] 3 to 12 decimals can be written, got {}", decimals));
  const std::size_t n = file.atom_name.size();
  if (file.residue.size() != n)
    throw Error(fmt::format("[write_gro] {} residue indices for {} atoms", file.residue.size(), n));
  const int width = decimals + 5;
  std::string out;
  const auto number = [&](double v, int decimals, std::size_t atom) {
    const std::string s = fmt::format("{:{}.{}f}", v, width, decimals);
    if (!std::isfinite(v) || s.size() > static_cast<std::size_t>(width))
      throw Error(
          fmt::format("[write_gro] {} of atom {} does not fit into {} columns with {} decimals; "
                      "write more decimals, or bring it into the box",
                      v, atom + 1, width, decimals));
    out += s;
  };
  for (const Frame& f : file.frames) {
    if (f.x_nm.size() != n || (!f.v_nm_ps.empty() && f.v_nm_ps.size() != n))
      throw Error(fmt::format("[write_gro] a frame has {} positions and {} velocities for {} atoms",
                              f.x_nm.size(), f.v_nm_ps.size(), n));
    std::string title = file.title;
    std::ranges::replace_if(
        title, [](char c) { return static_cast<unsigned char>(c) < 0x20; }, ' ');
    out += fmt::format("{}{}t= {:.5f} step= {}\n{:5}\n", title, title.empty() ? "" : " ", f.time_ps,
                       f.step, n);
    for (std::size_t i = 0; i < n; ++i) {
      const Residue& r = file.residues.at(static_cast<std::size_t>(file.residue[i]));
      std::int64_t id = 0;
      std::from_chars(r.number.data(), r.number.data() + r.number.size(), id);
      out += fmt::format("{:5}{}{}{:5}", std::abs(id % 100000), five(r.name, true),
                         five(file.atom_name[i], false), (i + 1) % 100000);
      for (const double v : f.x_nm[i]) number(v, decimals, i);
      if (!f.v_nm_ps.empty())
        for (const double v : f.v_nm_ps[i]) number(v, decimals + 1, i);
      out += '\n';
    }
    const auto& e = f.box.edge;
    const int digits = std::max(5, decimals);
    const bool slanted = e[1][0] != 0 || e[2][0] != 0 || e[2][1] != 0;
    out += fmt::format("{:10.{}f} {:9.{}f} {:9.{}f}", e[0][0], digits, e[1][1], digits, e[2][2],
                       digits);
    if (slanted)
      for (const double v : {0.0, 0.0, e[1][0], 0.0, e[2][0], e[2][1]})
        out += fmt::format(" {:9.{}f}", v, digits);
    out += '\n';
  }
  return out;
}

std::string write_gro(const System& system, const std::vector<Frame>& frames, int decimals) {
  return write_gro(
      GroFile{system.title, system.atoms.name, system.atoms.residue, system.residues, frames, {}},
      decimals);
}

}  // namespace tessera::molecular
