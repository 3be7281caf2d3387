/*
 * LLVM's C interface, as all of codegen/ includes it.
 *
 * Linked statically, it is what its headers say. As a shared library it takes
 * tens of milliseconds to load, whoever needs it: a program that finds all its
 * kernels in the cache does not. So it is opened when code is generated first,
 * and each name of llvm_api.def stands for a pointer in a table (the build
 * makes llvm_names.h of it).
 */
#ifndef CJ_LLVM_API_H
#define CJ_LLVM_API_H

#include <llvm-c/Analysis.h>
#include <llvm-c/BitReader.h>
#include <llvm-c/Core.h>
#include <llvm-c/DebugInfo.h>
#include <llvm-c/Error.h>
#include <llvm-c/ErrorHandling.h>
#include <llvm-c/Target.h>
#include <llvm-c/TargetMachine.h>
#include <llvm-c/Transforms/PassBuilder.h>

#include <stdbool.h>

/* C++ of LLVM and of its library: who is told that there is no memory. One that
 * was built otherwise may not have it. */
typedef void (*cj_new_handler)(void);
cj_new_handler _ZSt15set_new_handlerPFvvE(cj_new_handler handler);
void _ZN4llvm31install_bad_alloc_error_handlerEPFvPvPKcbES0_(
    void (*handler)(void *user, const char *reason, bool wants), void *user);
void _ZN4llvm30remove_bad_alloc_error_handlerEv(void);

#ifdef CJ_LLVM_LIBRARY

struct cj_llvm_api {
#define FUNCTION(name) __typeof__(&(name)) name;
#define OPTIONAL(name) __typeof__(&(name)) name;
#include "llvm_api.def"
#undef OPTIONAL
#undef FUNCTION
};

/* Filled by cj_codegen_open(), and never changed after that. */
extern struct cj_llvm_api cj_llvm_api;

#ifndef CJ_LLVM_API_BARE		/* where the table is filled */
#include "codegen/llvm_names.h"
#endif

#endif

#endif
