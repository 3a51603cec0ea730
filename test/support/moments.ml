exception Interrupt

let signal = Sys.sigusr2
let this = Unix.getpid ()

(* How many moments are left, and whether the handler counts. *)
let left = ref 0
let armed = ref false

let handle _ =
  if !armed then
    if !left = 1 then begin
      armed := false;
      left := 0;
      raise Interrupt
    end
    else begin
      decr left;
      (* blocked until the handler has returned *)
      Unix.kill this signal
    end

let installed = lazy (Sys.set_signal signal (Signal_handle handle))

let arm () =
  armed := true;
  Unix.kill this signal

let at n f =
  Lazy.force installed;
  left := n;
  match
    arm ();
    let v = f () in
    armed := false;
    v
  with
  | v -> Ok v
  | exception e ->
      armed := false;
      Error e

let was_raised () = !left = 0

let unwatched f =
  if !armed then begin
    armed := false;
    let v = f () in
    armed := true;
    Unix.kill this signal;
    v
  end
  else f ()
