-- Number of rows of each table at the time of the backup. Null if they were not counted.
alter table backups add column row_counts jsonb;
-- When its last test restore ended, whether it succeeded or failed.
alter table backups add column last_proof timestamptz;
-- When a test restore last succeeded.
alter table backups add column last_proven_restore timestamptz;
-- Error of the last test restore. Null if it succeeded or there was none.
alter table backups add column proof_error text;

-- When a test restore of one of its backups last started.
alter table environments add column last_proof_began timestamptz;

create index operations_proofs on operations (created_at) where kind = 'proveBackup';
