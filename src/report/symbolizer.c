/* symbolizer.c - see symbolizer.h. */
#include "report/symbolizer.h"

#include <elfutils/libdwfl.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/mpi_detect.h"
#include "base/notes.h"
#include "model/metadata.h"
#include "read/output_form.h"
#include "read/trace.h"
#include "report/demangle.h"

struct module {
	bool tried;
	bool told;     /* missing symbols were noted */
	Dwfl *session; /* NULL: no file with its build id was found */
	Dwfl_Module *file;
	GElf_Addr bias; /* added to an address in the file to get one in the session */
};

struct symbols {
	const struct rn_trace *t;
	const char *file;
	struct rn_buf *notes;
	struct rn_arena mem;
	struct module *module; /* by module number */
	char **name;           /* by node; NULL: not yet looked up; "": no name */
};

struct symbols *symbols_new(const struct rn_trace *t, const char *file, struct rn_buf *notes)
{
	struct symbols *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->t = t;
	s->file = file;
	s->notes = notes;
	rn_arena_init(&s->mem, SIZE_MAX);
	s->module = rn_new(&s->mem, struct module, (size_t)t->sites.modules + 1);
	s->name = rn_new(&s->mem, char *, (size_t)t->sites.nodes + 1);
	if (s->module && s->name)
		return s;
	symbols_free(s);
	return NULL;
}

void symbols_free(struct symbols *s)
{
	if (!s)
		return;
	demangle_end();
	for (uint32_t i = 0; s->module && i < s->t->sites.modules; i++)
		if (s->module[i].session)
			dwfl_end(s->module[i].session);
	for (uint32_t i = 0; s->name && i < s->t->sites.nodes; i++)
		free(s->name[i]);
	rn_arena_free(&s->mem);
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

/* Appends the path of a file of the module, and the reason why the file was not used. */
static void explain(struct rn_buf *why, const char *path, const char *reason)
{
	rn_put(why, why->len ? "; " : "");
	rn_put_safe(why, path);
	rn_put(why, reason);
}

/* The path is from the trace and untrusted. It may be a pipe without a writer, where open would
 * block. */
static int open_regular(const char *path, struct rn_buf *why)
{
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	struct stat st;

	if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
		return fd;
	if (fd >= 0) {
		explain(why, path, " is not a regular file");
		close(fd);
	} else {
		const char *error = strerror(errno);

		explain(why, path, ": ");
		rn_put(why, error);
	}
	return -1;
}

static bool open_file(struct module *to, const char *path, const struct rn_code_module *m,
		      struct rn_buf *why)
{
	static char *folders; /* NULL: the default directories of elfutils */
	static const Dwfl_Callbacks callbacks = {
		.find_elf = dwfl_build_id_find_elf,
		.find_debuginfo = dwfl_standard_find_debuginfo,
		.debuginfo_path = &folders,
		.section_address = dwfl_offline_section_address,
	};
	int fd = open_regular(path, why);
	Dwfl *session = fd >= 0 ? dwfl_begin(&callbacks) : NULL;

	to->file = NULL;
	if (session) {
		dwfl_report_begin(session);
		to->file = dwfl_report_offline(session, path, path, fd);
	}
	if (fd >= 0 && !to->file) /* the session owns fd unless dwfl_report_offline failed */
		close(fd);
	if (!session)
		return false;
	if (dwfl_report_end(session, NULL, NULL) == 0 && to->file && is_it(to->file, m) &&
	    dwfl_module_getelf(to->file, &to->bias)) {
		to->session = session;
		return true;
	}
	explain(why, path, to->file ? " has another build id" : " is not an ELF file");
	dwfl_end(session);
	return false;
}

static bool from_meta(const struct symbols *s, struct module *to, const struct rn_code_module *m,
		      struct rn_buf *why)
{
	char key[RN_CALLSITE_NAME + 8];
	const char *path;

	snprintf(key, sizeof(key), "%s%.*s", rn_meta_rows[RN_META_MODULE].key, (int)m->name_len,
		 m->name);
	path = rn_meta_get(&s->t->meta, key);
	return path && open_file(to, path, m, why);
}

/* Opens the file next to the trace. A module name with a slash is rejected, because it leads to
 * another directory. */
static bool beside(const struct symbols *s, struct module *to, const struct rn_code_module *m,
		   struct rn_buf *why)
{
	char path[PATH_MAX];
	int folder = (int)(rn_base_name(s->file) - s->file);
	int n = snprintf(path, sizeof(path), "%.*s%.*s", folder, s->file, (int)m->name_len,
			 m->name);

	return n < PATH_MAX && !memchr(m->name, '/', m->name_len) && open_file(to, path, m, why);
}

static bool from_system(struct module *to, const struct rn_code_module *m)
{
	char path[sizeof("/usr/lib/debug/.build-id//.debug") + 2 * RN_CALLSITE_ID];
	int n = snprintf(path, sizeof(path), "/usr/lib/debug/.build-id/%02x/", m->id[0]);
	struct rn_buf why = { 0 };
	bool found;

	for (size_t i = 1; i < m->id_len; i++)
		n += snprintf(path + n, sizeof(path) - (size_t)n, "%02x", m->id[i]);
	snprintf(path + n, sizeof(path) - (size_t)n, ".debug");
	found = open_file(to, path, m, &why);
	rn_buf_free(&why);
	return found;
}

/* Notes a module whose call sites are shown without names. */
static void note_nameless(const struct symbols *s, const struct rn_code_module *m, const char *what,
			  const char *why)
{
	struct rn_buf name = { 0 };

	rn_form_text.label(&name, m->name, m->name_len);
	rn_buf_byte(&name, 0);
	if (rn_buf_status(&name) == RN_OK)
		rn_note(s->notes, "%s: %s in %s have no names: %s", s->file, what,
			(char *)name.data, why);
	rn_buf_free(&name);
}

static void open_module(const struct symbols *s, struct module *to, const struct rn_code_module *m)
{
	struct rn_buf why = { 0 };

	if (m->name_len == 0)
		return;
	if (m->id_len == 0)
		rn_put(&why, "the file has no build id to identify it");
	else if (from_meta(s, to, m, &why) || beside(s, to, m, &why) || from_system(to, m))
		rn_buf_clear(&why);
	else
		rn_put(&why,
		       " (names are read from the traced file at its path or next to the trace)");
	rn_buf_byte(&why, 0);
	if (rn_buf_status(&why) == RN_OK && why.len > 1)
		note_nameless(s, m, "call sites", (char *)why.data);
	rn_buf_free(&why);
}

static struct module *module_of(struct symbols *s, uint32_t i)
{
	const struct rn_code_module *m = &s->t->sites.module[i];
	struct module *to = &s->module[i];

	if (!to->tried)
		open_module(s, to, m);
	to->tried = true;
	return to->session ? to : NULL;
}

/* ---- names ---- */

/* Looks up the byte before the return address, because the call may be the last instruction of its
 * line or function. */
static char *name_of(const struct symbols *s, const struct module *m, uint64_t offset)
{
	GElf_Addr at = m->bias + offset - 1;
	GElf_Off within;
	GElf_Sym symbol;
	const char *function =
		dwfl_module_addrinfo(m->file, at, &within, &symbol, NULL, NULL, NULL);
	char *demangled = function ? demangle(function, s->notes) : NULL, *text = NULL;
	Dwfl_Line *line = dwfl_module_getsrc(m->file, at);
	int number = 0, n;
	const char *source = line ? dwfl_lineinfo(line, NULL, &number, NULL, NULL, NULL) : NULL;

	if (!function)
		return NULL;
	function = demangled ? demangled : function;
	if (source)
		n = asprintf(&text, "%s+0x%llx (%s:%d)", function, (unsigned long long)within + 1,
			     rn_base_name(source), number);
	else
		n = asprintf(&text, "%s+0x%llx", function, (unsigned long long)within + 1);
	free(demangled);
	return n < 0 ? NULL : text;
}

static void find_name(struct symbols *s, uint32_t node)
{
	const struct rn_site_node *n = &s->t->sites.node[node];
	struct module *m = module_of(s, n->module);

	s->name[node] = m ? name_of(s, m, n->offset) : NULL;
	if (s->name[node])
		return;
	if (m && !m->told)
		note_nameless(s, &s->t->sites.module[n->module], "some call sites",
			      "the file has no symbols for them (is it stripped?)");
	if (m)
		m->told = true;
	s->name[node] = calloc(1, 1); /* no name was found */
}

const char *symbols_name(void *symbols, uint32_t node)
{
	struct symbols *s = symbols;

	if (!s->name[node])
		find_name(s, node);
	return s->name[node] && *s->name[node] ? s->name[node] : NULL;
}
