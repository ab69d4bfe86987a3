#!/bin/sh
# Ranks on several hosts, which here are names: clocks are compared at both ends. And the link that
# everything goes over at the end, by itself.
. "$(dirname "$0")/lib.sh"
. t/lib-mpi.sh

link_alone() {
	ok "$mpi: link_check compiles" "mpicc.$mpi" $prog_flags -Isrc -o "$tmp/$mpi/link_check" \
		t/prog/link_check.c src/merge/merge_tree_mpi.c "$BUILD/librondo.a"
	for _n in 1 2 5; do
		ok "$mpi: a link of $_n ranks" run_mpi $_n "$tmp/$mpi/link_check"
		is "... all went well" "$(grep '^not ok' "$tmp/out")" ""
	done
}

cat >"$tmp/host" <<'EOF'
#!/bin/sh
exec unshare --uts sh -c 'hostname "$0" && exec "$@"' "host-${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" "$@"
EOF
chmod +x "$tmp/host"

hosts() {
	if ! unshare --uts hostname here 2>/dev/null; then
		skip "$mpi: several hosts" "a host cannot be named here"
		return
	fi
	ok "$mpi: prog_p2p compiles" build_prog prog_p2p
	traced_as_logged "several hosts" 4 "$tmp/host" "$tmp/$mpi/prog_p2p"
}

each_mpi link_alone
each_mpi hosts

finish
