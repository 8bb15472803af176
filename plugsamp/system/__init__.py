"""The machine: processors, memory, compiled variants, BLAS."""
