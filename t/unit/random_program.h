/*
 * random_program.h - random programs of loops, branches and calls, for the tests of elastic values.
 *
 * The iteration count of a loop, whether a branch is taken, and the parameter of a call are each
 * fixed, random per execution, random per execution and stream, random per stream, or increasing.
 * Streams of one program therefore differ as real ranks do. make_program() creates a program, and
 * run_program() makes the calls of one stream of it.
 */
#ifndef RN_T_RANDOM_PROGRAM_H
#define RN_T_RANDOM_PROGRAM_H

#include "tap.h"

#include <string.h>

#define PROGRAM_NODES 64u
#define PROGRAM_CALLS 40u /* distinct calls, parameters not counted */

struct program;

typedef void program_call(void *arg, uint32_t call, uint64_t parameter);

enum node_kind { CALL, LOOP, BRANCH, NODE_KINDS };
enum node_way { FIXED, BY_STEP, BY_STEP_AND_STREAM, BY_STREAM, RISING, NODE_WAYS };

struct node {
	enum node_kind kind;
	enum node_way way;
	uint32_t value; /* the call, or the maximum iteration count */
	uint32_t first, n;
};

struct program {
	struct node node[PROGRAM_NODES];
	uint32_t nodes;
	uint64_t seed, done[PROGRAM_NODES];
	uint32_t stream;
	uint64_t left; /* remaining number of calls */
	program_call *call;
	void *arg;
};

static uint64_t program_mix(uint64_t x)
{
	x ^= x >> 31;
	x *= 0x7fb5d329728ea185u;
	x ^= x >> 27;
	x *= 0x81dadef4bc2dd44du;
	return x ^ x >> 33;
}

/* Most calls are fixed: if every call had a new parameter, little could be folded. */
static enum node_way random_way(enum node_kind kind)
{
	return kind == CALL && tap_below(4) ? FIXED : (enum node_way)tap_below(NODE_WAYS);
}

static void make_block(struct program *p, uint32_t at, unsigned depth)
{
	struct node *node = &p->node[at];

	node->n = 1 + (uint32_t)tap_below(4);
	if (p->nodes + node->n > PROGRAM_NODES)
		node->n = 0;
	node->first = p->nodes;
	p->nodes += node->n;
	for (uint32_t i = 0; i < node->n; i++) {
		struct node *child = &p->node[node->first + i];
		enum node_kind kind = depth ? (enum node_kind)tap_below(NODE_KINDS) : CALL;

		*child = (struct node){ .kind = kind,
					.way = random_way(kind),
					.value = (uint32_t)tap_below(PROGRAM_CALLS) };
		if (child->kind != CALL)
			make_block(p, node->first + i, depth - 1);
	}
}

static void make_program(struct program *p)
{
	*p = (struct program){ .nodes = 1, .seed = tap_rand() };
	p->node[0] = (struct node){ .kind = LOOP, .way = FIXED, .value = 60 };
	make_block(p, 0, 1 + (unsigned)tap_below(4));
}

/* Returns the value of a node for this execution, less than `most`, or `fixed` if the node is
 * fixed. */
static uint64_t this_time(struct program *p, uint32_t at, uint64_t most, uint64_t fixed)
{
	uint64_t time = p->done[at]++, key = p->seed + at * 1000003u;
	enum node_way way = p->node[at].way;

	if (way == FIXED)
		return fixed;
	if (way == RISING)
		return time % (most + 20);
	if (way == BY_STEP || way == BY_STEP_AND_STREAM)
		key += time * 7919u;
	if (way == BY_STREAM || way == BY_STEP_AND_STREAM)
		key += p->stream * 104729u;
	return program_mix(key) % most;
}

static uint64_t rounds(struct program *p, uint32_t at)
{
	const struct node *node = &p->node[at];
	uint64_t most = node->kind == BRANCH ? 2 : 1 + node->value / 2;

	return this_time(p, at, most, node->kind == BRANCH ? 1 : most);
}

static void execute(struct program *p, uint32_t at)
{
	const struct node *node = &p->node[at];
	uint64_t n = node->kind == CALL ? 0 : rounds(p, at);

	if (node->kind == CALL && p->left) {
		p->left--;
		p->call(p->arg, node->value, this_time(p, at, 8, 0));
	}
	for (; n && p->left; n--)
		for (uint32_t i = 0; i < node->n; i++)
			execute(p, node->first + i);
}

static void run_program(struct program *p, uint32_t stream, uint64_t most, program_call *call,
			void *arg)
{
	p->stream = stream;
	p->left = most;
	p->call = call;
	p->arg = arg;
	memset(p->done, 0, sizeof(p->done));
	execute(p, 0);
}

#endif
