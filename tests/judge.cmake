# SPDX-License-Identifier: Apache-2.0
# The judge on Solutions that cheat, that only look like it, and that misbehave.
if(TARGET whet-worker)
  whet_program_test(judge judge_test.cc NEEDS whet-worker)
  target_link_libraries(judge_test PRIVATE whet_wire whet_record whet_lib_json)
  set_tests_properties(judge PROPERTIES TIMEOUT 1800 RUN_SERIAL TRUE)
endif()

# The admission of workloads, of small references that are compiled here.
if(TARGET whet-worker)
  whet_program_test(examination examination/examination_test.cc NEEDS whet-worker)
  target_link_libraries(examination_test PRIVATE whet_truth_judge)
  foreach(reference "product:1.0" "product_off:1.00025" "product_alone:0")
    string(REPLACE ":" ";" reference ${reference})
    list(GET reference 0 name)
    list(GET reference 1 factor)
    add_library(examined_${name} MODULE examination/product.cc)
    set_target_properties(examined_${name} PROPERTIES PREFIX "" LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests CXX_VISIBILITY_PRESET hidden)
    target_include_directories(examined_${name} PRIVATE ${CMAKE_SOURCE_DIR}/include)
    target_compile_definitions(examined_${name} PRIVATE TWIN_FACTOR=${factor})
    add_dependencies(examination_test examined_${name})
  endforeach()
  set_tests_properties(examination PROPERTIES RUN_SERIAL TRUE)
endif()
