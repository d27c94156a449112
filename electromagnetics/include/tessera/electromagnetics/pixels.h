// SPDX-License-Identifier: Apache-2.0
//
// Bodies by densities: a block of pixels, each with a share of one medium in another, as designs
// are found and drawn. Pixels have lines of their own, which need not be those of the grid: what a
// box of the grid holds of each counts by its exact volume, and a face between two pixels as any
// face between two media does (averaging.h).
//
// A density p is the medium (1 - p) empty + p full in permittivity, conductivity and
// susceptibilities, as in design.h, whose pixel_region differentiates in densities; 0 and 1 are the
// media themselves. Between a metal and a dielectric some p then has Re eps = 0 at some frequency.
#pragma once
#include "tessera/electromagnetics/medium.h"
#include "tessera/electromagnetics/scene.h"

#include <array>
#include <string>
#include <vector>

namespace tessera::electromagnetics {

struct Densities {
  std::array<std::vector<double>, 3>
      lines;                   ///< rising, two at least; the outer ones may be infinite
  std::vector<double> values;  ///< 0 to 1, x fastest
};

/// Lines of `count` pixels of equal length.
std::vector<double> pixel_lines(double low, double high, int count);

/// A structure of these densities, between media of a list of `n_media` that has no mixtures yet
/// but those of the scene, which gets the new ones. Throws Error where lines do not rise, or values
/// are not as many as pixels, or not within 0 and 1.
Structure pixel_structure(Scene& scene, std::size_t n_media, const Densities& densities, int empty,
                          int full, int priority = 0, std::string name = {});

/// Throws Error where two media cannot be mixed: perfect conductors, nonlinear media, and media
/// that differ in permeability.
void require_mixable(const Medium& empty, const Medium& full);
/// The mixture as a medium of its own.
Medium blended(const Medium& empty, const Medium& full, double density);
/// The media of a list, then the mixtures of a scene: what its numbers of media mean.
std::vector<Medium> with_blends(std::vector<Medium> media, const Scene& scene);

}  // namespace tessera::electromagnetics
