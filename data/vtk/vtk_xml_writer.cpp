// SPDX-License-Identifier: Apache-2.0
// The plug-in that VTK lives in: nothing else of ours sees a VTK header
// (docs/decisions/0020-vtk-plugin.md).
#include "one_thread.h"
#include "vtk/vtk_plugin.h"

#include <vtkCellArray.h>
#include <vtkCellData.h>
#include <vtkDoubleArray.h>
#include <vtkErrorCode.h>
#include <vtkIdTypeArray.h>
#include <vtkImageData.h>
#include <vtkNew.h>
#include <vtkObject.h>
#include <vtkPointData.h>
#include <vtkPoints.h>
#include <vtkPolyData.h>
#include <vtkRectilinearGrid.h>
#include <vtkUnstructuredGrid.h>
#include <vtkXMLImageDataWriter.h>
#include <vtkXMLPolyDataWriter.h>
#include <vtkXMLRectilinearGridWriter.h>
#include <vtkXMLUnstructuredGridWriter.h>

#include <cerrno>

namespace tessera::data {
namespace {

/// Borrows the values: the grid outlives the write.
void put_array(vtkDoubleArray* array, const std::vector<double>& values, std::size_t components) {
  array->SetNumberOfComponents(static_cast<int>(components));
  array->SetArray(const_cast<double*>(values.data()), static_cast<vtkIdType>(values.size()), 1);
}

void put_fields(vtkDataSet* set, const GridFields& fields) {
  const auto put = [](vtkDataSetAttributes* to, const std::vector<FieldArray>& from) {
    for (const FieldArray& f : from) {
      vtkNew<vtkDoubleArray> a;
      a->SetName((f.name + (f.units.empty() ? "" : " [" + f.units + "]")).c_str());
      put_array(a, f.values, f.components);
      to->AddArray(a);
    }
  };
  put(set->GetPointData(), fields.points);
  put(set->GetCellData(), fields.cells);
}

vtkNew<vtkPoints> points_of(const std::vector<double>& xyz) {
  vtkNew<vtkDoubleArray> a;
  put_array(a, xyz, 3);
  vtkNew<vtkPoints> points;
  points->SetDataTypeToDouble();
  points->SetData(a);
  return points;
}

vtkNew<vtkCellArray> cells_of(const std::vector<std::int64_t>& connectivity,
                              const std::vector<std::int64_t>& offsets) {
  static_assert(sizeof(vtkIdType) == sizeof(std::int64_t));
  const auto ids = [](const std::vector<std::int64_t>& from) {
    vtkNew<vtkIdTypeArray> a;
    a->SetNumberOfValues(static_cast<vtkIdType>(from.size()));
    for (std::size_t i = 0; i < from.size(); ++i) a->SetValue(static_cast<vtkIdType>(i), from[i]);
    return a;
  };
  vtkNew<vtkCellArray> cells;
  cells->SetData(ids(offsets), ids(connectivity));
  return cells;
}

template <class Writer>
int write(vtkDataSet* set, const GridFields& fields, const char* path) {
  put_fields(set, fields);
  vtkNew<Writer> writer;
  writer->SetFileName(path);
  writer->SetInputData(set);
  writer->SetDataModeToAppended();
  writer->EncodeAppendedDataOff();
  writer->SetCompressorTypeToZLib();
  if (writer->Write() && writer->GetErrorCode() == vtkErrorCode::NoError) return 0;
  return writer->GetErrorCode() == vtkErrorCode::OutOfDiskSpaceError ? ENOSPC : EIO;
}

int write_grid(const char* path, const ImageGrid& g) {
  vtkNew<vtkImageData> set;
  set->SetDimensions(int(g.n_points[0]), int(g.n_points[1]), int(g.n_points[2]));
  set->SetOrigin(g.origin.data());
  set->SetSpacing(g.spacing.data());
  return write<vtkXMLImageDataWriter>(set, g.fields, path);
}

int write_grid(const char* path, const RectilinearGrid& g) {
  vtkNew<vtkDoubleArray> x, y, z;
  put_array(x, g.x, 1), put_array(y, g.y, 1), put_array(z, g.z, 1);
  x->SetName("x"), y->SetName("y"),
      z->SetName("z");  // else VTK writes the address of the array as its name
  vtkNew<vtkRectilinearGrid> set;
  set->SetDimensions(int(g.x.size()), int(g.y.size()), int(g.z.size()));
  set->SetXCoordinates(x);
  set->SetYCoordinates(y);
  set->SetZCoordinates(z);
  return write<vtkXMLRectilinearGridWriter>(set, g.fields, path);
}

int write_grid(const char* path, const UnstructuredGrid& g) {
  std::vector<int> shapes;
  for (CellShape s : g.shapes) shapes.push_back(static_cast<int>(s));
  vtkNew<vtkUnstructuredGrid> set;
  set->SetPoints(points_of(g.points));
  set->SetCells(shapes.data(), cells_of(g.connectivity, g.offsets));
  return write<vtkXMLUnstructuredGridWriter>(set, g.fields, path);
}

int write_grid(const char* path, const PolyGrid& g) {
  vtkNew<vtkPolyData> set;
  set->SetPoints(points_of(g.points));
  set->SetVerts(cells_of(g.vertices.connectivity, g.vertices.offsets));
  set->SetLines(cells_of(g.lines.connectivity, g.lines.offsets));
  set->SetPolys(cells_of(g.polygons.connectivity, g.polygons.offsets));
  return write<vtkXMLPolyDataWriter>(set, g.fields, path);
}

}  // namespace
}  // namespace tessera::data

extern "C" __attribute__((visibility("default"))) int tessera_write_vtk_xml_1(
    const char* path, const tessera::data::AnyGrid* grid) {
  vtkObject::GlobalWarningDisplayOff();  // the error code says enough
  tessera::data::keep_vtk_to_one_thread();
  return std::visit([&](const auto* g) { return tessera::data::write_grid(path, *g); }, *grid);
}
