/* The extension module: one type, whose methods answer or return None where Python is to be asked. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "best.h"
#include "composition.h"
#include "convolve.h"
#include "loss.h"
#include "questions.h"
#include "roots.h"
#include "search.h"

#include <stdlib.h>

/* Of this module, which is counted up where the Python side must follow. */
#define INTERFACE 8

/* The least shift and rate, and the reciprocal of the largest shift: products of shifts, tilts and losses are doubles. */
#define SMALLEST 1e-100

/* `lock` is held by the thread that computes: what is computed is kept in the composition. */
typedef struct {
    PyObject_HEAD
    Composition *all;
    PyThread_type_lock lock;
    unsigned long owner; /* the thread that holds the lock */
} Handle;

/* Without the interpreter: whether a signal has raised an exception, which is then set. */
static bool interrupts(void)
{
    PyGILState_STATE state = PyGILState_Ensure();
    bool raised = PyErr_CheckSignals() < 0;
    PyGILState_Release(state);
    return raised;
}

/* A computation of one composition, which other threads of the interpreter do not wait for. */
typedef struct {
    PyThreadState *state;
    Handle *handle;
    Watch watch;
} Turn;

/* Begin a computation; NULL where a handler of signals asks for the composition that its own thread computes. */
static Composition *begin(Turn *turn, PyObject *handle)
{
    turn->handle = (Handle *)handle;
    if (turn->handle->owner == PyThread_get_thread_ident())
        return NULL;
    turn->watch = (Watch){.interrupts = interrupts};
    turn->state = PyEval_SaveThread();
    PyThread_acquire_lock(turn->handle->lock, WAIT_LOCK);
    turn->handle->owner = PyThread_get_thread_ident();
    turn->handle->all->watch = &turn->watch;
    return turn->handle->all;
}

/* End a computation; false, with the exception of a signal set, if one interrupted it, whatever status it ended with. */
static bool end(Turn *turn)
{
    turn->handle->all->watch = NULL;
    turn->handle->owner = 0;
    PyThread_release_lock(turn->handle->lock);
    PyEval_RestoreThread(turn->state);
    return !turn->watch.stopped;
}

static bool is_shift(double shift)
{
    return shift >= SMALLEST && shift <= 1.0 / SMALLEST;
}

static bool is_count(double count)
{
    return count >= 1.0 && count <= 0x1p53;
}

/* Read a mixture from tuples of rising shifts and of their weights, which sum to one; of positive ones for a drawn batch,
 * where what the weights leave of one is a batch without a loss. */
static bool read_mixture(PyObject *shifts, PyObject *weights, bool drawn, Mixture *mixture)
{
    Py_ssize_t size = PyTuple_Size(shifts);
    double total = 0.0, before = drawn ? DBL_MIN : 0.0;
    bool usable = size >= 1 && size <= MOST_COMPONENTS && PyTuple_Size(weights) == size;
    for (Py_ssize_t k = 0; usable && k < size; k++) {
        double shift = PyFloat_AsDouble(PyTuple_GetItem(shifts, k)), weight = PyFloat_AsDouble(PyTuple_GetItem(weights, k));
        usable = shift >= before && (shift == 0.0 || is_shift(shift)) && weight >= SMALLEST * SMALLEST * SMALLEST * 0.99 && weight <= 1.0;
        mixture->shift[k] = before = shift;
        mixture->weight[k] = weight;
        mixture->log_weight[k] = log(weight);
        total += weight;
    }
    mixture->size = (int)size;
    usable = usable && before > 0.0 && total <= 1.0 + 1e-12 && (drawn || total >= 1.0 - 1e-12);
    if (!usable && !PyErr_Occurred())
        PyErr_SetString(PyExc_ValueError, "shifts or weights of a mixture out of range");
    return usable;
}

/* One kind of steps from (rate, shift, order, count), the order 0 to remove, 1 to add, 2 to replace; 3 is a batch drawn
 * without replacement, in which a record is replaced. With shifts and weights it is a mixture, kept where there is room. */
static bool read_steps(PyObject *given, Steps *steps, Mixture *mixture)
{
    double rate, shift;
    int order;
    PyObject *shifts = NULL, *weights = NULL;
    if (!PyArg_ParseTuple(given, "ddid|O!O!", &rate, &shift, &order, &steps->count, &PyTuple_Type, &shifts, &PyTuple_Type,
                          &weights))
        return false;
    if (!(rate >= SMALLEST && rate < 1.0 && is_shift(shift) && is_count(steps->count) && order >= 0 && order <= 3)) {
        PyErr_SetString(PyExc_ValueError, "rate, shift, order or count out of range");
        return false;
    }
    steps->loss = loss_of(rate, shift, order != 1, order == 1 ? -1 : 1, order >= 2 ? -1 : 0);
    steps->loss.drawn = order == 3;
    if (!shifts)
        return true;
    if (!mixture || !weights || !read_mixture(shifts, weights, order == 3, mixture)) {
        if (!PyErr_Occurred())
            PyErr_SetString(PyExc_ValueError, "no mixture is read here");
        return false;
    }
    steps->loss.mixture = mixture;
    steps->loss.shift = mixture->shift[mixture->size - 1];
    return true;
}

/* One kind of Laplace losses from (shift, count). */
static bool read_laplace(PyObject *given, Laplace *laplace)
{
    if (!PyArg_ParseTuple(given, "dd", &laplace->shift, &laplace->count))
        return false;
    if (is_shift(laplace->shift) && is_count(laplace->count))
        return true;
    PyErr_SetString(PyExc_ValueError, "shift or count out of range");
    return false;
}

/* All parts, from two tuples of tuples. */
static bool read_parts(Composition *all, PyObject *steps, double square, PyObject *laplace)
{
    Py_ssize_t kinds = PyTuple_Size(steps), others = PyTuple_Size(laplace);
    if (kinds < 0 || others < 0)
        return false;
    if (kinds > MOST_PRODUCTS / 128 || others > MOST_PRODUCTS / 128 || !(square == 0.0 || is_shift(square)) || (!kinds && !others && square == 0.0)) {
        PyErr_SetString(PyExc_ValueError, "too many parts, none, or a Gaussian shift out of range");
        return false;
    }
    if (make(all, (int)kinds, (int)others) != DONE) {
        PyErr_NoMemory();
        return false;
    }
    all->square = square;
    Py_ssize_t mixtures = 0;
    for (Py_ssize_t k = 0; k < kinds; k++)
        mixtures += PyTuple_Check(PyTuple_GetItem(steps, k)) && PyTuple_Size(PyTuple_GetItem(steps, k)) > 4;
    all->mixtures = calloc((size_t)mixtures + 1, sizeof *all->mixtures);
    if (!all->mixtures) {
        PyErr_NoMemory();
        return false;
    }
    mixtures = 0;
    for (Py_ssize_t k = 0; k < kinds; k++) {
        if (!read_steps(PyTuple_GetItem(steps, k), &all->steps[k], &all->mixtures[mixtures]))
            return false;
        mixtures += all->steps[k].loss.mixture != NULL;
    }
    for (Py_ssize_t k = 0; k < others; k++)
        if (!read_laplace(PyTuple_GetItem(laplace, k), &all->laplace[k]))
            return false;
    if (complete(all) == DONE)
        return true;
    PyErr_NoMemory();
    return false;
}

static PyObject *handle_new(PyTypeObject *type, PyObject *arguments, PyObject *named)
{
    static char *names[] = {"steps", "square", "laplace", NULL};
    PyObject *steps, *laplace;
    double square;
    if (!PyArg_ParseTupleAndKeywords(arguments, named, "O!dO!", names, &PyTuple_Type, &steps, &square, &PyTuple_Type,
                                     &laplace))
        return NULL;
    allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    Handle *self = (Handle *)allocate(type, 0);
    if (!self)
        return NULL;
    self->all = PyMem_Calloc(1, sizeof *self->all);
    self->lock = PyThread_allocate_lock();
    if (!self->all || !self->lock) {
        Py_DECREF(self);
        return PyErr_NoMemory();
    }
    if (!read_parts(self->all, steps, square, laplace)) {
        Py_DECREF(self);
        return NULL;
    }
    return (PyObject *)self;
}

static void handle_dealloc(PyObject *object)
{
    Handle *self = (Handle *)object;
    PyTypeObject *type = Py_TYPE(object);
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
    if (self->all)
        forget(self->all);
    PyMem_Free(self->all);
    if (self->lock)
        PyThread_free_lock(self->lock);
    release(object);
    Py_DECREF(type);
}

/* What stands for an answer that there is not: "no decay" if no integrand decays on its line, or else None. */
static PyObject *refused(Status status)
{
    if (status == NO_MEMORY)
        return PyErr_NoMemory();
    if (status == NO_DECAY)
        return PyUnicode_FromString("no decay");
    Py_RETURN_NONE;
}

/* Both ends and the relative width of delta behind them, or `refused` where there are none, or none so good. */
static PyObject *answered(Status status, Answer best)
{
    if (status != DONE || !(best.ends.lower <= best.ends.upper) || !(best.width <= WIDEST))
        return refused(status);
    return Py_BuildValue("ddd", best.ends.lower, best.ends.upper, best.width);
}

static PyObject *handle_epsilon(PyObject *object, PyObject *arguments)
{
    double log_delta, slack;
    Answer best = {{0.0, 0.0}, INFINITY};
    if (!PyArg_ParseTuple(arguments, "dd", &log_delta, &slack))
        return NULL;
    if (!(log_delta < 0.0 && isfinite(log_delta) && slack >= 0.0 && isfinite(slack)))
        Py_RETURN_NONE;
    Turn turn;
    Composition *all = begin(&turn, object);
    if (!all)
        Py_RETURN_NONE;
    Status status = solve(all, log_delta, slack, &best);
    if (!end(&turn))
        return NULL;
    return answered(status, best);
}

static PyObject *handle_log_delta(PyObject *object, PyObject *argument)
{
    double epsilon = PyFloat_AsDouble(argument);
    Answer best = {{0.0, 0.0}, INFINITY};
    if (epsilon == -1.0 && PyErr_Occurred())
        return NULL;
    if (isnan(epsilon) || epsilon == -INFINITY)
        Py_RETURN_NONE;
    Turn turn;
    Composition *all = begin(&turn, object);
    if (!all)
        Py_RETURN_NONE;
    Status status = evaluate(all, epsilon, &best);
    if (!end(&turn))
        return NULL;
    return answered(status, best);
}

static PyObject *handle_upper_log_delta(PyObject *object, PyObject *argument)
{
    double epsilon = PyFloat_AsDouble(argument), found = 0.0;
    if (epsilon == -1.0 && PyErr_Occurred())
        return NULL;
    if (isnan(epsilon) || epsilon == -INFINITY)
        Py_RETURN_NONE;
    Turn turn;
    Composition *all = begin(&turn, object);
    if (!all)
        Py_RETURN_NONE;
    Status status = bound(all, epsilon, &found);
    if (!end(&turn))
        return NULL;
    if (status == NO_MEMORY)
        return PyErr_NoMemory();
    if (status != DONE)
        Py_RETURN_NONE;
    return PyFloat_FromDouble(found);
}

static PyObject *handle_threshold(PyObject *object, PyObject *argument)
{
    double log_size = PyFloat_AsDouble(argument);
    Threshold found = {0.0, INFINITY, 0.0};
    if (log_size == -1.0 && PyErr_Occurred())
        return NULL;
    if (!(log_size < 0.0 && isfinite(log_size)))
        Py_RETURN_NONE;
    Turn turn;
    Composition *all = begin(&turn, object);
    if (!all)
        Py_RETURN_NONE;
    Status status = threshold(all, log_size, &found);
    if (!end(&turn))
        return NULL;
    if (status != DONE || !(found.width <= WIDEST))
        return refused(status);
    return Py_BuildValue("ddd", found.epsilon, found.width, found.steepness);
}

/* The doubles of a tuple of at most MOST_COMPONENTS, all finite; -1 if it has none or too many, or one that is not. */
static int read_numbers(PyObject *tuple, double *numbers)
{
    Py_ssize_t count = PyTuple_Size(tuple);
    if (count < 1 || count > MOST_COMPONENTS)
        return -1;
    for (Py_ssize_t k = 0; k < count; k++) {
        numbers[k] = PyFloat_AsDouble(PyTuple_GetItem(tuple, k));
        if (PyErr_Occurred() || !isfinite(numbers[k]))
            return -1;
    }
    return (int)count;
}

static PyObject *best_test_of(BestTest found)
{
    if (!(found.width <= WIDEST && found.ends.lower <= found.ends.upper))
        Py_RETURN_NONE;
    return Py_BuildValue("ddd", found.ends.lower, found.ends.upper, found.epsilon);
}

static PyObject *handle_best_tests(PyObject *object, PyObject *arguments)
{
    PyObject *given;
    double rates[MOST_COMPONENTS], rounding;
    BestTest found[MOST_COMPONENTS];
    Answer at_zero;
    if (!PyArg_ParseTuple(arguments, "O!d", &PyTuple_Type, &given, &rounding))
        return NULL;
    int count = read_numbers(given, rates);
    bool meant = count > 0 && rounding >= 0.0 && isfinite(rounding);
    for (int k = 0; k < count; k++)
        meant = meant && rates[k] >= SMALLEST && rates[k] < 1.0;
    if (PyErr_Occurred())
        return NULL;
    if (!meant)
        Py_RETURN_NONE;
    Turn turn;
    Composition *all = begin(&turn, object);
    if (!all)
        Py_RETURN_NONE;
    Status status = best_tests(all, count, rates, rounding, found, &at_zero);
    if (!end(&turn))
        return NULL;
    if (status == NO_MEMORY)
        return PyErr_NoMemory();
    if (status != DONE)
        Py_RETURN_NONE;
    PyObject *tests = PyTuple_New(count);
    for (int k = 0; tests && k < count; k++) {
        PyObject *test = best_test_of(found[k]);
        if (!test || PyTuple_SetItem(tests, k, test) < 0)
            Py_CLEAR(tests);
    }
    if (!tests)
        return NULL;
    return Py_BuildValue("N(dd)", tests, at_zero.width <= GOOD_WIDTH ? at_zero.ends.lower : -INFINITY,
                         at_zero.width <= GOOD_WIDTH ? at_zero.ends.upper : 0.0);
}

static PyObject *handle_upper_log_deltas(PyObject *object, PyObject *argument)
{
    double epsilons[MOST_COMPONENTS], found[MOST_COMPONENTS];
    int count = read_numbers(argument, epsilons);
    if (PyErr_Occurred())
        return NULL;
    if (count < 0)
        Py_RETURN_NONE;
    Turn turn;
    Composition *all = begin(&turn, object);
    if (!all)
        Py_RETURN_NONE;
    Status status = upper_log_deltas(all, count, epsilons, found);
    if (!end(&turn))
        return NULL;
    if (status == NO_MEMORY)
        return PyErr_NoMemory();
    if (status != DONE)
        Py_RETURN_NONE;
    PyObject *bounds = PyTuple_New(count);
    for (int k = 0; bounds && k < count; k++) {
        PyObject *bound = PyFloat_FromDouble(found[k]);
        if (!bound || PyTuple_SetItem(bounds, k, bound) < 0)
            Py_CLEAR(bounds);
    }
    return bounds;
}

/* The number of a run at which the larger log delta of its orders is as asked, about; or None. */
static PyObject *search_run(PyObject *unused, PyObject *arguments)
{
    (void)unused;
    PyObject *orders;
    int unknown;
    double guess, found;
    Search asked = {0};
    if (!PyArg_ParseTuple(arguments, "O!iddd", &PyTuple_Type, &orders, &unknown, &asked.epsilon, &asked.log_delta,
                          &guess))
        return NULL;
    asked.size = (int)PyTuple_Size(orders);
    asked.unknown = (Unknown)unknown;
    if (asked.size < 1 || asked.size > 2 || unknown < 0 || unknown > 2)
        return PyErr_Format(PyExc_ValueError, "one order or two, and a number from 0 to 2");
    for (int k = 0; k < asked.size; k++)
        if (!read_steps(PyTuple_GetItem(orders, k), &asked.orders[k], NULL))
            return NULL;
    bool meant = isfinite(asked.epsilon) && asked.log_delta < 0.0 && isfinite(asked.log_delta) && guess > 0.0;
    Watch watch = {.interrupts = interrupts};
    asked.watch = &watch;
    PyThreadState *state = PyEval_SaveThread();
    Status status = meant && isfinite(guess) ? search_number(&asked, guess, &found) : NO_TILT;
    PyEval_RestoreThread(state);
    if (watch.stopped)
        return NULL;
    if (status == NO_MEMORY)
        return PyErr_NoMemory();
    if (status != DONE || !isfinite(found))
        Py_RETURN_NONE;
    return PyFloat_FromDouble(found);
}

/* Read one kind of steps from a buffer of doubles and a count; false with an exception. */
static bool read_lattice_steps(PyObject *given, int bits, Py_buffer *view, LatticeSteps *steps)
{
    PyObject *masses;
    long long count;
    if (!PyArg_ParseTuple(given, "OL", &masses, &count) || PyObject_GetBuffer(masses, view, PyBUF_SIMPLE) < 0)
        return false;
    steps->count = (unsigned long long)count;
    steps->masses = view->buf;
    steps->size = (size_t)view->len / sizeof(double);
    if (steps->size >= 1 && steps->size <= (size_t)1 << bits && count >= 1)
        return true;
    PyBuffer_Release(view);
    PyErr_SetString(PyExc_ValueError, "masses or count out of range");
    return false;
}

/* Masses of a sum of steps on a circle, as bytes. */
static PyObject *convolve_steps(PyObject *unused, PyObject *arguments)
{
    (void)unused;
    PyObject *given, *masses = NULL;
    int bits, read = 0;
    Py_buffer views[MOST_COMPONENTS];
    LatticeSteps steps[MOST_COMPONENTS];
    if (!PyArg_ParseTuple(arguments, "iO!", &bits, &PyTuple_Type, &given))
        return NULL;
    int kinds = (int)PyTuple_Size(given);
    if (bits < 2 || bits > (int)(8 * sizeof(int)) - 8 || kinds < 1 || kinds > MOST_COMPONENTS)
        return PyErr_Format(PyExc_ValueError, "points or kinds of steps out of range");
    while (read < kinds && read_lattice_steps(PyTuple_GetItem(given, read), bits, &views[read], &steps[read]))
        read++;
    if (read == kinds)
        masses = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)(sizeof(double) << bits));
    Status status = DONE;
    if (masses) {
        double *found = (double *)(void *)PyBytes_AsString(masses);
        PyThreadState *state = PyEval_SaveThread();
        status = convolve(bits, kinds, steps, found);
        PyEval_RestoreThread(state);
    }
    for (int k = 0; k < read; k++)
        PyBuffer_Release(&views[k]);
    if (status == DONE)
        return masses;
    Py_CLEAR(masses);
    return PyErr_NoMemory();
}

static PyMethodDef methods[] = {
    {"epsilon", handle_epsilon, METH_VARARGS,
     "epsilon(log_delta, slack): ends of the least epsilon, and the width of log delta behind them; or a refusal"},
    {"log_delta", handle_log_delta, METH_O, "log_delta(epsilon): its ends and their width; or a refusal"},
    {"upper_log_delta", handle_upper_log_delta, METH_O, "upper_log_delta(epsilon): a Chernoff bound; or None"},
    {"threshold", handle_threshold, METH_O,
     "threshold(log_size): about the epsilon of a test, the width of log delta there, and its steepness; or a refusal"},
    {"best_tests", handle_best_tests, METH_VARARGS,
     "best_tests(rates, rounding): ends of the true positive rate and about the epsilon of the best test at each false "
     "positive rate, or None; and ends of log delta at 0; or None"},
    {"upper_log_deltas", handle_upper_log_deltas, METH_O,
     "upper_log_deltas(epsilons): bounds of log delta at a tuple of epsilons, from the line for the first; or None"},
    {"search", search_run, METH_VARARGS | METH_STATIC,
     "search(orders, unknown, epsilon, log_delta, guess): about the shift (0), count (1) or rate (2) of a run; or None"},
    {"convolve", convolve_steps, METH_VARARGS | METH_STATIC,
     "convolve(bits, steps): masses of a sum on a circle of 2^bits points, of pairs of masses and a count"},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_doc, "Composition(steps, square, laplace): steps of sampled Gaussian, Gaussian and Laplace losses."},
    {Py_tp_new, handle_new},
    {Py_tp_dealloc, handle_dealloc},
    {Py_tp_methods, methods},
    {0, NULL},
};

static PyType_Spec composition = {"epsilond._kernel.Composition", sizeof(Handle), 0, Py_TPFLAGS_DEFAULT, slots};

static struct PyModuleDef module = {
    PyModuleDef_HEAD_INIT, "epsilond._kernel", "Compositions of privacy losses on a contour, compiled.", -1, NULL,
    NULL, NULL, NULL, NULL,
};

PyMODINIT_FUNC PyInit__kernel(void)
{
    PyObject *made = PyModule_Create(&module), *type = NULL;
    if (!made)
        return NULL;
    type = PyType_FromSpec(&composition);
    if (!type || PyModule_AddObject(made, "Composition", type) < 0) {
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
