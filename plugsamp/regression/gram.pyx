"""Sums over documents for the weights: Gram matrices, coordinate passes, linear predictors.

Everything is done for `LANES` = 8 outputs at once: one cache line of doubles, one or two vector
registers. Each lane does the same operations in the same order whatever the other lanes hold, so an
output's numbers do not depend on how outputs are grouped.
"""

from libc.stdint cimport int32_t, int64_t, uint16_t
from libc.math cimport sqrt

cdef extern from "plugsamp/doubles.h" nogil:
    ctypedef struct d8:
        pass
    d8 d_load(const double*)
    void d_store(double*, d8)
    d8 d_set(double)
    d8 d_add(d8, d8)
    d8 d_sub(d8, d8)
    d8 d_mul(d8, d8)
    void d_add_sparse(double*, d8, const int32_t*, const double*, int64_t, int64_t)
    void d_add_dense(double*, d8, const double*, int64_t, int64_t)


def transpose(const int64_t[::1] indptr, const int32_t[::1] topics, const double[::1] values,
              int64_t[::1] column_ptr, int32_t[::1] column_documents, int64_t[::1] column_positions,
              double[::1] column_values):
    """Fill the column form (K columns) of a row form, documents ascending within a column.

    ``column_positions`` says where in the row form an entry stands. Returns False, with nothing to be
    used, where the topics of some row are not strictly ascending.
    """
    cdef Py_ssize_t n_documents = indptr.shape[0] - 1
    cdef Py_ssize_t n_columns = column_ptr.shape[0] - 1
    cdef Py_ssize_t d, j
    cdef int64_t p, q, total = 0, size
    cdef int32_t topic, last
    cdef bint sorted_rows = True
    with nogil:
        for j in range(n_columns + 1):
            column_ptr[j] = 0
        for d in range(n_documents):
            last = -1
            for p in range(indptr[d], indptr[d + 1]):
                topic = topics[p]
                if topic <= last:
                    sorted_rows = False
                last = topic
                column_ptr[topic] += 1
        for j in range(n_columns):
            size = column_ptr[j]
            column_ptr[j] = total
            total += size
        for d in range(n_documents):
            for p in range(indptr[d], indptr[d + 1]):
                q = column_ptr[topics[p]]
                column_ptr[topics[p]] = q + 1
                column_documents[q] = <int32_t>d
                column_positions[q] = p
                column_values[q] = values[p]
        # Each start has moved to its column's end: shift back.
        for j in range(n_columns, 0, -1):
            column_ptr[j] = column_ptr[j - 1]
        column_ptr[0] = 0
    return bool(sorted_rows)


def fill_rows(const int64_t[::1] offsets, const int32_t[::1] sizes, const uint16_t[::1] doc_topics,
              const int32_t[::1] doc_counts, const int64_t[::1] indptr, Py_ssize_t first, Py_ssize_t last,
              int32_t[::1] topics, double[::1] values, int64_t[::1] held):
    """The row form of documents first:last: n_dk / N_d from what `count_topics` leaves.

    `held` (K,) gets how many of them have each topic.
    """
    cdef Py_ssize_t d, j
    cdef int64_t p
    cdef double inverse
    held[:] = 0
    with nogil:
        for d in range(first, last):
            if offsets[d + 1] == offsets[d]:
                continue
            inverse = 1.0 / <double>(offsets[d + 1] - offsets[d])
            p = indptr[d]
            for j in range(offsets[d], offsets[d] + sizes[d]):
                topics[p] = doc_topics[j]
                values[p] = doc_counts[j] * inverse
                held[doc_topics[j]] += 1
                p += 1


def fill_columns(const int64_t[::1] indptr, const int32_t[::1] topics, const double[::1] values,
                 Py_ssize_t first, Py_ssize_t last, int64_t[::1] places, int32_t[::1] column_documents,
                 int64_t[::1] column_positions, double[::1] column_values):
    """The part of the column form that documents first:last make, as `transpose` does.

    `places` (K,) says where their entries of each column begin; used up.
    """
    cdef Py_ssize_t d
    cdef int64_t p, q
    with nogil:
        for d in range(first, last):
            for p in range(indptr[d], indptr[d + 1]):
                q = places[topics[p]]
                places[topics[p]] = q + 1
                column_documents[q] = <int32_t>d
                column_positions[q] = p
                column_values[q] = values[p]


def predictor(const int64_t[::1] indptr, const int32_t[::1] columns, const double[::1] values,
              const double[:, ::1] dense, const double[:, ::1] weights, double[:, ::1] out, bint add=False):
    """out (D, L) = u_d . weights (J, L), sparse columns first and then the dense, L a multiple of 8.

    With ``add``, out += the same.
    """
    cdef Py_ssize_t n_documents = indptr.shape[0] - 1
    cdef Py_ssize_t n_dense = dense.shape[1]
    cdef Py_ssize_t n_sparse = weights.shape[0] - n_dense
    cdef Py_ssize_t width = weights.shape[1]
    cdef Py_ssize_t d, block, q
    cdef int64_t p
    cdef d8 total
    with nogil:
        for d in range(n_documents):
            for block in range(0, width, 8):
                total = d_load(&out[d, block]) if add else d_set(0.0)
                for p in range(indptr[d], indptr[d + 1]):
                    total = d_add(total, d_mul(d_set(values[p]), d_load(&weights[columns[p], block])))
                for q in range(n_dense):
                    total = d_add(total, d_mul(d_set(dense[d, q]), d_load(&weights[n_sparse + q, block])))
                d_store(&out[d, block], total)


def moments(const int64_t[::1] column_ptr, const int32_t[::1] column_documents,
            const double[::1] column_values, const double[:, ::1] dense, const double[:, ::1] kappa,
            double[:, ::1] linear):
    """linear (J, 8) = sum_d kappa_dc u_d, sparse columns first and then the dense, of kappa (D, 8)."""
    cdef Py_ssize_t n_sparse = column_ptr.shape[0] - 1
    cdef Py_ssize_t n_dense = dense.shape[1]
    cdef Py_ssize_t n_documents = kappa.shape[0]
    cdef Py_ssize_t j, d
    cdef int64_t e
    cdef d8 b
    with nogil:
        for j in range(n_sparse):
            b = d_set(0.0)
            for e in range(column_ptr[j], column_ptr[j + 1]):
                b = d_add(b, d_mul(d_load(&kappa[column_documents[e], 0]), d_set(column_values[e])))
            d_store(&linear[j, 0], b)
        for j in range(n_dense):
            b = d_set(0.0)
            for d in range(n_documents):
                b = d_add(b, d_mul(d_load(&kappa[d, 0]), d_set(dense[d, j])))
            d_store(&linear[n_sparse + j, 0], b)


def gram(const int64_t[::1] indptr, const int32_t[::1] topics, const double[::1] values,
         const int64_t[::1] column_ptr, const int32_t[::1] column_documents,
         const int64_t[::1] column_positions, const double[:, ::1] dense,
         const double[:, ::1] kappa, const double[:, ::1] omega, int64_t[::1] cursors,
         double[:, :, ::1] precision, double[:, ::1] linear, Py_ssize_t first_row, Py_ssize_t last_row):
    """Gram matrices of 8 outputs: precision[i, j >= i, c] += sum_d omega_dc u_di u_dj, rows first_row:last_row.

    Also linear[i, c] += sum_d kappa_dc u_di. `kappa`, `omega` (D, 8); `cursors` (K,) is scratch.

    A slice of documents at a time, and in it one row i over the documents that hold topic i: the row's
    sums stay in the nearest cache and the slice in the second. Every sum runs over documents in order.
    """
    cdef Py_ssize_t n_topics = column_ptr.shape[0] - 1
    cdef Py_ssize_t n_documents = indptr.shape[0] - 1
    cdef Py_ssize_t n_dense = dense.shape[1]
    cdef Py_ssize_t i, d, first, last, last_topic = min(last_row, n_topics)
    cdef int64_t e, p, n_entries
    cdef d8 b, scale, u
    cdef double *sums
    with nogil:
        for i in range(first_row, last_topic):
            cursors[i] = column_ptr[i]
        for first in range(0, n_documents, 1024):
            last = min(first + 1024, n_documents)
            for i in range(first_row, last_topic):
                e = cursors[i]
                n_entries = column_ptr[i + 1]
                sums = &precision[i, 0, 0]
                b = d_load(&linear[i, 0])
                while e < n_entries and column_documents[e] < last:
                    d = column_documents[e]
                    p = column_positions[e]
                    u = d_set(values[p])
                    scale = d_mul(d_load(&omega[d, 0]), u)
                    b = d_add(b, d_mul(d_load(&kappa[d, 0]), u))
                    d_add_sparse(sums, scale, &topics[0], &values[0], p, indptr[d + 1])
                    if n_dense:
                        d_add_dense(sums + 8 * n_topics, scale, &dense[d, 0], 0, n_dense)
                    e += 1
                cursors[i] = e
                d_store(&linear[i, 0], b)
            for i in range(max(first_row - n_topics, 0), last_row - n_topics):
                sums = &precision[n_topics + i, n_topics, 0]
                b = d_load(&linear[n_topics + i, 0])
                for d in range(first, last):
                    u = d_set(dense[d, i])
                    scale = d_mul(d_load(&omega[d, 0]), u)
                    b = d_add(b, d_mul(d_load(&kappa[d, 0]), u))
                    d_add_dense(sums, scale, &dense[d, 0], i, n_dense)
                d_store(&linear[n_topics + i, 0], b)


def coordinate(const int64_t[::1] column_ptr, const int32_t[::1] column_documents,
               const double[::1] column_values, const double[:, ::1] dense,
               const double[:, ::1] omega, double[:, ::1] residual, const double[:, ::1] prior,
               const double[:, ::1] noise, double[:, ::1] curvature, bint known, double[:, ::1] weights):
    """A Gibbs pass over the coordinates of the weights of 8 outputs (Zheng et al. 2015, section 3.4).

    ``residual`` (D, 8) is kappa - omega f and follows the weights (J, 8); ``prior`` (J, 8) holds prior
    precisions, ``noise`` (J, 8) standard normals, ``curvature`` (J, 8) sum_d omega_d u_dj^2, which no
    pass changes: it is filled unless ``known``.

    With it, mu_j = sum_d u_dj residual_d + curvature_j eta_j, tau_j = prior_j + curvature_j.
    """
    cdef Py_ssize_t n_sparse = column_ptr.shape[0] - 1
    cdef Py_ssize_t n_documents = residual.shape[0]
    cdef Py_ssize_t n_dense = dense.shape[1]
    cdef Py_ssize_t j, l, d, q
    cdef int64_t e
    cdef d8 mu, c, delta, u, change
    cdef double moments[8]
    cdef double steps[8]
    cdef double tau, new
    with nogil:
        for j in range(n_sparse + n_dense):
            mu = d_set(0.0)
            q = j - n_sparse
            if known:
                if q < 0:
                    for e in range(column_ptr[j], column_ptr[j + 1]):
                        d = column_documents[e]
                        mu = d_add(mu, d_mul(d_load(&residual[d, 0]), d_set(column_values[e])))
                else:
                    for d in range(n_documents):
                        mu = d_add(mu, d_mul(d_load(&residual[d, 0]), d_set(dense[d, q])))
            else:
                c = d_set(0.0)
                if q < 0:
                    for e in range(column_ptr[j], column_ptr[j + 1]):
                        d = column_documents[e]
                        u = d_set(column_values[e])
                        mu = d_add(mu, d_mul(d_load(&residual[d, 0]), u))
                        c = d_add(c, d_mul(d_load(&omega[d, 0]), d_mul(u, u)))
                else:
                    for d in range(n_documents):
                        u = d_set(dense[d, q])
                        mu = d_add(mu, d_mul(d_load(&residual[d, 0]), u))
                        c = d_add(c, d_mul(d_load(&omega[d, 0]), d_mul(u, u)))
                d_store(&curvature[j, 0], c)
            d_store(moments, mu)
            for l in range(8):
                tau = prior[j, l] + curvature[j, l]
                new = (moments[l] + curvature[j, l] * weights[j, l]) / tau + noise[j, l] / sqrt(tau)
                steps[l] = new - weights[j, l]
                weights[j, l] = new
            delta = d_load(steps)
            if q < 0:
                for e in range(column_ptr[j], column_ptr[j + 1]):
                    d = column_documents[e]
                    change = d_mul(d_load(&omega[d, 0]), d_mul(d_set(column_values[e]), delta))
                    d_store(&residual[d, 0], d_sub(d_load(&residual[d, 0]), change))
            else:
                for d in range(n_documents):
                    change = d_mul(d_load(&omega[d, 0]), d_mul(d_set(dense[d, q]), delta))
                    d_store(&residual[d, 0], d_sub(d_load(&residual[d, 0]), change))
