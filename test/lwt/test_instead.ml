(* doc/lwt.mld lists modules that replace modules of Lwt. Each must have all functions of the
   module that it replaces. If this compiles, it has. *)

open Concord_test_support
open Check
open Lwt.Syntax

module type Mutex = module type of Lwt_mutex

module _ : module type of Lwt_mvar = struct
  include Concord_lwt.Mvar

  let create v = create v
  let create_empty () = create_empty ()
  let take_available = try_take
end

module _ : module type of Lwt_condition = struct
  include Concord_lwt.Bvar

  let create () = create ()
  let signal t v = ignore (signal t v : bool)

  let wait ?mutex t =
    assert (Option.is_none mutex);
    wait t
end

(* Both modules behave in this way. *)
let waiting (module Mutex : Mutex) () =
  Lwt_main.run
    begin
      let mutex = Mutex.create () in
      yes "nobody" (Mutex.is_empty mutex);
      let* () = Mutex.lock mutex in
      yes "an owner" (Mutex.is_empty mutex);
      let first = Mutex.lock mutex and second = Mutex.lock mutex in
      no "two waiters" (Mutex.is_empty mutex);
      Lwt.cancel first;
      no "one of them was cancelled" (Mutex.is_empty mutex);
      Mutex.unlock mutex;
      yes "it was passed on" (Mutex.is_empty mutex);
      let+ () = second in
      yes "to the other one" (Mutex.is_locked mutex);
      let third = Mutex.lock mutex in
      Lwt.cancel third;
      yes "a third one was cancelled" (Mutex.is_empty mutex);
      Mutex.unlock mutex;
      no "unlocked" (Mutex.is_locked mutex)
    end

let () =
  Check.run "Concord_lwt, instead of Lwt's structures"
    [
      ( "is_empty",
        [
          test "of Lwt_mutex" (waiting (module Lwt_mutex));
          test "of Concord_lwt.Mutex" (waiting (module Concord_lwt.Mutex));
        ] );
    ]
