// SPDX-License-Identifier: Apache-2.0
#include "tessera/autodiff/box.h"

namespace tessera {

Shape Box::extents() const {
  Shape s = end;
  for (int d = 0; d < s.size(); ++d) s[d] -= begin[d];
  return s;
}
bool Box::empty() const {
  for (int d = 0; d < begin.size(); ++d)
    if (begin[d] >= end[d]) return true;
  return false;
}
bool Box::within(const Box& o) const {
  if (begin.size() != o.begin.size()) return false;
  for (int d = 0; d < begin.size(); ++d)
    if (begin[d] < o.begin[d] || end[d] > o.end[d]) return false;
  return true;
}
Box whole_box(const Shape& s) { return {Shape::filled(s.size(), 0), s}; }
std::string to_string(const Box& b) {
  std::string s;
  for (int d = 0; d < b.begin.size(); ++d)
    s += (d ? " x [" : "[") + std::to_string(b.begin[d]) + ", " + std::to_string(b.end[d]) + ")";
  return s.empty() ? "a scalar" : s;
}

}  // namespace tessera
