/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "unit.h"

#include <math.h>
#include <string.h>

#include "base/json.h"
#include "base/text.h"

static struct json *sample(void)
{
	struct json *obj = json_new_object(), *arr = json_new_array(), *inner = json_new_object();

	json_set_string(obj, "s", "x\"y\n");
	json_set_string(obj, "none", NULL);
	json_set_u64(obj, "u", 1ull << 62);
	json_set_u64(obj, "big", UINT64_MAX);
	json_set_i64(obj, "i", -5);
	json_set_f64(obj, "f", 0.32);
	json_set_f64(obj, "whole", 3e6);
	json_set_f64(obj, "none_lost", -0.0);
	json_set_f64(obj, "nan", NAN);
	json_set_bool(obj, "b", true);
	json_set_null(obj, "null");
	json_add_u64(arr, 7);
	json_add_string(arr, "z");
	json_add_f64(arr, 1.5);
	json_set_u64(inner, "k", 1);
	json_add_take(arr, inner);
	json_set_take(obj, "a", arr);
	return obj;
}

static void prints_in_the_order_of_setting(void **state)
{
	struct json *obj = sample();
	struct text t = { 0 };

	json_print(obj, &t, false);
	assert_string_equal(t.s,
			    "{\"s\":\"x\\\"y\\n\",\"none\":null,\"u\":4611686018427387904,"
			    "\"big\":\"0xffffffffffffffff\",\"i\":-5,\"f\":0.32,\"whole\":3000000,"
			    "\"none_lost\":0,\"nan\":null,"
			    "\"b\":true,\"null\":null,\"a\":[7,\"z\",1.5,{\"k\":1}]}");
	text_release(&t);
	json_free(obj);
}

/* A terminal obeys some of them, whatever shows it the text. */
static void no_control_characters(void **state)
{
	static const char name[] = "a\x1b\x7f\xc2\x9b\u202e\u00e9\u4e2d";
	struct json *obj = json_new_object();
	struct text t = { 0 };

	(void)state;
	json_set_string(obj, "s", name);
	json_print(obj, &t, false);
	assert_string_equal(t.s, "{\"s\":\"a\\u001B\\u007f\\u009b\\u202e\u00e9\u4e2d\"}");
	json_free(obj);
	obj = json_parse(t.s, t.n);
	assert_string_equal(json_string(obj, "s", ""), name);
	text_release(&t);
	json_free(obj);
}

static void reads_back_what_it_printed(void **state)
{
	struct json *obj = sample();
	struct text t = { 0 };
	const struct json *arr;

	json_print(obj, &t, true);
	json_free(obj);
	obj = json_parse(t.s, t.n);
	assert_non_null(obj);
	assert_string_equal(json_string(obj, "s", ""), "x\"y\n");
	assert_true(json_u64(obj, "u", 0) == 1ull << 62);
	assert_true(json_u64(obj, "big", 0) == UINT64_MAX);
	assert_true(json_f64(obj, "f", 0) == 0.32);
	assert_true(json_f64(obj, "i", 0) == -5);
	assert_true(json_bool(obj, "b", false));
	assert_true(json_is_null(obj, "null") && json_is_null(obj, "absent"));
	assert_false(json_is_null(obj, "b"));
	arr = json_get(obj, "a");
	assert_int_equal(json_n(arr), 4);
	assert_int_equal(json_u64_at(arr, 0, 9), 7);
	assert_int_equal(json_u64(json_at(arr, 3), "k", 0), 1);
	text_release(&t);
	json_free(obj);
}

static void wrong_types_give_the_fallback(void **state)
{
	const char s[] = "{\"a\":\"x\",\"b\":-1,\"c\":[],\"d\":1.5,\"e\":\"12\"}";
	struct json *obj = json_parse(s, strlen(s));

	assert_int_equal(json_u64(obj, "a", 3), 3);
	assert_int_equal(json_u64(obj, "b", 3), 3);
	assert_int_equal(json_u64(obj, "d", 3), 3);
	assert_int_equal(json_u64(obj, "e", 3), 3); /* only what json_set_u64 writes as a string */
	assert_string_equal(json_string(obj, "b", "fb"), "fb");
	assert_true(json_bool(obj, "a", true));
	assert_true(json_f64(obj, "a", 2.5) == 2.5);
	assert_int_equal(json_n(json_get(obj, "a")), 0);
	assert_null(json_at(json_get(obj, "c"), 0));
	assert_null(json_get(json_get(obj, "a"), "x"));
	assert_int_equal(json_u64(NULL, "a", 4), 4);
	assert_int_equal(json_n(NULL), 0);
	json_free(obj);
	json_free(NULL);
}

static void refuses_what_is_not_json(void **state)
{
	static const char *const bad[] = { "",	   "{",	  "{} {}",    "{\"a\":}",
					   "[1,]", "nul", "\"\xff\"", "99999999999999999999" };
	char deep[2 * 65];

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		assert_null(json_parse(bad[i], strlen(bad[i])));
	memset(deep, '[', 65);
	memset(deep + 65, ']', 65);
	assert_null(json_parse(deep, 130));
	struct json *fits = json_parse(deep + 1, 128);
	assert_non_null(fits);
	json_free(fits);
}

static void invalid_utf8_becomes_a_question_mark(void **state)
{
	struct json *arr = json_new_array();
	struct text t = { 0 };

	json_add_string(arr, "a\xff\xc3\xbc\xc3");
	json_print(arr, &t, false);
	assert_string_equal(t.s, "[\"a?\xc3\xbc?\"]");
	text_release(&t);
	json_free(arr);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(prints_in_the_order_of_setting),
		cmocka_unit_test(no_control_characters),
		cmocka_unit_test(reads_back_what_it_printed),
		cmocka_unit_test(wrong_types_give_the_fallback),
		cmocka_unit_test(refuses_what_is_not_json),
		cmocka_unit_test(invalid_utf8_becomes_a_question_mark),
	};

	return unit_run(tests);
}
