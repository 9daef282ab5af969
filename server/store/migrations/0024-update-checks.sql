-- Paths that are checked before an update goes live.
alter table environments add column update_checks text[] not null default '{}';
