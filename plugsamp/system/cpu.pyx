"""What the processor can do."""

cdef extern from *:
    """
    static const char *plugsamp_instruction_set(void) {
    #if defined(__GNUC__) && (defined(__x86_64__) || defined(__i386__))
      __builtin_cpu_init();
      if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
        if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
            __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq"))
          return "avx512";
        return "avx2";
      }
    #endif
      return "base";
    }
    """
    const char* plugsamp_instruction_set()


def instruction_set():
    """The best of the instruction sets that plugsamp is compiled for: "avx512", "avx2" or "base"."""
    return plugsamp_instruction_set().decode()
