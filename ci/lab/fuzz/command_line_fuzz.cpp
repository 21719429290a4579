// Fuzz target: a command line, one argument a line, up to the moment at which its verb would act.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "harness/base/errors.hpp"
#include "harness/verbs/verbs.hpp"
#include "reports/base/error.hpp"

using namespace tidemark;

extern "C" int LLVMFuzzerInitialize(int* /*argc*/, char*** /*argv*/) {
  return std::freopen("/dev/null", "w", stdout) == nullptr ? 1 : 0;  // help
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::vector<std::string> words = {"tidemark", ""};
  for (std::size_t i = 0; i < size; ++i) {
    if (data[i] == '\n' || data[i] == '\0') {
      words.emplace_back();
    } else {
      words.back() += static_cast<char>(data[i]);
    }
  }
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  try {
    run_command_line(static_cast<int>(words.size()), arguments.data(),
                     [](const Action&) { return ExitCode::ok; });
  } catch (const UsageError& error) {
    if (std::string_view(error.what()).empty()) std::abort();
  } catch (const EnvironmentError&) {
  } catch (const tidemark::ReportError&) {
  }
  return 0;
}
