// SPDX-License-Identifier: Apache-2.0
#pragma once

// A loop that is compiled for AVX-512, AVX2 and the baseline and chosen when the program starts. The results are the same bits: such loops do
// integer work, or floating-point work whose order does not depend on the width. Not under sanitizers, whose runtime is not up when ifuncs
// are resolved, and not under clang, which refuses it on templates. (The folder is compiled with -O3 -ffp-contract=off.)
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(WHET_SANITIZED)
#define WHET_VECTORISED __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define WHET_VECTORISED
#endif
