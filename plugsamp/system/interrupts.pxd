"""Signals such as Ctrl-C, handled in the middle of a compiled loop."""

from cpython.exc cimport PyErr_CheckSignals

cdef enum:
    #: Steps of a compiled loop, of some nanoseconds each, between two checks.
    PATIENCE = 1 << 24


cdef inline int handle_signals() except -1 with gil:
    PyErr_CheckSignals()
    from plugsamp.system.cores import check_stop
    check_stop()
    return 0


cdef inline int check_signals(Py_ssize_t* steps) except -1 nogil:
    """Run the handlers of signals that have arrived, once in `PATIENCE` steps; what they raise is raised.

    Signals are the main thread's: another thread ends here once nobody waits for it any more. Python objects
    are in a function of their own: with them, Cython takes the GIL at each call of this one.
    """
    if steps[0] >= PATIENCE:
        steps[0] = 0
        handle_signals()
    return 0
