// SPDX-License-Identifier: Apache-2.0
#include "tessera/inversion/section_prior.h"

#include "tessera/autodiff/error.h"
#include "tessera/autodiff/nn/losses.h"
#include "tessera/autodiff/ops.h"
#include "tessera/data/csv.h"
#include "tessera/data/diagnostic.h"
#include "tessera/data/safetensors.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>

namespace tessera::inversion {
namespace {

constexpr const char* kFormat = "tessera.section_prior 3";
constexpr const char *kCellError = "calibration.cell_error", *kCodes = "calibration.codes",
                     *kErrors = "calibration.errors", *kErrorLength = "calibration.error_length";

/// What the loss of one cell is made of, by the decoded section y in units of `scale`.
Tensor loss_of(const SectionPrior& p, const Tensor& x, const Tensor& y,
               const nn::NormalCode& code) {
  const double weight = 0.5 * std::pow(p.scale / p.noise, 2);
  const auto cells = static_cast<double>(p.net.lengths.count());
  return weight * nn::mean_square(y, x) + nn::kl_normal(code.mean, code.log_variance) / cells;
}
Tensor normed(const SectionPrior& p, const Tensor& sections) {
  return (cast(sections, p.net.mean.w.dtype()) - p.centre) / p.scale;
}

std::string text_of(const std::vector<Index>& numbers) {
  std::string s;
  for (const Index n : numbers) s += (s.empty() ? "" : " ") + std::to_string(n);
  return s;
}

[[noreturn]] void refuse(const std::filesystem::path& file, const std::string& what) {
  throw data::InputError({.number = 692,
                          .place = {file.string()},
                          .message = "is no prior of sections: " + what,
                          .hint = "prior.safetensors of a run of inversion.prior is one"},
                         data::ExitCode::input_invalid);
}

/// The words of a file, by name.
struct Words {
  const std::filesystem::path& file;
  const std::map<std::string, std::string>& all;
  const std::string& text(const std::string& name) const {
    const auto at = all.find(name);
    if (at == all.end()) refuse(file, "it does not say '" + name + "'");
    return at->second;
  }
  double number(const std::string& name) const {
    const std::string& t = text(name);
    char* end = nullptr;
    const double v = std::strtod(t.c_str(), &end);
    if (t.empty() || *end != '\0' || !std::isfinite(v)) refuse(file, name + " is '" + t + "'");
    return v;
  }
  std::vector<Index> numbers(const std::string& name) const {
    const std::string& t = text(name);
    std::vector<Index> out;
    for (const char* at = t.c_str(); *at != '\0';) {
      char* end = nullptr;
      out.push_back(std::strtoll(at, &end, 10));
      if (end == at || out.back() < 1 || out.back() > 1'000'000)
        refuse(file, name + " is '" + t + "'");
      at = end;
    }
    return out;
  }
};

void require_format(const Words& words) {
  const std::string& format = words.text("format");
  if (format != kFormat)
    refuse(words.file, "its format is '" + format + "', not '" + kFormat + "'");
}

}  // namespace

nn::NormalCode SectionPrior::code_of(const Tensor& sections) const {
  return net.encode(normed(*this, sections), seen);
}
Tensor SectionPrior::encode(const Tensor& sections) const {
  const Tensor z = code_of(sections).mean;
  return flow.couplings.empty() ? z : flow.normals(z).first;
}
Tensor SectionPrior::decode(const Tensor& codes) const {
  const Tensor z = flow.couplings.empty() ? codes : flow.codes_of(codes);
  return scale * net.decode(z, seen) + centre;
}

SectionPrior section_prior(const Tensor& key, const SectionPriorOptions& o, double centre,
                           double scale) {
  if (!(o.noise > 0) || !(scale > 0) || !std::isfinite(scale) || !std::isfinite(centre))
    throw Error("[section_prior] noise and scale are above 0");
  if (o.section.size() != 2) throw Error("[section_prior] a section has rows and columns");
  auto [net, seen] = nn::conv_vae(
      key, {.widths = o.widths, .lengths = o.section, .codes = o.codes, .dtype = o.dtype});
  return {std::move(net), std::move(seen), {.codes = o.codes}, centre, scale, o.noise};
}

std::vector<solvers::LeafRule> frozen_leaves() { return {{"seen.*", 0}}; }

std::pair<Tensor, SectionPrior> training_loss(const SectionPrior& p,
                                              const solvers::Batch<Tensor>& b) {
  const Tensor x = normed(p, b.data);
  nn::ConvVae::Trained t = p.net.train(x, b.keys, p.seen);
  SectionPrior now = p;
  now.seen = std::move(t.statistics);
  return {loss_of(p, x, t.y, t.code), std::move(now)};
}

std::pair<Tensor, std::vector<Tensor>> validation_loss(const SectionPrior& p,
                                                       const solvers::Batch<Tensor>& b) {
  const Tensor x = normed(p, b.data);
  const nn::NormalCode code = p.net.encode(x, p.seen);
  const Tensor y = p.net.decode(code.mean, p.seen);
  return {loss_of(p, x, y, code),
          {p.scale * p.scale * nn::mean_square(y, x), mean(square(code.mean))}};
}

Generator generator_of(const SectionPrior& p) {
  SectionPrior q = p;
  std::vector<Tensor> leaves = flatten_tree(p);
  for (Tensor& leaf : leaves) leaf = cast(leaf, Dtype::f64);
  q = unflatten_tree(q, leaves);
  return {q.net.grow.w.dim(0), q.net.lengths,
          [q](const Tensor& code) { return squeeze(q.decode(expand_dims(code, 0)), 0); },
          [](const Tensor& code) { return -0.5 * sum(square(code)); },
          [q](const Tensor& model) { return squeeze(q.encode(expand_dims(model, 0)), 0); }};
}

void write_section_prior(const std::filesystem::path& file, const SectionPrior& p,
                         const std::optional<PriorCalibration>& calibration) {
  std::vector<Index> widths;
  for (std::size_t k = 1; k < p.net.encoder.size(); k += 2)
    widths.push_back(p.net.encoder[k].norm.gain.size());
  std::vector<data::NamedTensor> tensors = data::named_leaves(p);
  std::map<std::string, std::string> words{
      {"format", kFormat},
      {"section", text_of(std::vector<Index>{p.net.lengths.begin(), p.net.lengths.end()})},
      {"widths", text_of(widths)},
      {"codes", std::to_string(p.net.grow.w.dim(0))},
      {"centre", data::number_text(p.centre)},
      {"scale", data::number_text(p.scale)},
      {"noise", data::number_text(p.noise)},
      {"aspect", data::number_text(p.aspect)}};
  if (!p.flow.couplings.empty())
    words["flow"] = text_of(std::vector<Index>{std::ssize(p.flow.couplings),
                                               p.flow.couplings[0].net.layers[0].w.dim(1)});
  if (calibration) {
    words[kErrorLength] = data::number_text(calibration->error_length);
    tensors.push_back({kCellError, calibration->cell_error});
    tensors.push_back({kCodes, cast(calibration->held_out.codes, Dtype::f32)});
    tensors.push_back({kErrors, cast(calibration->held_out.errors, Dtype::f32)});
  }
  data::write_safetensors(file, tensors, words);
}

std::optional<PriorCalibration> read_prior_calibration(const std::filesystem::path& file) {
  const data::Safetensors all = data::read_safetensors(file);
  const Words words{file, all.metadata};
  require_format(words);
  if (!all.metadata.contains(kErrorLength)) return std::nullopt;
  PriorCalibration c{.error_length = words.number(kErrorLength)};
  const std::vector<Index> section = words.numbers("section"), codes = words.numbers("codes");
  for (const data::NamedTensor& t : all.tensors) {
    if (t.name == kCellError) c.cell_error = cast(t.values, Dtype::f64);
    if (t.name == kCodes) c.held_out.codes = t.values;
    if (t.name == kErrors) c.held_out.errors = t.values;
  }
  if (!(c.error_length > 0) || section.size() != 2 || codes.size() != 1 ||
      !c.cell_error.defined() || !c.held_out.codes.defined() || !c.held_out.errors.defined() ||
      c.cell_error.shape() != Shape{section[0], section[1]} || c.held_out.codes.size() == 0 ||
      c.held_out.codes.shape() != Shape{c.held_out.codes.size() / codes[0], codes[0]} ||
      c.held_out.errors.shape() != Shape{c.held_out.codes.dim(0), section[0], section[1]})
    refuse(file, "what it says of held-out sections does not fit together");
  const auto finite = [](const Tensor& t) {
    const std::vector<double> v = cast(t, Dtype::f64).to_vector<double>();
    return std::all_of(v.begin(), v.end(), [](double x) { return std::isfinite(x); });
  };
  const std::vector<double> errors = c.cell_error.to_vector<double>();
  if (!std::all_of(errors.begin(), errors.end(),
                   [](double e) { return e > 0 && std::isfinite(e); }) ||
      !finite(c.held_out.codes) || !finite(c.held_out.errors))
    refuse(file,
           "what it says of held-out sections holds numbers that are not finite, or no error "
           "of a cell");
  return c;
}

SectionPrior read_section_prior(const std::filesystem::path& file) {
  const data::Safetensors all = data::read_safetensors(file);
  const Words words{file, all.metadata};
  require_format(words);
  const std::vector<Index> section = words.numbers("section"), codes = words.numbers("codes");
  if (section.size() != 2 || codes.size() != 1) refuse(file, "sizes of section or codes");
  SectionPriorOptions o{.section = {section[0], section[1]},
                        .widths = words.numbers("widths"),
                        .codes = codes[0],
                        .noise = words.number("noise")};
  if (all.tensors.empty()) refuse(file, "it has no weights");
  o.dtype = all.tensors[0].values.dtype();
  SectionPrior p = [&] {
    try {
      return section_prior(random_key(0), o, words.number("centre"), words.number("scale"));
    } catch (const Error& e) {
      refuse(file, e.what());
    }
  }();
  p.aspect = words.number("aspect");
  if (all.metadata.contains("flow")) {
    const std::vector<Index> flow = words.numbers("flow");
    if (flow.size() != 2 || flow[0] > 1000 || flow[1] > 10'000)
      refuse(file, "flow is '" + words.text("flow") + "'");
    p.flow = code_flow(random_key(0), o.codes,
                       {.couplings = flow[0], .width = flow[1], .dtype = o.dtype});
  }
  std::map<std::string, Tensor> by_name;
  for (const data::NamedTensor& t : all.tensors) by_name[t.name] = t.values;
  const LeafNames names = leaf_names(p);
  std::vector<Tensor> leaves = flatten_tree(p);
  for (std::size_t k = 0; k < leaves.size(); ++k) {
    const auto at = by_name.find(names[k]);
    if (at == by_name.end() || at->second.type() != leaves[k].type())
      refuse(file, "'" + std::string(names[k]) + "' is missing or of other sizes");
    leaves[k] = at->second;
  }
  return unflatten_tree(p, leaves);
}

}  // namespace tessera::inversion
