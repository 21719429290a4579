// NCCL User Guide, "Fault Tolerance": non-blocking communicators.
#include "kernels/cuda/transport/nccl_communicator.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cstring>
#include <future>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

namespace tidemark {
namespace {

using Clock = std::chrono::steady_clock;

constexpr auto kPollInterval = std::chrono::microseconds(200);
constexpr auto kLeaveBound = std::chrono::seconds(5);
constexpr auto kAbortBound = std::chrono::seconds(2);

static_assert(sizeof(ncclUniqueId) == sizeof(NcclId));

bool is_refusal(ncclResult_t code) { return code != ncclSuccess && code != ncclInProgress; }

}  // namespace

NcclCommunicator::NcclCommunicator(const NcclApi& api, const NcclId& id, std::uint32_t rank,
                                   std::uint32_t ranks, std::uint32_t most_sms)
    : api_(api) {
  ncclUniqueId unique{};
  std::memcpy(&unique, id.data(), id.size());
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  config.blocking = 0;
  if (most_sms != 0) config.maxCTAs = static_cast<int>(most_sms);  // an SM to each
  const ncclResult_t code = api_.comm_init_rank_config(&comm_, static_cast<int>(ranks), unique,
                                                       static_cast<int>(rank), &config);
  if (is_refusal(code)) abort();  // nobody destroys an object whose constructor throws
  nccl_check(api_, code, fmt::format("rank {} of {} joins the communicator", rank, ranks));
}

bool NcclCommunicator::in_progress(const std::string& what) {
  if (comm_ == nullptr) throw Error("the NCCL transport was aborted");
  ncclResult_t state = ncclSuccess;
  nccl_check(api_, api_.comm_get_async_error(comm_, &state), "ask for the communicator's state");
  nccl_check(api_, state, what);
  return state == ncclInProgress;
}

ncclComm_t NcclCommunicator::release() { return std::exchange(comm_, nullptr); }

void NcclCommunicator::abort() noexcept {
  const ncclComm_t comm = release();
  give_up(api_, {&comm, 1});
}

void NcclCommunicator::give_up(const NcclApi& api, std::span<const ncclComm_t> comms) noexcept try {
  const auto deadline = Clock::now() + kAbortBound;
  std::vector<std::future<void>> ends;
  for (const ncclComm_t comm : comms) {
    if (comm == nullptr) continue;
    auto ended = std::make_shared<std::promise<void>>();
    ends.push_back(ended->get_future());
    std::thread([abort = api.comm_abort, comm, ended] {
      (void)abort(comm);
      ended->set_value();
    }).detach();
  }
  for (const std::future<void>& end : ends) (void)end.wait_until(deadline);
} catch (...) {  // no thread to be had: then the communicators stay as they are
}

bool NcclCommunicator::leave() {
  if (comm_ == nullptr) return true;
  const auto deadline = Clock::now() + kLeaveBound;
  ncclResult_t state = api_.comm_finalize(comm_);
  while (state == ncclInProgress && Clock::now() < deadline) {
    std::this_thread::sleep_for(kPollInterval);
    if (api_.comm_get_async_error(comm_, &state) != ncclSuccess) return false;
  }
  return state == ncclSuccess && api_.comm_destroy(release()) == ncclSuccess;
}

}  // namespace tidemark
