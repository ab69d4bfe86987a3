/* symbols.c - see symbols.h. */
#include "cmd/symbols.h"

#include <elfutils/libdwfl.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/which_mpi.h"
#include "read/trace.h"

struct module {
	bool tried;
	Dwfl *session; /* NULL: no file */
	Dwfl_Module *file;
	GElf_Addr bias; /* of addresses in the session, to those in the file */
};

struct symbols {
	const struct rn_trace *t;
	const char *file;
	struct module *module; /* by number */
	char **name;           /* by node; NULL: not asked for yet */
};

struct symbols *symbols_new(const struct rn_trace *t, const char *file)
{
	struct symbols *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->t = t;
	s->file = file;
	s->module = calloc(t->sites.modules + 1, sizeof(*s->module));
	s->name = calloc(t->sites.nodes + 1, sizeof(*s->name));
	if (s->module && s->name)
		return s;
	symbols_free(s);
	return NULL;
}

void symbols_free(struct symbols *s)
{
	if (!s)
		return;
	for (uint32_t i = 0; s->module && i < s->t->sites.modules; i++)
		if (s->module[i].session)
			dwfl_end(s->module[i].session);
	for (uint32_t i = 0; s->name && i < s->t->sites.nodes; i++)
		free(s->name[i]);
	free(s->module);
	free(s->name);
	free(s);
}

/* ---- files ---- */

static bool is_it(Dwfl_Module *file, const struct rn_code_module *m)
{
	const unsigned char *id;
	GElf_Addr where;
	int n = dwfl_module_build_id(file, &id, &where);

	return n > 0 && (size_t)n == m->id_len && memcmp(id, m->id, m->id_len) == 0;
}

/* The path is what the trace says: it may be anything, a pipe that nobody writes to. */
static int open_regular(const char *path)
{
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	struct stat st;

	if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

static bool open_file(struct module *to, const char *path, const struct rn_code_module *m)
{
	static char *folders; /* those that elfutils looks in by itself */
	static const Dwfl_Callbacks callbacks = {
		.find_elf = dwfl_build_id_find_elf,
		.find_debuginfo = dwfl_standard_find_debuginfo,
		.debuginfo_path = &folders,
		.section_address = dwfl_offline_section_address,
	};
	int fd = open_regular(path);
	Dwfl *session = fd >= 0 ? dwfl_begin(&callbacks) : NULL;

	to->file = NULL;
	if (session) {
		dwfl_report_begin(session);
		to->file = dwfl_report_offline(session, path, path, fd);
	}
	if (fd >= 0 && !to->file) /* otherwise it is the session's */
		close(fd);
	if (!session)
		return false;
	if (dwfl_report_end(session, NULL, NULL) == 0 && to->file && is_it(to->file, m) &&
	    dwfl_module_getelf(to->file, &to->bias)) {
		to->session = session;
		return true;
	}
	dwfl_end(session);
	return false;
}

static bool from_meta(const struct symbols *s, struct module *to, const struct rn_code_module *m)
{
	char key[RN_CALLSITE_NAME + 8];
	const char *path;

	snprintf(key, sizeof(key), "module.%.*s", (int)m->name_len, m->name);
	path = rn_meta_get(&s->t->meta, key);
	return path && open_file(to, path, m);
}

/* A name that leads elsewhere is none of a module's. */
static bool beside(const struct symbols *s, struct module *to, const struct rn_code_module *m)
{
	char path[PATH_MAX];
	int folder = (int)(rn_base_name(s->file) - s->file);
	int n = snprintf(path, sizeof(path), "%.*s%.*s", folder, s->file, (int)m->name_len,
			 m->name);

	return n < PATH_MAX && !memchr(m->name, '/', m->name_len) && open_file(to, path, m);
}

static bool from_system(struct module *to, const struct rn_code_module *m)
{
	char path[sizeof("/usr/lib/debug/.build-id//.debug") + 2 * RN_CALLSITE_ID];
	int n = snprintf(path, sizeof(path), "/usr/lib/debug/.build-id/%02x/", m->id[0]);

	for (size_t i = 1; i < m->id_len; i++)
		n += snprintf(path + n, sizeof(path) - (size_t)n, "%02x", m->id[i]);
	snprintf(path + n, sizeof(path) - (size_t)n, ".debug");
	return open_file(to, path, m);
}

static const struct module *module_of(struct symbols *s, uint32_t i)
{
	const struct rn_code_module *m = &s->t->sites.module[i];
	struct module *to = &s->module[i];

	if (!to->tried && m->id_len && m->name_len)
		(void)(from_meta(s, to, m) || beside(s, to, m) || from_system(to, m));
	to->tried = true;
	return to->session ? to : NULL;
}

/* ---- names ---- */

/* The return address is behind the call, which may be the last of its line or of its function. */
static char *name_of(const struct module *m, uint64_t offset)
{
	GElf_Addr at = m->bias + offset - 1;
	GElf_Off within;
	GElf_Sym symbol;
	const char *function =
		dwfl_module_addrinfo(m->file, at, &within, &symbol, NULL, NULL, NULL);
	Dwfl_Line *line = dwfl_module_getsrc(m->file, at);
	int number = 0, n;
	const char *source = line ? dwfl_lineinfo(line, NULL, &number, NULL, NULL, NULL) : NULL;
	char *text = NULL;

	if (!function)
		return NULL;
	if (source)
		n = asprintf(&text, "%s+0x%llx (%s:%d)", function, (unsigned long long)within + 1,
			     rn_base_name(source), number);
	else
		n = asprintf(&text, "%s+0x%llx", function, (unsigned long long)within + 1);
	return n < 0 ? NULL : text;
}

const char *symbols_name(void *symbols, uint32_t node)
{
	struct symbols *s = symbols;
	const struct rn_site_node *n = &s->t->sites.node[node];
	const struct module *m;

	if (!s->name[node]) {
		m = module_of(s, n->module);
		s->name[node] = m ? name_of(m, n->offset) : NULL;
		if (!s->name[node])
			s->name[node] = calloc(1, 1); /* asked for in vain */
	}
	return s->name[node] && *s->name[node] ? s->name[node] : NULL;
}
