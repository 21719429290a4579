// The processes of this host, as /proc says.
#include "reports/base/process_state.hpp"

#include <fmt/format.h>
#include <cstdlib>
#include <fstream>
#include <sstream>

namespace tidemark {

std::optional<ProcessState> process_state(int process) {
  const std::string stat = process_file(process, "stat");
  const std::size_t behind = stat.rfind(')');  // of the name, which may hold anything
  if (behind == std::string::npos || behind + 4 >= stat.size()) return std::nullopt;
  return ProcessState{.letter = stat[behind + 2], .parent = std::atoi(stat.c_str() + behind + 4)};
}

std::string process_file(int process, const char* name) {
  std::ifstream file(fmt::format("/proc/{}/{}", process, name), std::ios::binary);
  std::ostringstream text;
  // A process that ends between the opening and the reading makes the read fail, which an
  // istreambuf_iterator would throw; this operator keeps it as a state of `text`.
  text << file.rdbuf();
  return text.str();
}

}  // namespace tidemark
