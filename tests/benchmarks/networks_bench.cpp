// SPDX-License-Identifier: Apache-2.0
//
// Networks between programs: Touchstone files of ours and of others, and what networks become of.
//
//   networks_bench write FOLDER     files ours_*, each with what it holds in a .npz of its name
//   networks_bench read FOLDER      of files peer_*, what we read, in a .npz of their names
//   networks_bench algebra FOLDER   of algebra_in.npz what conversions and joins give: algebra.npz
#include "tessera/autodiff/ops.h"
#include "tessera/data/arrays.h"
#include "tessera/data/diagnostic.h"
#include "tessera/data/touchstone.h"
#include "tessera/electromagnetics/network_joins.h"

#include <cstdio>
#include <filesystem>
#include <iostream>
#include <map>
#include <random>

namespace {

using namespace tessera;
namespace fs = std::filesystem;
namespace em = electromagnetics;

std::vector<data::NamedTensor> arrays_of(const data::Touchstone& t) {
  const auto n = static_cast<Index>(t.ports), f = static_cast<Index>(t.frequency_hz.size());
  std::vector<data::NamedTensor> out{
      {"f", tensor(t.frequency_hz)},
      {"values", reshape(tensor(std::vector<c128>(t.values.begin(), t.values.end())), {f, n, n})},
      {"reference", tensor(t.reference_ohm)}};
  if (t.noise.empty()) return out;
  std::vector<double> noise;
  for (const data::NetworkNoise& x : t.noise)
    for (const double v : {x.frequency_hz, x.least_figure_db, x.optimal_reflection.real(),
                           x.optimal_reflection.imag(), x.resistance_ohm})
      noise.push_back(v);
  out.push_back({"noise", reshape(tensor(noise), {static_cast<Index>(t.noise.size()), 5})});
  return out;
}

/// n ports, the larger elements on the diagonal, so that every kind of matrix exists.
data::Touchstone example(std::size_t n, data::NetworkKind kind) {
  std::mt19937 rng(100 + static_cast<unsigned>(n));
  std::uniform_real_distribution<double> u(-0.3, 0.3);
  data::Touchstone t;
  t.kind = kind, t.ports = n;
  for (int k = 0; k < 7; ++k) t.frequency_hz.push_back(1e9 + 1.37e8 * k);
  t.values.resize(t.frequency_hz.size() * n * n);
  const double scale = kind == data::NetworkKind::Z ? 50 : kind == data::NetworkKind::Y ? 0.02 : 1;
  for (std::size_t k = 0; k < t.values.size(); ++k) {
    const bool diagonal = k / n % n == k % n;
    t.values[k] =
        scale * std::complex<double>(u(rng) + (diagonal && kind != data::NetworkKind::S), u(rng));
  }
  t.reference_ohm.assign(n, 50);
  return t;
}

void write_files(const fs::path& folder) {
  using Style = data::TouchstoneStyle;
  using Kind = data::NetworkKind;
  static constexpr const char* forms[] = {"RI", "MA", "DB"};
  static constexpr const char* units[] = {"Hz", "kHz", "MHz", "GHz"};
  int count = 0;
  for (std::size_t n = 1; n <= 5; ++n)
    for (const Kind kind : {Kind::S, Kind::Y, Kind::Z, Kind::H, Kind::G})
      for (const int version : {1, 2})
        for (const int form : {0, 1, 2}) {
          if ((kind == Kind::H || kind == Kind::G) && n != 2) continue;
          data::Touchstone t = example(n, kind);
          Style style{.version = version,
                      .numbers = static_cast<Style::Numbers>(form),
                      .unit = units[count % 4],
                      .rows_first = count % 3 != 0};
          if (version == 2 && kind == Kind::S)
            for (std::size_t p = 0; p < n; ++p)
              t.reference_ohm[p] = 25.0 + 10 * static_cast<double>(p);
          if (version == 2 && n > 2 && form > 0) {  // halves of symmetric matrices
            style.matrix = form == 1 ? Style::Matrix::lower : Style::Matrix::upper;
            for (std::size_t f = 0; f < t.frequency_hz.size(); ++f)
              for (std::size_t i = 0; i < n; ++i)
                for (std::size_t j = 0; j < i; ++j) t.at(f, i, j) = t.at(f, j, i);
          }
          if (n == 2 && kind == Kind::S)
            t.noise = {{1e9, 0.7, std::polar(0.64, 1.2), 19},
                       {1.5e9, 2.7, std::polar(0.46, -0.6), 20}};
          const std::string name = "ours_" +
                                   std::string(data::kNetworkKinds[static_cast<int>(kind)]) + "_v" +
                                   std::to_string(version) + "_" + forms[form];
          const std::string ending = version == 2 ? ".ts" : ".s" + std::to_string(n) + "p";
          const fs::path file = folder / (name + "_" + std::to_string(n) + ending);
          data::write_touchstone(file, t, style);
          data::write_npz(file.string() + ".npz", arrays_of(t));
          ++count;
        }
  std::printf("written %d files\n", count);
}

void read_files(const fs::path& folder) {
  int count = 0;
  for (const auto& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with("peer_") || name.ends_with(".npz")) continue;
    data::write_npz(entry.path().string() + ".npz",
                    arrays_of(data::read_touchstone(entry.path()).network));
    ++count;
  }
  std::printf("read %d files\n", count);
}

void compute(const fs::path& folder) {
  std::map<std::string, Tensor> in;
  for (const data::NamedTensor& x : data::read_npz(folder / "algebra_in.npz"))
    in[x.name] = x.values;
  std::vector<data::NamedTensor> out;
  const std::pair<const char*, em::Waves> kinds[] = {{"power", em::Waves::power},
                                                     {"pseudo", em::Waves::pseudo},
                                                     {"traveling", em::Waves::travelling}};
  for (int n = 1; n <= 5; ++n) {
    const std::string k = std::to_string(n);
    const Tensor s = in.at("s" + k), z0 = in.at("z" + k), other = in.at("other" + k);
    for (const auto& [name, waves] : kinds) {
      const em::Terminals t = em::terminals_of_s(s, z0, waves);
      const std::string of = k + "_" + name;
      out.push_back({"z" + of, em::z_of(t)});
      out.push_back({"y" + of, em::y_of(t)});
      out.push_back({"renormalized" + of, em::renormalized(s, z0, other, waves, waves)});
      if (n == 5) out.push_back({"looped" + of, em::join_ports(s, z0, {{1, 3}}, waves)});
      if (n != 2) continue;
      const Tensor zb = in.at("zb"), b = in.at("b");
      out.push_back({"chain" + of, em::cascade(s, z0, b, zb, waves)});
      out.push_back({"abcd" + of, em::abcd_of(t)});
    }
    out.push_back({"gain" + k, em::largest_gain(s)});
    out.push_back({"delay" + k, em::group_delay(s, in.at("f"))});
  }
  const Tensor r = in.at("r4"), s4 = in.at("s4");
  using Kind = data::NetworkMode::Kind;
  const std::vector<data::NetworkMode> modes = {{Kind::differential, 0, 1},
                                                {Kind::differential, 2, 3},
                                                {Kind::common, 0, 1},
                                                {Kind::common, 2, 3}};
  out.push_back({"mixed", em::s_of(em::to_modes(em::terminals_of_s(s4, r), modes),
                                   em::mode_references(r, modes))});
  const em::Terminals real_2 = em::terminals_of_s(in.at("s2"), in.at("r2"));
  out.push_back({"h", em::h_of(real_2)});
  out.push_back({"g", em::g_of(real_2)});
  data::write_npz(folder / "algebra.npz", out);
  std::printf("computed %zu arrays\n", out.size());
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc == 3 ? argv[1] : "";
  try {
    if (what == "write")
      write_files(argv[2]);
    else if (what == "read")
      read_files(argv[2]);
    else if (what == "algebra")
      compute(argv[2]);
    else
      return std::puts("usage: networks_bench write|read|algebra FOLDER"), 2;
  } catch (const std::exception& e) {
    std::cerr << e.what() << "\n";
    return 1;
  }
  return 0;
}
