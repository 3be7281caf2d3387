/*
 * Front header of base/: what every layer stands on.
 *
 * arena    memory by lifetime		recover  the way out of the compiler
 * vec      growing arrays		strbuf   text under construction
 * intern   names as numbers		source   texts, spans, lines
 * diag     messages to the user	hash     digests of content
 * name_map numbers by name
 */
#ifndef CJ_BASE_H
#define CJ_BASE_H

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "arena.h"
#include "diag.h"
#include "hash.h"
#include "intern.h"
#include "name_map.h"
#include "recover.h"
#include "source.h"
#include "strbuf.h"
#include "vec.h"

#define CJ_LENGTH(array)	(sizeof(array) / sizeof *(array))

#endif
