// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

// The part of Python's stable ABI that is used here. Declared and not included, so that nothing of Python is needed to build; found in the process that
// loads this library, which is an interpreter: its executable exports them, or the libpython that it is linked with.
extern "C" {
struct _object;
using PyObject = _object;

PyObject* Py_CompileString(const char* text, const char* filename, int start);
PyObject* PyImport_ExecCodeModule(const char* name, PyObject* code);
PyObject* PyObject_GetAttrString(PyObject* object, const char* name);
PyObject* PyObject_CallObject(PyObject* callable, PyObject* tuple);
PyObject* PyTuple_New(std::ptrdiff_t size);
int PyTuple_SetItem(PyObject* tuple, std::ptrdiff_t place, PyObject* item);  // takes the item
PyObject* PyTuple_GetItem(PyObject* tuple, std::ptrdiff_t place);            // lends it
PyObject* PyLong_FromVoidPtr(void* address);
long PyLong_AsLong(PyObject* number);
PyObject* PyUnicode_FromString(const char* text);
const char* PyUnicode_AsUTF8AndSize(PyObject* text, std::ptrdiff_t* size);
void PyErr_Fetch(PyObject** type, PyObject** value, PyObject** trace);
void PyErr_NormalizeException(PyObject** type, PyObject** value, PyObject** trace);
int PyException_SetTraceback(PyObject* value, PyObject* trace);
void PyErr_Clear();
void Py_IncRef(PyObject* object);
void Py_DecRef(PyObject* object);
}

namespace whet::python {

constexpr int kFileInput = 257;  // Py_file_input

// Owns one reference, or none.
class Object {
 public:
  Object() = default;
  explicit Object(PyObject* owned) : object_(owned) {}
  Object(Object&& other) noexcept : object_(other.release()) {}
  Object& operator=(Object&& other) noexcept {
    PyObject* old = object_;
    object_ = other.release();
    if (old) Py_DecRef(old);
    return *this;
  }
  ~Object() {
    if (object_) Py_DecRef(object_);
  }
  PyObject* get() const { return object_; }
  PyObject* release() {
    PyObject* object = object_;
    object_ = nullptr;
    return object;
  }
  explicit operator bool() const { return object_ != nullptr; }

 private:
  PyObject* object_ = nullptr;
};

}  // namespace whet::python
