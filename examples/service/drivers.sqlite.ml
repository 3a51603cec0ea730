let postgresql = false
