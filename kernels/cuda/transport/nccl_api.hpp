// NCCL as found at run time: the program starts, lists and compares where there is none.
#pragma once

#include <nccl.h>

#include <string>

#include "kernels/error.hpp"

namespace tidemark {

/// The functions of libnccl.so.2 that the transports call; since NCCL 2.14.
struct NcclApi {
  decltype(&ncclGetErrorString) get_error_string = nullptr;
  decltype(&ncclGetLastError) get_last_error = nullptr;
  decltype(&ncclGetUniqueId) get_unique_id = nullptr;
  decltype(&ncclCommInitRankConfig) comm_init_rank_config = nullptr;
  decltype(&ncclCommGetAsyncError) comm_get_async_error = nullptr;
  decltype(&ncclCommFinalize) comm_finalize = nullptr;
  decltype(&ncclCommDestroy) comm_destroy = nullptr;
  decltype(&ncclCommAbort) comm_abort = nullptr;
  decltype(&ncclGroupStart) group_start = nullptr;
  decltype(&ncclGroupEnd) group_end = nullptr;
  decltype(&ncclSend) send = nullptr;
  decltype(&ncclRecv) recv = nullptr;
};

/// Loads `library`. Throws Error where it is absent, lacks a function or is older than 2.14.
NcclApi load_nccl(const char* library = "libnccl.so.2");

/// load_nccl() once for the whole program.
const NcclApi& nccl_api();

/// Throws Error with NCCL's words for every code but success and in-progress. `what` says what was
/// tried.
void nccl_check(const NcclApi& api, ncclResult_t code, const std::string& what,
                Where where = Where::here());

}  // namespace tidemark
