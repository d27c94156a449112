// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "support/command_line.h"
#include "tessera/data/diagnostic.h"

#include <string>
#include <vector>

namespace tessera::apps {

/// Findings for people on stderr (in colour on a terminal, unless NO_COLOR is set), or with --json
/// as an array on stdout:
/// [{"severity", "number", "file", "line", "column", "byte", "message", "hint", "source_line"}].
void report(const std::vector<data::Diagnostic>& findings, bool json);
/// What is found at one place twice, by those who read it again, is told once.
std::vector<data::Diagnostic> once(std::vector<data::Diagnostic> findings);

bool has_errors(const std::vector<data::Diagnostic>& findings);
/// Whether the errors of these inputs are in the way of a run.
bool stops(const CheckReport& inputs, const RunOptions& options);

/// A mistake on the command line itself: exit 2.
data::InputError usage_error(std::string message, std::string hint = {});

/// Inside single quotes of a shell.
std::string shell_quoted(std::string text);

/// A path as a shell takes it, in a command that may be copied: 'a b/case.toml'.
std::string for_shell(const std::string& path);

/// "1.5 MiB", "12 bytes"
std::string bytes_text(double bytes);

/// A table as text, its columns as wide as their widest cell.
std::string text_of(const std::vector<std::vector<std::string>>& table);

/// What docs/reference/errors.md says of E-number `number` ("E0213"); empty if it is not listed.
std::string explain_error(const std::string& number);

}  // namespace tessera::apps
