exception Never_resumed

let max_frames = 100
let guard waits_at resumer = !Observer.it.guard waits_at resumer

let report_last waits_at =
  if Observer.finds_leaks () then !Observer.it.lost waits_at

let report_last_thread resumer =
  if resumer (Error Never_resumed) then report_last Printexc.get_callstack

let[@inline never] guarded_here resumer =
  let waits_at = Printexc.get_callstack max_frames in
  guard (fun () -> waits_at) resumer

let[@inline] guard_operation resumer =
  if Observer.finds_leaks () then guarded_here resumer else resumer

let forget_exception () = try raise Exit with Exit -> ()

let collect () =
  if Observer.finds_leaks () then begin
    forget_exception ();
    !Observer.it.collect ()
  end

(* --- Loops that sleep ---------------------------------------------------------- *)

(* The blocks of the loops that sleep, or are about to. *)
let loops : Identity.pointer list Atomic.t = Atomic.make []

let is_of_loop block =
  List.exists (fun loop -> Identity.points_to loop block) (Atomic.get loops)

let of_loop block f =
  let loop = Identity.strong_pointer block in
  Atomically.update loops (List.cons loop);
  Backtrace.finally f ~finally:(fun () ->
      Atomically.update loops (List.filter (( != ) loop)))
