let all =
  [ Async_peer.hosts; Picos_peer.hosts; Moonpool_peer.hosts; Miou_peer.hosts ]
