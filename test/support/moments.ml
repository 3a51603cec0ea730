exception Interrupt

let signal = Sys.sigusr2
let this = Unix.getpid ()

(* [left] counts the moments before the next exception, while the handler is [armed].
   [until_second] counts the moments from then to a second exception. If it is 0, there is only
   one exception. *)
let left = ref 0
let armed = ref false
let until_second = ref 0
let raised = ref 0

let handle _ =
  if !armed then
    if !left = 1 then begin
      incr raised;
      left := !until_second;
      until_second := 0;
      if !left = 0 then armed := false else Unix.kill this signal;
      raise Interrupt
    end
    else begin
      decr left;
      (* The new signal is blocked until this handler has returned. *)
      Unix.kill this signal
    end

let installed = lazy (Sys.set_signal signal (Signal_handle handle))

let arm () =
  armed := true;
  Unix.kill this signal

let at ?(second = 0) n f =
  Lazy.force installed;
  left := n;
  until_second := second;
  raised := 0;
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

let was_raised () = !raised > 0
let was_raised_twice () = !raised > 1

let unwatched f =
  if !armed then begin
    armed := false;
    let v = f () in
    armed := true;
    Unix.kill this signal;
    v
  end
  else f ()
