-- Paths that are asked for before an update takes the environment's place.
alter table environments add column update_checks text[] not null default '{}';
