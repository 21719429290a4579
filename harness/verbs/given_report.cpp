// Says what the reader found missing, once: a side of compare may be many files.
#include "harness/verbs/given_report.hpp"

#include "harness/command_line/output.hpp"

namespace tidemark::harness {

Report given_report(const std::string& path) {
  static bool said = false;
  Protection protection{};
  Report report = read_report(path, protection);
  if (!said && !note_of(protection).empty()) {
    write_error(std::string(note_of(protection)) + '\n');
    said = true;
  }
  return report;
}

}  // namespace tidemark::harness
