open Test_host

let style name ~spawn ~start ~pause =
  {
    name;
    reported = "Concord_styles." ^ String.capitalize_ascii name;
    run =
      (fun body ->
        spawn (fun () -> body { fork = spawn; pause });
        start ());
    cancel = None;
  }

let direct name (module S : Concord_styles.Direct) =
  style name ~spawn:S.spawn ~start:S.start ~pause:S.yield

let indirect = style ~pause:Concord.Tasks.yield

let trampolined name (module S : Concord_styles.Trampolined) =
  indirect name
    ~spawn:(fun f -> S.spawn (fun () -> S.direct f ignore))
    ~start:S.start

let monadic name (module S : Concord_styles.Monadic) =
  indirect name ~spawn:(fun f -> S.spawn (fun () -> S.direct f)) ~start:S.start

let threads = direct "threads" (module Concord_styles.Threads)
let callcc = direct "callcc" (module Concord_styles.Callcc)
let delimited = direct "delimited" (module Concord_styles.Delimited)

let all =
  let open Concord_styles in
  [
    threads;
    callcc;
    delimited;
    trampolined "trampoline" (module Trampoline);
    monadic "continuation" (module Continuation);
    monadic "promise" (module Promise);
    trampolined "events" (module Events);
  ]
