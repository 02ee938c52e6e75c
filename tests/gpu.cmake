# SPDX-License-Identifier: Apache-2.0
# Tests on a real device, label gpu: built wherever nvcc is, skipped (exit code 77) where there is no device.
if(NOT WHET_HAS_NVCC)
  return()
endif()

add_executable(gpu_device_test gpu/main.cc gpu/device_work_test.cc gpu/mutation_test.cc gpu/bracket_test.cc)
target_link_libraries(gpu_device_test PRIVATE whet_truth_runner whet_truth_gpu GTest::gtest)
target_include_directories(gpu_device_test PRIVATE ${CMAKE_SOURCE_DIR})
add_test(NAME gpu_device COMMAND gpu_device_test)
set_tests_properties(gpu_device PROPERTIES LABELS gpu SKIP_RETURN_CODE 77 RUN_SERIAL TRUE)

# The same for a jailed Solution that nvcc builds here, run by the real worker's program.
function(whet_gpu_solution name)
  set(library ${CMAKE_BINARY_DIR}/tests/gpu_${name}.so)
  set(source ${CMAKE_CURRENT_SOURCE_DIR}/gpu/solutions/${name}.cu)
  add_custom_command(OUTPUT ${library}
    COMMAND ${WHET_NVCC} -std=c++20 -O2 -shared -cudart static -Xcompiler -fPIC -I ${CMAKE_SOURCE_DIR}/include
            -gencode arch=compute_90,code=sm_90 -gencode arch=compute_80,code=compute_80 -o ${library} ${source}
    DEPENDS ${source} ${CMAKE_SOURCE_DIR}/include/whet/candidate.h
    COMMENT "a CUDA Solution for the tests: ${name}")
  add_custom_target(gpu_${name} DEPENDS ${library})
endfunction()

# whet_gpu_program_test(NAME SOURCE LIBRARY NEEDS...)
function(whet_gpu_program_test name source library)
  add_executable(${name}_test gpu/main.cc ${source})
  target_link_libraries(${name}_test PRIVATE ${library} whet_truth_gpu GTest::gtest)
  target_include_directories(${name}_test PRIVATE ${CMAKE_SOURCE_DIR})
  target_compile_definitions(${name}_test PRIVATE WHET_BINARY_DIR="${CMAKE_BINARY_DIR}")
  add_dependencies(${name}_test whet-worker ${ARGN})
  add_test(NAME ${name} COMMAND ${name}_test)
  set_tests_properties(${name} PROPERTIES LABELS gpu SKIP_RETURN_CODE 77 RUN_SERIAL TRUE)
endfunction()

if(TARGET whet-worker)
  whet_gpu_solution(scale)
  whet_gpu_solution(product)
  whet_gpu_program_test(gpu_runner gpu/runner_test.cc whet_truth_runner gpu_scale)
  whet_gpu_program_test(gpu_examination gpu/examination_test.cc whet_truth_judge gpu_product examined_product)
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

# Our events against CUPTI's spans. libcupti is looked for when the test runs; its header, where the toolkit has it, only to check our declarations.
set(timed ${CMAKE_BINARY_DIR}/device/timed.fatbin)
add_custom_command(OUTPUT ${timed}
  COMMAND ${CMAKE_COMMAND} -E make_directory ${CMAKE_BINARY_DIR}/device
  COMMAND ${WHET_NVCC} -std=c++20 -O3 -gencode arch=compute_90,code=sm_90 -gencode arch=compute_80,code=compute_80 -fatbin -o ${timed} ${CMAKE_CURRENT_SOURCE_DIR}/gpu/cupti/timed.cu
  DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/gpu/cupti/timed.cu
  COMMENT "device code timed")
add_executable(gpu_cupti_test gpu/main.cc gpu/cupti/cupti_test.cc gpu/cupti/tracer.cc)
whet_embed(gpu_cupti_test timed_kernels ${CMAKE_BINARY_DIR}/device ${timed})
get_filename_component(toolkit_bin ${WHET_NVCC} REALPATH)
get_filename_component(toolkit_bin ${toolkit_bin} DIRECTORY)
target_include_directories(gpu_cupti_test PRIVATE ${CMAKE_SOURCE_DIR})
target_include_directories(gpu_cupti_test SYSTEM PRIVATE ${toolkit_bin}/../include ${toolkit_bin}/../extras/CUPTI/include)
target_link_libraries(gpu_cupti_test PRIVATE whet_truth_gpu GTest::gtest ${CMAKE_DL_LIBS})
add_test(NAME gpu_cupti COMMAND gpu_cupti_test)
set_tests_properties(gpu_cupti PROPERTIES LABELS gpu SKIP_RETURN_CODE 77 RUN_SERIAL TRUE)
