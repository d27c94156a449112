// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace tessera::data {

/// VTK begins threads of its own where it may; those of a run are the ones that it was told to
/// take.
void keep_vtk_to_one_thread();

}  // namespace tessera::data
