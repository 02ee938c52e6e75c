# SPDX-License-Identifier: Apache-2.0
# Tests on a real device, label gpu: built wherever nvcc is, skipped (exit code 77) where there is no device.
if(NOT WHET_HAS_NVCC)
  return()
endif()

add_executable(gpu_device_test gpu/main.cc gpu/device_work_test.cc gpu/bracket_test.cc)
target_link_libraries(gpu_device_test PRIVATE whet_truth_runner whet_truth_gpu GTest::gtest)
target_include_directories(gpu_device_test PRIVATE ${CMAKE_SOURCE_DIR})
add_test(NAME gpu_device COMMAND gpu_device_test)
set_tests_properties(gpu_device PROPERTIES LABELS gpu SKIP_RETURN_CODE 77 RUN_SERIAL TRUE)
