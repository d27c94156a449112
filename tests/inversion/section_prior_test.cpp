// SPDX-License-Identifier: Apache-2.0
//
// A learnt prior of sections: its losses beside their formulas, training, files, derivatives.
#include "tessera/inversion/section_prior.h"

#include "tessera/autodiff/check.h"
#include "tessera/autodiff/error.h"
#include "tessera/autodiff/grad.h"
#include "tessera/autodiff/ops.h"
#include "tessera/data/diagnostic.h"
#include "tessera/data/safetensors.h"
#include "tessera/inversion/geology.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

namespace tessera::inversion {
namespace {

Tensor drawn_sections(Index n, Index rows, Index columns) {
  const Geology g{.rows = rows,
                  .columns = columns,
                  .events = {{.kind = Event::Kind::layers, .count = {2, 3}},
                             {.kind = Event::Kind::fault, .probability = 0.5}}};
  std::vector<float> all;
  for (Index k = 0; k < n; ++k)
    for (const float v : draw_section(g, {3, static_cast<std::uint64_t>(k)})) all.push_back(v);
  return from_span<float>(std::span<const float>(all), {n, rows, columns});
}
SectionPrior small(Dtype type = Dtype::f32) {
  return section_prior(
      random_key(1),
      {.section = {8, 16}, .widths = {4, 8}, .codes = 6, .noise = 0.3, .dtype = type}, 2, 1.2);
}

TEST(SectionPrior, LossesAreThoseOfTheirFormulas) {
  const SectionPrior p = small(Dtype::f64);
  const Tensor x = cast(drawn_sections(5, 8, 16), Dtype::f64);
  const Tensor keys = split_key(random_key(2), 5);
  const auto [loss, moved] = training_loss(p, {x, keys});
  const auto t = p.net.train((x - 2.0) / 1.2, keys, p.seen);
  const auto y = t.y.to_vector(), at = x.to_vector(), m = t.code.mean.to_vector(),
             l = t.code.log_variance.to_vector();
  double expected = 0;
  for (std::size_t k = 0; k < y.size(); ++k)
    expected += std::pow(at[k] - (1.2 * y[k] + 2), 2) / (2 * 0.09) / static_cast<double>(y.size());
  for (std::size_t k = 0; k < m.size(); ++k)
    expected += 0.5 * (std::exp(l[k]) + m[k] * m[k] - 1 - l[k]) / static_cast<double>(y.size());
  EXPECT_NEAR(loss.item(), expected, 1e-12 * expected);
  EXPECT_EQ(moved.seen[0].mean.to_vector(), t.statistics[0].mean.to_vector());

  const auto [judged, beside] = validation_loss(p, {x, keys});
  const Tensor error = p.decode(p.encode(x)) - x;
  EXPECT_NEAR(beside[0].item(), mean(square(error)).item(), 1e-12);
  EXPECT_NEAR(beside[1].item(), mean(square(p.encode(x))).item(), 1e-12);
  EXPECT_GT(judged.item(), beside[0].item() / (2 * 0.09));
}

TEST(SectionPrior, LearnsWhatItSees) {
  const Tensor all = drawn_sections(256, 8, 16);
  SectionPrior p = small();
  solvers::FitOptions o{
      .epochs = 12, .batch = 32, .rate = constant_rate(3e-3), .rules = frozen_leaves()};
  auto state = solvers::begin_fit(p, o);
  const auto train = solvers::in_memory(slice(all, 0, 0, 224)),
             held = solvers::in_memory(slice(all, 0, 224, 256));
  const auto end = solvers::fit(training_loss, validation_loss, state, train, held, o);
  EXPECT_EQ(end.reason, solvers::FitEnd::Reason::all_epochs);
  ASSERT_EQ(state.curves.size(), 12u);
  EXPECT_LT(state.curves.back().validation, 0.5 * state.curves.front().validation);
  EXPECT_LT(state.curves.back().metrics[0], 0.5);  // of sections that scatter by 1.2 decades
  // What the norms have seen has moved, and is no trained leaf's affair.
  EXPECT_NE(state.params.seen[0].mean.to_vector<float>(), p.seen[0].mean.to_vector<float>());
}

TEST(SectionPrior, FilesAreReadBack) {
  const auto file = std::filesystem::temp_directory_path() / "tessera_section_prior.safetensors";
  SectionPrior p = small();
  p.aspect = 3.5;
  write_section_prior(file, p);
  const SectionPrior q = read_section_prior(file);
  EXPECT_EQ(q.noise, p.noise);
  EXPECT_EQ(q.centre, p.centre);
  EXPECT_EQ(q.scale, p.scale);
  EXPECT_EQ(q.aspect, p.aspect);
  // With a flow, whose weights say something; the encoder's codes are behind it.
  SectionPrior flowing = p;
  flowing.flow = code_flow(random_key(6), 6, {.couplings = 3, .width = 5});
  for (Coupling& c : flowing.flow.couplings)
    c.net.layers.back().w = 0.1 * normal(random_key(7), c.net.layers.back().w.shape(), Dtype::f32);
  write_section_prior(file, flowing);
  const SectionPrior back = read_section_prior(file);
  ASSERT_EQ(back.flow.couplings.size(), 3u);
  const Tensor u = normal(random_key(8), {3, 6}, Dtype::f32);
  EXPECT_EQ(back.decode(u).to_vector<float>(), flowing.decode(u).to_vector<float>());
  EXPECT_EQ(back.decode(u).to_vector<float>(),
            p.decode(flowing.flow.codes_of(u)).to_vector<float>());
  const Tensor x = drawn_sections(3, 8, 16);
  EXPECT_EQ(back.encode(x).to_vector<float>(),
            flowing.flow.normals(p.encode(x)).first.to_vector<float>());
  write_section_prior(file, p);
  const Tensor z = normal(random_key(4), {3, 6}, Dtype::f32);
  EXPECT_EQ(q.decode(z).to_vector<float>(), p.decode(z).to_vector<float>());

  EXPECT_FALSE(read_prior_calibration(file));
  const PriorCalibration shown{
      full({8, 16}, 0.125), {full({3, 6}, 0.5), full({3, 8, 16}, 0.25)}, 0.7};
  write_section_prior(file, p, shown);
  const auto c = read_prior_calibration(file);
  ASSERT_TRUE(c);
  EXPECT_EQ(c->error_length, 0.7);
  for (const auto which : {&HeldOut::codes, &HeldOut::errors})
    EXPECT_EQ((c->held_out.*which).to_vector<float>(),
              cast(shown.held_out.*which, Dtype::f32).to_vector<float>());
  EXPECT_EQ(c->cell_error.to_vector(), shown.cell_error.to_vector());
  EXPECT_EQ(read_section_prior(file).decode(z).to_vector<float>(), p.decode(z).to_vector<float>());
  {
    const data::Safetensors all = data::read_safetensors(file);
    auto words = all.metadata;
    words["calibration.error_length"] = "0";
    data::write_safetensors(file, all.tensors, words);
    EXPECT_THROW(read_prior_calibration(file), data::InputError);
    auto fewer = all.tensors;
    fewer.pop_back();
    data::write_safetensors(file, fewer, all.metadata);
    EXPECT_THROW(read_prior_calibration(file), data::InputError);
    for (const double bad : {0.0, std::nan(""), HUGE_VAL}) {
      PriorCalibration not_known = shown;
      not_known.cell_error = full({8, 16}, bad);
      write_section_prior(file, p, not_known);
      EXPECT_THROW(read_prior_calibration(file), data::InputError) << bad;
    }
    PriorCalibration not_finite = shown;
    not_finite.held_out.codes = full({3, 6}, std::nan(""));
    write_section_prior(file, p, not_finite);
    EXPECT_THROW(read_prior_calibration(file), data::InputError);
  }
  write_section_prior(file, p);

  const auto refused = [&](const char* why) {
    try {
      read_section_prior(file);
      FAIL() << why;
    } catch (const data::InputError& e) {
      EXPECT_EQ(e.findings().front().number, 692);
      EXPECT_NE(std::string(e.what()).find(why), std::string::npos) << e.what();
    }
  };
  const data::Safetensors s = data::read_safetensors(file);
  data::write_safetensors(file, s.tensors);
  refused("'format'");
  auto words = s.metadata;
  words["codes"] = "7";
  data::write_safetensors(file, s.tensors, words);
  refused("of other sizes");
  words["codes"] = "many";
  data::write_safetensors(file, s.tensors, words);
  refused("codes is 'many'");
  words = s.metadata;
  words["section"] = "9 16";
  data::write_safetensors(file, s.tensors, words);
  refused("2^levels");
  std::filesystem::remove(file);
}

TEST(SectionPrior, TheGeneratorHasExactDerivatives) {
  const SectionPrior p = small(Dtype::f64);
  const Generator g = generator_of(p);
  EXPECT_EQ(g.codes, 6);
  EXPECT_EQ(g.model, (Shape{8, 16}));
  const Tensor z = normal(random_key(5), {6});
  EXPECT_EQ(g.decode(z).shape(), (Shape{8, 16}));
  EXPECT_EQ(jacfwd(g.decode)(z).shape(), (Shape{8, 16, 6}));
  const auto decode = [&](const Tensor& c) { return g.decode(c); };
  const CheckReport report = gradcheck(decode, z, {.order = 2});
  EXPECT_TRUE(report) << to_string(report);
  EXPECT_NEAR(g.log_prior(z).item(), -0.5 * sum(square(z)).item(), 1e-15);
}

TEST(SectionPrior, WhatIsNoPriorIsRefused) {
  EXPECT_THROW(section_prior(random_key(1), {.section = {8, 12}}, 0, 1), Error);  // 12 / 8
  EXPECT_THROW(section_prior(random_key(1), {.section = {8}}, 0, 1), Error);
  EXPECT_THROW(section_prior(random_key(1), {.noise = 0}, 0, 1), Error);
  EXPECT_THROW(section_prior(random_key(1), {}, 0, 0), Error);
  EXPECT_THROW(section_prior(random_key(1), {}, std::nan(""), 1), Error);
}

}  // namespace
}  // namespace tessera::inversion
