-- The runtime that an environment runs under, by its name. There was only one before.
alter table environments add column runtime text not null default 'playground';
alter table deleted_environments add column runtime text not null default 'playground';
