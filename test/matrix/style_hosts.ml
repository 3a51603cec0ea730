(* The styles of [concord-schedulers.styles]. *)

module Style (S : sig
  val name : string
  val spawn : (unit -> unit) -> unit
  val start : unit -> unit
end) =
struct
  let name = S.name
  let in_lwt = None
  let no_siblings = None
  let main_domain_only = None
  let no_foreign = None
  let cancel = None

  let run tasks =
    List.iter S.spawn tasks;
    S.start ()
end

module Direct
    (Name : sig
      val name : string
    end)
    (S : Concord_styles.Direct) =
Style (struct
  include Name
  include S
end)

module Trampolined
    (Name : sig
      val name : string
    end)
    (S : Concord_styles.Trampolined) =
Style (struct
  include Name

  let spawn f = S.spawn (fun () -> S.direct f ignore)
  let start = S.start
end)

module Monadic
    (Name : sig
      val name : string
    end)
    (S : Concord_styles.Monadic) =
Style (struct
  include Name

  let spawn f = S.spawn (fun () -> S.direct f)
  let start = S.start
end)

let all : (module Host.S) list =
  let open Concord_styles in
  let direct name (module S : Direct) : (module Host.S) =
    (module Direct
              (struct
                let name = name
              end)
              (S))
  and trampolined name (module S : Trampolined) : (module Host.S) =
    (module Trampolined
              (struct
                let name = name
              end)
              (S))
  and monadic name (module S : Monadic) : (module Host.S) =
    (module Monadic
              (struct
                let name = name
              end)
              (S))
  in
  [
    direct "threads" (module Threads);
    direct "callcc" (module Callcc);
    direct "delimited" (module Delimited);
    trampolined "trampoline" (module Trampoline);
    monadic "continuation" (module Continuation);
    monadic "promise" (module Promise);
    trampolined "events" (module Events);
  ]
