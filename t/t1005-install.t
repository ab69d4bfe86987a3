#!/bin/sh
# make install and make uninstall with a space in a directory name; make without a compiler.
. "$(dirname "$0")/lib.sh"

# The program is built; -o all keeps this make from building it with other flags.
ok "make install" make -o all install BUILD="$BUILD" DESTDIR="$tmp/to here" PREFIX="/a b"
for file in bin/rondo share/man/man1/rondo.1 share/man/man1/rondo-dump.1 \
	share/bash-completion/completions/rondo; do
	ok "... $file" test -s "$tmp/to here/a b/$file"
done
ok "... and it runs" "$tmp/to here/a b/bin/rondo" --version

touch "$tmp/to here/a b/bin/other"
ok "make uninstall succeeds" make uninstall DESTDIR="$tmp/to here" PREFIX="/a b"
is "... removes the installed files, and no others" \
	"$(cd "$tmp/to here/a b" && find . ! -type d)" "./bin/other"
ok "... removes its own directories" test ! -e "$tmp/to here/a b/lib/rondo"
ok "make uninstall succeeds if nothing is installed" make uninstall DESTDIR="$tmp/nowhere"

# make with the system's commands, but no compiler. The MPI compiler wrappers also require it.
mkdir "$tmp/bin"
for name in sh make awk sed mkdir cmp cat rm nproc grep tr sort uname install ar; do
	ln -s "$(command -v $name)" "$tmp/bin/$name"
done
without_compiler() {
	PATH=$tmp/bin make BUILD="$tmp/build" CC=cc "$@"
}
for target in all install; do
	status "make $target fails without a compiler" 2 without_compiler $target DESTDIR="$tmp/none"
	is "... names the compiler and the command that installs it" "$(grep -v '^make: \*\*\*' "$tmp/err")" \
		"make requires a C compiler, and cc is not installed; to install it: tools/deps build"
done
ok "... and installs nothing" test ! -e "$tmp/none"
printf '#!/bin/sh\n! grep -q -e zstd.h -e xxhash.h\n' >"$tmp/bin/cc"
chmod +x "$tmp/bin/cc"
status "make fails without headers" 2 without_compiler
like "... names the packages and the command that installs them" "$(cat "$tmp/err")" \
	'^make requires these Debian packages: libzstd-dev libxxhash-dev; to install them: tools/deps build$'

finish
