// SPDX-License-Identifier: Apache-2.0
// Results as files: results.h5, tables, fields for ParaView, and expectations.
#include "electromagnetics/fdtd/results.h"

#include "tessera/data/csv.h"
#include "tessera/data/file_io.h"
#include "tessera/data/hdf5.h"
#include "tessera/data/vtk_xml.h"
#include "tessera/electromagnetics/preview.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace tessera::apps::fdtd {
namespace {

constexpr std::size_t kMostColumns = 200;  ///< of a table; wider arrays are in results.h5 alone
constexpr std::size_t kMostDirections = 100000;  ///< rows, so many frequencies times directions

void write_table(const std::filesystem::path& path, const MonitorResult& r) {
  std::vector<std::string> columns = {r.axis.name +
                                      (r.axis.units == "1" ? "" : "_" + r.axis.units)};
  for (const Quantity& q : r.quantities) {
    if (!in_table(r, q)) continue;
    for (std::size_t w = 0; w < width(q); ++w) {
      std::string name = width(q) > 1 ? fmt::format("{}_{}", q.name, w) : q.name;
      if (q.units == "deg" || q.units == "dB") name += "_" + q.units;  // all else is in SI units
      if (std::holds_alternative<std::vector<double>>(q.values))
        columns.push_back(name);
      else
        columns.insert(columns.end(), {name + "_re", name + "_im"});
    }
  }
  data::CsvTable table(columns);
  for (std::size_t i = 0; i < r.axis.values.size(); ++i) {
    table.add(r.axis.values[i]);
    for (const Quantity& q : r.quantities) {
      if (!in_table(r, q)) continue;
      for (std::size_t w = 0; w < width(q); ++w) {
        const std::size_t at = i * width(q) + w;
        if (const auto* real = std::get_if<std::vector<double>>(&q.values)) {
          table.add((*real)[at]);
        } else {
          const auto& z = std::get<std::vector<std::complex<double>>>(q.values)[at];
          table.add(z.real()).add(z.imag());
        }
      }
    }
    table.end_row();
  }
  data::write_file_atomically(path, table.text());
}

/// The level of a quantity over directions that is told in dB, and of what; empty of others.
std::string level_of(const Quantity& q) {
  if (q.name == "rcs") return q.units == "m^2" ? "dBsm" : "dB";
  const auto is = [&](const char* name) { return q.name == name; };
  return is("directivity") || is("gain") || is("realised_gain") || is("co_polar") ||
                 is("cross_polar")
             ? "dBi"
             : "";
}

/// A row for each frequency and direction of a pattern.
void write_directions(const std::filesystem::path& folder, const MonitorResult& r) {
  if ((r.kind != "far_field" && r.kind != "rcs") || r.coordinates.size() != 2) return;
  const std::vector<double>&theta = r.coordinates[0].values, &phi = r.coordinates[1].values;
  const std::size_t each = theta.size() * phi.size(), rows = r.axis.values.size() * each;
  if (rows == 0 || rows > kMostDirections) return;
  const std::vector<std::uint64_t> shape{r.axis.values.size(), theta.size(), phi.size()};
  std::vector<const Quantity*> told;
  std::vector<std::string> columns{r.axis.name + "_" + r.axis.units, "theta_deg", "phi_deg"};
  for (const Quantity& q : r.quantities) {
    if (q.shape != shape) continue;
    told.push_back(&q);
    if (std::holds_alternative<std::vector<double>>(q.values))
      columns.push_back(q.name);
    else
      columns.insert(columns.end(), {q.name + "_re", q.name + "_im"});
    if (!level_of(q).empty()) columns.push_back(q.name + "_" + level_of(q));
  }
  // What came from rad and goes to people: 35 and not 35.00000000000001.
  const auto degrees = [](double x) { return std::round(x * 1e9) / 1e9; };
  data::CsvTable table(columns);
  for (std::size_t row = 0; row < rows; ++row) {
    table.add(r.axis.values[row / each]);
    table.add(degrees(theta[row % each / phi.size()])).add(degrees(phi[row % phi.size()]));
    for (const Quantity* q : told) {
      if (const auto* real = std::get_if<std::vector<double>>(&q->values)) {
        table.add((*real)[row]);
        if (!level_of(*q).empty()) table.add(10 * std::log10((*real)[row]));
      } else {
        const auto& z = std::get<std::vector<std::complex<double>>>(q->values)[row];
        table.add(z.real()).add(z.imag());
      }
    }
    table.end_row();
  }
  data::make_folder(folder);
  data::write_file_atomically(folder / (r.name + ".csv"), table.text());
}

/// Fields of a plane or box at each frequency or time, as one .vtr file each.
void write_fields(const std::filesystem::path& folder, const MonitorResult& r) {
  if (r.coordinates.size() != 3 || r.coordinates[0].name != "z") return;
  data::make_folder(folder);
  std::vector<data::PvdFile> files;
  const std::size_t points = r.coordinates[0].values.size() * r.coordinates[1].values.size() *
                             r.coordinates[2].values.size();
  if (points < 2) return;
  for (std::size_t i = 0; i < r.axis.values.size(); ++i) {
    data::RectilinearGrid g;
    g.z = r.coordinates[0].values, g.y = r.coordinates[1].values, g.x = r.coordinates[2].values;
    for (const Quantity& q : r.quantities) {
      if (q.shape.size() != 4) continue;
      if (const auto* real = std::get_if<std::vector<double>>(&q.values)) {
        g.fields.points.push_back(
            {q.name,
             q.units,
             q.long_name,
             {real->begin() + static_cast<std::ptrdiff_t>(i * points),
              real->begin() + static_cast<std::ptrdiff_t>((i + 1) * points)}});
      } else {
        const auto& z = std::get<std::vector<std::complex<double>>>(q.values);
        data::FieldArray re{q.name + "_re", q.units, q.long_name, {}},
            im{q.name + "_im", q.units, q.long_name, {}};
        for (std::size_t p = 0; p < points; ++p) {
          re.values.push_back(z[i * points + p].real());
          im.values.push_back(z[i * points + p].imag());
        }
        g.fields.points.push_back(std::move(re));
        g.fields.points.push_back(std::move(im));
      }
    }
    const std::string name = fmt::format("{}_{:04}.vtr", r.name, i);
    data::write_vtk_xml(folder / name, g);
    files.push_back({.time = r.axis.values[i], .name = name});
  }
  data::write_pvd(folder / (r.name + ".pvd"), files);
}

/// A pattern as a surface about the origin, a file for each frequency: its distance is the
/// directivity over its maximum, 1 m at most. With `directivity` and, where ports tell it, `gain`.
void write_pattern(const std::filesystem::path& folder, const MonitorResult& r) {
  const std::vector<double>&theta = r.coordinates[0].values, &phi = r.coordinates[1].values;
  const std::size_t n = theta.size(), m = phi.size(), points = n * m;
  if (n < 2 || m < 3) return;
  data::make_folder(folder);
  const bool closed = std::abs(phi.back() + (phi[1] - phi[0]) - phi.front() - 360) < 1e-6;
  const auto& all = std::get<std::vector<double>>(r.find("directivity")->values);
  for (std::size_t f = 0; f < r.axis.values.size(); ++f) {
    const auto begin = static_cast<std::ptrdiff_t>(f * points);
    const double most = *std::max_element(
        all.begin() + begin, all.begin() + begin + static_cast<std::ptrdiff_t>(points));
    data::PolyGrid g;
    for (std::size_t t = 0; t < n; ++t)
      for (std::size_t p = 0; p < m; ++p) {
        const double a = theta[t] * std::numbers::pi / 180, b = phi[p] * std::numbers::pi / 180,
                     d = most > 0 ? all[f * points + t * m + p] / most : 0;
        g.points.insert(g.points.end(), {d * std::sin(a) * std::cos(b),
                                         d * std::sin(a) * std::sin(b), d * std::cos(a)});
      }
    for (std::size_t t = 0; t + 1 < n; ++t)
      for (std::size_t p = 0; p + (closed ? 0 : 1) < m; ++p) {
        const std::size_t next = (p + 1) % m;
        for (const std::size_t at : {t * m + p, t * m + next, (t + 1) * m + next, (t + 1) * m + p})
          g.polygons.connectivity.push_back(static_cast<std::int64_t>(at));
        g.polygons.offsets.push_back(static_cast<std::int64_t>(g.polygons.connectivity.size()));
      }
    for (const char* name : {"directivity", "gain", "realised_gain"})
      if (const Quantity* q = r.find(name)) {
        const auto& v = std::get<std::vector<double>>(q->values);
        g.fields.points.push_back(
            {q->name,
             q->units,
             q->long_name,
             {v.begin() + begin, v.begin() + begin + static_cast<std::ptrdiff_t>(points)}});
      }
    data::write_vtk_xml(folder / fmt::format("{}_{:04}.vtp", r.name, f), g);
  }
}

/// As they were written: a file keeps them by their names. Files of 0.2 do not say it.
void put_in_order(std::vector<Quantity>& quantities, const std::vector<std::string>& order) {
  const auto place = [&](const Quantity& q) {
    return std::find(order.begin(), order.end(), q.name) - order.begin();
  };
  std::stable_sort(quantities.begin(), quantities.end(),
                   [&](const Quantity& a, const Quantity& b) { return place(a) < place(b); });
}

}  // namespace

const Quantity* MonitorResult::find(const std::string& quantity) const {
  for (const Quantity& q : quantities)
    if (q.name == quantity) return &q;
  return nullptr;
}

std::size_t width(const Quantity& q) {
  std::size_t w = 1;
  for (std::size_t d = 1; d < q.shape.size(); ++d) w *= q.shape[d];
  return w;
}
bool in_table(const MonitorResult& r, const Quantity& q) {
  const bool elements = r.kind == scattering_name || r.kind == "compared";  // which stand alone
  return q.name != "sums" && !(elements && q.shape.size() > 1) && !q.shape.empty() &&
         q.shape[0] == r.axis.values.size() && width(q) <= kMostColumns;
}

std::size_t largest_of(const std::vector<double>& values) {
  const auto at = std::max_element(values.begin(), values.end(), [](double a, double b) {
    return a < b || (std::isnan(a) && !std::isnan(b));
  });
  return static_cast<std::size_t>(at - values.begin());
}

void write_results(const std::filesystem::path& run, const Case& c, const Results& results) {
  data::H5Writer file(run / "results.h5");
  file.group("tessera");
  file.attribute("tessera", "app", "electromagnetics.fdtd");
  file.attribute("tessera", "time_convention",
                 "exp(+i omega t); transforms are integral f(t) exp(-i omega t) dt");
  std::vector<std::string> names;
  for (const MonitorResult& r : results) names.push_back(r.name);
  if (!names.empty())
    file.write_texts("tessera/monitors", names, {"", "monitors in the order of the case"});
  write_sources(file, c);
  for (const MonitorResult& r : results) {
    const std::string group = "monitors/" + r.name;
    file.group(group);
    if (r.fallen_db) file.attribute(group, "fallen_db", std::span<const double>(&*r.fallen_db, 1));
    if (r.transform) {
      file.group(group + "/transform");
      file.write(group + "/transform/time_step", std::vector<double>{r.transform->dt_s}, {},
                 {"s", ""});
      file.write(group + "/transform/every",
                 std::vector<double>{static_cast<double>(r.transform->every)}, {},
                 {"1", "steps of which it takes one"});
      file.write(group + "/transform/positions", r.transform->positions, {},
                 {"m", "of each component: how many unknowns, how many x and these, y, z"});
      file.write(group + "/transform/reference_length",
                 std::vector<double>{r.transform->reference_length_m}, {},
                 {"m", "smallest cell, in units of which sums are"});
      if (!r.transform->of_a_watt.empty())
        file.write(group + "/transform/of_a_watt", r.transform->of_a_watt,
                   {r.transform->of_a_watt.size()},
                   {"", "of each frequency: what fields were multiplied by to be of 1 W"});
    }
    std::vector<std::string> layout{r.kind, r.axis.name};
    for (const Coordinate& x : r.coordinates) layout.push_back(x.name);
    file.write_texts(group + "/layout", layout, {"", "kind, first axis, further axes"});
    file.write(group + "/" + r.axis.name, r.axis.values, {}, {r.axis.units, ""});
    for (const Coordinate& x : r.coordinates) {
      file.write(group + "/" + x.name, x.values, {}, {x.units, ""});
      if (!x.names.empty())
        file.write_texts(group + "/" + x.name + "_names", x.names, {"", "of the ports"});
    }
    std::vector<std::string> order;
    for (const Quantity& q : r.quantities) {
      if (q.name == r.axis.name) continue;
      order.push_back(q.name);
      std::visit(
          [&](const auto& v) {
            file.write(group + "/values/" + q.name, v, q.shape, {q.units, q.long_name});
          },
          q.values);
    }
    if (!order.empty())
      file.write_texts(group + "/order", order, {"", "names of the values, in their order"});
  }
  file.commit();
  data::make_folder(run / "tables");
  for (const MonitorResult& r : results)
    if (std::any_of(r.quantities.begin(), r.quantities.end(),
                    [&](const Quantity& q) { return in_table(r, q); }))
      write_table(run / "tables" / (r.name + ".csv"), r);
  for (const MonitorResult& r : results) write_directions(run / "tables" / "patterns", r);
  if (c.options.output.vtk && data::vtk_xml_available())
    for (const MonitorResult& r : results)
      r.kind == "far_field" ? write_pattern(run / "vtk", r) : write_fields(run / "vtk", r);
}

Results read_results(const std::filesystem::path& path) {
  const auto found = data::read_h5(path, {}, data::limits_of_results());
  const auto at = [&](const std::string& name) -> const data::H5Array* {
    for (const std::string& full : {name, "/" + name})
      if (const auto it = found.find(full); it != found.end()) return &it->second;
    return nullptr;
  };
  const auto fail = [&](const std::string& what) {
    data::Diagnostic d;
    d.number = 428;
    d.place.file = path.string();
    d.message = "the file has no usable " + what + ": it is no result of electromagnetics.fdtd";
    return data::InputError(std::move(d));
  };
  Results out;
  const data::H5Array* names = at("tessera/monitors");
  if (!names) return out;
  const auto* list = std::get_if<std::vector<std::string>>(&names->data);
  if (!list) throw fail("tessera/monitors");
  const auto texts = [&](const std::string& name) {
    const data::H5Array* a = at(name);
    const auto* v = a ? std::get_if<std::vector<std::string>>(&a->data) : nullptr;
    return v ? *v : std::vector<std::string>();
  };
  const auto coordinate = [&](const std::string& group, const std::string& name) {
    const data::H5Array* a = at(group + "/" + name);
    const auto* v = a ? std::get_if<std::vector<double>>(&a->data) : nullptr;
    if (!v) throw fail(group + "/" + name);
    return Coordinate{name, a->attributes.units, *v, texts(group + "/" + name + "_names")};
  };
  for (const std::string& name : *list) {
    const std::string group = "monitors/" + name;
    const data::H5Array* layout = at(group + "/layout");
    const auto* words = layout ? std::get_if<std::vector<std::string>>(&layout->data) : nullptr;
    if (!words || words->size() < 2) throw fail(group + "/layout");
    MonitorResult r{name, (*words)[0], coordinate(group, (*words)[1]), {}, {}};
    for (std::size_t w = 2; w < words->size(); ++w)
      r.coordinates.push_back(coordinate(group, (*words)[w]));
    const auto of_transform = [&](const char* what) {
      const data::H5Array* a = at(group + "/transform/" + what);
      return a ? std::get_if<std::vector<double>>(&a->data) : nullptr;
    };
    if (const auto* dt = of_transform("time_step"), *every = of_transform("every"),
        *positions = of_transform(at(group + "/transform/places") ? "places" : "positions");
        dt && every && positions && dt->size() == 1 && every->size() == 1)  // 0.2: places
      r.transform = electromagnetics::TransformRecord{r.axis.values, (*dt)[0],
                                                      static_cast<int>((*every)[0]), *positions};
    if (const auto* length = of_transform("reference_length"); r.transform && length)
      r.transform->reference_length_m = length->size() == 1 ? length->front() : 0;
    if (const auto* watt = at(group + "/transform/of_a_watt"); r.transform && watt)
      if (const auto* by = std::get_if<std::vector<std::complex<double>>>(&watt->data);
          by && by->size() == r.axis.values.size())
        r.transform->of_a_watt = *by;
    const std::string prefix = group + "/values/";
    for (const auto& [full, array] : found) {
      const std::string plain = full.starts_with('/') ? full.substr(1) : full;
      if (!plain.starts_with(prefix)) continue;
      Quantity q{plain.substr(prefix.size()),
                 array.attributes.units,
                 array.attributes.long_name,
                 array.shape,
                 {}};
      if (const auto* v = std::get_if<std::vector<double>>(&array.data))
        q.values = *v;
      else if (const auto* z = std::get_if<std::vector<std::complex<double>>>(&array.data))
        q.values = *z;
      else
        continue;
      r.quantities.push_back(std::move(q));
    }
    put_in_order(r.quantities, texts(group + "/order"));
    out.push_back(std::move(r));
  }
  return out;
}

std::vector<Expectation> check_expectations(const std::vector<ExpectOptions>& expectations,
                                            const Results& results, const data::Config& config) {
  std::vector<Expectation> out;
  for (std::size_t e = 0; e < expectations.size(); ++e) {
    const ExpectOptions& x = expectations[e];
    const MonitorResult* r = nullptr;
    for (const MonitorResult& candidate : results)
      if (candidate.name == x.monitor) r = &candidate;
    const std::string key = fmt::format("expect[{}]", e);
    const Quantity* q = nullptr;
    if (r)
      q = x.quantity              ? r->find(*x.quantity)
          : r->quantities.empty() ? nullptr
                                  : &r->quantities.front();
    if (!q)
      throw data::InputError(
          data::ExitCode::config_invalid,
          {config.error(625, key + ".quantity", "the monitor " + x.monitor + " has no such result",
                        "see its table in the run folder")});
    std::size_t first = 0;
    if (x.frequency && r->axis.name == "frequency")
      for (std::size_t i = 1; i < r->axis.values.size(); ++i)
        if (std::abs(r->axis.values[i] - *x.frequency) <
            std::abs(r->axis.values[first] - *x.frequency))
          first = i;
    const auto index = static_cast<std::size_t>(x.index);
    const std::size_t at = first * width(*q) + index;
    const bool there = !x.frequency || index < width(*q);  // else it is of another frequency
    double found = NAN;
    if (const auto* v = std::get_if<std::vector<double>>(&q->values))
      found = there && at < v->size() ? (*v)[at] : NAN;
    else if (const auto& z = std::get<std::vector<std::complex<double>>>(q->values);
             there && at < z.size())
      found = std::abs(z[at]);
    const double allowed = x.tolerance * (x.relative ? std::abs(x.value) : 1.0);
    const bool met = std::abs(found - x.value) <= allowed;
    const std::string name = x.monitor + "." + q->name + (at > 0 ? fmt::format("[{}]", at) : "");
    out.push_back({name, found,
                   fmt::format("{}: {:.8g}, expected {:.8g} within {:.2g}{}", name, found, x.value,
                               allowed, met ? "" : ": NOT MET"),
                   met});
  }
  return out;
}

}  // namespace tessera::apps::fdtd
