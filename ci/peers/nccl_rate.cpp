// What NCCL alone brings to each of four GPUs in a grid of 2 x 2 that exchange the panels of a GEMM:
//     mpicxx -std=c++20 -O2 -I/usr/local/cuda/include -o nccl_rate ci/peers/nccl_rate.cpp -L/usr/local/cuda/lib64 -lcudart -lnccl
//     NCCL_NVLS_ENABLE=0 mpirun --bind-to none -n 4 ./nccl_rate
// One process a GPU, blocking communicators. Each rank gets a panel's other half from its neighbour in the row and one from
// that in the column: by send and receive in one group, as tidemark's route nccl, or by all-gathers; from memory of
// cudaMalloc, of ncclMemAlloc, and of that in windows, from which NCCL copies without buffers between. Median of 20 of the
// slowest rank, from an event before the call, by the host behind a barrier, to one behind it. Needs NCCL 2.28.
#include <cuda_runtime_api.h>
#include <mpi.h>
#include <nccl.h>

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

namespace {

constexpr std::size_t kMiB = 1 << 20;
int rank = 0;

void check(int code, int line) {
  if (code == 0) return;
  std::fprintf(stderr, "nccl_rate: rank %d, line %d: code %d\n", rank, line, code);
  MPI_Abort(MPI_COMM_WORLD, 1);
}
#define CHECK(call) check(static_cast<int>(call), __LINE__)

template <class Call>
void time_it(const std::string& what, double bytes, cudaStream_t stream, Call call) {
  cudaEvent_t began, ended;
  CHECK(cudaEventCreate(&began));
  CHECK(cudaEventCreate(&ended));
  std::vector<double> us;
  for (int i = 0; i < 25; ++i) {
    CHECK(cudaStreamSynchronize(stream));
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(cudaEventRecord(began, stream));
    call();
    CHECK(cudaEventRecord(ended, stream));
    CHECK(cudaStreamSynchronize(stream));
    float ms = 0;
    CHECK(cudaEventElapsedTime(&ms, began, ended));
    double slowest = ms * 1e3;
    MPI_Allreduce(MPI_IN_PLACE, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    if (i >= 5) us.push_back(slowest);
  }
  std::sort(us.begin(), us.end());
  const double median = us[us.size() / 2];
  if (rank == 0) std::printf("%-60s %8.1f us  %6.1f GB/s received\n", what.c_str(), median, bytes / median / 1e3);
}

/// Of a panel of two halves: this rank's is `own`, the other comes from `peer`.
void exchange(char* panel, std::size_t half, int own, int peer, int parts, ncclComm_t comm, cudaStream_t stream) {
  const std::size_t part = half / parts;
  for (int i = 0; i < parts; ++i) {
    CHECK(ncclSend(panel + own * half + i * part, part, ncclUint8, peer, comm, stream));
    CHECK(ncclRecv(panel + (1 - own) * half + i * part, part, ncclUint8, peer, comm, stream));
  }
}

}  // namespace

int main(int argc, char** argv) {
  int ranks = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (ranks != 4) {
    if (rank == 0) std::fprintf(stderr, "nccl_rate: needs 4 ranks on as many GPUs, these are %d\n", ranks);
    MPI_Finalize();
    return 2;
  }
  CHECK(cudaSetDevice(rank));
  ncclUniqueId id;
  if (rank == 0) CHECK(ncclGetUniqueId(&id));
  MPI_Bcast(&id, sizeof id, MPI_BYTE, 0, MPI_COMM_WORLD);
  ncclComm_t all, row, column;
  CHECK(ncclCommInitRank(&all, ranks, id, rank));
  CHECK(ncclCommSplit(all, rank / 2, rank, &row, nullptr));
  CHECK(ncclCommSplit(all, rank % 2, rank, &column, nullptr));
  cudaStream_t stream;
  CHECK(cudaStreamCreate(&stream));

  const auto time_all = [&](const std::string& memory, char* a, char* b) {
    for (const std::size_t mib : {32, 128}) {
      const std::size_t half = mib * kMiB;
      const std::string size = std::to_string(mib) + " MiB";
      for (const int parts : {1, 4})
        time_it(memory + " send/recv " + size + " a panel in " + std::to_string(parts), 2.0 * half, stream, [&] {
          CHECK(ncclGroupStart());
          exchange(a, half, rank % 2, rank ^ 1, parts, all, stream);
          exchange(b, half, rank / 2, rank ^ 2, parts, all, stream);
          CHECK(ncclGroupEnd());
        });
      const auto gather = [&] {
        CHECK(ncclAllGather(a + rank % 2 * half, a, half, ncclUint8, row, stream));
        CHECK(ncclAllGather(b + rank / 2 * half, b, half, ncclUint8, column, stream));
      };
      time_it(memory + " all-gather row and column, one group, " + size, 2.0 * half, stream, [&] {
        CHECK(ncclGroupStart());
        gather();
        CHECK(ncclGroupEnd());
      });
      time_it(memory + " all-gather row, then column, " + size, 2.0 * half, stream, gather);
      time_it(memory + " all-gather of all, " + std::to_string(mib / 2) + " MiB a rank", 1.5 * half, stream,
              [&] { CHECK(ncclAllGather(a + rank * half / 2, a, half / 2, ncclUint8, all, stream)); });
    }
  };
  const std::size_t bytes = 512 * kMiB;
  void *a, *b;
  CHECK(cudaMalloc(&a, bytes));
  CHECK(cudaMalloc(&b, bytes));
  time_all("plain", static_cast<char*>(a), static_cast<char*>(b));
  CHECK(ncclMemAlloc(&a, bytes));
  CHECK(ncclMemAlloc(&b, bytes));
  time_all("ncclMemAlloc", static_cast<char*>(a), static_cast<char*>(b));
  ncclWindow_t window;
  CHECK(ncclCommWindowRegister(row, a, bytes, &window, NCCL_WIN_COLL_SYMMETRIC));
  CHECK(ncclCommWindowRegister(column, b, bytes, &window, NCCL_WIN_COLL_SYMMETRIC));
  CHECK(ncclCommWindowRegister(all, a, bytes, &window, NCCL_WIN_COLL_SYMMETRIC));
  CHECK(ncclCommWindowRegister(all, b, bytes, &window, NCCL_WIN_COLL_SYMMETRIC));
  time_all("windows", static_cast<char*>(a), static_cast<char*>(b));
  MPI_Finalize();
}
