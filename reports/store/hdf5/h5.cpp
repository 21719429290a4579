// The HDF5 types of columns and rows, made from the one description of the tables.
#include "reports/store/hdf5/h5.hpp"

#include <fmt/format.h>

namespace tidemark {
namespace {

constexpr std::size_t kGrowth = 1u << 20;  // bytes a file in memory grows by
// HDF5 refuses an image whose name is that of a file on disk, so the name is one that none can
// have.
constexpr const char* kNoFile = "/dev/null/report";

hid_t number_type(ColumnType type, Side side) {
  // In the order of ColumnType; verdicts and texts are bytes.
  const hid_t types[][2] = {{H5T_STD_U8LE, H5T_NATIVE_UINT8},    {H5T_STD_U32LE, H5T_NATIVE_UINT32},
                            {H5T_STD_I32LE, H5T_NATIVE_INT32},   {H5T_STD_U64LE, H5T_NATIVE_UINT64},
                            {H5T_STD_I64LE, H5T_NATIVE_INT64},   {H5T_IEEE_F32LE, H5T_NATIVE_FLOAT},
                            {H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE}, {H5T_STD_U8LE, H5T_NATIVE_UINT8},
                            {H5T_STD_U8LE, H5T_NATIVE_UINT8}};
  return types[static_cast<std::size_t>(type)][side == Side::file ? 0 : 1];
}

H5Id verdict_type(Side side) {
  H5Id type(H5Tenum_create(number_type(ColumnType::u8, side)), H5Tclose, "no enum type");
  for (std::size_t i = 0; i < kVerdicts; ++i) {
    const auto value = static_cast<std::uint8_t>(i);
    h5_check(H5Tenum_insert(type, std::string(kVerdictNames[i]).c_str(), &value), "no enum member");
  }
  return type;
}

H5Id access_list(const std::string& failure) {
  H5Id access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose, failure);
  h5_check(H5Pset_fapl_core(access, kGrowth, /*backing_store=*/0), failure);
  return access;
}

}  // namespace

H5Id text_type(std::size_t bytes) {
  H5Id type(H5Tcopy(H5T_C_S1), H5Tclose, "no text type");
  h5_check(H5Tset_size(type, bytes), "no text of this size");
  h5_check(H5Tset_strpad(type, H5T_STR_NULLPAD), "no padded text");
  h5_check(H5Tset_cset(type, H5T_CSET_UTF8), "no UTF-8 text");
  return type;
}

H5Id column_type(const Column& column, Side side) {
  if (column.type == ColumnType::text) return text_type(column.count);
  if (column.type == ColumnType::verdict) return verdict_type(side);
  const hid_t element = number_type(column.type, side);
  if (column.count == 1) return {H5Tcopy(element), H5Tclose, "no number type"};
  const hsize_t count = column.count;
  return {H5Tarray_create2(element, 1, &count), H5Tclose, "no array type"};
}

std::size_t packed_bytes(const Table& table) {
  std::size_t bytes = 0;
  for (const Column& column : table.columns) bytes += bytes_of(column);
  return bytes;
}

H5Id row_type(const Table& table, Side side) {
  const bool file = side == Side::file;
  H5Id type(H5Tcreate(H5T_COMPOUND, file ? packed_bytes(table) : table.row_bytes), H5Tclose,
            "no row type");
  std::size_t packed = 0;
  for (const Column& column : table.columns) {
    const H5Id member = column_type(column, side);
    h5_check(
        H5Tinsert(type, std::string(column.name).c_str(), file ? packed : column.offset, member),
        "no column");
    packed += bytes_of(column);
  }
  return type;
}

H5Id memory_file(const std::string& name) {
  const std::string failure = fmt::format("{}: HDF5 cannot make a file in memory", name);
  const H5Id access = access_list(failure);
  // Readers as old as HDF5 1.8 are to understand the file. Not of files that are read: other tools
  // write what this HDF5 reads, but not within these bounds (superblock 3).
  h5_check(H5Pset_libver_bounds(access, H5F_LIBVER_EARLIEST, H5F_LIBVER_V18), failure);
  return {H5Fcreate(kNoFile, H5F_ACC_EXCL, H5P_DEFAULT, access), H5Fclose, failure};
}

H5Id memory_file(const std::string& name, std::string& image) {
  const std::string failure = fmt::format(
      "{}: HDF5 cannot open it: truncated or damaged; copy it again, or make it again from its "
      "journals by 'tidemark recover'",
      name);
  const H5Id access = access_list(failure);
  h5_check(H5Pset_file_image(access, image.data(), image.size()), failure);
  return {H5Fopen(kNoFile, H5F_ACC_RDONLY, access), H5Fclose, failure};
}

void silence_hdf5() { H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr); }

}  // namespace tidemark
