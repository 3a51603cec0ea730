type multiplexer = Poll | Io_uring
type t = { multiplexer : multiplexer option; domain : bool }

let refuse asked reason =
  Printf.ksprintf failwith "CONCORD_AIO=%s: %s" asked reason

let read () =
  let asked = Option.value (Sys.getenv_opt "CONCORD_AIO") ~default:"" in
  let words = String.split_on_char ',' asked in
  let has word = List.mem word words in
  let check = function
    | "" | "poll" | "io_uring" | "domain" -> ()
    | other ->
        refuse asked
          (other ^ " is unknown, use the words poll, io_uring and domain")
  in
  List.iter check words;
  let multiplexer =
    match (has "poll", has "io_uring") with
    | true, true -> refuse asked "use either poll or io_uring, not both"
    | true, false -> Some Poll
    | false, true -> Some Io_uring
    | false, false -> None
  in
  { multiplexer; domain = has "domain" }
