type multiplexer = Poll | Io_uring
type t = { multiplexer : multiplexer option; domain : bool }

let nothing = { multiplexer = None; domain = false }

let refuse words reason =
  Printf.ksprintf failwith "CONCORD_AIO=%s: %s" words reason

let for_ words = function
  | "" -> Fun.id
  | "domain" -> fun t -> { t with domain = true }
  | ("poll" | "io_uring") as word -> (
      let asked = if word = "poll" then Poll else Io_uring in
      function
      | { multiplexer = Some other; _ } when other <> asked ->
          refuse words "poll and io_uring exclude each other"
      | t -> { t with multiplexer = Some asked })
  | other ->
      refuse words
        (Printf.sprintf "%s is none of the words poll, io_uring and domain"
           other)

let read () =
  let words = Option.value (Sys.getenv_opt "CONCORD_AIO") ~default:"" in
  let add t word = for_ words word t in
  List.fold_left add nothing (String.split_on_char ',' words)
