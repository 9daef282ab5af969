-- When the environment's next scheduled backup is due; null until that was decided.
alter table environments add column backup_due_at timestamptz;
-- How often the one that was due last has failed.
alter table environments add column backup_failures integer not null default 0;
create index environments_backup_due on environments (backup_due_at) where state = 'serving';

-- When everything in it was last read, and not taken over from the backup before; null: nobody knows.
alter table backups add column fully_read_at timestamptz;
