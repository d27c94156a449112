// SPDX-License-Identifier: Apache-2.0
#include "geometry/fill.h"

#include "geometry/pixel_range.h"
#include "geometry/plane_cut.h"
#include "geometry/vector.h"

#include <algorithm>

namespace tessera::electromagnetics::detail {
namespace {

constexpr int halvings = 3;

/// Positions of cuts, from the centre of the box.
using Cuts = std::array<std::vector<double>, 3>;

/// A structure that fills the box in part, from the top down.
struct Partial {
  const Structure* structure;
  Local local;
  int medium;
  Cuts pixel_lines = {};  ///< where several of its pixels are in the box

  bool of_pixels() const {
    return !pixel_lines[0].empty() || !pixel_lines[1].empty() || !pixel_lines[2].empty();
  }
};

struct Seen {
  std::vector<Partial> partial;
  int base;  // the medium below all of them
};

Seen look(const Structures& from_top, int background, const Box& box) {
  Seen seen{{}, background};
  for (const Structure* s : from_top) {
    Local l = local(s->shape.node(), box);
    if (l.kind == Local::Kind::outside) continue;
    const PixelRange pixels = s->pixels ? pixels_in(*s->pixels, box) : PixelRange{};
    const std::optional<int> one =
        s->pixels ? only_medium(*s->pixels, pixels) : std::optional<int>(s->medium);
    const bool covers = l.kind == Local::Kind::inside;
    if (covers) seen.base = one.value_or(s->medium);
    if (!covers || !one) {
      seen.partial.push_back({s, std::move(l), one.value_or(s->medium)});
      if (!one) seen.partial.back().pixel_lines = lines_within(*s->pixels, pixels, box);
    }
    if (covers) break;
  }
  while (!seen.partial.empty() && !seen.partial.back().of_pixels() &&
         seen.partial.back().medium == seen.base)
    seen.partial.pop_back();
  return seen;
}

void add_share(Fill& fill, int medium, double fraction) {
  if (fraction == 0) return;
  for (Share& s : fill.media)
    if (s.medium == medium) {
      s.fraction += fraction;
      return;
    }
  fill.media.push_back({medium, fraction});
}

void add_interface(Fill& fill, int inside, int outside, const Point& area,
                   const std::array<double, 6>& orientation) {
  if (inside == outside) return;
  for (Interface& f : fill.interfaces) {
    const bool same = f.inside == inside && f.outside == outside;
    if (!same && !(f.inside == outside && f.outside == inside)) continue;
    for (int k = 0; k < 3; ++k) f.area[k] += same ? area[k] : -area[k];
    for (int k = 0; k < 6; ++k) f.orientation[k] += orientation[k];
    return;
  }
  fill.interfaces.push_back({inside, outside, area, orientation});
}

void add_plane(Fill& fill, int inside, int outside, const Point& n, double area) {
  if (area > 0)
    add_interface(fill, inside, outside, times(area, n),
                  {area * n[0] * n[0], area * n[1] * n[1], area * n[2] * n[2], area * n[0] * n[1],
                   area * n[0] * n[2], area * n[1] * n[2]});
}

/// `part` fills the share `volume` of the box.
void add_scaled(Fill& fill, const Fill& part, double volume) {
  for (const Share& s : part.media) add_share(fill, s.medium, volume * s.fraction);
  for (Interface face : part.interfaces) {
    for (double& x : face.area) x *= volume;
    for (double& x : face.orientation) x *= volume;
    add_interface(fill, face.inside, face.outside, face.area, face.orientation);
  }
}

bool are_layers(const Seen& seen) {
  const Point& n = seen.partial[0].local.normal;
  return std::all_of(seen.partial.begin(), seen.partial.end(), [&](const Partial& p) {
    return p.local.kind == Local::Kind::layer && !p.of_pixels() && are_parallel(n, p.local.normal);
  });
}

/// Parallel faces only: media in layers across one normal.
Fill layered(const Seen& seen, const Box& box) {
  const Point n = seen.partial[0].local.normal;
  struct Layer {
    int medium;
    double low, high;
  };
  std::vector<Layer> layers;
  std::vector<double> at;
  for (const Partial& p : seen.partial) {
    const bool same = dot(n, p.local.normal) > 0;
    layers.push_back(
        {p.medium, same ? p.local.low : -p.local.high, same ? p.local.high : -p.local.low});
    for (double offset : {layers.back().low, layers.back().high})
      if (std::isfinite(offset)) at.push_back(offset);
  }
  std::sort(at.begin(), at.end());
  const double width = width_along(n, box);
  const auto close = [&](double a, double b) { return b - a <= touching * width; };
  at.erase(std::unique(at.begin(), at.end(), close), at.end());

  const auto medium_between = [&](double low, double high) {
    for (const Layer& layer : layers)
      if (layer.low < (low + high) / 2 && (low + high) / 2 < layer.high) return layer.medium;
    return seen.base;
  };
  Fill out;
  double filled = 0;
  int faces = 0, below = medium_between(at[0] - width, at[0]);
  for (std::size_t i = 0; i < at.size(); ++i) {
    const PlaneCut behind = cut(n, at[i], box);
    const int above = medium_between(at[i], i + 1 < at.size() ? at[i + 1] : at[i] + width);
    add_share(out, below, behind.fraction - filled);
    add_plane(out, below, above, n, behind.area);
    faces += below != above;
    filled = behind.fraction;
    below = above;
  }
  add_share(out, below, 1 - filled);
  out.simple = faces <= 1;
  return out;
}

/// Faces of several directions in a box that is not divided further.
Fill independent(const Seen& seen, const Box& box) {
  Fill out;
  out.simple = false;
  const std::size_t n = seen.partial.size();
  double free = 1;  // not covered from above
  for (std::size_t i = 0; i < n; ++i) {
    const Partial& p = seen.partial[i];
    add_share(out, p.medium, free * p.local.fraction);
    for (const Piece& piece : pieces_of(p.local, box)) {
      double left = free * piece.area;
      for (std::size_t j = i + 1; j < n; ++j) {
        const Partial& q = seen.partial[j];
        add_plane(out, p.medium, q.medium, piece.normal, left * q.local.fraction);
        left *= 1 - q.local.fraction;
      }
      add_plane(out, p.medium, seen.base, piece.normal, left);
    }
    free *= 1 - p.local.fraction;
  }
  add_share(out, seen.base, free);
  return out;
}

/// All cuts along the axes, rising and with both ends of the box.
std::optional<Cuts> faces_along_axes(const Seen& seen, const Box& box) {
  Cuts cuts;
  bool any = false;
  for (int k = 0; k < 3; ++k) cuts[k] = {-box.size[k] / 2, box.size[k] / 2};
  for (const Partial& p : seen.partial) {
    any = any || p.of_pixels();
    for (int k = 0; k < 3; ++k)
      cuts[k].insert(cuts[k].end(), p.pixel_lines[k].begin(), p.pixel_lines[k].end());
    for (const Piece& piece : pieces_of(p.local, box))
      for (int k = 0; k < 3; ++k)
        if (std::abs(piece.normal[k]) == 1) {
          cuts[k].push_back(piece.normal[k] * piece.offset);
          any = true;
        }
  }
  if (!any) return {};
  for (int k = 0; k < 3; ++k) {
    const double tolerance = touching * box.size[k], end = box.size[k] / 2;
    std::sort(cuts[k].begin(), cuts[k].end());
    std::vector<double> kept{-end};
    for (double c : cuts[k])
      if (c > kept.back() + tolerance && c < end - tolerance) kept.push_back(c);
    kept.push_back(end);
    cuts[k] = std::move(kept);
  }
  if (cuts[0].size() + cuts[1].size() + cuts[2].size() == 6) return {};
  return cuts;
}

Cuts halves(const Box& box) {
  Cuts cuts;
  for (int k = 0; k < 3; ++k) {
    const double end = box.size[k] / 2;
    cuts[k] = end > 0 ? std::vector<double>{-end, 0, end} : std::vector<double>{-end, end};
  }
  return cuts;
}

/// What changes from one side of a cut to the other, for a share `area` of it: at least as much
/// interface as the media on the two sides differ.
void add_exchange(Fill& out, const Fill& below, const Fill& above, const Point& n, double area) {
  const auto part = [](const Fill& f, int medium) {
    for (const Share& s : f.media)
      if (s.medium == medium) return s.fraction;
    return 0.0;
  };
  std::vector<Share> lost, won;
  double total = 0;
  for (const Share& s : below.media) {
    const double d = s.fraction - part(above, s.medium);
    if (d > 0) lost.push_back({s.medium, d}), total += d;
  }
  for (const Share& s : above.media) {
    const double d = s.fraction - part(below, s.medium);
    if (d > 0) won.push_back({s.medium, d});
  }
  for (const Share& a : lost)
    for (const Share& b : won)
      add_plane(out, a.medium, b.medium, n, area * a.fraction * b.fraction / total);
}

Fill divided(const Seen& seen, const Box& box, const Cuts& cuts, bool at_faces, int depth) {
  Structures from_top;
  for (const Partial& p : seen.partial) from_top.push_back(p.structure);
  std::array<std::size_t, 3> n;
  for (int k = 0; k < 3; ++k) n[k] = cuts[k].size() - 1;
  const Box counted = box.counted();
  // What counts of a part along one side: from and to, in space.
  const auto part_of = [&](int k, std::size_t i) {
    const double low = box.centre[k] + cuts[k][i], high = box.centre[k] + cuts[k][i + 1];
    const double hair = 1e-12 * box.size[k];
    std::array<double, 2> out{-INFINITY, INFINITY};
    if (box.from[k] > low + hair) out[0] = box.from[k];
    if (box.to[k] < high - hair) out[1] = box.to[k];
    return out;
  };
  const auto share = [&](int k, std::size_t i) {  // of the side of what counts
    if (!(box.size[k] > 0)) return 1.0;
    const auto [from, to] = part_of(k, i);
    if (std::isinf(from) && std::isinf(to)) return (cuts[k][i + 1] - cuts[k][i]) / counted.size[k];
    const double left = (std::min(box.centre[k] + cuts[k][i + 1], to) -
                         std::max(box.centre[k] + cuts[k][i], from)) /
                        counted.size[k];
    return left > 1e-9 ? left : 0.0;
  };

  Fill out;
  std::vector<Fill> parts;
  bool uniform_parts = true;
  for (std::size_t c = 0; c < n[2]; ++c)
    for (std::size_t b = 0; b < n[1]; ++b)
      for (std::size_t a = 0; a < n[0]; ++a) {
        const std::size_t index[3] = {a, b, c};
        Box part;
        double volume = 1;
        for (int k = 0; k < 3; ++k) {
          part.size[k] = cuts[k][index[k] + 1] - cuts[k][index[k]];
          part.centre[k] = box.centre[k] + (cuts[k][index[k]] + cuts[k][index[k] + 1]) / 2;
          const auto [from, to] = part_of(k, index[k]);
          part.from[k] = from, part.to[k] = to;
          part.mirrored[k] = box.mirrored[k] && (std::isfinite(from) || std::isfinite(to));
          volume *= share(k, index[k]);
        }
        if (!(volume > 0)) {  // beyond what counts
          parts.emplace_back();
          continue;
        }
        parts.push_back(fill_box(from_top, seen.base, part, depth));
        const Fill& f = parts.back();
        uniform_parts = uniform_parts && f.media.size() == 1;
        add_scaled(out, f, volume);
      }
  int faces = 0;  // cuts at which media change
  if (at_faces)
    for (int k = 0; k < 3; ++k)
      for (std::size_t cut = 0; cut + 1 < n[k]; ++cut) {
        Point normal{};
        normal[k] = 1;
        bool changes = false;
        const int u = (k + 1) % 3, v = (k + 2) % 3;
        for (std::size_t i = 0; i < n[u]; ++i)
          for (std::size_t j = 0; j < n[v]; ++j) {
            std::size_t at[3];
            at[k] = cut, at[u] = i, at[v] = j;
            const std::size_t low = (at[2] * n[1] + at[1]) * n[0] + at[0];
            ++at[k];
            const std::size_t high = (at[2] * n[1] + at[1]) * n[0] + at[0];
            const Fill &below = parts[low], &above = parts[high];
            if (below.media.empty() || above.media.empty()) continue;
            add_exchange(out, below, above, normal, share(u, i) * share(v, j) / counted.size[k]);
            changes = changes || below.media.size() > 1 || above.media.size() > 1 ||
                      below.media[0].medium != above.media[0].medium;
          }
        faces += changes;
      }
  out.simple = out.media.size() == 1 || (at_faces && uniform_parts && faces == 1);
  return out;
}

}  // namespace

std::optional<int> only_medium(const Structures& from_top, int background, const Box& box) {
  const Seen seen = look(from_top, background, box);
  if (!seen.partial.empty()) return {};
  return seen.base;
}

/// A part of a box is filled the way in which all of it is, but where a mesh is a plane in all of
/// it and bends in the part.
Fill fill_box(const Structures& from_top, int background, const Box& box, int depth) {
  const Seen seen = look(from_top, background, {box.centre, box.size});
  if (seen.partial.empty()) return {{{seen.base, 1}}, {}, true};
  const auto counts = [&](Fill (*fill)(const Seen&, const Box&)) -> Fill {
    if (!box.is_part()) return fill(seen, box);
    const Seen part = look(from_top, background, box);
    if (part.partial.empty()) return {{{part.base, 1}}, {}, true};
    return fill == layered && !are_layers(part) ? independent(part, box) : fill(part, box);
  };
  if (are_layers(seen)) return counts(layered);
  if (seen.partial.size() == 1 && seen.partial[0].local.exact) return counts(independent);
  if (const auto cuts = faces_along_axes(seen, box)) return divided(seen, box, *cuts, true, depth);
  if (depth < halvings) return divided(seen, box, halves(box), false, depth + 1);
  return counts(independent);
}

Fill joined(const Fill& below, double length_below, const Fill& above, double length_above,
            int axis) {
  Fill out;
  const double length = length_below + length_above;
  add_scaled(out, below, length_below / length);
  add_scaled(out, above, length_above / length);
  // Where a face runs through a box, its other media differ along it and not across the seam.
  const bool uniform = below.media.size() == 1 && above.media.size() == 1;
  Point normal{};
  normal[axis] = 1;
  if (uniform) add_plane(out, below.media[0].medium, above.media[0].medium, normal, 1 / length);
  out.simple = out.media.size() == 1 || uniform;
  return out;
}

}  // namespace tessera::electromagnetics::detail
