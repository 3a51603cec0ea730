open Concord
open Check

let between ~rounds here there =
  let ping = Mvar.create_empty () and pong = Mvar.create_empty () in
  let join =
    domain (fun () ->
        there (fun () ->
            for i = 1 to rounds do
              int "ping" i (Mvar.take ping);
              Mvar.put pong i
            done))
  in
  here (fun () ->
      for i = 1 to rounds do
        Mvar.put ping i;
        int "pong" i (Mvar.take pong)
      done);
  join ()
