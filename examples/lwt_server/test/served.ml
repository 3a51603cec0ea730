let name = "lwt_server"
