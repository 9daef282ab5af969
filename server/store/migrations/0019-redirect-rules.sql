-- Redirect rules, as the interface has them, in the order in which they were added. The edge is told the name of the list, which
-- is another after each change. They outlast a deletion that is taken back.
alter table environments
  add column redirect_rules jsonb not null default '[]',
  add column redirect_list uuid;
alter table deleted_environments
  add column redirect_rules jsonb not null default '[]',
  add column redirect_list uuid;
