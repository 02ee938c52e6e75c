// SPDX-License-Identifier: Apache-2.0
#include "truth/python/python_table.h"

#include <algorithm>
#include <cstdio>
#include <initializer_list>
#include <utility>

#include "base/embedded.h"
#include "truth/runner/conversation.h"

namespace whet::python {
namespace {

PythonTable* table = nullptr;  // of this process: the functions of an entry know nothing but their call

Object text(const std::string& words) { return Object(PyUnicode_FromString(words.c_str())); }

Object tuple_of(std::initializer_list<PyObject*> taken) {
  Object tuple(PyTuple_New(static_cast<std::ptrdiff_t>(taken.size())));
  std::ptrdiff_t place = 0;
  for (PyObject* item : taken) PyTuple_SetItem(tuple.get(), place++, item);
  return tuple;
}

Object address_of(const WhetCall* call) { return Object(PyLong_FromVoidPtr(const_cast<WhetCall*>(call))); }

struct Complaint {
  int code = 0;
  std::string sentence;
};

// What is being raised, in words. Its traceback goes to stderr, which is the evidence.
Complaint complaint_of(PyObject* bridge) {
  PyObject *type = nullptr, *value = nullptr, *trace = nullptr;
  PyErr_Fetch(&type, &value, &trace);
  PyErr_NormalizeException(&type, &value, &trace);
  if (value && trace) PyException_SetTraceback(value, trace);
  const Object owned_type(type), owned_trace(trace);
  Complaint complaint{static_cast<int>(Code::returned_error), "an exception that cannot be put into words"};
  if (!bridge || !value) {
    const Object owned_value(value);
    return complaint;
  }
  const Object explain(PyObject_GetAttrString(bridge, "_explain"));
  const Object answer(PyObject_CallObject(explain.get(), tuple_of({value}).get()));
  if (answer) {
    complaint.code = static_cast<int>(PyLong_AsLong(PyTuple_GetItem(answer.get(), 0)));
    if (const char* sentence = PyUnicode_AsUTF8AndSize(PyTuple_GetItem(answer.get(), 1), nullptr)) complaint.sentence = sentence;
  }
  PyErr_Clear();
  return complaint;
}

// Whatever of a call decides which objects a Solution is given.
std::vector<uint64_t> key_of(const WhetCall& call) {
  std::vector<uint64_t> key;
  for (int i = 0; i < call.num_tensors; ++i) {
    const WhetTensor& tensor = call.tensors[i];
    key.push_back(reinterpret_cast<uintptr_t>(tensor.data));
    for (int d = 0; d < tensor.ndim; ++d) key.push_back(static_cast<uint64_t>(tensor.shape[d]));
  }
  return key;
}

}  // namespace

Object PythonTable::call(const char* function, Object arguments) {
  const Object callable(PyObject_GetAttrString(bridge_.get(), function));
  return Object(PyObject_CallObject(callable.get(), arguments.get()));
}

runner::Reply PythonTable::load(const std::string& wanted, const WhetEntry*& entry) {
  table = this;
  entry = nullptr;
  if (!bridge_) {
    const std::string source(embedded_bridge().front().contents);
    const Object code(Py_CompileString(source.c_str(), "whet.py", kFileInput));
    if (code) bridge_ = Object(PyImport_ExecCodeModule("whet", code.get()));
    if (!bridge_) return runner::failed(Code::machine_failed, "the judge's own part in Python cannot be run: " + complaint_of(nullptr).sentence);
  }
  ready_.clear();
  const size_t end_of_name = wanted.find('\n');
  definition_ = wanted.substr(0, end_of_name);
  const std::string signature = end_of_name == std::string::npos ? "" : wanted.substr(end_of_name + 1);
  const Object done = call("_load", tuple_of({text(artifact_).release(), text(device_).release(), text(signature).release()}));
  if (!done) {
    const Complaint complaint = complaint_of(bridge_.get());
    return runner::failed(static_cast<Code>(complaint.code), complaint.sentence);
  }
  entry_.definition = definition_.c_str();
  entry_.prepare = &PythonTable::prepare;
  entry_.run = &PythonTable::run;
  entry = &entry_;
  runner::Reply reply;
  runner::add_notes(*this, reply);
  return reply;
}

std::string PythonTable::notes() {
  if (!bridge_) return "";
  const Object said = call("_notes", tuple_of({}));
  const char* words = said ? PyUnicode_AsUTF8AndSize(said.get(), nullptr) : nullptr;
  if (!words) PyErr_Clear();
  return words ? words : "";
}

whet_int32 PythonTable::failed(const WhetCall* call) {
  const Complaint complaint = complaint_of(bridge_.get());
  std::snprintf(call->message, call->message_bytes, "%s", complaint.sentence.c_str());
  return complaint.code == static_cast<int>(Code::unsupported) ? WHET_UNSUPPORTED : 1;
}

whet_int32 PythonTable::prepare(const WhetCall* call, void**) {
  table->ready_.clear();
  return table->call("_prepare", tuple_of({address_of(call).release()})) ? 0 : table->failed(call);
}

const PythonTable::Ready* PythonTable::ready_for(const WhetCall& call) {
  std::vector<uint64_t> key = key_of(call);
  const auto known = std::find_if(ready_.begin(), ready_.end(), [&](const Ready& one) { return one.key == key; });
  if (known != ready_.end()) return &*known;
  const Object made = this->call("_ready", tuple_of({address_of(&call).release()}));
  if (!made) return nullptr;
  Ready ready{std::move(key), {}, {}};
  for (auto [place, object] : {std::pair{0, &ready.function}, std::pair{1, &ready.arguments}}) {
    PyObject* lent = PyTuple_GetItem(made.get(), place);
    Py_IncRef(lent);
    *object = Object(lent);
  }
  ready_.push_back(std::move(ready));
  return &ready_.back();
}

whet_int32 PythonTable::run(const WhetCall* call, void*) {
  table->last_call_ = call;
  const Ready* ready = table->ready_for(*call);
  if (!ready || !Object(PyObject_CallObject(ready->function.get(), ready->arguments.get()))) return table->failed(call);
  return table->returns_late_ || Object(table->call("_deliver", tuple_of({}))) ? 0 : table->failed(call);
}

whet_int32 PythonTable::deliver() {
  if (!returns_late_ || Object(call("_deliver", tuple_of({})))) return 0;
  return failed(last_call_);
}

}  // namespace whet::python
