/* prog_tool.c - The tools interface: control and performance variables, categories. The
 * implementation determines which exist; the first suitable ones are used. */
#include "log.h"

#include <string.h>

#define ROOM 512 /* for names and descriptions */

static char name[ROOM], desc[4 * ROOM];
static int name_len, desc_len, verbosity, bind, scope, class, found, count;
static MPI_Datatype type;
static MPI_T_enum values;

/* The names of types that variables have. */
static const char *type_name(void)
{
	static const struct {
		MPI_Datatype type;
		const char *name;
	} known[] = {
		{ MPI_INT, "MPI_INT" },
		{ MPI_CHAR, "MPI_CHAR" },
		{ MPI_UNSIGNED, "MPI_UNSIGNED" },
		{ MPI_UNSIGNED_LONG, "MPI_UNSIGNED_LONG" },
		{ MPI_UNSIGNED_LONG_LONG, "MPI_UNSIGNED_LONG_LONG" },
		{ MPI_DOUBLE, "MPI_DOUBLE" },
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		if (known[i].type == type)
			return known[i].name;
	return "?";
}

static void room(void)
{
	name_len = ROOM;
	desc_len = 4 * ROOM;
}

static void describe_cvar(int i)
{
	room();
	DO(MPI_T_cvar_get_info(i, name, &name_len, &verbosity, &type, &values, desc, &desc_len,
			       &bind, &scope),
	   "cvar_index=%d, name=%s, name_len=%d, verbosity=%d, datatype=%n, enumtype=?, desc=%s, "
	   "desc_len=%d, bind=%d, scope=%d",
	   i, name, name_len, verbosity, type_name(), desc, desc_len, bind, scope);
}

static int find_cvar(int n)
{
	for (int i = 0; i < n; i++) {
		describe_cvar(i);
		if (type == MPI_INT && bind == MPI_T_BIND_NO_OBJECT && values == MPI_T_ENUM_NULL)
			return i;
	}
	return -1;
}

static void control(void)
{
	static int value;
	int n, i;
	MPI_T_cvar_handle handle;

	DO(MPI_T_cvar_get_num(&n), "num_cvar=%d", n);
	i = find_cvar(n);
	if (i < 0)
		return;
	DO(MPI_T_cvar_get_index(name, &found), "name=%s, cvar_index=%d", name, i);
	EXPECT(found == i);
	DO(MPI_T_cvar_handle_alloc(i, NULL, &handle, &count),
	   "cvar_index=%d, obj_handle=NULL, handle=cvar:0, count=1", i);
	DO(MPI_T_cvar_read(handle, &value), "handle=cvar:0, buf=static:*");
	if (scope == MPI_T_SCOPE_LOCAL || scope == MPI_T_SCOPE_ALL)
		DO(MPI_T_cvar_write(handle, &value), "handle=cvar:0, buf=static:*");
	DO(MPI_T_cvar_handle_free(&handle), "handle=cvar:0");
}

/* Open MPI counts variables for which it returns no description. */
static int describe_pvar(int i, int *continuous)
{
	int readonly, atomic, done;

	room();
	TRY(done,
	    MPI_T_pvar_get_info(i, name, &name_len, &verbosity, &class, &type, &values, desc,
				&desc_len, &bind, &readonly, continuous, &atomic),
	    done ? "pvar_index=%d, name=%s, name_len=%d, verbosity=%d, var_class=%d, "
		   "datatype=%n, enumtype=?, desc=%s, desc_len=%d, bind=%d, readonly=%d, "
		   "continuous=%d, atomic=%d"
		 : "pvar_index=%d, name=?, name_len=?, verbosity=?, var_class=?, datatype=?, "
		   "enumtype=?, desc=?, desc_len=?, bind=?, readonly=?, continuous=?, atomic=?",
	    i, name, name_len, verbosity, class, type_name(), desc, desc_len, bind, readonly,
	    *continuous, atomic);
	return done && bind == MPI_T_BIND_NO_OBJECT;
}

static void use_pvar(MPI_T_pvar_session session, int i, int continuous)
{
	static char value[ROOM];
	MPI_T_pvar_handle handle;

	DO(MPI_T_pvar_get_index(name, class, &found), "name=%s, var_class=%d, pvar_index=%d", name,
	   class, i);
	DO(MPI_T_pvar_handle_alloc(session, i, NULL, &handle, &count),
	   "pe_session=pvarsession:0, pvar_index=%d, obj_handle=NULL, handle=pvar:0, count=%d", i,
	   count);
	if (!continuous)
		DO(MPI_T_pvar_start(session, handle), "pe_session=pvarsession:0, handle=pvar:0");
	DO(MPI_T_pvar_read(session, handle, value),
	   "pe_session=pvarsession:0, handle=pvar:0, buf=static:*");
	if (!continuous)
		DO(MPI_T_pvar_stop(session, handle), "pe_session=pvarsession:0, handle=pvar:0");
	DO(MPI_T_pvar_handle_free(session, &handle), "pe_session=pvarsession:0, handle=pvar:0");
}

static void performance(void)
{
	int n, continuous, used = 0;
	MPI_T_pvar_session session;

	DO(MPI_T_pvar_get_num(&n), "num_pvar=%d", n);
	DO(MPI_T_pvar_session_create(&session), "pe_session=pvarsession:0");
	for (int i = 0; i < n && !used; i++) {
		used = describe_pvar(i, &continuous);
		if (used)
			use_pvar(session, i, continuous);
	}
	DO(MPI_T_pvar_session_free(&session), "pe_session=pvarsession:0");
}

#if MPI_VERSION >= 4
/* MPICH has none; the query functions still work. */
static void events(void)
{
	int n;

	DO(MPI_T_event_get_num(&n), "num_events=%d", n);
	DO(MPI_T_source_get_num(&n), "num_sources=%d", n);
	DO(MPI_T_category_get_num_events(0, &n), "cat_index=0, num_events=%d", n);
	DO(MPI_T_category_get_events(0, 0, &n), "cat_index=0, len=0, indices=[]");
}
#else
static void events(void)
{
}
#endif

static void categories(void)
{
	int n, cvars, pvars, inside, indices[4], stamp;

	DO(MPI_T_category_get_num(&n), "num_cat=%d", n);
	DO(MPI_T_category_changed(&stamp), "update_number=%d", stamp);
	for (int i = 0; i < n && i < 3; i++) {
		room();
		DO(MPI_T_category_get_info(i, name, &name_len, desc, &desc_len, &cvars, &pvars,
					   &inside),
		   "cat_index=%d, name=%s, name_len=%d, desc=%s, desc_len=%d, num_cvars=%d, "
		   "num_pvars=%d, num_categories=%d",
		   i, name, name_len, desc, desc_len, cvars, pvars, inside);
		DO(MPI_T_category_get_index(name, &found), "name=%s, cat_index=%d", name, found);
		cvars = cvars < 4 ? cvars : 4;
		DO(MPI_T_category_get_cvars(i, 4, indices), "cat_index=%d, len=4, indices=%*d", i,
		   cvars, indices);
		DO(MPI_T_category_get_categories(i, 0, indices), "cat_index=%d, len=0, indices=[]",
		   i);
		pvars = pvars < 4 ? pvars : 4;
		DO(MPI_T_category_get_pvars(i, 4, indices), "cat_index=%d, len=4, indices=%*d", i,
		   pvars, indices);
	}
}

int main(void)
{
	int provided;

	begin();
	DO(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided),
	   "required=MPI_THREAD_SINGLE, provided=MPI_THREAD_SINGLE");
	EXPECT(provided == MPI_THREAD_SINGLE);
	control();
	performance();
	categories();
	events();
	DO(MPI_T_finalize(), "");
	end();
	return 0;
}
