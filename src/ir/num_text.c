/*
 * Numbers as text, and back.
 *
 * The shortest decimal that reads back is found by trying; it is written with
 * a point whatever the locale, and read as an integer with a power of ten,
 * which has no point that a locale could change.
 */
#include "num_priv.h"

#include "base/base.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST_DIGITS = 17, LONGEST = 400, FIXED_FROM = -5, FIXED_TO = 16 };

/* Decimal digits and the power of ten of the first of them. */
struct decimal {
	char digits[MOST_DIGITS + 2];
	int count, power;
};

static double
decimal_value(const struct decimal *d)
{
	char text[64];

	snprintf(text, sizeof text, "%se%d", d->digits,
	    d->power - d->count + 1);
	return strtod(text, NULL);
}

static void
decimal_of(struct decimal *d, double v, int count)
{
	char text[64], *p;

	assert(v > 0 && count >= 1 && count <= MOST_DIGITS);
	snprintf(text, sizeof text, "%.*e", count - 1, v);
	d->count = 0;
	for (p = text; *p != 'e'; p++)
		if (*p >= '0' && *p <= '9')
			d->digits[d->count++] = *p;
	d->power = atoi(p + 1);
	while (d->count > 1 && d->digits[d->count - 1] == '0')
		d->count--;
	d->digits[d->count] = '\0';
}

/* Digit `place` of the number: the first is d->power, units are 0. */
static char
digit_at(const struct decimal *d, int place)
{
	int i = d->power - place;

	return i < 0 || i >= d->count ? '0' : d->digits[i];
}

static void
print_decimal(struct cj_strbuf *out, const struct decimal *d)
{
	int place = d->power > 0 ? d->power : 0;
	int last = d->power - d->count + 1;

	if (d->power >= FIXED_FROM && d->power < FIXED_TO) {
		for (; place >= 0 || place >= last; place--) {
			if (place == -1)
				cj_strbuf_putc(out, '.');
			cj_strbuf_putc(out, digit_at(d, place));
		}
		return;
	}
	cj_strbuf_putc(out, d->digits[0]);
	if (d->count > 1)
		cj_strbuf_printf(out, ".%s", d->digits + 1);
	cj_strbuf_printf(out, "e%d", d->power);
}

/* Of 8 bits and less the value itself is shown: 448, which in f8e4m3 "450"
 * would read back as, too. */
static void
print_float(struct cj_strbuf *out, enum cj_kind k, uint64_t bits)
{
	enum cj_kind as = cj_kind_bits(k) <= 8 ? CJ_KIND_F32 : k;
	double v = cj_num_to_f64(k, bits);
	struct decimal d;
	int count;

	if (isnan(v)) {
		cj_strbuf_puts(out, "nan");
		return;
	}
	if (signbit(v))
		cj_strbuf_putc(out, '-');
	v = fabs(v);
	if (isinf(v)) {
		cj_strbuf_puts(out, "inf");
		return;
	}
	if (v == 0) {
		cj_strbuf_putc(out, '0');
		return;
	}
	for (count = 1; ; count++) {
		decimal_of(&d, v, count);
		if (count >= MOST_DIGITS || cj_num_from_f64(as,
		    decimal_value(&d)) == cj_num_from_f64(as, v))
			break;
	}
	print_decimal(out, &d);
}

void
cj_num_print(struct cj_strbuf *out, enum cj_kind k, uint64_t bits)
{
	if (k == CJ_KIND_BOOL)
		cj_strbuf_puts(out, bits != 0 ? "true" : "false");
	else if (cj_kind_is_float(k))
		print_float(out, k, bits);
	else if (cj_kind_is_signed(k))
		cj_strbuf_printf(out, "%lld", (long long)(int64_t)bits);
	else
		cj_strbuf_printf(out, "%llu", (unsigned long long)bits);
}

/* ---- reading ------------------------------------------------------------- */

/* A word in decimal or 0x; false: anything else is there, or it overflows. */
static bool
read_word(const char *p, const char *end, uint64_t *out)
{
	uint64_t base = 10, digit;

	if (end - p > 2 && p[0] == '0' && p[1] == 'x') {
		base = 16;
		p += 2;
	}
	*out = 0;
	if (p == end)
		return false;
	for (; p < end; p++) {
		if (*p >= '0' && *p <= '9')
			digit = (uint64_t)(*p - '0');
		else if (*p >= 'a' && *p <= 'f' && base == 16)
			digit = (uint64_t)(*p - 'a') + 10;
		else
			return false;
		if (__builtin_mul_overflow(*out, base, out) ||
		    __builtin_add_overflow(*out, digit, out))
			return false;
	}
	return true;
}

static bool
read_integer(enum cj_kind k, const char *p, const char *end, uint64_t *bits)
{
	bool negative = p < end && *p == '-';

	if (!read_word(p + negative, end, bits))
		return false;
	if (negative) {
		if (*bits > UINT64_C(1) << 63 || !cj_kind_is_signed(k))
			return false;
		*bits = 0 - *bits;
	} else if (cj_kind_is_signed(k) && *bits >> 63 != 0) {
		return false;
	}
	return cj_num_wrap(k, *bits) == *bits;
}

/* digits [. digits] [e [+-] digits], made an integer times a power of ten. */
static bool
read_real(const char *p, const char *end, double *out)
{
	char text[LONGEST + 32];
	size_t length = 0;
	long power = 0, written = 0;
	bool seen = false, point = false, minus = false;

	for (; p < end && *p != 'e'; p++) {
		if (*p == '.' && !point) {
			point = true;
			continue;
		}
		if (*p < '0' || *p > '9' || length >= LONGEST)
			return false;
		text[length++] = *p;
		seen = true;
		power -= point;
	}
	if (!seen)
		return false;
	if (p < end) {
		p++;
		if (p < end && (*p == '-' || *p == '+'))
			minus = *p++ == '-';
		if (p == end)
			return false;
		for (; p < end; p++) {
			if (*p < '0' || *p > '9')
				return false;
			if (written < 100000)
				written = written * 10 + (*p - '0');
		}
		power += minus ? -written : written;
	}
	snprintf(text + length, sizeof text - length, "e%ld", power);
	*out = strtod(text, NULL);
	return true;
}

static bool
read_float(enum cj_kind k, const char *p, const char *end, uint64_t *bits)
{
	bool negative = p < end && *p == '-';
	size_t length;
	double v;

	if (end - p > 2 && p[0] == '0' && p[1] == 'x')
		return read_word(p, end, bits) && (cj_kind_bits(k) == 64 ||
		    *bits >> cj_kind_bits(k) == 0);
	p += negative;
	length = (size_t)(end - p);
	if (length == 3 && memcmp(p, "nan", 3) == 0 && !negative)
		v = NAN;
	else if (length == 3 && memcmp(p, "inf", 3) == 0)
		v = INFINITY;
	else if (!read_real(p, end, &v))
		return false;
	v = negative ? -v : v;
	/* inf itself, also where larger numbers would saturate */
	*bits = isinf(v) ? cj_num_convert(k, CJ_KIND_F64, cj_double_to_bits(v),
	    (struct cj_conversion){ .rounding = CJ_ROUND_EVEN }) :
	    cj_num_from_f64(k, v);
	return true;
}

bool
cj_num_read(enum cj_kind k, const char *text, size_t length, uint64_t *bits)
{
	if (k == CJ_KIND_BOOL) {
		*bits = length == 4 && memcmp(text, "true", 4) == 0;
		return *bits != 0 || (length == 5 &&
		    memcmp(text, "false", 5) == 0);
	}
	if (cj_kind_is_float(k))
		return read_float(k, text, text + length, bits);
	if (k == CJ_KIND_VOID || k == CJ_KIND_MAP)
		return false;
	return read_integer(k, text, text + length, bits);
}
