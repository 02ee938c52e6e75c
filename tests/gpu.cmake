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

# The same for a jailed Solution that nvcc builds here, run by the real worker's program.
if(TARGET whet-worker)
  set(scale ${CMAKE_BINARY_DIR}/tests/gpu_scale.so)
  add_custom_command(OUTPUT ${scale}
    COMMAND ${WHET_NVCC} -std=c++20 -O2 -shared -cudart static -Xcompiler -fPIC -I ${CMAKE_SOURCE_DIR}/include
            -gencode arch=compute_90,code=sm_90 -gencode arch=compute_80,code=compute_80 -o ${scale} ${CMAKE_CURRENT_SOURCE_DIR}/gpu/solutions/scale.cu
    DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/gpu/solutions/scale.cu ${CMAKE_SOURCE_DIR}/include/whet/candidate.h
    COMMENT "a CUDA Solution for the tests")
  add_custom_target(gpu_scale DEPENDS ${scale})
  add_executable(gpu_runner_test gpu/main.cc gpu/runner_test.cc)
  target_link_libraries(gpu_runner_test PRIVATE whet_truth_runner whet_truth_gpu GTest::gtest)
  target_include_directories(gpu_runner_test PRIVATE ${CMAKE_SOURCE_DIR})
  target_compile_definitions(gpu_runner_test PRIVATE WHET_BINARY_DIR="${CMAKE_BINARY_DIR}")
  add_dependencies(gpu_runner_test gpu_scale whet-worker)
  add_test(NAME gpu_runner COMMAND gpu_runner_test)
  set_tests_properties(gpu_runner PROPERTIES LABELS gpu SKIP_RETURN_CODE 77 RUN_SERIAL TRUE)
endif()

# The judge on Solutions that cheat on a GPU and on those that only look like it: the worker builds them itself.
if(TARGET whet-worker)
  add_executable(gpu_judge_test gpu_judge/gpu_judge_test.cc gpu_judge/gpu_worker.cc)
  target_link_libraries(gpu_judge_test PRIVATE whet_wire whet_record whet_lib_json GTest::gmock GTest::gtest)
  target_include_directories(gpu_judge_test PRIVATE ${CMAKE_SOURCE_DIR})
  target_compile_definitions(gpu_judge_test PRIVATE WHET_SOURCE_DIR="${CMAKE_SOURCE_DIR}" WHET_BINARY_DIR="${CMAKE_BINARY_DIR}")
  add_dependencies(gpu_judge_test whet-worker)
  add_test(NAME gpu_judge COMMAND gpu_judge_test)
  set_tests_properties(gpu_judge PROPERTIES LABELS gpu SKIP_RETURN_CODE 77 RUN_SERIAL TRUE TIMEOUT 1800)
endif()
