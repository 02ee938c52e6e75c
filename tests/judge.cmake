# SPDX-License-Identifier: Apache-2.0
# The judge on Solutions that cheat, that only look like it, and that misbehave.
if(TARGET whet-worker)
  whet_program_test(judge judge_test.cc NEEDS whet-worker)
  target_link_libraries(judge_test PRIVATE whet_wire whet_record whet_lib_json)
  set_tests_properties(judge PROPERTIES TIMEOUT 1800 RUN_SERIAL TRUE)
endif()
