let lock () = Concord_core.Mutex.lock (Concord_core.Promise.create ())
