# SPDX-License-Identifier: Apache-2.0
# The two programs, the data that they carry, and the tests that need them.

# Generating inputs and checking outputs is most of the judge's own time. No contraction: the same bits whichever vector width is chosen.
if(TARGET whet_truth_measure)
  target_compile_options(whet_truth_measure PRIVATE -O3 -ffp-contract=off)
endif()

file(GLOB_RECURSE task_files CONFIGURE_DEPENDS RELATIVE ${CMAKE_SOURCE_DIR}/tasks ${CMAKE_SOURCE_DIR}/tasks/*)
list(TRANSFORM task_files PREPEND ${CMAKE_SOURCE_DIR}/tasks/)

if(EXISTS ${CMAKE_SOURCE_DIR}/src/face/cli/main.cc)
  add_executable(whet ${CMAKE_SOURCE_DIR}/src/face/cli/main.cc)
  target_link_libraries(whet PRIVATE whet_face_cli)
  whet_embed(whet tasks ${CMAKE_SOURCE_DIR}/tasks ${task_files})
endif()
if(EXISTS ${CMAKE_SOURCE_DIR}/src/truth/worker/main.cc)
  add_executable(whet-worker ${CMAKE_SOURCE_DIR}/src/truth/worker/main.cc)
  target_link_libraries(whet-worker PRIVATE whet_truth_worker)
  whet_embed(whet-worker abi ${CMAKE_SOURCE_DIR}/include ${CMAKE_SOURCE_DIR}/include/whet/candidate.h)
  whet_embed(whet-worker levers ${CMAKE_SOURCE_DIR}/levers ${CMAKE_SOURCE_DIR}/levers/labels.json)
  # The runner of Solutions in Python is a library that a python3 loads. An interpreter is no place for a sanitizer's run time.
  set(python_runner)
  if(TARGET whet_truth_python AND NOT WHET_SANITIZE)
    whet_embed(whet_truth_python bridge ${CMAKE_SOURCE_DIR}/src/truth/python ${CMAKE_SOURCE_DIR}/src/truth/python/whet.py)
    foreach(part base record stats sandbox truth_measure truth_gpu truth_runner truth_python)
      set_target_properties(whet_${part} PROPERTIES POSITION_INDEPENDENT_CODE ON)
    endforeach()
    add_library(whet-python-runner MODULE ${CMAKE_SOURCE_DIR}/src/truth/python/runner_main.cc)
    set_target_properties(whet-python-runner PROPERTIES PREFIX "" CXX_VISIBILITY_PRESET hidden LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/python)
    target_link_libraries(whet-python-runner PRIVATE whet_truth_python)
    # Python's own functions are found where it is loaded. Nothing of ours is seen by the libraries of kernels beside it.
    target_link_options(whet-python-runner PRIVATE -s -Wl,--exclude-libs,ALL -Wl,--unresolved-symbols=ignore-all)
    set(python_runner $<TARGET_FILE:whet-python-runner>)
  endif()
  whet_embed(whet-worker python_runner ${CMAKE_BINARY_DIR}/python ${python_runner})
endif()
# What the tests of the jail put into it.
if(WHET_TESTS AND EXISTS ${CMAKE_SOURCE_DIR}/src/sandbox/payload_main.cc)
  add_executable(sandbox_payload ${CMAKE_SOURCE_DIR}/src/sandbox/payload_main.cc)
  target_link_libraries(sandbox_payload PRIVATE whet_sandbox Threads::Threads)
  add_dependencies(sandbox_test sandbox_payload)
  foreach(lost namespaces root)
    add_test(NAME sandbox_without_${lost} COMMAND sandbox_payload --poorer ${lost} $<TARGET_FILE:sandbox_test>)
    # As nobody it cannot write the counts that tools/run_tests asks for, and GoogleTest aborts over that. A leak check traces, which is refused here.
    set_tests_properties(sandbox_without_${lost} PROPERTIES ENVIRONMENT "GTEST_OUTPUT=;ASAN_OPTIONS=detect_leaks=0")
  endforeach()
endif()
foreach(folder tests fuzz bench)
  if(EXISTS ${CMAKE_SOURCE_DIR}/${folder}/CMakeLists.txt)
    add_subdirectory(${folder})
  endif()
endforeach()
