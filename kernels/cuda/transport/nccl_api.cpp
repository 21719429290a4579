// Finds libnccl.so.2 and the functions in it. Never linked: only the types come from nccl.h.
#include "kernels/cuda/transport/nccl_api.hpp"

#include <dlfcn.h>
#include <fmt/core.h>

#include <cstdlib>

namespace tidemark {
namespace {

template <class Function>
void look_up(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  if (function == nullptr)
    throw Error(fmt::format("libnccl.so.2 has no {}: install NCCL 2.14 or newer", name));
}

}  // namespace

NcclApi load_nccl(const char* library) {
  // No route of panels needs it. Left on, NCCL sets up NVLink multicast that nobody uses, on a
  // communicator's first breath. A value that the user chose stays.
  (void)setenv("NCCL_NVLS_ENABLE", "0", 0);
  // Never closed: NCCL's own threads may still run in it when the program ends.
  void* const handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr)
    throw Error(
        fmt::format("cannot load NCCL ({}): install it or add its folder to "
                    "LD_LIBRARY_PATH",
                    dlerror()));
  NcclApi api;
  look_up(handle, "ncclGetErrorString", api.get_error_string);
  look_up(handle, "ncclGetLastError", api.get_last_error);
  look_up(handle, "ncclGetUniqueId", api.get_unique_id);
  look_up(handle, "ncclCommInitRankConfig", api.comm_init_rank_config);
  look_up(handle, "ncclCommGetAsyncError", api.comm_get_async_error);
  look_up(handle, "ncclCommFinalize", api.comm_finalize);
  look_up(handle, "ncclCommDestroy", api.comm_destroy);
  look_up(handle, "ncclCommAbort", api.comm_abort);
  look_up(handle, "ncclGroupStart", api.group_start);
  look_up(handle, "ncclGroupEnd", api.group_end);
  look_up(handle, "ncclSend", api.send);
  look_up(handle, "ncclRecv", api.recv);
  return api;
}

const NcclApi& nccl_api() {
  static const NcclApi api = load_nccl();
  return api;
}

void nccl_check(const NcclApi& api, ncclResult_t code, const std::string& what, Where where) {
  if (code == ncclSuccess || code == ncclInProgress) return;
  const char* const detail = api.get_last_error(nullptr);
  const bool more = detail != nullptr && detail[0] != '\0';
  throw Error(fmt::format("{}: NCCL: {} ({}){}{}", what, api.get_error_string(code),
                          static_cast<int>(code), more ? ": " : "", more ? detail : ""),
              where);
}

}  // namespace tidemark
