// Which SMs of the device are in one GPC: CTAs that say which SM they are on, and stay there while
// the others say so.
#include <cuda/ptx>
#include <map>
#include <mutex>
#include <set>
#include <utility>
#include <vector>

#include "kernels/cuda/buffer.hpp"
#include "kernels/cuda/check.hpp"
#include "kernels/cuda/gemm/engine/configuration.hpp"
#include "kernels/cuda/gemm/engine/placement.hpp"
#include "kernels/error.hpp"

namespace tidemark {
namespace {

constexpr std::uint64_t kStayNs = 20'000;  // until the last block of a grid has begun

__global__ void tell_sm(std::uint32_t* sm) {
  namespace ptx = cuda::ptx;
  if (threadIdx.x != 0) return;
  sm[blockIdx.x] = ptx::get_sreg_smid();
  const std::uint64_t start = ptx::get_sreg_globaltimer();
  // Without it a block could take the SM of one that has ended.
  while (ptx::get_sreg_globaltimer() - start < kStayNs) {
  }
}

/// SMs of the blocks of one grid of as many clusters of `blocks` as fit at once; none where not one
/// does. `crowded` becomes true where two blocks had one SM: they were not there at the same time.
std::vector<std::uint32_t> sms_of_blocks(std::uint32_t blocks, const DeviceBuffer& told,
                                         const Stream& stream, bool& crowded) {
  cudaLaunchAttribute cluster{};
  cluster.id = cudaLaunchAttributeClusterDimension;
  cluster.val.clusterDim = {blocks, 1, 1};
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(blocks);
  config.blockDim = dim3(kEngineThreads);
  config.dynamicSmemBytes = kMostSharedBytes;  // an SM to each block, as in the engine
  config.stream = stream.get();
  config.attrs = &cluster;
  config.numAttrs = 1;
  int clusters = 0;
  if (cudaOccupancyMaxActiveClusters(&clusters, tell_sm, &config) != cudaSuccess) {
    (void)cudaGetLastError();  // a device need not know clusters of that size
    return {};
  }
  if (clusters < 1) return {};
  std::vector<std::uint32_t> sms(static_cast<std::size_t>(clusters) * blocks);
  if (sms.size() * sizeof(std::uint32_t) > told.size()) throw Error("more SMs than sm_90 has");
  config.gridDim = dim3(static_cast<unsigned>(sms.size()));
  cuda_check(cudaLaunchKernelEx(&config, tell_sm, told.as<std::uint32_t>()), "ask for SMs");
  cuda_check(cudaMemcpyAsync(sms.data(), told.data(), sms.size() * sizeof(std::uint32_t),
                             cudaMemcpyDeviceToHost, stream.get()),
             "read numbers of SMs");
  cuda_check(cudaStreamSynchronize(stream.get()), "wait for numbers of SMs");
  crowded = crowded || std::set<std::uint32_t>(sms.begin(), sms.end()).size() != sms.size();
  return sms;
}

/// SMs that are known to be in one GPC: those of one cluster, and of clusters that share an SM.
class Neighbours {
 public:
  std::uint32_t gpc_of(std::uint32_t sm) {
    while (sm >= of_.size()) of_.push_back(static_cast<std::uint32_t>(of_.size()));
    while (of_[sm] != sm) sm = of_[sm];
    return sm;
  }
  void join(std::uint32_t left, std::uint32_t right) {
    const std::uint32_t into = gpc_of(left);
    of_[gpc_of(right)] = into;
  }
  /// One more than the largest number that was named.
  std::uint32_t sms() const { return static_cast<std::uint32_t>(of_.size()); }

 private:
  std::vector<std::uint32_t> of_;  // a neighbour of each, or itself
};

/// `crowded` becomes true where SMs may be missing from their GPC, since another kernel was there.
/// Empty where that was so in the launch that shows where clusters go.
GpcsOfDevice find_gpcs(std::uint32_t blocks, bool& crowded) {
  cuda_check(cudaFuncSetAttribute(tell_sm, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                  static_cast<int>(kMostSharedBytes)),
             "give blocks an SM each");
  // GPCs of up to 18 SMs: clusters of 16 leave two of them out, and those of 6 and 4 lie across.
  cuda_check(cudaFuncSetAttribute(tell_sm, cudaFuncAttributeNonPortableClusterSizeAllowed, 1),
             "allow clusters of more than 8 blocks");
  // Kernels of this process would be in the way.
  cuda_check(cudaDeviceSynchronize(), "wait for the device");
  const Stream stream;
  const DeviceBuffer told(kMostPlacedSms * sizeof(std::uint32_t));
  Neighbours neighbours;
  for (const std::uint32_t size : {16U, 14U, 12U, 10U, 8U, 6U, 4U, 2U}) {
    const std::vector<std::uint32_t> sms = sms_of_blocks(size, told, stream, crowded);
    // True of any cluster, whenever it ran.
    for (std::size_t i = 0; i < sms.size(); ++i) neighbours.join(sms[i / size * size], sms[i]);
  }
  bool shared = false;
  const std::vector<std::uint32_t> sms = sms_of_blocks(blocks, told, stream, shared);
  crowded = crowded || shared;
  if (shared) return {};
  std::map<std::uint32_t, std::uint32_t> numbers;
  const auto number_of = [&](std::uint32_t sm) {
    const auto next = static_cast<std::uint32_t>(numbers.size());
    return numbers.emplace(neighbours.gpc_of(sm), next).first->second;
  };
  GpcsOfDevice gpcs;
  for (std::size_t i = 0; i < sms.size(); i += blocks) gpcs.of_cluster.push_back(number_of(sms[i]));
  for (std::uint32_t sm = 0; sm < neighbours.sms(); ++sm) gpcs.of_sm.push_back(number_of(sm));
  return gpcs;
}

/// The last of three attempts that says something, or the first with the device to itself.
GpcsOfDevice ask_for_gpcs(std::uint32_t blocks) {
  GpcsOfDevice known;
  for (int attempt = 0; attempt < 3; ++attempt) {
    try {
      bool crowded = false;
      GpcsOfDevice gpcs = find_gpcs(blocks, crowded);
      if (!gpcs.of_sm.empty()) known = std::move(gpcs);
      if (!crowded) break;
    } catch (const StickyError&) {
      throw;
    } catch (const Error&) {     // a product is as right without it
      (void)cudaGetLastError();  // which whoever launches next would take for its own
    }
  }
  return known;
}

}  // namespace

GpcsOfDevice gpcs_of_device(std::uint32_t blocks) {
  static std::mutex mutex;
  static std::map<std::pair<int, std::uint32_t>, GpcsOfDevice> known;
  int device = 0;
  cuda_check(cudaGetDevice(&device), "ask for the current GPU");
  const std::lock_guard lock(mutex);
  const std::pair key{device, blocks};
  const auto found = known.find(key);
  return found != known.end() ? found->second
                              : known.emplace(key, ask_for_gpcs(blocks)).first->second;
}

}  // namespace tidemark
