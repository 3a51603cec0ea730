(* With [BREAK], no task is ever resumed. *)
open Concord
open Concord_testkit

let () =
  Operation.main ~seconds:0.1
    (module struct
      include Operation.Defaults

      type t = int Mailbox.t

      let name = "take"
      let service = Operation.Takes
      let create _ = Mailbox.create ()
      let wait t _ = Mailbox.take t

      let release t v =
        if Sys.getenv_opt "BREAK" = None then Mailbox.add t v;
        0
    end)
