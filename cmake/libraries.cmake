# SPDX-License-Identifier: Apache-2.0
# The distribution's libraries under the names that FLOORS uses: whet_lib_NAME.
include(CheckCXXSourceCompiles)
find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)
find_package(nlohmann_json 3.11 REQUIRED)
find_package(fmt REQUIRED)
find_package(CLI11 REQUIRED)
find_package(SQLite3 REQUIRED)
pkg_check_modules(SECCOMP REQUIRED libseccomp)
find_path(TOMLPLUSPLUS_INCLUDE toml++/toml.h REQUIRED)

foreach(name fmt json toml seccomp sqlite dl cli)
  add_library(whet_lib_${name} INTERFACE)
endforeach()
# Header-only, so that the program needs no libfmt on the machine where it runs.
target_link_libraries(whet_lib_fmt INTERFACE fmt::fmt-header-only)
target_link_libraries(whet_lib_json INTERFACE nlohmann_json::nlohmann_json)
target_include_directories(whet_lib_toml SYSTEM INTERFACE ${TOMLPLUSPLUS_INCLUDE})
target_compile_definitions(whet_lib_toml INTERFACE TOML_HEADER_ONLY=1)
target_link_libraries(whet_lib_cli INTERFACE CLI11::CLI11)
target_link_libraries(whet_lib_dl INTERFACE ${CMAKE_DL_LIBS} Threads::Threads)
target_include_directories(whet_lib_seccomp SYSTEM INTERFACE ${SECCOMP_INCLUDE_DIRS})
if(WHET_PORTABLE)
  # One file that runs where nothing of ours is installed: only glibc stays dynamic.
  find_library(SECCOMP_ARCHIVE libseccomp.a REQUIRED)
  find_library(SQLITE_ARCHIVE libsqlite3.a REQUIRED)
  target_link_libraries(whet_lib_seccomp INTERFACE ${SECCOMP_ARCHIVE})
  target_include_directories(whet_lib_sqlite SYSTEM INTERFACE ${SQLite3_INCLUDE_DIRS})
  target_link_libraries(whet_lib_sqlite INTERFACE ${SQLITE_ARCHIVE} m ${CMAKE_DL_LIBS} Threads::Threads)
  add_link_options(-static-libstdc++ -static-libgcc)
else()
  target_link_libraries(whet_lib_seccomp INTERFACE ${SECCOMP_LINK_LIBRARIES})
  target_link_libraries(whet_lib_sqlite INTERFACE SQLite::SQLite3)
endif()

# CUDA is optional: without nvcc the GPU commands say so in one line.
find_program(WHET_NVCC nvcc HINTS $ENV{CUDA_HOME}/bin /usr/local/cuda/bin)
