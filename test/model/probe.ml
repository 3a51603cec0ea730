type passing = { passing : 'b. 'b Effect.t -> unit }
