/* SPDX-License-Identifier: MIT */
/*
 * Markers: blocks finer, or coarser, than a function, for `ispot record`, which traces what it has
 * room for, and all of `-F 'marker:NAME'`.
 * One header for C and C++, no library; copy it into your program.
 *
 *	ISPOT_BEGIN(parse);			begins the block "parse" on this thread
 *	ISPOT_BEGIN(parse, n_bytes, kind);	with up to six arguments (integers, pointers)
 *	ISPOT_END(parse);			ends it: on the same thread, in any function
 *	ISPOT_SCOPE(parse);			C++: begins it, and ends it where the scope ends
 *
 *	for (...) {
 *		ISPOT_LOOP_BEGIN(step, 1000);	records one iteration in 1000 of this thread, its
 *						first among them; may have six arguments, too
 *		...
 *		ISPOT_LOOP_END(step);		must see the variable that the begin declares
 *	}
 *
 * NAME is an identifier, and stands for one block wherever it is used in a program or library. A
 * block may contain itself by recursion, and blocks may overlap; a second begin in the same frame
 * before the end means that the first has none.
 *
 * A marker is an ordinary static probe (a SystemTap note, provider "ispot", names NAME__begin,
 * NAME__loop, NAME__end) with a semaphore, so perf and bpftrace see it too. While nobody records it
 * costs a load and a branch not taken, and its arguments are not evaluated. ISPOT_ENABLED(NAME)
 * tells whether somebody does. Define ISPOT_DISABLE to compile all of it to nothing.
 *
 * Compiles with gcc and clang, -pedantic -Wall -Wextra -Werror, from C89 and C++98 on. It uses what
 * those two standards do not have (macros with "...", assembler, long strings of it), so there the
 * header declares itself a system header, of which these compilers tolerate that. C89 wants
 * ISPOT_LOOP_BEGIN, which declares variables, before the statements of its block.
 */
#ifndef ISPOT_H
#define ISPOT_H

#if defined(__cplusplus)
#if __cplusplus < 201103L
#define ISPOT_OLD_
#endif
#elif !defined(__STDC_VERSION__)
#define ISPOT_OLD_
#elif __STDC_VERSION__ < 199901L
#define ISPOT_OLD_
#endif
#if defined(ISPOT_OLD_) && defined(__GNUC__)
#pragma GCC system_header
#endif

#if !defined(ISPOT_DISABLE) && defined(__linux__) && defined(__GNUC__) && \
	((defined(__x86_64__) && defined(__LP64__)) ||                    \
	 (defined(__aarch64__) && defined(__LP64__)))

/*
 * The instruction under the probe. x86-64: kernels from 6.18 on turn a probe on the 5-byte nop into
 * a call, which is cheaper than a trap, but pushes onto the stack: the stack pointer is moved
 * beyond the red zone first. Older kernels emulate the 1-byte nop, which the note names and
 * single-step the other, so a tracer takes the one that is cheap to it.
 */
#if defined(__x86_64__)
#define ISPOT_PLACE_                            \
	"	lea -128(%%rsp), %%rsp\n"             \
	"990:	nop\n"                            \
	"	.byte 0x0f, 0x1f, 0x44, 0x00, 0x00\n" \
	"	lea 128(%%rsp), %%rsp\n"
#else
#define ISPOT_PLACE_ "990:	nop\n"
#endif

/* Not to be counted by its lines where the compiler decides about inlining. */
#if __GNUC__ >= 9 && !defined(__clang__)
#define ISPOT_INLINE_(...) __asm__ __volatile__ __inline__(__VA_ARGS__)
#elif defined(__clang__) && defined(ISPOT_OLD_)
/* It warns of the long string where the macro is used. */
#define ISPOT_INLINE_(...)                                                                         \
	_Pragma("clang diagnostic push")                                                           \
		_Pragma("clang diagnostic ignored \"-Woverlength-strings\"") __asm__ __volatile__( \
			__VA_ARGS__) _Pragma("clang diagnostic pop")
#else
#define ISPOT_INLINE_(...) __asm__ __volatile__(__VA_ARGS__)
#endif

#define ISPOT_ASM_(name, kind, operands)                                         \
	ISPOT_PLACE_                                                             \
	"	.pushsection .note.stapsdt,\"?\",\"note\"\n"                           \
	"	.balign 4\n"                                                           \
	"	.4byte 992f-991f, 994f-993f, 3\n"                                      \
	"991:	.asciz \"stapsdt\"\n"                                              \
	"992:	.balign 4\n"                                                       \
	"993:	.8byte 990b\n"                                                     \
	"	.8byte _.stapsdt.base\n"                                               \
	"	.8byte ispot_" #name "_semaphore\n"                              \
	"	.asciz \"ispot\"\n"                                                    \
	"	.asciz \"" #name "__" #kind "\"\n"                               \
	"	.asciz \"" operands "\"\n"                                       \
	"994:	.balign 4\n"                                                       \
	"	.popsection\n"                                                         \
	"	.ifndef _.stapsdt.base\n"                                              \
	"	.pushsection .stapsdt.base,\"aG\",\"progbits\",.stapsdt.base,comdat\n" \
	"	.weak _.stapsdt.base\n"                                                \
	"	.hidden _.stapsdt.base\n"                                              \
	"_.stapsdt.base: .space 1\n"                                             \
	"	.size _.stapsdt.base, 1\n"                                             \
	"	.popsection\n"                                                         \
	"	.endif\n"

/* The counter of those who record, which the linker joins with others of its name, read into `on`.
 * By assembler, because g++ forgets the assembler name of a variable declared in a template. */
#define ISPOT_COUNTER_(name)                                   \
	"	.ifndef ispot_" #name "_semaphore\n"           \
	"	.pushsection .probes,\"aw\",\"progbits\"\n"          \
	"	.balign 2\n"                                         \
	"	.weak ispot_" #name "_semaphore\n"             \
	"	.hidden ispot_" #name "_semaphore\n"           \
	"	.type ispot_" #name "_semaphore, STT_OBJECT\n" \
	"	.size ispot_" #name "_semaphore, 2\n"          \
	"ispot_" #name "_semaphore: .2byte 0\n"                \
	"	.popsection\n"                                       \
	"	.endif\n"
#if defined(__x86_64__)
#define ISPOT_LOAD_(name) "	movzwl ispot_" #name "_semaphore(%%rip), %[ispot_on]\n"
#else
#define ISPOT_LOAD_(name)                                      \
	"	adrp %[ispot_on], ispot_" #name "_semaphore\n" \
	"	ldrh %w[ispot_on], [%[ispot_on], :lo12:ispot_" #name "_semaphore]\n"
#endif
#if defined(__x86_64__)
#define ISPOT_WORD_ unsigned
#else
#define ISPOT_WORD_ unsigned long
#endif

#define ISPOT_READ_(name) \
	ISPOT_INLINE_(ISPOT_LOAD_(name) ISPOT_COUNTER_(name) : [ispot_on] "=r"(ispot_on_))

#define ISPOT_POINT_(name, kind, operands, ...) \
	ISPOT_INLINE_(ISPOT_ASM_(name, kind, operands) : : __VA_ARGS__)

/* Each argument in a register, as 8 signed bytes: memory operands would follow the stack pointer.
 */
#define ISPOT_V_(n, x)		 [ispot_##n] "r"((long)(x))
#define ISPOT_E_1(kind, name)	 ISPOT_POINT_(name, kind, "", ISPOT_NO_)
#define ISPOT_NO_		 "i"(0)
#define ISPOT_E_2(kind, name, a) ISPOT_POINT_(name, kind, "-8@%[ispot_1]", ISPOT_V_(1, a))
#define ISPOT_E_3(kind, name, a, b) \
	ISPOT_POINT_(name, kind, "-8@%[ispot_1] -8@%[ispot_2]", ISPOT_V_(1, a), ISPOT_V_(2, b))
#define ISPOT_E_4(kind, name, a, b, c)                                                        \
	ISPOT_POINT_(name, kind, "-8@%[ispot_1] -8@%[ispot_2] -8@%[ispot_3]", ISPOT_V_(1, a), \
		     ISPOT_V_(2, b), ISPOT_V_(3, c))
#define ISPOT_E_5(kind, name, a, b, c, d)                                                   \
	ISPOT_POINT_(name, kind, "-8@%[ispot_1] -8@%[ispot_2] -8@%[ispot_3] -8@%[ispot_4]", \
		     ISPOT_V_(1, a), ISPOT_V_(2, b), ISPOT_V_(3, c), ISPOT_V_(4, d))
#define ISPOT_E_6(kind, name, a, b, c, d, e)                                         \
	ISPOT_POINT_(name, kind,                                                     \
		     "-8@%[ispot_1] -8@%[ispot_2] -8@%[ispot_3] -8@%[ispot_4] "      \
		     "-8@%[ispot_5]",                                                \
		     ISPOT_V_(1, a), ISPOT_V_(2, b), ISPOT_V_(3, c), ISPOT_V_(4, d), \
		     ISPOT_V_(5, e))
#define ISPOT_E_7(kind, name, a, b, c, d, e, f)                                      \
	ISPOT_POINT_(name, kind,                                                     \
		     "-8@%[ispot_1] -8@%[ispot_2] -8@%[ispot_3] -8@%[ispot_4] "      \
		     "-8@%[ispot_5] -8@%[ispot_6]",                                  \
		     ISPOT_V_(1, a), ISPOT_V_(2, b), ISPOT_V_(3, c), ISPOT_V_(4, d), \
		     ISPOT_V_(5, e), ISPOT_V_(6, f))

#define ISPOT_COUNT_(...)			   ISPOT_EIGHTH_(__VA_ARGS__, 7, 6, 5, 4, 3, 2, 1, 0)
#define ISPOT_EIGHTH_(a, b, c, d, e, f, g, n, ...) n
#define ISPOT_JOIN_(a, b)			   ISPOT_JOINED_(a, b)
#define ISPOT_JOINED_(a, b)			   a##b
#define ISPOT_FIRST_(...)			   ISPOT_FIRST_OF_(__VA_ARGS__, 0)
#define ISPOT_FIRST_OF_(name, ...)		   name
#define ISPOT_EMIT_(kind, ...)			   ISPOT_JOIN_(ISPOT_E_, ISPOT_COUNT_(__VA_ARGS__))(kind, __VA_ARGS__)
#define ISPOT_READ_OF_(name)			   ISPOT_READ_(name)

#define ISPOT_BEGIN(...)                                   \
	do {                                               \
		ISPOT_WORD_ ispot_on_;                     \
		ISPOT_READ_OF_(ISPOT_FIRST_(__VA_ARGS__)); \
		if (__builtin_expect(ispot_on_ != 0, 0))   \
			ISPOT_EMIT_(begin, __VA_ARGS__);   \
	} while (0)

#define ISPOT_END(...)                                     \
	do {                                               \
		ISPOT_WORD_ ispot_on_;                     \
		ISPOT_READ_OF_(ISPOT_FIRST_(__VA_ARGS__)); \
		if (__builtin_expect(ispot_on_ != 0, 0))   \
			ISPOT_EMIT_(end, __VA_ARGS__);     \
	} while (0)

/* n: a constant, at least 1. It stands in the note, so that reports can scale up. The type is there
 * for its name, with which a compiler says what is wrong with a number of 0. */
#define ISPOT_LOOP_BEGIN(name, ...)                                                               \
	typedef char ISPOT_LOOP_BEGIN_of_##name##_takes_1_to_2147483647                           \
		[(ISPOT_FIRST_(__VA_ARGS__)) < 1 || (ISPOT_FIRST_(__VA_ARGS__)) > 2147483647 ? -1 \
											     : 1] \
		__attribute__((unused));                                                          \
	static __thread unsigned ispot_next_##name;                                               \
	const int ispot_takes_##name =                                                            \
		ISPOT_ENABLED(name) &&                                                            \
		ispot_nth_(&ispot_next_##name, (ISPOT_FIRST_(__VA_ARGS__)));                      \
	if (__builtin_expect(ispot_takes_##name, 0))                                              \
	ISPOT_JOIN_(ISPOT_L_, ISPOT_COUNT_(__VA_ARGS__))(name, __VA_ARGS__)

/* The number is the note's first operand, its arguments stand behind it. */
#define ISPOT_N_(n)	   [ispot_0] "i"((int)(n))
#define ISPOT_L_1(name, n) ISPOT_POINT_(name, loop, "-4@%[ispot_0]", ISPOT_N_(n))
#define ISPOT_L_2(name, n, a) \
	ISPOT_POINT_(name, loop, "-4@%[ispot_0] -8@%[ispot_1]", ISPOT_N_(n), ISPOT_V_(1, a))
#define ISPOT_L_3(name, n, a, b)                                                           \
	ISPOT_POINT_(name, loop, "-4@%[ispot_0] -8@%[ispot_1] -8@%[ispot_2]", ISPOT_N_(n), \
		     ISPOT_V_(1, a), ISPOT_V_(2, b))
#define ISPOT_L_4(name, n, a, b, c)                                                         \
	ISPOT_POINT_(name, loop, "-4@%[ispot_0] -8@%[ispot_1] -8@%[ispot_2] -8@%[ispot_3]", \
		     ISPOT_N_(n), ISPOT_V_(1, a), ISPOT_V_(2, b), ISPOT_V_(3, c))
#define ISPOT_L_5(name, n, a, b, c, d)                                                        \
	ISPOT_POINT_(name, loop,                                                              \
		     "-4@%[ispot_0] -8@%[ispot_1] -8@%[ispot_2] -8@%[ispot_3] -8@%[ispot_4]", \
		     ISPOT_N_(n), ISPOT_V_(1, a), ISPOT_V_(2, b), ISPOT_V_(3, c), ISPOT_V_(4, d))
#define ISPOT_L_6(name, n, a, b, c, d, e)                                                              \
	ISPOT_POINT_(                                                                                  \
		name, loop,                                                                            \
		"-4@%[ispot_0] -8@%[ispot_1] -8@%[ispot_2] -8@%[ispot_3] -8@%[ispot_4] -8@%[ispot_5]", \
		ISPOT_N_(n), ISPOT_V_(1, a), ISPOT_V_(2, b), ISPOT_V_(3, c), ISPOT_V_(4, d),           \
		ISPOT_V_(5, e))
#define ISPOT_L_7(name, n, a, b, c, d, e, f)                                                                         \
	ISPOT_POINT_(                                                                                                \
		name, loop,                                                                                          \
		"-4@%[ispot_0] -8@%[ispot_1] -8@%[ispot_2] -8@%[ispot_3] -8@%[ispot_4] -8@%[ispot_5] -8@%[ispot_6]", \
		ISPOT_N_(n), ISPOT_V_(1, a), ISPOT_V_(2, b), ISPOT_V_(3, c), ISPOT_V_(4, d),                         \
		ISPOT_V_(5, e), ISPOT_V_(6, f))

#define ISPOT_LOOP_END(name)                                 \
	do {                                                 \
		if (__builtin_expect(ispot_takes_##name, 0)) \
			ISPOT_E_1(end, name);                \
	} while (0)

/* A statement expression: not outside of functions. */
#define ISPOT_ENABLED(name)                          \
	(__extension__({                             \
		ISPOT_WORD_ ispot_on_;               \
		ISPOT_READ_(name);                   \
		__builtin_expect(ispot_on_ != 0, 0); \
	}))

static __inline__ __attribute__((unused)) int ispot_nth_(unsigned *next, unsigned n)
{
	if (*next) {
		--*next;
		return 0;
	}
	*next = n - 1;
	return 1;
}

#ifdef __cplusplus
#define ISPOT_SCOPE(...)                                      \
	struct ISPOT_JOIN_(ispot_scope_, __LINE__) {          \
		~ISPOT_JOIN_(ispot_scope_, __LINE__)()        \
		{                                             \
			ISPOT_END(ISPOT_FIRST_(__VA_ARGS__)); \
		}                                             \
	} ISPOT_JOIN_(ispot_in_scope_, __LINE__);             \
	(void)ISPOT_JOIN_(ispot_in_scope_, __LINE__);         \
	ISPOT_BEGIN(__VA_ARGS__)
#endif

#else /* nothing */

#define ISPOT_BEGIN(...) \
	do {             \
	} while (0)
#define ISPOT_END(...) \
	do {           \
	} while (0)
#define ISPOT_LOOP_BEGIN(...) \
	do {                  \
	} while (0)
#define ISPOT_LOOP_END(name) \
	do {                 \
	} while (0)
#define ISPOT_ENABLED(name) 0
#ifdef __cplusplus
#define ISPOT_SCOPE(...) \
	do {             \
	} while (0)
#endif

#endif
#endif
