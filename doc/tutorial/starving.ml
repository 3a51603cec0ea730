open Concord

let connect path () =
  Lwt_io.open_file
    ~flags:[ O_WRONLY; O_APPEND; O_CREAT ]
    ~mode:Lwt_io.Output path

let insert row connection =
  let open Lwt.Syntax in
  let* () = Lwt_io.write_line connection row in
  Lwt_io.flush connection

type 'a by_hand = {
  mutex : Mutex.t;
  returned : Condition.t;
  mutable idle : 'a list;
}

let use_by_hand t f =
  let rec take () =
    match t.idle with
    | connection :: idle ->
        t.idle <- idle;
        connection
    | [] ->
        Condition.wait t.returned t.mutex;
        take ()
  in
  let connection = Mutex.protect t.mutex take in
  let give_back () =
    Mutex.protect t.mutex (fun () ->
        t.idle <- connection :: t.idle;
        Condition.signal t.returned)
  in
  Fun.protect ~finally:give_back (fun () -> f connection)

let rows_during_request loop use =
  let imported = ref 0 in
  let insert row connection =
    Concord_lwt.call loop (fun () -> insert row connection)
  in
  let import () =
    for row = 1 to 200 do
      use (insert (Printf.sprintf "imported %d" row));
      incr imported
    done
  in
  let request () =
    let before = !imported in
    use (insert "requested");
    !imported - before
  in
  snd (Eio.Fiber.pair import request)

let try_it name make_use =
  let path = Filename.temp_file "rows" ".txt" in
  Concord_lwt.with_domain Lwt.return @@ fun loop ->
  Eio_main.run @@ fun _ ->
  let connect () = Concord_lwt.call loop (connect path) in
  let rows = rows_during_request loop (make_use connect) in
  Printf.printf "%s: the request %s\n%!" name
    (if rows > 100 then "starved" else "had its turn")

let () =
  try_it "by hand" (fun connect ->
      let mutex = Mutex.create () and returned = Condition.create () in
      use_by_hand { mutex; returned; idle = [ connect () ] })

let () = try_it "Pool" (fun connect -> Pool.use (Pool.create 1 connect))
