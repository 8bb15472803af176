"""Composed Metropolis–Hastings: a few proposals a token, each accepted or refused on its own.

The target of a token is π(k) = a_k · b_k · c_k · exp(s_dk), all without the token (model.md section 3), and a
step from s to t with proposal mass q is accepted with probability min{1, π(t) q(s) / (π(s) q(t))}.

Independence proposals do not depend on what was accepted before them, so all candidates of a token are
known beforehand and π is evaluated for the current topic and seven candidates at once; then the chain of
tests runs over the eight. Candidates are drawn for a run of tokens ahead, so that what they touch can be
fetched; a candidate copied from another token is kept as that token's place and read at the moment of use.
"""
from libc.stdint cimport int32_t, int64_t, uint16_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free
from libc.string cimport memset

from plugsamp.kernels.composed_candidates cimport (
    MAX_PROPOSALS, MAX_STEPS, RUN, Call, candidate, draw_run, fetch_run
)
from plugsamp.kernels.composed_target cimport Eight, Work, evaluate, fill_residual
from plugsamp.kernels.lanes cimport *
from plugsamp.kernels.parts cimport first_at_least
from plugsamp.proposals.base cimport STAY, Document, Proposal
from plugsamp.topics.cells cimport Cells, small_cell
from plugsamp.random.streams cimport below, open_stream, uniform
from plugsamp.system.interrupts cimport check_signals

cdef enum:
    ROUND = 7           # candidates evaluated at once, beside the current topic

LIMITS = MAX_STEPS, MAX_PROPOSALS


cdef int run_tests(Call* c, int position, int first, int n, const int32_t* codes, uint32_t small) noexcept nogil:
    """The chain of tests of a token over n candidates, those of the steps from `first` on; returns the last accepted.

    Candidates of `small` have a bound in the place of their target, see `evaluate`.
    """
    cdef int j, p, l = 0
    cdef Eight* e = &c.e
    cdef double most
    for j in range(1, n + 1):
        p = c.pattern[first + j - 1]
        if codes[j - 1] == STAY or e.topics[j] == e.topics[l]:
            continue
        c.tried[p] += 1
        most = uniform(&c.coins) * e.target[l] * c.masses[p][j]
        if most >= e.target[j] * c.masses[p][l]:
            continue
        if small >> j & 1:      # its bound was not refused: the same test of itself
            small ^= <uint32_t>1 << j
            e.target[j] = (<double>e.a[j] * small_cell(<const Cells*>c.d.cells, c.d.words[position], e.topics[j])
                           * e.c[j] * e.score[j])
            if most >= e.target[j] * c.masses[p][l]:
                continue
        l = j
        c.accepted[p] += 1
    return l


cdef void move(Call* c, uint16_t* z, int position, int s, int t) noexcept nogil:
    """Give a token topic t in the place of s, and change what follows from it."""
    cdef int k, p
    cdef Work* q = &c.q
    cdef Document* d = &c.d
    cdef int32_t* row_n
    cdef int64_t* totals
    cdef const float* eta_s
    cdef const float* eta_t
    z[position] = <uint16_t>t
    q.n[s] -= 1
    q.n[t] += 1
    if c.collapsed:
        row_n = <int32_t*>d.topic_word + <size_t>d.words[position] * d.stride
        totals = <int64_t*>d.topic_totals
        row_n[s] -= 1
        row_n[t] += 1
        totals[s] -= 1
        totals[t] += 1
        q.inverse[s] = 1 / (totals[s] + <float>d.beta_sum)
        q.inverse[t] = 1 / (totals[t] + <float>d.beta_sum)
    for p in range(c.n_proposals):
        if c.follows[p]:
            (<Proposal>c.handles[p]).moved(d, position, s)
    if d.n_outputs:
        eta_s = d.eta + <size_t>s * d.output_stride
        eta_t = d.eta + <size_t>t * d.output_stride
        for k in range(0, d.output_stride, 16):
            l_store(q.residual + k, l_add(l_load(q.residual + k), l_mul(
                l_set(2), l_mul(l_load(q.half + k), l_sub(l_load(eta_s + k), l_load(eta_t + k))))))


cdef inline int update_token(Call* c, uint16_t* z, int i, int32_t* codes) noexcept nogil:
    """Run the steps of one token, seven at a time; returns how often it got another topic."""
    cdef int first, n, j, l, p, t, s = z[i]
    cdef int moved = 0
    cdef bint still
    cdef uint32_t small
    cdef Eight* e = &c.e
    if c.any_immediate:
        for j in range(c.steps):
            if c.immediate[c.pattern[j]]:
                (<Proposal>c.handles[c.pattern[j]]).draw(&c.d, i, i + 1, codes + j, c.steps, &c.stream)
    for first in range(0, c.steps, 7):
        n = min(ROUND, c.steps - first)
        e.topics[0] = s
        still = True
        for j in range(n):
            t = candidate(c, first + j, codes[first + j], s)
            e.topics[j + 1] = t
            still = still and t == s
        if still:
            continue
        for l in range(n + 1, 8):
            e.topics[l] = s
        small = evaluate(&c.q, &c.d, i, n + 1, c.bounds, e)
        for p in range(c.n_proposals):
            (<Proposal>c.handles[p]).masses(&c.d, i, e.topics, e.a, e.b, e.c, c.masses[p])
        t = e.topics[run_tests(c, i, first, n, codes + first, small)]
        if t != s:
            moved += 1
            move(c, z, i, s, t)
            s = t
    return moved


cdef void begin_part(Call* c, int begin, int end) noexcept nogil:
    cdef int p
    for p in range(c.n_proposals):
        (<Proposal>c.handles[p]).begin(&c.d, begin, end)
        c.copies[p] = (<Proposal>c.handles[p]).copies
        c.follows[p] = (<Proposal>c.handles[p]).follows


cdef int update_part(Call* c, uint16_t* z, int begin, int end, Py_ssize_t* waited) except -1 nogil:
    """Update tokens begin:end of the document in runs, the candidates of each drawn one run ahead of their use."""
    cdef int run, i, until, turn = 0, moved = 0
    begin_part(c, begin, end)
    draw_run(c, begin, min(begin + RUN, end), c.codes[0])
    for run in range(begin, end, 16):
        waited[0] += 2048
        check_signals(waited)
        until = min(run + RUN, end)
        if until < end:
            draw_run(c, until, min(until + RUN, end), c.codes[1 - turn])
        fetch_run(c, run, until, c.codes[turn])
        for i in range(run, until):
            moved += update_token(c, z, i, c.codes[turn] + (i - run) * c.steps)
        turn = 1 - turn
    return moved


cdef int draw_conditional(Proposal proposal, Call* c, uint16_t* z, int begin, int end) noexcept nogil:
    """Topics from full conditionals, which need no test."""
    cdef int i, before
    cdef int32_t code
    cdef int moved = 0
    proposal.begin(&c.d, begin, end)
    for i in range(begin, end):
        proposal.draw(&c.d, i, i + 1, &code, 1, &c.stream)
        before = z[i]
        if code != STAY and code != before:
            z[i] = <uint16_t>code
            proposal.moved(&c.d, i, before)
            moved += 1
    return moved


cdef class Room:
    """The memory of a call, and the arrays of the chain as it reads and writes them."""

    cdef Call c
    cdef list proposals
    cdef const int64_t[::1] offsets
    cdef const int32_t[::1] words
    cdef uint16_t[::1] z
    cdef int32_t[:, ::1] topic_word
    cdef int64_t[::1] topic_totals
    cdef const float[::1] alpha, beta
    cdef const float[:, ::1] phi, eta
    cdef const double[:, ::1] kappa, omega, offset

    def __cinit__(self, state, list proposals, uint64_t key):
        cdef Call* c = &self.c
        cdef int p
        memset(c, 0, sizeof(Call))
        if len(proposals) > MAX_PROPOSALS:
            raise ValueError(f"a composition holds {MAX_PROPOSALS} proposals at most")
        self.proposals, c.n_proposals = proposals, <int>len(proposals)
        c.collapsed = state.phi is None
        c.bounds = state.lazy is not None
        for p in range(c.n_proposals):
            c.handles[p] = <void*>(<Proposal?>proposals[p])
            c.immediate[p] = (<Proposal>proposals[p]).immediate
            c.any_immediate = c.any_immediate or c.immediate[p]
            c.bounds = c.bounds and (<Proposal>proposals[p]).kept_alone
        self._read(state)
        self._allocate(max(c.d.stride, 16), c.d.output_stride + 16)
        open_stream(&c.stream, key)
        open_stream(&c.coins, key ^ <uint64_t>0x5DEECE66D1CE4E5B)
        for p in range(c.d.n_topics):
            c.q.inverse[p] = <float>(1.0 / (self.topic_totals[p] + c.d.beta_sum)) if c.collapsed else 1.0

    def _read(self, state):
        cdef Document* d = &self.c.d
        self.offsets, self.words, self.z = state.offsets, state.words, state.z
        counts = (state.topic_word, state.topic_totals) if state.phi is None else state.unread_counts
        self.topic_word, self.topic_totals = counts
        self.alpha, self.beta, self.phi, self.eta = state.alpha, state.beta, state.phi, state.eta_by_topic
        self.kappa, self.omega, self.offset = state.kappa, state.omega, state.offset
        d.n_topics, d.stride = state.n_topics, <int>self.alpha.shape[0]
        d.n_outputs, d.output_stride = <int>self.kappa.shape[1], <int>self.eta.shape[1]
        d.alpha, d.alpha_sum, d.beta, d.beta_sum = &self.alpha[0], state.alpha_sum, &self.beta[0], state.beta_sum
        d.phi = NULL if self.phi is None else &self.phi[0, 0]
        d.cells = NULL if state.lazy is None else <const void*><size_t>state.lazy.address
        d.topic_word, d.topic_totals = &self.topic_word[0, 0], &self.topic_totals[0]
        d.eta = &self.eta[0, 0] if d.n_outputs else NULL

    def _allocate(self, size_t topics, size_t outputs):
        cdef Work* q = &self.c.q
        q.n, q.inverse = <int32_t*>calloc(topics, 4), <float*>calloc(topics, 4)
        q.f, q.residual = <double*>calloc(outputs, 8), <float*>calloc(outputs, 4)
        q.half, q.without = <float*>calloc(outputs, 4), <float*>calloc(outputs, 4)
        if NULL in (q.n, q.inverse, q.f, q.residual, q.half, q.without):
            raise MemoryError(f"no memory for the composed kernel's {self.c.d.n_topics} topics")
        self.c.d.inverse = q.inverse

    def __dealloc__(self):
        free(self.c.q.n)
        free(self.c.q.inverse)
        free(self.c.q.f)
        free(self.c.q.residual)
        free(self.c.q.half)
        free(self.c.q.without)

    cdef void begin_document(self, Py_ssize_t index) noexcept nogil:
        """Counts and residual of a document."""
        cdef int i
        cdef Document* d = &self.c.d
        d.index, d.first, d.length = index, self.offsets[index], <int>(self.offsets[index + 1] - self.offsets[index])
        d.words, d.topics = &self.words[d.first], &self.z[d.first]
        memset(self.c.q.n, 0, d.stride * sizeof(int32_t))
        for i in range(d.length):
            self.c.q.n[d.topics[i]] += 1
        if d.n_outputs:
            d.kappa, d.omega, d.offset = &self.kappa[index, 0], &self.omega[index, 0], &self.offset[index, 0]
            fill_residual(&self.c.q, d)


def sample_documents(state, Py_ssize_t first, Py_ssize_t last, uint64_t key, list proposals, bint mixture, int steps,
                     int64_t[::1] tried, int64_t[::1] accepted, int32_t first_word=0, int32_t last_word=2147483647):
    """Draw the topics of documents first:last in place.

    Parameters
    ----------
    state : State
        The chain's arrays.
    proposals : list of Proposal; `mixture`: the proposal of each step is drawn, once a document (a mixture
        all the same, since the draw knows nothing of the state), otherwise they take turns.
    tried, accepted : (len(proposals),), added to; only candidates that differ from the current topic count.
    first_word, last_word : only tokens of words first_word:last_word are updated.

    Returns
    -------
    moved : tokens whose topic changed
    """
    cdef Room room = Room(state, proposals, key)
    cdef Call* c = &room.c
    cdef Proposal only = proposals[0]
    cdef bint gibbs = only.conditional and c.n_proposals == 1 and c.d.n_outputs == 0
    cdef int j, here, until, middle, n
    cdef uint16_t* z
    cdef Py_ssize_t d, begin, end, moved = 0, waited = 0
    if steps > MAX_STEPS:
        raise ValueError(f"a composition holds {MAX_STEPS} steps at most")
    c.steps, c.mixture, c.tried, c.accepted = steps, mixture, &tried[0], &accepted[0]
    with nogil:
        for d in range(first, last):
            begin, end = room.offsets[d], room.offsets[d + 1]
            here = <int>(first_at_least(&room.words[0], begin, end, first_word) - begin)
            until = <int>(first_at_least(&room.words[0], begin + here, end, last_word) - begin)
            if here == until:
                continue
            room.begin_document(d)
            z = &room.z[begin]
            for j in range(steps):
                c.pattern[j] = <int>below(&c.coins, c.n_proposals) if mixture else j % c.n_proposals
            if gibbs:
                n = draw_conditional(only, c, z, here, until)
                c.tried[0] += n
                c.accepted[0] += n
                moved += n
                continue
            middle = (here + until) // 2
            if here < middle:
                moved += update_part(c, z, here, middle, &waited)
            moved += update_part(c, z, middle, until, &waited)
    return moved


def probe(state, Py_ssize_t document, int position, int topic, list proposals, int number, uint64_t key,
          double[::1] target, double[::1] mass, int64_t[::1] drawn):
    """What the sampler computes for a token; nothing of the chain changes.

    Parameters
    ----------
    document, position, topic : the token, and the topic that it has
    number : of the proposal
    target, mass : (K,), which get π and the proposal's masses
    drawn : (K,), which counts the topics of as many draws as its sum; a stay counts as `topic`.
    """
    cdef Room room = Room(state, proposals, key)
    cdef Call* c = &room.c
    cdef Eight* e = &c.e
    cdef int k, l, begin, end
    cdef int64_t draws = 0
    room.begin_document(document)
    begin, end = 0, c.d.length // 2
    if position >= end:
        begin, end = end, c.d.length
    begin_part(c, begin, end)
    c.pattern[0] = number
    for k in range(0, c.d.n_topics, 7):
        e.topics[0] = topic
        for l in range(1, 8):
            e.topics[l] = min(k + l - 1, c.d.n_topics - 1)
        evaluate(&c.q, &c.d, position, 8, False, e)
        (<Proposal>c.handles[number]).masses(&c.d, position, e.topics, e.a, e.b, e.c, c.masses[0])
        for l in range(1, 8):
            # lanes are scaled by their largest score: lane 0 is the common reference
            target[e.topics[l]] = e.target[l] / e.target[0]
            mass[e.topics[l]] = c.masses[0][l]
    for k in range(c.d.n_topics):
        draws += drawn[k]
        drawn[k] = 0
    for k in range(draws):
        (<Proposal>c.handles[number]).draw(&c.d, position, position + 1, c.codes[0], 1, &c.stream)
        drawn[candidate(c, 0, c.codes[0][0], topic)] += 1
