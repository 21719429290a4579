// NCCL User Guide, "Fault Tolerance": non-blocking communicators.
#include "kernels/cuda/transport/nccl_communicator.hpp"

#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <future>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

namespace tidemark::kernels {
namespace {

using Clock = std::chrono::steady_clock;

constexpr auto kPollInterval = std::chrono::microseconds(200);
constexpr auto kLeaveBound = std::chrono::seconds(5);
constexpr auto kAbortBound = std::chrono::seconds(2);

static_assert(sizeof(ncclUniqueId) == sizeof(NcclId));

ncclConfig_t config_of(const NcclMeans& means) {
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  config.blocking = 0;
  if (means.most_sms != 0) config.maxCTAs = static_cast<int>(means.most_sms);  // an SM to each
  if (means.copy_engines) config.CTAPolicy = NCCL_CTA_POLICY_ZERO;
  return config;
}

bool is_refusal(ncclResult_t code) { return code != ncclSuccess && code != ncclInProgress; }

}  // namespace

NcclCommunicator::NcclCommunicator(const NcclApi& api, const NcclId& id, std::uint32_t rank,
                                   std::uint32_t ranks, const NcclMeans& means)
    : api_(api) {
  ncclUniqueId unique{};
  std::memcpy(&unique, id.data(), id.size());
  ncclConfig_t config = config_of(means);
  const ncclResult_t code = api_.comm_init_rank_config(&comm_, static_cast<int>(ranks), unique,
                                                       static_cast<int>(rank), &config);
  if (is_refusal(code)) abort();  // nobody destroys an object whose constructor throws
  nccl_check(api_, code, fmt::format("rank {} of {} joins the communicator", rank, ranks));
}

NcclCommunicator::NcclCommunicator(const NcclCommunicator& whole, std::uint32_t color,
                                   std::uint32_t rank, const NcclMeans& means)
    : api_(whole.api_), whole_(whole.comm_), split_off_(std::make_unique<ncclComm_t>(nullptr)) {
  ncclConfig_t config = config_of(means);
  nccl_check(api_,
             api_.comm_split(whole_, static_cast<int>(color), static_cast<int>(rank),
                             split_off_.get(), &config),
             fmt::format("rank {} splits the communicator", rank));
}

bool NcclCommunicator::in_progress(const std::string& what) {
  ncclComm_t const asked = comm_ != nullptr ? comm_ : whole_;
  if (asked == nullptr) throw Error("the NCCL transport was aborted");
  ncclResult_t state = ncclSuccess;
  nccl_check(api_, api_.comm_get_async_error(asked, &state), "ask for the communicator's state");
  nccl_check(api_, state, what);
  if (state == ncclInProgress) return true;
  if (comm_ != nullptr) return false;
  comm_ = std::atomic_ref(*split_off_).load(std::memory_order_acquire);
  if (comm_ != nullptr) split_off_.reset();
  return true;  // its own state comes next
}

ncclComm_t NcclCommunicator::release() {
  whole_ = nullptr;
  static_cast<void>(split_off_.release());
  return std::exchange(comm_, nullptr);
}

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

}  // namespace tidemark::kernels
