// SPDX-License-Identifier: Apache-2.0
// The app inversion.mt1d: a folder of magnetotelluric soundings goes in, layered earths with their
// uncertainty come out.
#include "support/app.h"

#include "inversion/mt1d/batch.h"
#include "inversion/mt1d/derivatives.h"
#include "inversion/mt1d/example.h"
#include "inversion/mt1d/input.h"
#include "inversion/mt1d/options.h"
#include "inversion/mt1d/output.h"
#include "inversion/survey/input.h"
#include "tessera/data/log.h"
#include "tessera/data/manifest.h"
#include "tessera/data/metrics.h"
#include "tessera/data/run.h"
#include "tessera/data/vtk_xml.h"
#include "tessera/inversion/survey_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>
#include <set>

namespace tessera::apps::mt1d {
namespace {

/// The options, and the soundings as they are inverted.
struct Mt1dCase {
  Mt1dOptions options;
  Input input;
};

/// What is in order, and yet may not do what it was written for.
std::vector<data::Diagnostic> doubts(const data::Config& config, const Mt1dCase& c) {
  const Mt1dOptions& o = c.options;
  const std::size_t n_stations = c.input.survey.stations.size();
  const auto count_stations = [&](auto&& wanted) {
    std::size_t n = 0;
    for (std::size_t k = 0; k < n_stations; ++k) n += wanted(response_of(o, c.input, k));
    return n;
  };
  std::vector<data::Diagnostic> out;
  const auto doubt = [&](int number, std::string_view key, std::string message, std::string hint) {
    out.push_back(config.error(number, key, std::move(message), std::move(hint)));
    out.back().severity = data::Severity::warning;
  };
  constexpr int enough_layers = 100;  // for the error of the factor: docs/decisions/0030
  if (o.static_shift.enabled && o.static_shift.prior_std && o.layers < enough_layers)
    doubt(615, "static_shift.prior_std",
          fmt::format(
              "on {} layers the data seem to tell a static shift, because a shifted earth needs "
              "boundaries that are not there: its standard deviation is too small",
              o.layers),
          fmt::format("model.layers = {}", enough_layers));

  const inversion::SoundingInversionOptions options = inversion_options(o);
  for (const inversion::FixedRange& range : options.fixed) {
    const std::size_t n = count_stations([&](const inversion::Response& r) {
      const auto depths =
          inversion::choose_layering(inversion::without_reference_shift(r, options), options)
              .log10_depth;
      return std::none_of(depths.begin(), depths.end(),
                          [&](double d) { return range.contains(std::pow(10.0, d)); });
    });
    if (n)
      doubt(616, "model.fixed_top",
            fmt::format("in {} of {} soundings no layer has its middle between {:g} m and {:g} m: "
                        "nothing is fixed there",
                        n, n_stations, range.top_m, range.bottom_m),
            "more model.layers, or a thicker range");
  }
  if (o.least_resistivity)
    for (std::size_t i = 0; i < o.fixed_resistivity.size(); ++i)
      survey::doubt_known(
          config, "model.fixed_resistivity", fmt::format("fixed_resistivity of range {}", i + 1),
          o.fixed_resistivity[i], *o.least_resistivity, *o.greatest_resistivity, out);
  const survey::StaticShiftOptions& shift = o.static_shift;
  if (shift.enabled && shift.reference_resistivity && shift.reference_period) {
    const std::size_t n = count_stations([&](const inversion::Response& r) {
      const auto& f = r.frequency_hz;
      constexpr double about = 1.5;  // half-way to the next of two or three periods to a decade
      return *shift.reference_period * about < 1 / *std::max_element(f.begin(), f.end()) ||
             *shift.reference_period > about / *std::min_element(f.begin(), f.end());
    });
    if (n)
      doubt(617, "static_shift.reference_period",
            fmt::format("{:g} s lies outside of the periods of {} of {} soundings: their nearest "
                        "period takes its place",
                        *shift.reference_period, n, n_stations),
            "a period of all soundings; is it in seconds?");
  }
  const survey::IsChosen chosen = survey::chosen_in(config, mt1d_options());
  const auto in_vain = [&](const char* table, const char* key, bool here, const char* why) {
    const std::string name = fmt::format("{}.{}", table, key);
    if (here && chosen(name)) survey::doubt_in_vain(config, 618, name, why, out);
  };
  in_vain("inversion", "roughness_weight", o.method != inversion::Method::gauss_newton,
          "but with inversion.method = \"gauss_newton\"");
  in_vain("inversion", "target_rms",
          o.method == inversion::Method::gauss_newton &&
              o.posterior.method == inversion::PosteriorMethod::none,
          "with inversion.method = \"gauss_newton\" and without bands");
  in_vain("static_shift", "reference_period", shift.enabled && !shift.reference_resistivity,
          "without static_shift.reference_resistivity");
  in_vain("inversion", "huber_corner", o.misfit.kind != survey::Misfit::huber,
          "but with inversion.misfit = \"huber\"");
  for (const char* key : {"few_layers", "starts"})
    in_vain("inversion", key, o.method != inversion::Method::few_layer,
            "but with inversion.method = \"few_layer\"");
  for (const char* key : {"burn_in", "samples", "keep_every"})
    in_vain("posterior", key, o.posterior.method != inversion::PosteriorMethod::mcmc,
            "but with posterior.method = \"mcmc\"");
  survey::doubt_options(config, o.data, out);
  return out;
}

CheckReport check(const data::Config& config, const Mt1dCase& c) {
  const auto& [o, input] = c;
  CheckReport report;
  report.findings = input.findings;
  report.can_go_on = !input.survey.stations.empty();
  for (data::Diagnostic& d : doubts(config, c)) report.findings.push_back(std::move(d));
  for (std::size_t k = 0; k < input.survey.stations.size(); ++k) {
    const inversion::Station& station = input.survey.stations[k];
    const inversion::Response r = response_of(o, input, k);
    const auto [lo, hi] = std::minmax_element(r.frequency_hz.begin(), r.frequency_hz.end());
    report.lines.push_back(
        fmt::format("{}, skin depth {:.2g} to {:.2g} km, {}", survey::check_line(input, k),
                    inversion::skin_depth(*hi, inversion::typical_resistivity(r)) / 1000,
                    inversion::skin_depth(*lo, inversion::typical_resistivity(r)) / 1000,
                    input.survey.has_coordinates
                        ? fmt::format("{:.2f} km along the profile", station.distance_m / 1000)
                        : fmt::format("number {:.0f} of the profile", station.distance_m + 1)));
  }
  for (std::string& line : survey::strike_lines(input)) report.lines.push_back(std::move(line));
  for (const std::string& remark : input.survey.remarks) report.lines.push_back(remark);
  return report;
}

/// The most that a rank takes and sends: the results of its soundings, as large as those of some,
/// and a few bytes in each round.
RankShare share_of_rank(int ranks, const Mt1dCase& c, double seconds_of_sounding,
                        std::uint64_t bytes_of_sounding, std::uint64_t bytes_of_chains) {
  const auto& stations = c.input.survey.stations;
  const std::size_t n = stations.size(), most = (n + static_cast<std::size_t>(ranks) - 1) /
                                                static_cast<std::size_t>(ranks);
  double found = 0;
  const std::set<std::size_t> some{0, n / 4, n / 2, 3 * n / 4, n - 1};
  for (const std::size_t i : some) {
    inversion::SoundingInverter inverter(response_of(c.options, c.input, i),
                                         inversion_options(c.options));
    found += static_cast<double>(
                 bytes_of_result(inversion::station_result(stations[i], inverter.result()))) /
             static_cast<double>(some.size());
  }
  const auto mine = static_cast<double>(most);
  const double rounds = 1 + seconds_of_sounding * mine / seconds_of_round;
  return {.memory_bytes = (80u << 20) + most * bytes_of_sounding + bytes_of_chains,
          .sent_bytes = mine * found + rounds * static_cast<double>(bytes_of_round(ranks)),
          .messages = rounds};
}

Estimate estimate(const data::Config& config, const RunOptions& run, const Mt1dCase& c) {
  const auto& [o, input] = c;
  survey::require_stations(config, run.keep_going, input);
  Estimate e;
  const auto n = static_cast<std::uint64_t>(input.survey.stations.size());
  // One sounding, timed: the middle one of the profile, without its chain.
  const inversion::SoundingInversionOptions options = inversion_options(o);
  const inversion::Response middle = response_of(o, input, input.survey.stations.size() / 2);
  const auto begin = std::chrono::steady_clock::now();
  inversion::SoundingInverter inverter(middle, options);
  double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  std::uint64_t chain_bytes = 0;
  if (inverter.sampler()) {
    inversion::Chain chain = inverter.sampler()->start();
    const auto start = std::chrono::steady_clock::now();
    inverter.sampler()->advance(chain, 200);
    seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() /
               static_cast<double>(chain.step) *
               (static_cast<double>(o.posterior.burn_in) + o.posterior.samples);
    chain_bytes = static_cast<std::uint64_t>(o.posterior.samples / o.posterior.keep_every) *
                  chain.m.size() * sizeof(double);
  }
  const int threads = threads_for(input.survey.stations.size(), thread_count(run));
  e.seconds = seconds * static_cast<double>(n) / threads + 0.05 * static_cast<double>(n);
  const std::uint64_t record =
      8 * (30 * middle.size() + 10 * static_cast<std::uint64_t>(o.layers) + 400);
  e.memory_bytes = {{"program", 80u << 20},
                    {"soundings and results", n * record * 3},
                    {"chains", static_cast<std::uint64_t>(threads) * chain_bytes * 2}};
  if (run.estimated_ranks > 0)
    e.of_rank = share_of_rank(run.estimated_ranks, c, seconds / threads, record * 3,
                              static_cast<std::uint64_t>(threads) * chain_bytes * 2);
  e.disk_bytes = n * record * static_cast<std::uint64_t>(1 + run.keep_checkpoints) +
                 n * (o.pictures_of_soundings ? 400000u : 20000u);
  e.notes.push_back(fmt::format("{} soundings; one took {:.2g} s", n, seconds));
  return e;
}

/// The survey with what the models predict, in terms of its data: before a reference static shift.
inversion::Survey with_predictions(const Mt1dOptions& o, const Input& input,
                                   const BatchResult& batch) {
  inversion::Survey survey = input.survey;
  for (std::size_t n = 0; n < batch.results.size(); ++n) {
    const inversion::SoundingInversion& found = batch.results[n].result;
    const std::size_t k = batch.stations[n];
    if (found.predicted_ohm.empty()) continue;
    inversion::Response r = response_of(o, input, k);
    for (std::size_t i = 0; i < r.size(); ++i)
      r.impedance_ohm[i] *= found.predicted_ohm[i] / found.response.impedance_ohm[i];
    inversion::set_predicted(survey.data, k, element_of(o.response), r);
  }
  return survey;
}

data::ExitCode run(RunContext& context, const Mt1dCase& c) {
  const auto& [o, input] = c;
  for (const auto& d : input.findings)
    (d.severity == data::Severity::error ? context.log.error(data::to_string(d))
                                         : context.log.debug(data::to_string(d)));
  survey::require_stations(context.config, context.options.keep_going, input);
  for (const std::string& remark : input.survey.remarks) context.log.info(remark);
  context.manifest.seeds = {o.seed};

  const BatchResult batch = run_batch(context, o, input);
  if (batch.stopped) return data::ExitCode::stopped_resumable;
  const auto& results = batch.results;

  const auto& path = context.folder.path();
  std::string why_not;
  const bool vtk = data::vtk_xml_available(&why_not);
  if (!vtk) context.log.warning("no VTK XML files: " + why_not);
  write_results(path, results, input.survey.has_coordinates, vtk);
  write_tables(path, results, input.survey.has_coordinates);
  inversion::write_survey_csv(path / "data.csv", with_predictions(o, input, batch));
  draw(context.folder.plots(), results, input.survey.has_coordinates, o.pictures_of_soundings,
       context.manifest.threads);

  data::MetricsFile metrics(context.folder.metrics_csv(),
                            {"sounding", "rms", "dplus_rms", "iterations"});
  double sum = 0, worst = 0;
  bool aim_missed = results.size() < input.survey.stations.size();
  for (std::size_t i = 0; i < results.size(); ++i) {
    const auto& r = results[i].result;
    const std::vector<double> row{static_cast<double>(i), r.rms, r.bound.rms,
                                  static_cast<double>(r.iterations.size())};
    metrics.row(row);
    sum += r.rms * r.rms;
    worst = std::max(worst, r.rms);
    aim_missed = aim_missed || (r.reason != inversion::Reason::target_reached &&
                                r.reason != inversion::Reason::converged);
  }
  metrics.sync();
  const double rms = std::sqrt(sum / static_cast<double>(results.size()));
  context.manifest.metrics = {
      {"soundings", static_cast<double>(results.size())}, {"rms", rms}, {"rms_worst", worst}};
  context.log.info(fmt::format("{} soundings, RMS {:.3f} over all, {:.3f} at worst", results.size(),
                               rms, worst));
  bool expectation_missed = false;
  const auto expected = [&](bool met, const std::string& what) {
    if (met) return;
    expectation_missed = true;
    context.log.error("the case expects " + what);
  };
  if (o.expect.rms_max)
    expected(worst <= *o.expect.rms_max,
             fmt::format("an RMS of at most {}, the largest is {:.4g}", *o.expect.rms_max, worst));
  if (o.expect.soundings)
    expected(results.size() == static_cast<std::size_t>(*o.expect.soundings),
             fmt::format("{} soundings, {} were inverted", *o.expect.soundings, results.size()));
  return aim_missed || expectation_missed ? data::ExitCode::not_converged : data::ExitCode::ok;
}

PreparedCase prepare(const AppContext& context) {
  const Mt1dOptions options = read_options(context.config);
  const auto c = std::make_shared<const Mt1dCase>(Mt1dCase{options, read_input(options)});
  const data::Config& config = context.config;
  return {.inputs = survey::files_of(c->input),
          .check = [&config, c] { return check(config, *c); },
          .estimate = [&config, run = context.options, c] { return estimate(config, run, *c); },
          .run = [c](RunContext& to) { return run(to, *c); },
          .help = [c](HelpContext& with) { help_with_batch(with, c->options, c->input); },
          .derivatives =
              [&config, run = context.options, c] {
                survey::require_stations(config, run.keep_going, c->input);
                return derivatives(c->options, c->input);
              }};
}

std::vector<std::filesystem::path> plot(const std::filesystem::path& run_dir) {
  bool has_coordinates = false;
  const auto results = read_results(run_dir / "results.h5", has_coordinates);
  return draw(run_dir / "plots", results, has_coordinates, true, 2);
}

}  // namespace

App app() {
  return {.summary =
              "1-D inversion of magnetotelluric soundings: layered earths with uncertainty from "
              "EDI, EMTF XML, J and Z files",
          .options = mt1d_options(),
          .prepare = prepare,
          .make_example = make_example,
          .plot = plot,
          .derivatives = true,
          .may_change = {"output", "expect"}};
}

}  // namespace tessera::apps::mt1d
