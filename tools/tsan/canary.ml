(* A race, which ThreadSanitizer must report: else a run without reports means nothing. *)
let field = ref 0

let[@inline never] race () =
  for i = 1 to 1000 do
    field := Sys.opaque_identity i
  done

let () =
  let other = Domain.spawn race in
  race ();
  Domain.join other
