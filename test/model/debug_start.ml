let link () = ()
