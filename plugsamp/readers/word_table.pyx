"""Counts of words, document by document; words get numbers when they first occur."""

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize
from cpython.unicode cimport PyUnicode_AsUTF8AndSize
from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.stdlib cimport free, malloc, realloc
from libc.string cimport memcmp, memcpy

import numpy as np

cdef enum:
    BLANK = 32

cdef uint64_t SEED = 14695981039346656037ULL  # FNV-1a
cdef uint64_t PRIME = 1099511628211ULL


cdef bint grown(void** array, Py_ssize_t* room, Py_ssize_t wanted, size_t size) noexcept nogil:
    """Make room for `wanted` items; false without memory."""
    cdef Py_ssize_t more
    cdef void* new
    if wanted <= room[0]:
        return True
    more = 2 * wanted
    new = realloc(array[0], more * size)
    if new == NULL:
        return False
    array[0] = new
    room[0] = more
    return True


cdef class WordTable:
    """Words, and the counts of documents in compressed rows.

    A word is a sequence of bytes. `add_letters` releases the GIL. The table must not be used by two threads
    at once.
    """

    cdef char* letters        # the words, one after the other
    cdef int64_t* begin       # (n_words + 1) where each begins
    cdef uint64_t* hashes     # (n_words)
    cdef int64_t* entry       # (n_words) a word's entry in the last document that has it
    cdef int32_t* slots       # open addressing, -1 is free
    cdef int32_t* columns     # (n_entries)
    cdef int32_t* counts      # (n_entries)
    cdef int64_t* ends        # (n_documents)
    cdef Py_ssize_t n_words, n_slots, n_entries, n_documents, start
    cdef Py_ssize_t letters_room, begin_room, hashes_room, entry_room, columns_room, counts_room, ends_room

    def __cinit__(self):
        cdef Py_ssize_t i
        self.n_slots = 1 << 12
        self.slots = <int32_t*>malloc(self.n_slots * sizeof(int32_t))
        if self.slots == NULL or not grown(<void**>&self.begin, &self.begin_room, 1, sizeof(int64_t)):
            raise MemoryError("no memory for a table of words")
        self.begin[0] = 0
        for i in range(self.n_slots):
            self.slots[i] = -1

    def __dealloc__(self):
        free(self.letters)
        free(self.begin)
        free(self.hashes)
        free(self.entry)
        free(self.slots)
        free(self.columns)
        free(self.counts)
        free(self.ends)

    cdef bint _widen(self) noexcept nogil:
        """Double the slots."""
        cdef Py_ssize_t n = 2 * self.n_slots, i, at
        cdef int32_t* new = <int32_t*>malloc(n * sizeof(int32_t))
        if new == NULL:
            return False
        for i in range(n):
            new[i] = -1
        for i in range(self.n_words):
            at = self.hashes[i] & <uint64_t>(n - 1)
            while new[at] >= 0:
                at = (at + 1) & (n - 1)
            new[at] = <int32_t>i
        free(self.slots)
        self.slots = new
        self.n_slots = n
        return True

    cdef bint _count(self, uint64_t hashed, Py_ssize_t size, int32_t count) noexcept nogil:
        """Count the word whose `size` bytes stand behind the last word; false without memory."""
        cdef const char* word = self.letters + self.begin[self.n_words]
        cdef Py_ssize_t at
        cdef int32_t i
        hashed ^= hashed >> 32
        at = hashed & <uint64_t>(self.n_slots - 1)
        while True:
            i = self.slots[at]
            if i < 0:
                break
            if (self.hashes[i] == hashed and self.begin[i + 1] - self.begin[i] == size
                    and memcmp(self.letters + self.begin[i], word, size) == 0):
                break
            at = (at + 1) & (self.n_slots - 1)
        if i < 0:
            i = <int32_t>self.n_words
            if not (grown(<void**>&self.begin, &self.begin_room, i + 2, sizeof(int64_t))
                    and grown(<void**>&self.hashes, &self.hashes_room, i + 1, sizeof(uint64_t))
                    and grown(<void**>&self.entry, &self.entry_room, i + 1, sizeof(int64_t))):
                return False
            self.slots[at] = i
            self.hashes[i] = hashed
            self.entry[i] = -1
            self.begin[i + 1] = self.begin[i] + size
            self.n_words += 1
            if 2 * self.n_words > self.n_slots and not self._widen():
                return False
        if self.entry[i] >= self.start:
            self.counts[self.entry[i]] += count
            return True
        if not (grown(<void**>&self.columns, &self.columns_room, self.n_entries + 1, sizeof(int32_t))
                and grown(<void**>&self.counts, &self.counts_room, self.n_entries + 1, sizeof(int32_t))):
            return False
        self.entry[i] = self.n_entries
        self.columns[self.n_entries] = i
        self.counts[self.n_entries] = count
        self.n_entries += 1
        return True

    cdef bint _end(self) noexcept nogil:
        """End a document; false without memory."""
        if not grown(<void**>&self.ends, &self.ends_room, self.n_documents + 1, sizeof(int64_t)):
            return False
        self.ends[self.n_documents] = self.start = self.n_entries
        self.n_documents += 1
        return True

    cdef bint _count_letters(self, const char* text, Py_ssize_t size, const char* as_letter) noexcept nogil:
        cdef Py_ssize_t i, n = 0
        cdef uint64_t hashed = SEED
        cdef char c
        cdef char* word
        if not grown(<void**>&self.letters, &self.letters_room, self.begin[self.n_words] + size, 1):
            return False
        word = self.letters + self.begin[self.n_words]
        for i in range(size + 1):
            c = as_letter[<unsigned char>text[i]] if i < size else BLANK
            if c != BLANK:
                word[n] = c
                hashed = (hashed ^ <unsigned char>c) * PRIME
                n += 1
                continue
            if n > 1:
                if not self._count(hashed, n, 1):
                    return False
                word = self.letters + self.begin[self.n_words]
            n = 0
            hashed = SEED
        return self._end()

    def add_letters(self, list texts, bytes as_letter):
        """Count the runs of two letters or more of texts, each a document.

        Parameters
        ----------
        texts : list of str
            ASCII alone.
        as_letter : bytes (256,)
            What each byte counts as; a blank is no letter.
        """
        cdef Py_ssize_t n = len(texts), d
        cdef const char** starts = <const char**>malloc((n + 1) * sizeof(char*))
        cdef Py_ssize_t* sizes = <Py_ssize_t*>malloc((n + 1) * sizeof(Py_ssize_t))
        cdef const char* table = PyBytes_AS_STRING(as_letter)
        cdef bint good = starts != NULL and sizes != NULL
        try:
            if good:
                texts = texts[:]  # so that they stay while the GIL is released
                for d in range(n):
                    starts[d] = PyUnicode_AsUTF8AndSize(texts[d], &sizes[d])
                with nogil:
                    for d in range(n):
                        if not self._count_letters(starts[d], sizes[d], table):
                            good = False
                            break
        finally:
            free(starts)
            free(sizes)
        if not good:
            raise MemoryError("no memory to count words")

    def add_words(self, words, counts=None):
        """Count words as one document.

        Parameters
        ----------
        words : list of str or of bytes
        counts : list of int, optional
            How often each occurs, 1 by default.

        Raises
        ------
        UnicodeEncodeError
            A word with a lone surrogate; nothing is counted then.
        """
        cdef Py_ssize_t size, i
        cdef const char* start
        cdef uint64_t hashed
        cdef char* to
        cdef int32_t count = 1
        for word in words:  # what cannot be encoded is refused before anything is counted
            if not isinstance(word, bytes):
                PyUnicode_AsUTF8AndSize(word, &size)
        for place, word in enumerate(words):
            if isinstance(word, bytes):
                start, size = PyBytes_AS_STRING(word), len(word)
            else:
                start = PyUnicode_AsUTF8AndSize(word, &size)
            if counts is not None:
                count = counts[place]
            if not grown(<void**>&self.letters, &self.letters_room, self.begin[self.n_words] + size, 1):
                raise MemoryError("no memory to count words")
            to = self.letters + self.begin[self.n_words]
            memcpy(to, start, size)
            hashed = SEED
            for i in range(size):
                hashed = (hashed ^ <unsigned char>to[i]) * PRIME
            if not self._count(hashed, size, count):
                raise MemoryError("no memory to count words")
        if not self._end():
            raise MemoryError("no memory to count words")

    @property
    def n_bytes(self):
        """The memory that words and counts take."""
        return 8 * self.n_entries + self.begin[self.n_words] + 28 * self.n_words + 8 * self.n_documents

    def words(self):
        """Return the words as bytes, by number."""
        cdef Py_ssize_t i
        return [
            PyBytes_FromStringAndSize(self.letters + self.begin[i], self.begin[i + 1] - self.begin[i])
            for i in range(self.n_words)
        ]

    def rows(self):
        """Return where each document's entries begin, int64 (D+1,), and their words and counts, int32."""
        cdef int64_t[::1] indptr
        cdef int32_t[::1] columns, counts
        starts = np.zeros(self.n_documents + 1, np.int64)
        found = np.empty((2, self.n_entries), np.int32)
        indptr, columns, counts = starts, found[0], found[1]
        if self.n_documents:
            memcpy(&indptr[1], self.ends, self.n_documents * sizeof(int64_t))
        if self.n_entries:
            memcpy(&columns[0], self.columns, self.n_entries * sizeof(int32_t))
            memcpy(&counts[0], self.counts, self.n_entries * sizeof(int32_t))
        return starts, found[0], found[1]
