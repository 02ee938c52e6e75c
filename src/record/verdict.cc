// SPDX-License-Identifier: Apache-2.0
#include "record/verdict.h"

#include <array>

namespace whet {
namespace {

constexpr auto kCodes = std::to_array<CodeRow>({
    {Code::correct, "correct", "every output of every call was right"},
    {Code::compile_failed, "compile_failed", "the compiler refused a source"},
    {Code::compile_timed_out, "compile_timed_out", "the compiler did not finish in time"},
    {Code::compile_too_large, "compile_too_large", "the compiler needed more memory or wrote a larger file than is allowed"},
    {Code::link_failed, "link_failed", "the objects do not link, for example because a symbol is undefined"},
    {Code::flag_refused, "flag_refused", "solution.json asks for a compiler or linker flag that is not allowed"},
    {Code::dependency_missing, "dependency_missing", "a library or compiler that the Solution needs is not on this machine"},
    {Code::load_failed, "load_failed", "the shared library could not be loaded"},
    {Code::entry_missing, "entry_missing", "the shared library does not export whet_solution_v1"},
    {Code::abi_mismatch, "abi_mismatch", "the Solution's table is of another ABI version or malformed"},
    {Code::definition_missing, "definition_missing", "the Solution's table has no entry for this Definition"},
    {Code::language_unsupported, "language_unsupported", "this worker cannot run Solutions of this language"},
    {Code::unsupported, "unsupported", "the Solution says that it does not run this workload"},
    {Code::stale, "stale", "the output answers an earlier call's inputs, not this one's"},
    {Code::late, "late", "the output was still being written after the call had returned"},
    {Code::input_written, "input_written", "it wrote to an input, which is lent read-only"},
    {Code::out_of_bounds, "out_of_bounds", "it read or wrote outside the buffers that it was lent"},
    {Code::escaped, "escaped", "it made a system call that a Solution has no business making"},
    {Code::clock_not_believed, "clock_not_believed", "the time that its process reported is shorter than the worker's own clock allows"},
    {Code::device_changed, "device_changed", "it changed how the device works beyond its own call"},
    {Code::crashed, "crashed", "its process died of a signal"},
    {Code::hung, "hung", "a call did not return in time"},
    {Code::memory_exceeded, "memory_exceeded", "it used more memory than is allowed"},
    {Code::tasks_exceeded, "tasks_exceeded", "it started more threads or processes than are allowed"},
    {Code::returned_error, "returned_error", "one of its functions returned an error code"},
    {Code::exited, "exited", "its process exited during a call"},
    {Code::wrong, "wrong", "an output differs from the reference by more than the tolerance"},
    {Code::not_written, "not_written", "it returned without writing an output, which still held what was there before"},
    {Code::not_finite, "not_finite", "an output holds NaN or infinity where the Definition does not allow it"},
    {Code::faster_than_possible, "faster_than_possible", "it is right but faster than this machine can move the bytes or do the operations: quarantined"},
    {Code::not_enough_evidence, "not_enough_evidence", "it is right but too few samples survived to give a time"},
    {Code::machine_failed, "machine_failed", "the worker or its machine failed; the Solution may be fine"},
    {Code::reference_failed, "reference_failed", "the reference could not be run on this workload"},
    {Code::workload_not_admitted, "workload_not_admitted", "a wrong answer would pass on this workload, so it proves nothing"},
    {Code::cancelled, "cancelled", "the evaluation was cancelled"},
    {Code::not_run, "not_run", "this workload was not run"},
});

}  // namespace

std::span<const CodeRow> all_codes() { return kCodes; }

std::string_view name_of(Code code) {
  for (const CodeRow& row : kCodes)
    if (row.code == code) return row.name;
  return "unknown";
}

bool is_known(int code) {
  for (const CodeRow& row : kCodes)
    if (static_cast<int>(row.code) == code) return true;
  return false;
}

}  // namespace whet
