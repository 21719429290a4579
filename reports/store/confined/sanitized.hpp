// Whether AddressSanitizer watches this build: it needs calls that a confined process otherwise may
// not make, and ends a process that gets no memory before `operator new` can say so.
#pragma once

namespace tidemark::reports {

#ifdef __SANITIZE_ADDRESS__
inline constexpr bool kAddressSanitized = true;
#else
inline constexpr bool kAddressSanitized = false;
#endif

}  // namespace tidemark::reports
