// SPDX-License-Identifier: Apache-2.0
#include "tessera/inversion/forward_2d.h"

#include "csv_columns.h"
#include "layered_table.h"
#include "measured.h"
#include "tessera/autodiff/check.h"
#include "tessera/autodiff/error.h"
#include "tessera/autodiff/ops.h"
#include "tessera/inversion/constants.h"
#include "tessera/inversion/elements_2d.h"
#include "test_data.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <numbers>

namespace tessera::inversion {
namespace {

constexpr double pi = std::numbers::pi;

/// Linear elements in one dimension with their flux at the ground, by elimination from the bottom:
/// what a section without change along y has to give, to rounding. (In extended precision: the
/// elimination loses as many digits as there are cells to a skin depth.)
Complex column_impedance(bool te, const std::vector<double>& z, const std::vector<double>& rho,
                         double frequency) {
  using Long = std::complex<long double>;
  const Long iw(0, 2 * std::numbers::pi_v<long double> * frequency * mu0);
  // s: what the part below asks of its upper node, (flux out of its top) = s u_top
  Long s = te ? std::sqrt(iw / Long(rho.back())) : std::sqrt(iw * Long(rho.back()));
  for (std::size_t k = rho.size(); k-- > 0;) {
    const long double h = z[k + 1] - z[k], r = rho[k];
    const Long stiff = (te ? 1 : r) / h, mass = iw * ((te ? 1 / r : 1) * h);
    const Long own = stiff + mass / 3.0L, other = mass / 6.0L - stiff;
    s = own - other * other / (own + s);
  }
  return Complex(te ? iw / s : -s);  // Ex / Hy with i w mu0 Hy = -dEx/dz; Ey / Hx, Ey = rho dHx/dz
}

TEST(Forward2d, ColumnsAlikeAreTheirColumnToRounding) {
  if (!std::filesystem::exists(testing::test_data() / "mt/reference/layered1d.csv"))
    GTEST_SKIP() << "no test data";
  double worst_te = 0, worst_tm = 0, worst_tipper = 0;
  Off te_off, tm_off;
  for (const auto& [name, model] : layered_table()) {
    const auto size = [](double z) {
      return z < 0 ? std::max(5.0, -0.5 * z) : std::max(1.0, 0.05 * z);
    };
    std::vector<double> levels = depths(model);
    levels.insert(levels.begin(), -3e5);
    levels.push_back(2e6);
    const std::vector<double> z = graded_axis(levels, size),
                              y = graded_axis({-2e5, 0, 2e5}, [](double x) {
                                return std::max(500.0, 0.4 * std::abs(x));
                              });
    const Mesh2d mesh = tensor_mesh(y, z, std::vector{0.0}, layers_of(model));
    const Forward2d forward(mesh, sensors_on(mesh, 0, {-3000, 0, 130.5, 7000}), model.frequency);
    const Responses2d r = forward(ln(model.rho));
    const auto te = r.te.to_vector<c128>(), tm = r.tm.to_vector<c128>(),
               tipper = r.tipper.to_vector<c128>();
    std::vector<double> below, rho;
    for (const double d : z)
      if (d >= 0) below.push_back(d);
    for (std::size_t k = 0; k + 1 < below.size(); ++k)
      rho.push_back(model.rho[layers_of(model)(0, (below[k] + below[k + 1]) / 2).parameter]);
    for (std::size_t f = 0; f < model.frequency.size(); ++f) {
      const Complex column_te = column_impedance(true, below, rho, model.frequency[f]),
                    column_tm = column_impedance(false, below, rho, model.frequency[f]);
      for (std::size_t s = 0; s < 4; ++s) {
        worst_te = std::max(worst_te, std::abs(te[f * 4 + s] / column_te - 1.0));
        worst_tm = std::max(worst_tm, std::abs(tm[f * 4 + s] / column_tm - 1.0));
        worst_tipper = std::max(worst_tipper, std::abs(tipper[f * 4 + s]));
        te_off.add(te[f * 4 + s], model.z[f]);
        tm_off.add(-tm[f * 4 + s], model.z[f]);
      }
    }
    std::printf(
        "%s: %ld nodes, TE %.1e TM %.1e tipper %.1e, beside the table TE %.2e %.3f TM %.2e %.3f\n",
        name.c_str(), mesh.vertices(), worst_te, worst_tm, worst_tipper, te_off.rho_a, te_off.phase,
        tm_off.rho_a, tm_off.phase);
  }
  test::measured("te", worst_te);
  test::measured("tm", worst_tm);
  test::measured("tipper", worst_tipper);
  EXPECT_LE(worst_te, 1e-10);
  EXPECT_LE(worst_tm, 1e-10);
  EXPECT_LE(worst_tipper, 1e-10);
  EXPECT_LE(te_off.rho_a, 0.003);
  EXPECT_LE(tm_off.rho_a, 0.003);
  EXPECT_LE(te_off.phase, 0.1);
  EXPECT_LE(tm_off.phase, 0.1);
}

std::map<std::string, std::vector<std::string>> text_columns(const std::filesystem::path& file) {
  std::ifstream in(file);
  std::string line;
  std::getline(in, line);
  const auto names = testing::csv_split(line);
  std::map<std::string, std::vector<std::string>> out;
  while (std::getline(in, line)) {
    auto cells = testing::csv_split(line);
    cells.resize(names.size());
    for (std::size_t k = 0; k < names.size(); ++k) out[names[k]].push_back(cells[k]);
  }
  return out;
}

TEST(Forward2d, LayersOnBentQuadrilaterals) {
  if (!std::filesystem::exists(layered_table_file())) GTEST_SKIP() << "no test data";
  const Layered model = layered_table().at("K3");  // 500 m, 1000 m, half-space
  const auto wavy = [](double level, double amplitude) {
    return Level2d{level, [=](double y) { return level + amplitude * std::sin(y / 700); }};
  };
  for (const int order : {1, 2}) {
    const double fine = order == 1 ? 0.5 : 1;
    const std::vector<double> y = graded_axis({-3e4, 0, 3e4},
                                              [&](double x) {
                                                return fine * std::max(200.0, 0.3 * std::abs(x));
                                              }),
                              z = graded_axis({-5e4, -2000, 0, 250, 500, 1000, 1500, 6000, 8e4},
                                              [&](double x) {
                                                return fine * (x < 0 ? std::max(30.0, -0.4 * x)
                                                                     : std::max(15.0, 0.12 * x));
                                              });
    const Mesh2d mesh =
        bent(tensor_mesh(y, z, std::vector{0.0}, layers_of(model)), {{-5e4},
                                                                     wavy(-2000, 300),
                                                                     {0},
                                                                     wavy(250, 60),
                                                                     {500},
                                                                     wavy(1000, 120),
                                                                     {1500},
                                                                     wavy(6000, 500),
                                                                     {8e4}});
    std::vector<double> frequency;
    std::vector<Complex> expected;
    for (std::size_t f = 0; f < model.frequency.size(); f += 2)
      if (model.frequency[f] > 0.9 && model.frequency[f] < 110) {
        frequency.push_back(model.frequency[f]);
        expected.push_back(model.z[f]);
      }
    const Responses2d r = Forward2d(mesh, sensors_on(mesh, 0, {-900, 0, 450}), frequency,
                                    {.order = order})(ln(model.rho));
    const auto te = r.te.to_vector<c128>(), tm = r.tm.to_vector<c128>();
    Off off;
    for (std::size_t k = 0; k < te.size(); ++k) {
      off.add(te[k], expected[k / 3]);
      off.add(-tm[k], expected[k / 3]);
    }
    const std::string name = "Q" + std::to_string(order);
    test::measured(name + "_nodes", static_cast<double>(space_2d(mesh, order).nodes()));
    test::measured(name + "_rho_a", off.rho_a);
    test::measured(name + "_phase", off.phase);
    test::measured(name + "_tipper", max(abs(r.tipper)).item());
    EXPECT_LE(off.rho_a, 0.003);
    EXPECT_LE(off.phase, 0.1);
    EXPECT_LE(max(abs(r.tipper)).item(), 3e-3);
  }
}

TEST(Forward2d, ColumnsAlikeDoNotAskWhatIsGivenAbove) {
  const std::vector<double> y = graded_axis(
                                {-2e4, 0, 2e4},
                                [](double x) { return std::max(1000.0, 0.5 * std::abs(x)); }),
                            z = graded_axis({-5e4, 0, 500, 3e4}, [](double x) {
                              return std::max(50.0, 0.3 * std::abs(x));
                            });
  const Mesh2d mesh = tensor_mesh(y, z, std::vector{0.0}, [](double, double at) {
    return at < 0 ? air() : Medium2d{.parameter = at < 500 ? 0 : 1};
  });
  const Sensors2d sensors = sensors_on(mesh, 0, {-1500, 400});
  for (const Sides2d sides : {Sides2d::columns, Sides2d::mirror}) {
    const auto responses = [&](Top2d top) {
      return Forward2d(mesh, sensors, {10, 0.1},
                       {.order = 2, .tm = false, .sides = sides, .top = top})(ln({100, 5}));
    };
    const Responses2d magnetic = responses(Top2d::magnetic), electric = responses(Top2d::electric);
    EXPECT_LE(max(abs(electric.te / magnetic.te - 1.0)).item(), 1e-10);
    EXPECT_LE(max(abs(electric.tipper)).item(), 1e-10);
  }
}

TEST(Forward2d, FourCellsOneSensorAndNothingToFind) {
  const std::vector<double> y{-1000, 0, 1000}, z{-1000, 0, 1000};
  const auto given = [](double, double at) { return at < 0 ? air() : Medium2d{.ohm_m = 10}; };
  const auto found = [](double, double at) { return at < 0 ? air() : Medium2d{.parameter = 0}; };
  const Mesh2d all_given = tensor_mesh(y, z, std::vector{0.0}, given),
               one = tensor_mesh(y, z, std::vector{0.0}, found);
  const Sensors2d sensors = sensors_on(one, 0, {0});
  const Forward2d of_given(all_given, sensors, {0.01}), of_one(one, sensors, {0.01});
  EXPECT_EQ(of_given.parameters(), 0);
  const Responses2d a = of_given(zeros({0})), b = of_one(ln({10}));
  for (const auto& [x, w] : {std::pair(a.te, b.te), std::pair(a.tm, b.tm)})
    EXPECT_LE(max(abs(x / w - 1.0)).item(), 1e-14);
  // 1 km cells under a skin depth of 16 km: the half-space's own impedance to some per cent
  EXPECT_LE(
      std::abs(std::norm(Complex(a.te.to_vector<c128>()[0])) / (2 * pi * 0.01 * mu0) / 10 - 1),
      0.02);
  EXPECT_EQ(of_given.jacobian(zeros({0})).te.shape(), (Shape{1, 1, 0}));
  EXPECT_EQ(of_given.fields(zeros({0})).ex.shape(), (Shape{1, 9}));
}

TEST(Forward2d, RefusesWhatCannotBeRight) {
  const std::vector<double> y{-1000, 0, 1000}, z{-1000, 0, 1000};
  const auto medium = [](double, double at) { return at < 0 ? air() : Medium2d{.parameter = 0}; };
  const Mesh2d mesh = tensor_mesh(y, z, std::vector{0.0}, medium);
  const auto refused = [](const std::function<void()>& call, const std::string& word) {
    try {
      call();
      ADD_FAILURE() << "accepted: " << word;
    } catch (const Error& e) {
      EXPECT_NE(std::string(e.what()).find(word), std::string::npos) << e.what();
    }
  };
  const Sensors2d good = sensors_on(mesh, 0, {100});
  refused([&] { Forward2d(mesh, {.y = {100}, .z = {5}}, {1}); },
          "lies off the mesh's lines, the nearest by 5");
  refused([&] { Forward2d(mesh, {.y = {2000}, .z = {0}}, {1}); }, "has no line of the mesh");
  refused([&] { Forward2d(mesh, good, {0}); }, "frequencies must be positive");
  refused([&] { Forward2d(mesh, good, {}); }, "needs a frequency and a sensor");
  refused([&] { Forward2d(mesh, good, {1}, {.order = 3}); }, "order 1 or 2");
  refused([&] { (void)Forward2d(mesh, good, {1})(ln({1, 2})); }, "the mesh has 1 parameters");
  refused([&] { (void)Forward2d(mesh, good, {1}).linear_errors(ln({1})); }, "order 2");
  refused([&] { sensors_on(mesh, 1, {0}); }, "there is no line 1");
  const Mesh2d solid =
      tensor_mesh(y, z, std::vector{0.0}, [](double, double) { return Medium2d{.parameter = 0}; });
  refused([&] { Forward2d(solid, good, {1}); }, "TE needs the air");
  const Mesh2d cave = tensor_mesh(y, std::vector<double>{-1000, 0, 500, 700, 1000},
                                  std::vector{0.0}, [](double at, double depth) {
                                    return depth < 0 || (depth > 500 && depth < 700 && at < 0)
                                               ? air()
                                               : Medium2d{.parameter = 0};
                                  });
  refused([&] { Forward2d(cave, good, {1}); }, "is shut in");
  EXPECT_NO_THROW(Forward2d(cave, good, {1}, {.tm = false}));
}

TEST(Forward2d, VerticalContactInTm) {
  const auto file = testing::test_data() / "mt/reference/quarterspace_tm_exact.csv";
  if (!std::filesystem::exists(file)) GTEST_SKIP() << "no test data";
  const auto table = text_columns(file);
  const std::vector<double> y =
      graded_axis({-1.5e5, 0, 1.5e5}, [](double x) { return std::max(20.0, 0.12 * std::abs(x)); });
  const std::vector<double> z =
      graded_axis({0, 1e4}, [](double x) { return std::max(40.0, 0.12 * x); });
  const Mesh2d mesh = tensor_mesh(y, z, std::vector{0.0}, [](double at, double) {
    return Medium2d{.parameter = at < 0 ? 0 : 1};
  });
  EXPECT_LE(space_2d(mesh, 2).nodes(), 30000);
  Off off;
  int compared = 0;
  for (const double frequency : {0.1, 0.001}) {
    std::vector<double> at;
    std::vector<Complex> expected;
    for (std::size_t k = 0; k < table.at("y_m").size(); ++k) {
      const double distance = std::stod(table.at("y_m")[k]);
      if (std::stod(table.at("freq_hz")[k]) != frequency || std::abs(distance) < 1000) continue;
      at.push_back(distance);
      expected.emplace_back(std::stod(table.at("ReZ_ohm")[k]), std::stod(table.at("ImZ_ohm")[k]));
    }
    const Forward2d forward(mesh, sensors_on(mesh, 0, at), {frequency},
                            {.order = 2, .te = false, .base = Base2d::conductor});
    const auto tm = forward(ln({10, 100})).tm.to_vector<c128>();
    for (std::size_t k = 0; k < at.size(); ++k, ++compared) off.add(-tm[k], expected[k]);
  }
  EXPECT_EQ(compared, 24);
  test::measured("nodes", static_cast<double>(space_2d(mesh, 2).nodes()));
  test::measured("rho_a", off.rho_a);
  test::measured("phase_deg", off.phase);
  EXPECT_LE(off.rho_a, 0.001);
  EXPECT_LE(off.phase, 0.05);
}

TEST(Forward2d, Commemi2d1) {
  const auto file = testing::test_data() / "mt/reference/commemi2d1.csv";
  if (!std::filesystem::exists(file)) GTEST_SKIP() << "no test data";
  const auto table = text_columns(file);
  const auto fine = [](double near, double rate, std::vector<double> at) {
    return [=](double x) {
      double d = 1e9;
      for (const double a : at) d = std::min(d, std::abs(x - a));
      return std::max(near, rate * d);
    };
  };
  const auto y_size = fine(15, 0.25, {-500, 500}), z_size = fine(15, 0.25, {250, 2250}),
             air_size = fine(15, 0.35, {0});
  const std::vector<double> y = graded_axis({-4e4, -500, 0, 500, 4e4}, y_size),
                            z = graded_axis({-6e4, 0, 250, 2250, 3e4}, [&](double x) {
                              return x < 0 ? air_size(x)
                                           : std::min(z_size(x), x < 1000 ? 60.0 : 1e9);
                            });
  const Mesh2d mesh = tensor_mesh(y, z, std::vector{0.0}, [](double at, double depth) {
    if (depth < 0) return air();
    return Medium2d{.parameter = std::abs(at) < 500 && depth > 250 && depth < 2250 ? 1 : 0};
  });
  std::vector<double> at;
  for (std::size_t k = 0; k < 7; ++k) at.push_back(std::stod(table.at("y_m")[k]));
  const Forward2d forward(mesh, sensors_on(mesh, 0, at), {10}, {.order = 2});
  const Responses2d r = forward(ln({100, 0.5}));
  const auto te = r.te.to_vector<c128>(), tm = r.tm.to_vector<c128>();
  double worst = 0, phase = 0;  // worst in units of the table's own tolerance
  for (std::size_t k = 0; k < table.at("y_m").size(); ++k) {
    const bool is_te = table.at("mode")[k] == "TE";
    const Complex z_got = is_te ? Complex(te[k]) : -Complex(tm[k - 7]);
    const double rho = std::norm(z_got) / (2 * pi * 10 * mu0), degrees = std::arg(z_got) * 180 / pi;
    const double expected = std::stod(table.at("rhoa_converged_ours")[k]);
    std::printf("%s y %6.0f rho_a %8.3f (%8.3f) phase %7.3f (%s)\n", is_te ? "TE" : "TM", at[k % 7],
                rho, expected, degrees, table.at("phase_converged_ours_deg")[k].c_str());
    worst = std::max(worst,
                     std::abs(rho / expected - 1) / std::stod(table.at("tol_rel_vs_converged")[k]));
    phase = std::max(phase, std::abs(degrees - std::stod(table.at("phase_converged_ours_deg")[k])));
  }
  test::measured("nodes", static_cast<double>(space_2d(mesh, 2).nodes()));
  test::measured("rho_a_in_tolerances", worst);
  test::measured("phase_deg", phase);
  EXPECT_LE(worst, 1);
  EXPECT_LE(phase, 1);
}

}  // namespace
}  // namespace tessera::inversion
