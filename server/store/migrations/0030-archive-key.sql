-- Identifies the archive key without revealing it. Null until it has been determined, as after an upgrade with existing
-- backups.
alter table archive_store add column key_check bytea;
