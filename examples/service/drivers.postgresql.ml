let postgresql = true
