-- Redirect rules as in the API, in the order in which they were added. The edge is told the name of the list, which
-- changes with each change of the list. Kept through a deletion and a restore.
alter table environments
  add column redirect_rules jsonb not null default '[]',
  add column redirect_list uuid;
alter table deleted_environments
  add column redirect_rules jsonb not null default '[]',
  add column redirect_list uuid;
