// Fuzz target: the words of a report in its CUDA reproducer. None of them may be code: whatever
// they are, the compiler sees what it sees with plain ones.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "suite/reproducer/reproducer.hpp"
#include "suite/testing/hostile_words.hpp"

using namespace tidemark;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const Program program{.window = 16,
                        .barriers = 1,
                        .regions = {},
                        .maps = {},
                        .steps = {{.verb = Verb::init}},
                        .payload = {}};
  static const std::string plain =
      code_of(cuda_reproducer(program, {.title = "t", .expected = "e", .seen = "s"}));
  const std::string words(reinterpret_cast<const char*>(data), size);
  const std::string code =
      code_of(cuda_reproducer(program, {.title = words, .expected = words, .seen = words}));
  if (code != plain) std::abort();
  return 0;
}
