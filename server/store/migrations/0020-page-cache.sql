-- Whether the page cache is on (null: the default, on for live environments only), and its epoch: a new epoch
-- invalidates all cached pages.
alter table environments
  add column edge_caching boolean,
  add column page_cache_epoch integer not null default 1;
alter table deleted_environments add column edge_caching boolean;
