"""The left-to-right estimate of a document's probability given fixed topics (Wallach et al. 2009).

Particles are resampled by their predictions after every word. Without it the estimate is biased: a Gibbs
pass over the words so far does not forget that their topics were drawn before the new word was known.
"""

from libc.math cimport log
from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy

from plugsamp.random.streams cimport Stream, open_stream, uniform53
from plugsamp.system.interrupts cimport check_signals


cdef inline int draw_topic(const float* row, const double* counts, double* running, int n_topics,
                           Stream* s) noexcept nogil:
    """A topic by row · counts; the total is left in running[n_topics - 1]."""
    cdef int k
    cdef double total = 0, place
    for k in range(n_topics):
        total += row[k] * counts[k]
        running[k] = total
    place = uniform53(s) * total
    k = 0
    while k < n_topics - 1 and not place < running[k]:
        k += 1
    return k


def left_to_right(const int32_t[::1] words, const int64_t[::1] offsets, const float[:, ::1] phi,
                  const double[::1] alpha, const uint64_t[::1] keys, int particles, double[::1] log_p):
    """log p(words of d | phi, alpha) of every document, O(particles · N_d² · K).

    Parameters
    ----------
    words, offsets : tokens; every word needs a topic with phi > 0.
    phi : (V, K), word-major
    alpha : (K,)
    keys : (D,), of the documents' streams
    particles : int
    log_p : (D,), written
    """
    cdef Py_ssize_t d, i, n, r, chosen, longest = 1, size, steps = 0
    cdef int k, n_topics = <int>alpha.shape[0]
    cdef double total, place, mass, alpha_sum = 0
    cdef Stream stream
    cdef const int32_t* w
    cdef const float* row
    cdef int32_t* z
    cdef double* counts
    for d in range(log_p.shape[0]):
        longest = max(longest, offsets[d + 1] - offsets[d])
    # Two sets of particles: those before resampling and those after.
    cdef int32_t* topics = <int32_t*>malloc(<size_t>2 * particles * longest * sizeof(int32_t))
    cdef double* all_counts = <double*>malloc(<size_t>2 * particles * n_topics * sizeof(double))
    cdef double* weights = <double*>malloc(particles * sizeof(double))
    cdef double* running = <double*>malloc(n_topics * sizeof(double))
    cdef Py_ssize_t now, then
    if topics == NULL or all_counts == NULL or weights == NULL or running == NULL:
        free(topics)
        free(all_counts)
        free(weights)
        free(running)
        raise MemoryError("no memory for the left-to-right estimate")
    try:
        with nogil:
            for k in range(n_topics):
                alpha_sum += alpha[k]
            for d in range(log_p.shape[0]):
                size = offsets[d + 1] - offsets[d]
                log_p[d] = 0
                if size == 0:
                    continue
                w = &words[offsets[d]]
                open_stream(&stream, keys[d])
                now = 0
                for r in range(particles):
                    for k in range(n_topics):
                        all_counts[r * n_topics + k] = alpha[k]
                for n in range(size):
                    total = 0
                    for r in range(particles):
                        z = topics + (now * particles + r) * longest
                        counts = all_counts + (now * particles + r) * n_topics
                        for i in range(n):  # the tokens before, once each
                            counts[z[i]] -= 1
                            z[i] = draw_topic(&phi[w[i], 0], counts, running, n_topics, &stream)
                            counts[z[i]] += 1
                            steps += n_topics
                            check_signals(&steps)
                        row = &phi[w[n], 0]
                        mass = 0
                        for k in range(n_topics):
                            mass += row[k] * counts[k]
                        weights[r] = mass
                        total += mass
                    log_p[d] += log(total / (particles * (n + alpha_sum)))
                    # Systematic resampling, then the new token's topic.
                    then = 1 - now
                    place = uniform53(&stream)
                    mass = 0
                    chosen = -1
                    for r in range(particles):
                        while chosen < particles - 1 and (chosen < 0 or mass < (r + place) * total / particles):
                            chosen += 1
                            mass += weights[chosen]
                        memcpy(topics + (then * particles + r) * longest,
                               topics + (now * particles + chosen) * longest, n * sizeof(int32_t))
                        memcpy(all_counts + (then * particles + r) * n_topics,
                               all_counts + (now * particles + chosen) * n_topics, n_topics * sizeof(double))
                        z = topics + (then * particles + r) * longest
                        counts = all_counts + (then * particles + r) * n_topics
                        z[n] = draw_topic(row, counts, running, n_topics, &stream)
                        counts[z[n]] += 1
                    now = then
    finally:
        free(topics)
        free(all_counts)
        free(weights)
        free(running)
