"""The contract of a compiled proposal: `cimport` this to write one.

A proposal is an independence proposal for the topic of a token. It must be a function of things that
stay fixed while the tokens of a part of a document are updated (model.md section 3): Φ, η, κ, ω, the words,
the topics of tokens outside the part; never the part's own topics, except at the moment of use: by copying
one, or in an `immediate` proposal by counts without the token at hand.
"""
from libc.stdint cimport int32_t, int64_t, uint16_t

from plugsamp.random.streams cimport Stream

cdef enum:
    STAY = -2147483648   # a draw that leaves the token where it is

cdef struct Document:
    int64_t index              # its number in the corpus
    int64_t first              # its first token's place in the corpus
    int length
    int n_topics
    int stride                 # n_topics padded to 16: the row length of phi and topic_word
    int n_outputs
    int output_stride          # n_outputs padded to 16: the row length of eta
    const int32_t* words       # (length,)
    const uint16_t* topics     # (length,) current; only those outside the part may be used
    const float* alpha         # (stride,) 0 in the padding
    double alpha_sum
    const float* beta          # (V,)
    double beta_sum
    const float* phi           # (V, stride), NULL where the topics are integrated out
    const void* cells          # instead of phi where the topics are lazy (Proposal.lazy_form), or NULL
    const int32_t* topic_word  # (V, stride)
    # The counts as they are, the token at hand included: for `immediate` proposals, which take it out.
    const int64_t* topic_totals  # (stride,)
    const float* inverse       # (stride,) 1/(n_k + beta_sum), or 1
    const float* eta           # (n_topics, output_stride)
    const double* kappa        # (n_outputs,), 0 where the response is missing
    const double* omega        # (n_outputs,)
    const double* offset       # (n_outputs,), the covariates' part of the linear predictor


cdef class Proposal:
    # Where codes below 0 are read: code ~j means "the topic that copies[j] has at the moment of use".
    cdef const uint16_t* copies
    # Whether `moved` is to be called when a token gets another topic.
    cdef bint follows
    # Whether candidates are drawn at the moment of use, token by token, not a run of tokens ahead.
    cdef bint immediate
    # Whether `refresh_words` makes tables by word.
    cdef readonly bint by_words
    # Whether a draw is one from the token's full conditional, where the model has no responses.
    cdef readonly bint conditional
    # Whether a token's candidates and masses depend on nothing but its document and the tokens of its word, so
    # that other processes may be at work on other words of other documents.
    cdef readonly bint divides
    # Whether `masses` makes no use of b where that is a cell of lazy topics that is not kept: it is 0 then.
    cdef public bint kept_alone

    # The tokens begin:end of the document (positions) are about to be updated. Every document is
    # visited in two parts; the topics of the other part stay fixed meanwhile.
    cdef int begin(self, Document* d, int begin, int end) noexcept nogil
    # Draw n candidates for tokens begin:end, codes[position - begin] each `step` ints apart.
    cdef void draw(self, Document* d, int begin, int end, int32_t* codes, int step, Stream* s) noexcept nogil
    # Masses (all on one scale) of 8 candidate topics of the token at `position`:
    # a = n_dk + alpha_k, b = n_kw + beta_w or phi_kw, c = 1/(n_k + beta_sum) or 1, without the token.
    cdef void masses(self, Document* d, int position, const int32_t* topics, const float* a, const float* b,
                     const float* c, float* out) noexcept nogil
    # The token at `position` had topic `before` and has another one now.
    cdef void moved(self, Document* d, int position, int before) noexcept nogil
