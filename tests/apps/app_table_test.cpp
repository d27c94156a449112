// SPDX-License-Identifier: Apache-2.0
// The applications of `tessera` are the folders apps/DOMAIN/APP with an app.cpp, under these names.
#include "app_test.h"
#include "test_paths.h"

#include <set>
#include <sstream>

using namespace tessera::testing;
namespace fs = std::filesystem;

namespace {

class AppTable : public AppTest {};

TEST_F(AppTable, TheApplicationsAreTheFolders) {
  std::set<std::string> folders, listed;
  for (const fs::directory_entry& domain :
       fs::directory_iterator(fs::path(TESSERA_SOURCE_DIR) / "apps"))
    if (domain.is_directory())
      for (const fs::directory_entry& app : fs::directory_iterator(domain))
        if (fs::exists(app.path() / "app.cpp"))
          folders.insert(domain.path().filename().string() + "." + app.path().filename().string());
  std::istringstream lines(tessera({"list", "apps"}).out);
  for (std::string line; std::getline(lines, line);) listed.insert(line.substr(0, line.find(' ')));
  EXPECT_EQ(listed, folders);
}

TEST_F(AppTable, HelpSaysWhichInputOfOtherProgramsImportTakes) {
  const std::string all = tessera({"--help"}).out, of_verb = tessera({"import", "--help"}).out;
  for (const char* program : {"GROMACS", "ModEM", "MARE2DEM"})
    EXPECT_TRUE(holds(all, program)) << program;
  for (const char* ending : {".mdp", ".dat", ".emdata", ".resp", ".resistivity"})
    EXPECT_TRUE(holds(of_verb, std::string("\n  ") + ending + " ")) << of_verb;
  const std::string unknown = tessera({"import", "x.unknown"}).err;
  for (const char* what : {"GROMACS's run parameters", "MARE2DEM's data", "ModEM's list of data"})
    EXPECT_TRUE(holds(of_verb, what) && holds(unknown, what)) << of_verb << unknown;
}

}  // namespace
