// The link over MPI: every call is one of the non-blocking ones, so that a rank that is gone can
// never hold this one.
// mpi.h brings the C++ bindings that MPI 3 removed, and with them a library that nobody links.
#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>

#include <deque>
#include <list>
#include <memory>

#include "harness/relay/mesh.hpp"
#include "kernels/error.hpp"

namespace tidemark {
namespace {

constexpr std::size_t kLongestMessage = std::size_t{1} << 30;  // MPI counts in int

void check(int code, const char* what) {
  if (code == MPI_SUCCESS) return;
  std::string text(MPI_MAX_ERROR_STRING, '\0');
  int length = 0;
  MPI_Error_string(code, text.data(), &length);
  text.resize(static_cast<std::size_t>(length));
  throw Error(std::string(what) + ": " + text);
}

struct Transfer {
  MPI_Request request = MPI_REQUEST_NULL;
  Message message;             // of a receive
  SharedBytes sent = nullptr;  // of a send

  bool done() {
    int flag = 0;
    check(MPI_Test(&request, &flag, MPI_STATUS_IGNORE), "MPI_Test");
    return flag != 0;
  }
};

class Traffic {
 public:
  void send(std::uint32_t to, Tag tag, SharedBytes bytes) {
    if (bytes->size() > kLongestMessage) {
      throw Error("a message of " + std::to_string(bytes->size()) + " bytes is too long for MPI");
    }
    unsent_ += bytes->size();
    // The list keeps the bytes until MPI is done with them.
    Transfer& transfer = sends_.emplace_back();
    transfer.sent = std::move(bytes);
    check(MPI_Isend(transfer.sent->data(), static_cast<int>(transfer.sent->size()), MPI_BYTE,
                    static_cast<int>(to), static_cast<int>(tag), MPI_COMM_WORLD, &transfer.request),
          "MPI_Isend");
  }

  std::optional<Message> receive() {
    finish_sends();
    accept_one();
    // In the order in which they were matched: MPI matches messages of one sender in order.
    if (receives_.empty() || !receives_.front()->done()) return std::nullopt;
    Message message = std::move(receives_.front()->message);
    receives_.pop_front();
    return message;
  }

  std::size_t unsent_bytes() {
    finish_sends();
    return unsent_;
  }

  bool idle() {
    finish_sends();
    return sends_.empty();
  }

 private:
  void finish_sends() {
    for (auto transfer = sends_.begin(); transfer != sends_.end();) {
      if (transfer->done()) {
        unsent_ -= transfer->sent->size();
        transfer = sends_.erase(transfer);
      } else {
        ++transfer;
      }
    }
  }

  void accept_one() {
    int there = 0;
    MPI_Message matched = MPI_MESSAGE_NULL;
    MPI_Status status;
    check(MPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &there, &matched, &status),
          "MPI_Improbe");
    if (there == 0) return;
    int bytes = 0;
    check(MPI_Get_count(&status, MPI_BYTE, &bytes), "MPI_Get_count");
    auto transfer = std::make_unique<Transfer>();
    transfer->message = {.from = static_cast<std::uint32_t>(status.MPI_SOURCE),
                         .tag = static_cast<Tag>(status.MPI_TAG),
                         .bytes = std::string(static_cast<std::size_t>(bytes), '\0')};
    check(MPI_Imrecv(transfer->message.bytes.data(), bytes, MPI_BYTE, &matched, &transfer->request),
          "MPI_Imrecv");
    receives_.push_back(std::move(transfer));
  }

  std::list<Transfer> sends_;
  std::deque<std::unique_ptr<Transfer>> receives_;
  std::size_t unsent_ = 0;
};

std::string library_name() {
  std::string text(MPI_MAX_LIBRARY_VERSION_STRING, '\0');
  int length = 0;
  MPI_Get_library_version(text.data(), &length);
  text.resize(static_cast<std::size_t>(length));
  return text.substr(0, text.find_first_of(",\n"));
}

}  // namespace

Link mpi_link() {
  int provided = MPI_THREAD_SINGLE;
  check(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided), "MPI_Init_thread");
  if (provided < MPI_THREAD_FUNNELED) {
    throw Error("this MPI was built without threads; tidemark needs MPI_THREAD_FUNNELED");
  }
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  int rank = 0;
  int ranks = 1;
  check(MPI_Comm_rank(MPI_COMM_WORLD, &rank), "MPI_Comm_rank");
  check(MPI_Comm_size(MPI_COMM_WORLD, &ranks), "MPI_Comm_size");
  const auto traffic = std::make_shared<Traffic>();
  return {.rank = static_cast<std::uint32_t>(rank),
          .ranks = static_cast<std::uint32_t>(ranks),
          .library = library_name(),
          .send = [traffic](std::uint32_t to, Tag tag,
                            SharedBytes bytes) { traffic->send(to, tag, std::move(bytes)); },
          .receive = [traffic] { return traffic->receive(); },
          .unsent_bytes =
              [traffic] {
                const std::size_t bytes = traffic->unsent_bytes();
                return bytes == 0 && !traffic->idle() ? std::size_t{1} : bytes;
              },
          .finish = [] { MPI_Finalize(); }};
}

}  // namespace tidemark
