// SPDX-License-Identifier: Apache-2.0
// What we write, read back by VTK's own readers.
#include "temp_folder.h"
#include "tessera/autodiff/error.h"
#include "tessera/data/vtk_xml.h"
#include "tessera/data/vtkhdf.h"

#include <gtest/gtest.h>
#include <vtkCellArray.h>
#include <vtkCellData.h>
#include <vtkDataArray.h>
#include <vtkHDFReader.h>
#include <vtkImageData.h>
#include <vtkNew.h>
#include <vtkPointData.h>
#include <vtkPolyData.h>
#include <vtkRectilinearGrid.h>
#include <vtkUnstructuredGrid.h>
#include <vtkXMLImageDataReader.h>
#include <vtkXMLPolyDataReader.h>
#include <vtkXMLRectilinearGridReader.h>
#include <vtkXMLUnstructuredGridReader.h>

using namespace tessera::data;
using namespace tessera::testing;

namespace {

FieldArray field(const std::string& name, std::size_t rows, std::size_t components = 1) {
  FieldArray f{.name = name, .units = "ohm*m", .values = {}, .components = components};
  for (std::size_t i = 0; i < rows * components; ++i) f.values.push_back(0.1 + double(i) / 7);
  return f;
}

void expect_fields(vtkDataSetAttributes* got, const std::vector<FieldArray>& want,
                   const std::string& suffix) {
  ASSERT_EQ(got->GetNumberOfArrays(), int(want.size()));
  for (const FieldArray& f : want) {
    vtkDataArray* a = got->GetArray((f.name + suffix).c_str());
    ASSERT_TRUE(a) << f.name;
    ASSERT_EQ(a->GetNumberOfComponents(), int(f.components));
    ASSERT_EQ(a->GetNumberOfValues(), vtkIdType(f.values.size()));
    for (vtkIdType i = 0; i < a->GetNumberOfValues(); ++i)
      ASSERT_EQ(
          a->GetComponent(i / a->GetNumberOfComponents(), int(i % a->GetNumberOfComponents())),
          f.values[std::size_t(i)]);
  }
}
void expect_fields(vtkDataSet* got, const GridFields& want, const std::string& suffix) {
  expect_fields(got->GetPointData(), want.points, suffix);
  expect_fields(got->GetCellData(), want.cells, suffix);
}
void expect_points(vtkPointSet* got, const std::vector<double>& want) {
  ASSERT_EQ(got->GetNumberOfPoints(), vtkIdType(want.size() / 3));
  for (vtkIdType i = 0; i < got->GetNumberOfPoints(); ++i)
    for (int k = 0; k < 3; ++k) ASSERT_EQ(got->GetPoint(i)[k], want[std::size_t(3 * i + k)]);
}

ImageGrid image() {
  ImageGrid g{.n_points = {4, 3, 2}, .origin = {1, 2, -3}, .spacing = {0.5, 2, 10}};
  g.fields.points = {field("rho", 24), field("v", 24, 3)};
  g.fields.cells = {field("c", 6)};
  return g;
}
UnstructuredGrid two_cells() {  // a quad and a triangle side by side, in the plane y = 0
  UnstructuredGrid g{.points = {0, 0, 0, 1, 0, 0, 1, 0, 1, 0, 0, 1, 2, 0, 0.5},
                     .connectivity = {0, 1, 2, 3, 1, 4, 2},
                     .offsets = {0, 4, 7},
                     .shapes = {CellShape::quad, CellShape::triangle}};
  g.fields.points = {field("p", 5)};
  g.fields.cells = {field("c", 2), field("w", 2, 2)};
  return g;
}
void expect_two_cells(vtkUnstructuredGrid* got) {
  const UnstructuredGrid want = two_cells();
  expect_points(got, want.points);
  ASSERT_EQ(got->GetNumberOfCells(), 2);
  EXPECT_EQ(got->GetCellType(0), 9);
  EXPECT_EQ(got->GetCellType(1), 5);
  std::vector<std::int64_t> ids;
  for (vtkIdType c = 0; c < 2; ++c) {
    vtkNew<vtkIdList> list;
    got->GetCellPoints(c, list);
    for (vtkIdType k = 0; k < list->GetNumberOfIds(); ++k) ids.push_back(list->GetId(k));
  }
  EXPECT_EQ(ids, want.connectivity);
}
PolyGrid poly() {
  PolyGrid g{.points = {0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0}};
  g.vertices = {.connectivity = {3}, .offsets = {0, 1}};
  g.lines = {.connectivity = {0, 1, 2}, .offsets = {0, 3}};
  g.polygons = {.connectivity = {0, 1, 2, 3}, .offsets = {0, 4}};
  g.fields.points = {field("p", 4)};
  g.fields.cells = {field("c", 3)};
  return g;
}

template <class Grid>
vtkNew<vtkHDFReader> through_hdf(const std::filesystem::path& path, const Grid& grid) {
  H5Writer w(path);
  write_vtkhdf(w, grid);
  w.write("tessera/own", std::vector<double>{1, 2, 3});  // our own data beside it must not disturb
  w.commit();
  vtkNew<vtkHDFReader> reader;
  reader->SetFileName(path.c_str());
  reader->Update();
  return reader;
}

}  // namespace

TEST(VtkHdf, ImageDataReadByVtk) {
  TempFolder dir;
  ImageGrid g = image();
  g.fields.cells.clear();
  const auto reader = through_hdf(dir / "r.h5", g);
  auto* got = vtkImageData::SafeDownCast(reader->GetOutputDataObject(0));
  ASSERT_TRUE(got);
  for (int k = 0; k < 3; ++k) {
    EXPECT_EQ(got->GetDimensions()[k], int(g.n_points[std::size_t(k)]));
    EXPECT_EQ(got->GetOrigin()[k], g.origin[std::size_t(k)]);
    EXPECT_EQ(got->GetSpacing()[k], g.spacing[std::size_t(k)]);
  }
  expect_fields(got, g.fields, "");
}

TEST(VtkHdf, WhatTheReaderCannotTakeIsRefused) {
  TempFolder dir;
  H5Writer w(dir / "r.h5");
  EXPECT_THROW(write_vtkhdf(w, image()), tessera::Error);  // cell fields on an image
  EXPECT_THROW(write_vtkhdf(w, ImageGrid{.n_points = {5, 4, 1}}), tessera::Error);
  UnstructuredGrid g = two_cells();
  g.fields.cells[0].name = "a/b";
  EXPECT_THROW(write_vtkhdf(w, g), tessera::Error);
}

TEST(VtkHdf, UnstructuredGridReadByVtk) {
  TempFolder dir;
  const auto reader = through_hdf(dir / "r.h5", two_cells());
  auto* got = vtkUnstructuredGrid::SafeDownCast(reader->GetOutputDataObject(0));
  ASSERT_TRUE(got);
  expect_two_cells(got);
  expect_fields(got, two_cells().fields, "");
}

TEST(VtkHdf, PolyDataHasTheLayoutOfVersion2) {
  TempFolder dir;
  H5Writer w(dir / "r.h5");
  write_vtkhdf(w, poly());
  w.commit();
  const auto all = read_h5(dir / "r.h5");
  for (const char* group : {"Vertices", "Lines", "Polygons", "Strips"})
    for (const char* name : {"NumberOfCells", "NumberOfConnectivityIds", "Connectivity", "Offsets"})
      EXPECT_TRUE(all.contains(std::string("/VTKHDF/") + group + "/" + name)) << group << name;
  EXPECT_EQ(std::get<std::vector<std::int64_t>>(all.at("/VTKHDF/Lines/Connectivity").data),
            (std::vector<std::int64_t>{0, 1, 2}));
}

TEST(VtkXml, ImageDataReadByVtk) {
  TempFolder dir;
  write_vtk_xml(dir / "a.vti", image());
  vtkNew<vtkXMLImageDataReader> reader;
  reader->SetFileName((dir / "a.vti").c_str());
  reader->Update();
  EXPECT_EQ(reader->GetOutput()->GetOrigin()[2], -3);
  expect_fields(reader->GetOutput(), image().fields, " [ohm*m]");
}

TEST(VtkXml, RectilinearGridReadByVtk) {
  TempFolder dir;
  RectilinearGrid g{.x = {0, 1, 10, 100}, .y = {-1, 1}, .z = {0, 5, 7}};
  g.fields.points = {field("p", 24)};
  g.fields.cells = {field("c", 6)};
  write_vtk_xml(dir / "a.vtr", g);
  vtkNew<vtkXMLRectilinearGridReader> reader;
  reader->SetFileName((dir / "a.vtr").c_str());
  reader->Update();
  EXPECT_EQ(reader->GetOutput()->GetXCoordinates()->GetComponent(3, 0), 100);
  EXPECT_EQ(reader->GetOutput()->GetZCoordinates()->GetComponent(2, 0), 7);
  expect_fields(reader->GetOutput(), g.fields, " [ohm*m]");
}

TEST(VtkXml, UnstructuredGridReadByVtk) {
  TempFolder dir;
  write_vtk_xml(dir / "a.vtu", two_cells());
  vtkNew<vtkXMLUnstructuredGridReader> reader;
  reader->SetFileName((dir / "a.vtu").c_str());
  reader->Update();
  expect_two_cells(reader->GetOutput());
  expect_fields(reader->GetOutput(), two_cells().fields, " [ohm*m]");
}

TEST(VtkXml, PolyDataReadByVtk) {
  TempFolder dir;
  write_vtk_xml(dir / "a.vtp", poly());
  vtkNew<vtkXMLPolyDataReader> reader;
  reader->SetFileName((dir / "a.vtp").c_str());
  reader->Update();
  expect_points(reader->GetOutput(), poly().points);
  EXPECT_EQ(reader->GetOutput()->GetNumberOfVerts(), 1);
  EXPECT_EQ(reader->GetOutput()->GetNumberOfLines(), 1);
  EXPECT_EQ(reader->GetOutput()->GetNumberOfPolys(), 1);
  expect_fields(reader->GetOutput(), poly().fields, " [ohm*m]");
}

TEST(VtkXml, GridsThatDoNotFitAreRefused) {
  TempFolder dir;
  ImageGrid g = image();
  g.fields.cells[0].values.pop_back();
  EXPECT_THROW(write_vtk_xml(dir / "a.vti", g), tessera::Error);
  UnstructuredGrid u = two_cells();
  u.connectivity[0] = 5;
  EXPECT_THROW(write_vtk_xml(dir / "a.vtu", u), tessera::Error);
  EXPECT_TRUE(std::filesystem::is_empty(dir.path()));
}
