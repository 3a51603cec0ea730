#!/bin/sh
# installed.sh CARGO_LOCK: prints a module with the versions of the libraries that are installed when the benchmark is built.

# Some Debian packages give findlib no version. For them this takes the version of the package.
version() {
  folder=$(ocamlfind query "$1" 2>/dev/null) || return
  version=$(ocamlfind query -format '%v' "$1")
  case $version in
  '' | *unspecified*)
    package=$(dpkg -S "$folder/META" 2>/dev/null | cut -d: -f1)
    version=$(dpkg-query -W -f '${Version}' "$package" 2>/dev/null | sed 's/[-+].*//')
    ;;
  esac
  [ -z "$version" ] || printf '  ("%s", "%s");\n' "$2" "${version#v}"
}

echo 'let versions = ['
for pair in eio:Eio lwt:Lwt lwt_eio:Lwt_eio domainslib:Domainslib kcas:Kcas cohttp-lwt-unix:Cohttp caqti:caqti picos:Picos async:Async; do
  version "${pair%%:*}" "${pair#*:}"
done
go version 2>/dev/null | sed -n 's/^go version go\([^ ]*\).*/  ("Go", "\1");/p'
node --version 2>/dev/null | sed -n 's/^v\(.*\)/  ("Node.js", "\1");/p'
sed -n '/^name = "tokio"/{n;s/^version = \(".*"\)/  ("Tokio", \1);/p;}' "$1"
echo ']'
