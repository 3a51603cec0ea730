let fifo_pool = None
let ws_pool = None
