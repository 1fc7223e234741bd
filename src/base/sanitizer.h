/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Whether gcc or clang built this with AddressSanitizer or ThreadSanitizer. Such a process reserves
 * more address space than there is memory, and cannot be put into a sandbox.
 */
#ifndef ISPOT_BASE_SANITIZER_H
#define ISPOT_BASE_SANITIZER_H

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define BUILT_WITH_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define BUILT_WITH_SANITIZER 1
#endif
#endif
#ifndef BUILT_WITH_SANITIZER
#define BUILT_WITH_SANITIZER 0
#endif

#endif
