let add tally = Tally.add (Concord.Mutex.create ()) tally
