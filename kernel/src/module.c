/* The extension module: one type, whose methods answer or return None where the Python path is to be asked. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "composition.h"
#include "loss.h"
#include "questions.h"

#define INTERFACE 1

typedef struct {
    PyObject_HEAD
    Composition *all;
} Steps;

static PyObject *steps_new(PyTypeObject *type, PyObject *arguments, PyObject *named)
{
    static char *names[] = {"rate", "shift", "density", "right", "left", "count", "supremum", NULL};
    double rate, shift, count, supremum;
    int density, right, left;
    if (!PyArg_ParseTupleAndKeywords(arguments, named, "ddiiidd", names, &rate, &shift, &density, &right, &left,
                                     &count, &supremum))
        return NULL;
    if (!(rate >= 1e-100 && rate < 1.0 && shift > 0.0 && isfinite(shift) && count >= 1.0 && count <= 0x1p53)) {
        PyErr_SetString(PyExc_ValueError, "rate, shift or count out of range");
        return NULL;
    }
    bool removes = density == 1 && right == 1 && (left == 0 || left == -1);
    if (!removes && !(density == 0 && right == -1 && left == 0)) {
        PyErr_SetString(PyExc_ValueError, "no such order");
        return NULL;
    }
    allocfunc make = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    Steps *self = (Steps *)make(type, 0);
    if (!self)
        return NULL;
    self->all = PyMem_Calloc(1, sizeof *self->all);
    if (!self->all) {
        Py_DECREF(self);
        return PyErr_NoMemory();
    }
    self->all->loss = loss_of(rate, shift, density, right, left);
    self->all->count = count;
    self->all->supremum = supremum;
    self->all->wanted = self->all->log_leak = -INFINITY;
    return (PyObject *)self;
}

static void steps_dealloc(PyObject *object)
{
    Steps *self = (Steps *)object;
    PyTypeObject *type = Py_TYPE(object);
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
    if (self->all)
        forget(self->all);
    PyMem_Free(self->all);
    release(object);
    Py_DECREF(type);
}

/* Both ends and the relative width of delta behind them, or None where there are none, or none so good. */
static PyObject *answered(Status status, Interval found, double width)
{
    if (status == NO_MEMORY)
        return PyErr_NoMemory();
    if (status != FOUND || !(found.lower <= found.upper) || !(width <= GOOD_WIDTH))
        Py_RETURN_NONE;
    return Py_BuildValue("ddd", found.lower, found.upper, width);
}

static PyObject *steps_epsilon(PyObject *object, PyObject *arguments)
{
    double log_delta, slack, width = 0.0;
    Interval found = {0.0, 0.0};
    if (!PyArg_ParseTuple(arguments, "dd", &log_delta, &slack))
        return NULL;
    Status status = solve(((Steps *)object)->all, log_delta, slack, &found, &width);
    return answered(status, found, width);
}

static PyObject *steps_log_delta(PyObject *object, PyObject *argument)
{
    double epsilon = PyFloat_AsDouble(argument), width = 0.0;
    Interval found = {0.0, 0.0};
    if (epsilon == -1.0 && PyErr_Occurred())
        return NULL;
    Status status = evaluate(((Steps *)object)->all, epsilon, &found, &width);
    return answered(status, found, width);
}

static PyObject *steps_upper_log_delta(PyObject *object, PyObject *arguments)
{
    double epsilon, enough, found = 0.0;
    if (!PyArg_ParseTuple(arguments, "dd", &epsilon, &enough))
        return NULL;
    Status status = bound(((Steps *)object)->all, epsilon, enough, &found);
    if (status == NO_MEMORY)
        return PyErr_NoMemory();
    if (status != FOUND)
        Py_RETURN_NONE;
    return PyFloat_FromDouble(found);
}

static PyMethodDef methods[] = {
    {"epsilon", steps_epsilon, METH_VARARGS,
     "epsilon(log_delta, slack): ends of the least epsilon, and the width of log delta behind them; or None"},
    {"log_delta", steps_log_delta, METH_O, "log_delta(epsilon): its ends and their width; or None"},
    {"upper_log_delta", steps_upper_log_delta, METH_VARARGS,
     "upper_log_delta(epsilon, enough): a Chernoff bound, the best one unless one at hand is enough; or None"},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_doc, "T steps of a Poisson-subsampled Gaussian loss, and what was laid for them."},
    {Py_tp_new, steps_new},
    {Py_tp_dealloc, steps_dealloc},
    {Py_tp_methods, methods},
    {0, NULL},
};

static PyType_Spec steps = {"epsilond._kernel.Steps", sizeof(Steps), 0, Py_TPFLAGS_DEFAULT, slots};

static struct PyModuleDef module = {
    PyModuleDef_HEAD_INIT, "epsilond._kernel", "The quick way of epsilond's contour engine, compiled.", -1, NULL,
    NULL, NULL, NULL, NULL,
};

PyMODINIT_FUNC PyInit__kernel(void)
{
    PyObject *made = PyModule_Create(&module), *type = NULL;
    if (!made)
        return NULL;
    type = PyType_FromSpec(&steps);
    if (!type || PyModule_AddObject(made, "Steps", type) < 0) {
        Py_XDECREF(type);
        Py_DECREF(made);
        return NULL;
    }
    if (PyModule_AddIntConstant(made, "INTERFACE", INTERFACE) < 0) {
        Py_DECREF(made);
        return NULL;
    }
    return made;
}
