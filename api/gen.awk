# gen.awk - mpi.api and mpi.words to lines of macros, which C gives a meaning.
#
#	awk -v part=calls -v have=FILE -f gen.awk mpi.api     wrappers of the functions that FILE lists
#	awk -v part=table -f gen.awk mpi.api                  all functions: traits, parameters, kinds, directions
#	awk -v part=hand -v have=FILE -f gen.awk mpi.api      numbers of those written by hand, and a few more
#	awk -v part=next -v have=FILE -f gen.awk mpi.api      next functions of MPI (src/preload/chain.h)
#	awk -v part=next -f gen.awk posix.api                 next functions of the C library
#	awk -v part=compare -v have=FILE -f gen.awk mpi.api   what a replay compares of a call
#	awk -v part=words -f gen.awk mpi.words                all words
#	awk -v part=consts -v have=FILE -f gen.awk mpi.words  the constants that FILE lists
#
# A wrapper is: WRAP_BEGIN, what is recorded before the call, WRAP_CALL, what is recorded after it,
# WRAP_END. The macros' names are HOW_KIND for one value and HOWV_KIND for an array; kinds that are
# plain numbers to the tracer (they differ when they are written) share HOW_int, and most kinds of
# handles share HOW_handle, which has the kind as its first argument.

BEGIN {
	FS = "\t"
	if (have != "")
		while ((getline line < have) > 0)
			known[line] = 1
	n = split("int color index thread amode assert lock order split combiner compare topology " \
		"whence distrib darg fileoff typeclass errcode fint vary", plain, " ")
	for (i = 1; i <= n; i++)
		number[plain[i]] = 1
	# Functions whose numbers the hooks need: src/record/post_order.c, tracked_request.c.
	numbered["MPI_Irecv"] = numbered["MPI_Isend"] = numbered["MPI_Cancel"] = 1
	n = split("type group op info file win keyval errhandler message session cvar pvar " \
		"pvarsession enum event eventreg greqclass", handles, " ")
	for (i = 1; i <= n; i++)
		handle[handles[i]] = 1
	count = 0
	if (part != "words" && part != "consts")
		read_heads(ARGV[1])
}

/^#/ || /^$/ { next }

part == "words" || part == "consts" {
	fresh = !($2 in number_of)
	if (fresh)
		number_of[$2] = words++
	if (part == "words" && fresh)
		printf "WORD(%d, %s, \"%s\")\n", number_of[$2], $1, $2
	if (part == "consts" && $1 != "class" && ($2 in known))
		printf "CONST(%d, %s, %s)\n", number_of[$2], $1, $2
	next
}

/^[A-Za-z]/ {
	finish()
	name = $1
	ret = $2
	params = 0
	next
}

{
	params++
	how[params] = $2
	kind[params] = $3
	arg[params] = $4
	type[params] = $5
	len[params] = cond[params] = from[params] = by[params] = ""
	field[params] = "count"
	for (i = 6; i <= NF; i++) {
		if ($i ~ /^\[/)
			len[params] = substr($i, 2, length($i) - 2)
		else if ($i ~ /^if /)
			cond[params] = substr($i, 4)
		else if ($i ~ /^from /)
			from[params] = substr($i, 6)
		else if ($i ~ /^by /)
			by[params] = substr($i, 4)
		else if ($i ~ /^has /)
			field[params] = substr($i, 5)
	}
}

END {
	if (failed)
		exit 1
	finish()
	if (part == "table")
		sort_names()
}

# Prints the function numbers in the order of names. Most rows are already in this order.
function sort_names(    n, i, k, f, sorted) {
	for (f in number_of)
		name_at[number_of[f]] = f
	for (n = 0; n < count; n++) {
		for (i = n; i > 0 && sorted[i - 1] > name_at[n]; i--)
			sorted[i] = sorted[i - 1]
		sorted[i] = name_at[n]
	}
	for (i = 0; i < count; i++)
		printf "SORTED(%d)\n", number_of[sorted[i]]
}

function before(h) { return h == "in" || h == "inout" || h == "ref" || h == "free" || h == "done" }
function after(h) { return h == "out" || h == "inout" || h == "new" }

# "T name" is a declaration but for pointers to arrays.
function declaration(i) {
	if (arg[i] == "...")
		return "..."
	if (type[i] ~ /\(\*\)/)
		return "__typeof__(" type[i] ") " arg[i]
	return type[i] (type[i] ~ /\*$/ ? "" : " ") arg[i]
}

# Whether nothing about a parameter depends on which kind of handle it is.
function is_any_handle(h, k) {
	return (k in handle) && (h == "in" || h == "new" || (h == "free" && k !~ /^(win|message|eventreg)$/))
}

function macro(h, i,    k, m) {
	k = kind[i]
	if (k ~ /(copy|delete|convfn)$/)
		return "IN_function(" k ", " arg[i] ")"
	if (k in number && !(k == "errcode" && len[i] != ""))
		k = "int"
	if (len[i] != "" && (k == "rank" || k == "tag"))
		k = "int"
	if (h != "in" && (k == "rank" || k == "tag"))
		k = "int"
	m = k "("
	if (h == "in" && (k == "comm" || (k in handle)) && cond[i] != "" && len[i] == "")
		m = "handle_if(" k ", "
	else if (is_any_handle(h, k))
		m = "handle(" k ", "
	m = toupper(h) (len[i] != "" ? "V" : "") "_" m arg[i]
	if (len[i] != "")
		m = m ", " len[i]
	if (cond[i] != "" || len[i] != "" || after(h) || k == "string" || k == "strings" || k == "argvs")
		m = m ", " (cond[i] != "" ? cond[i] : "1")
	if (h == "new" && k == "comm")
		m = m ", " from[i]
	if (k == "status")
		m = m ", " field[i]
	return m ")"
}

# Whether a replay does not compare calls of the function (src/replay/replay_call_check.c). Extensions
# have no hooks.
function unlike(name,    t) {
	t = resolve(name)
	return name !~ /^MPI_/ || has(t, "uncompared") || has(t, "control") || has(t, "tests")
}

# Whether the function has a hand-written wrapper (src/tracer/wrap_init*.c): it has the trait
# "control", or it takes requests and returns statuses.
function by_hand(name) {
	return has(resolve(name), "control") || (place_of_kind("status", "out") < 255 &&
		place_of_kind("request", "in done") < 255)
}

# Whether the function tests. In a replay it waits if the recorded test succeeded.
function polls(name) { return has(resolve(name), "tests") }

# The kind of a return value: an error code; the resolution of the clock, which does not change; or
# a time, an address or a handle, which is not recorded.
function ret_kind(    t) {
	t = resolve(name)
	return ret == "int" ? "errcode" : has(t, "seconds") && !has(t, "value") ? "seconds" : "hidden"
}

# ---- traits ----

function fail(text) {
	print ARGV[1] ": " text >"/dev/stderr"
	failed = 1
	exit 1
}

# Reads the number and the declared traits of every function before the first row is processed,
# because a function may refer to a later one.
function read_heads(file,    line, w, n) {
	while ((getline line < file) > 0)
		if (line ~ /^[A-Za-z]/) {
			split(line, w, "\t")
			number_of[w[1]] = n++
			declared[w[1]] = w[3]
		}
	close(file)
}

# Returns all traits of a function. If it is a variant, they include the traits of the original
# function. Stores the name of the original function, or its own name, in `base`.
function resolve(f,    w, own) {
	base = f
	if (!(f in number_of))
		fail("no function " f)
	if (f ~ /_c$/)
		return resolve(substr(f, 1, length(f) - 2))
	own = declared[f]
	if (own !~ /^as=/)
		return own
	split(own, w, " ")
	return resolve(substr(w[1], 4)) substr(own, length(w[1]) + 1)
}

function has(traits, word) { return index(" " traits " ", " " word " ") > 0 }

# Returns the value of the trait KEY=VALUE, or "".
function value_of(traits, key,    n, w, i, value) {
	n = split(traits, w, " ")
	for (i = 1; i <= n; i++)
		if (index(w[i], key "=") == 1)
			value = substr(w[i], length(key) + 2)
	return value
}

# Returns the index, from 0, of the first parameter found by these names, in this order; 255: none.
# `outputs`: 1 for parameters with a value after the call, 0 for all others.
function place_of(names, outputs,    n, w, i, k) {
	n = split(names, w, " ")
	for (k = 1; k <= n; k++)
		for (i = 1; i <= params; i++)
			if (arg[i] == w[k] && after(how[i]) == outputs)
				return i - 1
	return 255
}

# Returns the index of the first parameter of the kind k whose HOW is in `ways`; 255: none.
function place_of_kind(k, ways,    i) {
	for (i = 1; i <= params; i++)
		if (kind[i] == k && has(ways, how[i]))
			return i - 1
	return 255
}

# Returns the lower index. If one parameter does not exist (255), this is the other one.
function either(a, b) { return a < b ? a : b }

# Adds the traits that follow from the parameters.
function derived(traits,    t) {
	t = traits
	if (place_of_kind("request", "new") < 255 && !has(t, "prepares"))
		t = t " starts"
	if (place_of_kind("file", "in new free") < 255)
		t = t " file"
	if (value_of(t, "bytes") != "" && place_of_kind("type", "new") == 255)
		t = t " moves"
	return t
}

# Returns the traits without a value as a C expression.
function flags(traits,    n, w, i, c) {
	n = split(traits, w, " ")
	for (i = 1; i <= n; i++)
		if (w[i] !~ /=/)
			c = c (c == "" ? "" : " | ") "RN_IS_" w[i]
	return c == "" ? "0" : c
}

# Returns the indexes of the parameters whose product is the number of bytes.
function factors(product,    n, w, i, c, at) {
	n = product == "?" ? 0 : split(product, w, "*")
	for (i = 1; i <= 3; i++) {
		at = i <= n ? either(place_of(w[i], 0), place_of(w[i], 1)) : 255
		if (i <= n && at == 255)
			fail(name ": no parameter " w[i])
		c = c (i > 1 ? ", " : "") at
	}
	return c
}

function trait_row(    t, whom, request) {
	t = derived(resolve(name))
	whom = value_of(t, "collective")
	request = place_of_kind("request", "new")
	if (request == 255)
		request = place_of_kind("request", "in ref free done inout")
	return sprintf("%s, %d, RN_WHOM_%s, { %s }, %d, %d, %d, %d, %d, %d, %d, %d, %d, %d, %d, %d",
		flags(t), number_of[base], whom == "" ? "nobody" : whom,
		factors(value_of(t, "bytes")), place_of_kind("comm", "in"),
		place_of("dest", 0), place_of("source", 0), place_of("root", 0),
		place_of("tag sendtag", 0), place_of("recvtag tag", 0),
		place_of("count sendcount incount", 0), request, place_of("flag", 1),
		place_of("index outcount", 1), place_of("array_of_indices", 1),
		either(place_of_kind("status", "out"), place_of_kind("matched", "out")))
}

# Returns the index of a parameter's value in a signature. Values before the call come first.
function value_place(i,    k, n) {
	for (k = 1; k <= params; k++)
		if (before(how[i]))
			n += k < i && before(how[k])
		else
			n += before(how[k]) + (k < i && after(how[k]))
	return n + 0
}

function first_comm(    i) {
	for (i = 1; i <= params; i++)
		if (kind[i] == "comm" && how[i] == "in" && len[i] == "" && cond[i] == "")
			return arg[i]
	return "MPI_COMM_NULL"
}

# The first of these names that is a plain number that goes in.
function first_of(names, none,    n, name_of, i, k) {
	n = split(names, name_of, " ")
	for (k = 1; k <= n; k++)
		for (i = 1; i <= params; i++)
			if (arg[i] == name_of[k] && how[i] == "in" && len[i] == "")
				return arg[i]
	return none
}

# Prints a function of the interposition chain.
function print_next(    i, decl) {
	for (i = 1; i <= params; i++)
		decl = decl (i > 1 ? ", " : "") declaration(i)
	printf "NEXT(%s, %s, %d, (%s))\n", name, ret, count, params ? decl : "void"
}

function finish(    i, decl, args, real, line, k, dirs, both) {
	if (name == "")
		return
	if (part == "table") {
		printf "FUNC_BEGIN(%d, %s, \"%s\", RN_RET_%s, %s)\n", count, name, name,
			ret_kind(), trait_row()
		for (i = 1; i <= params; i++)
			if (arg[i] != "...")
				printf "PARAM(\"%s\", %s, %s, %d, %d)\n", arg[i], how[i], kind[i],
					len[i] != "", value_place(i)
		printf "FUNC_END(%s)\n", name
	}
	if (part == "calls" && (name in known) && !by_hand(name)) {
		decl = args = real = ""
		for (i = 1; i <= params; i++) {
			decl = decl (i > 1 ? ", " : "") declaration(i)
			args = args (i > 1 ? ", " : "") arg[i]
			real = real (i > 1 ? ", " : "") (kind[i] == "matched" ? "rn_status" : arg[i])
		}
		if (params == 0)
			decl = "void"
		printf "WRAP_BEGIN(%s, %s, %d, (%s), (%s))\n", name, ret, count, decl, args
		for (i = 1; i <= params; i++) {
			if (how[i] == "new" && kind[i] == "comm")
				printf "BEFORE_comm(%s, %s)\n", from[i], by[i] != "" ? by[i] : "0"
			if (kind[i] == "matched")
				printf "BEFORE_matched(%s)\n", arg[i]
			if (how[i] == "inout" && arg[i] ~ /(len|^num_elements)$/)
				printf "HAD(%s)\n", arg[i]
			if (before(how[i]))
				print macro(how[i] == "inout" ? "ref" : how[i], i) ";"
		}
		printf "WRAP_CALL%s(%s, %s, (%s))\n", ret == "int" ? "" : "_VALUE", name, ret, real
		for (i = 1; i <= params; i++)
			if (how[i] == "free" && kind[i] == "comm")
				print "GONE_comm();"
			else if (after(how[i]))
				print macro(how[i] == "inout" ? "out" : how[i], i) ";"
		line = "WRAP_END_" ret_kind()
		for (i = 1; i <= params; i++)
			if (how[i] == "new" && kind[i] == "request")
				line = "WRAP_END_REQUEST"
		printf "%s(%s, %s, %d, (%s), (%s))\n", line, name, ret, count, decl, args
	}
	if (part == "hand" && ((name in known) && by_hand(name) || (name in numbered) || name !~ /^MPI/))
		printf "#define RN_N_%s %d\n", name, count
	if (part == "next" && (have == "" || (name in known)))
		print_next()
	if (part == "compare" && (name in known) && (polls(name) || !unlike(name))) {
		decl = args = ""
		for (i = 1; i <= params; i++) {
			decl = decl (i > 1 ? ", " : "") declaration(i)
			args = args (i > 1 ? ", " : "") arg[i]
		}
		both = first_of("recvtag", "") != ""
		printf "%s(%s, %s, %d, (%s), (%s), %s, %s, %s, %s, %s, %s)\n",
			polls(name) ? "POLL" : "COMPARE", name, ret, count,
			params ? decl : "void", args, first_comm(),
			first_of("dest source root", "RN_PLAN_NOTHING"),
			first_of("tag sendtag", "RN_PLAN_NOTHING"),
			first_of("count sendcount incount", "RN_PLAN_NOTHING"),
			both ? "source" : "RN_PLAN_NOTHING",
			both ? "recvtag" : "RN_PLAN_NOTHING"
	}
	count++
}
