// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

/// Every place of `text` that matches the ECMAScript expression: the whole match, then its groups.
/// (Once in a library: std::regex takes each program that has it over a second to compile.)
std::vector<std::vector<std::string>> matches(const std::string& text,
                                              const std::string& expression);
