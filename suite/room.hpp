// The namespace of this room: names of kernels/ stand in it without a prefix.
#pragma once

namespace tidemark::kernels {}

namespace tidemark::suite {
using namespace kernels;
}  // namespace tidemark::suite
