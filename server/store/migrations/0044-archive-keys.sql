-- The id of the archive key with which the pack is encrypted. Null: written before this migration.
alter table packs add column key_id bytea;
