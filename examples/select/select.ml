open Concord

(* [next] waits for the first of these three: a message, the signal to stop, or the timeout. It
   leaves the other two untouched. *)
type news = Message of string | Stop | Silence

let next inbox stop ~patience =
  Event.select
    [
      Event.wrap (Stream.take_evt inbox) (fun text -> Message text);
      Event.wrap (Promise.await_evt stop) (fun () -> Stop);
      Event.wrap (Event.timeout patience) (fun () -> Silence);
    ]

let report host news =
  Printf.printf "%-16s %s\n%!" host
    (match news with
    | Message text -> Printf.sprintf "message: %s" text
    | Stop -> "told to stop"
    | Silence -> "nothing for a while")

(* The two sides share these. *)
type line = {
  inbox : string Stream.t;
  stop : unit Promise.t;
  quiet : unit Promise.t;
      (** Filled once the listener has heard nothing for a while. *)
}

let line () =
  {
    inbox = Stream.create 10;
    stop = Promise.create ();
    quiet = Promise.create ();
  }

let listen ~host { inbox; stop; quiet } =
  report host (next inbox stop ~patience:60.);
  report host (next inbox stop ~patience:0.05);
  Promise.fill quiet ();
  report host (next inbox stop ~patience:60.)

let talk { inbox; stop; quiet } =
  Stream.add inbox "hello";
  Promise.await quiet;
  Promise.fill stop ()

let () =
  Workers.with_workers ~domains:1 @@ fun workers ->
  Eio_main.run (fun _ ->
      (* A fiber listens to a job in another domain. *)
      let line = line () in
      let talker = Workers.submit workers (fun () -> talk line) in
      listen ~host:"Eio fiber:" line;
      Promise.await talker);
  Eio_main.run (fun _ ->
      (* Now a job listens to a fiber. *)
      let line = line () in
      let listener =
        Workers.submit workers (fun () -> listen ~host:"job:" line)
      in
      talk line;
      Promise.await listener)
