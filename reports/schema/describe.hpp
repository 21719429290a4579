// The schema of reports for people and programs, made from the one description of the tables.
#pragma once

#include <string>

namespace tidemark::reports {

/// Every root attribute, table and column with type, unit and meaning, as text.
std::string schema_text();

/// The same as JSON: "format", "major", "minor", "attributes", "tables" with "columns", "verdicts".
std::string schema_json();

}  // namespace tidemark::reports
