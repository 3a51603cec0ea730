(* How often Lwt's loop is woken if another domain resumes 10,000 of its tasks. *)

open Concord_test_support

let run f =
  Concord_lwt.run @@ fun () ->
  let tasks = ref [] in
  f (fun task -> tasks := Lwt_direct.spawn task :: !tasks);
  Lwt.join !tasks

let () = Check.run "Bursts, with Lwt" [ ("Lwt", Burst.cases run) ]
