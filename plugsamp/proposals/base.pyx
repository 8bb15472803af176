"""The base class of compiled proposals (see base.pxd)."""


cdef class Proposal:
    """An independence proposal for the topic of a token.

    A subclass implements `begin`, `draw` and `masses` in Cython without the GIL, and here, where it needs
    them, `attach` (once a chain), `refresh` (once a sweep) and `prepare` (once a block of documents). Register
    it under the entry-point group ``plugsamp.proposals``.

    Where worker processes share a chain, each has a proposal of its own, and what these make must be the same:
    a function of what the state holds. Large tables by word are better made once for all (`refresh_words`).
    """

    def attach(self, state):
        """Take what stays for the whole chain from the `plugsamp.state.State`."""

    def refresh(self, state, seed, sweep):
        """Make the tables of a sweep, from Φ (or the counts outside the block), η and the words."""

    def refresh_words(self, state, first, last):
        """Make the tables of a sweep for words first:last, before `refresh`; called where `by_words` is set.

        They go to arrays of ``state.arena``, made in `attach`, which all processes see: each block of words is
        done by one of them.
        """

    def prepare(self, state, first, last):
        """Make the tables of a block: documents first:last are about to be updated, (κ, ω) are drawn."""

    def lazy_form(self):
        """The proposal to take this one's place where small cells of Φ are not kept, or None: it needs them."""
        return None

    cdef int begin(self, Document* d, int begin, int end) noexcept nogil:
        return 0

    cdef void draw(self, Document* d, int begin, int end, int32_t* codes, int step, Stream* s) noexcept nogil:
        cdef int i
        for i in range(end - begin):
            codes[i * step] = STAY

    cdef void masses(self, Document* d, int position, const int32_t* topics, const float* a, const float* b,
                     const float* c, float* out) noexcept nogil:
        cdef int i
        for i in range(8):
            out[i] = 1

    cdef void moved(self, Document* d, int position, int before) noexcept nogil:
        pass
