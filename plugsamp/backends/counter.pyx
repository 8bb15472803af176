"""A number in shared memory that processes take pieces of work by, without a lock that one could die with."""
from libc.stdint cimport int64_t

cdef extern from *:
    """
    #include <stdint.h>
    #if defined(__GNUC__)
    static inline int64_t fetch_add(int64_t* p) { return __atomic_fetch_add(p, 1, __ATOMIC_SEQ_CST); }
    static inline void store(int64_t* p, int64_t v) { __atomic_store_n(p, v, __ATOMIC_SEQ_CST); }
    #else
    #include <intrin.h>
    static __inline int64_t fetch_add(int64_t* p) { return _InterlockedExchangeAdd64((volatile __int64*)p, 1); }
    static __inline void store(int64_t* p, int64_t v) { _InterlockedExchange64((volatile __int64*)p, v); }
    #endif
    """
    int64_t fetch_add(int64_t* p) nogil
    void store(int64_t* p, int64_t v) nogil


def take(int64_t[::1] counter):
    """The next number; no two calls of any processes get the same."""
    return fetch_add(&counter[0])


def put(int64_t[::1] counter, int64_t value):
    """Go on with `value`: 0 for a new phase, or a number beyond the last piece to stop one."""
    store(&counter[0], value)
