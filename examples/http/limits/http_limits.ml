open Cmdliner

type t = {
  max_connections : int;
  idle_timeout : float;
  transfer_timeout : float;
}

let between low high conv =
  let print = Arg.conv_printer conv in
  let parse text =
    match Arg.conv_parser conv text with
    | Ok n when n >= low && n <= high -> Ok n
    | Ok _ ->
        Error
          (`Msg (Format.asprintf "must be from %a to %a" print low print high))
    | Error _ as error -> error
  in
  Arg.conv (parse, print)

(* A day is long enough, and the limit avoids overflows. *)
let duration = between 0.001 86400. Arg.float

let term ?(transfer_timeout = 10.) () =
  let option name kind ~default ~docv doc =
    Arg.(value & opt kind default & info [ name ] ~docv ~doc)
  and make max_connections idle_timeout transfer_timeout =
    { max_connections; idle_timeout; transfer_timeout }
  in
  Term.(
    const make
    $ option "max-connections"
        (between 1 1_000_000 Arg.int)
        ~default:900 ~docv:"N"
        "How many clients are served at a time. Further clients wait."
    $ option "idle-timeout" duration ~default:60. ~docv:"SECONDS"
        "The time in seconds after which a connection without a request is \
         closed."
    $ option "transfer-timeout" duration ~default:transfer_timeout
        ~docv:"SECONDS"
        "The time in seconds that a client may take to send a request, or to \
         receive an answer.")
