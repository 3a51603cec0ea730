type tasks = { fork : (unit -> unit) -> unit; pause : unit -> unit }

type t = {
  name : string;
  reported : string;
  run : (tasks -> unit) -> unit;
  cancel : ((unit -> unit) -> after:(unit -> unit) -> unit) option;
}

let run_all host fs = host.run (fun tasks -> List.iter tasks.fork fs)

let within ~outer inner =
  {
    inner with
    name = inner.name ^ " in " ^ outer.name;
    run = (fun body -> run_all outer [ (fun () -> inner.run body) ]);
  }
