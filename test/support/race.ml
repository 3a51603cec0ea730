let long = Sys.getenv_opt "CONCORD_LONG" = Some "1"

let seed =
  match Option.bind (Sys.getenv_opt "CONCORD_SEED") int_of_string_opt with
  | Some seed -> seed
  | None -> int_of_float (Unix.gettimeofday () *. 1e3) land 0xFFFFFF

let often n = if long then 10 * n else n
let random n = Random.State.make [| seed; n |]

let drawn ?(turn = 0) all =
  let n = List.length all in
  let one_in = min 3 n in
  if long || n < 2 then all
  else begin
    let is_chosen i _ = (i + turn + seed) mod one_in = 0 in
    let chosen = List.filteri is_chosen all in
    Printf.printf "CONCORD_SEED=%d draws %d of %d; CONCORD_LONG=1 runs all\n%!"
      seed (List.length chosen) n;
    chosen
  end

let watchdog ~seconds =
  let bark () =
    Thread.delay seconds;
    Printf.eprintf "no end after %.0f s: CONCORD_SEED=%d\n%!" seconds seed;
    (* It ends at once, because [exit] would wait for tasks that hang. *)
    Unix._exit 2
  in
  ignore (Check.with_signals_blocked (Thread.create bark) : Thread.t)

let fail format =
  let give_up message =
    Printf.eprintf "%s: CONCORD_SEED=%d\n%!" message seed;
    Unix._exit 1
  in
  Printf.ksprintf give_up format
