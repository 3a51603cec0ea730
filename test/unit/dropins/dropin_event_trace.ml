(* Prints when functions of [wrap], [guard] and [wrap_abort] run, under [sync] and [poll]. *)

open Event

let say format = Printf.printf (format ^^ "\n%!")
let channel : int channel = new_channel ()
let nobody = receive channel
let calls = ref []
let note what = calls := what :: !calls

let said name event =
  wrap event (fun v ->
      note (Printf.sprintf "wrap %s %d" name v);
      v + 1)

let told name event = wrap_abort event (fun () -> note ("abort " ^ name))

let guarded name event =
  guard (fun () ->
      note ("guard " ^ name);
      event)

let show name f =
  say "%s" name;
  let result =
    match f () with
    | v -> string_of_int v
    | exception e -> "raised " ^ Printexc.to_string e
  in
  List.iter (say "  %s") (List.rev !calls);
  calls := [];
  say "  result: %s" result

let show_poll name event =
  show name (fun () -> Option.value ~default:0 (poll event))

(* Calls [f] while another thread sends [v]. *)
let with_sender v f =
  let thread = Thread.create (fun () -> sync (send channel v)) () in
  let result = f () in
  Thread.join thread;
  result

let () =
  show "always" (fun () -> sync (always 1));
  show "wrap" (fun () -> sync (said "b" (said "a" (always 1))));
  show "wrap of choose" (fun () ->
      sync (said "b" (choose [ said "a" (always 1); said "x" nobody ])));
  show "guard" (fun () -> sync (guarded "a" (guarded "b" (always 1))));
  show "guards in order" (fun () ->
      select
        [
          guarded "a" nobody;
          guarded "b" (choose [ guarded "c" nobody; guarded "d" (always 1) ]);
          guarded "e" nobody;
        ]);
  let again = guarded "each time" (always 1) in
  show "guard twice" (fun () -> sync again + sync again)

let nested event =
  choose
    [
      told "outer"
        (choose [ told "left" nobody; told "right" (said "it" event) ]);
      told "other" (said "never" nobody);
      said "neither" nobody;
    ]

let () =
  show "wrap_abort alone" (fun () -> sync (told "it" (said "it" (always 1))));
  show "wrap_abort" (fun () ->
      select [ told "a" nobody; told "b" (always 1); told "c" nobody ]);
  show "nested, at once" (fun () -> sync (nested (always 1)));
  show "nested, after waiting" (fun () ->
      with_sender 5 (fun () ->
          sync (told "all" (choose [ told "x" (said "it" nobody) ]))));
  show "guard in wrap_abort" (fun () ->
      select [ told "a" (guarded "a" nobody); guarded "b" (always 1) ]);
  show "wrap_abort in guard" (fun () ->
      select [ guarded "a" (told "a" nobody); told "b" (always 1) ]);
  show "twice around one" (fun () ->
      select [ told "out" (told "in" nobody); always 1 ])

let () =
  show_poll "poll always" (said "it" (always 1));
  show_poll "poll nobody" (said "it" nobody);
  show_poll "poll send" (wrap (send channel 1) (fun () -> 1));
  show_poll "poll nested" (nested (always 1));
  show_poll "poll nested, nobody" (nested nobody);
  show_poll "poll guard" (guarded "it" (told "it" nobody))

let () =
  let bad event = wrap event (fun _ -> failwith "bad") in
  show "wrap raises" (fun () -> select [ nobody; told "b" (bad (always 1)) ]);
  show "guard raises" (fun () ->
      select [ told "a" nobody; guard (fun () -> failwith "worse") ]);
  show "then all is as before" (fun () -> with_sender 7 (fun () -> sync nobody))
