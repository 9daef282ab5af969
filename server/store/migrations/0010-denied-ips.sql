-- Addresses and networks whose visitors the edge refuses. They outlast a deletion that is taken back.
alter table environments add column denied_ips text[] not null default '{}';
alter table deleted_environments add column denied_ips text[] not null default '{}';
