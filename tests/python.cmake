# SPDX-License-Identifier: Apache-2.0
# Solutions in Python, in the jail; skipped where there is no python3, absent where the runner's library is.
if(TARGET whet-python-runner)
  whet_program_test(python python/python_test.cc NEEDS whet-python-runner)
  target_link_libraries(python_test PRIVATE whet_truth_build whet_truth_runner)
  set_tests_properties(python PROPERTIES TIMEOUT 300)
endif()
