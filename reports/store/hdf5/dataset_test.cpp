// Datasets and attributes of a report in HDF5.
#include "reports/store/hdf5/dataset.hpp"

#include <hdf5.h>

#include <gtest/gtest.h>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <random>
#include <string>
#include <vector>

#include "reports/base/error.hpp"
#include "reports/base/scratch_folder.hpp"
#include "reports/store/hdf5/h5.hpp"
#include "reports/store/hdf5/image.hpp"
#include "reports/testing/example_launch.hpp"
#include "reports/testing/said.hpp"

namespace tidemark {
namespace {

std::vector<std::size_t> packed_offsets(const Table& table) {
  std::vector<std::size_t> made;
  std::size_t offset = 0;
  for (const Column& column : table.columns) {
    made.push_back(offset);
    offset += bytes_of(column);
  }
  return made;
}

/// As HDF5 shuffles: all first bytes, then all second ones, ...
std::string shuffled(const std::string& rows, std::size_t row_bytes) {
  const std::size_t count = rows.size() / row_bytes;
  std::string made;
  for (std::size_t byte = 0; byte < row_bytes; ++byte) {
    for (std::size_t i = 0; i < count; ++i) made += rows[i * row_bytes + byte];
  }
  return made;
}

TEST(CopyColumns, ShuffledRowsGiveTheSameStructsAsPlainOnes) {
  constexpr std::size_t kRows = 700;  // more than two blocks
  std::mt19937_64 random(5);
  for (const Table* table : tables()) {
    const std::size_t bytes = packed_bytes(*table);
    std::string rows(kRows * bytes, '\0');
    for (char& byte : rows) byte = static_cast<char>(random());
    const std::string planes = shuffled(rows, bytes);
    std::string plain(kRows * table->row_bytes, '\0'), other = plain;
    copy_columns(*table, packed_offsets(*table),
                 {.bytes = rows.data(), .rows = kRows, .byte_stride = 1, .row_stride = bytes},
                 plain.data());
    copy_columns(*table, packed_offsets(*table),
                 {.bytes = planes.data(), .rows = kRows, .byte_stride = kRows, .row_stride = 1},
                 other.data());
    EXPECT_TRUE(plain == other) << table->name;
    EXPECT_NE(plain.find_first_not_of('\0'), std::string::npos) << table->name;
  }
}

TEST(CopyColumns, PutsEachColumnWhereItsMemberIs) {
  const Table& table = table_of<StringIndexRow>();
  const std::string stored("\1\2\3\4\5\6\7\x08\x11\x12\x13\x14", 12);
  StringIndexRow row;
  copy_columns(table, packed_offsets(table),
               {.bytes = stored.data(), .rows = 1, .byte_stride = 1, .row_stride = 12},
               reinterpret_cast<char*>(&row));
  EXPECT_EQ(row.offset, 0x0807060504030201U);
  EXPECT_EQ(row.length, 0x14131211U);
}

enum class Packed { plain, shuffled, deflated, both, wrong_way };

/// Writes `results` again, packed otherwise.
void pack_results(const std::string& path, Packed how, hsize_t chunk) {
  const H5Id file(H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT), H5Fclose, "no file");
  const H5Id type = row_type(table_of<ResultRow>(), Side::file);
  const hsize_t rows = 6;
  std::vector<char> data(rows * H5Tget_size(type));
  {
    const H5Id old(H5Dopen2(file, "results", H5P_DEFAULT), H5Dclose, "no table");
    h5_check(H5Dread(old, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data.data()), "not read");
  }
  h5_check(H5Ldelete(file, "results", H5P_DEFAULT), "not deleted");
  const H5Id list(H5Pcreate(H5P_DATASET_CREATE), H5Pclose, "no list");
  if (chunk > 0) h5_check(H5Pset_chunk(list, 1, &chunk), "no chunks");
  const auto filter = [&list, how](std::initializer_list<Packed> packed, auto add) {
    if (std::count(packed.begin(), packed.end(), how) > 0) h5_check(add(list), "no filter");
  };
  const auto deflate = [](hid_t to) { return H5Pset_deflate(to, 1); };
  filter({Packed::wrong_way}, deflate);
  filter({Packed::shuffled, Packed::both, Packed::wrong_way}, H5Pset_shuffle);
  filter({Packed::deflated, Packed::both}, deflate);
  const H5Id space(H5Screate_simple(1, &rows, nullptr), H5Sclose, "no space");
  const H5Id made(H5Dcreate2(file, "results", type, space, H5P_DEFAULT, list, H5P_DEFAULT),
                  H5Dclose, "no table");
  h5_check(H5Dwrite(made, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data.data()), "not written");
}

Report read_packed(Packed how, hsize_t chunk) {
  const ScratchFolder scratch;
  write_report(example(), scratch.file("a.h5"));
  pack_results(scratch.file("a.h5"), how, chunk);
  return read_report(scratch.file("a.h5"));
}

TEST(StoredRows, PackedOtherwiseReadTheSame) {
  const Report report = example();
  EXPECT_TRUE(same_rows(report, read_packed(Packed::plain, 0))) << "without chunks";
  EXPECT_TRUE(same_rows(report, read_packed(Packed::plain, 4)));
  EXPECT_TRUE(same_rows(report, read_packed(Packed::shuffled, 4)));
  EXPECT_TRUE(same_rows(report, read_packed(Packed::deflated, 4)));
  EXPECT_TRUE(same_rows(report, read_packed(Packed::both, 4)));
  EXPECT_TRUE(same_rows(report, read_packed(Packed::shuffled, 1)));
}

TEST(StoredRows, ThatWereShuffledWhenTheyWereNoRowsAreRefused) {
  EXPECT_TRUE(has(error_from([] { read_packed(Packed::wrong_way, 1); }),
                  "rows of 'results' are missing or cannot be unpacked"));
}

constexpr std::uint32_t kLater = kSchemaMinor + 1;

/// A row of events as a later minor version may have it.
struct LaterEvent {
  EventRow event;
  float later = 7;
};

Table later_events(std::uint32_t since) {
  Table made = table_of<EventRow>();
  made.row_bytes = sizeof(LaterEvent);
  made.columns.push_back({.name = "later",
                          .type = ColumnType::f32,
                          .offset = offsetof(LaterEvent, later),
                          .unit = {},
                          .refers = {},
                          .meaning = {},
                          .since = since});
  made.blank = blank_of(LaterEvent{}, made.columns);
  return made;
}

Report two_events() {
  Report report = example();
  report.events = {{.at_unix_s = 1, .code = 79}, {.at_unix_s = 2, .code = 80}};
  return report;
}

/// The dataset of two events as this version writes it.
struct WrittenEvents {
  std::string name = "written", image = image_of(two_events(), name);
  H5Id file = memory_file(name, image);
  Source source{.name = name, .file_bytes = 1 << 20, .bytes_left = 1 << 20};
  std::size_t rows = 0;
  H5Id dataset = open_dataset(source, file, "events", sizeof(LaterEvent), rows);
};

TEST(LaterColumn, IsNotAskedOfAnOlderReport) {
  WrittenEvents written;
  const auto offsets = column_offsets(written.source, later_events(kLater), written.dataset);
  EXPECT_EQ(offsets.back(), kNoColumn);
  EXPECT_EQ(std::count(offsets.begin(), offsets.end(), kNoColumn), 1);
}

TEST(LaterColumn, IsAskedOfAReportOfItsVersion) {
  WrittenEvents written;
  EXPECT_THROW(column_offsets(written.source, later_events(0), written.dataset), ReportError);
  written.source.minor = kLater;
  EXPECT_THROW(column_offsets(written.source, later_events(kLater), written.dataset), ReportError);
}

TEST(LaterColumn, DoesNotMakeRoomForOneThatNoVersionKnows) {
  WrittenEvents written;
  Table table = later_events(kLater);
  table.columns.erase(table.columns.begin());  // the file has it, and this version does not
  EXPECT_THROW(column_offsets(written.source, table, written.dataset), ReportError);
}

TEST(LaterColumn, HasItsDefaultInRowsOfAnOlderReport) {
  WrittenEvents written;
  const Table table = later_events(kLater);
  const auto offsets = column_offsets(written.source, table, written.dataset);
  std::string rows = table.blank + table.blank;
  for_each_chunk(written.source, "events", written.dataset, 2, [&](const StoredRows& stored) {
    copy_columns(table, offsets, stored, rows.data());
  });
  std::vector<LaterEvent> read(2);
  std::memcpy(read.data(), rows.data(), rows.size());
  EXPECT_EQ(read[0].event.code, 79);
  EXPECT_EQ(read[1].event.code, 80);
  EXPECT_EQ(read[0].later, 7.0F);
  EXPECT_EQ(read[1].later, 7.0F);
}

TEST(Blank, HasTheDefaultsOfEveryColumnAndNoughtBetweenThem) {
  for (const Table* table : tables()) EXPECT_EQ(table->blank.size(), table->row_bytes);
  GpuRow gpu;
  std::memcpy(static_cast<void*>(&gpu), table_of<GpuRow>().blank.data(), sizeof(gpu));
  EXPECT_EQ(gpu.node_id, kNoRow);
  EXPECT_EQ(gpu.rank, kNoRow);
  EXPECT_EQ(gpu.ecc_enabled, -1);
}

}  // namespace

namespace {

std::string error_of_image(std::string image) {
  return error_from([&] { report_of(image, "image"); });
}

/// What a reader says of a report after `change` of its root.
template <class Change>
std::string error_after(Change change) {
  const ScratchFolder scratch;
  const std::string path = scratch.file("a.h5");
  write_report(example(), path);
  {
    const H5Id file(H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT), H5Fclose, "no file");
    change(static_cast<hid_t>(file));
  }
  return error_from([&] { read_report(path); });
}

/// Turns the lowest bit of the first byte of a root attribute.
void flip(hid_t file, const std::string& name) {
  const H5Id attribute(H5Aopen(file, name.c_str(), H5P_DEFAULT), H5Aclose, "no attribute");
  const H5Id type(H5Aget_type(attribute), H5Tclose, "no type");
  std::string value(H5Tget_size(type), '\0');
  h5_check(H5Aread(attribute, type, value.data()), "not read");
  value[0] = static_cast<char>(value[0] ^ 1);
  h5_check(H5Awrite(attribute, type, value.data()), "not written");
}

constexpr std::string_view kDamaged = "its root attributes are damaged";

TEST(Attributes, OneBitOfAnyRootAttributeIsSeen) {
  for (const LaunchAttribute& attribute : launch_attributes()) {
    const std::string name(attribute.name);
    const std::string error = error_after([&](hid_t file) { flip(file, name); });
    EXPECT_TRUE(has(error, kDamaged)) << name << ": " << error;
  }
}

TEST(Attributes, OneMoreRootAttributeIsSeen) {
  const std::string error = error_after([](hid_t file) {
    const H5Id space(H5Screate(H5S_SCALAR), H5Sclose, "no space");
    const H5Id more(H5Acreate2(file, "more", H5T_STD_U8LE, space, H5P_DEFAULT, H5P_DEFAULT),
                    H5Aclose, "none");
    const std::uint8_t value = 1;
    h5_check(H5Awrite(more, H5T_STD_U8LE, &value), "not written");
  });
  EXPECT_TRUE(has(error, kDamaged)) << error;
}

TEST(Attributes, AByteOfTheFileChangedInTheLevelIsSeen) {
  std::string image = image_of(example(), "image");
  const std::size_t at = image.find("quick");
  ASSERT_NE(at, std::string::npos);
  image.replace(at, 5, "quibk");
  EXPECT_TRUE(has(error_of_image(image), kDamaged)) << error_of_image(image);
}

TEST(Attributes, AnUnknownLevelOrDeviceIsRefused) {
  Report report = example();
  report.launch.level = "quibk";
  EXPECT_TRUE(error_of_image(image_of(report, "image"))
                  .starts_with("image: attribute 'level' is not quick, nightly or soak; "));
  report = example();
  report.launch.device = "cudb";
  EXPECT_TRUE(error_of_image(image_of(report, "image"))
                  .starts_with("image: attribute 'device' is not cuda or virtual; "));
}

}  // namespace

}  // namespace tidemark
