// SPDX-License-Identifier: Apache-2.0
#include <tessera/data/build_info.h>

#include <iostream>

int main() { std::cout << "Tessera " << tessera::data::build_info().version << "\n"; }
