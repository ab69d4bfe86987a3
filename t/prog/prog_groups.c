/*
 * prog_groups.c - Communicators of every origin, each with a name (MPI_Comm_set_name), and their
 * members as determined by messages over them. Five ranks; with splits, any number up to 64.
 *
 *	prog_groups           all of them; a row of the table below: those
 *	prog_groups only      sessions without a world
 *
 * Rank N writes to the file $RONDO_TEST_LOG/groups-N, or child-groups-N if it was spawned, lines of
 * the form:
 *
 *	NAME LOCAL            ranks of the world, in order: 3,0,2
 *	NAME LOCAL | REMOTE   for inter-communicators; ? is a process of another world
 *
 * t/compare-groups compares them with a trace. Operations that an MPI library does not support are
 * left out.
 */
#include <arpa/inet.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define MOST 64

static int me, procs;
static int world; /* 0; 1 for spawned processes */
static FILE *out;
static char *self;
static int only; /* sessions, no world */

static void open_log(int rank)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s/%sgroups-%d", getenv("RONDO_TEST_LOG"),
		 world ? "child-" : "", rank);
	out = fopen(path, "w");
	if (!out) {
		perror(path);
		exit(1);
	}
}

/* ---- members ---- */

struct process {
	int world, rank;
};

static void list(const struct process *p, int n)
{
	for (int i = 0; i < n; i++)
		if (p[i].world == world)
			fprintf(out, "%s%d", i ? "," : "", p[i].rank);
		else
			fprintf(out, "%s?", i ? "," : "");
}

/* Each process of the other side sends its identity, and then the members that it has received from
 * this side. */
static void ask_others(MPI_Comm inter, struct process *own, int n, struct process *other)
{
	struct process my = { world, me };
	static struct process heard[MOST * MOST];

	MPI_Allgather(&my, 2, MPI_INT, other, 2, MPI_INT, inter);
	MPI_Allgather(other, 2 * MOST, MPI_INT, heard, 2 * MOST, MPI_INT, inter);
	memcpy(own, heard, (size_t)n * sizeof(*own));
}

static void told(MPI_Comm comm, const char *name)
{
	struct process my = { world, me }, own[MOST] = { 0 }, other[MOST] = { 0 };
	int inter, n, others;

	if (comm == MPI_COMM_NULL)
		return;
	MPI_Comm_set_name(comm, name);
	MPI_Comm_size(comm, &n);
	MPI_Comm_test_inter(comm, &inter);
	if (inter)
		ask_others(comm, own, n, other);
	else
		MPI_Allgather(&my, 2, MPI_INT, own, 2, MPI_INT, comm);
	fprintf(out, "%s ", name);
	list(own, n);
	if (inter) {
		MPI_Comm_remote_size(comm, &others);
		fprintf(out, " | ");
		list(other, others);
	}
	fprintf(out, "\n");
}

static void done(MPI_Comm *comm)
{
	if (*comm != MPI_COMM_NULL)
		MPI_Comm_free(comm);
}

static MPI_Group some(int n, const int *ranks)
{
	MPI_Group all, group;

	MPI_Comm_group(MPI_COMM_WORLD, &all);
	MPI_Group_incl(all, n, ranks, &group);
	MPI_Group_free(&all);
	return group;
}

/* ---- collective ---- */

static void splits(void)
{
	MPI_Comm a, b, c;

	MPI_Comm_split(MPI_COMM_WORLD, me == 1 ? MPI_UNDEFINED : me % 2, -me, &a);
	told(a, "split");
	MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &b);
	told(b, "split_type");
	MPI_Comm_split(b, me / 2, 0, &c);
	told(c, "split-of-split_type");
	done(&b);
	done(&a);
	done(&c);
	/* Communicator names are reused by processes with the same members as before. */
	for (int i = 0; i < 6; i++) {
		char name[32];

		MPI_Comm_split(MPI_COMM_WORLD, me < 2 ? 0 : i % 2 ? 1 : me, 0, &a);
		snprintf(name, sizeof(name), "split-again-%d", i);
		told(a, name);
		MPI_Comm_dup(a, &b);
		strcat(name, "-dup");
		told(b, name);
		/* Ranks of the world differ in whether they keep the communicator and in its
		 * members. */
		if (me < 2 || i != 3)
			done(&a);
		done(&b);
	}
}

/* For large communicators the tracer assumes that ranks continue the initial sequence. */
static void bends(void)
{
	MPI_Comm straight, bent;

	MPI_Comm_split(MPI_COMM_WORLD, 0, me, &straight);
	told(straight, "split-straight");
	done(&straight);
	MPI_Comm_split(MPI_COMM_WORLD, 0, me < procs / 2 ? me : me ^ 1, &bent);
	told(bent, "split-bent");
	done(&bent);
}

static void creates(void)
{
	static const int ranks[] = { 3, 1, 0 };
	MPI_Group group = some(3, ranks);
	MPI_Comm a, b;

	MPI_Comm_create(MPI_COMM_WORLD, group, &a);
	told(a, "create");
	if (a != MPI_COMM_NULL) {
		MPI_Comm_split(a, me == 1, 0, &b);
		told(b, "split-of-create");
		done(&b);
	}
	done(&a);
	MPI_Group_free(&group);
}

static void dups(void)
{
	MPI_Comm a, b, c, d, e;
	MPI_Request r[3];
	int i;

	MPI_Comm_split(MPI_COMM_WORLD, me % 2, -me, &a);
	MPI_Comm_idup(a, &b, &r[0]);
	MPI_Comm_idup(a, &c, &r[1]);
	MPI_Comm_idup(MPI_COMM_WORLD, &d, &r[2]);
	MPI_Comm_dup_with_info(a, MPI_INFO_NULL, &e);
	MPI_Wait(&r[2], MPI_STATUS_IGNORE);
	MPI_Wait(&r[1], MPI_STATUS_IGNORE);
	MPI_Waitany(1, r, &i, MPI_STATUS_IGNORE);
	told(e, "dup_with_info");
	told(d, "idup-of-world");
	told(c, "second-idup");
	told(b, "first-idup");
	/* Communicators that ranks free in different orders, and create again. */
	done(me % 2 ? &b : &c);
	done(me % 2 ? &c : &b);
	done(&e);
	MPI_Comm_idup(a, &c, &r[0]);
	MPI_Wait(&r[0], MPI_STATUS_IGNORE);
	told(c, "idup-again");
	MPI_Comm_dup(c, &b);
	told(b, "dup-of-idup");
	done(&b);
	done(&c);
	done(&d);
	done(&a);
	MPI_Comm_dup(MPI_COMM_SELF, &a);
	told(a, "dup-of-self");
	done(&a);
}

static void topologies(void)
{
	static const int dims[] = { 2, 2 }, periods[] = { 0, 1 }, remain[] = { 0, 1 };
	static const int index[] = { 3, 4, 5, 6 }, edges[] = { 1, 2, 3, 0, 0, 0 };
	int next = (me + 1) % procs, before = (me + procs - 1) % procs, one = 1;
	MPI_Comm cart, sub = MPI_COMM_NULL, graph, ring, adjacent;

	MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 1, &cart);
	told(cart, "cart");
	if (cart != MPI_COMM_NULL)
		MPI_Cart_sub(cart, remain, &sub);
	told(sub, "sub");
	MPI_Graph_create(MPI_COMM_WORLD, 4, index, edges, 0, &graph);
	told(graph, "graph");
	MPI_Dist_graph_create(MPI_COMM_WORLD, 1, &me, &one, &next, MPI_UNWEIGHTED, MPI_INFO_NULL, 1,
			      &ring);
	told(ring, "dist_graph");
	MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &before, MPI_UNWEIGHTED, 1, &next,
				       MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &adjacent);
	told(adjacent, "dist_graph_adjacent");
	done(&sub);
	done(&cart);
	done(&graph);
	done(&ring);
	done(&adjacent);
}

/* ---- created by some of the processes, independently of the others ---- */

static MPI_Comm grouped(int n, const int *ranks, const char *name)
{
	MPI_Group group = some(n, ranks);
	MPI_Comm comm = MPI_COMM_NULL;
	int rank;

	MPI_Group_rank(group, &rank);
	if (rank != MPI_UNDEFINED)
		MPI_Comm_create_group(MPI_COMM_WORLD, group, 5, &comm);
	MPI_Group_free(&group);
	told(comm, name);
	return comm;
}

static void groups(void)
{
	static const int a[] = { 1, 2 }, b[] = { 0, 1 }, c[] = { 0, 2 }, d[] = { 4, 3, 0 };
	MPI_Comm first = grouped(2, a, "group-12"), second = grouped(2, b, "group-01");
	MPI_Comm third = grouped(2, c, "group-02"), twice = grouped(2, b, "group-01-twice");
	MPI_Comm three = grouped(3, d, "group-430"), part;

	if (three != MPI_COMM_NULL) {
		MPI_Comm_dup(three, &part);
		told(part, "dup-of-group");
		done(&part);
		MPI_Comm_split(three, me == 3, me, &part);
		told(part, "split-of-group");
		done(&part);
	}
	done(&second);
	done(&first);
	second = grouped(2, b, "group-01-again");
	first = grouped(2, b, "group-01-third");
	done(&first);
	done(&second);
	done(&third);
	done(&twice);
	done(&three);
}

/* ---- inter-communicators ---- */

static void merged(MPI_Comm inter, int high, const char *name)
{
	MPI_Comm all, part;
	char text[64];

	MPI_Intercomm_merge(inter, high, &all);
	snprintf(text, sizeof(text), "%s-merged", name);
	told(all, text);
	MPI_Comm_split(all, me % 2, 0, &part);
	strcat(text, "-split");
	told(part, text);
	done(&part);
	done(&all);
}

/* Sides that were created in one call, and sides that were created in two: their names differ. */
static void sides(void)
{
	static const int low[] = { 1, 0 }, high[] = { 3, 4, 2 };
	MPI_Group group[2] = { some(2, low), some(3, high) };
	MPI_Comm half, side[2], inter, again, part;
	int upper = me > 1;

	MPI_Comm_split(MPI_COMM_WORLD, upper, 0, &half);
	MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, upper ? 0 : 2, 3, &inter);
	told(inter, "inter");
	merged(inter, !upper, "inter");
	MPI_Comm_dup(inter, &again);
	told(again, "inter-dup");
	done(&again);
	MPI_Comm_create(MPI_COMM_WORLD, group[0], &side[0]);
	MPI_Comm_create(MPI_COMM_WORLD, group[1], &side[1]);
	MPI_Intercomm_create(side[upper], 0, MPI_COMM_WORLD, upper ? 1 : 3, 4, &again);
	told(again, "inter-apart");
	merged(again, upper, "inter-apart");
	MPI_Comm_split(again, me == 0 || me == 3, 0, &part);
	told(part, "inter-split");
	done(&part);
	done(&again);
	/* The lower side is from another communicator than before. */
	MPI_Intercomm_create(upper ? half : side[0], 0, MPI_COMM_WORLD, upper ? 1 : 2, 4, &again);
	told(again, "inter-mixed");
	done(&again);
	done(&inter);
	done(&side[upper]);
	done(&half);
	MPI_Group_free(&group[0]);
	MPI_Group_free(&group[1]);
}

/* Ranks 0 and 1, over a separate connection. */
static int connection(void)
{
	struct sockaddr_in address = { .sin_family = AF_INET };
	socklen_t len = sizeof(address);
	int s = socket(AF_INET, SOCK_STREAM, 0), fd = s;

	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (me == 0) {
		bind(s, (struct sockaddr *)&address, len);
		listen(s, 1);
		getsockname(s, (struct sockaddr *)&address, &len);
		MPI_Send(&address, (int)len, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
		fd = accept(s, NULL, NULL);
		close(s);
	} else {
		MPI_Recv(&address, (int)len, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		if (connect(s, (struct sockaddr *)&address, len) < 0)
			perror("connect");
	}
	return fd;
}

static void joins(void)
{
	MPI_Comm inter;
	int fd;

	if (me > 1)
		return;
	fd = connection();
	if (MPI_Comm_join(fd, &inter) == MPI_SUCCESS && inter != MPI_COMM_NULL) {
		told(inter, "join");
		merged(inter, me, "join");
		MPI_Comm_disconnect(&inter);
	}
	close(fd);
}

/* The two sides of a split, twice. */
static void ports(void)
{
	char port[MPI_MAX_PORT_NAME] = "";
	MPI_Comm half, inter;

	if (me == 0 && MPI_Open_port(MPI_INFO_NULL, port) != MPI_SUCCESS)
		port[0] = 0;
	MPI_Bcast(port, MPI_MAX_PORT_NAME, MPI_CHAR, 0, MPI_COMM_WORLD);
	if (!port[0])
		return;
	MPI_Comm_split(MPI_COMM_WORLD, me % 2, -me, &half);
	for (int i = 0; i < 2; i++) {
		if (me % 2)
			MPI_Comm_connect(port, MPI_INFO_NULL, 0, half, &inter);
		else
			MPI_Comm_accept(port, MPI_INFO_NULL, 2, half, &inter);
		told(inter, i ? "port-again" : "port");
		merged(inter, me % 2, i ? "port-again" : "port");
		MPI_Comm_disconnect(&inter);
	}
	done(&half);
	if (me == 0)
		MPI_Close_port(port);
}

static void spawns(void)
{
	char *arguments[] = { "spawn", NULL };
	MPI_Comm inter, all;

	if (world)
		MPI_Comm_get_parent(&inter);
	else if (MPI_Comm_spawn(self, arguments, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter,
				MPI_ERRCODES_IGNORE) != MPI_SUCCESS)
		return;
	told(inter, "spawn");
	merged(inter, world, "spawn");
	MPI_Intercomm_merge(inter, !world, &all);
	told(all, "spawn-merged-again");
	done(&all);
	MPI_Comm_disconnect(&inter);
}

/* ---- sessions ---- */

#if MPI_VERSION >= 4
static void from_group(MPI_Group world_group, int n, const int *ranks, const char *name)
{
	MPI_Group group;
	MPI_Comm comm = MPI_COMM_NULL, copy;
	int rank;

	MPI_Group_incl(world_group, n, ranks, &group);
	MPI_Group_rank(group, &rank);
	if (rank != MPI_UNDEFINED) {
		MPI_Comm_create_from_group(group, name, MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm);
		told(comm, name);
		MPI_Comm_dup(comm, &copy);
		told(copy, n == procs ? "dup-of-session" : "dup-of-from_group");
		done(&copy);
		done(&comm);
	}
	MPI_Group_free(&group);
}

static void between(MPI_Group world_group)
{
	static const int low[] = { 1, 0 }, high[] = { 4, 2, 3 };
	MPI_Group group[2];
	MPI_Comm inter;

	MPI_Group_incl(world_group, 2, low, &group[0]);
	MPI_Group_incl(world_group, 3, high, &group[1]);
	MPI_Intercomm_create_from_groups(group[me > 1], 0, group[me < 2], 0, "inter-of-groups",
					 MPI_INFO_NULL, MPI_ERRORS_RETURN, &inter);
	told(inter, "inter-of-groups");
	done(&inter);
	MPI_Group_free(&group[0]);
	MPI_Group_free(&group[1]);
}

static void sessions(void)
{
	static const int all[] = { 0, 1, 2, 3, 4 }, few[] = { 4, 0, 2 }, pair[] = { 2, 1 };
	MPI_Session session;
	MPI_Group group;

	MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
	MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
	MPI_Group_rank(group, &me);
	MPI_Group_size(group, &procs);
	if (!out)
		open_log(me);
	from_group(group, procs, all, "session");
	from_group(group, 2, pair, "from_group-21");
	from_group(group, 3, few, "from_group-402");
	from_group(group, 2, pair, "from_group-21-again");
	if (!only)
		between(group);
	MPI_Group_free(&group);
	MPI_Session_finalize(&session);
}
#else
static void sessions(void)
{
}
#endif

static const struct {
	const char *name;
	void (*run)(void);
} table[] = {
	{ "split", splits }, { "create", creates },   { "dup", dups },   { "topo", topologies },
	{ "group", groups }, { "inter", sides },      { "join", joins }, { "port", ports },
	{ "spawn", spawns }, { "session", sessions }, { "bent", bends },
};

static void begin(int *argc, char ***argv)
{
	MPI_Comm parent;

	MPI_Init(argc, argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &me);
	MPI_Comm_size(MPI_COMM_WORLD, &procs);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
	MPI_Comm_get_parent(&parent);
	world = parent != MPI_COMM_NULL;
	open_log(me);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	self = argv[0];
	only = !strcmp(what, "only");
	if (only)
		sessions();
	else
		begin(&argc, &argv);
	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++)
		if (!*what || !strcmp(what, table[i].name))
			table[i].run();
	fclose(out);
	if (!only)
		MPI_Finalize();
	return 0;
}
