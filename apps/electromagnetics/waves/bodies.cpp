// SPDX-License-Identifier: Apache-2.0
#include "electromagnetics/waves/bodies.h"

#include "electromagnetics/waves/case.h"

#include <algorithm>

namespace tessera::apps::waves {
namespace {

namespace em = electromagnetics;

/// What of a medium is more than its name, each said one way.
MaterialOptions constants_of(const CaseOptions& o, const std::string& name) {
  MaterialOptions m;
  if (name == "pec")
    m.pec = true;
  else if (name != "vacuum")
    m.library = name;
  for (const MaterialOptions& given : o.materials)
    if (given.name == name) m = given;
  if (m.pec) return {.pec = true};
  if (m.index) m.eps = Point{*m.index * *m.index, *m.index * *m.index, *m.index * *m.index};
  m.index.reset();
  if (!m.library && !m.index_file) {
    if (!m.eps) m.eps = Point{1, 1, 1};
    if (m.sigma == Point{}) m.sigma.reset();
  }
  m.name.clear();
  return m;
}

bool is_flat(const em::Bounds& b) {
  for (std::size_t d = 0; d < 3; ++d)
    if (b.low[d] == b.high[d]) return true;
  return false;
}

}  // namespace

em::SceneOrder bodies_of(const CaseOptions& o) {
  std::vector<em::Medium> named;  // one for each name, for make_scene
  std::vector<MaterialOptions> different;
  std::vector<int> number;  // of each name
  const auto add = [&](const std::string& name) {
    if (std::any_of(named.begin(), named.end(),
                    [&](const em::Medium& m) { return m.name == name; }))
      return;
    named.emplace_back().name = name;
    const MaterialOptions m = constants_of(o, name);
    const auto at = std::find(different.begin(), different.end(), m);
    number.push_back(static_cast<int>(at - different.begin()));
    if (at == different.end()) different.push_back(m);
  };
  add(o.grid.background);
  for (const StructureOptions& s : o.structures)
    if (s.material) {
      if (s.shape == ShapeKind::pixels) add(empty_medium(s, o));
      add(*s.material);
    }
  em::Scene scene = make_scene(o, named);
  for (em::Structure& s : scene.structures) {
    s.medium = number[static_cast<std::size_t>(s.medium)];
    if (!s.pixels) continue;
    em::Pixels drawn = *s.pixels;
    for (std::int32_t& m : drawn.medium) {
      if (const em::Blend* b = scene.blend_of(m)) m = b->density < 0.5 ? b->empty : b->full;
      m = number[static_cast<std::size_t>(m)];
    }
    s.pixels = std::make_shared<const em::Pixels>(std::move(drawn));
  }
  scene.blends.clear();
  std::erase_if(scene.structures, [&](const em::Structure& s) {
    const MaterialOptions& m = different[static_cast<std::size_t>(s.medium)];
    return is_flat(s.shape.bounds()) && !m.pec && !m.surface_impedance;
  });
  scene.background = number.front();
  return em::SceneOrder(std::move(scene));
}

}  // namespace tessera::apps::waves
