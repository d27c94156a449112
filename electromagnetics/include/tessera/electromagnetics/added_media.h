// SPDX-License-Identifier: Apache-2.0
//
// Media on top of what single edges and faces of a model are made of.
#pragma once
#include "tessera/electromagnetics/absorber.h"
#include "tessera/electromagnetics/medium.h"
#include "tessera/electromagnetics/yee_scheme.h"

#include <vector>

namespace tessera::electromagnetics {

/// An edge keeps 1 - (sum of `replaced` of its parts) of what it was made of, and has `share` times
/// the medium of each part on top: eps, sigma and poles of edges (E), mu, sigma_m and poles, those
/// of mu, of faces (H). Media may have eps or mu 0, to add nothing at infinite frequency.
struct AddedMedia {
  std::vector<Medium> media;
  struct Part {
    Edge edge;
    int medium = 0;
    double share = 0, replaced = 0;
  };
  std::vector<Part> parts;  ///< rising in (component, k, j, medium, i)

  void sort();  ///< puts the parts in that order
};

/// `rows` with what is added, for steps of dt_s; conductors stay what they are.
MaterialRows with_added_media(MaterialRows rows, AddedMedia added, double dt_s);
/// Puts it into a model, and takes its edges out of the model's tensors.
void add_media(YeeModel& model, AddedMedia added);

}  // namespace tessera::electromagnetics
