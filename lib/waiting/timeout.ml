(* One wait for a timeout. A choice may enlist it again, with the same deadline. Only the
   waiting task uses it. *)
type t = {
  mutable deadline : int;  (** It is 0 until the timeout is enlisted. *)
  mutable cancel : unit -> unit;
}

let enlist_timer t (w : (float, unit) Waiter.t) =
  w.arg > 0.
  && begin
    let fire () = ignore (w.resumer (Ok ()) : bool) in
    if t.deadline = 0 then t.deadline <- Timer.deadline w.arg;
    t.cancel <- Timer.at t.deadline fire;
    true
  end

let is_due t seconds =
  seconds <= 0. || (t.deadline <> 0 && Timer.has_passed t.deadline)

let left t =
  if t.deadline = 0 then ""
  else Printf.sprintf "%.1f s left" (Timer.seconds_until t.deadline)

let passing =
  {
    Operation.default with
    name = "Event.timeout";
    spin = Indifferent;
    state = left;
    how =
      By_hand
        {
          attempt =
            (fun t seconds -> if is_due t seconds then Some () else None);
          enlist = enlist_timer;
          withdraw = (fun t _ -> t.cancel ());
        };
  }

let create () = { deadline = 0; cancel = ignore }
