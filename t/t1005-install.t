#!/bin/sh
# make install, also into a folder whose name has a blank.
. "$(dirname "$0")/lib.sh"

# The program is built; -o all keeps this make from building it with other flags.
ok "make install" make -o all install BUILD="$BUILD" DESTDIR="$tmp/to here" PREFIX="/a b"
for file in bin/rondo share/man/man1/rondo.1 share/man/man1/rondo-dump.1 \
	share/bash-completion/completions/rondo; do
	ok "... $file" test -s "$tmp/to here/a b/$file"
done
ok "... and it runs" "$tmp/to here/a b/bin/rondo" --version

finish
