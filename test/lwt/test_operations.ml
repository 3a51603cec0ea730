(* Operations in monadic style. *)

open Concord_test_support

(* The same in a loop that Concord doesn't start. *)
module Plain = Concord_test_hosts.Promise_cases.Make (struct
  include In_lwt.Library

  let run f = Lwt_main.run (f ())
end)

let () =
  let _, in_lwt_main = Plain.waiting [] in
  Check.run "Concord_lwt, operations"
    [
      In_lwt.waiting In_lwt.wakers;
      ("each operation, in Lwt_main.run", in_lwt_main);
      In_lwt.results;
    ]
