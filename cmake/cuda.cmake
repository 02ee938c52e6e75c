# SPDX-License-Identifier: Apache-2.0
# The judge's own code on the device: each src/truth/gpu/*.cu becomes a fatbin that the library carries (base/embedded.h). CUDA is optional: without
# nvcc, or with -DWHET_CUDA=OFF, nothing is carried, and the GPU commands say so in one line.
find_program(WHET_NVCC nvcc HINTS $ENV{CUDA_HOME}/bin /usr/local/cuda/bin)
set(WHET_HAS_NVCC OFF)
if(WHET_CUDA AND WHET_NVCC)
  set(WHET_HAS_NVCC ON)
endif()

# Machine code for Hopper and Blackwell, and PTX for whatever else is Ampere or later.
set(WHET_DEVICE_TARGETS -gencode arch=compute_90,code=sm_90 -gencode arch=compute_100,code=sm_100 -gencode arch=compute_80,code=compute_80)
set(device_code)
if(WHET_HAS_NVCC)
  file(GLOB device_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/truth/gpu/*.cu)
  file(GLOB device_headers CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/truth/gpu/*.cuh)
  foreach(source IN LISTS device_sources)
    get_filename_component(name ${source} NAME_WE)
    set(fatbin ${CMAKE_BINARY_DIR}/device/${name}.fatbin)
    # No contraction: what the CPU computes has the same bits on the device.
    add_custom_command(OUTPUT ${fatbin}
      COMMAND ${CMAKE_COMMAND} -E make_directory ${CMAKE_BINARY_DIR}/device
      COMMAND ${WHET_NVCC} -std=c++20 -O3 --fmad=false -Werror all-warnings -I ${CMAKE_SOURCE_DIR}/src ${WHET_DEVICE_TARGETS} -fatbin -o ${fatbin} ${source}
      DEPENDS ${source} ${device_headers} ${CMAKE_SOURCE_DIR}/src/truth/gpu/device_arguments.h
              ${CMAKE_SOURCE_DIR}/src/truth/measure/mutation_arithmetic.h
      COMMENT "device code ${name}")
    list(APPEND device_code ${fatbin})
  endforeach()
else()
  message(STATUS "No device code: nvcc was not found, or WHET_CUDA is OFF; this worker will judge on CPUs only")
endif()
if(TARGET whet_truth_gpu)
  whet_embed(whet_truth_gpu device_code ${CMAKE_BINARY_DIR}/device ${device_code})
endif()
# Our own declarations of the driver's API are compared with the toolkit's, where it is.
if(TARGET truth_gpu_test AND WHET_HAS_NVCC)
  get_filename_component(toolkit ${WHET_NVCC} REALPATH)
  get_filename_component(toolkit ${toolkit} DIRECTORY)
  target_include_directories(truth_gpu_test SYSTEM PRIVATE ${toolkit}/../include)
endif()
