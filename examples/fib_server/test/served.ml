let name = "fib_server"
