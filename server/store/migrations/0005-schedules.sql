-- When the environment's next scheduled backup is due. Null until that has been decided.
alter table environments add column backup_due_at timestamptz;
-- Number of failures of the last scheduled backup.
alter table environments add column backup_failures integer not null default 0;
create index environments_backup_due on environments (backup_due_at) where state = 'serving';

-- When its files were last read in full instead of being taken from the previous backup. Null if unknown.
alter table backups add column fully_read_at timestamptz;
