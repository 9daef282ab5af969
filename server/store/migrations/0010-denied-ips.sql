-- Blocked IP addresses and networks. Kept through a deletion and a restore.
alter table environments add column denied_ips text[] not null default '{}';
alter table deleted_environments add column denied_ips text[] not null default '{}';
