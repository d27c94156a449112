// SPDX-License-Identifier: Apache-2.0
//
// Libraries that bring many others with them live in plug-ins, `tessera/libtessera_NAME.so` beside
// Tessera's own libraries, which are loaded with their first use.
#pragma once
#include <string>

namespace tessera {

/// Whether the plug-in is there; it is not loaded. If not, `why_not` says so.
bool plugin_available(const std::string& name, std::string* why_not = nullptr);
/// Loads the plug-in and gives its function `symbol`. Throws Error, with the plug-in's name first,
/// where it is not there, cannot be loaded or is of another version.
void* plugin_function(const std::string& name, const char* symbol);

}  // namespace tessera
