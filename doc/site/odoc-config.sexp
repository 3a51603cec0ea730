(packages concord concord-buffered concord-core concord-suspend concord-generator concord-schedulers
 concord-testkit concord-eio concord-domainslib concord-lwt concord-async
 concord-picos concord-miou concord-aio concord-trace ppx_concord)
