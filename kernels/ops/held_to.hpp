// What the result of an operation is judged by.
#pragma once

#include <cstdint>

namespace tidemark {

/// What a row is held to; the devices do not look at it.
enum class HeldTo : std::uint8_t {
  documents,    // what NVIDIA promises
  measurement,  // also what was measured where the documents stop
  record,       // the documents stop and nothing was measured yet: that part is noted, not judged
};

}  // namespace tidemark
