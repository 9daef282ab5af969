-- Whether pages are kept at the edge (null: as is usual, which is for live environments only), and the number that they are kept
-- under: with another one, none of those before is shown.
alter table environments
  add column edge_caching boolean,
  add column page_cache_epoch integer not null default 1;
alter table deleted_environments add column edge_caching boolean;
