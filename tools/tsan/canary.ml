(* ThreadSanitizer must report this race, because otherwise a run without reports would mean
   nothing. It misses some races, so there are many here. *)
let[@inline never] race field ready =
  Atomic.incr ready;
  while Atomic.get ready < 2 do
    Domain.cpu_relax ()
  done;
  for i = 1 to 10 do
    field := Sys.opaque_identity i
  done

let () =
  for _ = 1 to 50 do
    let field = ref 0 and ready = Atomic.make 0 in
    let other = Domain.spawn (fun () -> race field ready) in
    race field ready;
    Domain.join other
  done
