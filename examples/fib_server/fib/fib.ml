(* The recursion of the definition, in one domain and in a pool. *)

module Task = Domainslib.Task

let rec direct n = if n < 2 then n else direct (n - 1) + direct (n - 2)

(* Up to here (about 50 microseconds) making a task costs more than another
   domain could save. *)
let cutoff = 22

(* The compiler puts no poll into a recursion that neither loops nor allocates,
   and a minor collection waits for all domains to poll. So a domain in [direct]
   delays the others, and must not stay there for long. *)
let rec sequential n =
  if n <= cutoff then direct n
  else (
    Domain.cpu_relax ();
    sequential (n - 1) + sequential (n - 2))

let rec parallel pool n =
  if n <= cutoff then direct n
  else
    let other = Task.async pool (fun () -> parallel pool (n - 1)) in
    let mine = parallel pool (n - 2) in
    mine + Task.await pool other
