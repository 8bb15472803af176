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

from plugsamp.kernels.lanes cimport *
from plugsamp.kernels.parts cimport first_at_least
from plugsamp.proposals.base cimport STAY, Document, Proposal
from plugsamp.topics.cells cimport Block, Cells, bit_count, phi_at, phi_kept, small_cell
from plugsamp.random.streams cimport Stream, below, open_stream, uniform
from plugsamp.system.interrupts cimport check_signals

cdef enum:
    RUN = 16            # tokens whose candidates are drawn together
    ROUND = 7           # candidates evaluated at once, beside the current topic
    MAX_STEPS = 64
    MAX_PROPOSALS = 16

LIMITS = MAX_STEPS, MAX_PROPOSALS

cdef struct Work:
    int32_t* n          # n_dk of the document
    float* inverse      # 1 / (n_k + beta_bar), or 1
    double* f
    float* residual     # (κ_c - ω_c f_c) / N_d, all tokens in
    float* half         # ω_c / (2 N_d²)
    float* without      # the residual without the token at hand


cdef void fill_residual(Work* q, Document* d) noexcept nogil:
    """f_dc from the counts, and what the scores need of it."""
    cdef int c, k
    cdef double share = 1.0 / d.length
    cdef const float* row
    for c in range(d.n_outputs):
        q.f[c] = 0
    for k in range(d.n_topics):
        if q.n[k]:
            row = d.eta + <size_t>k * d.output_stride
            for c in range(d.n_outputs):
                q.f[c] += q.n[k] * <double>row[c]
    for c in range(d.n_outputs):
        q.f[c] = q.f[c] * share + d.offset[c]
        q.residual[c] = <float>((d.kappa[c] - d.omega[c] * q.f[c]) * share)
        q.half[c] = <float>(0.5 * d.omega[c] * share * share)


cdef uint32_t evaluate(Work* q, Document* d, int position, int s, const int32_t* t, int n, bint collapsed,
                       bint bounds, const int32_t* row_n, const int64_t* totals,
                       float* a, float* b, float* c, float* score, double* target) noexcept nogil:
    """a, b, c and π (up to a factor) of eight topics t for a token whose topic is s; from the n-th on t is t[0].

    With `bounds`, a cell of lazy topics that is not kept has b = 0 and a bound of π, and its bit in what is
    returned: it is next to never accepted, and its value takes longer than all else.
    """
    cdef int l, o
    cdef int w = d.words[position]
    cdef int own  # whole numbers are subtracted first: (alpha + n) - 1 in floats loses a small alpha's digits
    cdef float beta = d.beta[w]
    cdef const float* mine
    cdef const float* row
    cdef float rest[16]
    cdef uint32_t small = 0
    cdef lf acc, e, half
    if d.n_outputs:
        mine = d.eta + <size_t>s * d.output_stride
        for o in range(0, d.output_stride, 16):
            half = l_load(q.half + o)
            # taking the token out adds ω η_s / N² to the residual
            l_store(q.without + o, l_add(l_load(q.residual + o), l_mul(l_add(half, half), l_load(mine + o))))
        for l in range(n):
            row = d.eta + <size_t>t[l] * d.output_stride
            acc = l_set(0)
            for o in range(0, d.output_stride, 16):
                e = l_load(row + o)
                acc = l_add(acc, l_mul(e, l_sub(l_load(q.without + o), l_mul(l_load(q.half + o), e))))
            score[l] = l_sum(acc)
    for l in range(n):
        own = 1 if t[l] == s else 0
        a[l] = d.alpha[t[l]] + (q.n[t[l]] - own)
        if collapsed:
            b[l] = (row_n[t[l]] - own) + beta
            c[l] = q.inverse[t[l]]
            if t[l] == s:
                c[l] = 1 / (<float>(totals[s] - 1) + <float>d.beta_sum)
        else:
            c[l] = 1
            if d.cells == NULL:
                b[l] = d.phi[<size_t>w * d.stride + t[l]]
            elif l == 0 or not bounds:
                b[l] = phi_at(<const Cells*>d.cells, w, t[l])
            elif not phi_kept(<const Cells*>d.cells, w, t[l], b + l):
                small |= <uint32_t>1 << l
        if d.n_outputs == 0:
            score[l] = 1
    for l in range(n, 8):
        a[l] = a[0]
        b[l] = b[0]
        c[l] = c[0]
        score[l] = score[0]
    if d.n_outputs:
        # exp is clamped to 87 below the largest: such a topic is never kept, and still can be left
        rest[0] = score[0]
        for l in range(1, 8):
            rest[0] = max(rest[0], score[l])
        for l in range(8, 16):
            score[l] = rest[0]
        l_store(score, l_exp(l_sub(l_load(score), l_set(rest[0]))))
    for l in range(8):
        target[l] = <double>a[l] * b[l] * c[l] * score[l]
    if small:
        for l in range(1, n):
            if small >> l & 1:
                b[l] = 0
    return small


cdef void draw_run(void** handles, const uint16_t** copies, const bint* immediate, const int* pattern, int steps,
                   Document* d, int begin, int end, int32_t* codes, Stream* s) noexcept nogil:
    """Candidates of tokens begin:end, `steps` a token; what they will copy is fetched."""
    cdef int i, j, t
    cdef const Cells* lazy = <const Cells*>d.cells
    for j in range(steps):
        if immediate[pattern[j]]:
            for i in range(end - begin):    # drawn when their token's turn has come
                codes[i * steps + j] = STAY
        else:
            (<Proposal>handles[pattern[j]]).draw(d, begin, end, codes + j, steps, s)
    for j in range(steps):
        if copies[pattern[j]] != NULL:
            for i in range(end - begin):
                if codes[i * steps + j] < 0 and codes[i * steps + j] != STAY:
                    l_prefetch(copies[pattern[j]] + ~codes[i * steps + j])
    if lazy != NULL:
        for i in range(end - begin):
            l_prefetch(lazy.blocks + <size_t>d.words[begin + i] * lazy.n_blocks + (d.topics[begin + i] >> 6))
            for j in range(steps):
                t = codes[i * steps + j]
                if t < 0:
                    if t == STAY:
                        continue
                    t = copies[pattern[j]][~t]
                l_prefetch(lazy.blocks + <size_t>d.words[begin + i] * lazy.n_blocks + (t >> 6))


cdef inline void prefetch_value(const Cells* c, int w, int k) noexcept nogil:
    cdef const Block* block = c.blocks + <size_t>w * c.n_blocks + (k >> 6)
    l_prefetch(c.values + block.first + bit_count(block.listed & ((<uint64_t>1 << (k & 63)) - 1)))


cdef int draw_conditional(Proposal proposal, Document* d, uint16_t* z, int begin, int end,
                                 Stream* s) noexcept nogil:
    """Topics from full conditionals, which need no test."""
    cdef int i, before
    cdef int32_t code
    cdef int moved = 0
    proposal.begin(d, begin, end)
    for i in range(begin, end):
        proposal.draw(d, i, i + 1, &code, 1, s)
        before = z[i]
        if code != STAY and code != before:
            z[i] = <uint16_t>code
            proposal.moved(d, i, before)
            moved += 1
    return moved


def sample_documents(const int64_t[::1] offsets, Py_ssize_t first, Py_ssize_t last,
                     const int32_t[::1] words, uint16_t[::1] z,
                     int32_t[:, ::1] topic_word, int64_t[::1] topic_totals,
                     const float[:, ::1] phi, const float[::1] alpha, double alpha_sum, const float[::1] beta,
                     double beta_sum, int n_topics, const float[:, ::1] eta,
                     const double[:, ::1] kappa, const double[:, ::1] omega,
                     const double[:, ::1] offset, list proposals, bint mixture, int steps,
                     uint64_t key, int64_t[::1] tried, int64_t[::1] accepted, size_t cells,
                     int32_t first_word=0, int32_t last_word=2147483647,
                     Py_ssize_t probe=-1, int probe_topic=0, int probe_proposal=0,
                     double[::1] probe_target=None, double[::1] probe_mass=None, int64_t[::1] probe_draws=None):
    """Draw the topics of documents first:last in place.

    Parameters
    ----------
    phi : (V, stride) or None; None means collapsed.
    eta : (n_topics, C padded to 16); kappa, omega, offset : (last - first, C).
    proposals : list of Proposal; `mixture`: the proposal of each step is drawn, once a document (a mixture
        all the same, since the draw knows nothing of the state), otherwise they take turns.
    cells : address of the `Cells` where the topics are lazy (`phi` is then not looked at), or 0.
    first_word, last_word : only tokens of words first_word:last_word are updated.
    tried, accepted : (len(proposals),), added to; only candidates that differ from the current topic count.
    probe : a position in document `first`; with it nothing is drawn: `probe_target` (K,) gets π and
        `probe_mass` (K,) the masses of proposal number `probe_proposal`, as the sampler computes them, for
        a token whose topic is `probe_topic`; `probe_draws` (K,) counts the topics of as many draws as its
        sum (a stay counts as `probe_topic`).

    Returns
    -------
    moved : tokens whose topic changed
    """
    cdef Work q
    cdef Document doc
    cdef Stream stream
    cdef Stream coins
    cdef bint collapsed = phi is None, still, gibbs
    cdef int n_proposals = len(proposals), p, j, k, l, m, i, begin, end, here, until, part, run, s, t, round_start, n_round, code
    cdef int pattern[MAX_STEPS]
    cdef int32_t codes[2][RUN * MAX_STEPS]
    cdef int32_t* drawn = NULL
    cdef int turn, w
    cdef int32_t topics[16]
    cdef float a[16]
    cdef float b[16]
    cdef float c[16]
    cdef float score[16]
    cdef uint32_t small
    cdef bint bounds = cells != 0 and probe < 0
    cdef double most
    cdef double target[16]   # a tiny phi times a tiny score is no float
    cdef float masses[MAX_PROPOSALS][16]
    cdef float u
    cdef Py_ssize_t d, moved = 0, waited = 0
    cdef int64_t draws
    cdef int32_t* row_n = NULL
    cdef void* handles[MAX_PROPOSALS]
    cdef const uint16_t* copies[MAX_PROPOSALS]
    cdef bint follows[MAX_PROPOSALS]
    cdef bint immediate[MAX_PROPOSALS]
    cdef bint any_immediate = False
    cdef const float* eta_s
    cdef const float* eta_t
    if steps > MAX_STEPS or n_proposals > MAX_PROPOSALS:
        raise ValueError(f"a composition holds {MAX_STEPS} steps and {MAX_PROPOSALS} proposals at most")
    for p in range(n_proposals):
        handles[p] = <void*>(<Proposal?>proposals[p])
        immediate[p] = (<Proposal>proposals[p]).immediate
        any_immediate = any_immediate or immediate[p]
        bounds = bounds and (<Proposal>proposals[p]).kept_alone
    gibbs = (<Proposal>proposals[0]).conditional and n_proposals == 1 and kappa.shape[1] == 0 and probe < 0
    memset(&doc, 0, sizeof(doc))
    doc.n_topics = n_topics
    doc.stride = <int>alpha.shape[0]
    doc.n_outputs = <int>kappa.shape[1]
    doc.output_stride = <int>eta.shape[1]
    doc.alpha = &alpha[0]
    doc.alpha_sum = alpha_sum
    doc.beta = &beta[0]
    doc.beta_sum = beta_sum
    doc.phi = NULL if collapsed else &phi[0, 0]
    cdef const Cells* lazy = <const Cells*>cells
    doc.cells = lazy
    doc.topic_word = &topic_word[0, 0]
    doc.eta = &eta[0, 0] if doc.n_outputs else NULL
    cdef int room = max(doc.stride, 16)
    q.n = <int32_t*>calloc(room, 4)
    q.inverse = <float*>calloc(room, 4)
    q.f = <double*>calloc(doc.output_stride + 16, 8)
    q.residual = <float*>calloc(doc.output_stride + 16, 4)
    q.half = <float*>calloc(doc.output_stride + 16, 4)
    q.without = <float*>calloc(doc.output_stride + 16, 4)
    try:
        if q.n == NULL or q.inverse == NULL or q.f == NULL or q.residual == NULL or q.half == NULL or q.without == NULL:
            raise MemoryError(f"no memory for the composed kernel's {n_topics} topics")
        doc.topic_totals = &topic_totals[0]
        doc.inverse = q.inverse
        with nogil:
            open_stream(&stream, key)
            open_stream(&coins, key ^ <uint64_t>0x5DEECE66D1CE4E5B)
            for k in range(n_topics):
                q.inverse[k] = <float>(1.0 / (topic_totals[k] + beta_sum)) if collapsed else 1.0
            for d in range(first, last):
                doc.index = d
                doc.first = offsets[d]
                doc.length = <int>(offsets[d + 1] - offsets[d])
                if doc.length == 0:
                    continue
                doc.words = &words[doc.first]
                here = <int>first_at_least(doc.words, 0, doc.length, first_word)
                until = <int>first_at_least(doc.words, here, doc.length, last_word)
                if here == until:
                    continue
                doc.topics = &z[doc.first]
                if doc.n_outputs:
                    doc.kappa = &kappa[d - first, 0]
                    doc.omega = &omega[d - first, 0]
                    doc.offset = &offset[d - first, 0]
                memset(q.n, 0, room * sizeof(int32_t))
                for i in range(doc.length):
                    q.n[doc.topics[i]] += 1
                if doc.n_outputs:
                    fill_residual(&q, &doc)
                for j in range(steps):
                    pattern[j] = <int>below(&coins, n_proposals) if mixture else j % n_proposals
                if gibbs:
                    t = draw_conditional(<Proposal>handles[0], &doc, &z[doc.first], here, until, &stream)
                    moved += t
                    tried[0] += t
                    accepted[0] += t
                    continue
                for part in range(2):
                    begin = here if part == 0 else (here + until) // 2
                    end = (here + until) // 2 if part == 0 else until
                    if begin == end or (probe >= 0 and not begin <= probe < end):
                        continue
                    for p in range(n_proposals):
                        (<Proposal>handles[p]).begin(&doc, begin, end)
                        copies[p] = (<Proposal>handles[p]).copies
                        follows[p] = (<Proposal>handles[p]).follows
                    if probe >= 0:
                        row_n = &topic_word[doc.words[probe], 0]
                        for k in range(0, n_topics, 7):
                            topics[0] = probe_topic
                            for l in range(1, 8):
                                topics[l] = min(k + l - 1, n_topics - 1)
                            evaluate(&q, &doc, <int>probe, probe_topic, topics, 8, collapsed, False, row_n,
                                     &topic_totals[0], a, b, c, score, target)
                            (<Proposal>handles[probe_proposal]).masses(&doc, <int>probe, topics, a, b, c, masses[0])
                            for l in range(1, 8):
                                # lanes are scaled by their largest score: lane 0 is the common reference
                                probe_target[topics[l]] = target[l] / target[0]
                                probe_mass[topics[l]] = masses[0][l]
                        draws = 0
                        for k in range(n_topics):
                            draws += probe_draws[k]
                            probe_draws[k] = 0
                        while draws > 0:
                            (<Proposal>handles[probe_proposal]).draw(&doc, <int>probe, <int>probe + 1, codes[0], 1, &stream)
                            code = codes[0][0]
                            t = probe_topic if code == STAY else (code if code >= 0 else copies[probe_proposal][~code])
                            probe_draws[t] += 1
                            draws -= 1
                        break
                    draw_run(handles, copies, immediate, pattern, steps, &doc, begin, min(begin + RUN, end), codes[0],
                             &stream)
                    turn = 0
                    for run in range(begin, end, 16):
                        waited += 2048
                        check_signals(&waited)
                        m = min(run + RUN, end)
                        turn = 1 - turn
                        if m < end:     # the next run's candidates, one run ahead of their use
                            draw_run(handles, copies, immediate, pattern, steps, &doc, m, min(m + RUN, end), codes[turn],
                                     &stream)
                        drawn = codes[1 - turn]
                        for i in range(run, m):
                            w = doc.words[i]
                            for j in range(steps):
                                code = drawn[(i - run) * steps + j]
                                if code != STAY:
                                    t = code if code >= 0 else copies[pattern[j]][~code]
                                    if collapsed:
                                        l_prefetch(&topic_word[w, t])
                                    elif doc.cells == NULL:
                                        l_prefetch(&phi[w, t])
                                    else:
                                        prefetch_value(lazy, w, t)
                            if collapsed:
                                l_prefetch(&topic_word[w, doc.topics[i]])
                            elif doc.cells == NULL:
                                l_prefetch(&phi[w, doc.topics[i]])
                            else:
                                prefetch_value(lazy, w, doc.topics[i])
                        for i in range(run, m):
                            s = z[doc.first + i]
                            row_n = &topic_word[doc.words[i], 0]
                            if any_immediate:
                                for j in range(steps):
                                    if immediate[pattern[j]]:
                                        (<Proposal>handles[pattern[j]]).draw(
                                            &doc, i, i + 1, drawn + (i - run) * steps + j, steps, &stream)
                            for round_start in range(0, steps, 7):
                                n_round = min(ROUND, steps - round_start)
                                topics[0] = s
                                still = True
                                for j in range(n_round):
                                    code = drawn[(i - run) * steps + round_start + j]
                                    t = s
                                    if code >= 0:
                                        t = code
                                    elif code != STAY:
                                        t = copies[pattern[round_start + j]][~code]
                                    topics[j + 1] = t
                                    still = still and t == s
                                if still:
                                    continue
                                for l in range(n_round + 1, 8):
                                    topics[l] = s
                                small = evaluate(&q, &doc, i, s, topics, n_round + 1, collapsed, bounds, row_n,
                                                 &topic_totals[0], a, b, c, score, target)
                                for p in range(n_proposals):
                                    (<Proposal>handles[p]).masses(&doc, i, topics, a, b, c, masses[p])
                                l = 0
                                for j in range(1, n_round + 1):
                                    p = pattern[round_start + j - 1]
                                    if (drawn[(i - run) * steps + round_start + j - 1] == STAY
                                            or topics[j] == topics[l]):
                                        continue
                                    tried[p] += 1
                                    u = uniform(&coins)
                                    most = u * target[l] * masses[p][j]
                                    if most >= target[j] * masses[p][l]:
                                        continue
                                    if small >> j & 1:      # its bound was not refused: the same test of itself
                                        small ^= <uint32_t>1 << j
                                        target[j] = (<double>a[j] * small_cell(lazy, doc.words[i], topics[j])
                                                     * c[j] * score[j])
                                        if most >= target[j] * masses[p][l]:
                                            continue
                                    l = j
                                    accepted[p] += 1
                                t = topics[l]
                                if t == s:
                                    continue
                                moved += 1
                                z[doc.first + i] = <uint16_t>t
                                q.n[s] -= 1
                                q.n[t] += 1
                                if collapsed:
                                    row_n[s] -= 1
                                    row_n[t] += 1
                                    topic_totals[s] -= 1
                                    topic_totals[t] += 1
                                    q.inverse[s] = 1 / (topic_totals[s] + <float>beta_sum)
                                    q.inverse[t] = 1 / (topic_totals[t] + <float>beta_sum)
                                for p in range(n_proposals):
                                    if follows[p]:
                                        (<Proposal>handles[p]).moved(&doc, i, s)
                                if doc.n_outputs:
                                    eta_s = doc.eta + <size_t>s * doc.output_stride
                                    eta_t = doc.eta + <size_t>t * doc.output_stride
                                    for k in range(0, doc.output_stride, 16):
                                        l_store(q.residual + k, l_add(l_load(q.residual + k), l_mul(
                                            l_set(2), l_mul(l_load(q.half + k),
                                                            l_sub(l_load(eta_s + k), l_load(eta_t + k))))))
                                s = t
    finally:
        free(q.n)
        free(q.inverse)
        free(q.f)
        free(q.residual)
        free(q.half)
        free(q.without)
    return moved
