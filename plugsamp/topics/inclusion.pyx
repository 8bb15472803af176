"""Which words are in a topic under spike and slab, one after the other given the rest (model.md section 5)."""
from libc.math cimport exp, lgamma, log
from libc.stdint cimport int32_t, uint8_t
from libc.stdlib cimport free, malloc


cdef inline double log_ratio(double s, double b, double n) noexcept nogil:
    """log of Γ(S + β)/Γ(S + β + n) · Γ(S + n)/Γ(S)."""
    return lgamma(s + b) - lgamma(s + b + n) + lgamma(s + n) - lgamma(s)


def draw_included(const int32_t[:, ::1] counts, const double[::1] beta, const double[:, ::1] uniform,
                  double probability, uint8_t[:, ::1] included):
    """A Gibbs pass over I_kw of all words of G topics.

    Parameters
    ----------
    counts : (V, G); beta : (V,); uniform : (V, G) in [0, 1)
    included : (V, G), the present state on entry, the new one on return; 1 wherever there are counts.
    """
    cdef Py_ssize_t v, g, n_words = counts.shape[0], n_topics = counts.shape[1]
    cdef double prior = log(probability) - log(1 - probability)
    cdef double total, b, mass, others, first = beta[0] if n_words else 0
    cdef bint same = True
    cdef Py_ssize_t size
    cdef double* known = NULL
    with nogil:
        for v in range(n_words):
            same = same and beta[v] == first
        if same:  # S is a whole number of betas: each ratio is computed once a topic
            known = <double*>malloc((n_words + 1) * sizeof(double))
        for g in range(n_topics):
            total = 0
            mass = 0
            size = 0
            for v in range(n_words):
                total += counts[v, g]
                if counts[v, g] > 0:
                    included[v, g] = 1
                if included[v, g]:
                    size += 1
                    mass += beta[v]
            if known != NULL:
                for v in range(n_words + 1):
                    known[v] = 1  # no log ratio is above 0
            for v in range(n_words):
                if counts[v, g] > 0:
                    continue
                b = beta[v]
                size -= included[v, g]
                if size == 0:  # the only word left: a topic has one
                    included[v, g] = 1
                    size = 1
                    mass = b
                    continue
                if known != NULL:
                    others = size * first
                    if known[size] > 0:
                        known[size] = log_ratio(others, first, total)
                    others = known[size]
                else:
                    mass -= included[v, g] * b
                    others = log_ratio(mass, b, total)
                included[v, g] = uniform[v, g] < 1 / (1 + exp(-prior - others))
                size += included[v, g]
                if known == NULL:
                    mass += included[v, g] * b
        free(known)
