// The namespace of this room: names of the three others stand in it without a prefix.
#pragma once

namespace tidemark::kernels {}
namespace tidemark::suite {}
namespace tidemark::reports {}

namespace tidemark::harness {
using namespace kernels;
using namespace suite;
using namespace reports;
}  // namespace tidemark::harness
