let serve ~text:_ _ = failwith "cohttp-lwt-unix was not installed"
