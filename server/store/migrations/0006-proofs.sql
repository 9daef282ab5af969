-- Rows of each table when the backup was made; null: they were not counted.
alter table backups add column row_counts jsonb;
-- When it was last restored for a proof that came to an end, good or bad.
alter table backups add column last_proof timestamptz;
-- When such a proof last found that everything was as it should be.
alter table backups add column last_proven_restore timestamptz;
-- What was wrong when it was last restored for a proof; null: nothing, or it never was.
alter table backups add column proof_error text;

-- When a proof of one of its backups last began, whatever it came to.
alter table environments add column last_proof_began timestamptz;

create index operations_proofs on operations (created_at) where kind = 'proveBackup';
