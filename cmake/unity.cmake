# SPDX-License-Identifier: Apache-2.0
# Most of what a file takes to compile is reading headers, so a folder's files are compiled five at a time: a build from nothing takes half as long.
# While one works on a file, -DWHET_UNITY=OFF compiles that one alone; it also shows that every file includes what it needs.
option(WHET_UNITY "compile a folder's files several at a time" ON)

# Files that have a private name in common with a neighbour.
set(WHET_ALONE
    record/workload_test.cc truth/profile/sass.cc truth/profile/sass_test.cc truth/profile/sanitizer_test.cc direction/agent/optimiser.cc direction/agent/tuner.cc
    direction/agent/family_study.cc direction/agent/tuner_test.cc truth/gpu/device_work.cc truth/judge/session.cc truth/runner/conversation.cc
    truth/runner/cuda_child.cc truth/runner/process.cc)
list(TRANSFORM WHET_ALONE PREPEND ${CMAKE_SOURCE_DIR}/src/)
set_source_files_properties(${WHET_ALONE} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)

function(whet_unite target)
  if(WHET_UNITY)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 5)
  endif()
endfunction()
