open Effect.Deep
module Suspend = Concord.Tools.Suspend

type 'r handler = {
  suspend : 'a. ('a Suspend.resumer -> 'a option) -> ('a, 'r) continuation -> 'r;
}

let run { suspend } ~ret f =
  match_with f ()
    {
      retc = ret;
      exnc = raise;
      effc =
        (fun (type a) (e : a Effect.t) ->
          match e with
          | Suspend.Suspend block ->
              Some (fun (k : (a, _) continuation) -> suspend block k)
          | _ -> None);
    }

let until_wait handler f =
  run handler f ~ret:(fun () -> Alcotest.fail "the operation did not wait")

let go_on k = function Ok v -> continue k v | Error e -> discontinue k e
