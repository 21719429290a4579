// The extra work of a slowed benchmark on the virtual device, where work has no units.
#pragma once

#include <string>

namespace tidemark::kernels {

/// Keeps the host at work for so long.
void spin_on_host(double ns);

/// What a note says of it.
std::string host_spin_note(double ns);

}  // namespace tidemark::kernels
