/*
 * A range of work over all cores: threads take pieces until none is left.
 */
#include "interp_priv.h"

#include <pthread.h>
#include <sched.h>
#include <unistd.h>

enum { MAX_WORKERS = 256 };

struct pool {
	cj_piece_fn *run;
	void *user;
	uint64_t count, grain;
	_Atomic uint64_t next;
};

struct member {
	struct pool *pool;
	unsigned number;
	pthread_t thread;
	bool has_thread;
};

/* Those that we may use. sysconf() reads a file each time, which takes as long
 * as many a test's expression; it knows machines of more than 1024. */
static uint64_t
processors(void)
{
	cpu_set_t set;
	long cores;

	if (sched_getaffinity(0, sizeof set, &set) == 0)
		return (uint64_t)CPU_COUNT(&set);
	cores = sysconf(_SC_NPROCESSORS_ONLN);
	return cores < 1 ? 1 : (uint64_t)cores;
}

unsigned
cj_worker_count(unsigned wish, uint64_t pieces)
{
	uint64_t n = wish;

	if (pieces <= 1)
		return 1;
	if (n == 0)
		n = processors();
	if (n > MAX_WORKERS)
		n = MAX_WORKERS;
	return (unsigned)(n > pieces ? pieces : n);
}

static void *
take_pieces(void *user)
{
	struct member *m = user;
	struct pool *p = m->pool;
	uint64_t lo;

	while ((lo = atomic_fetch_add(&p->next, p->grain)) < p->count) {
		uint64_t hi = p->count - lo < p->grain ? p->count
		    : lo + p->grain;

		if (!p->run(p->user, m->number, lo, hi))
			break;
	}
	return NULL;
}

void
cj_parallel(unsigned workers, uint64_t count, uint64_t grain,
    cj_piece_fn *run, void *user)
{
	struct pool pool = { .run = run, .user = user, .count = count,
	    .grain = grain };
	struct member all[MAX_WORKERS];
	unsigned i;

	assert(workers >= 1 && workers <= MAX_WORKERS && grain > 0);
	for (i = 0; i < workers; i++) {
		all[i].pool = &pool;
		all[i].number = i;
		all[i].has_thread = i != 0 && pthread_create(&all[i].thread,
		    NULL, take_pieces, &all[i]) == 0;
	}
	take_pieces(&all[0]);		/* also the work of missing threads */
	for (i = 1; i < workers; i++)
		if (all[i].has_thread)
			pthread_join(all[i].thread, NULL);
}
