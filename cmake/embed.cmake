# SPDX-License-Identifier: Apache-2.0
# embed(TARGET NAME FILES...): compiles files into a table whet::embedded_NAME() of {path, contents} (src/base/embedded.h).
add_executable(embed ${CMAKE_SOURCE_DIR}/tools/embed.cc)
set_target_properties(embed PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tools)
function(whet_embed target name base)
  set(out ${CMAKE_BINARY_DIR}/embedded/${name}.cc)
  add_custom_command(OUTPUT ${out}
    COMMAND embed ${name} ${base} ${out} ${ARGN}
    DEPENDS embed ${ARGN}
    COMMENT "embedding ${name}")
  target_sources(${target} PRIVATE ${out})
endfunction()
