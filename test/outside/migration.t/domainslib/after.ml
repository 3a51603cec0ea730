(* The channels work on every host, so the main domain needs no Task.run. They can also be
   closed. *)

open Concord
module Task = Domainslib.Task

let () =
  let pool = Task.setup_pool ~num_domains:1 () in
  let words = Mailbox.create ()
  and upper = Stream.create 2
  and lengths = Channel.create () in
  let rec pass take add finish f =
    match take () with
    | x ->
        add (f x);
        pass take add finish f
    | exception Stream.Closed -> finish ()
  in
  let stages =
    [
      Concord_domainslib.submit pool (fun () ->
          pass
            (fun () -> Mailbox.take words)
            (Stream.add upper)
            (fun () -> Stream.close upper)
            String.uppercase_ascii);
      Concord_domainslib.submit pool (fun () ->
          pass
            (fun () -> Stream.take upper)
            (Channel.send lengths)
            (fun () -> Channel.close lengths)
            String.length);
    ]
  in
  List.iter (Mailbox.add words) [ "a"; "red"; "green"; "violet" ];
  Mailbox.close words;
  let rec collect found =
    match Channel.receive lengths with
    | x -> collect (x :: found)
    | exception Channel.Closed -> List.rev found
  in
  let lengths = collect [] in
  List.iter Promise.await stages;
  Task.teardown_pool pool;
  print_endline (String.concat " " (List.map string_of_int lengths));
  let none : int Stream.t = Stream.create 1 in
  print_endline
    (match Stream.try_take none with Some _ -> "impossible" | None -> "empty")
