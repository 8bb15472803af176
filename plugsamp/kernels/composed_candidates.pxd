"""The candidates of a composed sampler: drawn for a run of tokens ahead, fetched, and read (see composed_loop.pyx)."""
from libc.stdint cimport int32_t, int64_t, uint16_t, uint64_t

from plugsamp.kernels.composed_target cimport Eight, Work
from plugsamp.kernels.lanes cimport l_prefetch
from plugsamp.proposals.base cimport STAY, Document, Proposal
from plugsamp.random.streams cimport Stream
from plugsamp.topics.cells cimport Block, Cells, bit_count

cdef enum:
    RUN = 16            # tokens whose candidates are drawn together
    MAX_STEPS = 64
    MAX_PROPOSALS = 16

cdef struct Call:
    # what one call works with: the document at hand, the proposals, the room of a token's tests
    Work q
    Document d
    Stream stream               # the proposals'
    Stream coins                # of the tests and of mixtures
    int n_proposals
    int steps
    bint mixture
    bint collapsed
    bint bounds                 # see `evaluate`
    bint any_immediate
    void* handles[MAX_PROPOSALS]
    const uint16_t* copies[MAX_PROPOSALS]
    bint follows[MAX_PROPOSALS]
    bint immediate[MAX_PROPOSALS]
    int pattern[MAX_STEPS]      # the proposal of each step
    int64_t* tried
    int64_t* accepted
    Eight e
    float masses[MAX_PROPOSALS][16]
    int32_t codes[2][RUN * MAX_STEPS]


cdef inline int candidate(Call* c, int step, int32_t code, int s) noexcept nogil:
    """The topic that a code stands for at this moment, of a token whose topic is s."""
    if code >= 0:
        return code
    return s if code == STAY else c.copies[c.pattern[step]][~code]


cdef inline void draw_run(Call* c, int begin, int end, int32_t* codes) noexcept nogil:
    """Candidates of tokens begin:end, `steps` a token; what they will copy is fetched."""
    cdef int i, j, t, steps = c.steps
    cdef Document* d = &c.d
    cdef const int* pattern = c.pattern
    cdef const Cells* lazy = <const Cells*>d.cells
    for j in range(steps):
        if c.immediate[pattern[j]]:
            for i in range(end - begin):    # drawn when their token's turn has come
                codes[i * steps + j] = STAY
        else:
            (<Proposal>c.handles[pattern[j]]).draw(d, begin, end, codes + j, steps, &c.stream)
    for j in range(steps):
        if c.copies[pattern[j]] != NULL:
            for i in range(end - begin):
                if codes[i * steps + j] < 0 and codes[i * steps + j] != STAY:
                    l_prefetch(c.copies[pattern[j]] + ~codes[i * steps + j])
    if lazy != NULL:
        for i in range(end - begin):
            l_prefetch(lazy.blocks + <size_t>d.words[begin + i] * lazy.n_blocks + (d.topics[begin + i] >> 6))
            for j in range(steps):
                if codes[i * steps + j] != STAY:
                    t = candidate(c, j, codes[i * steps + j], 0)
                    l_prefetch(lazy.blocks + <size_t>d.words[begin + i] * lazy.n_blocks + (t >> 6))


cdef inline void fetch(Document* d, bint collapsed, int w, int k) noexcept nogil:
    """Fetch what `evaluate` reads of a word and a topic."""
    cdef const Cells* lazy = <const Cells*>d.cells
    cdef const Block* block
    if collapsed:
        l_prefetch(d.topic_word + <size_t>w * d.stride + k)
    elif lazy == NULL:
        l_prefetch(d.phi + <size_t>w * d.stride + k)
    else:
        block = lazy.blocks + <size_t>w * lazy.n_blocks + (k >> 6)
        l_prefetch(lazy.values + block.first + bit_count(block.listed & ((<uint64_t>1 << (k & 63)) - 1)))


cdef inline void fetch_run(Call* c, int begin, int end, const int32_t* codes) noexcept nogil:
    """Fetch what the tests of tokens begin:end will read."""
    cdef int i, j, w
    cdef int32_t code
    for i in range(begin, end):
        w = c.d.words[i]
        for j in range(c.steps):
            code = codes[(i - begin) * c.steps + j]
            if code != STAY:
                fetch(&c.d, c.collapsed, w, candidate(c, j, code, 0))
        fetch(&c.d, c.collapsed, w, c.d.topics[i])
