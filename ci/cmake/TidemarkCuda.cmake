# Finds nvcc and NCCL's header. Sets TIDEMARK_WITH_CUDA and TIDEMARK_WITH_NCCL.
set(TIDEMARK_WITH_CUDA OFF)
set(TIDEMARK_WITH_NCCL OFF)
if(TIDEMARK_CUDA STREQUAL "OFF")
  return()
endif()

include(CheckLanguage)
if(NOT CMAKE_CUDA_COMPILER)
  find_program(CMAKE_CUDA_COMPILER nvcc HINTS ENV CUDA_PATH PATHS /usr/local/cuda/bin)
endif()
# Plain sm_75 code is what nvcc makes by default; TMA and wgmma exist on sm_90a alone, and only the
# long form of the option keeps a second, plain sm_90 pass away.
set(CMAKE_CUDA_ARCHITECTURES OFF)
check_language(CUDA)
if(NOT CMAKE_CUDA_COMPILER)
  if(TIDEMARK_CUDA STREQUAL "ON")
    message(FATAL_ERROR "TIDEMARK_CUDA=ON, but nvcc was not found: put it on PATH or set CUDACXX")
  endif()
  return()
endif()

enable_language(CUDA)
if(NOT CMAKE_CUDA20_STANDARD_COMPILE_OPTION)  # CMake 3.25 knows nvcc only up to C++17
  set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION "-std=c++20")
  set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION "-std=c++20")
endif()
set(CMAKE_CUDA_EXTENSIONS OFF)
set(CMAKE_CUDA_FLAGS "${CMAKE_CUDA_FLAGS} -gencode=arch=compute_90a,code=[sm_90a,compute_90a]")
# ci/check_ptx then reads what the build made instead of compiling all of it once more.
option(TIDEMARK_KEEP_PTX "Keep the PTX and machine code of the kernels in BUILD/ptx" OFF)
if(TIDEMARK_KEEP_PTX)
  file(MAKE_DIRECTORY "${CMAKE_BINARY_DIR}/ptx")
  set(CMAKE_CUDA_FLAGS "${CMAKE_CUDA_FLAGS} --keep --keep-dir \"${CMAKE_BINARY_DIR}/ptx\"")
endif()
find_package(CUDAToolkit REQUIRED)
set(TIDEMARK_WITH_CUDA ON)

target_compile_options(tidemark_flags INTERFACE
  "$<$<COMPILE_LANGUAGE:CUDA>:SHELL:--expt-relaxed-constexpr -Xcompiler=-Wall,-Wextra -Xptxas=-warn-spills,-Werror>")
# ptxas says the C75xx lines (wgmma serialised, setmaxnreg ignored) as mere information.
set(CMAKE_CUDA_COMPILER_LAUNCHER "${PROJECT_SOURCE_DIR}/ci/cmake/refuse_ptxas_advice")

find_path(TIDEMARK_NCCL_INCLUDE nccl.h HINTS ${CUDAToolkit_INCLUDE_DIRS} /usr/include)
if(TIDEMARK_NCCL_INCLUDE)
  file(STRINGS "${TIDEMARK_NCCL_INCLUDE}/nccl.h" nccl_version REGEX "#define NCCL_VERSION_CODE [0-9]+")
  string(REGEX REPLACE ".*NCCL_VERSION_CODE ([0-9]+).*" "\\1" nccl_version "${nccl_version}")
  if(nccl_version GREATER_EQUAL 21700)  # ncclConfig_t::maxCTAs
    set(TIDEMARK_WITH_NCCL ON)
  endif()
endif()
