// SPDX-License-Identifier: GPL-2.0
/*
 * module/core/ring.[ch] under real concurrency. Several threads write. Each is
 * interrupted by signal handlers that write too: SIGUSR1 stands for a softirq,
 * SIGUSR2 for a hardirq, which may interrupt the softirq. Readers follow the
 * writers. Built plain and with ThreadSanitizer; linux/compiler.h describes what
 * ThreadSanitizer sees.
 *
 * Another thread sends signals at any time. Besides, the shims' hook raises one
 * before randomly chosen accesses of a writer, so that many arrive between
 * reserve and commit whatever the machine's timing is.
 *
 * Threads wait for each other only by relaxed flags. With a barrier,
 * ThreadSanitizer would see an order that the ring itself has to provide.
 */
#include <linux/compiler.h>
#include <linux/types.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <time.h>
#include "ledger.h"
#include "unit.h"

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
#define LEVELS 3	/* task, softirq, hardirq */
#define CREWS 4
#define READERS 2

#ifndef RECORDS
#define RECORDS 80000	/* of each writer */
#endif

/* One CPU: a thread and the signal handlers that interrupt it. */
struct crew {
	pthread_t thread;
	struct writer *writers;	/* by level */
	unsigned int level;
	u64 random;
	u64 within;		/* records of interrupts between reserve and commit */
	bool filling;
	u32 done;
};

struct follower {
	pthread_t thread;
	struct ledger *ledger;
	u64 next;
	u64 shown;
	u64 last[LEDGER_WRITERS];	/* by writer: token of the last record shown */
};

static __thread struct crew *crew;
static struct crew crews[CREWS];
static struct follower followers[READERS];
static struct writer writers[CREWS * LEVELS];
static u32 quiet;	/* no writer is left */

static u64 random_next(u64 *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state >> 16;
}

static void flag_set(u32 *flag, u32 value)
{
	__atomic_store_n(flag, value, __ATOMIC_RELAXED);
}

static u32 flag_read(u32 *flag)
{
	return __atomic_load_n(flag, __ATOMIC_RELAXED);
}

static void flag_wait(u32 *flag, u32 value)
{
	while (flag_read(flag) != value)
		sched_yield();
}

static void start(pthread_t *thread, void *(*run)(void *), void *arg)
{
	CHECK(!pthread_create(thread, NULL, run, arg), "no thread");
}

static void join(pthread_t thread)
{
	CHECK(!pthread_join(thread, NULL), "no join");
}

/* Signal handler: write one or two records, sometimes more than a lap. */
static void interrupt(int number)
{
	unsigned int level = number == SIGUSR1 ? 1 : 2;
	struct writer *writer;
	unsigned int before;
	u64 burst;

	if (!crew || crew->level >= level)
		return;		/* the thread has just begun, or is at this level */
	writer = &crew->writers[level];
	burst = 1 + random_next(&crew->random) % 2;
	if (!(random_next(&crew->random) & 15))
		burst = writer->ledger->slots + 1;
	if (writer->came + burst > RECORDS)
		return;
	before = crew->level;
	crew->level = level;
	crew->within += crew->filling ? burst : 0;
	writer_write(writer, burst);
	crew->level = before;
}

static void interrupts_init(void)
{
	struct sigaction action = { .sa_handler = interrupt };

	action.sa_flags = SA_RESTART;
	sigaddset(&action.sa_mask, SIGUSR1);
	CHECK(!sigaction(SIGUSR1, &action, NULL), "sigaction");
	sigaddset(&action.sa_mask, SIGUSR2);
	CHECK(!sigaction(SIGUSR2, &action, NULL), "sigaction");
}

/* Before an access by a writer: sometimes interrupt it, or yield to another thread. */
static void disturb_writer(void)
{
	u64 chance = random_next(&crew->random) % 256;

	if (chance == 0 && crew->level < 2)
		raise(SIGUSR2);
	else if (chance < 3 && crew->level < 1)
		raise(SIGUSR1);
	else if (chance == 3)
		sched_yield();
}

static void disturb_reader(void)
{
	static __thread u64 random = 88172645463325252ULL;

	if (!(random_next(&random) % 64))
		sched_yield();
}

static void *run_crew(void *arg)
{
	struct writer *task;
	u64 index;
	u64 *slot;

	crew = arg;
	task = &crew->writers[0];
	unit_hook = disturb_writer;
	while (task->came < RECORDS) {
		slot = writer_begin(task, &index);
		if (!slot)
			continue;
		crew->filling = true;
		__atomic_signal_fence(__ATOMIC_SEQ_CST);
		writer_end(task, slot, index);
		__atomic_signal_fence(__ATOMIC_SEQ_CST);
		crew->filling = false;
	}
	unit_hook = NULL;
	flag_set(&crew->done, 1);
	return NULL;
}

/* Send interrupts to the writers' threads until all writers are done. */
static void *run_ticker(void *arg)
{
	const struct timespec pause = { .tv_nsec = 50000 };
	u64 random = 0x9e3779b97f4a7c15ULL;
	u64 draw;

	while (!flag_read(arg)) {
		draw = random_next(&random);
		pthread_kill(crews[draw % CREWS].thread,
			     draw & 64 ? SIGUSR1 : SIGUSR2);
		nanosleep(&pause, NULL);
	}
	return NULL;
}

/* Continue to read at @next. Never wait for a writer between reserve and commit. */
static void follow(struct follower *follower)
{
	struct ledger *ledger = follower->ledger;
	u64 begin, end, token;

	begin = iot_ring_window(ledger->ring, &end);
	CHECK(end >= follower->next, "the window's end falls");
	if (begin > follower->next)
		follower->next = begin;
	for (; follower->next < end; follower->next++) {
		if (ledger_read(ledger, follower->next, &token) != IOT_RING_OK)
			continue;
		CHECK(follower->last[token >> 32] < token,
		      "writer %llu's records come twice or out of order",
		      token >> 32);
		follower->last[token >> 32] = token;
		follower->shown++;
	}
}

static void *run_follower(void *arg)
{
	unit_hook = disturb_reader;
	while (!flag_read(&quiet)) {
		follow(arg);
		sched_yield();
	}
	unit_hook = NULL;
	return NULL;
}

static void crews_init(struct ledger *ledger)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(writers); i++)
		writers[i] = (struct writer){ ledger, i, i & 1, 0, 0 };
	for (i = 0; i < CREWS; i++) {
		crews[i] = (struct crew){
			.writers = &writers[i * LEVELS],
			.random = 0x2545f4914f6cdd1dULL * (i + 1),
		};
	}
	for (i = 0; i < READERS; i++)
		followers[i] = (struct follower){ .ledger = ledger };
}

static void run_all(struct ledger *ledger)
{
	pthread_t ticker;
	u32 stop = 0;
	unsigned int i;

	crews_init(ledger);
	interrupts_init();
	flag_set(&quiet, 0);
	for (i = 0; i < READERS; i++)
		start(&followers[i].thread, run_follower, &followers[i]);
	for (i = 0; i < CREWS; i++)
		start(&crews[i].thread, run_crew, &crews[i]);
	start(&ticker, run_ticker, &stop);
	/* a thread that has ended may be signalled until it is joined */
	for (i = 0; i < CREWS; i++)
		flag_wait(&crews[i].done, 1);
	flag_set(&stop, 1);
	join(ticker);
	for (i = 0; i < CREWS; i++)
		join(crews[i].thread);
	flag_set(&quiet, 1);
	for (i = 0; i < READERS; i++)
		join(followers[i].thread);
}

/* The run was meaningful: writers were interrupted, records were lost, and some were read. */
static void check_worth(u64 keep)
{
	u64 came[LEVELS] = {}, lost = 0, shown = 0, within = 0;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(writers); i++) {
		came[i % LEVELS] += writers[i].came;
		lost += writers[i].lost;
	}
	for (i = 0; i < CREWS; i++)
		within += crews[i].within;
	for (i = 0; i < READERS; i++)
		shown += followers[i].shown;
	printf("keep %llu: task %llu softirq %llu hardirq %llu,", keep,
	       came[0], came[1], came[2]);
	printf(" %llu within a record; lost %llu, shown to readers %llu\n",
	       within, lost, shown);
	CHECK(came[1] && came[2] && within, "no writer was interrupted");
	CHECK(lost || keep > 10, "no record was lost");
	CHECK(shown, "no reader was shown a record");
}

static void stress(u64 keep, u64 words)
{
	struct ledger ledger;
	unsigned int i;

	ledger_init(&ledger, keep, words, 0, CREWS * LEVELS * RECORDS);
	run_all(&ledger);
	ledger_check(&ledger, writers, ARRAY_SIZE(writers));
	for (i = 0; i < READERS; i++)
		follow(&followers[i]);
	check_worth(keep);
	ledger_destroy(&ledger);
}

static void test_keep_1(void)
{
	stress(1, LEDGER_MIN_WORDS);
}

static void test_keep_3(void)
{
	stress(3, 12);
}

static void test_keep_10(void)
{
	stress(10, 12);
}

static void test_keep_100(void)
{
	stress(100, 16);
}

static void test_keep_4096(void)
{
	stress(4096, 12);
}

/* A writer that stops in the middle of a record until @go_on is set. */
struct staller {
	pthread_t thread;
	struct writer writer;
	u32 stalled;
	u32 go_on;
	u32 done;
};

static void *run_staller(void *arg)
{
	struct staller *staller = arg;
	u64 index;
	u64 *slot;

	slot = writer_begin(&staller->writer, &index);
	CHECK(slot, "no slot in a free ring");
	flag_set(&staller->stalled, 1);
	flag_wait(&staller->go_on, 1);
	writer_end(&staller->writer, slot, index);
	flag_set(&staller->done, 1);
	return NULL;
}

/*
 * @nr writers stop in slots of 8. Another writer goes round three times, losing a record at
 * each of these slots. After they have committed, it goes round once more and loses none.
 */
static void stall(unsigned int nr)
{
	struct staller stallers[8];
	struct writer all[9];
	struct writer *other = &all[8];
	struct ledger ledger;
	unsigned int i;

	ledger_init(&ledger, 2, 16, 0, 64);
	*other = (struct writer){ &ledger, 8, 1, 0, 0 };
	for (i = 0; i < nr; i++) {
		stallers[i] = (struct staller){ .writer = { &ledger, i, 0, 0, 0 } };
		start(&stallers[i].thread, run_staller, &stallers[i]);
		flag_wait(&stallers[i].stalled, 1);
	}
	writer_write(other, 8 - nr + 3 * 8);
	CHECK(other->lost == 3 * nr, "%llu lost, not %u", other->lost, 3 * nr);
	for (i = 0; i < nr; i++) {
		flag_set(&stallers[i].go_on, 1);
		flag_wait(&stallers[i].done, 1);
	}
	writer_write(other, 8);
	CHECK(other->lost == 3 * nr, "a slot was not free again");
	for (i = 0; i < nr; i++) {
		join(stallers[i].thread);
		all[i] = stallers[i].writer;
	}
	all[nr] = *other;
	CHECK(ledger_check(&ledger, all, nr + 1) == 2, "shown");
	ledger_destroy(&ledger);
}

static void test_stall(void)
{
	stall(1);
}

static void test_stall_all(void)
{
	stall(8);
}

/* Two threads fill the same slots in turn; only the slots' states order them. */
static u32 turn;

static void *run_turns(void *arg)
{
	struct writer *writer = arg;
	u32 i;

	for (i = 0; i < 100; i++) {
		flag_wait(&turn, 2 * i + writer->id);
		writer_write(writer, writer->ledger->slots);
		flag_set(&turn, 2 * i + writer->id + 1);
	}
	return NULL;
}

static void test_handover(void)
{
	struct writer two[2];
	pthread_t threads[2];
	struct ledger ledger;
	u32 i;

	ledger_init(&ledger, 10, 12, 0, 2 * 100 * 16);
	for (i = 0; i < 2; i++) {
		two[i] = (struct writer){ &ledger, i, i, 0, 0 };
		start(&threads[i], run_turns, &two[i]);
	}
	for (i = 0; i < 2; i++)
		join(threads[i]);
	CHECK(!two[0].lost && !two[1].lost, "lost without a reason");
	CHECK(ledger_check(&ledger, two, 2) == 10, "shown");
	ledger_destroy(&ledger);
}

/* Old records are put into a ring while others write to it and read it. */
static void *run_writer(void *arg)
{
	struct writer *writer = arg;

	while (writer->came < 40) {
		writer_write(writer, 1);
		sched_yield();
	}
	return NULL;
}

static void *run_rereader(void *arg)
{
	while (!flag_read(&quiet)) {
		struct follower pass = { .ledger = arg };

		follow(&pass);
		sched_yield();
	}
	return NULL;
}

static void put_all(struct ledger *ledger, struct iot_ring *old, u64 words)
{
	u64 base, end, i;
	u64 *copy = unit_alloc(words * sizeof(u64));

	base = iot_ring_window(old, &end);
	for (i = base; i < end; i++) {
		CHECK(iot_ring_read(old, i, copy) == IOT_RING_OK, "bad test");
		iot_ring_put(ledger->ring, i, copy);
	}
	WRITE_ONCE(ledger->ring->base, base);
	free(copy);
}

static void resize(u64 from, u64 to)
{
	pthread_t threads[2], reader;
	struct writer three[3];
	struct ledger ledger;
	struct iot_ring *old;
	unsigned int i;

	ledger_init(&ledger, from, 12, 0, 200);
	for (i = 0; i < 3; i++)
		three[i] = (struct writer){ &ledger, i, i & 1, 0, 0 };
	writer_write(&three[0], 50);
	three[0].came = 0;
	old = ledger_renew(&ledger, to);
	flag_set(&quiet, 0);
	start(&reader, run_rereader, &ledger);
	for (i = 0; i < 2; i++)
		start(&threads[i], run_writer, &three[i + 1]);
	put_all(&ledger, old, 12);
	for (i = 0; i < 2; i++)
		join(threads[i]);
	flag_set(&quiet, 1);
	join(reader);
	ledger_check(&ledger, three, 3);
	free(old);
	ledger_destroy(&ledger);
}

static void test_resize(void)
{
	unsigned int i;

	for (i = 0; i < 100; i++) {
		resize(10, 3);
		resize(3, 10);
		resize(40, 10);
	}
}

static const struct unit_test tests[] = {
	{ "stall", test_stall },
	{ "stall-all", test_stall_all },
	{ "handover", test_handover },
	{ "resize", test_resize },
	{ "keep-1", test_keep_1 },
	{ "keep-3", test_keep_3 },
	{ "keep-10", test_keep_10 },
	{ "keep-100", test_keep_100 },
	{ "keep-4096", test_keep_4096 },
};

int main(int argc, char **argv)
{
	return unit_main(argc, argv, tests, ARRAY_SIZE(tests));
}
