let fifo = None
let multififo = None
