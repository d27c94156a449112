// SPDX-License-Identifier: Apache-2.0
#include <tessera/data/quantity.h>

#include <iostream>

using namespace tessera::data;

int main() {
  std::cout << parse_quantity("25 km", dimension::length) << " m\n";
  try {
    parse_quantity("25 s", dimension::length);
  } catch (const QuantityError& e) {
    std::cout << "E0" << e.number() << ": " << e.what() << "\n";
  }
}
