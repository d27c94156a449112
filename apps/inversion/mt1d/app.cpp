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
#include "tessera/data/log.h"
#include "tessera/data/manifest.h"
#include "tessera/data/metrics.h"
#include "tessera/data/run.h"
#include "tessera/data/vtk_xml.h"

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

bool given(const data::Config& config, std::string_view table, std::string_view key) {
  const data::Member* in = data::find(config.table(), table);
  const auto* keys = in ? in->value.get<data::Table>() : nullptr;
  return keys && data::find(*keys, key);
}

/// What is in order, and yet may not do what it was written for.
std::vector<data::Diagnostic> doubts(const data::Config& config, const Mt1dCase& c) {
  const Mt1dOptions& o = c.options;
  const std::vector<inversion::Station>& stations = c.input.survey.stations;
  std::vector<data::Diagnostic> out;
  const auto doubt = [&](int number, std::string_view key, std::string message, std::string hint) {
    out.push_back(config.error(number, key, std::move(message), std::move(hint)));
    out.back().severity = data::Severity::warning;
  };
  constexpr int enough_layers = 100;  // for the error of the factor: docs/decisions/0030
  if (o.static_shift && o.static_shift_std && o.layers < enough_layers)
    doubt(615, "static_shift.prior_std",
          fmt::format(
              "on {} layers the data seem to tell a static shift, because a shifted earth needs "
              "boundaries that are not there: its standard deviation is too small",
              o.layers),
          fmt::format("model.layers = {}", enough_layers));

  const inversion::SoundingInversionOptions options = inversion_options(o, 0);
  for (const inversion::FixedRange& range : options.fixed) {
    const auto n = std::count_if(stations.begin(), stations.end(), [&](const auto& station) {
      const auto depths =
          inversion::choose_layering(inversion::without_reference_shift(station.response, options),
                                     options)
              .log10_depth;
      return std::none_of(depths.begin(), depths.end(),
                          [&](double d) { return range.contains(std::pow(10.0, d)); });
    });
    if (n)
      doubt(616, "model.fixed_top",
            fmt::format("in {} of {} soundings no layer has its middle between {:g} m and {:g} m: "
                        "nothing is fixed there",
                        n, stations.size(), range.top_m, range.bottom_m),
            "more model.layers, or a thicker range");
  }
  if (o.static_shift && o.static_shift_resistivity && o.static_shift_period) {
    const auto n = std::count_if(stations.begin(), stations.end(), [&](const auto& station) {
      const auto& f = station.response.frequency_hz;
      constexpr double about = 1.5;  // half-way to the next of two or three periods to a decade
      return *o.static_shift_period * about < 1 / *std::max_element(f.begin(), f.end()) ||
             *o.static_shift_period > about / *std::min_element(f.begin(), f.end());
    });
    if (n)
      doubt(617, "static_shift.reference_period",
            fmt::format("{:g} s lies outside of the periods of {} of {} soundings: their nearest "
                        "period takes its place",
                        *o.static_shift_period, n, stations.size()),
            "a period of all soundings; is it in seconds?");
  }
  if (!given(config, "static_shift", "enabled"))
    for (const char* key : {"prior_std", "reference_resistivity", "reference_period"})
      if (given(config, "static_shift", key))
        doubt(618, std::string("static_shift.") + key,
              fmt::format("{} has no effect without static_shift.enabled = true", key),
              "give it, or static_shift.enabled = false where that is meant");
  return out;
}

CheckReport check(const data::Config& config, const Mt1dCase& c) {
  const auto& [o, input] = c;
  CheckReport report;
  report.findings = input.findings;
  report.can_go_on = !input.survey.stations.empty();
  for (data::Diagnostic& d : doubts(config, c)) report.findings.push_back(std::move(d));
  for (const inversion::Station& station : input.survey.stations) {
    const auto& r = station.response;
    const auto [lo, hi] = std::minmax_element(r.frequency_hz.begin(), r.frequency_hz.end());
    report.lines.push_back(fmt::format(
        "{:<12} {:<14} {:3} periods {:.3g} to {:.3g} s, {} in {}, skin depth {:.2g} to {:.2g} km, "
        "{}",
        station.id, station.sounding.format, r.size(), 1 / *hi, 1 / *lo,
        station.sounding.source_sign == inversion::TimeSign::plus ? "exp(+i w t)" : "exp(-i w t)",
        station.sounding.source_units == inversion::ImpedanceUnits::ohm ? "ohm" : "mV/km/nT",
        inversion::skin_depth(*hi, inversion::typical_resistivity(r)) / 1000,
        inversion::skin_depth(*lo, inversion::typical_resistivity(r)) / 1000,
        input.survey.has_coordinates
            ? fmt::format("{:.2f} km along the profile", station.distance_m / 1000)
            : fmt::format("number {:.0f} of the profile", station.distance_m + 1)));
  }
  for (const std::string& remark : input.survey.remarks) report.lines.push_back(remark);
  return report;
}

/// Throws the errors of the files, unless these may be left out and others remain.
void require_soundings(const data::Config& config, const RunOptions& run, const Input& input) {
  std::vector<data::Diagnostic> errors;
  for (const auto& d : input.findings)
    if (d.severity == data::Severity::error) errors.push_back(d);
  if (!input.survey.stations.empty() && (errors.empty() || run.keep_going)) return;
  if (errors.empty())
    errors.push_back(config.error(612, {}, "there is no sounding to invert", "see data.files"));
  throw data::InputError(data::ExitCode::input_invalid, std::move(errors));
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
    inversion::SoundingInverter inverter(stations[i].response, inversion_options(c.options, 0));
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
  require_soundings(config, run, input);
  Estimate e;
  const auto n = static_cast<std::uint64_t>(input.survey.stations.size());
  // One sounding, timed: the middle one of the profile, without its chain.
  const inversion::SoundingInversionOptions options = inversion_options(o, 0);
  const inversion::Station& middle = input.survey.stations[input.survey.stations.size() / 2];
  const auto begin = std::chrono::steady_clock::now();
  inversion::SoundingInverter inverter(middle.response, options);
  double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  std::uint64_t chain_bytes = 0;
  if (inverter.sampler()) {
    inversion::Chain chain = inverter.sampler()->start();
    const auto start = std::chrono::steady_clock::now();
    inverter.sampler()->advance(chain, 200);
    seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() /
               static_cast<double>(chain.step) * (static_cast<double>(o.burn_in) + o.samples);
    chain_bytes =
        static_cast<std::uint64_t>(o.samples / o.keep_every) * chain.m.size() * sizeof(double);
  }
  const int threads = threads_for(input.survey.stations.size(), thread_count(run));
  e.seconds = seconds * static_cast<double>(n) / threads + 0.05 * static_cast<double>(n);
  const std::uint64_t record =
      8 * (30 * middle.response.size() + 10 * static_cast<std::uint64_t>(o.layers) + 400);
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

data::ExitCode run(RunContext& context, const Mt1dCase& c) {
  const auto& [o, input] = c;
  for (const auto& d : input.findings)
    (d.severity == data::Severity::error ? context.log.error(data::to_string(d))
                                         : context.log.debug(data::to_string(d)));
  require_soundings(context.config, context.options, input);
  for (const std::string& remark : input.survey.remarks) context.log.info(remark);
  context.manifest.seeds = {o.seed};

  BatchResult batch = run_batch(context, o, input);
  if (batch.stopped) return data::ExitCode::stopped_resumable;
  const auto& results = batch.results;

  const auto& path = context.folder.path();
  write_tables(path, results, input.survey.has_coordinates);
  std::string why_not;
  const bool vtk = data::vtk_xml_available(&why_not);
  if (!vtk) context.log.warning("no VTK XML files: " + why_not);
  write_results(path, results, input.survey.has_coordinates, vtk);
  draw(context.folder.plots(), results, input.survey.has_coordinates, o.pictures_of_soundings,
       context.manifest.threads);

  data::MetricsFile metrics(context.folder.metrics_csv(),
                            {"sounding", "rms", "dplus_rms", "iterations"});
  double sum = 0, worst = 0;
  bool aim_missed = false;
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
  if (o.expect_rms_max)
    expected(worst <= *o.expect_rms_max,
             fmt::format("an RMS of at most {}, the largest is {:.4g}", *o.expect_rms_max, worst));
  if (o.expect_soundings)
    expected(results.size() == static_cast<std::size_t>(*o.expect_soundings),
             fmt::format("{} soundings, {} were inverted", *o.expect_soundings, results.size()));
  return aim_missed || expectation_missed ? data::ExitCode::not_converged : data::ExitCode::ok;
}

PreparedCase prepare(const AppContext& context) {
  const Mt1dOptions options = read_options(context.config);
  const auto c = std::make_shared<const Mt1dCase>(Mt1dCase{options, read_input(options)});
  const data::Config& config = context.config;
  return {.inputs = files_of(c->input),
          .check = [&config, c] { return check(config, *c); },
          .estimate = [&config, run = context.options, c] { return estimate(config, run, *c); },
          .run = [c](RunContext& to) { return run(to, *c); },
          .help = [c](HelpContext& with) { help_with_batch(with, c->options, c->input); },
          .derivatives =
              [&config, run = context.options, c] {
                require_soundings(config, run, c->input);
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
