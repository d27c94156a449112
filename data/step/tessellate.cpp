// SPDX-License-Identifier: Apache-2.0
// The plug-in that OpenCASCADE lives in: nothing else of ours sees a header of it. It runs in
// guarded children alone.
#include "surfaces/step_plugin.h"
#include "tessera/data/triangles.h"

#include <BRepBndLib.hxx>
#include <BRepMesh_IncrementalMesh.hxx>
#include <BRep_Tool.hxx>
#include <Bnd_Box.hxx>
#include <Interface_Check.hxx>
#include <Interface_InterfaceModel.hxx>
#include <Interface_Static.hxx>
#include <Message.hxx>
#include <Message_Messenger.hxx>
#include <Message_Printer.hxx>
#include <Poly_Triangulation.hxx>
#include <Precision.hxx>
#include <STEPControl_Reader.hxx>
#include <Standard_Failure.hxx>
#include <Standard_OutOfMemory.hxx>
#include <StepBasic_MeasureWithUnit.hxx>
#include <StepBasic_NamedUnit.hxx>
#include <TColStd_SequenceOfAsciiString.hxx>
#include <TCollection_HAsciiString.hxx>
#include <TopExp_Explorer.hxx>
#include <TopoDS.hxx>
#include <TopoDS_Face.hxx>
#include <TopoDS_Shape.hxx>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstring>
#include <new>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tessera::data {
namespace {

struct Refused {
  int number;
  std::string text;
};

/// Keeps what OpenCASCADE says of faults, in place of printing it.
class Heard : public Message_Printer {
 public:
  const std::string& text() const { return text_; }

 protected:
  void send(const TCollection_AsciiString& said, const Message_Gravity gravity) const override {
    if (gravity < Message_Warning || text_.size() > 300) return;
    std::string line = said.ToCString();
    std::erase(line, '*');
    line.erase(0, line.find_first_not_of(' '));
    line.erase(line.find_last_not_of(' ') + 1);
    text_ += (text_.empty() ? "" : "; ") + line;
  }

 private:
  mutable std::string text_;
};

/// A unit that OpenCASCADE computes in, in which lengths of the file are near 1: the least distance
/// that it knows is 1e-7 of it.
struct WorkingUnit {
  const char* code;
  double metres;
};
WorkingUnit working_unit(std::string name) {
  for (char& c : name) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  constexpr std::pair<std::string_view, WorkingUnit> units[] = {
      {"MILLIMET", {"MM", 1e-3}}, {"CENTIMET", {"CM", 1e-2}}, {"DECIMET", {"CM", 1e-2}},
      {"MICROMET", {"UM", 1e-6}}, {"NANOMET", {"UM", 1e-6}},  {"PICOMET", {"UM", 1e-6}},
      {"ANGSTROM", {"UM", 1e-6}}, {"KILOMET", {"KM", 1e3}},   {"MICROINCH", {"UIN", 2.54e-8}},
      {"INCH", {"INCH", 0.0254}}, {"FOOT", {"FT", 0.3048}},   {"FEET", {"FT", 0.3048}},
      {"MET", {"M", 1}},          {"MM", {"MM", 1e-3}}};
  if (name == "MIL") return {"MIL", 2.54e-5};
  for (const auto& [begins, unit] : units)
    if (name.substr(0, begins.size()) == begins) return unit;
  throw Refused{383, name.empty() ? "it tells no unit of length"
                                  : "'" + name + "' is no unit of length that is known"};
}

/// OpenCASCADE passes over what it cannot read of a unit.
void check_units(const Interface_InterfaceModel& model) {
  for (int n = 1; n <= model.NbEntities(); ++n) {
    const Handle(Standard_Transient) entity = model.Value(n);
    if (!entity->IsKind(STANDARD_TYPE(StepBasic_NamedUnit)) &&
        !entity->IsKind(STANDARD_TYPE(StepBasic_MeasureWithUnit)))
      continue;
    const Handle(Interface_Check) check = model.Check(n, true);
    if (check->HasFailed())
      throw Refused{383, std::string("the unit ") + model.StringLabel(entity)->ToCString() + ": " +
                             check->CFail(1)};
  }
}

std::size_t count_of(const TopoDS_Shape& shape, TopAbs_ShapeEnum kind) {
  std::size_t n = 0;
  for (TopExp_Explorer e(shape, kind); e.More(); e.Next()) ++n;
  return n;
}

struct Triangles {
  std::vector<std::array<double, 3>> points;
  std::vector<std::array<std::uint32_t, 3>> corners;
};

/// A face that could not be cut into triangles is left out: a hole, which is told where holes are.
Triangles triangles_of(const TopoDS_Shape& shape, double metres) {
  Triangles out;
  for (TopExp_Explorer e(shape, TopAbs_FACE); e.More(); e.Next()) {
    const TopoDS_Face face = TopoDS::Face(e.Current());
    TopLoc_Location place;
    const Handle(Poly_Triangulation) mesh = BRep_Tool::Triangulation(face, place);
    if (mesh.IsNull()) continue;
    const auto first = static_cast<std::uint32_t>(out.points.size());
    if (out.corners.size() + static_cast<std::size_t>(mesh->NbTriangles()) > kMostTriangles)
      throw Refused{374, "more than " + std::to_string(kMostTriangles) + " triangles"};
    for (int n = 1; n <= mesh->NbNodes(); ++n) {
      const gp_Pnt p = mesh->Node(n).Transformed(place.Transformation());
      for (const double x : {p.X(), p.Y(), p.Z()})
        if (!(std::abs(x * metres) <= kFurthestPoint))
          throw Refused{384, "a face reaches to " + std::to_string(x * metres) + " m"};
      out.points.push_back({p.X() * metres, p.Y() * metres, p.Z() * metres});
    }
    const bool turned =
        (face.Orientation() == TopAbs_REVERSED) != place.Transformation().IsNegative();
    for (int n = 1; n <= mesh->NbTriangles(); ++n) {
      int a = 0, b = 0, c = 0;
      mesh->Triangle(n).Get(a, b, c);
      if (turned) std::swap(b, c);
      // At the pole of a sphere, where a side of a face is a point, two corners are one.
      const std::array<std::uint32_t, 3> corners{first + static_cast<std::uint32_t>(a - 1),
                                                 first + static_cast<std::uint32_t>(b - 1),
                                                 first + static_cast<std::uint32_t>(c - 1)};
      const auto &p = out.points[corners[0]], &q = out.points[corners[1]],
                 &r = out.points[corners[2]];
      if (p != q && q != r && r != p) out.corners.push_back(corners);
    }
  }
  return out;
}

void tessellate(const char* path, double chord_m, double chord_share,
                void (*take)(void*, const void*, std::size_t), void* to) {
  const Handle(Heard) heard = new Heard;
  Message::DefaultMessenger()->ChangePrinters().Clear();
  Message::DefaultMessenger()->AddPrinter(heard);
  const auto also = [&] { return heard->text().empty() ? "" : ": " + heard->text(); };
  STEPControl_Reader reader;
  if (reader.ReadFile(path) != IFSelect_RetDone)
    throw Refused{383, "it is no STEP file that can be read" + also()};
  TColStd_SequenceOfAsciiString lengths, angles, solid_angles;
  reader.FileUnits(lengths, angles, solid_angles);
  check_units(*reader.Model());
  StepSurface surface;
  const std::string name = lengths.IsEmpty() ? "" : lengths.First().ToCString();
  std::strncpy(surface.unit, name.c_str(), sizeof surface.unit - 1);
  const WorkingUnit unit = working_unit(name);
  Interface_Static::SetCVal("xstep.cascade.unit", unit.code);
  reader.TransferRoots();
  const TopoDS_Shape shape = reader.OneShape();
  surface.faces = shape.IsNull() ? 0 : count_of(shape, TopAbs_FACE);
  if (surface.faces == 0) throw Refused{384, "it has no faces" + also()};
  surface.solids = count_of(shape, TopAbs_SOLID);
  Bnd_Box box;
  BRepBndLib::Add(shape, box);
  if (box.IsVoid()) throw Refused{384, "its faces have no extent"};
  const double size = std::sqrt(box.SquareExtent()) * unit.metres;
  if (!(size > 0 && size <= kFurthestPoint))
    throw Refused{384, "its faces are " + std::to_string(size) + " m across"};
  const double chord =
      std::max((chord_m > 0 ? chord_m : chord_share * size) / unit.metres, Precision::Confusion());
  constexpr double angle = 0.5;  // between triangles next to each other, rad
  BRepMesh_IncrementalMesh(shape, chord, false, angle, false);
  const Triangles all = triangles_of(shape, unit.metres);
  if (all.corners.empty())
    throw Refused{384, "none of its faces can be cut into triangles within a chord of " +
                           std::to_string(chord) + " of its unit" + also()};
  surface.points = all.points.size();
  surface.triangles = all.corners.size();
  take(to, &surface, sizeof surface);
  take(to, all.points.data(), all.points.size() * sizeof all.points[0]);
  take(to, all.corners.data(), all.corners.size() * sizeof all.corners[0]);
}

}  // namespace
}  // namespace tessera::data

extern "C" void tessera_tessellate_step_1(const char* path, double chord_m, double chord_share,
                                          void (*take)(void*, const void*, std::size_t), void* to,
                                          tessera::data::StepFailure* failure) {
  const auto fail = [&](int number, const std::string& text) {
    failure->number = number;
    std::strncpy(failure->text, text.c_str(), sizeof failure->text - 1);
  };
  try {
    tessera::data::tessellate(path, chord_m, chord_share, take, to);
  } catch (const tessera::data::Refused& r) {
    fail(r.number, r.text);
  } catch (const Standard_OutOfMemory&) {
    fail(374, "memory for its triangles ran out");
  } catch (const std::bad_alloc&) {
    fail(374, "memory for its triangles ran out");
  } catch (const Standard_Failure& e) {
    fail(384, std::string("OpenCASCADE: ") + e.DynamicType()->Name() + ": " + e.GetMessageString());
  }
}
