let text = function
  | Trial.Failed text -> text
  | e -> "raised " ^ Printexc.to_string e

let rec go current kept = function
  | [] -> Report.Kept
  | { Trial.title; run } :: rest -> (
      Atomic.set current title;
      match run () with
      | () -> go current true rest
      | exception Trial.Not_offered why ->
          if kept || rest <> [] then go current kept rest
          else Report.Not_offered why
      | exception e -> Report.Broken (title ^ ": " ^ text e))

let in_thread ~seconds cases =
  let verdict = Atomic.make None and current = Atomic.make "" in
  let run () = Atomic.set verdict (Some (go current false cases)) in
  ignore (Thread.create run () : Thread.t);
  let deadline = Unix.gettimeofday () +. seconds in
  let rec await () =
    match Atomic.get verdict with
    | Some verdict -> verdict
    | None when Unix.gettimeofday () < deadline ->
        Thread.delay 0.000_1;
        await ()
    | None ->
        Report.Broken
          (Printf.sprintf "%s: hangs (no result in %g s)" (Atomic.get current)
             seconds)
  in
  await ()

let verdict ~seconds cases =
  try Trial.run ~seconds cases
  with Invalid_argument _ -> in_thread ~seconds cases
