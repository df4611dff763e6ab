# Sourced: what afl-fuzz is told so that it runs anywhere, unattended, with the structural mutator alone.
# Requires: $MUTATOR, the library.
export AFL_CUSTOM_MUTATOR_LIBRARY=$MUTATOR AFL_CUSTOM_MUTATOR_ONLY=1
# Bytes cut out of a text are no smaller program.
export AFL_DISABLE_TRIM=1
export AFL_NO_UI=1 AFL_NO_COLOR=1 AFL_NO_AFFINITY=1 AFL_SKIP_CPUFREQ=1
export AFL_I_DONT_CARE_ABOUT_MISSING_CRASHES=1
