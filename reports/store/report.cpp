// A report in memory: its tables, how they are built, read and written.
#include "reports/store/report.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <cerrno>
#include <initializer_list>
#include <memory>
#include <system_error>
#include <utility>

#include "reports/base/disk.hpp"
#include "reports/store/confined/confined_reader.hpp"
#include "reports/store/hdf5/image.hpp"
#include "reports/store/replace_file.hpp"

namespace tidemark {

// Report files: written so that a name never holds half a report, read without following anything.

namespace {

/// Owns an open file.
class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&&) = delete;
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  int get() const { return fd_; }

 private:
  int fd_;
};

constexpr std::string_view kGiveReport = "give the path of a report, such as report.h5";

/// Opens a file that may be a report, and says how large it is.
Descriptor open_report(const std::string& path, std::uint64_t& bytes) {
  // Non-blocking: a pipe of this name would hold open() for ever.
  Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat status {};
  if (file.get() < 0 || ::fstat(file.get(), &status) != 0) {
    refuse(path, error_text(errno), kGiveReport);
  }
  if (S_ISDIR(status.st_mode)) {
    refuse(path, "is a folder",
           "give the report itself, or a folder <report>.h5.run to 'tidemark recover'");
  }
  if (!S_ISREG(status.st_mode)) refuse(path, "is not a regular file", kGiveReport);
  if (status.st_size == 0) {
    // Files of /proc and /sys say no size and hold text all the same.
    char first = 0;
    if (::read(file.get(), &first, 1) > 0) {
      refuse(path, "is a file of the system, not a report", kGiveReport);
    }
    refuse(path, "is empty",
           "its launch wrote no report; make it from its journals by 'tidemark recover'");
  }
  bytes = static_cast<std::uint64_t>(status.st_size);
  if (bytes > kMostFileBytes) {
    refuse(path, fmt::format("has {} bytes; no report is larger than {}", bytes, kMostFileBytes),
           kGiveReport);
  }
  return file;
}

std::string read_all(int file, std::uint64_t bytes, const std::string& path) {
  std::string image(bytes, '\0');
  for (std::size_t at = 0; at < image.size();) {
    const ssize_t got = ::read(file, image.data() + at, image.size() - at);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) refuse(path, error_text(errno), "check the disk");
    if (got == 0) refuse(path, "became shorter while it was read", "read it again");
    at += static_cast<std::size_t>(got);
  }
  return image;
}

}  // namespace

std::string bytes_of(const Report& report, const std::string& path) {
  check_references(report, path);
  std::string image = image_of(report, path);
  // Our own bytes are read in this process: it may be one that MPI forbids to fork.
  if (!same_rows(report, report_of(image, path)))
    refuse(path, "its bytes read back differently", "report this bug; journals are kept");
  return image;
}

void write_bytes(const std::string& image, const std::string& path, NameInUse in_use) {
  TemporaryFile file(path, "free some space or give another --out; journals are kept");
  file.write(image);
  if (file_text(file.path(), image.size(), path, "check the disk; journals are kept") != image)
    refuse(path, "what was written reads back differently", "check the disk; journals are kept");
  in_use == NameInUse::refuse ? file.rename_new() : file.rename();
}

void write_report(const Report& report, const std::string& path, NameInUse in_use) {
  write_bytes(bytes_of(report, path), path, in_use);
}

std::string_view note_of(Protection protection) {
  if (protection == Protection::filter) return {};
  return "note: no seccomp here; a report is read under limits of memory, time and open files "
         "alone";
}

Report read_report(const std::string& path, Protection& protection) {
  std::uint64_t bytes = 0;
  const Descriptor file = open_report(path, bytes);
  const ReadFrom read = [&path, bytes](int opened, const RowSink& sink) {
    stream_report(read_all(opened, bytes, path), path, sink);
  };
  return read_confined(path, file.get(), limits_of(bytes), read, protection);
}

Report read_report(const std::string& path) {
  Protection unasked{};
  return read_report(path, unasked);
}

// Counts what was announced, hands out the place where it belongs, and checks the whole at the end.

namespace {

/// Two million rows are a hundred thousand pages, and getting them one by one costs as much as
/// filling them. Where the system has no larger ones to give, nothing is lost.
void ask_for_large_pages(void* start, std::size_t bytes) {
  constexpr std::size_t kLargePage = 2u << 20, kPage = 4096;
  if (bytes < 2 * kLargePage || std::align(kPage, kPage, start, bytes) == nullptr) return;
  ::madvise(start, bytes / kPage * kPage, MADV_HUGEPAGE);
}

}  // namespace

ReportBuilder::ReportBuilder(std::string name, std::uint64_t most_bytes)
    : name_(std::move(name)), bytes_left_(most_bytes) {}

void ReportBuilder::refuse() const {
  throw ReportError(
      fmt::format("{}: what was read of it is no report; it was damaged or made to do harm: get it "
                  "again from where it came",
                  name_));
}

void ReportBuilder::launch(const LaunchRow& launch) {
  if (launched_) refuse();
  launched_ = true;
  report_.launch = launch;
}

void ReportBuilder::begin(std::size_t part, std::uint64_t elements) {
  if (!launched_ || part != next_part_ || open_ != 0) refuse();
  ++next_part_;
  const auto make_room = [&](auto& rows) {
    const std::uint64_t element_bytes = sizeof(rows[0]);
    if (elements > bytes_left_ / element_bytes) refuse();
    open_ = elements * element_bytes;
    bytes_left_ -= open_;
    rows.reserve(elements);
    ask_for_large_pages(rows.data(), open_);
    rows.resize(elements);
    place_ = reinterpret_cast<char*>(rows.data());
  };
  std::size_t table = 0;
  for_each_table(report_, [&](const Table&, auto& rows) {
    if (table++ == part) make_room(rows);
  });
  if (part == table) return make_room(string_index_);
  if (part == table + 1) return make_room(text_);
  if (part > table + 1) refuse();
}

std::span<char> ReportBuilder::room(std::uint64_t bytes) {
  if (bytes > open_) refuse();
  const std::span<char> given(place_, bytes);
  place_ += bytes;
  open_ -= bytes;
  return given;
}

void ReportBuilder::cut_strings() {
  // One after the other and no overlap: else a small file could claim any amount of text.
  std::uint64_t next = 0;
  report_.strings.reserve(string_index_.size());
  for (const StringIndexRow& row : string_index_) {
    if (row.offset != next || row.length > text_.size() - next) {
      throw ReportError(fmt::format(
          "{}: string {} does not lie where it should; it was damaged or made by another program",
          name_, report_.strings.size()));
    }
    report_.strings.emplace_back(text_, next, row.length);
    next += row.length;
  }
}

Report ReportBuilder::finish() {
  if (!launched_ || next_part_ != tables().size() + 1 || open_ != 0) refuse();
  cut_strings();
  check_references(report_, name_);
  return std::move(report_);
}

// Puts values together that cannot be more than values.

namespace {

constexpr std::string_view kCaseName = "abcdefghijklmnopqrstuvwxyz0123456789_.";
constexpr std::string_view kUuid = "0123456789abcdefABCDEFGPUMI-";
constexpr std::string_view kPlain =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_./-+,:=@%";

bool is_of(std::string_view value, std::string_view characters) {
  return !value.empty() && value.front() != '-' &&
         value.find_first_not_of(characters) == std::string_view::npos;
}

/// " --row 3" of a stored line that has it; empty where its value could be more than one. A path in
/// quotes is a stranger's text: the reader has to put it in the place of FILE.
std::string option_of(std::string_view stored, std::string_view option) {
  const std::string name = fmt::format(" {} ", option);
  const std::size_t at = stored.find(name);
  if (at == std::string_view::npos) return {};
  const std::string_view rest = stored.substr(at + name.size());
  const std::string_view value = rest.substr(0, rest.find(' '));
  if (option == "--gemm-table" && (rest.starts_with('\'') || rest.starts_with("$'")))
    return name + "FILE";
  return is_of(value, kPlain) ? name + std::string(value) : std::string();
}

/// What an anonymised report, or one of a broken driver, names by its UUID is named by number.
std::string gpu_of(const GpuRow& gpu) {
  const std::string_view uuid = gpu.uuid.view();
  return is_of(uuid, kUuid) ? std::string(uuid) : fmt::format("{}", gpu.local_index);
}

}  // namespace

std::string replay_command(const Report& report, const ResultRow& result,
                           std::optional<std::uint32_t> row) {
  const LaunchRow& launch = report.launch;
  const CaseRow& of = report.cases[result.case_id];
  const std::string_view stored = report.text(result.replay);
  if ((stored.empty() && !row) || !is_of(of.name.view(), kCaseName)) return {};
  const bool together = report.text(of.scope) == "all_gpus" && launch.gpus > 1;
  const bool by_ranks = together && launch.ranks_expected > 1;
  std::string line;
  if (by_ranks)
    line = fmt::format("mpirun -n {} {}", launch.gpus, launch.is_virtual ? "--oversubscribe " : "");
  line += fmt::format("tidemark run --cases {} --seed {:#x}", of.name.view(), launch.seed);
  if (launch.level == "nightly" || launch.level == "soak") line += " --level " + launch.level;
  line += row ? fmt::format(" --row {}", *row) : option_of(stored, "--row");
  for (const std::string_view option :
       {"--slow", "--gemm-table", "--transport", "--m", "--n", "--k", "--grid"})
    line += option_of(stored, option);
  if (std::ranges::any_of(report.provenance, [&](const ProvenanceRow& each) {
        return report.text(each.key).starts_with("argument.") && report.text(each.value) == "--jit";
      }))
    line += " --jit";
  if (launch.is_virtual) {
    line += " --device virtual" + option_of(stored, "--fault");
    if (together && !by_ranks) line += fmt::format(" --gpus {}", launch.gpus);
  } else {
    line +=
        together ? option_of(stored, "--gpus") : " --gpus " + gpu_of(report.gpus[result.gpu_id]);
  }
  return line;
}

}  // namespace tidemark
