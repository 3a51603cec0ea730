(* Computes by the recursive definition, in one domain or in a pool. *)

module Task = Domainslib.Task

let rec direct n = if n < 2 then n else direct (n - 1) + direct (n - 2)

(* For numbers up to this one (about 50 microseconds), starting a task costs more than another
   domain could save. *)
let cutoff = 22

(* Calls [Domain.cpu_relax] now and then, so that this domain reaches a poll point. A minor
   collection waits until every domain has reached one, but the compiler puts no poll point
   into a recursion that neither loops nor allocates. So a long run of [direct] would delay all
   other domains. *)
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
