let create () = None
