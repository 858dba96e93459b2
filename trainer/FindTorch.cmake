# Finds LibTorch 2.11.0, as deploy/setup.sh unpacks it from the wheels.
#
# In:  PACKTRAIN_LIBTORCH, the folder that holds torch/ and nvidia/.
# Out: Torch::cpu, and Torch::cuda where find_package(CUDAToolkit) came first.
#
# The wheel's include folder also carries protobuf, fmt and others of its own, so only LibTorch's folders are
# put on the include path, through links in the build folder.
set(PACKTRAIN_LIBTORCH "$ENV{HOME}/.cache/packtrain/libtorch-2.11.0" CACHE PATH "LibTorch, unpacked from its wheels")
set(Torch_VERSION_WANTED 2.11.0)

set(torch_headers ${PACKTRAIN_LIBTORCH}/torch/include)
set(torch_version_file ${torch_headers}/torch/headeronly/version.h)
if(NOT EXISTS ${torch_version_file})
  message(FATAL_ERROR "No LibTorch in ${PACKTRAIN_LIBTORCH}. Run deploy/setup.sh, or set PACKTRAIN_LIBTORCH to where "
                      "it is, or leave the trainer out with -DPACKTRAIN_TRAINER=OFF.")
endif()

set(Torch_VERSION "")
foreach(part MAJOR MINOR PATCH)
  file(STRINGS ${torch_version_file} line REGEX "define TORCH_VERSION_${part} [0-9]+")
  string(REGEX MATCH "[0-9]+$" number "${line}")
  list(APPEND Torch_VERSION ${number})
endforeach()
list(JOIN Torch_VERSION . Torch_VERSION)
if(NOT Torch_VERSION VERSION_EQUAL Torch_VERSION_WANTED)
  message(FATAL_ERROR "LibTorch in ${PACKTRAIN_LIBTORCH} is ${Torch_VERSION}; packtrain needs ${Torch_VERSION_WANTED}. "
                      "Run deploy/setup.sh.")
endif()

set(torch_links ${CMAKE_BINARY_DIR}/libtorch_include)
file(MAKE_DIRECTORY ${torch_links}/api)
foreach(folder torch ATen c10 caffe2)
  file(CREATE_LINK ${torch_headers}/${folder} ${torch_links}/${folder} SYMBOLIC)
endforeach()
file(CREATE_LINK ${torch_headers}/torch/csrc/api/include/torch ${torch_links}/api/torch SYMBOLIC)

foreach(library torch_cpu c10 torch torch_cuda c10_cuda)
  find_library(Torch_${library}_LIBRARY ${library} PATHS ${PACKTRAIN_LIBTORCH}/torch/lib NO_DEFAULT_PATH)
endforeach()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Torch REQUIRED_VARS Torch_torch_cpu_LIBRARY Torch_c10_LIBRARY
                                  VERSION_VAR Torch_VERSION)

if(NOT TARGET Torch::cpu)
  add_library(Torch::cpu INTERFACE IMPORTED)
  target_include_directories(Torch::cpu SYSTEM INTERFACE ${torch_links} ${torch_links}/api)
  target_link_libraries(Torch::cpu INTERFACE ${Torch_torch_cpu_LIBRARY} ${Torch_c10_LIBRARY})
  # libtorch_cpu.so names CUDA's runtime and profiler; the loader finds them through the library's own path.
  target_link_options(Torch::cpu INTERFACE LINKER:--allow-shlib-undefined)
endif()

if(CUDAToolkit_FOUND AND NOT TARGET Torch::cuda)
  add_library(Torch::cuda INTERFACE IMPORTED)
  # Operators register themselves when their library is loaded, so it must be linked though nothing names it.
  target_link_libraries(Torch::cuda INTERFACE
    -Wl,--push-state,--no-as-needed ${Torch_torch_LIBRARY} ${Torch_torch_cuda_LIBRARY} ${Torch_c10_cuda_LIBRARY}
    -Wl,--pop-state Torch::cpu CUDA::cudart)
endif()
