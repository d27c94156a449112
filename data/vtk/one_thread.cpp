// SPDX-License-Identifier: Apache-2.0
// A source of its own, since this header of VTK 9.1 is no C++20.
#include "one_thread.h"

#include <vtkSMPTools.h>

namespace tessera::data {

void keep_vtk_to_one_thread() { vtkSMPTools::SetBackend("Sequential"); }

}  // namespace tessera::data
