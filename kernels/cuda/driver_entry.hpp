// The driver API, looked up at run time, so that the program starts without a driver.
#pragma once

namespace tidemark::kernels {

/// The entry point `name` of the driver as of CUDA `version` (12000 for 12.0), of which the driver
/// has to be capable. Throws Error where it is not. The caller knows its type.
void* driver_entry(const char* name, unsigned version);

}  // namespace tidemark::kernels
