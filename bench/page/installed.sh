# Prints a module that says which versions are installed where the benchmark is built.
version() {
  found=$(ocamlfind query -format '%v' "$1" 2>/dev/null) && [ -n "$found" ] && printf '  ("%s", "%s");\n' "$2" "$found"
}
echo 'let versions = ['
for pair in eio:Eio lwt:Lwt domainslib:Domainslib kcas:Kcas cohttp-lwt-unix:Cohttp picos:Picos async:Async; do
  version "${pair%%:*}" "${pair#*:}"
done
go version 2>/dev/null | sed -n 's/^go version go\([^ ]*\).*/  ("Go", "\1");/p'
node --version 2>/dev/null | sed -n 's/^v\(.*\)/  ("Node.js", "\1");/p'
echo ']'
