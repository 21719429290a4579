# tree_hash(DIR OUT): the first 16 digits of SHA-256 over names and contents of the files under DIR,
#   but for what only people read, where figures of a report stand that must not outgrow the report, and
#   for tests, which are no part of what made one.
function(tree_hash dir out)
  file(GLOB_RECURSE files LIST_DIRECTORIES FALSE RELATIVE "${dir}" "${dir}/*")
  list(FILTER files EXCLUDE REGEX "(\\.md|_test\\.(cpp|cu))$|(^|/)testing/")
  list(SORT files COMPARE STRING)
  set(all "")
  foreach(name IN LISTS files)
    file(SHA256 "${dir}/${name}" digest)
    string(APPEND all "${name} ${digest}\n")
  endforeach()
  string(SHA256 digest "${all}")
  string(SUBSTRING "${digest}" 0 16 digest)
  set(${out} "${digest}" PARENT_SCOPE)
endfunction()
if(DIR)  # cmake -DDIR=kernels -P ci/cmake/tree_hash.cmake
  get_filename_component(DIR "${DIR}" ABSOLUTE)
  tree_hash("${DIR}" digest)
  message("${digest}")
endif()
