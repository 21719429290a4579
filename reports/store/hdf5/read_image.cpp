// Reads the bytes of a report and trusts none of them: HDF5 would follow links out of the file,
// load plugins, and allocate what a header claims, unless each is asked about before it is read.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "reports/store/hdf5/dataset.hpp"
#include "reports/store/hdf5/h5.hpp"
#include "reports/store/hdf5/image.hpp"
#include "reports/store/report.hpp"

namespace tidemark {
namespace {

constexpr std::string_view kSignature("\x89HDF\r\n\x1a\n", 8);
constexpr std::string_view kNotOurs =
    "give a file that 'tidemark run --out' or 'tidemark recover' wrote";

/// HDF5 looks for it at 0 and, behind a user block, at 512, 1024, 2048 ...
bool has_signature(std::string_view image) {
  for (std::size_t at = 0; at < image.size(); at = std::max<std::size_t>(512, 2 * at))
    if (image.substr(at).starts_with(kSignature)) return true;
  return false;
}

H5Id open_attribute(const Source& source, hid_t root, std::string_view name) {
  const std::string text(name);
  if (H5Aexists(root, text.c_str()) <= 0) {
    source.refuse(fmt::format("an HDF5 file without the attribute '{}' of a tidemark report", name),
                  kNotOurs);
  }
  H5Id attribute(
      H5Aopen(root, text.c_str(), H5P_DEFAULT), H5Aclose,
      fmt::format("{}: attribute '{}' cannot be opened; {}", source.name, name, kBroken));
  const H5Id space(H5Aget_space(attribute), H5Sclose, source.name + ": an attribute has no space");
  if (H5Sget_simple_extent_type(space) != H5S_SCALAR) {
    source.refuse(fmt::format("attribute '{}' is not one value", name));
  }
  return attribute;
}

std::string read_text(const Source& source, hid_t root, std::string_view name) {
  const H5Id attribute = open_attribute(source, root, name);
  const H5Id type(H5Aget_type(attribute), H5Tclose, source.name + ": an attribute has no type");
  const bool fixed = H5Tget_class(type) == H5T_STRING && H5Tis_variable_str(type) == 0;
  if (!fixed || H5Tget_size(type) > kMostAttributeBytes) {
    source.refuse(fmt::format("attribute '{}' is not a short text of fixed size", name));
  }
  std::string text(H5Tget_size(type), '\0');
  if (H5Aread(attribute, type, text.data()) < 0) {
    source.refuse(fmt::format("attribute '{}' cannot be read", name));
  }
  return text.substr(0, text.find('\0'));
}

template <class Number>
Number read_number(const Source& source, hid_t root, std::string_view name) {
  const hid_t expected = attribute_type<Number>();
  const H5Id attribute = open_attribute(source, root, name);
  const H5Id type(H5Aget_type(attribute), H5Tclose, source.name + ": an attribute has no type");
  if (H5Tequal(type, expected) <= 0) {
    source.refuse(fmt::format("attribute '{}' is not of the type of the schema", name));
  }
  Number value{};
  if (H5Aread(attribute, expected, &value) < 0) {
    source.refuse(fmt::format("attribute '{}' cannot be read", name));
  }
  return value;
}

/// Returns the minor version of the file's schema.
std::uint32_t check_schema(const Source& source, hid_t root) {
  if (read_text(source, root, "format") != kReportFormat) {
    source.refuse(fmt::format("its attribute 'format' is not '{}'", kReportFormat), kNotOurs);
  }
  const auto major = read_number<std::uint32_t>(source, root, "schema_major");
  const auto minor = read_number<std::uint32_t>(source, root, "schema_minor");
  if (major != kSchemaMajor) {
    source.refuse(fmt::format("is schema {}.{}; this tidemark reads {}.{}", major, minor,
                              kSchemaMajor, kSchemaMinor),
                  major == 0 ? "make the report anew: before 1.0 the layout was not fixed"
                             : "use a tidemark of the version that wrote it");
  }
  return minor;
}

/// A bit that turned in an attribute would else be read as another launch.
void check_attributes(const Source& source, hid_t root) {
  const auto said = read_number<std::uint32_t>(source, root, kChecksum);
  if (said != checksum_of_attributes(source, root)) {
    source.refuse("its root attributes are damaged");
  }
}

using Links = std::vector<std::pair<std::string, bool>>;  // name, is a hard link

/// Called by HDF5's C code, which no exception may cross.
herr_t collect_link(hid_t, const char* name, const H5L_info_t* info, void* into) {
  try {
    auto& found = *static_cast<Links*>(into);
    if (found.size() >= kMostRootLinks) return -1;
    found.emplace_back(name, info->type == H5L_TYPE_HARD);
    return 0;
  } catch (const std::exception&) {
    return -1;
  }
}

void check_links(const Source& source, hid_t root) {
  Links links;
  if (H5Literate(root, H5_INDEX_NAME, H5_ITER_INC, nullptr, collect_link, &links) < 0) {
    source.refuse("its list of tables cannot be read, or is longer than any report's");
  }
  for (const auto& [name, hard] : links) {
    if (!hard) source.refuse(fmt::format("'{}' is a link that leads elsewhere", name));
    const bool known =
        name == kStringBytes ||
        std::ranges::any_of(tables(), [&link = name, minor = source.minor](const Table* table) {
          return table->name == link && table->since <= minor;
        });
    // Only a later minor version may have tables that this one does not know; they stay unread.
    if (!known && source.minor <= kSchemaMinor) {
      source.refuse(fmt::format("holds '{}', which is no table of a report", name));
    }
  }
}

void stream_table(Source& source, hid_t root, std::size_t part, const RowSink& sink) {
  const Table& table = *tables()[part];
  if (table.since > source.minor) return sink.begin(part, 0);
  std::size_t count = 0;
  const H5Id dataset = open_dataset(source, root, table.name, table.row_bytes, count);
  const std::vector<std::size_t> offsets = column_offsets(source, table, dataset);
  sink.begin(part, count);
  std::string rows;  // what is in no column of the file stays as it is from the first chunk on
  for_each_chunk(source, table.name, dataset, count, [&](const StoredRows& stored) {
    while (rows.size() < stored.rows * table.row_bytes) rows += table.blank;
    rows.resize(stored.rows * table.row_bytes);
    copy_columns(table, offsets, stored, rows.data());
    sink.append(rows);
  });
}

void stream_text(Source& source, hid_t root, const RowSink& sink) {
  std::size_t count = 0;
  const H5Id dataset = open_dataset(source, root, kStringBytes, 1, count);
  const H5Id type(H5Dget_type(dataset), H5Tclose, source.name + ": no type of strings");
  if (H5Tequal(type, H5T_STD_U8LE) <= 0) source.refuse("'strings' is not a list of bytes");
  sink.begin(tables().size(), count);
  for_each_chunk(source, kStringBytes, dataset, count, [&sink](const StoredRows& stored) {
    sink.append({stored.bytes, stored.rows});
  });
}

LaunchRow read_launch(const Source& source, hid_t root) {
  LaunchRow launch;
  for (const auto& [name, of, meaning, disclosure] : launch_attributes()) {
    const auto read = [&launch, &source, root, name = name]<class Value>(Value LaunchRow::*member) {
      if constexpr (std::is_same_v<Value, std::string>) {
        launch.*member = read_text(source, root, name);
      } else if constexpr (std::is_same_v<Value, bool>) {
        const auto value = read_number<std::uint8_t>(source, root, name);
        if (value > 1) source.refuse(fmt::format("attribute '{}' is neither 0 nor 1", name));
        launch.*member = value == 1;
      } else {
        launch.*member = read_number<Value>(source, root, name);
      }
    };
    std::visit(read, of);
  }
  check_attributes(source, root);
  return launch;
}

void stream_trusting_nothing(std::string image, const std::string& name, const RowSink& sink) {
  Source source{
      .name = name, .file_bytes = image.size(), .bytes_left = most_table_bytes(image.size())};
  if (!has_signature(image)) source.refuse("not an HDF5 file", kNotOurs);
  const H5Id file = memory_file(name, image);
  std::string().swap(image);  // HDF5 has a copy of its own
  const H5Id root(H5Gopen2(file, "/", H5P_DEFAULT), H5Gclose,
                  fmt::format("{}: its root cannot be opened; {}", name, kBroken));
  source.minor = check_schema(source, root);
  check_links(source, root);
  sink.launch(read_launch(source, root));
  for (std::size_t part = 0; part < tables().size(); ++part) {
    stream_table(source, root, part, sink);
  }
  stream_text(source, root, sink);
}

}  // namespace

std::uint64_t most_table_bytes(std::uint64_t file_bytes) {
  // Deflate packs at most 1032 to 1, so a table cannot be larger than that and be in the file.
  constexpr std::uint64_t kMostRatio = 1100, kSlack = 1u << 20;
  return std::min(kMostTableBytes, file_bytes * kMostRatio + kSlack);
}

void stream_report(std::string image, const std::string& name, const RowSink& sink) {
  silence_hdf5();
  H5PLset_loading_state(0);  // a file may name a filter, and HDF5 would load a library for it
  try {
    stream_trusting_nothing(std::move(image), name, sink);
  } catch (const ReportError& error) {
    // Where HDF5 could not even describe a type, the error does not know the file.
    const std::string what = error.what();
    if (what.starts_with(name + ": ")) throw;
    throw ReportError(fmt::format("{}: {}; {}", name, what, kBroken));
  }
}

Report report_of(std::string image, const std::string& name) {
  ReportBuilder builder(name, most_table_bytes(image.size()));
  const RowSink sink{.launch = [&builder](const LaunchRow& launch) { builder.launch(launch); },
                     .begin = [&builder](std::size_t part,
                                         std::uint64_t elements) { builder.begin(part, elements); },
                     .append =
                         [&builder](std::string_view bytes) {
                           std::ranges::copy(bytes, builder.room(bytes.size()).begin());
                         }};
  stream_report(std::move(image), name, sink);
  return builder.finish();
}

}  // namespace tidemark
