// Reads, checks and writes tables of configurations, and finds what suits a product in them.
#include "kernels/cuda/gemm/tuning/gemm_table.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <tuple>
#include <utility>

#include "kernels/cuda/gemm/engine/configuration.hpp"
#include "kernels/cuda/gemm/tuning/gemm_table_text.hpp"
#include "kernels/error.hpp"
#include "kernels/guarded_json.hpp"
#include "kernels/ops/fnv1a.hpp"

namespace tidemark::kernels {
namespace {

constexpr std::string_view kFormat = "tidemark-gemm-table";
constexpr int kSchema = 1;
constexpr std::size_t kMostBytes = std::size_t{1} << 20;
constexpr std::size_t kMostChoices = 1000;
constexpr std::size_t kLongestText = 300;

/// What to do about a file that is no table, whatever it is.
constexpr std::string_view kGiveTable = "give a table as 'tidemark tune --out FILE' writes it";

struct TextField {
  const char* key;
  std::string GemmTableOrigin::*member;
};
constexpr std::array<TextField, 5> kOrigin = {{{"gpu", &GemmTableOrigin::gpu},
                                               {"driver", &GemmTableOrigin::driver},
                                               {"date", &GemmTableOrigin::date},
                                               {"git", &GemmTableOrigin::git},
                                               {"run", &GemmTableOrigin::run}}};

/// A value of the file and where it stands there.
struct At {
  const std::string& file;
  std::string pointer;
  const Json& value;

  [[noreturn]] void refuse(const std::string& what) const {
    throw Error(fmt::format("{}: {} {}", file, pointer.empty() ? "/" : pointer, what));
  }
  At operator[](const std::string& key) const {
    if (!value.is_object()) refuse(fmt::format("is {}; give an object", value.type_name()));
    if (!value.contains(key)) refuse(fmt::format("has no \"{}\"; {}", key, kGiveTable));
    return {file, pointer + "/" + key, value.at(key)};
  }
  At operator[](std::size_t i) const {
    return {file, fmt::format("{}/{}", pointer, i), value.at(i)};
  }
};

std::string line_of(const At& at) {
  if (!at.value.is_string()) at.refuse(fmt::format("is {}; give a text", at.value.type_name()));
  std::string text = at.value.get<std::string>();
  if (text.size() > kLongestText)
    at.refuse(fmt::format("has {} bytes; give at most {}", text.size(), kLongestText));
  const bool plain = std::all_of(text.begin(), text.end(), [](char letter) {
    return static_cast<unsigned char>(letter) >= ' ' && letter != 0x7f;
  });
  if (!plain) at.refuse("has a control character; give one line of plain text");
  return text;
}

/// Empty where there is none.
std::string optional_line(const At& at, const std::string& key) {
  return at.value.contains(key) ? line_of(at[key]) : std::string();
}

std::uint64_t size_of(const At& at) {
  const bool whole = at.value.is_number_unsigned();
  const std::uint64_t size = whole ? at.value.get<std::uint64_t>() : 0;
  if (size == 0 || size > kMostGemmSize) {
    const std::string shown = at.value.dump().substr(0, 40);
    at.refuse(fmt::format("is {}; give a whole number, 1 to {}", shown, kMostGemmSize));
  }
  return size;
}

GemmChoice choice_of(const At& at) {
  GemmChoice choice{
      .product = {.m = size_of(at["m"]), .n = size_of(at["n"]), .k = size_of(at["k"])},
      .configuration = line_of(at["configuration"]),
      .note = optional_line(at, "note")};
  const std::span<const EngineConfiguration> all = engine_configurations();
  const auto found = std::find_if(all.begin(), all.end(), [&](const auto& configuration) {
    return name_of(configuration) == choice.configuration;
  });
  if (found == all.end())
    at["configuration"].refuse(fmt::format(
        "is '{}', which the engine of this build does not have; 'tidemark tune --list' names all",
        choice.configuration.substr(0, 80)));
  choice.number = static_cast<std::uint32_t>(found - all.begin()) + 1;
  return choice;
}

std::vector<GemmChoice> choices_of(const At& at) {
  if (!at.value.is_array()) at.refuse(fmt::format("is {}; give an array", at.value.type_name()));
  if (at.value.empty()) at.refuse("is empty; give at least one choice");
  if (at.value.size() > kMostChoices)
    at.refuse(fmt::format("has {} choices; give at most {}", at.value.size(), kMostChoices));
  std::vector<GemmChoice> choices;
  std::map<std::tuple<std::uint64_t, std::uint64_t, std::uint64_t>, std::size_t> seen;
  for (std::size_t i = 0; i < at.value.size(); ++i) {
    choices.push_back(choice_of(at[i]));
    const GemmShape& product = choices.back().product;
    const auto [earlier, is_new] = seen.emplace(std::tuple(product.m, product.n, product.k), i);
    if (!is_new)
      at[i].refuse(fmt::format("is {}, as {}/{} is; keep one of them", name_of(product), at.pointer,
                               earlier->second));
  }
  return choices;
}

GemmTableOrigin origin_of(const At& at) {
  if (!at.value.is_object()) at.refuse(fmt::format("is {}; give an object", at.value.type_name()));
  GemmTableOrigin origin;
  for (const TextField& field : kOrigin) origin.*field.member = optional_line(at, field.key);
  return origin;
}

/// Owns an open file.
class OpenFile {
 public:
  // Without waiting: a pipe with nobody behind it is to be refused, not to be waited for.
  explicit OpenFile(const std::string& path)
      : fd_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {}
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  ~OpenFile() {
    if (fd_ >= 0) ::close(fd_);
  }
  int get() const { return fd_; }

 private:
  int fd_;
};

std::string bytes_of_file(const std::string& path) {
  const auto refuse = [&](std::string_view why) {
    throw Error(fmt::format("{}: {}; {}", path, why, kGiveTable));
  };
  const OpenFile file(path);
  if (file.get() < 0) refuse(fmt::format("cannot be opened: {}", std::strerror(errno)));
  struct stat status {};
  if (::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode)) refuse("is no plain file");
  std::string bytes;
  std::array<char, 65536> piece{};
  while (bytes.size() <= kMostBytes) {
    const ssize_t got = ::read(file.get(), piece.data(), piece.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) refuse(fmt::format("cannot be read: {}", std::strerror(errno)));
    if (got == 0) return bytes;
    bytes.append(piece.data(), static_cast<std::size_t>(got));
  }
  refuse(fmt::format("is larger than the {} bytes that a table may have", kMostBytes));
  return {};
}

/// How unlike two products are: the sizes' ratios, one octave counting the same in each.
double distance(const GemmShape& left, const GemmShape& right) {
  const auto octaves = [](std::uint64_t one, std::uint64_t other) {
    // A size of 0 counts as 1: nothing is infinitely far away.
    return std::log2(static_cast<double>(one) / std::max(static_cast<double>(other), 1.0));
  };
  const double by_m = octaves(left.m, right.m);
  const double by_n = octaves(left.n, right.n);
  const double by_k = octaves(left.k, right.k);
  return by_m * by_m + by_n * by_n + by_k * by_k;
}

}  // namespace

std::string name_of(const GemmShape& product) {
  return fmt::format("{} x {} x {}", product.m, product.n, product.k);
}

std::string hash_of(const GemmTable& table) {
  std::uint64_t hash = kFnv1aOfNothing;
  for (const GemmChoice& choice : table.choices) {
    const GemmShape& product = choice.product;
    hash = fnv1a(
        fmt::format("{}x{}x{} {}\n", product.m, product.n, product.k, choice.configuration), hash);
  }
  return fmt::format("{:016x}", hash);
}

const GemmTable& embedded_gemm_table() {
  static const GemmTable table = parse_gemm_table(kGemmTableText, "embedded");
  return table;
}

GemmTable parse_gemm_table(std::string_view json, const std::string& name) {
  const Json document = parse_guarded(json, name, kGiveTable);
  const At root{name, "", document};
  if (const At format = root["format"]; format.value != kFormat)
    format.refuse(fmt::format("is not \"{}\"; {}", kFormat, kGiveTable));
  if (const At schema = root["schema"]; schema.value != kSchema)
    schema.refuse(fmt::format("is {}, and this build reads {}; tune again with it",
                              schema.value.dump().substr(0, 40), kSchema));
  GemmTable table{.name = name, .measured = {}, .choices = choices_of(root["choices"])};
  if (document.contains("measured")) table.measured = origin_of(root["measured"]);
  return table;
}

GemmTable read_gemm_table(const std::string& path) {
  GemmTable table = parse_gemm_table(bytes_of_file(path), path);
  table.name = path.substr(path.rfind('/') + 1);
  return table;
}

std::string json_of(const GemmTable& table) {
  Json measured = Json::object();
  for (const TextField& field : kOrigin)
    if (!(table.measured.*field.member).empty()) measured[field.key] = table.measured.*field.member;
  std::string text =
      fmt::format("{{\n\"format\":\"{}\",\n\"schema\":{},\n\"measured\":{},\n\"choices\":[",
                  kFormat, kSchema, measured.dump(-1, ' ', false, Json::error_handler_t::replace));
  std::string_view separator = "\n";
  for (const GemmChoice& choice : table.choices) {
    const GemmShape& product = choice.product;
    Json line = {{"m", product.m},
                 {"n", product.n},
                 {"k", product.k},
                 {"configuration", choice.configuration}};
    if (!choice.note.empty()) line["note"] = choice.note;
    text += separator;
    text += line.dump(-1, ' ', false, Json::error_handler_t::replace);
    separator = ",\n";
  }
  return text + "\n]\n}\n";
}

std::vector<std::string> gemm_configuration_names() {
  std::vector<std::string> names;
  for (const EngineConfiguration& configuration : engine_configurations())
    names.push_back(name_of(configuration));
  return names;
}

const GemmChoice* nearest_choice(const GemmTable& table, const GemmShape& product,
                                 const std::function<bool(const GemmChoice&)>& suits) {
  const GemmChoice* nearest = nullptr;
  double least = std::numeric_limits<double>::infinity();
  for (const GemmChoice& choice : table.choices) {
    if (!suits(choice)) continue;
    const double unlike = distance(choice.product, product);
    if (unlike >= least) continue;
    least = unlike;
    nearest = &choice;
  }
  return nearest;
}

}  // namespace tidemark::kernels
