// SPDX-License-Identifier: Apache-2.0
// whet-python-runner.so: carried by whet-worker and loaded, inside a jail, by a python3 that holds its interpreter's lock for as long as this runs.
#include <string_view>

#include "truth/python/python_table.h"
#include "truth/runner/child.h"
#include "truth/runner/cuda_child.h"

// `device`: cpu or cuda; `returns`: "late" or "at once" (RunnerPython::returns_late). Ends the process, or returns its exit code.
extern "C" __attribute__((visibility("default"))) int whet_python_runner(const char* artifact, const char* device, const char* returns) {
  whet::python::PythonTable table(artifact, device, std::string_view(returns) == "late");
  const bool on_gpu = std::string_view(device) == "cuda";
  return on_gpu ? whet::runner::run_cuda_child(table, whet::RunnerFilter::python) : whet::runner::run_child(table, whet::RunnerFilter::python);
}
