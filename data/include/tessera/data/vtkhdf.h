// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "tessera/data/grid.h"
#include "tessera/data/hdf5.h"

namespace tessera::data {

/// Puts a grid into an HDF5 file so that ParaView opens the file itself (VTKHDF, "VTKHDF File
/// Format" in the VTK documentation): the group /VTKHDF with version 1.0 for image and unstructured
/// grids (VTK 9.1, ParaView 5.10 and up) and 2.0 for poly data (ParaView 5.12 and up; older readers
/// know no such type). One grid a file. Our own data lie beside it in /tessera. An image grid has
/// two or more points along each axis and point fields only: the reader of VTK 9.1 overruns its
/// memory on flat ones, asks cell fields for as many values as there are points, and gives up. Use
/// an unstructured grid or write_vtk_xml for these. Field units are attributes of the arrays.
/// Throws Error on a grid that does not fit together.
void write_vtkhdf(H5Writer& file, const ImageGrid& grid);
void write_vtkhdf(H5Writer& file, const UnstructuredGrid& grid);
void write_vtkhdf(H5Writer& file, const PolyGrid& grid);

}  // namespace tessera::data
