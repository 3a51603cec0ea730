(* [BREAK] makes [run] raise, or makes [spawn] end the program that prints the report. *)
let breaks what = Sys.getenv_opt "BREAK" = Some what

module Host = struct
  let name = "a host"

  type t = unit
  type task = Concord_fifo.handle

  let run f =
    if breaks "run" then failwith "no loop";
    Concord_fifo.run f

  let spawn () f =
    if breaks "spawn" then begin
      Unix.kill (Unix.getppid ()) Sys.sigpipe;
      Unix._exit 0
    end;
    Concord_fifo.fork f

  let yield = Concord_fifo.yield
  let cancel = Some (fun () task -> Concord_fifo.cancel task)
  let is_cancellation = function Concord_fifo.Cancelled -> true | _ -> false
  let not_offered = []
end

let () = Concord_testkit.Host.main ~seed:1 (module Host)
