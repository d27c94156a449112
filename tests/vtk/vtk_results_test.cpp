// SPDX-License-Identifier: Apache-2.0
// The results file of a real run, opened by VTK's own readers: every value comes back with the same
// bits.
#include "tessera/data/hdf5.h"

#include <gtest/gtest.h>
#include <vtkCellData.h>
#include <vtkDataArray.h>
#include <vtkHDFReader.h>
#include <vtkNew.h>
#include <vtkUnstructuredGrid.h>
#include <vtkXMLUnstructuredGridReader.h>

#include <cmath>
#include <cstdlib>

using namespace tessera::data;
namespace fs = std::filesystem;

// The results of a real run: TESSERA_RUN names its folder (the acceptance rows set it).
TEST(VtkResults, OfARunAreReadBackWhole) {
  const char* run = std::getenv("TESSERA_RUN");
  if (!run) GTEST_SKIP() << "TESSERA_RUN names no run folder";
  const auto written = read_h5(fs::path(run) / "results.h5");  // before VTK holds the file open
  vtkNew<vtkHDFReader> hdf;
  hdf->SetFileName((fs::path(run) / "results.h5").c_str());
  hdf->Update();
  auto* section = vtkUnstructuredGrid::SafeDownCast(hdf->GetOutput());
  ASSERT_NE(section, nullptr);
  ASSERT_GT(section->GetNumberOfCells(), 0);
  int compared = 0;
  for (const auto& [name, array] : written) {
    const auto at = name.find("VTKHDF/CellData/");
    const auto* values = std::get_if<std::vector<double>>(&array.data);
    if (at == std::string::npos || !values) continue;
    vtkDataArray* got = section->GetCellData()->GetArray(name.substr(at + 16).c_str());
    ASSERT_NE(got, nullptr) << name;
    ASSERT_EQ(got->GetNumberOfValues(), static_cast<vtkIdType>(values->size()));
    for (vtkIdType i = 0; i < got->GetNumberOfTuples(); ++i)
      for (int c = 0; c < got->GetNumberOfComponents(); ++c, ++compared) {
        const double expected =
            (*values)[static_cast<std::size_t>(i * got->GetNumberOfComponents() + c)];
        const double value = got->GetComponent(i, c);
        ASSERT_TRUE(value == expected || (std::isnan(value) && std::isnan(expected)))
            << name << " " << i;
      }
  }
  EXPECT_GT(compared, 0);
  vtkNew<vtkXMLUnstructuredGridReader> xml;
  xml->SetFileName((fs::path(run) / "vtk" / "section.vtu").c_str());
  xml->Update();
  ASSERT_EQ(xml->GetOutput()->GetNumberOfCells(), section->GetNumberOfCells());
  for (vtkIdType i = 0; i < section->GetNumberOfPoints(); ++i)
    for (int c = 0; c < 3; ++c)
      ASSERT_EQ(xml->GetOutput()->GetPoint(i)[c], section->GetPoint(i)[c]);
  RecordProperty("values_compared", compared);
}
