let beside_async = [ Picos_peer.hosts; Moonpool_peer.hosts; Miou_peer.hosts ]
let all = Async_peer.hosts :: beside_async
